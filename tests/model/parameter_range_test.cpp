// Every numeric parameter that the machine declares, at both ends of its range and at odd values between, alone and in
// random combinations: the machine computes what the reference interpreter does, or it is refused with the reason.
// Nothing hangs, crashes, ends in an internal error, or takes the host's time or memory for numbers that are merely
// large. The parameters and their ranges come from hw::Machine::describe alone.
//
// HEDDLE_PARAMETER_SEED=s runs the random machine of that seed alone (Random/ParameterRange... and any case of it) and
// prints it.
// Long: what makes, runs and judges a machine serves both kinds of cases, and neither has much of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/issue/scoreboard.hpp"
#include "isa/interpreter.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tb/device/placement.hpp"
#include "tests/model/child.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/random/ptx_generator.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("Each/ParameterRange.*", "Random/PartsMix.*", "Random/ParameterMix.*/?",
                      "Random/ParameterMix.*/11", "Random/ParameterMix.*/10")

namespace heddle {
namespace {

// Of processor time for the kernels of a machine. Without an instruction cache and behind a memory whose every access
// takes thousands of cycles a core asks the port that refuses it in each of them: seeds 322 and 894 take 45 and 54.
// Nearly all others stay below 5.
// Sanitizers take four times as long.
#ifdef HEDDLE_FEW_MACHINES
constexpr double kMostSeconds = 360;
#else
constexpr double kMostSeconds = 90;
#endif
constexpr unsigned kPrograms = 3;                   // of a machine, at random
constexpr long kMostMegabytes = 1024;               // the largest take less than 100
constexpr std::uint64_t kRangeInput = 0xff00'0000;  // beyond a workload's buffers, with whatever gaps between them
constexpr std::uint64_t kRangeOutput = 0xff10'0000;

// ---------------------------------------------------------------------------------------------------- machines

const SourceLocation kHere{"parameter_range_test.cpp", 0, 0};

// Throws InputError when the parameter does not take the value.
void set(const ParameterReference& parameter, double value) {
  if (std::holds_alternative<double*>(parameter.field)) {
    assign(parameter, value, kHere);
  } else {
    assign(parameter, static_cast<std::int64_t>(value), kHere);
  }
}

double get(const ParameterReference& parameter) {
  return std::visit(
      [](auto* field) -> double {
        if constexpr (std::is_same_v<decltype(field), std::string*>) {
          return 0;
        } else {
          return static_cast<double>(*field);
        }
      },
      parameter.field);
}

bool is_number(const ParameterReference& parameter) {
  return !std::holds_alternative<bool*>(parameter.field) && !std::holds_alternative<std::string*>(parameter.field);
}

ParameterReference find(std::vector<ParameterReference>& all, const std::string& path) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ParameterReference& one) { return one.path() == path; });
  return found == all.end() ? throw InternalError("no parameter " + path) : *found;
}

// Both ends first, then odd values between them: evenly spread over the magnitudes.
std::vector<double> values_of(const ParameterReference& parameter) {
  const Limits& limits = parameter.limits;
  std::vector<double> values = {limits.low, limits.high};
  const bool whole = !std::holds_alternative<double*>(parameter.field);
  const double least = whole ? std::max(limits.low, 1.0) : std::max(limits.low, 1e-3);
  for (const double part : {0.04, 0.15, 0.33, 0.51, 0.77, 0.97}) {
    double value = least * std::pow(limits.high / least, part);
    if (limits.must_be_power_of_two) {
      value = std::exp2(std::round(std::log2(value)));
    } else if (whole) {
      value = 2 * std::floor(value / 2) + 1;
    }
    if (value > limits.low && value < limits.high) {
      values.push_back(value);
    }
  }
  if (whole) {  // among the odd ones, one that divides something
    values.push_back(
        std::clamp(std::exp2(std::round(std::log2(std::sqrt(least * limits.high)))), limits.low, limits.high));
  }
  std::vector<double> distinct;
  for (const double value : values) {
    if (std::find(distinct.begin(), distinct.end(), value) == distinct.end()) {
      distinct.push_back(value);
    }
  }
  return distinct;
}

