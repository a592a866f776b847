#include "hw/core/memory/gathering.hpp"

#include <algorithm>

#include "tlm/byte_enables.hpp"

namespace heddle::hw {

std::vector<Gathering::Instruction>::iterator Gathering::find(const link::SubWarp& sub_warp) {
  return std::find_if(parts_.begin(), parts_.end(), [&sub_warp](const Instruction& one) {
    return one.group == sub_warp.group && one.flight == sub_warp.flight;
  });
}

void Gathering::arrive(const link::SubWarp& sub_warp) {
  if (arrived_) {
    return;
  }
  arrived_ = true;
  const InFlight& flight = state_.groups[sub_warp.group].flights[sub_warp.flight];
  alone_ = (flight.all_formed && flight.formed == 1) || (!mimd_lanes_ && sub_warp.decoded->unit != isa::Unit::memory);
  if (alone_) {
    return;
  }
  auto of = find(sub_warp);
  if (of == parts_.end()) {
    of = parts_.insert(of, Instruction{sub_warp.group, sub_warp.flight, 0, false, {}});
  }
  ++of->arrived;
  if (flight.all_formed && of->arrived == flight.formed) {
    whole_ = std::move(*of);
    parts_.erase(of);
    alone_ = whole_.accesses.empty();  // no earlier sub-warp of it waits for this one
  }
}

void Gathering::add(MemoryAccess& access) {
  if (alone_ || access.kind == MemoryAccess::Kind::atomic || access.kind == MemoryAccess::Kind::texture) {
    return;
  }
  access.gathered = true;
  if (complete()) {
    whole_.accesses.push_back(&access);
  } else if (const auto of = find(*access.sub_warp); of != parts_.end()) {
    of->accesses.push_back(&access);
  }
}

unsigned Gathering::waiting() const {
  std::size_t waiting = whole_.accesses.size();
  for (const Instruction& one : parts_) {
    waiting += one.accesses.size();
  }
  return static_cast<unsigned>(waiting);
}

void Gathering::join() {
  whole_.joined = true;
  for (MemoryAccess* const access : whole_.accesses) {
    access->own = 0;
    for (unsigned number = 0; number != access->count; ++number) {
      AccessLine& line = access->lines[number];
      if (AccessLine* const lead = lead_of(line)) {
        go_with(*lead, line);
        ++state_.statistics.joined_lines;
      } else {
        access->order[access->own++] = static_cast<std::uint8_t>(number);
      }
    }
  }
}

// The request of an earlier sub-warp for the same line; null: there is none.
AccessLine* Gathering::lead_of(const AccessLine& line) {
  for (MemoryAccess* const before : whole_.accesses) {
    if (before == line.access) {
      break;
    }
    if (before->kind != line.access->kind || before->sub_warp->pc != line.access->sub_warp->pc) {
      continue;
    }
    for (unsigned i = 0; i != before->own; ++i) {
      if (AccessLine& other = before->lines[before->order[i]]; other.address == line.address) {
        return &other;
      }
    }
  }
  return nullptr;
}

void Gathering::go_with(AccessLine& lead, AccessLine& line) const {
  AccessLine* last = &lead;
  while (last->with != nullptr) {
    last = last->with;
  }
  last->with = &line;
  lead.parts |= line.parts;
  if (line.store_data != nullptr) {  // later sub-warps store over earlier ones, as they do by themselves
    const StoredBytes& later = *line.stored;
    link::merge_bytes(lead.stored->data.data(), later.data.data(), later.enable.data(), state_.machine.l1d.line_bytes);
    link::add_enables(lead.stored->enable.data(), later.enable.data(), state_.machine.l1d.line_bytes);
  }
}

void Gathering::reset() {
  parts_.clear();
  whole_ = {};
  arrived_ = false;
}

}  // namespace heddle::hw
