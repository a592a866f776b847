#include "tb/measure/profile/time_buckets.hpp"

#include <numeric>

namespace heddle::tb {

void TimeBuckets::add_span(std::size_t row, link::Cycle begin, link::Cycle end, std::uint64_t weight) {
  if (begin >= end) {
    return;
  }
  widen_to(end);
  std::array<std::uint64_t, kCount>& buckets = rows_[row];
  const link::Cycle last = (end - 1) >> shift_;
  for (link::Cycle bucket = begin >> shift_; bucket < last; ++bucket) {
    const link::Cycle boundary = (bucket + 1) << shift_;
    buckets[bucket] += (boundary - begin) * weight;
    begin = boundary;
  }
  buckets[last] += (end - begin) * weight;
}

std::uint64_t TimeBuckets::total(std::size_t row) const {
  return std::accumulate(rows_[row].begin(), rows_[row].end(), std::uint64_t{0});
}

void TimeBuckets::widen() {
  ++shift_;
  for (std::array<std::uint64_t, kCount>& buckets : rows_) {
    for (unsigned i = 0; i != kCount; ++i) {
      buckets[i] = i < kCount / 2 ? buckets[2 * i] + buckets[2 * i + 1] : 0;
    }
  }
}

void TimeBuckets::join_neighbours(std::size_t first, std::size_t count) {
  for (std::size_t i = 0; i != count; ++i) {
    std::array<std::uint64_t, kCount> joined{};
    for (const std::size_t from : {2 * i, 2 * i + 1}) {
      if (from < count) {
        for (unsigned bucket = 0; bucket != kCount; ++bucket) {
          joined[bucket] += rows_[first + from][bucket];
        }
      }
    }
    rows_[first + i] = joined;
  }
}

}  // namespace heddle::tb
