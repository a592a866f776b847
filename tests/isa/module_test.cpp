#include "isa/module.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "base/error.hpp"
#include "isa/fault.hpp"
#include "isa/launch_check.hpp"
#include "isa/memory_map.hpp"

namespace heddle::isa {
namespace {

using ::testing::HasSubstr;

Instruction bra(std::uint32_t target, std::uint32_t reconvergence) {
  Instruction out;
  out.op = Op::BRA;
  out.guard = Pred{0, false};
  out.target = target;
  out.reconvergence = reconvergence;
  return out;
}

Instruction exit_thread() {
  Instruction out;
  out.op = Op::EXIT;
  return out;
}

Module two_kernels() {
  Module module;
  module.name = "saxpy.ptx";
  module.source_files = {"", "saxpy.cu"};
  Kernel kernel;
  kernel.name = "saxpy";
  kernel.words = {encode(bra(2, 2)), encode(bra(2, kNoReconvergence)), encode(exit_thread()), ~std::uint64_t{0}};
  kernel.lines = {{41, 1, 12, 3}, {0, 1, 13, 14}, {43, 0, 0, 0}, {0, 0, 0, 0}};
  kernel.parameters = {{"n", Type::u32, 0, 4, 4}};
  kernel.parameter_bytes = 4;
  module.kernels.push_back(kernel);
  kernel.name = "other";
  module.kernels.push_back(kernel);
  return module;
}

TEST(Module, FindsKernelsByTheirWholeName) {
  const Module module = two_kernels();
  ASSERT_NE(module.find("other"), nullptr);
  EXPECT_EQ(module.find("other")->name, "other");
  EXPECT_EQ(module.find("sax"), nullptr);
}

TEST(Kernel, IsRewrittenAsItsInstructions) {
  Kernel kernel;
  kernel.name = "k";
  kernel.words = {encode(bra(2, 2)), encode(exit_thread()), encode(exit_thread())};
  rewrite(kernel, [](std::vector<Instruction>& code) {
    ASSERT_EQ(code.size(), 3U);
    EXPECT_EQ(code[0].target, 2U);
    code[0].target = 1;
  });
  EXPECT_EQ(kernel.words,
            (std::vector<InstructionWord>{encode(bra(1, 2)), encode(exit_thread()), encode(exit_thread())}));
}

TEST(Kernel, WithAWordThatIsNoInstructionIsNotRewritten) {
  Kernel kernel = two_kernels().kernels[0];
  const Kernel before = kernel;
  try {
    rewrite(kernel, [](std::vector<Instruction>& code) { code.clear(); });
    FAIL() << "taken";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "kernel saxpy has a word that is no instruction");
  }
  EXPECT_EQ(kernel.words, before.words);
}

TEST(Module, DescribesPlacesInPtxAndSource) {
  const Module module = two_kernels();
  const Kernel& kernel = module.kernels[0];
  EXPECT_EQ(describe_pc(module, kernel, 0), "saxpy.ptx:41 (saxpy.cu:12)");
  EXPECT_EQ(describe_pc(module, kernel, 1), "saxpy.ptx, kernel 'saxpy', PC 1 made by the compiler (saxpy.cu:13)");
  EXPECT_EQ(describe_pc(module, kernel, 2), "saxpy.ptx:43");
  EXPECT_EQ(describe_pc(module, kernel, 99), "saxpy.ptx, kernel 'saxpy', PC 99");
}

TEST(Module, ListingHasAlignedColumns) {
  const Module module = two_kernels();
  const std::string text = listing(module, module.kernels[0]);
  std::istringstream lines(text);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) {
    rows.push_back(line);
  }
  ASSERT_EQ(rows.size(), 6U);  // title, heading, four instructions
  EXPECT_THAT(rows[0], HasSubstr("kernel saxpy: 4 instructions"));
  Kernel small = module.kernels[0];
  small.registers = 2;
  small.predicates = 1;
  small.parameter_bytes = 0;
  EXPECT_THAT(listing(module, small), HasSubstr("4 instructions, 2 registers, 1 predicate, "));
  EXPECT_THAT(listing(module, small), HasSubstr(" bytes local, 0 parameter bytes, 0 spilled\n"));
  const std::size_t ptx = rows[1].find("PTX line") + 8;  // right-aligned column's end
  EXPECT_EQ(rows[2].substr(ptx - 2, 2), "41");
  EXPECT_EQ(rows[3].substr(ptx - 2, 2), " -");
  const std::size_t source = rows[1].find("source");
  EXPECT_EQ(rows[2].substr(source, 11), "saxpy.cu:12");
  const std::size_t meet = rows[1].find("re-convergence");
  EXPECT_EQ(rows[2].substr(meet), "2");
  EXPECT_EQ(rows[3].substr(meet), "exit");
  const std::size_t live = rows[1].find("live") + 4;
  EXPECT_EQ(rows[3].substr(live - 2, 2), "14");
  EXPECT_THAT(rows[2], HasSubstr(disassemble(bra(2, 2))));
  EXPECT_THAT(rows[5], HasSubstr("ffffffffffffffff  (no instruction)"));
}

TEST(Fault, MessageNamesEverything) {
  const Module module = two_kernels();
  Fault fault;
  fault.kind = Fault::Kind::out_of_bounds;
  fault.kernel = "saxpy";
  fault.pc = 0;
  fault.block = {7, 0, 1};
  fault.thread = {3, 2, 0};
  fault.address = 0x10000404;
  fault.size = 4;
  fault.detail = "store, just past the end of buffer 'y'";
  EXPECT_EQ(describe(fault, module),
            "out-of-bounds access in kernel 'saxpy' at PC 0, saxpy.ptx:41 (saxpy.cu:12), block (7, 0, 1), thread "
            "(3, 2, 0): 4 bytes at address 0x10000404: store, just past the end of buffer 'y'");
}

