// What lowering makes of whole modules: layouts, parameters, calls, attributes of kernels, 32-bit addresses.
#include "isa/memory_map.hpp"
#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx::test {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines_of(const std::string& text, std::size_t kernel = 0) {
  const IrModule module = lower_module(text);
  return IrText(module.kernels.at(kernel)).lines();
}

TEST(LowerModule, UsesShortAddressesIn32BitPrograms) {
  expect_lowered(
      {
          {"ld.global.u32 %r1, [%r2+4];", {"ld.global'4 %r2, #4, {%r1}"}},
          {"ld.global.u32 %r1, [%rd2+4];", {"mov %rd2, {t0 rz}", "ld.global'4 t0, #4, {%r1}"}},
          {"st.u32 [%r2-4], %r1;", {"st.generic'4 %r2, #-4, {%r1}"}},
          {"atom.add.u32 %r1, [%r2+4], %r3;", {"add t0, %r2, #4", "atom.generic:40 %r1, t0, %r3"}},
          {"cvta.shared.u32 %r1, %r2;", {"add %r1, %r2, #16777216"}},
          {"isspacep.local %p1, %r1;", {"isspacep'2 %p1, %r1"}},
          {"ld.volatile.u32 %r1, [%r2];", {"ldv.generic'4 %r2, #0, {%r1}"}},
      },
      32);
  EXPECT_EQ(lower_kernel("exit;", 32).kernel.address_bits, 32U);
  EXPECT_EQ(lower_kernel("exit;", 64).kernel.address_bits, 64U);
}

TEST(LowerModule, LaysParametersOutByAlignment) {
  const isa::Kernel kernel = lower_module(header(64) +
                                          ".entry k(.param .u8 a, .param .u16 b, .param .f64 d, .param .u8 e,\n"
                                          ".param .align 16 .b8 f[20], .param .u32 g) { exit; }")
                                 .kernels.at(0)
                                 .kernel;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> sizes;
  for (const isa::Parameter& parameter : kernel.parameters) {
    offsets.push_back(parameter.offset);
    sizes.push_back(parameter.size);
  }
  EXPECT_THAT(offsets, ElementsAre(0, 2, 8, 16, 32, 52));
  EXPECT_THAT(sizes, ElementsAre(1, 2, 8, 1, 20, 4));
  EXPECT_EQ(kernel.parameter_bytes, 56U);
}

TEST(LowerModule, LaysVariablesOutInOrder) {
  const IrModule ir = lower_module(header(64) +
                                   ".global .u8 a = 7;\n.global .u32 b = 9;\n.const .u16 first = 513;\n"
                                   ".const .align 4 .u32 c[2] = {1, 2};\n"
                                   ".global .align 16 .b64 p[2] = {b, generic(c)};\n.entry k() { exit; }");
  const auto& variables = ir.module.variables;
  ASSERT_EQ(variables.size(), 5U);
  EXPECT_EQ(variables[0].address, isa::kModuleBase);
  EXPECT_EQ(variables[1].address, isa::kModuleBase + 4);
  EXPECT_EQ(variables[2].address, 0U);
  EXPECT_EQ(variables[3].address, 4U);
  EXPECT_EQ(variables[4].address, isa::kModuleBase + 16);
  // The pointers: to b in global memory, and the generic address of c.
  EXPECT_THAT(variables[4].initial, ElementsAre(4, 0, 0, 5, 0, 0, 0, 0, 4, 0, 0, 3, 0, 0, 0, 0));
  EXPECT_THAT(ir.module.constant_bank, ElementsAre(1, 2, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0));
}

TEST(LowerModule, RefusesInitialValuesWithoutAnAddress) {
  EXPECT_EQ(module_refusal(header(64) + ".shared .u32 s;\n.global .u64 p = s;\n.entry k() { exit; }"),
            "t.ptx:5:18: the initial value is the address of 's', which is no .global or .const variable of this file; "
            "store the address from inside the kernel");
  EXPECT_EQ(module_refusal(header(64) + ".extern .global .u32 e;\n.entry k() { .reg .b32 %r; ld.global.u32 %r, [e]; }"),
            "t.ptx:5:46: extern variable 'e' has no definition in this file; define it here; files are not linked");
}

TEST(LowerModule, GivesAKernelTheSharedVariablesItReaches) {
  const std::string text = header(64) +
                           ".shared .align 4 .b8 unused[100]; .shared .align 4 .b8 a[6]; .shared .align 8 .b8 b[8];\n"
                           ".extern .shared .align 4 .b8 dynamic[];\n"
                           ".func f() { .reg .u32 %r; .shared .u32 own; mov.u32 %r, b; mov.u32 %r, own; ret; }\n"
                           ".entry direct() { .reg .u32 %r; mov.u32 %r, a; mov.u32 %r, dynamic; exit; }\n"
                           ".entry called() { .reg .u32 %r; call f; mov.u32 %r, a; mov.u32 %r, dynamic; exit; }\n";
  const IrModule ir = lower_module(text);
  EXPECT_EQ(ir.kernels.at(0).kernel.shared_bytes, 6U);
  EXPECT_THAT(lines_of(text, 0), ElementsAre("mov %r, #0", "mov %r, #16", "exit"));
  EXPECT_EQ(ir.kernels.at(1).kernel.shared_bytes, 20U);  // a at 0, b at 8, own at 16
  EXPECT_THAT(lines_of(text, 1),
              ElementsAre("mov f/%r, #8", "mov f/%r, #16", "L0:", "mov %r, #0", "mov %r, #32", "exit"));
}

