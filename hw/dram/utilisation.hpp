// What a channel did over time, in bounded memory: kBuckets stretches of equal width that cover the run from cycle 0
// on. When the run outgrows them, neighbours are added up and the width doubles.
#pragma once

#include <cstdint>
#include <vector>

#include "tlm/cycle.hpp"

namespace heddle::hw {

class UtilisationSeries {
 public:
  static constexpr unsigned kBuckets = 64;
  static constexpr link::Cycle kFirstWidth = 64;
  using Values = std::vector<std::uint64_t>;

  // Adds one per cycle of [begin, end) to one of the series below.
  void add(Values& series, link::Cycle begin, link::Cycle end) {
    if (begin >= end) {
      return;
    }
    while (end > bucket_cycles * kBuckets) {
      widen();
    }
    std::uint64_t bucket = begin >> shift_;
    const std::uint64_t last = (end - 1) >> shift_;
    for (; bucket < last; ++bucket) {
      const link::Cycle boundary = (bucket + 1) << shift_;
      series[bucket] += boundary - begin;
      begin = boundary;
    }
    series[bucket] += end - begin;
  }

  std::uint64_t bucket_cycles = kFirstWidth;
  Values bus = Values(kBuckets);
  Values banks = Values(kBuckets);
  Values queue = Values(kBuckets);
  Values row_hits = Values(kBuckets);
  Values row_conflicts = Values(kBuckets);

 private:
  void widen() {
    bucket_cycles *= 2;
    ++shift_;
    for (Values* series : {&bus, &banks, &queue, &row_hits, &row_conflicts}) {
      for (unsigned i = 0; i != kBuckets; ++i) {
        (*series)[i] = i < kBuckets / 2 ? (*series)[2 * i] + (*series)[2 * i + 1] : 0;
      }
    }
  }
  static_assert((kFirstWidth & (kFirstWidth - 1)) == 0 && kFirstWidth == 64);
  unsigned shift_ = 6;  // log2 of bucket_cycles
};

}  // namespace heddle::hw