// A machine on which the parameter does something: the baseline, or what it depends on switched over.
hw::Machine where_it_counts(const std::string& path) {
  const std::vector<std::vector<std::pair<const char*, ParameterValue>>> bases = {
      {},
      {{"l2.enabled", true}},
      {{"dram.timing", std::string("jedec")}},
      {{"core.scheduler", std::string("two-level")}},
      {{"core.scheduler", std::string("two-level-adaptive")}},
      {{"core.divergence", std::string("memory-split")}},
      {{"core.divergence", std::string("dws")}},
      {{"core.divergence", std::string("dws")}, {"dws.memory", std::string("predict")}},
      {{"core.divergence", std::string("dws-dwf")}},
      {{"core.divergence", std::string("slip")}},
      {{"core.divergence", std::string("mimd")}},
      {{"core.divergence", std::string("odgs")}, {"gpu.perfect_memory", true}},
      {{"core.divergence", std::string("odgs")}, {"gpu.perfect_memory", true}, {"odgs.rank_after", std::int64_t{4}}},
      {{"core.divergence", std::string("odgs")}, {"gpu.perfect_memory", true}, {"odgs.local_paths", std::int64_t{8}}},
      {{"core.divergence", std::string("slip")}, {"slip.branch_bypass", true}},
      {{"core.issue", std::string("scoreboard")}},
      {{"core.divergence", std::string("tbc")}},
      {{"core.divergence", std::string("barriers")}},
      {{"core.load_limiter", std::string("ccws")}},
      {{"dram.scheduler", std::string("warp-aware")}},
      {{"dram.channels", std::int64_t{2}}},
      {{"l1d.ports", std::int64_t{2}}},
      {{"l1d.ports", std::int64_t{2}}, {"l1d.banks", std::int64_t{4}}},
      {{"registers.banks", std::int64_t{2}}},
      {{"noc.link_bytes", std::int64_t{32}}},
      {{"l2.enabled", true},
       {"l2.partitions", std::int64_t{2}},
       {"dram.channels", std::int64_t{2}},
       {"gpu.cores", std::int64_t{2}},
       {"l1d.write_policy", std::string("write-through")}},
      {{"scratchpad.carve_outs", std::string("0 64 128")}, {"l1d.bytes", std::int64_t{256 * 1024}}},
      {{"allocation.placement", std::string("seeded")}},
      {{"lsu.queue", std::int64_t{3}}},
      {{"constant_cache.bytes", std::int64_t{4096}}, {"constant_cache.l0_bytes", std::int64_t{512}}},
      {{"l1d.return_bytes", std::int64_t{64}}, {"l1d.hit_latency", std::int64_t{20}}},
  };
  for (const auto& base : bases) {
    hw::Machine machine;
    std::vector<ParameterReference> all = parameters_of(machine);
    for (const auto& [key, value] : base) {
      assign(find(all, key), value, kHere);
    }
    const std::vector<hw::WithoutEffect> idle = hw::without_effect(machine);
    if (std::none_of(idle.begin(), idle.end(), [&](const hw::WithoutEffect& one) {
          return std::find(one.keys.begin(), one.keys.end(), path) != one.keys.end();
        })) {
      return machine;
    }
  }
  throw InternalError("no machine on which " + path + " counts");
}

// Changes parameters that a contradiction names, but for `fixed`, until there is none, as a user would who reads it.
void resolve(hw::Machine& machine, const std::string& fixed) {
  std::vector<ParameterReference> all = parameters_of(machine);
  for (unsigned round = 0; round < 12; ++round) {
    const std::vector<hw::Contradiction> found = hw::check(machine);
    if (found.empty()) {
      return;
    }
    bool better = false;
    const std::string text = found.front().key + ' ' + found.front().message;
    std::vector<ParameterReference> named;
    for (const ParameterReference& parameter : all) {
      const std::size_t at = text.find(parameter.path());
      if (at != std::string::npos && parameter.path() != fixed && is_number(parameter)) {
        named.push_back(parameter);
      }
    }
    for (const ParameterReference& parameter : named) {
      const double before = get(parameter);
      std::vector<double> candidates = {parameter.limits.low, parameter.limits.high, before * 2, before / 2};
      for (const ParameterReference& other : all) {
        if (is_number(other) && text.find(other.path()) != std::string::npos) {
          candidates.push_back(get(other));
        }
      }
      for (const double candidate : candidates) {
        try {
          set(parameter, candidate);
        } catch (const InputError&) {
          continue;
        }
        if (hw::check(machine).size() < found.size()) {
          better = true;
          break;
        }
        set(parameter, before);
      }
      if (better) {
        break;
      }
    }
    if (!better) {
      return;
    }
  }
}

