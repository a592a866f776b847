#include "tests/model/machine_trials.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "isa/interpreter.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tb/device/placement.hpp"
#include "tests/model/child.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/random/ptx_generator.hpp"

namespace heddle::test {
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
  options.warp_operations = seed % 3 == 2 && hw::why_no_warp_operations(machine.core).empty();
  options.tensor = options.modern && hw::why_no_matrices(machine.core).empty();
  options.max_block = 96;
  options.max_grid = 3;
  const bool moves_late = hw::moves_after_last_access(machine.core);
  options.scratchpad = hw::about<hw::Divergence>(machine.core.divergence).traits.global_pool == nullptr || moves_late;
  options.scratchpad_percent = moves_late ? 40 : 100;
  const random_ptx::GeneratedProgram program = random_ptx::generate_ptx(seed, options);
  const ptx::CompileOptions compile(tb::code_options(machine));
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
      wrong = accounting_fault(device.totals());
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

}  // namespace

double number_of(const ParameterReference& parameter) {
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

void set_number(const ParameterReference& parameter, double value) {
  const SourceLocation here{"machine_trials.cpp", 0, 0};
  if (std::holds_alternative<double*>(parameter.field)) {
    assign(parameter, value, here);
  } else {
    assign(parameter, static_cast<std::int64_t>(value), here);
  }
}

std::string accounting_fault(const hw::Totals& totals) {
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

}  // namespace heddle::test
