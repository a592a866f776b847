// What the benchmark measures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "isa/semantics.hpp"
#include "os/files/temporary_folder.hpp"
#include "ptx/compile.hpp"
#include "studies/bench/bench.hpp"
#include "studies/sweep/sweep.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/dram/dram_replay.hpp"
#include "tb/measure/host_cost.hpp"
#include "tb/measure/run.hpp"
#include "tb/measure/waves/recording.hpp"
#include "tlm/wave.hpp"
#include "traces/vcd_file.hpp"

namespace heddle::studies {
namespace {

double host_memory(std::uint64_t device_bytes) {
  const std::uint64_t peak = tb::peak_memory();
  return static_cast<double>(peak - std::min(peak, device_bytes));
}

Benchmark on_machine(std::string benchmark, std::string what, const std::string& name, double scale,
                     const std::string& config, const std::vector<std::string>& settings,
                     std::optional<double> target) {
  return {std::move(benchmark), "warp instructions/s", std::move(what), target, [=]() -> Sample {
            tb::RunRequest request;
            request.machine = tb::read_machine(config, settings);
            request.subject = name;
            request.scale = scale;
            const tb::RunOutcome outcome = tb::run(request);
            if (!outcome.record.complete || !outcome.record.verdict || !outcome.record.verdict->correct) {
              throw InternalError(outcome.record.complete ? "the result is wrong" : outcome.record.stop_reason);
            }
            return {static_cast<double>(outcome.record.summary.warp_instructions), outcome.cost.simulation_cpu_seconds,
                    host_memory(outcome.cost.device_memory_bytes)};
          }};
}

Benchmark workload(const std::string& name, double scale, const std::string& config = "baseline", double target = 1e6) {
  return on_machine(config == "baseline" ? name : fmt::format("{}-on-{}", name, config),
                    fmt::format("the workload at scale {:.3g} on {}, 32 lanes, tracing off", scale, config), name,
                    scale, config, {}, target);
}

// What coherence, banked caches and a core that switches at accesses cost: the DWS report's four cores, and beside them
// one core of the baseline with as many lanes as one of the four, and as many threads as all four: the kernels deal
// their work to the threads that there are, so that both execute the same instructions.
std::vector<Benchmark> four_cores(const std::string& name, double scale) {
  return {on_machine(name + "-16-lanes",
                     fmt::format("{} at scale {:.3g} on baseline with 16 lanes and 256 threads", name, scale), name,
                     scale, "baseline", {"core.simd_width=16", "core.warp_size=16", "core.threads=256"}, std::nullopt),
          on_machine(name + "-on-dws-conv",
                     fmt::format("the same on the DWS report's four cores (dws-conv), behind {}-16-lanes", name), name,
                     scale, "dws-conv", {}, std::nullopt)};
}

// Each warp follows its own chain of pointers through a table far larger than the cache; every load misses and every
// warp waits. One pointer per line; a thread writes where its chain ended.
constexpr std::string_view kChase = R"(.version 6.0
.target sm_50
.address_size 32
.entry chase(.param .u32 starts, .param .u32 ends, .param .u32 steps)
{
  .reg .u32 %warp, %thread, %place, %at, %left, %out;
  .reg .pred %more;
  mov.u32 %thread, %tid.x;
  shr.u32 %warp, %thread, 5;
  shl.b32 %warp, %warp, 2;
  ld.param.u32 %place, [starts];
  add.u32 %place, %place, %warp;
  ld.global.u32 %at, [%place];
  ld.param.u32 %left, [steps];
again:
  ld.global.u32 %at, [%at];
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra again;
  ld.param.u32 %out, [ends];
  shl.b32 %thread, %thread, 2;
  add.u32 %out, %out, %thread;
  st.global.u32 [%out], %at;
  ret;
}
)";

Sample chase(unsigned warps, std::uint32_t steps) {
  constexpr std::uint32_t kLine = 128;
  constexpr std::uint32_t kLines = 1U << 16U;  // 8 MiB, 256 times the cache
  const hw::Machine machine = tb::read_machine("baseline");
  tb::Device device(machine);
  device.load(ptx::compile(kChase, "chase.ptx"));
  isa::DeviceMemory& memory = device.memory();
  const auto table = static_cast<std::uint32_t>(memory.allocate("table", std::uint64_t{kLines} * kLine));
  const auto starts = static_cast<std::uint32_t>(memory.allocate("starts", std::uint64_t{warps} * 4));
  const std::uint32_t threads = warps * 32;
  const auto ends = static_cast<std::uint32_t>(memory.allocate("ends", std::uint64_t{threads} * 4));
  // A permutation of one cycle over all lines (Sattolo's shuffle), so that no chain comes back to a cached line.
  std::vector<std::uint32_t> next(kLines);
  std::iota(next.begin(), next.end(), 0U);
  std::uint64_t random = 1;
  for (std::uint32_t i = kLines - 1; i > 0; --i) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(next[i], next[static_cast<std::uint32_t>((random >> 33U) % i)]);
  }
  for (std::uint32_t i = 0; i < kLines; ++i) {
    memory.put<std::uint32_t>(table + i * kLine, table + next[i] * kLine);
  }
  std::vector<std::uint32_t> expected(warps);
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    std::uint32_t line = warp * (kLines / warps);
    memory.put<std::uint32_t>(starts + warp * 4, table + line * kLine);
    for (std::uint32_t step = 0; step < steps; ++step) {
      line = next[line];
    }
    expected[warp] = table + line * kLine;
  }
  isa::LaunchRequest request;
  request.kernel = "chase";
  request.block = {threads, 1, 1};
  for (const std::uint32_t argument : {starts, ends, steps}) {
    const std::size_t at = request.parameters.size();
    request.parameters.resize(at + sizeof argument);
    std::memcpy(request.parameters.data() + at, &argument, sizeof argument);
  }
  const double start = tb::cpu_clock();
  device.launch(request);
  const double seconds = tb::cpu_clock() - start;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    if (memory.get<std::uint32_t>(ends + thread * 4) != expected[thread / 32]) {
      throw InternalError("the pointer chase ends in a wrong place");
    }
  }
  return {static_cast<double>(device.totals().cycles), seconds, host_memory(memory.touched_bytes())};
}

