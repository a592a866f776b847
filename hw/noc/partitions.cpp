#include "hw/noc/partitions.hpp"

#include <algorithm>

#include "hw/map/rotation.hpp"

namespace heddle::hw {

L2Partitions::L2Partitions(const L2Parameters& parameters, unsigned cores, unsigned slices)
    : count_(parameters.partitions), cores_(cores), slices_(slices), line_bytes_(parameters.line_bytes) {
  lines_.assign(count_, Lines(parameters.bytes / count_ / line_bytes_, parameters.ways));
}

bool L2Partitions::crosses(unsigned core, unsigned slice, std::uint64_t address, bool reads) {
  const unsigned own = of_core(core);
  const unsigned home = of_slice(slice);
  const std::uint64_t line = address / line_bytes_;
  if (!reads) {
    for (unsigned partition = 0; partition != count_; ++partition) {
      if (partition != home) {
        lines_[partition].drop(line);
      }
    }
  }
  const bool has_copy = reads && lines_[own].read(line) && own != home;
  ++(own == home ? statistics_.near : has_copy ? statistics_.copies : statistics_.far);
  return own != home && !has_copy;
}

void L2Partitions::forget() {
  for (Lines& lines : lines_) {
    lines.forget();
  }
}

L2Partitions::Lines::Lines(std::uint64_t lines, unsigned ways)
    : ways_(ways), all_(std::max<std::uint64_t>(lines / ways, 1) * ways) {}

L2Partitions::Lines::Way* L2Partitions::Lines::set_of(std::uint64_t line) {
  return all_.data() + spread_bits(line) % (all_.size() / ways_) * ways_;
}

L2Partitions::Lines::Way* L2Partitions::Lines::find(Way* set, std::uint64_t line) const {
  Way* const end = set + ways_;
  return std::find_if(set, end, [line](const Way& way) { return way.used != 0 && way.line == line; });
}

bool L2Partitions::Lines::read(std::uint64_t line) {
  Way* const set = set_of(line);
  Way* way = find(set, line);
  const bool had = way != set + ways_;
  if (!had) {
    way = std::min_element(set, set + ways_, [](const Way& a, const Way& b) { return a.used < b.used; });
    way->line = line;
  }
  way->used = ++uses_;
  return had;
}

void L2Partitions::Lines::drop(std::uint64_t line) {
  Way* const set = set_of(line);
  if (Way* const way = find(set, line); way != set + ways_) {
    way->used = 0;
  }
}

void L2Partitions::Lines::forget() {
  std::fill(all_.begin(), all_.end(), Way{});
}

}  // namespace heddle::hw
