// mma and ldmatrix beside products of matrices as they stand, which are put into the lanes' registers and taken out of
// them by the formulas that the PTX ISA has for each size ("Matrix Fragments for mma.m16n8k16 ...").
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/isa/lane_check.hpp"

namespace heddle::isa {
namespace {

using test::operation;
using test::u32;
using test::u64;

using Matrix = std::vector<std::vector<double>>;
Matrix matrix(unsigned rows, unsigned columns) {
  return Matrix(rows, std::vector<double>(columns));
}

struct At {
  unsigned row, column;
};
// Element i of lane l: groupID and threadID_in_group are l / 4 and l % 4.
using Element = At (*)(unsigned group, unsigned thread, unsigned i);

// One size of one kind of elements.
struct Size {
  const char* name;
  Factor factor;
  unsigned parts, rows, depth;
  unsigned elements_a, elements_b, elements_c;  // of a lane
  Element a, b, c;
};

At sum16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1U)};
}
At sum8(unsigned g, unsigned t, unsigned i) {
  return {g, t * 2 + (i & 1U)};
}

const Size kSizes[] = {{"m16n8k16 f16", Factor::f16, 4, 16, 16, 8, 4, 4,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i < 2 || (4 <= i && i < 6) ? g : g + 8, t * 2 + (i & 1U) + (i >= 4 ? 8 : 0)};
                        },
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{t * 2 + (i & 1U) + (i >= 2 ? 8 : 0), g};
                        },
                        sum16},
                       {"m16n8k8 f16", Factor::f16, 2, 16, 8, 4, 2, 4,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i < 2 ? g : g + 8, t * 2 + (i & 1U)};
                        },
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{t * 2 + i, g};
                        },
                        sum16},
                       {"m16n8k16 bf16", Factor::bf16, 4, 16, 16, 8, 4, 4,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i < 2 || (4 <= i && i < 6) ? g : g + 8, t * 2 + (i & 1U) + (i >= 4 ? 8 : 0)};
                        },
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{t * 2 + (i & 1U) + (i >= 2 ? 8 : 0), g};
                        },
                        sum16},
                       {"m16n8k8 tf32", Factor::tf32, 4, 16, 8, 4, 2, 4,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
                        },
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i == 0 ? t : t + 4, g};
                        },
                        sum16},
                       {"m16n8k4 tf32", Factor::tf32, 2, 16, 4, 2, 1, 4,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i == 0 ? g : g + 8, t};
                        },
                        [](unsigned g, unsigned t, unsigned) {
                          return At{t, g};
                        },
                        sum16},
                       {"m16n8k32 s8", Factor::s8, 4, 16, 32, 16, 8, 4,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i < 4 || (8 <= i && i < 12) ? g : g + 8, t * 4 + (i & 3U) + (i >= 8 ? 16 : 0)};
                        },
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{t * 4 + (i & 3U) + (i >= 4 ? 16 : 0), g};
                        },
                        sum16},
                       {"m16n8k16 u8", Factor::u8, 2, 16, 16, 8, 4, 4,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{i < 4 ? g : g + 8, t * 4 + (i & 3U)};
                        },
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{t * 4 + i, g};
                        },
                        sum16},
                       {"m8n8k16 s8", Factor::s8, 1, 8, 16, 4, 4, 2,
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{g, t * 4 + i};
                        },
                        [](unsigned g, unsigned t, unsigned i) {
                          return At{t * 4 + i, g};
                        },
                        sum8},
                       {"m8n8k4 f64", Factor::f64, 1, 8, 4, 1, 1, 2,
                        [](unsigned g, unsigned t, unsigned) {
                          return At{g, t};
                        },
                        [](unsigned g, unsigned t, unsigned) {
                          return At{t, g};
                        },
                        sum8}};

unsigned bits_of(Factor factor) {
  return factor == Factor::f64                             ? 64
         : factor == Factor::tf32                          ? 32
         : factor == Factor::f16 || factor == Factor::bf16 ? 16
                                                           : 8;
}

// A whole number of at most seven bits as an element of the format.
u64 encoded(Factor factor, double value) {
  const auto single = std::bit_cast<u32>(static_cast<float>(value));
  switch (factor) {
    case Factor::f16: {
      if (value == 0) return 0;
      const int exponent = std::ilogb(value);
      const double fraction = std::fabs(value) / std::ldexp(1.0, exponent) - 1;
      return (value < 0 ? 0x8000U : 0U) | static_cast<u64>(exponent + 15) << 10U | static_cast<u64>(fraction * 1024);
    }
    case Factor::bf16:
      return single >> 16U;
    case Factor::tf32:
      return single;
    case Factor::f64:
      return std::bit_cast<u64>(value);
    default:
      return static_cast<u64>(static_cast<std::int64_t>(value)) & 0xffU;
  }
}

