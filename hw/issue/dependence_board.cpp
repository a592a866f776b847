#include "hw/issue/dependence_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

using isa::ControlBits;

// Registers and predicates that an instruction reads, or that it writes.
struct UsedPlaces {
  const isa::RegisterSet& registers;
  unsigned predicates;
  [[nodiscard]] bool meet(const UsedPlaces& other) const {
    return registers.meets(other.registers) || (predicates & other.predicates) != 0;
  }
};

// "r5" or "p3": the first that are in both, which meet.
std::string first_of(const UsedPlaces& one, const UsedPlaces& other) {
  std::string first;
  (one.registers & other.registers).each([&first](unsigned reg) {
    first = first.empty() ? fmt::format("r{}", reg) : first;
  });
  return first.empty() ? fmt::format("p{}", std::countr_zero(one.predicates & other.predicates)) : first;
}

bool share_threads(const std::vector<LaneMask>& one, const std::vector<LaneMask>& other) {
  for (std::size_t row = 0; row != std::min(one.size(), other.size()); ++row) {
    if ((one[row] & other[row]) != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

void DependenceBoard::begin(const Group& group) {
  if (group.id >= boards_.size()) {
    boards_.resize(group.id + std::size_t{1});
  }
  Board& board = boards_[group.id];
  board.counters.fill(0);
  board.next_issue = 0;
  board.live = 0;
  for (Flight& flight : board.flights) {
    flight.decoded = nullptr;
  }
}

std::string DependenceBoard::hazard(const Flight& earlier, const link::DecodedInstruction& next, Cycle now) {
  const isa::RegisterUse& before = earlier.decoded->use;
  const UsedPlaces had_read{before.read, before.predicates_read},
      had_written{before.written, before.predicates_written};
  const UsedPlaces reads{next.use.read, next.use.predicates_read},
      writes{next.use.written, next.use.predicates_written};
  const auto sentence = [&earlier](const char* does, const std::string& place, const char* has) {
    return fmt::format("{} {} before PC {} ({}) has{}", does, place, earlier.pc,
                       isa::disassemble(earlier.decoded->instruction), has);
  };
  if (earlier.time.counted() || now < earlier.issued + earlier.time.fixed) {
    if (had_written.meet(reads)) {
      return sentence("read", first_of(had_written, reads), " written it");
    }
    if (had_written.meet(writes)) {
      return sentence("write", first_of(had_written, writes), "");
    }
  }
  if (earlier.time.counted() && earlier.unread && had_read.meet(writes)) {
    return sentence("write", first_of(had_read, writes), " read it");
  }
  return {};
}

std::string DependenceBoard::issued(const Group& group, const link::DecodedInstruction& next, Cycle now) {
  Board& board = boards_[group.id];
  std::string wrong;
  for (const unsigned flight : set_bits(board.live)) {
    const Flight& earlier = board.flights[flight];
    if (wrong.empty() && share_threads(earlier.lanes, group.active)) {
      wrong = hazard(earlier, next, now);
    }
  }
  if (!wrong.empty()) {
    wrong = fmt::format("control bits let PC {} ({}) {}", group.pc, isa::disassemble(next.instruction), wrong);
  }
  Flight& flight = board.flights[group.latest];
  flight.decoded = &next;
  flight.pc = group.pc;
  flight.issued = now;
  flight.time = times_(core_, next.instruction);
  flight.unread = true;
  flight.lanes = group.active;
  board.live |= std::uint32_t{1} << group.latest;
  const ControlBits& control = next.instruction.control;
  board.next_issue = now + std::max<Cycle>(control.stall, control.yield ? 2 : 1);
  for (const unsigned counter : {control.read, control.write}) {
    if (counter != ControlBits::kNoCounter) {
      ++board.counters[counter];
    }
  }
  return wrong;
}

void DependenceBoard::count_down(Board& board, unsigned counter) {
  if (counter != ControlBits::kNoCounter && board.counters[counter]-- == 0) {
    throw InternalError(fmt::format("dependence counter {} is counted down from 0", counter));
  }
}

bool DependenceBoard::operands_read(GroupId group, unsigned flight) {
  Board& board = boards_[group];
  Flight& read = board.flights[flight];
  if (read.decoded == nullptr || !read.unread) {
    return false;
  }
  read.unread = false;
  const unsigned counter = read.decoded->instruction.control.read;
  count_down(board, counter);
  return counter != ControlBits::kNoCounter;
}

void DependenceBoard::completed(GroupId group, unsigned flight) {
  Board& board = boards_[group];
  Flight& done = board.flights[flight];
  if (done.decoded == nullptr) {
    return;
  }
  operands_read(group, flight);
  count_down(board, done.decoded->instruction.control.write);
  done.decoded = nullptr;
  board.live &= ~(std::uint32_t{1} << flight);
}

DependenceBoard::Open DependenceBoard::open(GroupId group, std::uint8_t wait) const {
  const Board& board = boards_[group];
  unsigned left = 0;
  for (const unsigned counter : set_bits(std::uint32_t{wait})) {
    left |= board.counters[counter] != 0 ? 1U << counter : 0;
  }
  if (left == 0) {
    return Open::none;
  }
  for (const unsigned flight : set_bits(board.live)) {
    const link::DecodedInstruction& decoded = *board.flights[flight].decoded;
    const unsigned counter = decoded.instruction.control.write;
    if (decoded.unit == isa::Unit::memory && counter != ControlBits::kNoCounter && ((left >> counter) & 1U) != 0) {
      return Open::memory;
    }
  }
  return Open::units;
}

}  // namespace heddle::hw
