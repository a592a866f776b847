// Early next PC and a scoreboard. A warp's next PC is known when its instruction is decoded, but for a branch with a
// condition, an exit or a barrier; it is fetched again in that cycle, so that one warp can fill the pipeline by itself
// (DWS report, table 3: in order, one instruction per cycle). The scoreboard notes the registers and predicates that a
// warp's instructions in flight will write; one that reads or writes any of them waits before it reads its operands
// (read after write, write after write). What is read is read in program order, so that no write comes before an
// earlier read.
//
// scoreboard.stall = on-access: an access to memory beyond the core keeps its warp until it has completed ("switches
// when a group accesses the D-cache", DWS report, table 3), and so does an operation that is longer in the functional
// units than the execute stages: the warp's instructions retire in their order, and one that waits for long holds up no
// other warp, as it would in register read. Operations that can fault in the functional units wait for what is before
// them, so that the first fault is the program's first. malloc and free keep their place among a thread's accesses to
// memory likewise: they wait for what is before them, and what comes after waits for them.
//
// scoreboard.stall = on-use: such loads, posted stores and long operations outlast the instructions behind them. What
// reads or writes their results waits in front of the pipeline until they have completed, as in the instruction buffers
// of today's GPUs (MICRO 2025, section 5.1: a warp is eligible when what it needs is there), and so do exits, barriers
// and fences, for everything. Results of operations on halves, which take little longer than the execute stages, are
// forwarded: what reads them waits in register read. Atomics and volatile loads keep their warp: what comes after them
// in the program must not be seen before them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/set_bits.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/issue/scoreboard.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/parameters/execution_time.hpp"

namespace heddle::hw {

namespace {

class Scoreboard final : public IssueDiscipline {
 public:
  static constexpr Traits traits{
      .overlaps = false,
      .early_next_pc = true,
      .stalls_on_use =
          [](const CoreParameters& core) { return core.policies.of<ScoreboardParameters>().stall == "on-use"; },
      .loads_ahead = [](const CoreParameters& core) { return core.policies.of<ScoreboardParameters>().loads_ahead; }};
  using Parameters = ScoreboardParameters;
  static void cost(const CostShape& shape, CostLines& lines) {
    const unsigned registers = most_registers(shape.machine);
    lines.mechanism("scoreboard");
    lines.add(CostLine::Kind::estimated, "registers in flight",
              fmt::format("{} warps x (registers {} + predicates {})", shape.pool, registers, isa::kPredicates),
              shape.pool * (registers + isa::kPredicates), "own estimate: a bit each, per warp");
  }

  explicit Scoreboard(const Setup& setup)
      : own_(setup.core.policies.of<ScoreboardParameters>()),
        on_use_(traits.stalls_on_use(setup.core)),
        stores_wait_(setup.core.stores == "waited"),
        complex_is_simple_(complex_is_simple(setup.core) && !setup.core.division_trap),
        complex_faults_(setup.core.division_trap),
        half_is_simple_(half_is_simple(setup.core)),
        prefix_is_simple_(prefix_latency(setup.core) <= setup.core.execute_stages),
        scratchpad_goes_on_(setup.scratchpad_goes_on) {}

  [[nodiscard]] bool release(const Group& group, const isa::Instruction&) const override {
    return group.flight().done();
  }
  [[nodiscard]] unsigned in_flight() const override { return own_.entries; }
  [[nodiscard]] unsigned refetch() const override { return own_.refetch; }

  [[nodiscard]] bool early(const isa::Instruction& instruction) const override {
    switch (isa::info(instruction.op).unit) {
      case isa::Unit::control:
        return instruction.op == isa::Op::BRA && instruction.guard.always();
      case isa::Unit::barrier:
        return false;
      case isa::Unit::complex:
        return complex_is_simple_ || outlasts(instruction);
      case isa::Unit::half:
        return half_is_simple_ || outlasts(instruction);
      case isa::Unit::memory:
        return stays_in_core(instruction.op) || outlasts(instruction);
      case isa::Unit::alu:
      case isa::Unit::warp:
        break;
    }
    if (isa::is_heap(instruction.op)) {
      return false;
    }
    return !isa::is_tree_traverse(instruction.op) || prefix_is_simple_;
  }
  [[nodiscard]] bool waits_for_earlier(const isa::Instruction& instruction) const override {
    return instruction.op == isa::Op::TRAP || isa::is_heap(instruction.op) ||
           (complex_faults_ && isa::info(instruction.op).unit == isa::Unit::complex);
  }

