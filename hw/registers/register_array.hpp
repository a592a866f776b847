// The storage of a core's register file, as who has direct access to it sees it: rows of registers, and of predicates.
// No SystemC.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/zeroed_array.hpp"
#include "isa/lane_vectors.hpp"
#include "isa/result_form.hpp"
#include "isa/semantics.hpp"

namespace heddle::hw {

class RegisterArray {
 public:
  void resize(unsigned rows, unsigned registers);
  [[nodiscard]] isa::LaneWord& word(unsigned row, unsigned reg) { return values_[std::size_t{row} * registers_ + reg]; }
  [[nodiscard]] const isa::LaneWord& word(unsigned row, unsigned reg) const {
    return values_[std::size_t{row} * registers_ + reg];
  }
  // The register of a row of its own in each of some lanes, and zero in the others.
  void gather(const std::array<std::uint16_t, isa::kLanes>& rows, isa::LaneMask lanes, unsigned reg,
              isa::LaneWord& out) {
    const std::uint32_t* const first = word(0, reg).data();
    const std::uint32_t stride = registers_ * isa::kLanes;
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      const std::uint32_t take = 0U - ((lanes >> lane) & 1U);
      out[lane] = first[(rows[lane] * stride + lane) & take] & take;
    }
  }
  [[nodiscard]] isa::LaneMask& predicate(unsigned row, unsigned reg) { return predicates_[row][reg]; }
  void clear_row(unsigned row);
  // The results of an instruction for some lanes of a row.
  void write_row(unsigned row, const isa::ResultForm& form, const isa::LaneValues& values, isa::LaneMask lanes) {
    if (const unsigned words = form.words; words != 0) {
      isa::LaneWord* const into = &word(row, form.dst);
      for (unsigned number = 0; number < words; ++number) {
        isa::vectors::blend(into[number].data(), values.result[number].data(), lanes);
      }
    }
    if (form.p != isa::kPT) {
      isa::LaneMask& p = predicate(row, form.p);
      p = (values.p & lanes) | (p & ~lanes);
    }
    if (form.q != isa::kPT) {
      isa::LaneMask& q = predicate(row, form.q);
      q = (values.q & lanes) | (q & ~lanes);
    }
  }

 private:
  unsigned registers_ = 0;
  ZeroedArray<isa::LaneWord> values_{0};
  std::vector<std::array<isa::LaneMask, isa::kPredicates>> predicates_;
};

}  // namespace heddle::hw
