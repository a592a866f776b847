#include "tests/ptx_ops/operand_values.hpp"

#include <cmath>
#include <limits>

namespace heddle::ptx_ops {
namespace {

template <class T>
std::vector<u64> integers() {
  using U = std::make_unsigned_t<T>;
  constexpr U kTop = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
  std::vector<U> values = {0, 1, 2, 3, 7, 31, 32, 33, 0x7f, 0x80, 0xff, 0x100, 0x5a5a};
  for (const U value : {kTop, U(kTop - 1), U(kTop + 1), U(~U{0}), U(~U{0} - 1), U(kTop >> 1), U(kTop + 0x1234)}) {
    values.push_back(value);
  }
  if constexpr (sizeof(T) >= 4) {
    for (const u32 value : {0x7fffU, 0x8000U, 0xffffU, 0x10000U, 0x7fffffU, 0x800000U, 0xffffffU, 0xffff8000U}) {
      values.push_back(static_cast<U>(static_cast<s32>(value)));
    }
  }
  if constexpr (sizeof(T) == 8) {
    for (const U value : {0x7fffffffULL, 0x80000000ULL, 0xffffffffULL, 0x100000000ULL, 0x1fffffffffffffULL,
                          0x20000000000001ULL, 0xffffffff00000000ULL, 0x7ffffffffffffc00ULL, 0xfffffffffffffbffULL}) {
      values.push_back(value);
    }
  }
  std::vector<u64> slots;
  for (const U value : values) slots.push_back(to_slot(value));
  return slots;
}

std::vector<u64> halves() {
  return {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3bff, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4100,
          0xbe00, 0xc100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe01, 0x5c00, 0x57f0, 0x4248};
}

std::vector<u64> counts() {
  std::vector<u64> values;
  for (u64 i = 0; i < 70; i += i % 8 < 2 || i % 8 == 7 ? 1 : 3) values.push_back(i);
  for (const u64 value : {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257}) values.push_back(value);
  for (const u64 value : {0x7fffffffU, 0x80000000U, 0x80000001U, 0xffffffe0U, 0xffffffffU}) values.push_back(value);
  return values;
}

template <class F>
std::vector<u64> reals() {
  using Limits = std::numeric_limits<F>;
  const F one = 1;
  std::vector<F> values = {0, one, F(0.5), F(1.5), F(2.5), F(0.1), F(3), Limits::denorm_min(), Limits::min(),
                           Limits::min() - Limits::denorm_min(), Limits::min() + Limits::denorm_min(), Limits::max(),
                           Limits::infinity(), one + Limits::epsilon(), one - Limits::epsilon() / 2,
                           // bounds of integers and of halves
                           F(127.5), F(255.5), F(32767.5), F(65504), F(65519), F(65520), F(2147483647), F(2147483648),
                           F(4294967295), F(9223372036854775807.0), F(18446744073709551615.0), F(1e10),
                           std::ldexp(one, -14), std::ldexp(F(3), -26), std::ldexp(one, -25), F(3e-8),
                           // for doubles: halfway between singles, and their bounds
                           F(1.000000059604644775390625), F(3.4028235677973366e38), F(3.4028234e38),
                           F(7.006492321624085e-46), F(1.1754943157898258e-38)};
  std::vector<u64> slots;
  for (const F value : values) {
    slots.push_back(to_slot(value));
    slots.push_back(to_slot(-value));
  }
  if constexpr (sizeof(F) == 4) {
    for (const u64 nan : {0x7fc00000U, 0x7f800001U, 0xffc00123U, 0x7fffffffU}) slots.push_back(nan);
  } else {
    for (const u64 nan : {0x7ff8000000000000U, 0x7ff0000000000001U, 0xfff8000000000123U, 0x7fffffffffffffffU}) {
      slots.push_back(nan);
    }
  }
  return slots;
}

// Any bits, or values of moderate size, or such with few digits (so that ties happen), or integers and halves.
template <class F>
u64 random_real(std::mt19937_64& random) {
  const u64 any = random();
  switch (random() % 4) {
    case 0:
      return sizeof(F) == 8 ? any : any & 0xffffffffU;
    case 1:
      return to_slot(std::ldexp(static_cast<F>(static_cast<s64>(any)), static_cast<int>(random() % 40) - 83));
    case 2:
      return to_slot(std::ldexp(static_cast<F>(static_cast<s32>(any % 512) - 256), static_cast<int>(random() % 6) - 6));
    default:
      return to_slot(static_cast<F>(static_cast<s64>(any) >> (random() % 60)) / 2);
  }
}

}  // namespace

const std::vector<u64>& edge_values(Kind kind) {
  static const std::vector<u64> predicates = {0, 1}, of_u16 = integers<u16>(), of_u32 = integers<u32>(),
                                of_u64 = integers<u64>(), of_half = halves(), of_count = counts(),
                                of_f32 = reals<float>(), of_f64 = reals<double>();
  switch (kind) {
    case Kind::predicate:
      return predicates;
    case Kind::u16_:
    case Kind::s16_:
      return of_u16;
    case Kind::half:
      return of_half;
    case Kind::u32_:
    case Kind::s32_:
      return of_u32;
    case Kind::count:
      return of_count;
    case Kind::f32_:
      return of_f32;
    case Kind::u64_:
    case Kind::s64_:
      return of_u64;
    case Kind::f64_:
      return of_f64;
  }
  return predicates;
}

u64 random_value(Kind kind, std::mt19937_64& random) {
  switch (kind) {
    case Kind::predicate:
      return random() & 1U;
    case Kind::count:
      return random() % 4 == 0 ? random() & 0xffffffffU : random() % 72;
    case Kind::f32_:
      return random_real<float>(random);
    case Kind::f64_:
      return random_real<double>(random);
    default: {
      const unsigned bits = 8 * size_of(kind);
      const u64 value = static_cast<u64>(static_cast<s64>(random()) >> (random() % 64));
      return bits == 64 ? value : value & ((u64{1} << bits) - 1);
    }
  }
}

unsigned size_of(Kind kind) {
  switch (kind) {
    case Kind::u16_:
    case Kind::s16_:
    case Kind::half:
      return 2;
    case Kind::u64_:
    case Kind::s64_:
    case Kind::f64_:
      return 8;
    default:
      return 4;
  }
}

}  // namespace heddle::ptx_ops
