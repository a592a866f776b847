// Counts of one thing per lane, for additions of one number to all lanes of a mask. No SystemC.
//
// The latest counts are of 16 bits, so that those of 32 lanes fit into two vector registers, and go over to the
// counters proper before they could overflow, and when somebody reads.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "isa/instruction.hpp"

namespace heddle::hw {

class LaneTally {
 public:
  // Adds `count` for each of the lanes.
  void add(isa::LaneMask lanes, unsigned count) {
    if (count > kRoom - used_) [[unlikely]] {
      settle();
      if (count > kRoom) {
        add_plainly(lanes, count);
        return;
      }
    }
    used_ += count;
    for (unsigned half = 0; half < 2; ++half) {
      Half present;
      std::memcpy(&present, &recent_[half * kHalf], sizeof present);
      const auto mask = static_cast<std::uint16_t>(lanes >> (half * kHalf));
      const Half in_mask = (mask & kBits) != 0 ? static_cast<std::uint16_t>(count) & kOnes : kOnes & 0;
      present += in_mask;
      std::memcpy(&recent_[half * kHalf], &present, sizeof present);
    }
  }
  // Of one lane. It may be changed until the next addition.
  [[nodiscard]] std::uint64_t& of(unsigned lane) {
    settle();
    return counts_[lane];
  }

 private:
  static constexpr unsigned kHalf = 16;
  using Half [[gnu::vector_size(kHalf * sizeof(std::uint16_t))]] = std::uint16_t;
  static constexpr Half kBits = {1U << 0U, 1U << 1U, 1U << 2U,  1U << 3U,  1U << 4U,  1U << 5U,  1U << 6U,  1U << 7U,
                                 1U << 8U, 1U << 9U, 1U << 10U, 1U << 11U, 1U << 12U, 1U << 13U, 1U << 14U, 1U << 15U};
  static constexpr Half kOnes = ~Half{};
  static constexpr unsigned kRoom = 0xffff;  // that a lane's recent count has

  void add_plainly(isa::LaneMask lanes, unsigned count) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      counts_[lane] += ((lanes >> lane) & 1U) * std::uint64_t{count};
    }
  }
  void settle() {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      counts_[lane] += recent_[lane];
    }
    recent_.fill(0);
    used_ = 0;
  }

  alignas(64) std::array<std::uint16_t, isa::kLanes> recent_{};
  unsigned used_ = 0;  // added since they were 0, at most to a lane
  std::array<std::uint64_t, isa::kLanes> counts_{};
};

}  // namespace heddle::hw