Benchmark pointer_chase(unsigned warps, std::uint32_t steps) {
  return {fmt::format("chase-{}", warps), "cycles/s",
          fmt::format("{} warp{} chase pointers, {} dependent row conflicts each; no warp is ever ready for long",
                      warps, warps == 1 ? "" : "s", steps),
          10e6, [=] { return chase(warps, std::max(steps, 1U)); }};
}

Benchmark lanes(const std::string& name, isa::Op op, std::uint64_t operations) {
  return {name, "warp operations/s",
          fmt::format("'{}' over 32 lanes, without the model around it", isa::info(op).mnemonic), std::nullopt,
          [=]() -> Sample {
            isa::Instruction instruction;
            instruction.op = op;
            instruction.dst = instruction.a = instruction.b = instruction.c = 0;
            const isa::LaneFunction function = isa::lane_function(instruction);
            isa::LaneValues values{};
            values.active = ~isa::LaneMask{0};
            for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
              values.a[0][lane] = 0x3f800000U + lane;  // numbers near 1 as f32, so that no lane meets a denormal
              values.b[0][lane] = 0x3f000000U;
              values.c[0][lane] = 0x3e000000U;
            }
            const double start = tb::cpu_clock();
            for (std::uint64_t i = 0; i < operations; ++i) {
              function(instruction, values);
              values.a[0] = values.result[0];  // depends on the step before, as in a kernel
            }
            const double seconds = tb::cpu_clock() - start;
            volatile std::uint32_t result = values.result[0][0];
            (void)result;
            return {static_cast<double>(operations), seconds, 0};
          }};
}

// 64-byte reads on one DDR4-2400 channel under first-ready scheduling, as fast as the channel takes them: what DRAM
// simulators are measured by.
Benchmark memory_channel(const std::string& name, bool random, double target, std::uint64_t requests) {
  return {name, "requests/s",
          fmt::format("{} {} 64-byte reads on a DDR4-2400 channel driven alone, fr-fcfs", requests,
                      random ? "random" : "sequential"),
          target, [=]() -> Sample {
            const hw::Machine machine = tb::read_machine(
                "baseline", {"dram.timing=jedec", "dram.preset=ddr4-2400", "dram.scheduler=fr-fcfs", "dram.banks=16",
                             "dram.row_bytes=8192", "l1d.line_bytes=64", "icache.line_bytes=64"});
            tb::DramReplay replay(machine, {});
            std::uint64_t left = requests;
            std::uint64_t state = 1;
            const double start = tb::cpu_clock();
            replay.run([&](traces::TraceRequest& request) {
              if (left == 0) {
                return false;
              }
              --left;
              state = state * 6364136223846793005ULL + 1442695040888963407ULL;
              request.address = random ? state >> 30U : (requests - left) * 64;
              return true;
            });
            return {static_cast<double>(requests), tb::cpu_clock() - start, host_memory(0)};
          }};
}

// Waves that change in every cycle: masks, counters, states and flags, as a core's are.
class ChangingWaves final : public link::ClockedModule {
 public:
  static constexpr unsigned kWaves = 64;
  static constexpr std::array<unsigned, 4> kWidths = {32, 8, 4, 1};

  ChangingWaves(const sc_core::sc_module_name& name, link::Clock clock, traces::VcdFile& file)
      : link::ClockedModule(name, clock) {
    for (unsigned i = 0; i < kWaves; ++i) {
      link::sc_trace(&file, waves_[i], fmt::format("bench.w{}", i), static_cast<int>(kWidths[i % kWidths.size()]));
    }
    wake(1);
  }

