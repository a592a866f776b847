#include "hw/dram/storage_port.hpp"

namespace heddle::hw {

const DirectMemory::Range* DirectMemory::find(std::uint64_t address, std::uint64_t& begin) {
  const std::uint64_t granule = address >> kGranuleBits;
  Entry& entry = entries_[granule % kEntries];
  if (entry.granule == granule) {
    begin = entry.begin;
    return entry.range;
  }
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) {
    return nullptr;
  }
  --after;
  const Range& range = after->second;
  if (address > range.end) {
    return nullptr;
  }
  begin = after->first;
  const std::uint64_t first = granule << kGranuleBits;
  if (begin <= first && range.end >= first + ((std::uint64_t{1} << kGranuleBits) - 1)) {
    entry = {granule, begin, &range};
  }
  return &range;
}

void DirectMemory::add(std::uint64_t begin, const Range& range) {
  invalidate(begin, range.end);
  ranges_[begin] = range;
}

// What the memory takes back takes whole ranges with it: they are asked for again when needed.
void DirectMemory::invalidate(std::uint64_t begin, std::uint64_t end) {
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin()) {
    --at;
  }
  bool removed = false;
  while (at != ranges_.end() && at->first <= end) {
    if (at->second.end < begin) {
      ++at;
      continue;
    }
    at = ranges_.erase(at);
    removed = true;
  }
  if (removed) {
    entries_.fill(Entry{});
  }
}

}  // namespace heddle::hw
