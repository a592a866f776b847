// What modules have told of their waves (tlm/wave.hpp), put into the order of time: of each time step the changes that
// it has made. Plain C++, of no thread: who has batches written apart hands them to a thread that owns one of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "tlm/cycle.hpp"

namespace heddle::link {

// One call of a Wave, or the end of a time step.
struct WaveOp {
  enum class Kind : std::uint32_t {
    set,      // value
    pulse,    // value; 0 from the next cycle on
    count,    // events, more than in this step so far; 0 from the next cycle on
    merge,    // bits that are set beside those of the value; the next op is the present cycle
    set_at,   // value; the next op is its cycle
    add_at,   // difference; the next op is its cycle
    at,       // value: the cycle of the op before
    forget,   // the wave is gone
    end_step  // value: the cycle that the step was of
  };
  std::uint32_t wave;  // in the order of WaveSteps::declare(); none for at and end_step
  Kind kind;
  std::uint64_t value;
};

// A value that a wave has from a cycle on.
struct WaveChange {
  std::uint32_t wave;
  std::uint64_t value;
};

class WaveSteps {
 public:
  // The changes of one cycle; each wave at most once, only real changes. Cycles come in ascending order, the cycle of
  // the latest step possibly more than once.
  using Show = std::function<void(Cycle, std::span<const WaveChange>)>;
  explicit WaveSteps(Show show) : show_(std::move(show)) {}

  // One more wave. Before the first op.
  void declare();
  // In the order in which they were told. An op and its cycle come together.
  void apply(std::span<const WaveOp> ops);

 private:
  struct State {
    std::uint64_t value = 0;               // the latest that was set
    std::uint64_t shown = 0;               // the latest that was shown
    std::uint32_t generation = 0;          // of announcements: a set voids the earlier ones
    std::uint32_t flushed_generation = 0;  // as the latest step left it
    bool shown_known = false;
    bool dirty = false;      // set in this step
    bool scheduled = false;  // something may be announced
    bool collected = false;  // in the list of announced changes that take place
  };
  struct Announced {
    std::uint32_t wave;
    std::uint32_t generation;
    std::uint64_t value;
    bool difference;
  };
  // Of a pulse: 0 again.
  struct PulseEnd {
    std::uint32_t wave;
    std::uint32_t generation;
  };
  struct Later {
    Cycle at;
    std::uint64_t order;
    Announced change;
    friend bool operator>(const Later& a, const Later& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  };

  // From the first of some ops on, up to one that is no set, pulse or count: the first of what is left.
  const WaveOp* apply_sets(const WaveOp* op, const WaveOp* end);
  // An op that is none of those; its cycle stands behind it.
  void apply_other(const WaveOp* op);
  void announce(Cycle at, const Announced& change) { later_.push({at < latest_ ? latest_ : at, order_++, change}); }
  void forget(std::uint32_t wave);
  // What was announced for cycles up to `now`, then what was set in this step.
  void end_step(Cycle now);
  void pass_before(Cycle now);
  void collect_present(Cycle now);
  void collect(const Announced& announced, bool at_present);
  void collect_pulses(bool at_present);
  void add(std::uint32_t wave, std::uint64_t value);
  void show_changes(Cycle cycle);

  Show show_;
  std::vector<State> states_;
  std::vector<std::uint64_t> due_values_;  // of each wave's announced change that takes place
  std::vector<std::uint32_t> dirty_;  // set in this step: the first `dirty_count_`; there is room for all and one more
  std::size_t dirty_count_ = 0;
  std::vector<PulseEnd> next_;  // for the cycle after this step's: the first `next_count_`
  std::vector<PulseEnd> due_;   // for cycle due_at_, likewise
  std::size_t next_count_ = 0, due_count_ = 0;
  Cycle due_at_ = 0;
  std::priority_queue<Later, std::vector<Later>, std::greater<>> later_;
  std::uint64_t order_ = 0;
  std::vector<std::uint32_t> collected_;
  std::vector<WaveChange> changes_;  // with room for all and one more: the first `changes_count_`
  std::size_t changes_count_ = 0;
  Cycle latest_ = 0;  // of the steps so far
};

}  // namespace heddle::link
