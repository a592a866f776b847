#include "isa/device_heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"

namespace heddle::isa {

namespace {

constexpr std::uint64_t kWideRange = std::uint64_t{1} << 41U;
constexpr std::uint64_t kNarrowRange = std::uint64_t{1} << 26U;
// The first slot of class n lies n times so many bytes into its range: an odd number of cache lines, so that the first
// blocks of all classes do not meet in one set.
constexpr std::uint64_t kStagger = 33 * std::uint64_t{128};

// Bytes of the slots of a class: two classes for each power of two up to 4096, then one.
constexpr unsigned kLastFine = 14;
constexpr std::uint64_t slot_bytes_of(unsigned size_class) {
  if (size_class > kLastFine) {
    return std::uint64_t{4096} << (size_class - kLastFine);
  }
  return (size_class % 2 == 0 ? std::uint64_t{32} : std::uint64_t{48}) << (size_class / 2);
}
// The smallest class whose slots have so many bytes; at most 2^62 of them.
constexpr unsigned class_of(std::uint64_t bytes) {
  unsigned size_class = 0;
  while (slot_bytes_of(size_class) < bytes) {
    ++size_class;
  }
  return size_class;
}
static_assert(slot_bytes_of(kLastFine) == 4096 && slot_bytes_of(kLastFine + 1) == 8192 && slot_bytes_of(3) == 96);

// What a block counts for.
constexpr std::uint64_t charge_of(std::uint64_t size) {
  constexpr std::uint64_t kUnit = DeviceHeap::kAlignment;
  return std::max(kUnit, (size + kUnit - 1) / kUnit * kUnit);
}

std::string heap_bytes_text(std::uint64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "byte" : "bytes");
}

Dim3 index_in(std::uint64_t linear, const Dim3& of) {
  return {static_cast<std::uint32_t>(linear % of.x), static_cast<std::uint32_t>(linear / of.x % of.y),
          static_cast<std::uint32_t>(linear / of.x / of.y)};
}

}  // namespace

// ---- places

std::uint64_t DeviceHeap::base_of(unsigned range) {
  return range < kWideClasses
             ? kWideHeapBase + range * kWideRange + range * kStagger
             : kNarrowHeapBase + (range - kWideClasses) * kNarrowRange + (range - kWideClasses) * kStagger;
}

DeviceHeap::Place DeviceHeap::place_of(std::uint64_t address) {
  const bool wide = address >= kWideHeapBase;
  const std::uint64_t offset = address - (wide ? kWideHeapBase : kNarrowHeapBase);
  const std::uint64_t range_bytes = wide ? kWideRange : kNarrowRange;
  const auto size_class = static_cast<unsigned>(offset / range_bytes);
  const std::uint64_t bytes = slot_bytes_of(size_class);
  const unsigned range = size_class + (wide ? 0 : kWideClasses);
  const std::uint64_t in_range = offset % range_bytes;
  if (in_range < size_class * kStagger) {
    return {range, bytes, ~std::uint64_t{0}, 1};  // before the first slot
  }
  return {range, bytes, (in_range - size_class * kStagger) / bytes, (in_range - size_class * kStagger) % bytes};
}