// ---- launch checks

LaunchRequest good() {
  LaunchRequest launch;
  launch.kernel = "saxpy";
  launch.grid = {4, 1, 1};
  launch.block = {64, 2, 1};
  launch.parameters.resize(4);
  return launch;
}

std::string refusal(const Kernel& kernel, const LaunchRequest& launch) {
  try {
    check_request(kernel, launch);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(LaunchCheck, AcceptsWhatFits) {
  const Module module = two_kernels();
  EXPECT_EQ(refusal(module.kernels[0], good()), "");
  EXPECT_FALSE(check_resources(module.kernels[0], good()));
}

TEST(LaunchCheck, RefusesContradictions) {
  const Module module = two_kernels();
  Kernel kernel = module.kernels[0];
  LaunchRequest launch = good();
  launch.grid.y = 0;
  EXPECT_THAT(refusal(kernel, launch), HasSubstr("grid (4, 0, 1) has a zero dimension"));
  launch = good();
  launch.block.z = 0;
  EXPECT_THAT(refusal(kernel, launch), HasSubstr("block (64, 2, 0) has a zero dimension"));
  launch = good();
  launch.grid.y = kMaxGridYZ;
  EXPECT_THAT(refusal(kernel, launch), "");
  launch.grid.y = kMaxGridYZ + 1;
  EXPECT_THAT(refusal(kernel, launch), HasSubstr("too large"));
  launch = good();
  launch.grid.x = kMaxLaunchThreads / 128;
  EXPECT_THAT(refusal(kernel, launch), "");
  ++launch.grid.x;
  EXPECT_THAT(refusal(kernel, launch), HasSubstr("split it into several launches"));
  launch = good();
  launch.parameters.resize(8);
  EXPECT_THAT(refusal(kernel, launch), HasSubstr("8 parameter bytes given, 4 declared; it takes 1 parameter"));
  kernel.max_threads = 128;
  EXPECT_EQ(refusal(kernel, good()), "");
  kernel.max_threads = 127;
  EXPECT_THAT(refusal(kernel, good()), HasSubstr("has 128 threads, .maxntid allows 127"));
  kernel.max_threads.reset();
  kernel.required_block = Dim3{128, 1, 1};
  EXPECT_THAT(refusal(kernel, good()), HasSubstr(".reqntid requires (128, 1, 1)"));
  kernel.required_block = Dim3{64, 2, 1};
  EXPECT_EQ(refusal(kernel, good()), "");
}

TEST(LaunchCheck, ResourcesFaultJustBeyondTheLimits) {
  const Module module = two_kernels();
  Kernel kernel = module.kernels[0];
  LaunchRequest launch = good();
  launch.block = {1024, 1, 1};
  EXPECT_FALSE(check_resources(kernel, launch));
  launch.block = {1024, 2, 1};
  ASSERT_TRUE(check_resources(kernel, launch));
  EXPECT_THAT(describe(*check_resources(kernel, launch), module), HasSubstr("a block of (1024, 2, 1) threads"));
  launch.block = {0x10000, 0x10000, 1};  // the product wraps 32 bits
  EXPECT_TRUE(check_resources(kernel, launch));
  launch = good();
  kernel.shared_bytes = 1;  // rounded up to 16
  launch.dynamic_shared = kWindowSize - 16;
  EXPECT_FALSE(check_resources(kernel, launch));
  launch.dynamic_shared += 1;
  ASSERT_TRUE(check_resources(kernel, launch));
  EXPECT_EQ(check_resources(kernel, launch)->kind, Fault::Kind::resources);
  launch = good();
  kernel.local_bytes = kMaxLocalBytes;
  EXPECT_FALSE(check_resources(kernel, launch));
  kernel.local_bytes += 4;
  EXPECT_TRUE(check_resources(kernel, launch));
}

TEST(LaunchCheck, NamesTheKernelsThereAre) {
  const Module module = two_kernels();
  LaunchRequest launch = good();
  launch.kernel = "sax";
  try {
    (void)kernel_of(module, launch);
    FAIL() << "there is no such kernel";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "saxpy.ptx: there is no kernel 'sax'; it has 'saxpy', 'other'");
  }
}

TEST(Module, FindsAKernelByItsNameInTheSource) {
  Module module;
  for (const char* name : {"_Z5saxpyPKfPffj", "scale", "_Z4sizei", "_Z4sizef", "_Z1tIfEvT_", "_Znonsense"}) {
    module.kernels.emplace_back().name = name;
  }
  EXPECT_EQ(module.find("saxpy"), module.kernels.data());
  EXPECT_EQ(module.find("_Z5saxpyPKfPffj"), module.kernels.data());
  EXPECT_EQ(module.find("scale"), module.kernels.data() + 1);
  EXPECT_EQ(module.find("size"), nullptr) << "there are two";
  EXPECT_EQ(module.find("_Z4sizef"), module.kernels.data() + 3);
  EXPECT_EQ(module.find("t"), module.kernels.data() + 4) << "its only instance";
  EXPECT_EQ(module.find("sax"), nullptr);
  EXPECT_EQ(module.find("_Znonsense"), module.kernels.data() + 5);
  module.kernels.resize(2);
  EXPECT_EQ(module.find(""), nullptr);
}

}  // namespace
}  // namespace heddle::isa
