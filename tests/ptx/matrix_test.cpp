// mma and ldmatrix in PTX: sizes and elements, what is refused, and in which registers matrices are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx/compile.hpp"
#include "tests/ptx/lower_text.hpp"

namespace heddle::ptx {
namespace {

using ::testing::HasSubstr;

const std::string kMatrixRegisters = ".reg .b32 %v<24>; .reg .f32 %x<9>; .reg .f64 %w<12>; .reg .b64 %y1;\n";
// Without them nothing is done.
const std::string kStores =
    "st.global.f32 [%y1], %x1; st.global.v2.u32 [%y1], {%v1, %v7}; st.global.v2.f64 [%y1], {%w1, %w3};\n";
const std::string kMatrixProduct = "mma.sync.aligned.";
const std::string kMatrixSums = "{%x1, %x2, %x3, %x4}";

// The operations on matrices, and the moves between them, of a kernel with these statements.
std::vector<std::string> matrix_operations(const std::string& statements) {
  const std::string text = test::kernel_text(kMatrixRegisters + statements + kStores);
  const isa::Module module = compile(text, "t.ptx");
  std::vector<std::string> out;
  for (const isa::InstructionWord& word : module.kernels.at(0).words) {
    const isa::Instruction instruction = isa::decode(word).value();
    if (isa::is_matrix(instruction.op) || instruction.op == isa::Op::MOV || instruction.op == isa::Op::MOV64) {
      out.push_back(isa::disassemble(instruction));
    }
  }
  return out;
}

std::string mnemonic_of(const std::string& operation) {
  return operation.substr(0, operation.find(' '));
}

TEST(PtxMatrix, SizesAndElements) {
  struct Case {
    std::string statement, operation;
  };
  const std::string four = "{%v1, %v2, %v3, %v4}", two = "{%v5, %v6}", words = "{%v7, %v8, %v9, %v10}";
  for (const Case& one : std::vector<Case>{
           {"m16n8k16.row.col.f32.f16.f16.f32 " + kMatrixSums + ", " + four + ", " + two + ", " + kMatrixSums,
            "mma.m16n8k16.f16.f16"},
           {"m16n8k8.row.col.f32.f16.f16.f32 " + kMatrixSums + ", " + two + ", {%v1}, " + kMatrixSums,
            "mma.m16n8k8.f16.f16"},
           {"m16n8k8.row.col.f16.f16.f16.f16 {%v1, %v2}, {%v3, %v4}, %v5, {%v1, %v2}", "mma.m16n8k8.sum16.f16.f16"},
           {"m16n8k16.row.col.f32.bf16.bf16.f32 " + kMatrixSums + ", " + four + ", " + two + ", " + kMatrixSums,
            "mma.m16n8k16.bf16.bf16"},
           {"m16n8k4.row.col.f32.tf32.tf32.f32 " + kMatrixSums + ", " + two + ", {%v1}, " + kMatrixSums,
            "mma.m16n8k4.tf32.tf32"},
           {"m16n8k8.row.col.f32.tf32.tf32.f32 " + kMatrixSums + ", " + four + ", " + two + ", " + kMatrixSums,
            "mma.m16n8k8.tf32.tf32"},
           {"m16n8k32.row.col.satfinite.s32.s8.u8.s32 " + words + ", " + four + ", " + two + ", " + words,
            "mma.m16n8k32.sat.s8.u8"},
           {"m8n8k16.row.col.s32.u8.u8.s32 {%v1, %v2}, {%v3}, {%v4}, {%v5, %v6}", "mma.m8n8k16.u8.u8"},
           {"m8n8k4.row.col.f64.f64.f64.f64 {%w1, %w2}, {%w3}, {%w4}, {%w5, %w6}", "mma.m8n8k4.f64.f64"}}) {
    SCOPED_TRACE(one.statement);
    std::vector<std::string> found;
    for (const std::string& operation : matrix_operations(kMatrixProduct + one.statement + ";")) {
      if (operation.starts_with("mma")) found.push_back(mnemonic_of(operation));
    }
    EXPECT_EQ(found, std::vector{one.operation});
  }
}

// Larger ones of f64 are several of m8n8k4.
TEST(PtxMatrix, LargeMatricesOfDoublesAreSeveralSmallOnes) {
  const std::string sums = "{%w1, %w2, %w3, %w4}";
  const auto count = [&](const std::string& size, const std::string& a, const std::string& b) {
    unsigned found = 0;
    for (const std::string& operation : matrix_operations(kMatrixProduct + size + ".row.col.f64.f64.f64.f64 " + sums +
                                                          ", " + a + ", " + b + ", " + sums + ";")) {
      found += operation.starts_with("mma.m8n8k4.f64.f64 ") ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(count("m16n8k4", "{%w5, %w6}", "{%w7}"), 2U);
  EXPECT_EQ(count("m16n8k8", "{%w5, %w6, %w7, %w8}", "{%w9, %w10}"), 4U);
  EXPECT_EQ(count("m16n8k16", "{%w5, %w6, %w7, %w8, %w5, %w6, %w7, %w8}", "{%w9, %w10, %w9, %w10}"), 8U);
}

TEST(PtxMatrix, WhatIsNotThereIsRefused) {
  for (const auto& [statement, error] : std::vector<std::pair<std::string, std::string>>{
           {kMatrixProduct + "m8n8k4.row.col.f32.f16.f16.f32 " + kMatrixSums + ", {%v1, %v2}, {%v3, %v4}, " +
                kMatrixSums + ";",
            ".m8n8k4 is no size of matrices of these elements here; m16n8k8"},
           {kMatrixProduct + "m16n8k16.row.col.f32.f16.bf16.f32 " + kMatrixSums + ", {%v1,%v2,%v3,%v4}, {%v5,%v6}, " +
                kMatrixSums + ";",
            "the factors have elements of different kinds"},
           {kMatrixProduct + "m16n8k16.row.row.f32.f16.f16.f32 " + kMatrixSums + ", {%v1,%v2,%v3,%v4}, {%v5,%v6}, " +
                kMatrixSums + ";",
            "write .col there"},
           {kMatrixProduct + "m16n8k16.row.col.s32.f16.f16.f32 " + kMatrixSums + ", {%v1,%v2,%v3,%v4}, {%v5,%v6}, " +
                kMatrixSums + ";",
            "the sum of such products is of .f32"},
           {kMatrixProduct + "m16n8k16.row.col.f32.f16.f16.f32 " + kMatrixSums + ", {%v1,%v2,%v3}, {%v5,%v6}, " +
                kMatrixSums + ";",
            "a has 4 registers in each lane, and 3 stand here"},
           {kMatrixProduct + "m16n8k32.row.col.f32.e4m3.e4m3.f32 " + kMatrixSums + ", {%v1,%v2,%v3,%v4}, {%v5,%v6}, " +
                kMatrixSums + ";",
            "the elements of a factor"},
           {"ldmatrix.sync.aligned.m8n8.x2.b16 {%v1, %v2}, [%y1];", "the matrices must be in shared memory"},
           {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%v1, %v2, %v3}, [%v4];",
            "the destination has 2 registers in each lane, and 3 stand here"},
           {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%v1, %v2}, [%y1];",
            "the matrix has 8 registers in each lane, and 2 stand here"},
           {"wmma.load.b.sync.aligned.row.m16n16k16.tf32 {%v1, %v2, %v3, %v4}, [%y1];",
            "this is no size of matrices of these elements; m16n16k16, m32n8k16"},
           {"wmma.load.a.sync.aligned.row.m8n8k32.s4 {%v1}, [%y1];", "a size of matrices"},
           {"wmma.load.a.sync.aligned.row.m16n16k16.const.s8 {%v1, %v2}, [%y1];",
            "matrices are in global or shared memory"},
           {"wmma.store.d.sync.aligned.row.m8n8k4.f32 [%y1], {%x1, %x2};", "sums of .f64 are of m8n8k4"},
           {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {%v1,%v2,%v3,%v4,%v5,%v6,%v7,%v8}, {%v1,%v2}, "
            "{%v3,%v4}, {%v1,%v2,%v3,%v4,%v5,%v6,%v7,%v8};",
            "the factors have elements of different kinds"},
           {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.f16 {%v1}, {%v2}, {%v3}, {%v4};",
            "the sum of such products is of .f32"},
           {"cvt.rna.f16.f32 %v1, %x1;", "write .tf32 there"},
           {"ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%v1, %v2}, [%v4];",
            "matrices have eight rows of 16 bytes here"}}) {
    EXPECT_THAT(test::refusal(kMatrixRegisters + statement), HasSubstr(error)) << statement;
  }
}

// Loads leave matrices where products take them, and sums stay in their registers.
TEST(PtxMatrix, MatricesAreNotMovedBetweenProducts) {
  const std::string product = kMatrixProduct + "m16n8k16.row.col.f32.f16.f16.f32 ";
  const std::string other = "{%x5, %x6, %x7, %x8}";
  const std::string a = "{%v1, %v2, %v3, %v4}", b = "{%v5, %v6}", c = "{%v7, %v8}";
  const std::vector<std::string> found =
      matrix_operations("ldmatrix.sync.aligned.m8n8.x4.shared.b16 " + a + ", [%v20];\n" +
                        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%v5, %v6, %v7, %v8}, [%v20+512];\n" + product +
                        kMatrixSums + ", " + a + ", " + b + ", " + kMatrixSums + ";\nLabel:\n" + product + other +
                        ", " + a + ", " + c + ", " + other + ";\n" + product + kMatrixSums + ", " + a + ", " + c +
                        ", " + kMatrixSums + ";\n" + "st.global.f32 [%y1], %x1; st.global.f32 [%y1], %x6;\n");
  unsigned loads = 0, products = 0, moves = 0;
  for (const std::string& operation : found) {
    loads += operation.starts_with("ldmatrix") ? 1 : 0;
    products += operation.starts_with("mma") ? 1 : 0;
    moves += operation.starts_with("mov r") || operation.starts_with("mov.b64 r") ? 1 : 0;
  }
  EXPECT_EQ(loads, 2U);
  EXPECT_EQ(products, 3U);
  EXPECT_LE(moves, 8U) << ::testing::PrintToString(found);  // zeros, which the sums begin with
}

}  // namespace
}  // namespace heddle::ptx
