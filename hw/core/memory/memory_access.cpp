#include "hw/core/memory/memory_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/set_bits.hpp"
#include "isa/device_heap.hpp"
#include "isa/launch_check.hpp"
#include "isa/memory_map.hpp"

namespace heddle::hw {

void MemoryAccess::classify(link::SubWarp& of) {
  sub_warp = &of;
  const isa::Instruction& instruction = of.decoded->instruction;
  const bool accumulates = isa::is_accumulate(instruction.op);
  const LaneMask executing = of.executing;
  lanes = accumulates ? executing & of.values.predicate_a : executing;
  stray = shared = constant = parameter = local = global = 0;
  count = own = sent = outstanding = late = 0;
  aside = gathered = false;
  absent = 0;
  missed = 0;
  first_line = link::kNever;
  if (isa::is_atomic(instruction.op)) {
    kind = Kind::atomic;
    elements = 1;
    element_bytes = isa::size_of(instruction.atomic_type());
  } else if (accumulates) {
    kind = Kind::store;
    elements = 1;
    element_bytes = instruction.element_bytes();
  } else if (isa::is_texture(instruction.op)) {
    kind = Kind::texture;
    elements = instruction.texture_channels();
    element_bytes = 4;
  } else {
    kind = isa::is_store(instruction.op) ? Kind::store : Kind::load;
    elements = instruction.vector();
    element_bytes = isa::bytes_of(instruction.width());
  }
  lane_bytes = elements * element_bytes;
  const isa::Space space = isa::space_of(instruction.op);
  std::uint64_t window = 0;  // of all lanes
  switch (space) {
    case isa::Space::shared:
      window = isa::kSharedWindow;
      shared = executing;
      break;
    case isa::Space::local:
      window = isa::kLocalWindow;
      local = executing;
      break;
    case isa::Space::constant:
      window = isa::kConstantWindow;
      constant = executing;
      break;
    case isa::Space::param:
      parameter = executing;
      break;
    case isa::Space::global:
      global = executing;
      break;
    case isa::Space::generic:
      for (const unsigned lane : set_bits(executing)) {
        const LaneMask bit = LaneMask{1} << lane;
        switch (isa::window_of(of.address[lane])) {
          case isa::Window::shared:
            shared |= bit;
            of.address[lane] -= isa::kSharedWindow;
            break;
          case isa::Window::local:
            local |= bit;
            of.address[lane] -= isa::kLocalWindow;
            break;
          case isa::Window::constant:
            constant |= bit;
            of.address[lane] -= isa::kConstantWindow;
            break;
          case isa::Window::global:
            global |= bit;
            break;
        }
      }
      break;
  }
  // The retirement hash takes generic addresses.
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    of.address_low[lane] = static_cast<std::uint32_t>(of.address[lane]) + static_cast<std::uint32_t>(window);
  }
  const auto in_window = [&of](LaneMask some, std::uint64_t its_window) {
    for (const unsigned lane : set_bits(some)) {
      of.address_low[lane] += static_cast<std::uint32_t>(its_window);
    }
  };
  if (space == isa::Space::generic) {
    in_window(shared, isa::kSharedWindow);
    in_window(local, isa::kLocalWindow);
    in_window(constant, isa::kConstantWindow);
  }
  shared &= lanes;
  global &= lanes;
}

LaneMask MemoryAccess::waiting(bool misses_only) const {
  LaneMask lanes = 0;
  for (unsigned i = 0; i != count; ++i) {
    const AccessLine& line = lines[i];
    if (line.under_way && !(misses_only && line.answer == link::LineRequest::Answer::late_hit)) {
      lanes |= line.lanes;
    }
  }
  return lanes;
}

void MemoryAccess::finish_load() {
  const isa::Instruction& instruction = sub_warp->decoded->instruction;
  const isa::Width width = instruction.width();
  const unsigned bytes = isa::bytes_of(width);
  const unsigned elements = instruction.vector();
  isa::LaneValues& values = sub_warp->values;
  if (bytes >= 4) {
    for (unsigned word = 0; word < lane_bytes / 4; ++word) {
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        std::memcpy(&values.result[word][lane], loaded[lane].data() + word * 4, 4);
      }
    }
    return;
  }
  const auto narrow = [&](auto zero) {
    for (unsigned element = 0; element < elements; ++element) {
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        auto raw = zero;
        std::memcpy(&raw, loaded[lane].data() + element * sizeof raw, sizeof raw);
        values.result[element][lane] = static_cast<std::uint32_t>(isa::extend_loaded(width, raw));
      }
    }
  };
  if (bytes == 1) {
    narrow(std::uint8_t{0});
  } else {
    narrow(std::uint16_t{0});
  }
}

