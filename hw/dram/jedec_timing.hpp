// DRAM command timing: activate, precharge, read, write, refresh, with the minimum distances between them that JEDEC
// standards define (JESD79-4, JESD212, JESD250, JESD235, JESD238), banks in groups, one rank. One command per clock of
// the DRAM, or, where rows and columns have a command bus each (HBM), one on either. A channel of several pseudo
// channels has one data bus for each of them: distances between banks and the window of activations hold within a
// pseudo channel, while the command buses and refreshes are the channel's.
//
// The DRAM has a clock of its own (jedec.tck_ps). A command goes out at one of its edges; the controller, which counts
// in cycles of the GPU clock, takes every step whose edge lies within its present cycle, so that a DRAM clock faster
// than the GPU's loses nothing. Data counts as complete in the first cycle that begins when its last transfer has
// ended.
//
// An access to a line takes as many column commands as the line has bursts; an atomic reads all of them and writes
// them back. Refresh covers all banks: when it is due (every tREFI) no other command goes out until every row is
// precharged (one precharge-all) and the refresh has taken its tRFC. The controller does not wake for refreshes: those
// that fell due while nothing waited are made up for, at their own times, when the next request comes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "hw/dram/jedec.hpp"
#include "hw/dram/timing.hpp"

namespace heddle::hw {

// Divides by a number that does not change. The host's own division of 64 bits takes as long as ten multiplications.
class Divider {
 public:
  explicit Divider(std::uint64_t by) : by_(by), inverse_(~std::uint64_t{0} / by) {}
  // Rounded down. The product with the rounded inverse is too small by one or two at most.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t number) const {
    auto quotient = static_cast<std::uint64_t>((static_cast<Wide>(number) * inverse_) >> 64U);
    while (number - quotient * by_ >= by_) {
      ++quotient;
    }
    return quotient;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t by_;
  std::uint64_t inverse_;
};

class JedecTiming final : public DramTiming {
 public:
  using Clocks = std::uint64_t;  // edges of the DRAM clock

  JedecTiming(const DramParameters& parameters, unsigned line_bytes, double clock_period_ns);

  [[nodiscard]] Cycle earliest_start(const DramRequest& request, Cycle now) const override;
  // The refresh that is due: what has to wait for it waits less when the last open row is closed before.
  [[nodiscard]] Cycle firm_until() const override { return refresh_cycle_; }
  DramStep start(DramRequest& request, Cycle now, bool close) override;
  [[nodiscard]] bool last_step(const DramRequest& request) const override {
    return row_hit(request) && request.bursts + 1 == bursts_of(request) * request.slots;
  }
  void settle(Cycle now) override;
  [[nodiscard]] Cycle conflict_penalty() const override;
  [[nodiscard]] Cycle conflict_latency() const override;
  [[nodiscard]] std::uint64_t refreshes() const override { return refreshes_; }

 private:
  struct Bank {
    Clocks activate = 0;  // each: the earliest edge of such a command
    Clocks precharge = 0;
    Clocks read = 0;
    Clocks write = 0;
  };
  struct Group {
    Clocks activate = 0;
    Clocks read = 0;
    Clocks write = 0;
  };
  // What holds for all banks of a pseudo channel.
  struct Pseudo : Group {
    std::array<Clocks, 4> activations{};  // edges from which on the window of four is open again
    unsigned oldest_activation = 0;
  };
  struct Next {
    DramCommand::Kind kind;
    Clocks at;
  };
  struct Refresh {
    bool precharges;
    Clocks precharge;
    Clocks refresh;
  };
  [[nodiscard]] Next next(const DramRequest& request, Cycle now) const;
  [[nodiscard]] Refresh next_refresh() const;
  void refresh();
  void refresh_is_due(Clocks at) {
    refresh_due_ = at;
    refresh_cycle_ = at == kNever ? kNever : cycle_of(at);
  }
  void show(DramCommand::Kind kind, Clocks at, unsigned bank, std::uint64_t row, bool auto_precharge);
  [[nodiscard]] Clocks free_from(bool column, Cycle now) const {
    return std::max({edge_from(now), column ? column_bus_ : row_bus_, latest_});
  }
  void occupy(bool column, Clocks at, unsigned clocks);
  void activate(unsigned bank, std::uint64_t row, Clocks at);
  [[nodiscard]] Clocks column(unsigned bank, bool write, Clocks at);  // the edge at which its data ends

  // The first edge in or after a cycle; the cycle that an edge lies in; the first cycle that begins at or after it.
  [[nodiscard]] Clocks edge_from(Cycle cycle) const {
    if (cycle != known_cycle_) {  // a scheduler asks for one cycle many times
      known_cycle_ = cycle;
      known_edge_ = by_tck_(cycle * period_ + tck_ - 1);
      known_start_ = std::max(cycle, cycle_of(known_edge_));
    }
    return known_edge_;
  }
  [[nodiscard]] Cycle cycle_of(Clocks edge) const { return by_period_(edge * tck_); }
  [[nodiscard]] Cycle cycle_after(Clocks edge) const { return by_period_(edge * tck_ + period_ - 1); }
  [[nodiscard]] Group& group_of(unsigned bank) { return groups_[bank & group_mask_]; }
  [[nodiscard]] Pseudo& pseudo_of(unsigned bank) { return pseudo_[bank & pseudo_mask_]; }
  // Column commands that its data takes, one way.
  [[nodiscard]] unsigned bursts_of(const DramRequest& request) const {
    return request.bytes == 0 ? bursts_ : request.bytes / jedec_.burst_bytes;
  }

  const JedecParameters jedec_;
  const std::uint64_t period_;  // of the GPU clock, ps
  const std::uint64_t tck_;     // of the DRAM clock, ps
  const Divider by_period_;
  const Divider by_tck_;
  const unsigned bursts_;  // of a line
  const unsigned pseudo_mask_;
  const unsigned group_mask_;  // of pseudo channel and group
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Pseudo> pseudo_;
  const CommandBuses buses_;
  Clocks row_bus_ = 0;     // free from this edge on, for activations, precharges and refreshes
  Clocks column_bus_ = 0;  // and for reads and writes; the same edge where there is one bus for all
  Clocks latest_ = 0;      // of the commands so far: they are told, and so chosen, in the order of time
  Clocks refresh_due_ = kNever;
  Cycle refresh_cycle_ = kNever;  // the cycle that it lies in
  std::uint64_t refreshes_ = 0;
  mutable Cycle known_cycle_ = 0;
  mutable Clocks known_edge_ = 0;
  mutable Cycle known_start_ = 0;  // the cycle that the edge lies in
};

}  // namespace heddle::hw
