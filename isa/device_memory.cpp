#include "isa/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "isa/device_heap.hpp"
#include "isa/memory_map.hpp"

namespace heddle::isa {

namespace {

constexpr std::uint64_t kFourGib = std::uint64_t{1} << 32U;

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::string bytes_text(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "byte" : "bytes");
}

// "buffer 'y' (0x10000400, 1024 bytes)". The name alone where it says itself what it is.
std::string text_of(const Allocation& allocation) {
  std::string_view sort;
  if (allocation.address >= kGlobalBase && allocation.address < kLocalBacking) {
    sort = "buffer ";
  } else if (allocation.address >= kModuleBase && allocation.address < kGlobalBase) {
    sort = "variable ";
  }
  return fmt::format("{}'{}' ({:#x}, {})", sort, allocation.name, allocation.address, bytes_text(allocation.size));
}

}  // namespace

DeviceMemory::DeviceMemory() : heap_(std::make_unique<DeviceHeap>()), next_low_(kGlobalBase), next_high_(kFourGib) {}
DeviceMemory::~DeviceMemory() = default;

// ---- allocations

void DeviceMemory::set_placement(const Placement& placement) {
  placement_ = placement;
  placement_.gap = std::max(align_up(placement.gap, kAlignment), kAlignment);
  random_state_ = placement.seed;
}

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one step.
std::uint64_t DeviceMemory::random_gap() {
  std::uint64_t z = random_state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31U)) % (Placement::kMostRandomGap / kAlignment) * kAlignment;
}

std::uint64_t DeviceMemory::allocate_between(std::uint64_t low, std::uint64_t high, std::uint64_t& next,
                                             std::uint64_t size) {
  // An allocation takes its size rounded up, and the unused gap behind it.
  const auto fits = [size](std::uint64_t from, std::uint64_t to) {
    return from < to && to - from >= kAlignment && size <= to - from - kAlignment;
  };
  const bool pages = placement_.rule == Placement::Rule::page && size >= Placement::kLarge;
  std::uint64_t address = next;
  if (pages) {
    address = align_up(next, Placement::kPage);
  } else if (placement_.rule == Placement::Rule::seeded) {
    address = next + random_gap();
  }
  if (fits(address, high)) {
    const std::uint64_t end = address + align_up(size, kAlignment);
    next = pages ? align_up(end + kAlignment, Placement::kPage)
                 : end + (placement_.rule == Placement::Rule::gap ? placement_.gap : kAlignment);
    return address;
  }
  std::uint64_t candidate = low;  // first fit among what was released
  for (auto it = allocations_.lower_bound(low); it != allocations_.end() && it->first < high; ++it) {
    if (fits(candidate, it->first)) {
      return candidate;
    }
    candidate = std::max(candidate, align_up(it->first + it->second.size, kAlignment) + kAlignment);
  }
  return fits(candidate, high) ? candidate : 0;
}

std::uint64_t DeviceMemory::allocate(std::string name, std::uint64_t size, bool below_4gib) {
  const std::uint64_t low_end = heap_->narrow() ? DeviceHeap::kNarrowHeapBase : kFourGib;
  const std::uint64_t address = below_4gib ? allocate_between(kGlobalBase, low_end, next_low_, size)
                                           : allocate_between(kFourGib, kBuffersEnd, next_high_, size);
  if (address == 0) {
    const std::uint64_t used = buffer_bytes(below_4gib);
    throw InputError({},
                     fmt::format("no room for buffer '{}' of {} in the {} address space ({} of it are allocated)", name,
                                 bytes_text(size), below_4gib ? "32-bit" : "64-bit", bytes_text(used)),
                     below_4gib ? "use smaller buffers, or a program with .address_size 64" : "use smaller buffers");
  }
  place(std::move(name), address, size);
  return address;
}

void DeviceMemory::reserve_narrow_heap() {
  const auto in_its_place = allocations_.lower_bound(DeviceHeap::kNarrowHeapBase);
  const std::uint64_t end = DeviceHeap::kNarrowHeapBase + DeviceHeap::kNarrowHeapBytes;
  for (const Allocation* there : {in_its_place != allocations_.end() ? &in_its_place->second : nullptr,
                                  in_its_place != allocations_.begin() ? &std::prev(in_its_place)->second : nullptr}) {
    if (there != nullptr && there->address < end && there->address + there->size > DeviceHeap::kNarrowHeapBase) {
      throw InputError({},
                       fmt::format("{} lies where kernels with 32-bit addresses that call malloc have their heap, from "
                                   "{:#x} on",
                                   text_of(*there), DeviceHeap::kNarrowHeapBase),
                       "use smaller buffers, or a program with .address_size 64");
    }
  }
  heap_->reserve_narrow();
}

