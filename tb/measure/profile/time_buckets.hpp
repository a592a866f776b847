// Counts over time in bounded memory, however long the run: rows of kCount buckets of equal width that cover it from
// cycle 0 on. When the run outgrows them, neighbours are added up and the width doubles, so that the buckets of a row
// always add up to what was counted.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "tlm/clock.hpp"

namespace heddle::tb {

class TimeBuckets {
 public:
  static constexpr unsigned kCount = 256;
  static constexpr link::Cycle kFirstWidth = 16;  // cycles
  static_assert(std::has_single_bit(kFirstWidth) && kCount % 2 == 0);

  explicit TimeBuckets(std::size_t rows) : rows_(rows) {}

  // `amount` in one cycle.
  void add(std::size_t row, link::Cycle cycle, std::uint64_t amount = 1) {
    widen_to(cycle + 1);
    rows_[row][cycle >> shift_] += amount;
  }
  // `weight` in every cycle of [begin, end).
  void add_span(std::size_t row, link::Cycle begin, link::Cycle end, std::uint64_t weight = 1);
  // Adds up rows 2i and 2i+1 of [first, first + count) in row first + i; the upper half is empty then.
  void join_neighbours(std::size_t first, std::size_t count);

  [[nodiscard]] link::Cycle width() const { return link::Cycle{1} << shift_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] std::span<const std::uint64_t, kCount> row(std::size_t row) const { return rows_[row]; }
  [[nodiscard]] std::uint64_t total(std::size_t row) const;

 private:
  void widen_to(link::Cycle end) {
    while (end > (link::Cycle{kCount} << shift_)) {
      widen();
    }
  }
  void widen();
  std::vector<std::array<std::uint64_t, kCount>> rows_;
  unsigned shift_ = std::countr_zero(kFirstWidth);  // log2 of the width
};

}  // namespace heddle::tb