 private:
  link::Cycle advance(link::Cycle now) override {
    for (unsigned i = 0; i < kWaves; ++i) {
      const unsigned width = kWidths[i % kWidths.size()];
      const std::uint64_t odd = (now * (2 * i + 3)) | 1U;  // another value than in the cycle before, in every width
      waves_[i].set(width == 1 ? now & 1U : (odd ^ ((now & 1U) << 1U)) & ((std::uint64_t{1} << width) - 1));
    }
    return now + 1;
  }
  std::array<link::Wave, kWaves> waves_;
};

class NoFile final : public ByteSink {
 public:
  void write(std::string_view bytes) override { bytes_ += bytes.size(); }

 private:
  std::uint64_t bytes_ = 0;
};

Benchmark wave_changes(std::uint64_t cycles) {
  return {"wave-changes", "changes/s",
          fmt::format("{} waves that change in every cycle, as text of a VCD file that nobody keeps",
                      ChangingWaves::kWaves),
          40e6, [=]() -> Sample {
            const link::Clock clock(sc_core::sc_time(1, sc_core::SC_NS));
            NoFile out;
            traces::VcdFile file(out, clock, {"heddle bench"});
            const ChangingWaves waves("waves", clock, file);
            const double start = tb::cpu_clock();
            sc_core::sc_start(clock.cycles(cycles));
            file.finish();
            return {static_cast<double>(file.changes()), tb::cpu_clock() - start, host_memory(0)};
          }};
}

// The run that the first benchmark makes, with waves of everything.
Benchmark traced(const std::string& name, double scale) {
  return {name + "-with-waves", "warp instructions/s",
          fmt::format("the workload at scale {:.3g} on baseline, every signal recorded, text that nobody keeps", scale),
          std::nullopt, [name, scale]() -> Sample {
            tb::RunRequest request;
            request.machine = tb::read_machine("baseline");
            request.subject = name;
            request.scale = scale;
            tb::WaveRecording waves(request.machine, {"/dev/null", {}, 0, link::kNever}, std::make_unique<NoFile>());
            request.device.observers.push_back(&waves);
            const tb::RunOutcome outcome = tb::run(request);
            return {static_cast<double>(outcome.record.summary.warp_instructions), outcome.cost.simulation_cpu_seconds,
                    host_memory(outcome.cost.device_memory_bytes)};
          }};
}

// What a sweep does beside the simulation: processes, inputs, checks, rows of the database.
Benchmark sweep_runs(std::uint64_t runs) {
  return {
      "sweep-runs", "runs/s",
      fmt::format("{} runs of next to no work through a sweep, one at a time, without the time inside launches", runs),
      50, [=]() -> Sample {
        const os::TemporaryFolder folder;
        sweep::SweepOptions options;
        options.exploration = folder.write(
            "runs.toml",
            fmt::format("config = \"baseline\"\nworkload = \"vecadd\"\nscale = 0.00001\nrepetitions = {}\n", runs));
        options.database = folder.path() / "runs.db";
        const double start = tb::cpu_clock() + tb::children_cpu_clock();
        const sweep::SweepResult result = sweep::sweep(options, *sweep::local_launcher(1));
        for (const auto& [status, count] : result.by_status) {
          if (status != sweep::status::kDone) {
            throw InternalError(fmt::format("{} runs of the sweep ended as '{}'", count, status));
          }
        }
        return {static_cast<double>(runs),
                tb::cpu_clock() + tb::children_cpu_clock() - start - result.simulation_cpu_seconds, host_memory(0)};
      }};
}

}  // namespace

std::vector<Benchmark> benchmarks(double effort) {
  const auto times = [&](double count) { return static_cast<std::uint32_t>(std::max(1.0, count * effort)); };
  std::vector<Benchmark> all = {
      workload("nqueens", 0.2 * effort), workload("blackjack", 0.1 * effort), workload("matrixmult", 0.1 * effort),
      // Packed sub-warps, whose lanes read rows of their own: divergent kernels on large warps.
      workload("nqueens", 0.2 * effort, "thesis-lwm", 0.7e6), workload("blackjack", 0.1 * effort, "thesis-lwm", 0.7e6),
      workload("nqueens", 0.2 * effort, "tbc", 0.7e6), workload("nqueens", 0.2 * effort, "dwf-majority", 0.7e6),
      pointer_chase(32, times(1000)), pointer_chase(1, times(60000)), traced("nqueens", 0.02 * effort),
      wave_changes(times(200e3)), memory_channel("dram-random", true, 400e3, times(400e3)),
      memory_channel("dram-sequential", false, 800e3, times(800e3)), sweep_runs(times(1000)),
      lanes("lanes-add", isa::Op::ADD, times(2e7)), lanes("lanes-fma", isa::Op::FFMA, times(2e7))};
  for (Benchmark& benchmark : call_benchmarks(effort)) all.push_back(std::move(benchmark));
  for (const auto& [name, scale] : {std::pair{"filter", 0.5}, {"lu", 0.05}}) {
    for (Benchmark& benchmark : four_cores(name, scale * effort)) {
      all.push_back(std::move(benchmark));
    }
  }
  return all;
}

}  // namespace heddle::studies
