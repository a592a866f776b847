#include "hw/core/warps/places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::hw {

Traveller Places::lift(const Place& place) {
  if (empty(place)) {
    throw InternalError(fmt::format("no thread is in register row {}, lane {}", place.row, place.lane));
  }
  Traveller out;
  out.thread = state_.thread_at(place.row, place.lane);
  out.registers.resize(state_.launch->registers);
  for (unsigned reg = 0; reg < out.registers.size(); ++reg) {
    out.registers[reg] = registers_.word(place.row, reg)[place.lane];
  }
  for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
    out.predicates[reg] = ((registers_.predicate(place.row, reg) >> place.lane) & 1U) != 0;
  }
  if (state_.replay != nullptr) {
    out.replay = state_.replay->thread(place.row, place.lane);
  }
  state_.rows[place.row].take(place.lane);
  return out;
}

// A register row in which blocks begin has threads of the block that is there only, so that it is empty when the next
// one begins.
void Places::require_open(const Place& place, const HomeThread& thread) const {
  if (thread.home == nullptr) {
    return;  // no thread is there, of which lift() complains
  }
  const BlockHome& block = *thread.home->block;
  const bool begins = place.row < first_guest_row();
  if (begins && (block.core != state_.index || place.row / rows_per_block() != block.slot)) {
    throw InternalError(fmt::format("register row {} is for threads of the block that has begun there", place.row));
  }
}

void Places::drop(const Place& place, const Traveller& traveller) {
  require_open(place, traveller.thread);
  if (!empty(place)) {
    throw InternalError(fmt::format("a thread is in register row {}, lane {} already", place.row, place.lane));
  }
  for (unsigned reg = 0; reg < traveller.registers.size(); ++reg) {
    registers_.word(place.row, reg)[place.lane] = traveller.registers[reg];
  }
  const LaneMask bit = LaneMask{1} << place.lane;
  for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
    LaneMask& row = registers_.predicate(place.row, reg);
    row = traveller.predicates[reg] ? row | bit : row & ~bit;
  }
  if (state_.replay != nullptr) {
    state_.replay->thread(place.row, place.lane) = traveller.replay;
  }
  state_.rows[place.row].put(place.lane, traveller.thread);
}

void Places::move(const Place& from, const Place& to) {
  if (!empty(to)) {
    throw InternalError(fmt::format("a thread is in register row {}, lane {} already", to.row, to.lane));
  }
  require_open(to, state_.thread_at(from.row, from.lane));
  drop(to, lift(from));
}

void Places::exchange(const Place& one, const Place& other) {
  require_open(one, state_.thread_at(other.row, other.lane));
  require_open(other, state_.thread_at(one.row, one.lane));
  const Traveller first = lift(one);
  const Traveller second = lift(other);
  drop(one, second);
  drop(other, first);
}

Traveller Places::leave(const Place& place, unsigned lane) {
  Traveller out = lift(place);
  out.lane = static_cast<std::uint8_t>(lane);
  out.has_run = true;
  state_.departs(*out.thread.home->block);
  return out;
}

void Places::enter(const Place& place, const Traveller& traveller) {
  drop(place, traveller);
  state_.joins(*traveller.thread.home->block);
}

unsigned Places::rows_per_block() const {
  const unsigned warp_size = state_.core.warp_size;
  return (state_.launch->threads_per_block() + warp_size - 1) / warp_size * state_.rows_per_warp;
}

unsigned Places::first_guest_row() const {
  if (state_.global_warps) {
    return 0;
  }
  const auto rows = static_cast<unsigned>(state_.rows.size());
  return std::min(state_.core.blocks, rows / rows_per_block()) * rows_per_block();
}

std::optional<Place> Places::vacant(unsigned lane) const {
  for (unsigned row = first_guest_row(); row < state_.rows.size(); ++row) {
    const Place place{static_cast<std::uint16_t>(row), static_cast<std::uint8_t>(lane)};
    if (empty(place)) {
      return place;
    }
  }
  return std::nullopt;
}

std::optional<std::uint16_t> Places::vacant_row() const {
  for (unsigned row = first_guest_row(); row < state_.rows.size(); ++row) {
    if (state_.rows[row].present() == 0) {
      return static_cast<std::uint16_t>(row);
    }
  }
  return std::nullopt;
}

Place Places::find(const Traveller& traveller) const {
  const BlockHome& block = *traveller.thread.home->block;
  if (block.core == state_.index && traveller.lane == traveller.thread.lane) {
    const auto number = static_cast<unsigned>(traveller.thread.home - block.threads.data());
    const Place own{static_cast<std::uint16_t>(state_.first_row(block.slot) + number), traveller.lane};
    if (empty(own)) {
      return own;
    }
  }
  const std::optional<Place> place = vacant(traveller.lane);
  if (!place) {
    throw InternalError(
        fmt::format("core {} has no place in lane {} for a thread from another core", state_.index, traveller.lane));
  }
  return *place;
}

}  // namespace heddle::hw
