#include "isa/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
