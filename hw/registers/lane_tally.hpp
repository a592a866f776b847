// Counts of one thing per lane, for additions of one number to all lanes of a mask. No SystemC.
//
// The latest counts lie as bit planes: bit l of planes[b] is bit b of lane l's count, so that an addition is an adder
// of masks, a few operations whatever the lanes (32 counters side by side take as many vector operations as lanes fit
// into a vector). What outgrows the planes goes over to plain counters, and so does the rest when somebody reads.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "isa/instruction.hpp"

namespace heddle::hw {

class LaneTally {
 public:
  // Adds `count` for each of the lanes.
  void add(isa::LaneMask lanes, unsigned count) {
    if (count > kMost) [[unlikely]] {
      add_plainly(lanes, count);
      return;
    }
    isa::LaneMask carry = 0;
    for (unsigned bit = 0; bit < kPlanes; ++bit) {
      const isa::LaneMask addend = lanes & (0U - ((count >> bit) & 1U));
      const isa::LaneMask plane = planes_[bit];
      const isa::LaneMask sum = plane ^ addend;
      planes_[bit] = sum ^ carry;
      carry = (plane & addend) | (sum & carry);
    }
    if (carry != 0) {
      add_plainly(carry, kMost + 1);
    }
  }
  // Of one lane. It may be changed until the next addition.
  [[nodiscard]] std::uint64_t& of(unsigned lane) {
    settle();
    return counts_[lane];
  }

 private:
  static constexpr unsigned kPlanes = 6;
  static constexpr unsigned kMost = (1U << kPlanes) - 1;

  void add_plainly(isa::LaneMask lanes, unsigned count) {
    for (; lanes != 0; lanes &= lanes - 1) {
      counts_[static_cast<unsigned>(std::countr_zero(lanes))] += count;
    }
  }
  void settle() {
    for (unsigned bit = 0; bit < kPlanes; ++bit) {
      add_plainly(planes_[bit], 1U << bit);
      planes_[bit] = 0;
    }
  }

  std::array<isa::LaneMask, kPlanes> planes_{};
  std::array<std::uint64_t, isa::kLanes> counts_{};
};

}  // namespace heddle::hw
