#include "hw/effects/perform.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "base/set_bits.hpp"
#include "isa/device_heap.hpp"
#include "isa/recorded.hpp"
#include "isa/special.hpp"

namespace heddle::hw {

namespace {

// Where each lane of a conditional accumulate writes, and the count.
void accumulate(link::SubWarp& sub_warp) {
  const isa::Accumulation all = isa::accumulate(sub_warp.decoded->instruction, sub_warp.values);
  sub_warp.address = all.address;
  sub_warp.values.result[0].fill(all.count);
}

// Address = base + offset; 32-bit forms wrap at 32 bits.
void generate_addresses(link::SubWarp& sub_warp) {
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const isa::LaneValues& values = sub_warp.values;
  const std::uint32_t offset = instruction.immediate ? instruction.imm : 0;
  if (isa::has_wide_address(instruction.op)) {
    const auto wide = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(offset)});
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      sub_warp.address[lane] = (values.a[0][lane] | (std::uint64_t{values.a[1][lane]} << 32U)) + wide;
    }
  } else {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      sub_warp.address[lane] = values.a[0][lane] + offset;
    }
  }
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    sub_warp.address_low[lane] = static_cast<std::uint32_t>(sub_warp.address[lane]);
  }
}

}  // namespace

void Performer::perform(link::SubWarp& sub_warp) {
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  if (sub_warp.executing == 0) {
    return;
  }
  if (decoded.exchanges && state_.replay == nullptr) {
    return;  // register read has computed it for the whole warp
  }
  if (state_.replay != nullptr && decoded.unit != isa::Unit::control) {
    replay(sub_warp);
    return;
  }
  switch (decoded.unit) {
    case isa::Unit::memory:
      if (isa::is_accumulate(decoded.instruction.op)) {
        accumulate(sub_warp);
      } else if (decoded.instruction.op != isa::Op::MEMBAR) {
        generate_addresses(sub_warp);
      }
      return;
    case isa::Unit::control:
      if (decoded.instruction.op == isa::Op::TRAP) {
        state_.raise(isa::Fault::Kind::trap, sub_warp, static_cast<unsigned>(std::countr_zero(sub_warp.executing)), 0,
                     0, "the program executed trap");
      }
      return;
    default:
      break;
  }
  if (decoded.instruction.op == isa::Op::S2R || decoded.instruction.op == isa::Op::S2R64) {
    read_special(sub_warp);
    return;
  }
  if (decoded.function == nullptr) {
    if (decoded.instruction.op == isa::Op::PRINT && state_.launch->prints != nullptr) {
      print_lanes(sub_warp);
    } else if (isa::is_heap(decoded.instruction.op)) {
      heap_lanes(sub_warp);
    }
    return;
  }
  decoded.function(decoded.instruction, sub_warp.values);
  const LaneMask divided = sub_warp.values.fault & sub_warp.executing;
  if (divided != 0 && state_.machine.core.division_trap) {
    state_.raise(isa::Fault::Kind::division_by_zero, sub_warp, static_cast<unsigned>(std::countr_zero(divided)), 0, 0,
                 isa::disassemble(decoded.instruction));
  }
}

// Addresses and barriers as they were recorded (hw/state/replay.hpp); other results are not known.
void Performer::replay(link::SubWarp& sub_warp) {
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const bool memory = sub_warp.decoded->unit == isa::Unit::memory;
  if (!memory && sub_warp.decoded->unit != isa::Unit::barrier) {
    return;
  }
  isa::LaneValues& values = sub_warp.values;
  if (isa::fills(instruction.op)) {
    values.result[1].fill(~std::uint32_t{0});  // how much of a copy was read is not known: all
  }
  if (memory && instruction.op != isa::Op::MEMBAR && !isa::records_value(instruction)) {
    values.a[0].fill(0);  // the address is the offset alone
    values.a[1].fill(0);
    generate_addresses(sub_warp);
    return;
  }
  if (!memory) {
    values.a[0].fill(0);
    values.b[0].fill(instruction.immediate ? instruction.imm : 0);
    values.predicate_a = 0;
  }
  if (!isa::records_value(instruction)) {
    return;
  }
  const bool accumulates = isa::is_accumulate(instruction.op);
  values.predicate_a = 0;
  sub_warp.address.fill(0);
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    const unsigned row = sub_warp.row_of(lane);
    const unsigned home = sub_warp.home_of(lane);
    if (accumulates) {
      if (!state_.replay->take_bit(row, home)) {
        continue;
      }
      values.predicate_a |= LaneMask{1} << lane;
    }
    const std::uint64_t value = state_.replay->take_value(row, home);
    if (isa::is_bulk_copy(instruction.op)) {
      sub_warp.address[lane] = isa::address_of_bulk_copy(value);
      values.result[0][lane] = values.result[2][lane] = 0;  // where to is not known
      values.result[1][lane] = isa::bytes_of_bulk_copy(value);
    } else if (memory) {
      sub_warp.address[lane] = value;
    } else {
      values.a[0][lane] = static_cast<std::uint32_t>(value);
      values.b[0][lane] = static_cast<std::uint32_t>(value >> 32U);
    }
  }
}

