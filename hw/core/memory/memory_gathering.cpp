// Lines that the sub-warps of one instruction ask for together (Coalescer::Traits::gathers). Loads and plain stores are
// gathered, atomics are not: each keeps the requests of its sub-warp. Sub-warps whose lanes execute different
// instructions (Divergence::Traits::mimd_lanes) share what the sub-warps of one instruction ask for.
//
// A sub-warp that waits for the others takes none of the places of waiting accesses, so that the last one always comes;
// when it has, there must be places for all of them, or no access in any.
#include <algorithm>
#include <bit>

#include "hw/core/memory/memory.hpp"
#include "tlm/byte_enables.hpp"

namespace heddle::hw {

// Counts the sub-warp at the stage's head, once. With the last of several, gathering_ has the accesses that waited.
void MemoryStage::arrive(const link::SubWarp& sub_warp) {
  if (arrived_) {
    return;
  }
  arrived_ = true;
  const InFlight& flight = state_.groups[sub_warp.group].flights[sub_warp.flight];
  alone_ = (flight.all_formed && flight.formed == 1) || (!mimd_lanes_ && sub_warp.decoded->unit != isa::Unit::memory);
  if (alone_) {
    return;
  }
  auto of = std::find_if(gathers_of_.begin(), gathers_of_.end(), [&sub_warp](const Gathering& one) {
    return one.group == sub_warp.group && one.flight == sub_warp.flight;
  });
  if (of == gathers_of_.end()) {
    of = gathers_of_.insert(of, Gathering{sub_warp.group, sub_warp.flight, 0, false, {}});
  }
  ++of->arrived;
  if (flight.all_formed && of->arrived == flight.formed) {
    gathering_ = std::move(*of);
    gathers_of_.erase(of);
    alone_ = gathering_.accesses.empty();  // no earlier sub-warp of it waits for this one
  }
}

// The access of the sub-warp at the stage's head.
void MemoryStage::gather(MemoryAccess& access) {
  if (alone_ || access.kind == MemoryAccess::Kind::atomic || access.kind == MemoryAccess::Kind::texture) {
    return;
  }
  access.gathered = true;
  if (!gathering_.accesses.empty()) {
    gathering_.accesses.push_back(&access);
    return;
  }
  for (Gathering& one : gathers_of_) {
    if (one.group == access.sub_warp->group && one.flight == access.sub_warp->flight) {
      one.accesses.push_back(&access);
    }
  }
}

unsigned MemoryStage::gathered() const {
  std::size_t waiting = gathering_.accesses.size();
  for (const Gathering& one : gathers_of_) {
    waiting += one.accesses.size();
  }
  return static_cast<unsigned>(waiting);
}

// False: not all of their lines have been sent, and block_cause says why.
bool MemoryStage::send_gathered() {
  if (!gathering_.joined) {
    const std::size_t others = accesses_.size() - free_.size() - late_ - (present_ != nullptr ? 1 : 0);
    if (others != 0 && others + gathering_.accesses.size() > state_.machine.core.pending_accesses) {
      refused_ = Refused::here;
      state_.block_cause = IdleCause::pending_full;
      return false;
    }
    join_lines();
    gathering_.joined = true;
  }
  for (MemoryAccess* const access : gathering_.accesses) {
    send(*access);
    if (access->sent < access->own) {
      return false;
    }
  }
  for (MemoryAccess* const access : gathering_.accesses) {
    access->gathered = false;
    if (access != present_) {
      settle(*access);
    }
  }
  gathering_ = {};
  return true;
}

void MemoryStage::join_lines() {
  const std::vector<MemoryAccess*>& all = gathering_.accesses;
  for (auto each = all.begin(); each != all.end(); ++each) {
    MemoryAccess& access = **each;
    access.own = 0;
    for (unsigned number = 0; number != access.count; ++number) {
      AccessLine& line = access.lines[number];
      AccessLine* lead = nullptr;
      for (auto before = all.begin(); before != each && lead == nullptr; ++before) {
        if ((*before)->kind != access.kind || (*before)->sub_warp->pc != access.sub_warp->pc) {
          continue;
        }
        for (unsigned i = 0; i != (*before)->own && lead == nullptr; ++i) {
          AccessLine& other = (*before)->lines[(*before)->order[i]];
          lead = other.address == line.address ? &other : nullptr;
        }
      }
      if (lead == nullptr) {
        access.order[access.own++] = static_cast<std::uint8_t>(number);
      } else {
        go_with(*lead, line);
        ++state_.statistics.joined_lines;
      }
    }
  }
}

void MemoryStage::go_with(AccessLine& lead, AccessLine& line) {
  AccessLine* last = &lead;
  while (last->with != nullptr) {
    last = last->with;
  }
  last->with = &line;
  if (line.store_data != nullptr) {  // later sub-warps store over earlier ones, as they do by themselves
    const StoredBytes& later = *line.stored;
    link::merge_bytes(lead.stored->data.data(), later.data.data(), later.enable.data(), state_.machine.l1d.line_bytes);
    link::add_enables(lead.stored->enable.data(), later.enable.data(), state_.machine.l1d.line_bytes);
  }
}

// All lines of the instruction have been sent: what becomes of a sub-warp that has left the stage's head.
void MemoryStage::settle(MemoryAccess& access) {
  if (access.outstanding == 0) {
    --late_;
    comes_back(*access.sub_warp, true);
    complete(access);
  } else if (access.outstanding != access.late) {
    --late_;
    --state_.groups[access.sub_warp->group].flights[access.sub_warp->flight].late;
    wait_for_lines(access);
  }
}

}  // namespace heddle::hw