TEST(LowerModule, PlacesLocalVariables) {
  const IrFunction ir = lower_kernel(
      ".local .align 2 .b8 x[3]; .local .align 8 .b8 y[8]; mov.u64 %rd1, y; "
      "ld.local.u8 %h1, [x+2]; cvta.local.u64 %rd2, y;");
  EXPECT_EQ(ir.local_bytes, 11U);  // y first, as it is used first
  EXPECT_THAT(IrText(ir).lines(),
              ElementsAre("mov.b64 %rd1, #0", "ld.local rz, #10, {%h1}", "mov.b64 %rd2, #33554432", "exit"));
}

TEST(LowerModule, EndsEveryBodyWithAnExit) {
  EXPECT_THAT(IrText(lower_kernel("")).lines(), ElementsAre("exit"));
  EXPECT_THAT(IrText(lower_kernel("@%p1 exit;")).lines(), ElementsAre("@%p1 exit", "exit"));
  EXPECT_THAT(IrText(lower_kernel("L: bra L;")).lines(), ElementsAre("L0:", "bra L0"));
  EXPECT_THAT(IrText(lower_kernel("@%p1 bra L; ret; L:")).lines(), ElementsAre("@%p1 bra L0", "exit", "L0:", "exit"));
}

TEST(LowerModule, KeepsEveryPosition) {
  const IrFunction ir = lower_kernel("add.u32 %r1, %r2, 1;\n  mul.wide.u16 %r1, %h1, %h2;");
  ASSERT_EQ(ir.items.size(), 5U);
  EXPECT_EQ(ir.items[0].instruction.at.line, 8U);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(ir.items[i].instruction.at.line, 9U);
    EXPECT_EQ(ir.items[i].instruction.at.column, 3U);
  }
}

TEST(LowerModule, MarksWarpOperations) {
  for (const char* text :
       {"vote.all.pred %p1, %p2;", "cond_acc.global.b32 %r1, [%rd1], %p1, %r2;", "tree_traverse.u32 %r1, %r2, %p1, 5;",
        "activemask.b32 %r1;", "mov.u32 %r1, %laneid;", "mov.u32 %r1, %lanemask_lt;",
        "shfl.idx.b32 %r1, %r2, %r3, %r0;", "bar.warp.sync -1;", "match.any.sync.b32 %r1, %r2, -1;"}) {
    EXPECT_TRUE(lower_kernel(text).kernel.uses_warp_operations) << text;
    // The line of the first one.
    const isa::Kernel kernel = lower_kernel("mov.u32 %r4, 0;\n" + std::string(text) + "\nactivemask.b32 %r1;").kernel;
    EXPECT_EQ(kernel.warp_operation_line, lower_kernel(text).kernel.warp_operation_line + 1) << text;
  }
  const isa::Kernel none = lower_kernel("mov.u32 %r1, %tid.x; bar.sync 0;").kernel;
  EXPECT_FALSE(none.uses_warp_operations);
  EXPECT_EQ(none.warp_operation_line, 0U);
}

IrFunction with_warp_syncs(std::string_view statements) {
  CodeOptions code;
  code.warp_syncs = true;
  return lower(parse(kernel_text(statements), "t.ptx"), code).kernels.at(0);
}

// For machines that schedule the threads of a warp independently: who exchanges waits for those that are named, once
// where they cannot have parted since.
TEST(LowerModule, WaitsForTheLanesThatAreNamed) {
  const auto lines = [](const std::string& text) { return IrText(with_warp_syncs(text)).lines(); };
  EXPECT_THAT(lines("bar.warp.sync -1; bar.warp.sync %r1;"),
              ElementsAre("warp.sync #-1", "nop", "warp.sync %r1", "nop", "exit"));
  EXPECT_THAT(lines("vote.sync.any.pred %p1, %p2, 0xffff; vote.sync.ballot.b32 %r1, %p1, 0xffff;\n"
                    "vote.sync.ballot.b32 %r1, %p1, 0xff;"),
              ElementsAre("warp.sync #65535", "vote.any %p1, #65535, [%p2]", "vote.ballot %r1, #65535, [%p1]",
                          "warp.sync #255", "vote.ballot %r1, #255, [%p1]", "exit"));
  EXPECT_THAT(lines("shfl.sync.idx.b32 %r1, %r2, %r3, %r0, %r0; match.any.sync.b32 %r1, %r2, %r0;"),
              ElementsAre("warp.sync %r0", "shfl.idx %r1, %r2, %r3, %r0, %r0", "warp.sync %r0",
                          "match.any %r1, %r2, %r0", "exit"))
      << "a register may have changed";
  EXPECT_THAT(lines("bar.warp.sync -1; bar.sync 0; bar.warp.sync -1; L: bar.warp.sync -1; @%p1 bra L;"),
              ElementsAre("warp.sync #-1", "nop", "bar.sync rz, #0", "warp.sync #-1", "nop", "L0:", "warp.sync #-1",
                          "nop", "@%p1 bra L0", "exit"));
  EXPECT_THAT(lines("@%p1 bar.warp.sync -1; bar.warp.sync -1;"),
              ElementsAre("@%p1 warp.sync #-1", "nop", "warp.sync #-1", "nop", "exit"));
  EXPECT_THAT(lines("vote.any.pred %p1, %p2;"), ElementsAre("vote.any %p1, #-1, [%p2]", "exit"))
      << "the form that names no lanes waits for none";
}

