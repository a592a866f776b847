// What several host threads gain: one machine of many cores, all busy, simulated by each number of threads.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "studies/bench/bench.hpp"
#include "tb/config/config.hpp"
#include "tb/measure/host_cost.hpp"
#include "tb/measure/run.hpp"

namespace heddle::studies {
namespace {

// The baseline's core many times, with an L2 and a memory channel for every four of them.
hw::Machine machine_of(unsigned cores) {
  return tb::read_machine("baseline",
                          {fmt::format("gpu.cores={}", cores), "l1d.write_policy=write-through", "l2.enabled=true",
                           fmt::format("dram.channels={}", std::max(1U, (cores + 3) / 4)),
                           fmt::format("l2.bytes={}", 131072 * std::max(1U, (cores + 3) / 4))});
}

Benchmark cores_by_threads(const std::string& name, double scale, unsigned cores, unsigned threads) {
  Benchmark benchmark;
  benchmark.name = fmt::format("{}-{}-cores-{}-threads", name, cores, threads);
  benchmark.unit = "warp instructions/s";
  benchmark.what =
      fmt::format("{} at scale {:.3g} on {} baseline cores with an L2, by {} host thread{}, wall-clock time", name,
                  scale, cores, threads, threads == 1 ? "" : "s");
  benchmark.measure = [=]() -> Sample {
    tb::RunRequest request;
    request.machine = machine_of(cores);
    request.subject = name;
    request.scale = scale;
    request.device.threads = threads;
    const tb::RunOutcome outcome = tb::run(request);
    if (!outcome.record.complete || !outcome.record.verdict || !outcome.record.verdict->correct) {
      throw InternalError(outcome.record.complete ? "the result is wrong" : outcome.record.stop_reason);
    }
    const std::uint64_t peak = outcome.cost.peak_memory_bytes;
    return {static_cast<double>(outcome.record.summary.warp_instructions), outcome.cost.simulation_wall_seconds,
            static_cast<double>(peak - std::min(peak, outcome.cost.device_memory_bytes))};
  };
  return benchmark;
}

}  // namespace

std::vector<Benchmark> thread_benchmarks(const ThreadAxes& axes, double effort) {
  std::vector<Benchmark> all;
  for (const unsigned cores : axes.cores) {
    // As much work for each core, and so much that all are busy for most of the time.
    for (const auto& [name, of_a_core] : {std::pair{"nqueens", 0.05}, {"histogram", 0.03}}) {
      for (const unsigned threads : axes.threads) {
        all.push_back(cores_by_threads(name, std::max(of_a_core * cores, 0.05) * effort, cores, threads));
      }
    }
  }
  return all;
}

}  // namespace heddle::studies