// The slot that is number `number` among slots that were free: behind as many live ones as lie before it.
std::uint64_t DeviceHeap::free_slot(unsigned range, std::uint64_t number) const {
  const Blocks& live = live_[range];
  std::size_t low = 0;  // live blocks known to lie before it
  for (std::size_t high = live.size(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (live[middle].index - middle <= number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return number + low;
}

DeviceHeap::Owner DeviceHeap::owner_of(const Place& place) const {
  const Blocks& live = live_[place.range];
  const auto before = std::lower_bound(live.begin(), live.end(), place.index,
                                       [](const Block& block, std::uint64_t at) { return block.index < at; });
  const std::uint64_t number = place.index - static_cast<std::uint64_t>(before - live.begin());
  return {number % threads_, number / threads_};
}

// Whether the owner can have got so many slots of this size: a thread has no more than the limit at a time.
bool DeviceHeap::possible(const Place& place, const Owner& owner) const {
  const unsigned size_class = place.range < kWideClasses ? place.range : place.range - kWideClasses;
  const std::uint64_t least = size_class == 0 ? kAlignment : slot_bytes_of(size_class - 1);
  return owner.turn < limit_ / least;
}

const DeviceHeap::Arena* DeviceHeap::arena_of(std::uint64_t thread) const {
  return thread < threads_ ? arenas_[thread].get() : nullptr;
}

DeviceHeap::Arena& DeviceHeap::own_arena(std::uint64_t thread) {
  std::unique_ptr<Arena>& arena = arenas_.at(thread);
  if (arena == nullptr) {
    arena = std::make_unique<Arena>();
    arena->left = left_;
  }
  return *arena;
}

// ---- launches

std::uint64_t DeviceHeap::live_blocks() const {
  std::uint64_t count = 0;
  for (const Blocks& blocks : live_) {
    count += blocks.size();
  }
  return count;
}

void DeviceHeap::begin_launch(const LaunchRequest& launch) {
  if (in_launch()) {
    throw InternalError("two launches at once use the device heap");
  }
  used_ = true;
  grid_ = launch.grid;
  block_ = launch.block;
  threads_ = launch.grid.count() * launch.block.count();
  left_ = limit_ - std::min(limit_, live_bytes_);
  arenas_.clear();
  arenas_.resize(threads_);
}

void DeviceHeap::abandon_launch() {
  threads_ = 0;
  arenas_.clear();
}

void DeviceHeap::clear() {
  abandon_launch();
  for (Blocks& blocks : live_) {
    blocks.clear();
  }
  live_bytes_ = 0;
}

Fault DeviceHeap::fault_at(Fault::Kind kind, std::uint64_t thread, std::uint32_t pc, std::string detail) const {
  Fault fault;
  fault.kind = kind;
  fault.pc = pc;
  fault.block = index_in(thread / block_.count(), grid_);
  fault.thread = index_in(thread % block_.count(), block_);
  fault.detail = std::move(detail);
  return fault;
}

namespace {

// A block that is to be free has this size until all such blocks are taken out.
constexpr std::uint64_t kDead = ~std::uint64_t{0};

}  // namespace

// Of one thread: others' blocks that it has freed.
std::optional<Fault> DeviceHeap::take_frees(std::vector<Blocks>& fresh, std::uint64_t thread) {
  for (const auto& [address, pc] : arenas_[thread]->freed) {
    const Place place = place_of(address);
    Block* block = find(live_[place.range], place.index);
    block = block != nullptr ? block : find(fresh[place.range], place.index);
    if (block == nullptr) {
      return fault_at(Fault::Kind::bad_free, thread, pc,
                      fmt::format("free of {:#x}, which the thread that it belongs to has not allocated, or has freed "
                                  "itself",
                                  address));
    }
    if (block->size == kDead) {
      return fault_at(Fault::Kind::bad_free, thread, pc,
                      fmt::format("free of {:#x}, which another thread of the launch has freed, too", address));
    }
    block->size = kDead;
  }
  return std::nullopt;
}

std::optional<Fault> DeviceHeap::end_launch() {
  std::vector<Blocks> fresh(live_.size());
  for (std::uint64_t thread = 0; thread < threads_; ++thread) {
    const Arena* const arena = arenas_[thread].get();
    if (arena == nullptr) {
      continue;
    }
    for (const Slots& slots : arena->slots) {
      for (std::size_t turn = 0; turn < slots.size_plus_one.size(); ++turn) {
        if (const std::uint64_t plus_one = slots.size_plus_one[turn]; plus_one != 0) {
          fresh[slots.range].push_back({free_slot(slots.range, turn * threads_ + thread), plus_one - 1});
        }
      }
    }
  }
  const auto by_index = [](const Block& a, const Block& b) { return a.index < b.index; };
  for (Blocks& blocks : fresh) {
    std::sort(blocks.begin(), blocks.end(), by_index);
  }
  std::optional<Fault> fault;
  for (std::uint64_t thread = 0; thread < threads_ && !fault; ++thread) {
    if (arenas_[thread] != nullptr) {
      fault = take_frees(fresh, thread);
    }
  }
  live_bytes_ = 0;
  for (std::size_t range = 0; range < live_.size(); ++range) {
    Blocks all;
    all.reserve(live_[range].size() + fresh[range].size());
    std::merge(live_[range].begin(), live_[range].end(), fresh[range].begin(), fresh[range].end(),
               std::back_inserter(all), by_index);
    std::erase_if(all, [](const Block& block) { return block.size == kDead; });
    for (const Block& block : all) {
      live_bytes_ += charge_of(block.size);
    }
    live_[range] = std::move(all);
  }
  if (!fault && live_bytes_ > limit_) {
    fault = Fault{};
    fault->kind = Fault::Kind::resources;
    fault->detail = fmt::format(
        "the device heap holds {} at the launch's end, and its limit is {}: on a GPU some threads would have got null, "
        "which of them is a matter of timing; allocate less, or raise the limit (cudaLimitMallocHeapSize; `heap_bytes` "
        "of a "
        "launch file)",
        heap_bytes_text(live_bytes_), limit_);
  }
  abandon_launch();
  return fault;
}

// ---- of one thread

DeviceHeap::Given DeviceHeap::allocate(std::uint64_t thread, std::uint64_t size, bool wide) {
  Arena& arena = own_arena(thread);
  if (size > limit_ || charge_of(size) > arena.left) {
    return {};
  }
  const unsigned size_class = class_of(charge_of(size) + kBehind);
  const auto no_room = [&] {
    return Given{0, fmt::format("no addresses are left for a heap block of {} of this thread{}", heap_bytes_text(size),
                                wide ? ": let a thread with a lower number allocate it"
                                     : ": a heap of 2 GiB is all that 32-bit addresses leave for all threads; compile "
                                       "for 64-bit addresses")};
  };
  if (size_class >= (wide ? kWideClasses : kNarrowClasses)) {
    return no_room();
  }
  const unsigned range = size_class + (wide ? 0 : kWideClasses);
  Slots* slots = slots_of(arena, range);
  if (slots == nullptr) {
    slots = &arena.slots.emplace_back(Slots{range, {}, {}});
  }
  const std::size_t turn = slots->free.empty() ? slots->size_plus_one.size() : slots->free.back();
  const std::uint64_t index = free_slot(range, turn * threads_ + thread);
  const std::uint64_t slot_bytes = slot_bytes_of(size_class);
  if (index >= ((wide ? kWideRange : kNarrowRange) - size_class * kStagger) / slot_bytes) {
    return no_room();
  }
  if (slots->free.empty()) {
    slots->size_plus_one.push_back(size + 1);
  } else {
    slots->free.pop_back();
    slots->size_plus_one[turn] = size + 1;
  }
  arena.left -= charge_of(size);
  return {base_of(range) + index * slot_bytes, {}};
}

std::string DeviceHeap::free_own(Arena& arena, const Place& place, std::uint64_t turn) {
  Slots* const slots = slots_of(arena, place.range);
  if (slots == nullptr || turn >= slots->size_plus_one.size()) {
    return "which malloc has not returned";
  }
  std::uint64_t& plus_one = slots->size_plus_one[turn];
  if (plus_one == 0) {
    return "which this thread has freed already";
  }
  arena.left += charge_of(plus_one - 1);
  plus_one = 0;
  slots->free.push_back(static_cast<std::uint32_t>(turn));
  return {};
}

std::string DeviceHeap::free(std::uint64_t thread, std::uint64_t address, std::uint32_t pc) {
  if (address == 0) {
    return {};
  }
  const auto wrong = [address](std::string_view reason) { return fmt::format("free of {:#x}, {}", address, reason); };
  if (!holds(address)) {
    return wrong("which is not on the device heap");
  }
  const Place place = place_of(address);
  if (place.offset != 0) {
    return wrong("where no heap block begins");
  }
  Arena& arena = own_arena(thread);
  const Block* const before = find(live_[place.range], place.index);
  if (before == nullptr) {
    const Owner owner = owner_of(place);
    if (owner.thread == thread) {
      const std::string reason = free_own(arena, place, owner.turn);
      return reason.empty() ? reason : wrong(reason);
    }
    if (!possible(place, owner)) {
      return wrong("which malloc has not returned");
    }
  }
  if (!arena.freed.emplace(address, pc).second) {
    return wrong("which this thread has freed already");
  }
  arena.left += before != nullptr ? charge_of(before->size) : 0;
  return {};
}

// ---- accesses

bool DeviceHeap::allows(std::uint64_t thread, std::uint64_t address, std::uint64_t size) const {
  const Place place = place_of(address);
  const auto within = [&](std::uint64_t bytes) { return place.offset < bytes && size <= bytes - place.offset; };
  const Arena* const arena = arena_of(thread);
  const auto freed = [&] { return arena != nullptr && arena->freed.count(address - place.offset) != 0; };
  if (const Block* const block = find(live_[place.range], place.index)) {
    return within(block->size) && !freed();
  }
  if (threads_ == 0) {
    return false;
  }
  const Owner owner = owner_of(place);
  if (owner.thread == thread) {
    const Slots* const slots = arena != nullptr ? slots_of(*arena, place.range) : nullptr;
    const std::uint64_t plus_one =
        slots != nullptr && owner.turn < slots->size_plus_one.size() ? slots->size_plus_one[owner.turn] : 0;
    return plus_one != 0 && within(plus_one - 1);
  }
  return possible(place, owner) && within(place.slot_bytes - kBehind) && !freed();
}

std::string DeviceHeap::describe(std::uint64_t thread, std::uint64_t address, std::uint64_t size) const {
  const Place place = place_of(address);
  const Arena* const arena = arena_of(thread);
  const std::uint64_t start = address - place.offset;
  std::optional<std::uint64_t> bytes;  // of the block
  if (const Block* const block = find(live_[place.range], place.index)) {
    bytes = block->size;
  } else if (threads_ != 0) {
    const Owner owner = owner_of(place);
    const Slots* const slots = owner.thread == thread && arena != nullptr ? slots_of(*arena, place.range) : nullptr;
    if (slots != nullptr && owner.turn < slots->size_plus_one.size()) {
      const std::uint64_t plus_one = slots->size_plus_one[owner.turn];
      if (plus_one == 0) {
        return fmt::format("in a heap block at {:#x} that this thread has freed", start);
      }
      bytes = plus_one - 1;
    } else if (owner.thread != thread && possible(place, owner)) {
      bytes = place.slot_bytes - kBehind;  // at most
    }
  }
  if (arena != nullptr && arena->freed.count(start) != 0) {
    return fmt::format("in a heap block at {:#x} that this thread has freed", start);
  }
  if (!bytes) {
    return "on the device heap, where nothing is allocated";
  }
  const std::string name = fmt::format("a heap block ({:#x}, {})", start, heap_bytes_text(*bytes));
  if (place.offset == *bytes) {
    return "just past the end of " + name;
  }
  if (place.offset > *bytes) {
    return fmt::format("{} past the end of {}", heap_bytes_text(place.offset - *bytes), name);
  }
  if (size > *bytes - place.offset) {
    return fmt::format("reaches {} past the end of {}", heap_bytes_text(size - (*bytes - place.offset)), name);
  }
  return fmt::format("at offset {} of {}", place.offset, name);
}

}  // namespace heddle::isa
