// Random programs through the front end and the reference interpreter: the result depends neither on how many threads
// form a warp nor on how many registers the allocator had nor on if-conversion.
//
// HEDDLE_RANDOM_PROGRAMS=n runs n programs instead of the usual number, HEDDLE_RANDOM_SEED=s the one of that seed only
// (and prints its text when it fails). HEDDLE_GPU_PROGRAMS=folder makes a campaign for GPUs of n programs, too
// (hardware/README.md).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "ptx/control_bits.hpp"
#include "ptx/last_access.hpp"
#include "tests/ptx/control_bits_paths.hpp"
#include "tests/ptx/last_access.hpp"
#include "tests/ptx/post_dominators.hpp"
#include "tests/random/ptx_generator.hpp"
#include "tests/support/gpu_programs.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("RandomPrograms.ResultsDepend*", "RandomPrograms.MarksArePast*",
                      "RandomPrograms.BranchesReConverge*")

namespace heddle::random_ptx {
namespace {

struct Outcome {
  std::vector<std::byte> input;
  std::vector<std::uint32_t> output;
  std::vector<std::uint32_t> hashes;
  std::uint64_t warp_instructions = 0;
};

Outcome execute(const GeneratedProgram& program, const isa::Module& module, unsigned warp_size) {
  EXPECT_EQ(test::check_re_convergence(module.kernels.front()).wrong, "");
  isa::DeviceMemory memory;
  load_module(module, memory);
  const bool low = program.address_bits == 32;
  const std::uint64_t in = memory.allocate("in", 4ULL * program.input_words, low);
  const std::uint64_t out = memory.allocate("out", 4ULL * program.output_words, low);
  for (std::uint32_t i = 0; i < program.input_words; ++i) {
    memory.put<std::uint32_t>(in + 4ULL * i, (i + 1) * 0x9e37'79b9U >> (i % 3 * 9));
  }
  Outcome outcome;
  outcome.input.resize(4ULL * program.input_words);
  memory.read(in, outcome.input);
  const isa::Kernel& kernel = module.kernels.front();
  isa::LaunchRequest launch;
  launch.kernel = kEntry;
  launch.block = {program.block, 1, 1};
  launch.grid = {program.grid, 1, 1};
  launch.parameters.resize(kernel.parameter_bytes);
  const std::uint64_t values[] = {in, out, program.input_words};
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::memcpy(launch.parameters.data() + kernel.parameters[i].offset, &values[i], kernel.parameters[i].size);
  }
  isa::RetirementHash hash;
  isa::InterpreterOptions options;
  options.warp_size = warp_size;
  options.trap_on_division_by_zero = true;
  options.max_instructions_per_thread = 2'000'000;
  const isa::InterpreterResult result = interpret(module, launch, memory, hash, options);
  EXPECT_FALSE(result.fault) << describe(*result.fault, module);
  outcome.warp_instructions = result.warp_instructions;
  outcome.output.resize(program.output_words);
  memory.read(out, std::as_writable_bytes(std::span(outcome.output)));
  outcome.hashes.assign(hash.threads().begin(), hash.threads().end());
  return outcome;
}

void check(const GeneratedProgram& program) {
  SCOPED_TRACE("HEDDLE_RANDOM_SEED=" + std::to_string(program.seed));
  ptx::CompileOptions few;
  few.max_registers = 16;
  const isa::Module roomy = ptx::compile(program.text, "random.ptx");
  const isa::Module spilled = ptx::compile(program.text, "random.ptx", few);
  const Outcome reference = execute(program, roomy, 32);
  EXPECT_EQ(execute(program, spilled, 32).output, reference.output) << "16 registers";
  ptx::CompileOptions predicated;
  for (const unsigned most : {2U, 8U, 64U}) {
    predicated.if_conversion = most;
    predicated.max_registers = most == 8 ? 16 : isa::kRegisters;
    const isa::Module converted = ptx::compile(program.text, "random.ptx", predicated);
    EXPECT_EQ(execute(program, converted, 32).output, reference.output) << "if-conversion of " << most;
  }
  ptx::CompileOptions ahead;
  for (const unsigned within : {1U, 24U, 63U}) {
    ahead.schedule_within = within;
    ahead.max_registers = within == 24 ? 16 : isa::kRegisters;
    ahead.if_conversion = within == 63 ? 8 : 0;
    const isa::Module scheduled = ptx::compile(program.text, "random.ptx", ahead);
    EXPECT_EQ(execute(program, scheduled, 32).output, reference.output) << "loads ahead within " << within;
  }
  ptx::CompileOptions unrolled;
  for (const unsigned times : {2U, 4U}) {
    unrolled.unroll = times;
    unrolled.if_conversion = times == 4 ? 8 : 0;
    unrolled.schedule_within = times == 4 ? 32 : 0;
    unrolled.predicated_loads = times == 4;
    unrolled.max_registers = times == 2 ? 12 : isa::kRegisters;
    const isa::Module longer = ptx::compile(program.text, "random.ptx", unrolled);
    EXPECT_EQ(execute(program, longer, 32).output, reference.output) << "unrolled by " << times;
  }
  ptx::CompileOptions software;
  software.software_division = true;
  for (const unsigned most : {0U, 8U}) {
    software.if_conversion = most;
    software.unroll = most / 2;
    software.max_registers = most == 0 ? 16 : isa::kRegisters;
    const isa::Module divided = ptx::compile(program.text, "random.ptx", software);
    EXPECT_EQ(execute(program, divided, 32).output, reference.output)
        << "division in software, if-conversion of " << most;
  }
  ptx::CompileOptions joined;
  joined.peephole = true;
  for (const unsigned times : {0U, 4U}) {
    joined.unroll = times;
    joined.if_conversion = 2 * times;
    joined.schedule_within = 8 * times;
    joined.software_division = joined.convergence_instructions = times != 0;
    joined.max_registers = times == 0 ? 12 : isa::kRegisters;
    const isa::Module shorter = ptx::compile(program.text, "random.ptx", joined);
    EXPECT_EQ(execute(program, shorter, 32).output, reference.output) << "operations joined, unrolled by " << times;
  }
  if (!program.warp_operations) {
    for (const unsigned warp_size : {1U, 12U}) {
      const Outcome other = execute(program, roomy, warp_size);
      EXPECT_EQ(other.output, reference.output) << "warps of " << warp_size;
      EXPECT_EQ(other.hashes, reference.hashes) << "warps of " << warp_size;
    }
  }
}

// The number in an environment variable, or else `usual`.
std::uint64_t from_environment(const char* name, std::uint64_t usual) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual;
}

GeneratorOptions options_of(std::uint64_t seed) {
  GeneratorOptions options;
  options.statements = 20 + static_cast<unsigned>(seed % 5) * 15;
  options.warp_operations = seed % 4 == 3;
  options.max_block = 96;
  options.max_grid = 2;
  options.modern = options.tensor = seed % 3 == 1;
  return options;
}

TEST(RandomPrograms, ResultsDependOnNeitherWarpSizeNorRegistersNorPredicationNorUnrollingNorOrder) {
  if (const char* only = std::getenv("HEDDLE_RANDOM_SEED")) {
    const std::uint64_t seed = std::strtoull(only, nullptr, 10);
    const GeneratedProgram program = generate_ptx(seed, options_of(seed));
    check(program);
    if (HasFailure()) {
      std::puts(program.text.c_str());
    }
    return;
  }
  const std::uint64_t programs = from_environment("HEDDLE_RANDOM_PROGRAMS", 100);
  for (std::uint64_t seed = 1; seed <= programs && !HasFailure(); ++seed) {
    check(generate_ptx(seed, options_of(seed)));
  }
}

// Control bits keep the dependences of whole kernels, with loads ahead, on the ways of their threads and others.
TEST(RandomPrograms, ControlBitsKeepDependences) {
  const isa::ResultTimes times = [](const isa::Instruction& in) {
    const isa::Unit unit = isa::info(in.op).unit;
    const bool fixed = unit == isa::Unit::alu || unit == isa::Unit::warp || unit == isa::Unit::control;
    return fixed && !isa::is_heap(in.op) ? isa::ResultTime{4} : isa::ResultTime{};
  };
  const std::uint64_t programs = from_environment("HEDDLE_RANDOM_PROGRAMS", 60);
  for (std::uint64_t seed = 1; seed <= programs && !HasFailure(); ++seed) {
    ptx::CompileOptions options;
    options.schedule_within = seed % 2 == 0 ? 32 : 0;
    options.peephole = options.software_division = options.convergence_instructions = seed % 3 == 0;
    isa::Module module = ptx::compile(generate_ptx(seed, options_of(seed)).text, "random.ptx", options);
    ptx::write_control_bits(module, times);
    EXPECT_EQ(test::ControlBitsPaths(module.kernels.front(), times).walk(static_cast<std::uint32_t>(seed), 20, 3000),
              "")
        << "seed " << seed;
  }
}

// Nor do they show from where on no thread comes to the scratchpad.
TEST(RandomPrograms, MarksArePastTheLastAccessToTheScratchpad) {
  test::LastAccess all;
  for (std::uint64_t seed = 2001; seed <= 2360 && !HasFailure(); ++seed) {
    GeneratorOptions options = options_of(seed);
    options.scratchpad_percent = static_cast<unsigned>(seed % 5) * 25;
    ptx::CompileOptions compiling;
    compiling.if_conversion = seed % 2 == 0 ? 0 : 8;
    isa::Module module = ptx::compile(generate_ptx(seed, options).text, "random.ptx", compiling);
    ptx::mark_past_scratchpad(module);
    const test::LastAccess one = test::check_last_access(module.kernels.front());
    EXPECT_EQ(one.wrong, "") << "seed " << seed;
    all.past += one.past;
    all.before += one.before;
    all.past_branches += one.past_branches;
  }
  EXPECT_GT(all.past_branches, 1000U);
  EXPECT_GT(all.past, all.past_branches + 500);
  EXPECT_GT(all.before, 1000U);
}

// Values do not show where threads meet again.
TEST(RandomPrograms, BranchesReConvergeAtTheirImmediatePostDominators) {
  test::ReConvergence all;
  const auto add = [&](const GeneratedProgram& program, unsigned if_conversion) {
    ptx::CompileOptions options;
    options.if_conversion = if_conversion;
    const isa::Module module = ptx::compile(program.text, "random.ptx", options);
    const test::ReConvergence one = test::check_re_convergence(module.kernels.front());
    EXPECT_EQ(one.wrong, "") << "seed " << program.seed << ", if-conversion of " << if_conversion;
    all.branches += one.branches;
    all.at_exit += one.at_exit;
    all.behind_exits += one.behind_exits;
    all.endless += one.endless;
  };
  for (std::uint64_t seed = 1001; seed <= 1360 && !HasFailure(); ++seed) {
    add(generate_ptx(seed, options_of(seed)), seed % 2 == 0 ? 0 : 8);
  }
  // The programs hold what the check is about.
  EXPECT_GT(all.branches, 2000U);
  EXPECT_GT(all.at_exit, 100U);
  EXPECT_GT(all.behind_exits, 20U);
  EXPECT_EQ(all.endless, 0U);
}

// For GPUs: nothing that only Heddle has, and with the memory that the interpreter leaves.
TEST(RandomPrograms, AreWrittenForGpus) {
  const std::optional<std::string> wanted = test::gpu_programs_folder();
  const std::uint64_t programs = from_environment("HEDDLE_RANDOM_PROGRAMS", wanted ? 300 : 40);
  std::vector<test::GpuProgram> written;
  unsigned between_lanes = 0;
  for (std::uint64_t seed = 1; seed <= programs && !HasFailure(); ++seed) {
    GeneratorOptions options = options_of(seed);
    options.standard = true;
    const GeneratedProgram program = generate_ptx(seed, options);
    for (const char* const own : {"progress", "cond_acc", "tree_traverse", ".address_size 32"}) {
      EXPECT_EQ(program.text.find(own), std::string::npos) << "seed " << seed << ": " << own;
    }
    between_lanes += program.text.find("shfl.sync") != std::string::npos ? 1 : 0;
    const Outcome outcome = execute(program, ptx::compile(program.text, "random.ptx"), 32);
    const auto bytes = std::as_bytes(std::span(outcome.output));
    written.push_back({"random/" + std::to_string(seed),
                       "random programs",
                       program.text,
                       kEntry,
                       program.grid,
                       program.block,
                       outcome.input,
                       {bytes.begin(), bytes.end()},
                       program.input_words,
                       {}});
  }
  EXPECT_GT(between_lanes, 0U);
  if (wanted) test::write_gpu_programs(*wanted, "random", written);
}

TEST(RandomPrograms, AreAFunctionOfTheirSeed) {
  EXPECT_EQ(generate_ptx(7).text, generate_ptx(7).text);
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::string text = generate_ptx(seed).text;
    texts.insert(text.substr(text.find('\n')));  // without the seed in the first line
  }
  EXPECT_EQ(texts.size(), 50U);
}