// What is not as on a new machine, as --set would have it.
std::string settings_of(hw::Machine machine) {
  hw::Machine usual;
  const std::vector<ParameterReference> before = parameters_of(usual);
  const std::vector<ParameterReference> after = parameters_of(machine);
  std::string text;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i].value_text() != before[i].value_text()) {
      text += fmt::format(" --set {}={}", after[i].path(), after[i].value_text());
    }
  }
  return text.empty() ? "the baseline" : text.substr(1);
}

// ----------------------------------------------------------------------------------------------------- kernels

std::vector<std::uint32_t> range_words(const isa::DeviceMemory& memory, std::uint64_t address, std::uint32_t count) {
  std::vector<std::uint32_t> out(count);
  memory.read(address, std::as_writable_bytes(std::span(out)));
  return out;
}

void place_buffers(isa::DeviceMemory& memory, const random_ptx::GeneratedProgram& program) {
  memory.release(kRangeInput);
  memory.release(kRangeOutput);
  memory.place("in", kRangeInput, 4ULL * program.input_words);
  memory.place("out", kRangeOutput, 4ULL * program.output_words);
  for (std::uint32_t i = 0; i < program.input_words; ++i) {
    memory.put<std::uint32_t>(kRangeInput + 4ULL * i, (i + 1) * 0x9e37'79b9U >> (i % 3 * 9));
  }
}

// A random program on the device and in the interpreter; what differs.
std::string random_program(tb::Device& device, std::uint64_t seed) {
  const hw::Machine& machine = device.machine();
  random_ptx::GeneratorOptions options;
  options.statements = 25;
  options.modern = seed % 2 == 0;
  options.max_block = 96;
  options.max_grid = 3;
  const bool moves_late = hw::moves_after_last_access(machine.core);
  options.scratchpad = hw::about<hw::Divergence>(machine.core.divergence).traits.global_pool == nullptr || moves_late;
  options.scratchpad_percent = moves_late ? 40 : 100;
  const random_ptx::GeneratedProgram program = random_ptx::generate_ptx(seed, options);
  const ptx::CompileOptions compile(tb::code_options(machine.core));
  const isa::Module module = ptx::compile(program.text, "random.ptx", compile);
  isa::LaunchRequest request;
  request.kernel = random_ptx::kEntry;
  request.block = {program.block, 1, 1};
  request.grid = {program.grid, 1, 1};
  request.parameters.resize(module.kernels.front().parameter_bytes);
  const std::uint64_t values[] = {kRangeInput, kRangeOutput, program.input_words};
  for (std::size_t i = 0; i < module.kernels.front().parameters.size(); ++i) {
    const isa::Parameter& parameter = module.kernels.front().parameters[i];
    std::memcpy(request.parameters.data() + parameter.offset, &values[i], parameter.size);
  }
  isa::DeviceMemory memory;
  isa::load_module(module, memory, machine.icache.instruction_bytes);
  place_buffers(memory, program);
  isa::RetirementHash hash;
  const isa::InterpreterResult result = isa::interpret(module, request, memory, hash, {});
  if (result.fault) {
    return "the interpreter: " + isa::describe(*result.fault, module);
  }
  device.load(module);
  place_buffers(device.memory(), program);
  device.launch(request);
  const std::vector<std::uint32_t> ours = range_words(device.memory(), kRangeOutput, program.output_words);
  const std::vector<std::uint32_t> theirs = range_words(memory, kRangeOutput, program.output_words);
  if (const auto [our, their] = std::mismatch(ours.begin(), ours.end(), theirs.begin()); our != ours.end()) {
    return fmt::format("program {}: another output than the interpreter's, in word {} {:#x} instead of {:#x}", seed,
                       our - ours.begin(), *our, *their);
  }
  return std::ranges::equal(device.retirement().threads(), std::as_const(hash).threads())
             ? ""
             : fmt::format("program {}: another retirement hash", seed);
}

// A workload with the host's check of its result, and against the interpreter.
std::string small_workload(tb::Device& device, const std::string& name) {
  const auto workload = test::make_workload(name, device.machine(), 0.1);
  const isa::Module module = workload->compile();
  device.load(module);
  const tb::Verdict verdict = workload->run(device);
  if (!verdict.correct) {
    return name + ": " + verdict.detail;
  }
  isa::InterpreterOptions options;
  options.trap_on_division_by_zero = device.machine().core.division_trap;
  tb::ReferenceExecutor reference(options);
  reference.memory().set_placement(tb::placement_of(device.machine().allocation));
  reference.load(module);
  static_cast<void>(workload->run(reference));
  return device.retirement().total() == reference.retirement().total() ? "" : name + ": another retirement hash";
}

// Every core cycle is counted once, and each idle one has one cause.
std::string sums(const hw::Totals& totals) {
  std::uint64_t cycles = 0;
  for (const std::uint64_t with : totals.core.fu_active) {
    cycles += with;
  }
  std::uint64_t idle = 0;
  for (const std::uint64_t cause : totals.core.idle) {
    idle += cause;
  }
  return cycles == totals.cycles * totals.sub_cores && idle == totals.core.fu_active[0] &&
                 totals.l1d.hits + totals.l1d.misses == totals.l1d.accesses
             ? ""
             : "the cycles, their causes or the cache's accesses do not add up";
}

// "correct", "refused: why", or what went wrong.
std::string run_on(const hw::Machine& machine, std::uint64_t seed) {
  const std::vector<hw::Contradiction> contradictions = hw::check(machine);
  if (!contradictions.empty()) {
    return "refused: " + contradictions.front().message;
  }
  try {
    tb::Device device(machine);
    const std::vector<std::string> names = {"histogram", "needleman", "bfs", "vecadd", "blackscholes"};
    std::string wrong = small_workload(device, names[seed % names.size()]);
    for (unsigned i = 0; i != kPrograms && wrong.empty(); ++i) {
      wrong = random_program(device, seed + 1 + 10'000 * i);
    }
    if (wrong.empty()) {
      wrong = sums(device.totals());
    }
    return wrong.empty() ? "correct" : wrong;
  } catch (const InputError& error) {
    return std::string("refused: ") + error.what();
  } catch (const SimulatedFault& fault) {
    const std::string text = fault.what();
    // A block that is larger than the core, with the parameter that limits it.
    return (text.find("a block needs ") != std::string::npos && text.find(", a core has ") != std::string::npos
                ? "refused: "
                : "a fault: ") +
           text;
  } catch (const std::exception& error) {
    return std::string("an exception: ") + error.what();
  }
}

struct Outcome {
  std::string text;
  double seconds = 0;
  long megabytes = 0;
};

// In a process of its own, with limits to its time.
Outcome outcome_of(const hw::Machine& machine, std::uint64_t seed) {
  os::ProcessSetup setup;
  setup.limits.cpu_seconds = kMostSeconds;
  setup.limits.core_dumps = false;
  os::ProcessEnd end;
  Outcome outcome;
  outcome.text = test::in_child([&] { return run_on(machine, seed); }, setup, &end);
  if (!end.good()) {
    outcome.text = end.signal == SIGXCPU || end.signal == SIGKILL
                       ? fmt::format("not done after {} seconds", kMostSeconds)
                       : "the process died: " + end.text();
  }
  outcome.seconds = end.cpu_seconds;
  outcome.megabytes = static_cast<long>(end.peak_memory_bytes >> 20U);
  return outcome;
}

// True: it ran. A refusal names a parameter by its key.
bool expect_right(const hw::Machine& machine, std::uint64_t seed) {
  const Outcome outcome = outcome_of(machine, seed);
  SCOPED_TRACE(settings_of(machine) + fmt::format(" (kernels of seed {})", seed));
  if (std::getenv("HEDDLE_PARAMETER_LOG") != nullptr) {
    fmt::print("{:6.2f} s {:5} MB {}: {}\n", outcome.seconds, outcome.megabytes, settings_of(machine), outcome.text);
  }
  if (outcome.text == "correct") {
#ifndef HEDDLE_FEW_MACHINES  // sanitizers have memory of their own
    EXPECT_LT(outcome.megabytes, kMostMegabytes);
#endif
    return true;
  }
  hw::Machine copy = machine;
  const std::vector<ParameterReference> all = parameters_of(copy);
  EXPECT_EQ(outcome.text.substr(0, 9), "refused: ") << outcome.text;
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const ParameterReference& parameter) {
    return outcome.text.find(parameter.path()) != std::string::npos;
  })) << outcome.text;
  return false;
}

