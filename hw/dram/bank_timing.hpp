// When a DRAM access can start and when its data is there: banks with one row buffer each, and the data bus of the
// channel (thesis 7.2 and table 5.1, LWM report table 1).
//
//   row hit       the bank's open row is the request's: data complete row_hit cycles after the start. Hits of a bank
//                 pipeline: another may start before this one's data is there.
//   row conflict  everything else, also the first access to a bank: the papers know two latencies only. Data complete
//                 row_conflict cycles after the start. It starts when the data of every earlier access to the bank is
//                 complete, and its row takes further hits from row_conflict - row_hit cycles after its start on.
//   bus           the last line_bytes * channels * clock / bandwidth cycles before the data is complete (4 at 128
//   bytes,
//                 32 GB/s, 1 GHz) belong to this access alone, in all banks; fractions of a cycle are kept, so that the
//                 bandwidth is exact. An access starts only when that slot is free: it is the start that waits. A slot
//                 longer than the latency stretches the latency to the slot.
//   atomic        two slots: its line goes back over the bus right after it came.
// A bank whose accesses wait does not delay the other banks: slots are given out of order.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/dram/request_queue.hpp"
#include "hw/machine.hpp"

namespace heddle::hw {

// Reservations of the data bus, in fractions of a cycle.
class BusSchedule {
 public:
  static constexpr unsigned kFractionBits = 16;
  using Ticks = std::uint64_t;
  // The first start at or after `from` of a free stretch of `length`.
  [[nodiscard]] Ticks first_free(Ticks from, Ticks length) const;
  void reserve(Ticks from, Ticks length);
  // Forgets what ended before.
  void forget_before(Ticks time);

 private:
  struct Slot {
    Ticks begin;
    Ticks end;
  };
  std::vector<Slot> slots_;  // by time
  std::size_t oldest_ = 0;   // slots before it are over
};

class BankTiming {
 public:
  BankTiming(const DramParameters& parameters, unsigned line_bytes, double clock_period_ns);

  [[nodiscard]] bool row_hit(const DramRequest& request) const {
    const Bank& bank = banks_[request.location.bank];
    return bank.open && bank.row == request.location.row;
  }
  // The earliest cycle, `now` or later, in which the request can start as things are.
  [[nodiscard]] Cycle earliest_start(const DramRequest& request, Cycle now) const;
  // Starts it in a cycle that earliest_start allows: sets row_hit and data.
  void start(DramRequest& request, Cycle now);
  void close(unsigned bank) { banks_[bank].open = false; }

  [[nodiscard]] unsigned banks() const { return static_cast<unsigned>(banks_.size()); }
  [[nodiscard]] bool row_open(unsigned bank) const { return banks_[bank].open; }
  [[nodiscard]] std::uint64_t open_row(unsigned bank) const { return banks_[bank].row; }
  // Length of one bus slot, in fractions of a cycle (BusSchedule::kFractionBits).
  [[nodiscard]] BusSchedule::Ticks slot() const { return slot_; }

 private:
  struct Bank {
    bool open = false;
    std::uint64_t row = 0;
    Cycle hits_from = 0;  // hits to the open row can start
    Cycle done = 0;       // the data of every access so far is complete
  };
  struct Plan {
    Cycle start;
    Cycle data;
    BusSchedule::Ticks bus;
  };
  [[nodiscard]] Plan plan(const DramRequest& request, Cycle now) const;

  Cycle row_hit_;
  Cycle row_conflict_;
  BusSchedule::Ticks slot_;
  std::vector<Bank> banks_;
  BusSchedule bus_;
};

}  // namespace heddle::hw
