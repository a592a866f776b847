// When DRAM can do what is asked of it. A channel has one of these timing models, named by dram.timing:
//
//   hit-conflict  the papers' two latencies (hw/dram/bank_timing.hpp)
//   jedec         commands and their minimum distances (hw/dram/jedec_timing.hpp)
//   none          no time at all: the memory behind the controller has its own
//
// Plain C++ (no SystemC). A request is served in steps: one in the papers' model, the access itself; up to three in the
// other, precharge, activation and column commands. Nothing here chooses: schedulers ask for the earliest cycle of a
// request's next step, and the controller takes the step that was chosen.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/instrument.hpp"
#include "hw/dram/request_queue.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// One DRAM command, in the clock of the DRAM (only the JEDEC model has commands).
struct DramCommand {
  enum class Kind : std::uint8_t { activate, precharge, precharge_all, read, write, refresh };
  Kind kind = Kind::activate;
  std::uint64_t clock = 0;
  unsigned bank = 0;
  std::uint64_t row = 0;        // of an activation
  bool auto_precharge = false;  // of a column command: its row is closed after it
};

// Watches a channel: what starts when, for pictures and for checks. Called in order of time.
class DramObserver {
 public:
  virtual ~DramObserver() = default;
  // An access was started (its last step, in the JEDEC model); request.data and request.row_hit are known.
  virtual void access(const DramRequest& /*request*/, Cycle /*now*/) {}
  virtual void command(const DramCommand& /*command*/) {}
  // A row is held from `begin` on for a hint, at the longest until `until` (kNever: until the hit that waits starts).
  virtual void hold(unsigned /*bank*/, Cycle /*begin*/, Cycle /*until*/) {}
  virtual void hold_over(unsigned /*bank*/, Cycle /*at*/, bool /*hit*/) {}
  // A hit for a held row has arrived before the hold ran out, which therefore lasts until that hit starts.
  virtual void hold_claimed(unsigned /*bank*/) {}
  // `requests` requests wait from now on.
  virtual void waiting(std::size_t /*requests*/) {}
  // The data bus is in use in [begin, end), as statistics count it; may lie in the future.
  virtual void transfer(Cycle /*begin*/, Cycle /*end*/) {}
};

// What a step did.
struct DramStep {
  static constexpr unsigned kFractionBits = 16;
  bool served = false;       // the request's data is on its way: request.data is known, it leaves the queue
  Cycle bus_end = 0;         // served: the cycle in which its last transfer ends
  std::uint64_t bus = 0;     // bus time that the step took, in 2^-kFractionBits cycles
  unsigned activations = 0;  // rows opened
};

class DramTiming {
 public:
  explicit DramTiming(unsigned banks) : open_(banks, kClosed) {}
  virtual ~DramTiming() = default;

  // Whether its row is open: its next step is the access itself.
  [[nodiscard]] bool row_hit(const DramRequest& request) const {
    return open_[request.location.bank] == request.location.row;
  }
  // False: it has no banks, rows and bus, and every step can be taken at once. Nothing is to be scheduled.
  [[nodiscard]] virtual bool timed() const { return true; }
  [[nodiscard]] unsigned banks() const { return static_cast<unsigned>(open_.size()); }
  [[nodiscard]] bool row_open(unsigned bank) const { return open_[bank] != kClosed; }
  [[nodiscard]] std::uint64_t open_row(unsigned bank) const { return open_[bank]; }

  // The earliest cycle, `now` or later, in which the request's next step can be taken as things are.
  [[nodiscard]] virtual Cycle earliest_start(const DramRequest& request, Cycle now) const = 0;
  // Steps for other banks, and time, only ever delay a request's next step, as long as that is earlier than this cycle:
  // what earliest_start has said is a bound from below then. From here on it may become earlier again.
  [[nodiscard]] virtual Cycle firm_until() const { return kNever; }
  // Takes the step in a cycle that earliest_start allows. `close`: the access, should the step be it, closes its row
  // (an access with a hint never does).
  virtual DramStep start(DramRequest& request, Cycle now, bool close) = 0;
  // Whether the next step of the request is its last, the access.
  [[nodiscard]] virtual bool last_step(const DramRequest& request) const = 0;
  // What DRAM does by itself (refresh) up to and in cycle `now`.
  virtual void settle(Cycle /*now*/) {}
  // Latency of a conflict beyond that of a hit: the break-even hold time of a hinted row (thesis 7.2).
  [[nodiscard]] virtual Cycle conflict_penalty() const = 0;
  // A whole access to another row, with nothing in its way.
  [[nodiscard]] virtual Cycle conflict_latency() const = 0;
  [[nodiscard]] virtual std::uint64_t refreshes() const { return 0; }

  void set_observer(DramObserver* observer) { observer_ = observer; }

 protected:
  static constexpr std::uint64_t kClosed = ~std::uint64_t{0};
  std::vector<std::uint64_t> open_;  // per bank: its open row
  Instrument<DramObserver> observer_;
};

// The model that parameters.timing names. clock_period_ns: of the GPU clock, in which cycles are counted.
[[nodiscard]] std::unique_ptr<DramTiming> make_dram_timing(const DramParameters& parameters, unsigned line_bytes,
                                                           double clock_period_ns);

}  // namespace heddle::hw