// -------------------------------------------------------------------------------------------------------- alone

std::vector<std::string> number_paths() {
  hw::Machine machine;
  std::vector<std::string> paths;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    if (is_number(parameter)) {
      paths.push_back(parameter.path());
    }
  }
  return paths;
}

class ParameterRange : public ::testing::TestWithParam<std::string> {
 protected:
  // The values with numbers first, first + step, ... of the parameter's; where nothing else is changed the machine may
  // be refused, and then the others are changed until it is not.
  void run(std::size_t first, std::size_t end) {
    std::uint64_t seed = 0;  // of the kernels: others for each parameter
    for (const char letter : GetParam()) {
      seed = (seed * 31 + static_cast<unsigned char>(letter)) % 1009;
    }
    const hw::Machine base = where_it_counts(GetParam());
    hw::Machine probe = base;
    std::vector<ParameterReference> of_probe = parameters_of(probe);
    const std::vector<double> values = values_of(find(of_probe, GetParam()));
    for (std::size_t i = first; i < std::min(end, values.size()); ++i) {
      hw::Machine machine = base;
      std::vector<ParameterReference> all = parameters_of(machine);
      set(find(all, GetParam()), values[i]);
      if (!expect_right(machine, seed + i)) {
        resolve(machine, GetParam());
        static_cast<void>(expect_right(machine, seed + i));
      }
    }
  }
};

