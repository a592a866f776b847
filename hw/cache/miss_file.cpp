#include "hw/cache/miss_file.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tlm/byte_enables.hpp"

namespace heddle::hw {

MissFile::MissFile(unsigned entries, unsigned targets, unsigned line_bytes)
    : targets_(targets), line_bytes_(line_bytes), entries_(entries), buckets_(std::bit_ceil(2U * entries), kNone) {
  free_.reserve(entries);
  for (unsigned i = entries; i-- > 0;) {
    free_.push_back(i);
  }
}

std::size_t MissFile::bucket(std::uint64_t address) const {
  // Lines that an access pattern touches together differ in few bits: a multiplicative hash spreads them.
  return static_cast<std::size_t>((address * 0x9e3779b97f4a7c15ULL) >> 40U) & (buckets_.size() - 1);
}

std::uint32_t MissFile::from(std::uint32_t index, std::uint64_t address) const {
  while (index != kNone && entries_[index].address != address) {
    index = entries_[index].next;
  }
  return index;
}

std::uint32_t MissFile::allocate(std::uint64_t address, bool open) {
  const std::uint32_t index = free_.back();
  free_.pop_back();
  ++used_;
  Mshr& mshr = entries_[index];
  mshr.address = address;
  mshr.used = true;
  mshr.open = open;
  mshr.atomic = false;
  mshr.state = kAbsent;
  mshr.drop = false;
  mshr.fetch = nullptr;
  mshr.sectors = mshr.kept = mshr.changes = 0;
  mshr.buffer = kNone;
  mshr.next = kNone;
  if (open) {
    std::uint32_t& head = buckets_[bucket(address)];
    mshr.next = head;
    head = index;
  }
  return index;
}

void MissFile::close(std::uint32_t index) {
  Mshr& mshr = entries_[index];
  if (!mshr.open) {
    return;
  }
  std::uint32_t* link = &buckets_[bucket(mshr.address)];
  while (*link != index) {
    link = &entries_[*link].next;
  }
  *link = mshr.next;
  mshr.open = false;
}

void MissFile::close_all() {
  for (std::uint32_t index = 0; index != entries_.size(); ++index) {
    if (entries_[index].used) {
      close(index);
    }
  }
}

void MissFile::release(std::uint32_t index) {
  close(index);
  Mshr& mshr = entries_[index];
  for (const MissTarget& target : mshr.targets) {
    if (target.request == nullptr) {
      free_stores_.push_back(target.store);
    }
  }
  if (mshr.buffer != kNone) {
    free_stores_.push_back(mshr.buffer);
  }
  mshr.targets.clear();
  mshr.used = false;
  free_.push_back(index);
  --used_;
}

void MissFile::add_load(std::uint32_t index, link::LineRequest& request) {
  entries_[index].targets.emplace_back(request);
}

bool MissFile::can_add_store(std::uint32_t index) const {
  const Mshr& mshr = entries_[index];
  return mshr.targets.size() < targets_ || mshr.targets.back().request == nullptr;
}

bool MissFile::add_store(std::uint32_t index, const std::byte* data, const std::uint8_t* enable) {
  Mshr& mshr = entries_[index];
  if (!mshr.targets.empty() && mshr.targets.back().request == nullptr) {
    StoreBuffer& buffer = stores_[mshr.targets.back().store];
    link::merge_bytes(buffer.data.data(), data, enable, line_bytes_);
    link::add_enables(buffer.enable.data(), enable, line_bytes_);
    return false;
  }
  const std::uint32_t store = take_buffer();
  StoreBuffer& buffer = stores_[store];
  std::memcpy(buffer.data.data(), data, line_bytes_);
  std::memcpy(buffer.enable.data(), enable, line_bytes_);
  mshr.targets.emplace_back(store);
  return true;
}

std::uint32_t MissFile::take_buffer() {
  if (free_stores_.empty()) {
    stores_.emplace_back();
    free_stores_.push_back(static_cast<std::uint32_t>(stores_.size() - 1));
  }
  const std::uint32_t buffer = free_stores_.back();
  free_stores_.pop_back();
  return buffer;
}

StoreBuffer& MissFile::bytes_here(std::uint32_t index) {
  Mshr& mshr = entries_[index];
  if (mshr.buffer == kNone) {
    mshr.buffer = take_buffer();
    stores_[mshr.buffer].enable.fill(0);
  }
  return stores_[mshr.buffer];
}

}  // namespace heddle::hw
