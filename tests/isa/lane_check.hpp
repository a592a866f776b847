// Runs lane functions over edge values and random values, and compares each lane with a function of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cfenv>
#include <functional>
#include <random>
#include <vector>

#include "isa/semantics.hpp"

namespace heddle::isa::test {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

// The modes of <cfenv>, in the order of Rounding::rn, rz, rm, rp.
inline constexpr int kHostModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

// Operands of one lane.
struct Lane {
  u64 a = 0, b = 0, c = 0;
  u32 d = 0;
  bool predicate_a = false, predicate_b = false;
};
struct LaneResult {
  u64 value = 0;
  bool p = false, q = false;
};

template <std::size_t words>
inline void set(std::array<LaneWord, words>& operand, unsigned lane, u64 value) {
  operand[0][lane] = static_cast<u32>(value);
  operand[1][lane] = static_cast<u32>(value >> 32U);
}

inline Instruction operation(Op op, u32 mods = 0, std::uint8_t c = kRZ) {
  Instruction i;
  i.op = op;
  i.mods = mods;
  i.c = c;
  return i;
}

// Computes up to kLanes lanes; the rest get zeros.
inline std::vector<LaneResult> compute(const Instruction& instruction, const std::vector<Lane>& lanes) {
  LaneValues v{};
  v.active = ~LaneMask{0};
  for (unsigned i = 0; i < lanes.size(); ++i) {
    set(v.a, i, lanes[i].a);
    set(v.b, i, lanes[i].b);
    set(v.c, i, lanes[i].c);
    v.d[i] = lanes[i].d;
    v.predicate_a |= lanes[i].predicate_a ? 1U << i : 0U;
    v.predicate_b |= lanes[i].predicate_b ? 1U << i : 0U;
  }
  lane_function(instruction)(instruction, v);
  std::vector<LaneResult> results;
  const bool wide = destination_registers(instruction) == 2;
  for (unsigned i = 0; i < lanes.size(); ++i) {
    results.push_back(
        {v.result[0][i] | (wide ? u64{v.result[1][i]} << 32U : 0), (v.p >> i & 1U) != 0, (v.q >> i & 1U) != 0});
  }
  return results;
}

inline u64 compute_one(const Instruction& instruction, const Lane& lane) {
  return compute(instruction, {lane}).front().value;
}

// Operand values: what edges() gives, and random ones.
class Samples {
 public:
  Samples(std::vector<u64> edges, std::function<u64(std::mt19937_64&)> draw)
      : edges_(std::move(edges)), draw_(std::move(draw)) {}

  // Every pair (triple, where `triples`) of edge values, then `count` random lanes with an edge thrown in at times.
  [[nodiscard]] std::vector<Lane> lanes(bool triples, unsigned count, u32 seed = 1) const {
    std::vector<Lane> out;
    std::mt19937_64 random(seed);
    for (const u64 a : edges_) {
      for (const u64 b : edges_) {
        if (!triples) out.push_back({a, b, draw_(random), static_cast<u32>(draw_(random))});
        for (unsigned i = 0; triples && i < edges_.size(); ++i) {
          out.push_back({a, b, edges_[i], static_cast<u32>(edges_[random() % edges_.size()])});
        }
      }
    }
    const auto value = [&] { return random() % 8 == 0 ? edges_[random() % edges_.size()] : draw_(random); };
    for (unsigned i = 0; i < count; ++i) out.push_back({value(), value(), value(), static_cast<u32>(value())});
    for (Lane& lane : out) {
      lane.predicate_a = random() % 2 == 0;
      lane.predicate_b = random() % 2 == 0;
    }
    return out;
  }

