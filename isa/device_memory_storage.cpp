// The bytes of device memory: pages, which are made when they are first touched, and regions that are computed.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "isa/device_heap.hpp"
#include "isa/device_memory.hpp"

namespace heddle::isa {

bool DeviceMemory::overlaps_page(std::uint64_t address, std::uint64_t size, std::uint64_t page_address) {
  return address < page_address ? size > page_address - address : address - page_address < kPageBytes && size != 0;
}

void DeviceMemory::generate(std::uint64_t page_address, std::byte* page) const {
  for (const auto& [start, region] : regions_) {
    if (!overlaps_page(start, region.size, page_address)) {
      continue;
    }
    const std::uint64_t first = std::max(start, page_address);
    const std::uint64_t in_region = region.size - (first - start);
    const std::uint64_t in_page = kPageBytes - (first - page_address);
    region.generator(first, std::span(page + (first - page_address), std::min(in_region, in_page)));
  }
}

bool DeviceMemory::generated(std::uint64_t number) const {
  return std::any_of(regions_.begin(), regions_.end(), [&](const auto& entry) {
    return overlaps_page(entry.first, entry.second.size, number * kPageBytes);
  });
}

DeviceMemory::Stored* DeviceMemory::entry(std::uint64_t number, bool make) const {
  const auto found = pages_.find(number);
  if (found != pages_.end()) {
    return &found->second;
  }
  const bool fills = generated(number);
  if (!make && !fills) {
    return nullptr;
  }
  Stored& stored = pages_[number];
  if (fills) {
    generate(number * kPageBytes, bytes_of(number, stored));
  }
  return &stored;
}

std::byte* DeviceMemory::bytes_of(std::uint64_t number, Stored& stored) const {
  if (stored.bytes == nullptr && source_ != nullptr) {
    stored.bytes = source_->page(number);
  }
  if (stored.bytes == nullptr) {
    stored.own = std::make_unique<Page>();  // zeroed
    stored.bytes = stored.own->bytes;
  }
  return stored.bytes;
}

std::byte* DeviceMemory::page(std::uint64_t address, bool make) const {
  const std::uint64_t number = address / kPageBytes;
  if (number == last_page_number_) {
    return last_page_;
  }
  Stored* const stored = entry(number, make);
  if (stored == nullptr) {
    return nullptr;
  }
  last_page_ = bytes_of(number, *stored);
  last_page_number_ = number;
  return last_page_;
}

void DeviceMemory::take_pages_from(std::shared_ptr<PageSource> source) {
  const std::shared_ptr<PageSource> before = std::exchange(source_, std::move(source));
  for (auto& [number, stored] : pages_) {
    const Stored old = std::exchange(stored, {});
    if (old.bytes != nullptr) {
      std::memcpy(bytes_of(number, stored), old.bytes, kPageBytes);
    }
  }
  last_page_ = nullptr;
  last_page_number_ = ~std::uint64_t{0};
}

void DeviceMemory::touch(std::uint64_t address, std::uint64_t size) {
  if (size == 0) {
    return;
  }
  for (std::uint64_t number = address / kPageBytes; number <= (address + size - 1) / kPageBytes; ++number) {
    static_cast<void>(entry(number, true));
  }
}

std::uint64_t DeviceMemory::alike(std::uint64_t address, std::uint64_t most, bool& stored) const {
  std::uint64_t number = address / kPageBytes;
  stored = entry(number, false) != nullptr;
  std::uint64_t count = kPageBytes - address % kPageBytes;
  while (count < most && (entry(++number, false) != nullptr) == stored) {
    count += kPageBytes;
  }
  return std::min(count, most);
}

void DeviceMemory::read(std::uint64_t address, std::span<std::byte> out) const {
  while (!out.empty()) {
    std::uint64_t following = 0;
    if (const Region* const region = computed_at(address, following)) {
      const std::size_t count = std::min<std::uint64_t>(out.size(), following);
      region->generator(address, out.first(count));
      out = out.subspan(count);
      address += count;
      continue;
    }
    const std::size_t offset = address % kPageBytes;
    const std::size_t count = std::min<std::uint64_t>(std::min(out.size(), kPageBytes - offset), following);
    if (const std::byte* from = page(address, false)) {
      std::memcpy(out.data(), from + offset, count);
    } else {
      std::memset(out.data(), 0, count);
    }
    out = out.subspan(count);
    address += count;
  }
}

void DeviceMemory::write(std::uint64_t address, std::span<const std::byte> in) {
  if (computed(address, in.size())) {
    throw InternalError("a write to device memory that is computed when it is read");
  }
  while (!in.empty()) {
    const std::size_t offset = address % kPageBytes;
    const std::size_t count = std::min(in.size(), kPageBytes - offset);
    const bool changes_nothing = page(address, false) == nullptr && !in_use(address) &&
                                 std::all_of(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(count),
                                             [](std::byte byte) { return byte == std::byte{0}; });
    if (!changes_nothing) {
      std::memcpy(page(address, true) + offset, in.data(), count);
    }
    in = in.subspan(count);
    address += count;
  }
}

bool DeviceMemory::in_use(std::uint64_t address) const {
  const std::uint64_t number = address / kPageBytes;
  if (pages_.count(number) != 0 || generated(number)) {
    return true;
  }
  const std::uint64_t last = number * kPageBytes + (kPageBytes - 1);
  const auto after = allocations_.upper_bound(last);
  return after != allocations_.begin() &&
         overlaps_page(std::prev(after)->first, std::prev(after)->second.size, number * kPageBytes);
}

std::byte* DeviceMemory::direct(std::uint64_t address, std::size_t& length) {
  std::uint64_t following = 0;
  if (const Region* const region = computed_at(address, following)) {
    const std::size_t in_block = address % kAlignment;
    constexpr std::size_t kWidest = 16;
    length = kWidest - in_block % kWidest;
    region->generator(address, std::span(computed_bytes_).subspan(in_block, length));
    return computed_bytes_ + in_block;
  }
  const std::size_t offset = address % kPageBytes;
  length = kPageBytes - offset;
  return page(address, true) + offset;
}

void DeviceMemory::fill_on_touch(std::uint64_t address, std::uint64_t size, Generator generator) {
  if (size == 0) {
    return;
  }
  const Region& region = regions_[address] = Region{size, std::move(generator)};
  // Pages in the order of their addresses, whatever order the hash table keeps them in.
  std::vector<std::uint64_t> existing;
  for (const auto& [number, page] : pages_) {
    if (overlaps_page(address, size, number * kPageBytes)) {
      existing.push_back(number);
    }
  }
  std::sort(existing.begin(), existing.end());
  for (const std::uint64_t number : existing) {
    const std::uint64_t page_address = number * kPageBytes;
    const std::uint64_t first = std::max(address, page_address);
    const std::uint64_t count = std::min(size - (first - address), kPageBytes - (first - page_address));
    region.generator(first, std::span(bytes_of(number, pages_[number]) + (first - page_address), count));
  }
}

void DeviceMemory::compute_on_read(std::uint64_t address, std::uint64_t size, Generator generator) {
  if (size == 0) {
    return;
  }
  if (address % kAlignment != 0 || size % kAlignment != 0) {
    throw InternalError("a computed region starts or ends within an aligned block");
  }
  erase_contents(address, size);
  computed_[address] = Region{size, std::move(generator)};
  if (const auto allocation = allocations_.find(address); allocation != allocations_.end()) {
    allocation->second.writable = false;
  }
}

const DeviceMemory::Region* DeviceMemory::computed_at(std::uint64_t address, std::uint64_t& following) const {
  following = ~std::uint64_t{0};
  if (computed_.empty()) {
    return nullptr;
  }
  const auto after = computed_.upper_bound(address);
  if (after != computed_.begin()) {
    const auto& [start, region] = *std::prev(after);
    if (address - start < region.size) {
      following = region.size - (address - start);
      return &region;
    }
  }
  if (after != computed_.end()) {
    following = after->first - address;
  }
  return nullptr;
}

bool DeviceMemory::computed(std::uint64_t address, std::uint64_t size) const {
  std::uint64_t following = 0;
  return size != 0 && (computed_at(address, following) != nullptr || following < size);
}

void DeviceMemory::drop_pages(std::uint64_t first, std::uint64_t count) {
  if (source_ != nullptr) {
    source_->drop(first, count);
  }
  if (forget_) {
    forget_(first * kPageBytes, count * kPageBytes);
  }
}

void DeviceMemory::erase_contents(std::uint64_t address, std::uint64_t size) {
  if (size == 0) {
    return;
  }
  // Looks at the pages in question, or at the pages that there are, whichever are fewer.
  const std::uint64_t last = (address + (size - 1)) / kPageBytes;
  std::vector<std::uint64_t> there;
  if (last - address / kPageBytes < pages_.size()) {
    for (std::uint64_t number = address / kPageBytes; number <= last; ++number) {
      if (pages_.count(number) != 0) {
        there.push_back(number);
      }
    }
  } else {
    for (const auto& [number, page] : pages_) {
      if (overlaps_page(address, size, number * kPageBytes)) {
        there.push_back(number);
      }
    }
    std::sort(there.begin(), there.end());
  }
  std::uint64_t dropped = 0;  // as many as that in front of `next`
  std::uint64_t next = 0;
  for (const std::uint64_t number : there) {
    const std::uint64_t page_address = number * kPageBytes;
    const std::uint64_t first = std::max(address, page_address);
    const std::uint64_t count = std::min(size - (first - address), kPageBytes - (first - page_address));
    if (count != kPageBytes) {
      std::memset(bytes_of(number, pages_.at(number)) + (first - page_address), 0, count);
      continue;
    }
    pages_.erase(number);
    if (dropped != 0 && number != next) {
      drop_pages(next - dropped, dropped);
      dropped = 0;
    }
    ++dropped;
    next = number + 1;
  }
  if (dropped != 0) {
    drop_pages(next - dropped, dropped);
  }
  last_page_ = nullptr;
  last_page_number_ = ~std::uint64_t{0};
}

std::uint64_t DeviceMemory::touched_bytes() const {
  return pages_.size() * kPageBytes;
}

}  // namespace heddle::isa