TEST(LowerModule, SaysWhatNeedsTheLanesOfAWarpTogether) {
  EXPECT_TRUE(lower_kernel("bar.warp.sync -1;").kernel.needs_lockstep);
  EXPECT_TRUE(lower_kernel("shfl.sync.idx.b32 %r1, %r2, %r3, %r0, %r0;").kernel.needs_lockstep);
  EXPECT_FALSE(with_warp_syncs("bar.warp.sync -1;").kernel.needs_lockstep);
  EXPECT_FALSE(lower_kernel("vote.any.pred %p1, %p2; mov.u32 %r1, %laneid;").kernel.needs_lockstep);
}

TEST(LowerModule, ReadsKernelAttributes) {
  const IrFunction ir =
      lower_module(header(64) + ".entry k() .maxntid 32, 4 .maxnreg 20\n{ .pragma \"warp_size 64\"; exit; }")
          .kernels.at(0);
  EXPECT_EQ(ir.kernel.max_threads, 128U);
  EXPECT_EQ(ir.code.max_registers, 20U);
  EXPECT_EQ(ir.kernel.warp_size, 64U);
  EXPECT_EQ(ir.kernel.warp_size_line, 5U);
  EXPECT_FALSE(ir.kernel.required_block.has_value());
  const IrFunction required = lower_module(header(64) + ".entry k() .reqntid 8, 4, 2 { exit; }", 16).kernels.at(0);
  EXPECT_EQ(required.kernel.required_block, (isa::Dim3{8, 4, 2}));
  EXPECT_EQ(required.code.max_registers, 16U);
  EXPECT_EQ(module_refusal(header(64) + ".entry k() .maxnreg 7 { exit; }"),
            "t.ptx:4:8: .maxnreg 7 of 'k' is too low; allow at least 8 registers");
  EXPECT_EQ(module_refusal(header(64) + ".entry k() .maxnreg 8 { exit; }"), "accepted");
  EXPECT_THROW(lower_module(header(64) + ".entry k() { exit; }", 7), InputError);
  EXPECT_EQ(refusal(".pragma \"warp_size 64\"; .pragma \"warp_size 32\";"),
            "t.ptx:8:25: pragma \"warp_size 32\" contradicts an earlier warp size of 64; keep one of them");
  EXPECT_EQ(refusal(".pragma \"warp_size 1025\";"),
            "t.ptx:8:1: pragma \"warp_size 1025\" names no warp size; write a number from 1 to 1024");
  EXPECT_EQ(refusal(".pragma \"warp_size 1024\";"), "accepted");
}

TEST(LowerModule, TheLargestGroupOfLanesCounts) {
  const isa::Kernel none = lower_kernel("mov.u32 %r1, %tid.x;").kernel;
  EXPECT_EQ(none.lane_groups, 1U);
  const isa::Kernel kernel =
      lower_kernel(".pragma \"lane_groups 4\";\n.pragma \"lane_groups 16\";\n.pragma \"lane_groups 8\";").kernel;
  EXPECT_EQ(kernel.lane_groups, 16U);
  EXPECT_EQ(kernel.lane_groups_line, 9U);
  EXPECT_FALSE(kernel.uses_warp_operations);
  EXPECT_EQ(refusal(".pragma \"lane_groups 12\";"),
            "t.ptx:8:1: pragma \"lane_groups 12\" names no power of two; write 1, 2, 4, 8, 16 or 32");
  EXPECT_EQ(refusal(".pragma \"lane_groups 64\";"),
            "t.ptx:8:1: pragma \"lane_groups 64\" names no size of groups; write a number from 1 to 32");
  EXPECT_EQ(refusal(".pragma \"lane_groups\";"),
            "t.ptx:8:1: unknown pragma \"lane_groups\"; known ones: \"row_hint\" before a load, \"warp_size N\", "
            "\"lane_groups N\", \"nounroll\", \"used_bytes_mask ...\", \"enable_smem_spilling\", \"frequency ...\"");
}

}  // namespace
}  // namespace heddle::ptx::test
