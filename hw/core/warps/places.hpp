// How threads change their places: their registers go with them, and whose threads a register row has is set right.
// Their homes (identity, block, local memory, hash) stay what they are. Plain C++, without sockets and without time:
// what a move costs is the business of who moves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/registers/register_file.hpp"
#include "hw/state/core_state.hpp"

namespace heddle::hw {

// A thread on its way from a place to another, with what it carries.
struct Traveller {
  HomeThread thread;
  std::uint8_t lane = 0;  // of its group, before and after
  std::array<bool, isa::kPredicates> predicates{};
  std::vector<std::uint32_t> registers;  // as many as the launch gives each thread
  ReplayRows::Thread replay;             // how far its record has been replayed, if there is one
  bool has_run = false;                  // it was in a core before
  // The barrier operation that it was released from on its way: it retires where the thread goes on.
  const link::DecodedInstruction* released = nullptr;
  std::uint32_t released_pc = 0;
  std::uint32_t released_value = 0;
  bool true_at_barrier = false;  // its predicate there (bar.red)
};

// The places of one core. A thread that moves has no instruction in flight, nor does it wait at a barrier. A register
// row in which blocks begin takes threads of the block that is there only; any other row takes any. Errors are
// InternalError: a place that is taken, that has no thread to go, or that is another block's.
class Places {
 public:
  Places(CoreState& state, RegisterArray& registers) : state_(state), registers_(registers) {}

  // Within the core: to an empty place; two threads for each other's.
  void move(const Place& from, const Place& to);
  void exchange(const Place& one, const Place& other);

  // To and from other cores. `lane` is that of the thread's group.
  [[nodiscard]] Traveller leave(const Place& place, unsigned lane);
  void enter(const Place& place, const Traveller& traveller);
  // An empty place in the lane of the thread's group: where its block has put it, if the block has begun here, else a
  // vacant one. Error when there is none.
  [[nodiscard]] Place find(const Traveller& traveller) const;
  // An empty place in this lane, in a register row in which no block begins.
  [[nodiscard]] std::optional<Place> vacant(unsigned lane) const;
  // A register row without threads in which no block begins.
  [[nodiscard]] std::optional<std::uint16_t> vacant_row() const;

 private:
  [[nodiscard]] unsigned rows_per_block() const;
  [[nodiscard]] unsigned first_guest_row() const;  // no block begins in this register row or in those behind it
  void require_open(const Place& place, const HomeThread& thread) const;
  [[nodiscard]] Traveller lift(const Place& place);
  void drop(const Place& place, const Traveller& traveller);
  [[nodiscard]] bool empty(const Place& place) const {
    return ((state_.rows[place.row].present() >> place.lane) & 1U) == 0;
  }

  CoreState& state_;
  RegisterArray& registers_;
};

}  // namespace heddle::hw
