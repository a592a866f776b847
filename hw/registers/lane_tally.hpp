// Counts of one thing per lane, for additions of one number to all lanes of a mask. No SystemC.
//
// The latest counts are of 16 bits, so that counts of 32 lanes fit into few vector registers, and go over to the
// counters proper before they could overflow, and when the counts are read. What is added to all lanes is one count.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "isa/instruction.hpp"
#include "isa/lane_vectors.hpp"

namespace heddle::hw {

class LaneTally {
 public:
  // Adds `count` for each of the lanes.
  void add(isa::LaneMask lanes, unsigned count) {
    if (lanes == ~isa::LaneMask{0}) {  // usual, and one addition
      of_all_ += count;
      return;
    }
    if (count > kRoom - used_) [[unlikely]] {
      settle();
      if (count > kRoom) {
        add_plainly(lanes, count);
        return;
      }
    }
    used_ += count;
    for (unsigned first = 0; first != isa::kLanes; first += isa::vectors::kNumbers) {
      Numbers present;
      std::memcpy(&present, &recent_[first], sizeof present);
      const Numbers chosen = (Numbers{} + static_cast<std::uint16_t>(lanes >> first)) & isa::vectors::kNumberBit;
      present += chosen == isa::vectors::kNumberBit ? Numbers{} + static_cast<std::uint16_t>(count) : Numbers{};
      std::memcpy(&recent_[first], &present, sizeof present);
    }
  }
  // Of one lane. It may be changed until the next addition.
  [[nodiscard]] std::uint64_t& of(unsigned lane) {
    settle();
    return counts_[lane];
  }

 private:
  using Numbers = isa::vectors::Numbers;
  static constexpr unsigned kRoom = 0xffff;  // that a lane's recent count has

  void add_plainly(isa::LaneMask lanes, unsigned count) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      counts_[lane] += ((lanes >> lane) & 1U) * std::uint64_t{count};
    }
  }
  void settle() {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      counts_[lane] += recent_[lane] + of_all_;
    }
    recent_.fill(0);
    used_ = 0;
    of_all_ = 0;
  }

  alignas(64) std::array<std::uint16_t, isa::kLanes> recent_{};
  unsigned used_ = 0;         // added since they were 0, at most to a lane
  std::uint64_t of_all_ = 0;  // added to every lane since then
  std::array<std::uint64_t, isa::kLanes> counts_{};
};

}  // namespace heddle::hw