  void begin(const Group& group) override {
    if (group.id >= boards_.size()) {
      boards_.resize(group.id + std::size_t{1});
    }
    boards_[group.id].live = boards_[group.id].outlasting = 0;
  }
  void formed(const Group& group, const link::DecodedInstruction& decoded) override {
    if (!outlasts(decoded.instruction)) {
      return;
    }
    Board& board = boards_[group.id];
    board.outlasting |= std::uint32_t{1} << group.latest;
    if (decoded.unit == isa::Unit::half) {
      board.results[group.latest] = {};  // forwarded: who reads it waits for it in register read
      return;
    }
    board.results[group.latest] = {decoded.use.written, decoded.use.predicates_written,
                                   decoded.unit == isa::Unit::memory};
  }
  [[nodiscard]] Waits waits_for(const Group& group, const link::DecodedInstruction& next) const override {
    const Board& board = boards_[group.id];
    if (board.outlasting == 0) {
      return Waits::no;
    }
    const bool for_all = waits_for_all(next);
    Waits waits = Waits::no;
    for (const unsigned flight : set_bits(board.outlasting)) {
      const Results& results = board.results[flight];
      if (for_all || results.registers.meets(next.use.read | next.use.written) ||
          (results.predicates & (next.use.predicates_read | next.use.predicates_written)) != 0) {
        if (results.from_memory) {
          return Waits::for_memory;
        }
        waits = Waits::for_units;
      }
    }
    return waits;
  }
  [[nodiscard]] bool read(const link::SubWarp& sub_warp, Cycle now) override {
    Board& board = boards_[sub_warp.group];
    const isa::RegisterUse& use = sub_warp.decoded->use;
    const std::uint32_t own = std::uint32_t{1} << sub_warp.flight;
    for (const unsigned flight : set_bits(board.live & ~own)) {
      const Entry& entry = board.entries[flight];
      const bool there = entry.computing == 0 && entry.last <= now;
      if (!there && (entry.registers.meets(use.read | use.written) ||
                     (entry.predicates & (use.predicates_read | use.predicates_written)) != 0)) {
        return false;
      }
    }
    Entry& entry = board.entries[sub_warp.flight];
    if ((board.live & own) == 0) {
      board.live |= own;
      entry = {use.written, use.predicates_written, 0, 0};
    }
    ++entry.computing;
    return true;
  }
  [[nodiscard]] bool computed(const link::SubWarp& sub_warp, Cycle last) override {
    if (!own_.forwarding || sub_warp.decoded->unit == isa::Unit::memory ||
        sub_warp.decoded->unit == isa::Unit::barrier) {
      return false;
    }
    Entry& entry = boards_[sub_warp.group].entries[sub_warp.flight];
    --entry.computing;
    entry.last = std::max(entry.last, last);
    return true;
  }
  void completed(const Group& group, unsigned flight) override {
    boards_[group.id].live &= ~(std::uint32_t{1} << flight);
    boards_[group.id].outlasting &= ~(std::uint32_t{1} << flight);
  }

 private:
  // The core answers it itself, in the memory stage, in its turn.
  [[nodiscard]] bool stays_in_core(isa::Op op) const {
    if (!isa::is_load(op) && !isa::is_store(op) && !isa::is_atomic(op)) {
      return false;  // cond_acc has a way of its own out of the functional units; membar waits for others' stores
    }
    const isa::Space space = isa::space_of(op);
    return (space == isa::Space::shared && !scratchpad_goes_on_) || space == isa::Space::constant ||
           space == isa::Space::param;
  }
  // The group's next instructions need not wait until it has completed.
  [[nodiscard]] bool outlasts(const isa::Instruction& instruction) const {
    if (!on_use_) {
      return false;
    }
    if (isa::info(instruction.op).unit == isa::Unit::complex) {
      return !complex_is_simple_ && !complex_faults_;
    }
    if (isa::info(instruction.op).unit == isa::Unit::half) {
      return !half_is_simple_;
    }
    return isa::is_texture(instruction.op) ||
           (isa::is_load(instruction.op) && !isa::is_volatile(instruction.op) && !stays_in_core(instruction.op)) ||
           (isa::is_store(instruction.op) && !isa::is_volatile(instruction.op) && !stores_wait_ &&
            !stays_in_core(instruction.op));
  }
  // It ends something for its threads, or tells others of what they have done, or would wait inside the pipeline.
  [[nodiscard]] bool waits_for_all(const link::DecodedInstruction& next) const {
    const isa::Instruction& instruction = next.instruction;
    const bool syncs = instruction.op == isa::Op::WARP_SYNC;  // the lanes that come stay in this warp
    return (next.unit == isa::Unit::control && instruction.op != isa::Op::BRA && !syncs) ||
           next.unit == isa::Unit::barrier || instruction.op == isa::Op::MEMBAR || next.by_guard ||
           waits_for_earlier(instruction);
  }

  // What an instruction that outlasts others will write.
  struct Results {
    isa::RegisterSet registers;
    std::uint8_t predicates = 0;
    bool from_memory = false;
  };
  // What an instruction in flight will write.
  struct Entry {
    isa::RegisterSet registers;
    std::uint8_t predicates = 0;
    unsigned computing = 0;  // sub-warps that have read their operands and whose results cannot be read yet
    Cycle last = 0;          // of its other sub-warps: the last cycle in the functional units
  };
  struct Board {
    std::uint32_t live = 0;  // bit f: flight f has read operands and has not completed
    std::array<Entry, Group::kFlights> entries{};
    std::uint32_t outlasting = 0;  // bit f: flight f outlasts others, and has not completed
    std::array<Results, Group::kFlights> results{};
  };
  static_assert(Group::kFlights <= 32);

  const ScoreboardParameters own_;
  const bool on_use_, stores_wait_;
  const bool complex_is_simple_, complex_faults_, half_is_simple_, prefix_is_simple_;
  const bool scratchpad_goes_on_;
  std::vector<Board> boards_;  // by group
};

const Register<IssueDiscipline, Scoreboard> scoreboard_entry{
    "scoreboard", "as soon as its next PC is known; a scoreboard holds what depends on results in flight"};

}  // namespace

}  // namespace heddle::hw