void DeviceMemory::place(std::string name, std::uint64_t address, std::uint64_t size, bool writable) {
  Allocation& there = allocations_[address];
  count_buffer(address, size - there.size);
  there = Allocation{address, size, std::move(name), writable};
  ++allocation_changes_;
}

std::uint64_t DeviceMemory::add_texture(std::string name, const TextureDescriptor& descriptor, bool below_4gib) {
  if (const std::string_view reason = why_malformed(descriptor); !reason.empty()) {
    throw InputError({}, name + ": " + std::string(reason), "");
  }
  const std::uint64_t handle = allocate(std::move(name), sizeof descriptor, below_4gib);
  allocations_.at(handle).writable = false;
  put(handle, descriptor);
  textures_[handle] = descriptor;
  return handle;
}

const TextureDescriptor* DeviceMemory::texture(std::uint64_t handle) const {
  const auto found = textures_.find(handle);
  return found == textures_.end() ? nullptr : &found->second;
}

void DeviceMemory::release(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) {
    return;
  }
  const std::uint64_t size = found->second.size;
  allocations_.erase(found);
  count_buffer(address, 0 - size);
  textures_.erase(address);
  ++allocation_changes_;
  for (auto it = regions_.lower_bound(address); it != regions_.end() && it->first - address < size;) {
    it = regions_.erase(it);
  }
  for (auto it = computed_.lower_bound(address); it != computed_.end() && it->first - address < size;) {
    it = computed_.erase(it);
  }
  erase_contents(address, size);
}

void DeviceMemory::clear() {
  allocations_.clear();
  buffer_bytes_ = {};
  textures_.clear();
  heap_->clear();
  ++allocation_changes_;
  regions_.clear();
  computed_.clear();
  erase_contents(0, ~std::uint64_t{0});
  pages_.clear();  // the very last one too
  random_state_ = placement_.seed;
  next_low_ = kGlobalBase;
  next_high_ = kFourGib;
}

// ---- storage

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
    std::memcpy(page(address, true) + offset, in.data(), count);
    in = in.subspan(count);
    address += count;
  }
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

// ---- bounds

const Allocation* DeviceMemory::find(std::uint64_t address, std::uint64_t size) const {
  const auto holds = [&](const Allocation& allocation) {
    const std::uint64_t offset = address - allocation.address;  // huge when before it
    return offset < allocation.size && size <= allocation.size - offset;
  };
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) {
    return nullptr;
  }
  const Allocation& candidate = std::prev(next)->second;
  return holds(candidate) ? &candidate : nullptr;
}

const Allocation* DeviceMemory::nearest(std::uint64_t address) const {
  const auto next = allocations_.upper_bound(address);
  const Allocation* after = next == allocations_.end() ? nullptr : &next->second;
  if (next == allocations_.begin()) {
    return after;
  }
  const Allocation* before = &std::prev(next)->second;
  const std::uint64_t end = before->address + before->size;
  if (after == nullptr || address < end) {
    return before;
  }
  return address - end < after->address - address ? before : after;
}

std::string DeviceMemory::describe(std::uint64_t address, std::uint64_t size) const {
  if (address < kSharedWindow) {
    return fmt::format("in the null page ({:#x} to {:#x}), as from a null pointer", 0, kSharedWindow - 1);
  }
  if (heap_->holds(address)) {
    return heap_->describe(DeviceHeap::kNobody, address, size);
  }
  const Allocation* allocation = nearest(address);
  if (allocation == nullptr) {
    return "no memory is allocated";
  }
  const std::string name = text_of(*allocation);
  if (address < allocation->address) {
    return fmt::format("{} before the start of {}", bytes_text(allocation->address - address), name);
  }
  const std::uint64_t offset = address - allocation->address;
  if (offset == allocation->size) {
    return "just past the end of " + name;
  }
  if (offset > allocation->size) {
    return fmt::format("{} past the end of {}", bytes_text(offset - allocation->size), name);
  }
  if (size > allocation->size - offset) {
    return fmt::format("reaches {} past the end of {}", bytes_text(size - (allocation->size - offset)), name);
  }
  return fmt::format("at offset {} of {}{}", offset, allocation->writable ? "" : "read-only ", name);
}

}  // namespace heddle::isa
