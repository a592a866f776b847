#include "hw/core/memory/address_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"
#include "isa/bulk_copy.hpp"
#include "isa/device_heap.hpp"
#include "isa/launch_check.hpp"
#include "isa/memory_map.hpp"

namespace heddle::hw {

namespace {

const char* verb(MemoryAccess::Kind kind) {
  return kind == MemoryAccess::Kind::load ? "load" : kind == MemoryAccess::Kind::store ? "store" : "atomic";
}

// A replayed address that stands for one out of bounds (hw/state/replay.hpp).
bool recorded_as_stray(const CoreState& state, std::uint64_t address) {
  return state.replay != nullptr && address >= kStrayAddress;
}

// Where a conditional accumulate's first element goes, whichever sub-warp of its warp writes it.
std::uint64_t first_element(const MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  return sub_warp.decoded->exchanges ? sub_warp.values.a[0][0] | (std::uint64_t{sub_warp.values.a[1][0]} << 32U)
                                     : sub_warp.address[static_cast<unsigned>(std::countr_zero(access.lanes))];
}

// Whether everything that a conditional accumulate's warp writes has its place, where the sub-warp has a part of it.
bool warp_fits(CoreState& state, const MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  const auto lane = static_cast<unsigned>(std::countr_zero(access.lanes));
  const std::uint64_t first = first_element(access);
  const std::uint64_t bytes = std::uint64_t{sub_warp.values.result[0][lane]} * access.lane_bytes;
  if (access.shared != 0) {
    return first < state.launch->shared_bytes && bytes <= state.launch->shared_bytes - first;
  }
  if (state.bounds == nullptr) {
    return true;
  }
  if (state.bounds->heap().holds(first)) {
    return state.bounds->heap().allows(state.heap_thread(sub_warp, lane), first, bytes);
  }
  const isa::Allocation* const allocation = state.allocations.find(first, bytes);
  return allocation != nullptr && allocation->writable;
}

enum class Verdict : std::uint8_t { good, stray, fault };

// Counts a load out of bounds. `detail` makes the text that a fault would have, for the first one of an instruction.
template <class Detail>
void note_stray(CoreState& state, const MemoryAccess& access, unsigned lane, std::uint64_t address, Detail detail) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  ++state.statistics.out_of_bounds_loads;
  const auto known = std::find_if(state.stray_loads.begin(), state.stray_loads.end(),
                                  [&](const auto& loads) { return loads.first.pc == sub_warp.pc; });
  if (known != state.stray_loads.end()) {
    ++known->count;
    return;
  }
  state.stray_loads.push_back(
      {state.fault_of(isa::Fault::Kind::out_of_bounds, sub_warp, lane, address, access.lane_bytes, detail()), state.now,
       1});
}

// A space in which addresses are offsets.
struct Offsets {
  std::uint64_t bytes = 0;
  const char* name = nullptr;  // null: global memory
  bool allowed = true;         // accesses of this kind
};

// The memory that all of `lanes` access; global memory too where lanes differ.
Offsets offsets_of(const CoreState& state, const MemoryAccess& access, LaneMask lanes) {
  const auto all_in = [lanes](LaneMask space) { return (lanes & ~space) == 0; };
  const bool loads = access.kind == MemoryAccess::Kind::load;
  if (all_in(access.shared)) {
    return {state.launch->shared_bytes, "the block's scratchpad"};
  }
  if (all_in(access.local)) {
    return {state.launch->local_bytes, "the thread's local memory", access.kind != MemoryAccess::Kind::atomic};
  }
  if (all_in(access.constant)) {
    return {state.launch->constants.size(), "the constant bank", loads};
  }
  if (all_in(access.parameter)) {
    return {state.launch->parameters.size(), "the kernel's parameters", loads};
  }
  return {};
}

// Raises the fault of one lane if it has one.
Verdict check_lane(CoreState& state, const MemoryAccess& access, unsigned lane) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  const LaneMask bit = LaneMask{1} << lane;
  const std::uint64_t address = sub_warp.address[lane];
  const std::uint32_t size = access.lane_bytes;
  // Reported as the instruction's own space counts it: generic addresses with their window.
  const std::uint64_t given = isa::space_of(sub_warp.decoded->instruction.op) == isa::Space::generic
                                  ? (address & ~std::uint64_t{0xffff'ffff}) | sub_warp.address_low[lane]
                                  : address;
  if (address % size != 0) {
    state.raise(isa::Fault::Kind::misaligned, sub_warp, lane, given, size,
                fmt::format("the address is no multiple of {}", size));
    return Verdict::fault;
  }
  const auto out_of_bounds = [&](auto detail) {
    if (access.kind == MemoryAccess::Kind::load && !state.core.load_trap) {
      note_stray(state, access, lane, given, detail);
      return Verdict::stray;
    }
    state.raise(isa::Fault::Kind::out_of_bounds, sub_warp, lane, given, size, detail());
    return Verdict::fault;
  };
  if (const Offsets space = offsets_of(state, access, bit); space.name != nullptr) {
    if (!space.allowed) {
      return out_of_bounds([&] {
        return (access.local & bit) != 0
                   ? fmt::format(
                         "atomic on offset {}, which is in local memory: atomics work on global and shared memory",
                         address)
                   : fmt::format("{} {} offset {}, which is in the constant bank: it is read-only", verb(access.kind),
                                 access.kind == MemoryAccess::Kind::atomic ? "on" : "to", address);
      });
    }
    if (address < space.bytes && size <= space.bytes - address) {
      return Verdict::good;
    }
    return out_of_bounds([&] {
      return fmt::format("{} at offset {} of {}, which has {} bytes", verb(access.kind), address, space.name,
                         space.bytes);
    });
  }
  if (state.bounds == nullptr) {
    return access.kind == MemoryAccess::Kind::load && recorded_as_stray(state, address)
               ? out_of_bounds([] { return "load, recorded as out of bounds, of which a trace says no more"; })
               : Verdict::good;
  }
  if (state.bounds->heap().holds(address)) {
    const isa::DeviceHeap& heap = state.bounds->heap();
    const std::uint64_t thread = state.heap_thread(sub_warp, lane);
    const std::uint64_t first = isa::is_accumulate(sub_warp.decoded->instruction.op) ? first_element(access) : address;
    if (heap.allows(thread, first, address - first + access.bytes_of(lane))) {
      return Verdict::good;
    }
    return out_of_bounds(
        [&] { return fmt::format("{}, {}", verb(access.kind), heap.describe(thread, address, size)); });
  }
  const isa::Allocation* allocation = state.allocations.find(address, access.bytes_of(lane));
  if (isa::is_accumulate(sub_warp.decoded->instruction.op)) {
    // What a conditional accumulate writes lies in one allocation, from its first element on.
    const std::uint64_t first = first_element(access);
    allocation = state.allocations.find(first, address - first + size);
  }
  const isa::Window window = isa::window_of(address);
  if (allocation == nullptr && window != isa::Window::global) {  // global operations know no windows
    return out_of_bounds([&] {
      return fmt::format("global {} of an address in the {} window", verb(access.kind),
                         window == isa::Window::shared  ? "shared"
                         : window == isa::Window::local ? "local"
                                                        : "constant");
    });
  }
  if (allocation == nullptr || (access.kind != MemoryAccess::Kind::load && !allocation->writable)) {
    return out_of_bounds(
        [&] { return fmt::format("{}, {}", verb(access.kind), state.bounds->describe(address, size)); });
  }
  return Verdict::good;
}

// Where a copy puts what it has read.
bool check_copied(CoreState& state, const MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  const std::uint64_t bytes = state.launch->shared_bytes;
  const std::uint32_t size = access.lane_bytes;
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    const std::uint64_t to = sub_warp.values.result[0][lane];
    if (to % size != 0) {
      state.raise(isa::Fault::Kind::misaligned, sub_warp, lane, to, size,
                  fmt::format("the address is no multiple of {}", size));
      return false;
    }
    if (to >= bytes || size > bytes - to) {
      state.raise(isa::Fault::Kind::out_of_bounds, sub_warp, lane, to, size,
                  fmt::format("{} at offset {} of {}, which has {} bytes", verb(MemoryAccess::Kind::store), to,
                              "the block's scratchpad", bytes));
      return false;
    }
  }
  return true;
}

// Of copies in bulk, each of which lies in one allocation. Nothing is known of them in a replay.
bool check_bulk(CoreState& state, const MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  for (const unsigned lane : set_bits(state.replay == nullptr ? sub_warp.executing : 0)) {
    const isa::LaneValues& values = sub_warp.values;
    const isa::BulkCopyRequest request{sub_warp.address[lane], values.result[0][lane], values.result[1][lane],
                                       values.result[2][lane]};
    if (const auto wrong = request.wrong(state.launch->shared_bytes)) {
      state.raise(wrong->kind, sub_warp, lane, wrong->address, wrong->size, wrong->detail);
      return false;
    }
    if (request.bytes == 0 || state.bounds == nullptr) {
      continue;
    }
    const isa::DeviceHeap& heap = state.bounds->heap();
    const bool on_heap = heap.holds(request.from);
    const std::uint64_t thread = on_heap ? state.heap_thread(sub_warp, lane) : 0;
    if (on_heap ? heap.allows(thread, request.from, request.bytes)
                : state.allocations.find(request.from, request.bytes) != nullptr) {
      continue;
    }
    state.raise(isa::Fault::Kind::out_of_bounds, sub_warp, lane, request.from, request.bytes,
                fmt::format("load, {}", on_heap ? heap.describe(thread, request.from, request.bytes)
                                                : state.bounds->describe(request.from, request.bytes)));
    return false;
  }
  return true;
}

bool check_lanes(CoreState& state, MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  const LaneMask executing = access.lanes;
  // All lanes at once: extremes and alignment. The usual access passes here.
  std::uint64_t lowest = ~std::uint64_t{0};
  std::uint64_t highest = 0;
  std::uint64_t low_bits = 0;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    const std::uint64_t take = 0 - std::uint64_t{(executing >> lane) & 1U};
    const std::uint64_t address = sub_warp.address[lane];
    lowest = std::min(lowest, address | ~take);
    highest = std::max(highest, address & take);
    low_bits |= address & take;
  }
  if (executing != 0 && sub_warp.decoded->exchanges && state.replay == nullptr) {
    lowest = std::min(lowest, first_element(access));  // one allocation from there on
  }
  const std::uint64_t size = access.lane_bytes;
  bool good = (low_bits & (size - 1)) == 0;
  const bool loads = access.kind == MemoryAccess::Kind::load;
  if (const Offsets space = offsets_of(state, access, executing); space.name != nullptr) {
    good = good && space.allowed && highest < space.bytes && size <= space.bytes - highest;
  } else if (executing == access.global) {
    if (state.bounds != nullptr && good) {
      const isa::Allocation* const allocation = state.allocations.find(lowest, highest - lowest + size);
      good = allocation != nullptr && (loads || allocation->writable);
    } else if (loads && recorded_as_stray(state, highest)) {
      good = false;
    }
  } else {
    good = false;  // lanes in several windows: look at each
  }
  if (good) {
    return true;
  }
  for (const unsigned lane : set_bits(executing)) {
    const Verdict verdict = check_lane(state, access, lane);
    if (verdict == Verdict::fault) {
      return false;
    }
    if (verdict == Verdict::stray) {
      access.stray |= LaneMask{1} << lane;
      access.loaded[lane].fill(std::byte{0});
    }
  }
  for (LaneMask* const lanes : {&access.shared, &access.constant, &access.parameter, &access.local, &access.global}) {
    *lanes &= ~access.stray;
  }
  return true;
}

}  // namespace

bool AddressCheck::passes(MemoryAccess& access) {
  if (isa::is_bulk_copy(access.sub_warp->decoded->instruction.op)) {
    return check_bulk(state_, access);
  }
  if (!check_lanes(state_, access)) {
    return false;
  }
  const link::DecodedInstruction& decoded = *access.sub_warp->decoded;
  if (isa::is_copy(decoded.instruction.op) && state_.replay == nullptr) {
    return check_copied(state_, access);
  }
  if (decoded.exchanges && state_.replay == nullptr && isa::is_accumulate(decoded.instruction.op) &&
      access.lanes != 0 && !warp_fits(state_, access)) {
    access.lanes = access.shared = access.global = 0;
  }
  return true;
}

}  // namespace heddle::hw