// The generator covers what it promises; a construct that silently drops out would weaken every test that uses it.
TEST(RandomPrograms, CoverTheirConstructs) {
  std::string all;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    all += generate_ptx(seed, options_of(seed)).text;
  }
  for (const char* construct : {".address_size 32",
                                ".address_size 64",
                                "bar.sync 0",
                                "bar.red.popc",
                                "bra.uni",
                                "exit;",
                                " trap;",
                                "@!%q",
                                "st.local",
                                "red.global.xor",
                                "ld.volatile",
                                "v4.u32",
                                "vote.sync",
                                "shfl.sync.idx",
                                "tree_traverse.u32",
                                "tree_traverse.size",
                                "cp.async.ca",
                                "cp.async.cg",
                                "cp.async.wait_group 1",
                                "redux.sync",
                                "match.all",
                                "elect.sync",
                                "mma.sync.aligned.m16n8k32",
                                "mma.sync.aligned.m16n8k16.row.col.f32",
                                "ldmatrix",
                                "stmatrix",
                                "movmatrix",
                                "cond_acc.shared.b",
                                "cond_acc.global.b",
                                "membar",
                                "progress",
                                "addc.u32",
                                "fma.rn.f64",
                                "mad.wide.s32",
                                "div.u64",
                                "prmt.b32",
                                "shf.r.clamp",
                                "setp.nan",
                                "setp.geu",
                                "not.pred"}) {
    EXPECT_NE(all.find(construct), std::string::npos) << construct;
  }
}

}  // namespace
}  // namespace heddle::random_ptx
