// The papers' DRAM timing: banks with one row buffer each, and the data bus of the channel (thesis 7.2 and table 5.1,
// LWM report table 1).
//
//   row hit       the bank's open row is the request's: data complete row_hit cycles after the start. Hits of a bank
//                 pipeline: another may start before this one's data is there.
//   row conflict  everything else, also the first access to a bank: the papers know two latencies only. Data complete
//                 row_conflict cycles after the start. It starts when the data of every earlier access to the bank is
//                 complete, and its row takes further hits from row_conflict - row_hit cycles after its start on.
//   closed row    as a conflict; with row_closed > 0 data complete row_closed cycles after the start, which comes
//                 row_conflict - row_closed cycles (the precharge) after the data of the bank's last access at the
//                 earliest.
//   bus           the last line_bytes * channels * clock / bandwidth cycles before the data is complete (4 at 128
//                 bytes, 32 GB/s, 1 GHz) belong to this access alone, in all banks; fractions of a cycle are kept, so
//                 that the bandwidth is exact. An access starts only when that slot is free: it is the start that
//                 waits. A slot longer than the latency stretches the latency to the slot.
//   turnaround    cycles that the bus rests between a read's slot and a write's, either way round (0 in the papers).
//   atomic        two slots: its line goes back over the bus right after it came.
// A bank whose accesses wait does not delay the other banks: slots are given out of order. One access starts per cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hw/dram/timing.hpp"

namespace heddle::hw {

// What a transfer's ends are: between a read and a write the bus rests.
struct TransferEnds {
  bool first_writes = false;
  bool last_writes = false;
};

// Reservations of the data bus, in fractions of a cycle.
class BusSchedule {
 public:
  static constexpr unsigned kFractionBits = 16;
  using Ticks = std::uint64_t;
  using Ends = TransferEnds;
  explicit BusSchedule(Ticks turnaround = 0) : turnaround_(turnaround) {}

  // The first start at or after `from` of a free stretch of `length`.
  [[nodiscard]] Ticks first_free(Ticks from, Ticks length, Ends ends = {}) const;
  void reserve(Ticks from, Ticks length, Ends ends = {});
  // Forgets what ended before, and cannot be in the way of what comes from `time` on.
  void forget_before(Ticks time);

 private:
  struct Slot {
    Ticks begin;
    Ticks end;
    Ends ends;
  };
  [[nodiscard]] Ticks gap(bool writes_before, bool writes_after) const {
    return writes_before != writes_after ? turnaround_ : 0;
  }
  Ticks turnaround_;
  std::vector<Slot> slots_;  // by time
  std::size_t oldest_ = 0;   // slots before it are over
};

class HitConflictTiming final : public DramTiming {
 public:
  HitConflictTiming(const DramParameters& parameters, unsigned line_bytes, double clock_period_ns);

  [[nodiscard]] Cycle earliest_start(const DramRequest& request, Cycle now) const override;
  DramStep start(DramRequest& request, Cycle now, bool close) override;
  [[nodiscard]] bool last_step(const DramRequest& /*request*/) const override { return true; }
  [[nodiscard]] Cycle conflict_penalty() const override { return row_conflict_ - row_hit_; }
  [[nodiscard]] Cycle conflict_latency() const override { return row_conflict_; }

 private:
  struct Bank {
    Cycle hits_from = 0;   // hits to the open row can start
    Cycle done = 0;        // the data of every access so far is complete
    Cycle precharged = 0;  // closed: another row can be opened
  };
  struct Plan {
    Cycle start;
    Cycle data;
    BusSchedule::Ticks bus;
  };
  [[nodiscard]] Plan plan(const DramRequest& request, Cycle now) const;
  // The latest plan that was asked for, as long as nothing starts: it says the same in every cycle up to its start.
  mutable Plan asked_{};
  mutable std::uint64_t asked_for_ = 0;  // the request's serial; 0: it does not hold any more
  // Of the line, or of the part of it that moves.
  [[nodiscard]] BusSchedule::Ticks slot_of(const DramRequest& request) const {
    return request.bytes == 0 ? slot_ : std::max<BusSchedule::Ticks>(1, slot_ * request.bytes / line_bytes_);
  }
  [[nodiscard]] BusSchedule::Ticks bus_length(const DramRequest& request) const {
    return slot_of(request) * request.slots + turnaround_ * (request.slots - 1);
  }
  [[nodiscard]] static BusSchedule::Ends ends(const DramRequest& request) {
    return {request.write, request.write || request.atomic};
  }

  Cycle row_hit_;
  Cycle row_conflict_;
  Cycle row_closed_;
  unsigned line_bytes_;
  BusSchedule::Ticks slot_;
  BusSchedule::Ticks turnaround_;
  std::vector<Bank> banks_;
  BusSchedule bus_;
  Cycle next_start_ = 0;
};

}  // namespace heddle::hw