 private:
  std::vector<u64> edges_;
  std::function<u64(std::mt19937_64&)> draw_;
};

inline Samples words() {
  return {{0,        1,         2,          3,          7,          8,          15,         16,
           23,       24,        31,         32,         33,         63,         64,         65,
           255,      256,       257,        0x7FFF,     0x8000,     0xFFFF,     0x7FFFFF,   0x800000,
           0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFF80},
          [](std::mt19937_64& random) { return (random() & 0xFFFFFFFFU) >> random() % 32; }};
}

inline Samples longs() {
  return {{0,
           1,
           2,
           31,
           32,
           33,
           63,
           64,
           65,
           255,
           256,
           0x7FFFFFFF,
           0x80000000,
           0xFFFFFFFF,
           0x100000000,
           0x1FFFFFFFF,
           0x7FFFFFFFFFFFFFFF,
           0x8000000000000000,
           0x8000000000000001,
           0xFFFFFFFF00000000,
           0xFFFFFFFFFFFFFFFE,
           0xFFFFFFFFFFFFFFFF,
           0xFFFFFFFF80000000,
           0xFFFFFFFF7FFFFFFF},
          [](std::mt19937_64& random) { return random() >> random() % 64; }};
}

inline Samples floats() {
  return {{0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000,
           0x00800001, 0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x3F000000, 0x40490FDB, 0x4B000000,
           0x4B800000, 0x4F000000, 0xCF000000, 0x4F800000, 0x5F000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
           0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x7FFFFFFF, 0x33800000, 0x34000000, 0x1E3CE508},
          [](std::mt19937_64& random) -> u64 {
            const u32 bits = static_cast<u32>(random());
            // Half of the values near 1, so that sums cancel and products stay in range.
            return random() % 2 == 0 ? bits : (bits & 0x81FFFFFFU) | 0x3E000000U;
          }};
}

inline Samples doubles() {
  return {{0,
           0x8000000000000000,
           1,
           0x8000000000000001,
           0x000FFFFFFFFFFFFF,
           0x0010000000000000,
           0x8010000000000000,
           0x3FF0000000000000,
           0xBFF0000000000000,
           0x3FF0000000000001,
           0x3FEFFFFFFFFFFFFF,
           0x3FE0000000000000,
           0x7FEFFFFFFFFFFFFF,
           0xFFEFFFFFFFFFFFFF,
           0x7FF0000000000000,
           0xFFF0000000000000,
           0x7FF8000000000000,
           0x7FF0000000000001,
           0xFFFFFFFFFFFFFFFF,
           0x4330000000000000,
           0x43E0000000000000,
           0xC3E0000000000000,
           0x41DFFFFFFFC00000,
           0x41E0000000000000,
           0x47EFFFFFE0000000,
           0x47EFFFFFF0000000,
           0x36A0000000000000,
           0x3690000000000000,
           0x380FFFFFC0000000},
          [](std::mt19937_64& random) -> u64 {
            const u64 bits = random();
            return random() % 2 == 0 ? bits : (bits & 0x803FFFFFFFFFFFFFU) | 0x3FC0000000000000U;
          }};
}

// The value lanes carry for a 32-bit reading of an operand.
inline u32 low(u64 value) {
  return static_cast<u32>(value);
}

// Compares every lane's result with expected(lane), which yields the register value (both words when wide).
template <typename Expected>
void check(const Instruction& instruction, const std::vector<Lane>& lanes, Expected expected) {
  unsigned failures = 0;
  for (std::size_t begin = 0; begin < lanes.size(); begin += kLanes) {
    const std::vector<Lane> group(lanes.begin() + static_cast<std::ptrdiff_t>(begin),
                                  lanes.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kLanes, lanes.size())));
    const std::vector<LaneResult> results = compute(instruction, group);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const u64 want = static_cast<u64>(expected(group[i]));
      if (results[i].value == want) continue;
      ADD_FAILURE() << info(instruction.op).mnemonic << std::hex << " mods " << instruction.mods << " a " << group[i].a
                    << " b " << group[i].b << " c " << group[i].c << " d " << group[i].d << ": got " << results[i].value
                    << ", expected " << want;
      if (++failures == 5) return;
    }
  }
}

// Checks predicate results; expected(lane) yields {0, p, q}.
template <typename Expected>
void check_predicates(const Instruction& instruction, const std::vector<Lane>& lanes, Expected expected) {
  unsigned failures = 0;
  for (std::size_t begin = 0; begin < lanes.size(); begin += kLanes) {
    const std::vector<Lane> group(lanes.begin() + static_cast<std::ptrdiff_t>(begin),
                                  lanes.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kLanes, lanes.size())));
    const std::vector<LaneResult> results = compute(instruction, group);
    for (std::size_t i = 0; i < group.size(); ++i) {
      const LaneResult want = expected(group[i]);
      if (results[i].p == want.p && results[i].q == want.q) continue;
      ADD_FAILURE() << info(instruction.op).mnemonic << std::hex << " mods " << instruction.mods << " c "
                    << unsigned{instruction.c} << " a " << group[i].a << " b " << group[i].b << ": got p "
                    << results[i].p << " q " << results[i].q;
      if (++failures == 5) return;
    }
  }
}

}  // namespace heddle::isa::test