void put(LaneWord* words, unsigned lane, unsigned index, unsigned bits, u64 value) {
  const unsigned at = index * bits;
  words[at / 32][lane] |= static_cast<u32>(value << at % 32);
  if (bits == 64) words[at / 32 + 1][lane] = static_cast<u32>(value >> 32U);
}
u64 take(const LaneWord* words, unsigned lane, unsigned index, unsigned bits) {
  const unsigned at = index * bits;
  if (bits == 64) return words[at / 32][lane] | u64{words[at / 32 + 1][lane]} << 32U;
  const u32 word = words[at / 32][lane] >> at % 32;
  return bits == 32 ? word : word & ((1U << bits) - 1);
}

void put(LaneWord* words, unsigned elements, Element element, Factor factor, const Matrix& from) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < elements; ++i) {
      const At at = element(lane / 4, lane % 4, i);
      put(words, lane, i, bits_of(factor), encoded(factor, from[at.row][at.column]));
    }
  }
}

Matrix random_matrix(std::mt19937& random, unsigned rows, unsigned columns, int least, int most) {
  Matrix out = matrix(rows, columns);
  for (auto& row : out) {
    for (double& value : row) value = std::uniform_int_distribution<int>(least, most)(random);
  }
  return out;
}

bool is_whole(Factor factor) {
  return factor == Factor::s8 || factor == Factor::u8;
}

Instruction product(const Size& size, bool half_sum = false, bool clamps = false) {
  return operation(Op::MMA, mma_mods(size.factor, size.factor, size.parts, half_sum, clamps));
}

TEST(SemanticsMatrix, ProductsAreThoseOfWholeMatrices) {
  std::mt19937 random(1);
  for (const Size& size : kSizes) {
    SCOPED_TRACE(size.name);
    const Instruction instruction = product(size);
    EXPECT_EQ(matrix_shape(instruction).rows, size.rows);
    EXPECT_EQ(matrix_shape(instruction).depth, size.depth);
    EXPECT_EQ(why_malformed(instruction), "");
    EXPECT_EQ(a_registers(instruction), size.elements_a * bits_of(size.factor) / 32);
    EXPECT_EQ(b_registers(instruction), size.elements_b * bits_of(size.factor) / 32);
    const unsigned sum_bits = size.factor == Factor::f64 ? 64 : 32;
    EXPECT_EQ(c_registers(instruction), size.elements_c * sum_bits / 32);
    EXPECT_EQ(destination_registers(instruction), c_registers(instruction));
    for (int round = 0; round < 20; ++round) {
      const int least = size.factor == Factor::u8 ? 0 : -5;
      const int most = size.factor == Factor::u8 ? 255 : 5;
      const Matrix a = random_matrix(random, size.rows, size.depth, least, most);
      const Matrix b = random_matrix(random, size.depth, 8, least, most);
      const Matrix c = random_matrix(random, size.rows, 8, -1000, 1000);
      LaneValues v{};
      v.active = ~LaneMask{0};
      put(v.a.data(), size.elements_a, size.a, size.factor, a);
      put(v.b.data(), size.elements_b, size.b, size.factor, b);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned i = 0; i < size.elements_c; ++i) {
          const At at = size.c(lane / 4, lane % 4, i);
          const double value = c[at.row][at.column];
          put(v.c.data(), lane, i, sum_bits,
              is_whole(size.factor) ? static_cast<u32>(static_cast<std::int32_t>(value))
              : sum_bits == 64      ? std::bit_cast<u64>(value)
                                    : std::bit_cast<u32>(static_cast<float>(value)));
        }
      }
      lane_function(instruction)(instruction, v);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (unsigned i = 0; i < size.elements_c; ++i) {
          const At at = size.c(lane / 4, lane % 4, i);
          double expected = c[at.row][at.column];
          for (unsigned k = 0; k < size.depth; ++k) expected += a[at.row][k] * b[k][at.column];
          const u64 bits = take(v.result.data(), lane, i, sum_bits);
          const double got = is_whole(size.factor) ? static_cast<std::int32_t>(static_cast<u32>(bits))
                             : sum_bits == 64      ? std::bit_cast<double>(bits)
                                                   : std::bit_cast<float>(static_cast<u32>(bits));
          ASSERT_EQ(got, expected) << "lane " << lane << ", element " << i;
        }
      }
    }
  }
}

