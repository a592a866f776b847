#include "hw/issue/dependence_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

using isa::ControlBits;

// A counter's byte in Board::counters.
constexpr unsigned kBits = 8;
constexpr std::uint64_t one_of(unsigned counter) {
  return std::uint64_t{1} << (kBits * counter);
}
constexpr std::uint64_t byte_of(unsigned counter) {
  return one_of(counter) * 0xff;
}
// The bytes of the counters of each wait mask.
constexpr auto kBytes = [] {
  std::array<std::uint64_t, std::size_t{1} << ControlBits::kCounters> bytes{};
  for (unsigned wait = 0; wait != bytes.size(); ++wait) {
    for (const unsigned counter : set_bits(wait)) {
      bytes[wait] |= byte_of(counter);
    }
  }
  return bytes;
}();

// Registers and predicates that an instruction reads, or that it writes.
struct UsedPlaces {
  const isa::RegisterSet& registers;
  unsigned predicates;
  [[nodiscard]] bool meet(const UsedPlaces& other) const {
    return registers.meets(other.registers) || (predicates & other.predicates) != 0;
  }
};
UsedPlaces read_by(const link::DecodedInstruction& decoded) {
  return {decoded.use.read, decoded.use.predicates_read};
}
UsedPlaces written_by(const link::DecodedInstruction& decoded) {
  return {decoded.use.written, decoded.use.predicates_written};
}

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
  board.counters = 0;
  board.next_issue = 0;
  board.live = 0;
  for (Flight& flight : board.flights) {
    flight.decoded = nullptr;
  }
}

DependenceBoard::Hazard DependenceBoard::hazard(const Flight& earlier, const link::DecodedInstruction& next,
                                                Cycle now) {
  if (!earlier.counted && now >= earlier.there) {
    return Hazard::none;
  }
  const UsedPlaces had_written = written_by(*earlier.decoded), writes = written_by(next);
  if (had_written.meet(read_by(next))) {
    return Hazard::read_after_write;
  }
  if (had_written.meet(writes)) {
    return Hazard::write_after_write;
  }
  return earlier.counted && earlier.unread && read_by(*earlier.decoded).meet(writes) ? Hazard::write_after_read
                                                                                     : Hazard::none;
}

std::string DependenceBoard::sentence(Hazard hazard, const Flight& earlier, const link::DecodedInstruction& next,
                                      std::uint32_t pc) {
  const bool reads = hazard == Hazard::read_after_write;
  const bool was_read = hazard == Hazard::write_after_read;
  const std::string place = first_of(was_read ? read_by(*earlier.decoded) : written_by(*earlier.decoded),
                                     reads ? read_by(next) : written_by(next));
  return fmt::format("control bits let PC {} ({}) {} {} before PC {} ({}) has{}", pc,
                     isa::disassemble(next.instruction), reads ? "read" : "write", place, earlier.pc,
                     isa::disassemble(earlier.decoded->instruction),
                     reads      ? " written it"
                     : was_read ? " read it"
                                : "");
}

std::string DependenceBoard::issued(const Group& group, const link::DecodedInstruction& next, Cycle now) {
  Board& board = boards_[group.id];
  std::string wrong;
  for (const unsigned flight : set_bits(board.live)) {
    const Flight& earlier = board.flights[flight];
    const Hazard found = hazard(earlier, next, now);
    if (found != Hazard::none && wrong.empty() && share_threads(earlier.lanes, group.active)) [[unlikely]] {
      wrong = sentence(found, earlier, next, group.pc);
    }
  }
  const isa::ResultTime time = next.issue.result_time;
  Flight& flight = board.flights[group.latest];
  flight.decoded = &next;
  flight.pc = group.pc;
  flight.counted = time.counted();
  flight.unread = true;
  flight.there = now + time.fixed;
  if (flight.lanes.size() != group.active.size()) [[unlikely]] {
    flight.lanes.resize(group.active.size());
  }
  std::copy(group.active.begin(), group.active.end(), flight.lanes.begin());
  board.live |= std::uint32_t{1} << group.latest;
  const ControlBits& control = next.instruction.control;
  board.next_issue = now + std::max<Cycle>(control.stall, control.yield ? 2 : 1);
  for (const unsigned counter : {control.read, control.write}) {
    board.counters += counter != ControlBits::kNoCounter ? one_of(counter) : 0;
  }
  return wrong;
}

void DependenceBoard::count_down(Board& board, unsigned counter) {
  if (counter == ControlBits::kNoCounter) {
    return;
  }
  if ((board.counters & byte_of(counter)) == 0) {
    throw InternalError(fmt::format("dependence counter {} is counted down from 0", counter));
  }
  board.counters -= one_of(counter);
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
  const std::uint64_t left = board.counters & kBytes[wait % kBytes.size()];
  if (left == 0) {
    return Open::none;
  }
  for (const unsigned flight : set_bits(board.live)) {
    const link::DecodedInstruction& decoded = *board.flights[flight].decoded;
    const unsigned counter = decoded.instruction.control.write;
    if (decoded.unit == isa::Unit::memory && counter != ControlBits::kNoCounter && (left & byte_of(counter)) != 0) {
      return Open::memory;
    }
  }
  return Open::units;
}

}  // namespace heddle::hw
