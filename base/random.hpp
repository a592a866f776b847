// Deterministic random numbers of inputs: the same sequence on every machine.
#pragma once

#include <cstdint>

namespace heddle {

// splitmix64: a Weyl sequence through a 64-bit mixing function.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  // As if next() had been called so many times.
  void skip(std::uint64_t count) { state_ += count * 0x9e3779b97f4a7c15ULL; }
  std::uint32_t next32() { return static_cast<std::uint32_t>(next() >> 32U); }
  // In [0, bound); bound at least 1. The bias of the multiplication is below bound / 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((std::uint64_t{next32()} * bound) >> 32U);
  }
  // In [0, 1), a multiple of 2^-53.
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace heddle