TEST(SemanticsMatrix, SumsOfHalvesAreTwoInARegister) {
  std::mt19937 random(2);
  const Size& size = kSizes[0];
  const Instruction instruction = product(size, true);
  EXPECT_EQ(destination_registers(instruction), 2U);
  const Matrix a = random_matrix(random, 16, 16, -3, 3);
  const Matrix b = random_matrix(random, 16, 8, -3, 3);
  const Matrix c = random_matrix(random, 16, 8, -60, 60);
  LaneValues v{};
  v.active = ~LaneMask{0};
  put(v.a.data(), size.elements_a, size.a, size.factor, a);
  put(v.b.data(), size.elements_b, size.b, size.factor, b);
  put(v.c.data(), size.elements_c, size.c, Factor::f16, c);
  lane_function(instruction)(instruction, v);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const At at = size.c(lane / 4, lane % 4, i);
      double expected = c[at.row][at.column];
      for (unsigned k = 0; k < 16; ++k) expected += a[at.row][k] * b[k][at.column];
      EXPECT_EQ(take(v.result.data(), lane, i, 16), encoded(Factor::f16, expected)) << lane << " " << i;
    }
  }
}

// Of signed and unsigned factors, each with its own extremes; sums wrap, or are clamped.
TEST(SemanticsMatrix, SumsOfBytesWrapOrAreClamped) {
  const auto sum = [](Factor a, Factor b, u32 bytes_a, u32 bytes_b, u32 c, bool clamps) {
    const Instruction instruction = operation(Op::MMA, mma_mods(a, b, 4, false, clamps));
    LaneValues v{};
    v.active = ~LaneMask{0};
    for (unsigned word = 0; word < 4; ++word) v.a[word].fill(bytes_a);
    for (unsigned word = 0; word < 2; ++word) v.b[word].fill(bytes_b);
    for (unsigned word = 0; word < 4; ++word) v.c[word].fill(c);
    lane_function(instruction)(instruction, v);
    EXPECT_EQ(v.result[0][5], v.result[3][30]);
    return static_cast<std::int32_t>(v.result[0][5]);
  };
  constexpr int kDepth = 32;
  EXPECT_EQ(sum(Factor::s8, Factor::s8, 0x80808080, 0x80808080, 0, false), kDepth * 128 * 128);
  EXPECT_EQ(sum(Factor::s8, Factor::u8, 0x80808080, 0xffffffff, 7, false), 7 - kDepth * 128 * 255);
  EXPECT_EQ(sum(Factor::u8, Factor::s8, 0xffffffff, 0xffffffff, 0, false), -kDepth * 255);
  EXPECT_EQ(sum(Factor::u8, Factor::u8, 0xffffffff, 0xffffffff, 0, false), kDepth * 255 * 255);
  EXPECT_EQ(sum(Factor::u8, Factor::u8, 0x01010101, 0x01010101, 0x7fffffff, false),
            std::numeric_limits<std::int32_t>::min() + kDepth - 1);
  EXPECT_EQ(sum(Factor::u8, Factor::u8, 0x01010101, 0x01010101, 0x7fffffff, true),
            std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(sum(Factor::u8, Factor::s8, 0x01010101, 0xffffffff, 0x80000000, true),
            std::numeric_limits<std::int32_t>::min());
}

TEST(SemanticsMatrix, NumbersThatAreNoneSpreadAlongTheirRowAndColumn) {
  LaneValues v{};
  v.active = ~LaneMask{0};
  v.a[0][4] = 0x7c00;  // infinity in row 1, column 0; all others are 0
  v.b[0][8] = 0x3c00;  // 1 in row 0, column 2
  const Instruction instruction = product(kSizes[1]);
  lane_function(instruction)(instruction, v);
  // Row 1: infinity times 1 in column 2, times 0 elsewhere.
  EXPECT_EQ(v.result[0][5], 0x7f800000U);
  EXPECT_EQ(v.result[1][5], 0x7fffffffU);
  EXPECT_EQ(v.result[0][4], 0x7fffffffU);
  EXPECT_EQ(v.result[0][0], 0U);
  EXPECT_EQ(v.result[2][4], 0U);
}

TEST(SemanticsMatrix, Tf32IsReadWithoutItsLowestBits) {
  const Instruction instruction = product(kSizes[4]);
  LaneValues v{};
  v.active = ~LaneMask{0};
  v.a[0][0] = std::bit_cast<u32>(1.0F) | 0x1fff;  // of 13 bits nothing is left
  v.b[0][0] = std::bit_cast<u32>(1.0F) | 0x2000;
  lane_function(instruction)(instruction, v);
  EXPECT_EQ(v.result[0][0], std::bit_cast<u32>(1.0F) | 0x2000U);
}

TEST(SemanticsMatrix, LanesThatDoNotExecuteHaveZeros) {
  const Instruction instruction = product(kSizes[4]);
  LaneValues v{};
  v.active = ~LaneMask{1U << 1U};
  v.a[0].fill(std::bit_cast<u32>(1.0F));
  v.b[0].fill(std::bit_cast<u32>(1.0F));
  lane_function(instruction)(instruction, v);
  EXPECT_EQ(std::bit_cast<float>(v.result[0][0]), 3.0F);  // row 0 lacks an element of a, column 0 one of b
  EXPECT_EQ(std::bit_cast<float>(v.result[1][2]), 3.0F);
  EXPECT_EQ(std::bit_cast<float>(v.result[0][5]), 4.0F);
}

// Rows of eight 16-bit elements; element c of row r of matrix m is 100 m + 10 r + c.
TEST(SemanticsMatrix, LoadedMatricesAreDistributedByRowsOrColumns) {
  for (const unsigned count : {1U, 2U, 4U}) {
    for (const bool transposed : {false, true}) {
      Instruction instruction = operation(Op::LD_MATRIX);
      instruction.c = ldmatrix_sub(count, transposed);
      instruction.immediate = true;
      instruction.a = 2;
      instruction.dst = 4;
      EXPECT_EQ(why_malformed(instruction), "");
      EXPECT_EQ(destination_registers(instruction), count);
      EXPECT_EQ(matrix_rows(instruction, ~LaneMask{0}), count == 4 ? ~LaneMask{0} : (LaneMask{1} << 8 * count) - 1);
      LaneValues v{};
      for (unsigned lane = 0; lane < 8 * count; ++lane) {
        for (unsigned column = 0; column < 8; ++column) {
          v.result[column / 2][lane] |= (100 * (lane / 8) + 10 * (lane % 8) + column) << 16 * (column % 2);
        }
      }
      distribute_matrices(instruction, v);
      for (unsigned m = 0; m < count; ++m) {
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          const unsigned row = lane / 4, pair = lane % 4 * 2;
          const u32 low = 100 * m + (transposed ? 10 * pair + row : 10 * row + pair);
          EXPECT_EQ(v.result[m][lane], low | (low + (transposed ? 10 : 1)) << 16U) << m << " " << lane;
        }
      }
    }
  }
}