void Performer::read_special(link::SubWarp& sub_warp) {
  const std::uint32_t number = sub_warp.decoded->instruction.imm;
  const bool reads_clock = number == static_cast<std::uint32_t>(isa::Special::clock) ||
                           number == static_cast<std::uint32_t>(isa::Special::clock_hi) ||
                           number == static_cast<std::uint32_t>(isa::Special::clock64);
  if (reads_clock) {
    state_.place.clock.fill(state_.now);
  }
  const auto read = [&](const ThreadHome& home, isa::LaneValues& values) {
    return isa::read_special(number, home.context, state_.place, values);
  };
  bool known = true;
  if (const ThreadHome* const whole = sub_warp.uniform ? state_.rows[sub_warp.first_row].whole() : nullptr) {
    known = read(*whole, sub_warp.values);
  } else {
    isa::LaneValues of_home;
    for (const unsigned lane : set_bits(sub_warp.lanes)) {
      const HomeThread thread = state_.thread_at(sub_warp, lane);
      known = read(*thread.home, of_home) && known;
      sub_warp.values.result[0][lane] = of_home.result[0][thread.lane];
      sub_warp.values.result[1][lane] = of_home.result[1][thread.lane];
    }
  }
  if (!known) {
    state_.raise(isa::Fault::Kind::invalid_instruction, sub_warp,
                 static_cast<unsigned>(std::countr_zero(sub_warp.executing)), 0, 0,
                 fmt::format("there is no special register {}", number));
  }
}

void Performer::print_lanes(const link::SubWarp& sub_warp) {
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    const HomeThread thread = state_.thread_at(sub_warp, lane);
    const BlockHome& block = *thread.home->block;  // all that a thread says is in one share, wherever it is
    const Printed said{&state_.launch->prints->share(block.core), block.linear, thread.number(),
                       sub_warp.values.a[0][lane], sub_warp.values.b[0][lane]};
    if (block.core == state_.index) {
      said.put();
    } else {
      printed_by_guest(said);
    }
  }
}

// malloc and free (isa/device_heap.hpp).
void Performer::heap_lanes(link::SubWarp& sub_warp) {
  isa::LaneValues& values = sub_warp.values;
  const isa::Op op = sub_warp.decoded->instruction.op;
  const bool frees = op == isa::Op::HEAP_FREE || op == isa::Op::HEAP_FREE_E;
  const bool wide = op == isa::Op::HEAP_ALLOC_E || op == isa::Op::HEAP_FREE_E;
  values.result[0].fill(0);
  values.result[1].fill(0);
  isa::DeviceHeap* const heap = state_.launch->heap;
  if (heap == nullptr) {
    return;
  }
  CoreStatistics& statistics = state_.statistics;
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    const std::uint64_t thread = state_.heap_thread(sub_warp, lane);
    const std::uint64_t operand = values.a[0][lane] | (wide ? std::uint64_t{values.a[1][lane]} << 32U : 0);
    if (frees) {
      if (std::string wrong = heap->free(thread, operand, sub_warp.pc); !wrong.empty()) {
        state_.raise(isa::Fault::Kind::bad_free, sub_warp, lane, 0, 0, std::move(wrong));
        return;
      }
      statistics.heap_frees += operand != 0 ? 1 : 0;
      continue;
    }
    isa::DeviceHeap::Given given = heap->allocate(thread, operand, wide);
    if (!given.wrong.empty()) {
      state_.raise(isa::Fault::Kind::heap_room, sub_warp, lane, 0, 0, std::move(given.wrong));
      return;
    }
    ++(given.address != 0 ? statistics.heap_allocations : statistics.heap_refusals);
    statistics.heap_bytes += given.address != 0 ? operand : 0;
    values.result[0][lane] = static_cast<std::uint32_t>(given.address);
    values.result[1][lane] = static_cast<std::uint32_t>(given.address >> 32U);
  }
}

}  // namespace heddle::hw
