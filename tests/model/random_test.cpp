// Random programs on the model and in the reference interpreter: equal memory, and for every thread an equal stream of
// instructions and written values (retirement hash), whatever the machine.
//
// Each machine runs its share of the programs, launch after launch on one device. HEDDLE_RANDOM_PROGRAMS=n runs n
// programs in all instead of the usual number, HEDDLE_RANDOM_SEED=s the program of that seed only, on every machine,
// and prints its text when it fails.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "hw/check/machine.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "isa/interpreter.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tests/model/machine_trials.hpp"
#include "tests/model/machines.hpp"
#include "tests/ptx/post_dominators.hpp"
#include "tests/random/ptx_generator.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Machines/RandomPrograms.*")

namespace heddle {
namespace {

using random_ptx::GeneratedProgram;

constexpr std::uint64_t kRandomInput = isa::kGlobalBase;
constexpr std::uint64_t kRandomOutput = isa::kGlobalBase + 0x10'0000;
#ifndef HEDDLE_USUAL_PROGRAMS
#define HEDDLE_USUAL_PROGRAMS 504  // fewer under sanitizers (tests/CMakeLists.txt)
#endif
constexpr std::uint64_t kUsualPrograms = HEDDLE_USUAL_PROGRAMS;
constexpr unsigned kParts = 2;  // test cases per machine

std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

// Buffers at fixed addresses, so that both executors' address values are equal.
void prepare(isa::DeviceMemory& memory, const GeneratedProgram& program) {
  memory.release(kRandomInput);
  memory.release(kRandomOutput);
  memory.place("in", kRandomInput, 4ULL * program.input_words);
  memory.place("out", kRandomOutput, 4ULL * program.output_words);
  for (std::uint32_t i = 0; i < program.input_words; ++i) {
    memory.put<std::uint32_t>(kRandomInput + 4ULL * i, (i + 1) * 0x9e37'79b9U >> (i % 3 * 9));
  }
  for (std::uint32_t i = 0; i < program.output_words; ++i) {
    memory.put<std::uint32_t>(kRandomOutput + 4ULL * i, 0);
  }
}

std::vector<std::uint32_t> words(const isa::DeviceMemory& memory, std::uint64_t address, std::uint32_t count) {
  std::vector<std::uint32_t> out(count);
  memory.read(address, std::as_writable_bytes(std::span(out)));
  return out;
}

isa::LaunchRequest request_of(const GeneratedProgram& program, const isa::Kernel& kernel) {
  isa::LaunchRequest request;
  request.kernel = random_ptx::kEntry;
  request.block = {program.block, 1, 1};
  request.grid = {program.grid, 1, 1};
  request.parameters.resize(kernel.parameter_bytes);
  const std::uint64_t values[] = {kRandomInput, kRandomOutput, program.input_words};
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::memcpy(request.parameters.data() + kernel.parameters[i].offset, &values[i], kernel.parameters[i].size);
  }
  return request;
}

GeneratedProgram program_of(std::uint64_t seed, const hw::Machine& machine) {
  random_ptx::GeneratorOptions options;
  options.statements = 20 + static_cast<unsigned>(seed % 5) * 15;
  options.warp_operations = seed % 4 == 3 && hw::why_no_warp_operations(machine.core).empty();
  options.max_block = 256;
  options.max_grid = 6;
  options.modern = seed % 3 == 1;
  options.tensor = options.modern && hw::why_no_matrices(machine.core).empty();
  // What uses the scratchpad does not leave its core, or after its last access.
  const bool moves_late = hw::moves_after_last_access(machine.core);
  options.scratchpad =
      hw::about<hw::Divergence>(machine.core.divergence).traits.global_pool == nullptr || moves_late || seed % 4 == 0;
  options.scratchpad_percent = moves_late ? 10 + static_cast<unsigned>(seed % 7) * 15 : 100;
  return random_ptx::generate_ptx(seed, options);
}

// The first difference, in words.
template <class Values>
std::string difference(const char* what, const Values& actual, const Values& expected) {
  for (std::size_t i = 0; i < expected.size() && i < actual.size(); ++i) {
    if (actual[i] != expected[i]) {
      return std::string(what) + ' ' + std::to_string(i) + ": " + std::to_string(actual[i]) + " instead of " +
             std::to_string(expected[i]);
    }
  }
  return actual.size() == expected.size() ? "" : std::string(what) + "s differ in number";
}

void check(tb::Device& device, std::uint64_t seed) {
  const hw::Machine& machine = device.machine();
  const GeneratedProgram program = program_of(seed, machine);
  const ptx::CompileOptions options(tb::code_options(machine));
  const isa::Module module = ptx::compile(program.text, "random.ptx", options);
  EXPECT_EQ(test::check_re_convergence(module.kernels.front()).wrong, "");
  const isa::LaunchRequest request = request_of(program, module.kernels.front());

  isa::DeviceMemory memory;
  isa::load_module(module, memory, machine.icache.instruction_bytes);
  prepare(memory, program);
  isa::RetirementHash hash;
  isa::InterpreterOptions reference;
  const isa::InterpreterResult result = isa::interpret(module, request, memory, hash, reference);
  ASSERT_FALSE(result.fault) << isa::describe(*result.fault, module);

  const hw::Totals before = device.totals();
  device.load(module);
  prepare(device.memory(), program);
  device.launch(request);
  const hw::Totals after = device.totals();

  EXPECT_EQ(difference("output word", words(device.memory(), kRandomOutput, program.output_words),
                       words(memory, kRandomOutput, program.output_words)),
            "");
  EXPECT_EQ(difference("thread hash", device.retirement().threads(), std::as_const(hash).threads()), "");
  EXPECT_EQ(words(device.memory(), kRandomInput, program.input_words),
            words(memory, kRandomInput, program.input_words));
  if (machine.core.warp_size == 32 && machine.core.simd_width == 32 && machine.core.divergence == "stack") {
    EXPECT_EQ(after.core.warp_instructions - before.core.warp_instructions, result.warp_instructions);
  }
  const auto blocks = [](const hw::Totals& totals) { return totals.core.blocks + totals.global_scheduler.blocks; };
  EXPECT_EQ(blocks(after) - blocks(before), program.grid);
}

class RandomPrograms : public ::testing::TestWithParam<std::tuple<std::size_t, unsigned>> {};

TEST_P(RandomPrograms, EqualTheReference) {
  const auto [index, part] = GetParam();
  const hw::Machine machine = test::machines()[index];
  tb::Device device(machine);
  const auto run = [&](std::uint64_t seed) {
    SCOPED_TRACE("to run this program alone: HEDDLE_RANDOM_SEED=" + std::to_string(seed) +
                 " model_tests --gtest_filter='*RandomPrograms.EqualTheReference/" + machine.name + "_0'");
    try {
      check(device, seed);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  };
  if (std::getenv("HEDDLE_RANDOM_SEED") != nullptr) {
    const std::uint64_t seed = from_environment("HEDDLE_RANDOM_SEED", 0);
    if (part == 0) {
      run(seed);
    }
    if (HasFailure()) {
      std::puts(program_of(seed, machine).text.c_str());
    }
    return;
  }
  // Programs first, first + stride, ...: all cases together run each seed once.
  const std::uint64_t programs = from_environment("HEDDLE_RANDOM_PROGRAMS", kUsualPrograms);
  const std::uint64_t stride = test::machines().size() * kParts;
  for (std::uint64_t seed = 1 + index * kParts + part; seed <= programs && !HasFailure(); seed += stride) {
    run(seed);
  }
  // Every cycle of every core is accounted for once, and idle cycles by exactly one cause.
  const hw::Totals totals = device.totals();
  EXPECT_EQ(test::accounting_fault(totals), "");
  // Every transfer occupies its channel's bus for line / bandwidth: 4 cycles of 32 bytes for one of 128. An atomic is
  // two.
  if (machine.gpu.perfect_memory) {
    EXPECT_EQ(totals.l1d.misses + totals.icache.misses + totals.dram.reads + totals.dram.writes, 0U);
  }
  const std::uint64_t transfers = totals.dram.reads + totals.dram.writes + 2 * totals.dram.atomics;
  const std::uint64_t of_lines = transfers * 4 * machine.dram.channels * hw::memory_line_bytes(machine) / 128;
  if (machine.l1d.sector_bytes == 0 && machine.l2.sector_bytes == 0) {
    EXPECT_EQ(totals.dram.bus_busy_cycles, of_lines);
  } else {  // sectors of them
    EXPECT_LT(totals.dram.bus_busy_cycles, of_lines);
    EXPECT_GT(totals.dram.bus_busy_cycles, 0U);
  }
  EXPECT_LE(totals.dram.row_hits + totals.dram.row_conflicts, transfers);
  EXPECT_GE(2 * (totals.dram.row_hits + totals.dram.row_conflicts), transfers);
}

INSTANTIATE_TEST_SUITE_P(Machines, RandomPrograms,
                         ::testing::Combine(::testing::Range<std::size_t>(0, test::machines().size()),
                                            ::testing::Range(0U, kParts)),
                         [](const auto& info) {
                           return test::machines()[std::get<0>(info.param)].name + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace heddle