TEST(SemanticsMatrix, WrongSizesAndElementsAreMalformed) {
  const auto malformed = [](u32 mods) { return why_malformed(operation(Op::MMA, mods)) != ""; };
  EXPECT_TRUE(malformed(mma_mods(Factor::f16, Factor::bf16, 4, false, false)));
  EXPECT_TRUE(malformed(mma_mods(Factor::f16, Factor::f16, 1, false, false)));
  EXPECT_TRUE(malformed(mma_mods(Factor::f64, Factor::f64, 2, false, false)));
  EXPECT_TRUE(malformed(mma_mods(Factor::bf16, Factor::bf16, 4, true, false)));
  EXPECT_TRUE(malformed(mma_mods(Factor::f16, Factor::f16, 4, false, true)));
  EXPECT_TRUE(malformed(mma_mods(Factor::f16, Factor::f16, 4, false, false) | 3U << 6U));
  EXPECT_TRUE(malformed(6));
  EXPECT_FALSE(malformed(mma_mods(Factor::u8, Factor::s8, 1, false, true)));
}

TEST(SemanticsMatrix, TextsAreThoseOfPtxSizes) {
  for (const char* const text :
       {"mma.m16n8k16.f16.f16 r0, r4, r8, r12", "mma.m16n8k8.sum16.f16.f16 r0, r4, r6, r8",
        "mma.m8n8k4.f64.f64 r0, r4, r6, r8", "mma.m16n8k32.sat.s8.u8 r4, r8, r12, r16",
        "mma.m8n8k16.u8.s8 r0, r1, r2, r4", "ldmatrix.x4.trans r4, [r2+64]", "ldmatrix.x1 r5, [r2]"}) {
    EXPECT_EQ(disassemble(assemble(text)), text);
    EXPECT_EQ(decode(encode(assemble(text))), assemble(text));
  }
  for (const char* const text :
       {"mma.m16n8k32.f16.f16 r0, r4, r8, r12", "mma.f16.f16 r0, r4, r8, r12", "mma.m16n8k16.f16.f16 r0, r2, r8, r12",
        "ldmatrix.x3 r4, [r2]", "ldmatrix.x4 r2, [r4]"}) {
    EXPECT_ANY_THROW(static_cast<void>(assemble(text))) << text;
  }
}

}  // namespace
}  // namespace heddle::isa
