// Loops over lanes from a function on one lane's values. Internal to isa/.
//
// A lane function is a captureless lambda whose parameter types say how to read the operands (32-bit: word 0; 64-bit:
// both words) and whose return type says how to write the result. One parameter reads b, two a and b, three a, b and
// c, four a, b, c and d. All lanes are computed with a fixed count, so that the compiler vectorises the loop.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "isa/semantics.hpp"

namespace heddle::isa::lanes {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

template <typename T, std::size_t words>
inline T get(const std::array<LaneWord, words>& operand, unsigned lane) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(operand[0][lane]);
  } else {
    return std::bit_cast<T>(operand[0][lane] | u64{operand[1][lane]} << 32U);
  }
}

template <typename T>
inline void put(LaneValues& values, unsigned lane, T value) {
  if constexpr (sizeof(T) == 4) {
    values.result[0][lane] = std::bit_cast<u32>(value);
  } else {
    const u64 bits = std::bit_cast<u64>(value);
    values.result[0][lane] = static_cast<u32>(bits);
    values.result[1][lane] = static_cast<u32>(bits >> 32U);
  }
}

// How a lane function's type reads and writes the operands.
template <typename F>
struct LaneLoop : LaneLoop<decltype(&F::operator())> {};
template <typename F, typename R, typename... Args>
struct LaneLoop<R (F::*)(Args...) const> {
  static void run(const Instruction& /*instruction*/, LaneValues& values) {
    for (unsigned lane = 0; lane < kLanes; ++lane) put<R>(values, lane, at<Args...>(values, lane));
  }

 private:
  template <typename B>
  static R at(const LaneValues& v, unsigned lane) {
    return F{}(get<B>(v.b, lane));
  }
  template <typename A, typename B>
  static R at(const LaneValues& v, unsigned lane) {
    return F{}(get<A>(v.a, lane), get<B>(v.b, lane));
  }
  template <typename A, typename B, typename C>
  static R at(const LaneValues& v, unsigned lane) {
    return F{}(get<A>(v.a, lane), get<B>(v.b, lane), get<C>(v.c, lane));
  }
  template <typename A, typename B, typename C, typename D>
  static R at(const LaneValues& v, unsigned lane) {
    return F{}(get<A>(v.a, lane), get<B>(v.b, lane), get<C>(v.c, lane), D{v.d[lane]});
  }
};

// The lane function that applies a captureless lambda to every lane.
template <typename F>
constexpr LaneFunction each(F /*function*/) {
  return &LaneLoop<F>::run;
}

// Bit i of the result: predicate(i).
template <typename F>
inline LaneMask mask_of(F predicate) {
  LaneMask mask = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) mask |= predicate(lane) ? LaneMask{1} << lane : LaneMask{0};
  return mask;
}

inline bool lane_bit(LaneMask mask, unsigned lane) {
  return ((mask >> lane) & 1U) != 0;
}

// Picks Kernel::run<index> at run time: one specialised loop for each combination of modifiers.
template <typename Kernel, std::size_t Count>
inline LaneFunction pick(std::size_t index) {
  static constexpr auto kTable = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<LaneFunction, Count>{&Kernel::template run<static_cast<unsigned>(I)>...};
  }
  (std::make_index_sequence<Count>{});
  return kTable[index];
}

}  // namespace heddle::isa::lanes