TEST_P(ParameterRange, BothEndsAreRightOrRefused) {
  run(0, 2);
}
INSTANTIATE_TEST_SUITE_P(Each, ParameterRange, ::testing::ValuesIn(number_paths()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

class ParameterBetween : public ParameterRange {};
TEST_P(ParameterBetween, OddValuesAreRightOrRefused) {
  run(2, 100);
}
INSTANTIATE_TEST_SUITE_P(Long, ParameterBetween, ::testing::ValuesIn(number_paths()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// ------------------------------------------------------------------------------------------------ combinations

// Some parameters of every kind at values of their ranges, then changed until nothing contradicts, if that can be.
hw::Machine random_machine(std::uint64_t seed, hw::Machine machine = {}) {
  std::mt19937_64 dice(seed);
  const auto below = [&](std::uint64_t n) { return dice() % n; };
  std::vector<ParameterReference> all = parameters_of(machine);
  const std::uint64_t changes = 2 + below(14);
  for (std::uint64_t change = 0; change < changes; ++change) {
    const ParameterReference& parameter = all[below(all.size())];
    if (std::holds_alternative<bool*>(parameter.field)) {
      assign(parameter, below(2) == 1, kHere);
    } else if (std::holds_alternative<std::string*>(parameter.field)) {
      if (parameter.limits.choices) {
        const std::vector<std::string> choices = parameter.limits.choices();
        assign(parameter, choices[below(choices.size())], kHere);
      }
    } else {
      const std::vector<double> values = values_of(parameter);
      set(parameter, values[below(values.size())]);
    }
  }
  resolve(machine, "");
  return machine;
}

// Such a machine whose cores have several sub-cores, most of them with warps that go on behind their loads.
hw::Machine random_machine_of_parts(std::uint64_t seed) {
  hw::Machine base;
  base.core.sub_cores = 2U << (seed % 3);
  if (seed % 4 != 0) {
    base.core.issue = "scoreboard";
    base.core.scheduler = "gty";
    base.core.policies.of<hw::ScoreboardParameters>().stall = seed % 4 == 1 ? "on-access" : "on-use";
    base.core.policies.of<hw::ScoreboardParameters>().entries = 1 + seed % hw::Group::kFlights;
  }
  if (seed % 8 == 3) {
    base.core.issue = "control-bits";
    base.icache.instruction_bytes = 16;
  }
  base.core.policies.of<hw::ScoreboardParameters>().loads_ahead = seed % 2 == 1;
  base.l0i.enabled = seed % 5 < 3;
  base.icache.hit_latency = 1 + static_cast<unsigned>(seed % 7) * 6;
  base.l1d.hit_latency = 1 + static_cast<unsigned>(seed % 6) * 6;
  base.gpu.cores = seed % 6 == 0 ? 2 : 1;
  base.l2.enabled = seed % 3 == 0;
  base.l1d.write_policy = seed % 5 == 0 && base.gpu.cores == 1 ? "write-back" : "write-through";
  hw::Machine machine = random_machine(seed, base);
  machine.core.sub_cores = base.core.sub_cores;  // whatever has been drawn
  resolve(machine, "core.sub_cores");
  return machine;
}

class ParameterMix : public ::testing::TestWithParam<unsigned> {
 protected:
  void run(unsigned each) {
    if (const char* const one = std::getenv("HEDDLE_PARAMETER_SEED")) {
      const std::uint64_t seed = std::strtoull(one, nullptr, 10);
      hw::Machine machine = random_machine(seed);
      if (const char* const usual = std::getenv("HEDDLE_PARAMETER_USUAL")) {  // these as they are by default
        hw::Machine plain;
        std::vector<ParameterReference> all = parameters_of(machine);
        std::vector<ParameterReference> defaults = parameters_of(plain);
        std::istringstream keys(usual);
        for (std::string key; std::getline(keys, key, ',');) {
          std::visit([&](auto* field) { *field = *std::get<decltype(field)>(find(defaults, key).field); },
                     find(all, key).field);
        }
      }
      fmt::print("{}\n", settings_of(machine));
      static_cast<void>(expect_right(machine, seed));
      return;
    }
    unsigned ran = 0;
    for (unsigned i = 0; i < each; ++i) {
      const std::uint64_t seed = std::uint64_t{GetParam()} * each + i;
      SCOPED_TRACE(fmt::format("HEDDLE_PARAMETER_SEED={}", seed));
      ran += expect_right(random_machine(seed), seed) ? 1 : 0;
    }
    EXPECT_GE(2 * ran, each) << "most are refused: nothing is tried";
  }
};
TEST_P(ParameterMix, IsRightOrRefused) {
  run(10);
}
INSTANTIATE_TEST_SUITE_P(Random, ParameterMix, ::testing::Range(600U, 612U));
class PartsMix : public ::testing::TestWithParam<std::uint64_t> {};
TEST_P(PartsMix, IsRightOrRefused) {
  constexpr unsigned kEach = 10;
  unsigned ran = 0;
  for (std::uint64_t seed = kEach * GetParam(); seed != kEach * (GetParam() + 1); ++seed) {
    ran += expect_right(random_machine_of_parts(seed), seed) ? 1 : 0;
  }
  // Where most of them are refused, others take their place.
  constexpr std::uint64_t kOthers = 1000;
  for (std::uint64_t seed = kOthers + kEach * GetParam(); 2 * ran < kEach && seed % kEach != kEach - 1; ++seed) {
    ran += expect_right(random_machine_of_parts(seed), seed) ? 1 : 0;
  }
  EXPECT_GE(2 * ran, kEach) << "most are refused: nothing is tried";
}
INSTANTIATE_TEST_SUITE_P(Random, PartsMix, ::testing::Range(std::uint64_t{0}, std::uint64_t{3}));
INSTANTIATE_TEST_SUITE_P(Long, PartsMix, ::testing::Range(std::uint64_t{3}, std::uint64_t{33}));

class ParameterMixes : public ParameterMix {};
TEST_P(ParameterMixes, AreRightOrRefused) {
  run(200);
}
INSTANTIATE_TEST_SUITE_P(Long, ParameterMixes, ::testing::Range(1U, 21U));

}  // namespace
}  // namespace heddle