namespace {

const char* verb(MemoryAccess::Kind kind) {
  switch (kind) {
    case MemoryAccess::Kind::load:
      return "load";
    case MemoryAccess::Kind::store:
      return "store";
    case MemoryAccess::Kind::texture:
      return "texture fetch";
    case MemoryAccess::Kind::atomic:
      break;
  }
  return "atomic";
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
  const auto within = [&](std::uint64_t bytes, const char* name) {
    if (address < bytes && size <= bytes - address) {
      return Verdict::good;
    }
    return out_of_bounds([&] {
      return fmt::format("{} at offset {} of {}, which has {} bytes", verb(access.kind), address, name, bytes);
    });
  };
  if ((access.shared & bit) != 0) {
    return within(state.launch->shared_bytes, "the block's scratchpad");
  }
  if ((access.local & bit) != 0) {
    if (access.kind == MemoryAccess::Kind::atomic) {
      return out_of_bounds([&] {
        return fmt::format("atomic on offset {}, which is in local memory: atomics work on global and shared memory",
                           address);
      });
    }
    return within(state.launch->local_bytes, "the thread's local memory");
  }
  if (((access.constant | access.parameter) & bit) != 0) {
    if (access.kind != MemoryAccess::Kind::load) {
      return out_of_bounds([&] {
        return fmt::format("{} {} offset {}, which is in the constant bank: it is read-only", verb(access.kind),
                           access.kind == MemoryAccess::Kind::atomic ? "on" : "to", address);
      });
    }
    return (access.constant & bit) != 0 ? within(state.launch->constants.size(), "the constant bank")
                                        : within(state.launch->parameters.size(), "the kernel's parameters");
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
    if (heap.allows(thread, first, address - first + size)) {
      return Verdict::good;
    }
    return out_of_bounds(
        [&] { return fmt::format("{}, {}", verb(access.kind), heap.describe(thread, address, size)); });
  }
  const isa::Allocation* allocation = state.allocations.find(address, size);
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

// Takes the stray lanes out of the access: they have what they read.
void answer_strays(MemoryAccess& access) {
  for (const unsigned lane : set_bits(access.stray)) {
    access.loaded[lane].fill(std::byte{0});
  }
  for (LaneMask* const lanes : {&access.shared, &access.constant, &access.parameter, &access.local, &access.global}) {
    *lanes &= ~access.stray;
  }
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
  const auto below = [&](std::uint64_t bytes) { return highest < bytes && size <= bytes - highest; };
  const bool loads = access.kind == MemoryAccess::Kind::load;
  if (executing == access.shared) {
    good = good && below(state.launch->shared_bytes);
  } else if (executing == access.local) {
    good = good && access.kind != MemoryAccess::Kind::atomic && below(state.launch->local_bytes);
  } else if (executing == access.constant) {
    good = good && loads && below(state.launch->constants.size());
  } else if (executing == access.parameter) {
    good = good && loads && below(state.launch->parameters.size());
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
    switch (check_lane(state, access, lane)) {
      case Verdict::good:
        break;
      case Verdict::stray:
        access.stray |= LaneMask{1} << lane;
        break;
      case Verdict::fault:
        return false;
    }
  }
  if (access.stray != 0) {
    answer_strays(access);
  }
  return true;
}

}  // namespace

bool check_access(CoreState& state, MemoryAccess& access) {
  if (!check_lanes(state, access)) {
    return false;
  }
  // Where not all has its place nothing is written: a later sub-warp has the thread that is too many, and the fault.
  const link::DecodedInstruction& decoded = *access.sub_warp->decoded;
  if (decoded.exchanges && state.replay == nullptr && isa::is_accumulate(decoded.instruction.op) && access.lanes != 0 &&
      !warp_fits(state, access)) {
    access.lanes = access.shared = access.global = 0;
  }
  return true;
}

}  // namespace heddle::hw
