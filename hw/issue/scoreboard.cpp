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
#include "hw/issue/dependence_board.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/issue/scoreboard.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/parameters/execution_time.hpp"

namespace heddle::hw {

namespace {

class Scoreboard : public IssueDiscipline {
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
        scratchpad_goes_on_(setup.scratchpad_goes_on),
        constants_go_on_(setup.constants_go_on) {}

  [[nodiscard]] bool release(const Group& group, const isa::Instruction&) const override {
    return group.flight().done();
  }
  [[nodiscard]] unsigned in_flight() const override { return own_.entries; }
  [[nodiscard]] unsigned refetch() const override { return own_.refetch; }

  [[nodiscard]] link::IssueRules rules(const link::DecodedInstruction& decoded) const override {
    const isa::Instruction& instruction = decoded.instruction;
    link::IssueRules rules;
    rules.outlasts = outlasts(decoded);
    rules.early = early(decoded, rules.outlasts);
    rules.waits_for_earlier = instruction.op == isa::Op::TRAP || isa::is_heap(instruction.op) ||
                              (complex_faults_ && decoded.unit == isa::Unit::complex);
    // It ends something for its threads, or tells others of what they have done, or would wait inside the pipeline. Of
    // warp.sync the lanes that come stay in this warp.
    rules.waits_for_all = (decoded.unit == isa::Unit::control && instruction.op != isa::Op::BRA &&
                           instruction.op != isa::Op::WARP_SYNC) ||
                          decoded.unit == isa::Unit::barrier || instruction.op == isa::Op::MEMBAR || decoded.by_guard ||
                          rules.waits_for_earlier;
    return rules;
  }

  void begin(const Group& group) override {
    if (group.id >= boards_.size()) {
      boards_.resize(group.id + std::size_t{1});
    }
    Board& board = boards_[group.id];
    board.live = board.outlasting = board.copies = board.by_themselves = 0;
  }
  void formed(const Group& group, const link::DecodedInstruction& decoded) override {
    Board& board = boards_[group.id];
    board.commits += decoded.instruction.op == isa::Op::ASYNC_COMMIT ? 1 : 0;
    if (!decoded.issue.outlasts || group.flight().done()) {
      return;
    }
    if (isa::is_bulk_copy(decoded.instruction.op) || arrives_after_copies(decoded.instruction)) {
      board.by_themselves |= std::uint32_t{1} << group.latest;
    } else if (isa::is_copy(decoded.instruction.op)) {
      board.copies |= std::uint32_t{1} << group.latest;
      board.commits_before[group.latest] = board.commits;
    }
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
    if (waits_for_copies(board, next.instruction)) {
      return Waits::for_memory;
    }
    const bool for_all = next.issue.waits_for_all;
    Waits waits = Waits::no;
    for (const unsigned flight : set_bits(for_all ? waited_for(board, next) : board.outlasting)) {
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
    if (!results_there(sub_warp, now)) {
      return false;
    }
    const isa::RegisterUse& use = sub_warp.decoded->use;
    const std::uint32_t own = std::uint32_t{1} << sub_warp.flight;
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
    Board& board = boards_[group.id];
    for (std::uint32_t* const flights : {&board.live, &board.outlasting, &board.copies, &board.by_themselves}) {
      *flights &= ~(std::uint32_t{1} << flight);
    }
  }

 protected:
  // No earlier instruction of the group that has read its operands still computes what this one reads or writes.
  [[nodiscard]] bool results_there(const link::SubWarp& sub_warp, Cycle now) const {
    const Board& board = boards_[sub_warp.group];
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
    return true;
  }
  // Its latest instruction outlasts others (outlasts()), and `next` waits for all of those.
  [[nodiscard]] Waits waits_for_all_before(const Group& group, const link::DecodedInstruction& next) const {
    const Board& board = boards_[group.id];
    if (waits_for_copies(board, next.instruction)) {
      return Waits::for_memory;
    }
    const std::uint32_t waited = next.issue.waits_for_all ? waited_for(board, next) : 0;
    if (waited == 0) {
      return Waits::no;
    }
    bool memory = false;
    for (const unsigned flight : set_bits(waited)) {
      memory = memory || board.results[flight].from_memory;
    }
    return memory ? Waits::for_memory : Waits::for_units;
  }

 private:
  [[nodiscard]] static bool arrives_at_object(const isa::Instruction& instruction) {
    return isa::is_atomic(instruction.op) && isa::is_of_barrier_object(instruction.atomic_op());
  }
  [[nodiscard]] static bool arrives_after_copies(const isa::Instruction& instruction) {
    return isa::is_atomic(instruction.op) && instruction.atomic_op() == isa::AtomicOp::after_copies;
  }
  // The core answers it itself, in the memory stage, in its turn.
  [[nodiscard]] bool stays_in_core(isa::Op op) const {
    if (!isa::is_load(op) && !isa::is_store(op) && !isa::is_atomic(op)) {
      return false;  // cond_acc has a way of its own out of the functional units; membar waits for others' stores
    }
    const isa::Space space = isa::space_of(op);
    return (space == isa::Space::shared && !scratchpad_goes_on_) ||
           ((space == isa::Space::constant || space == isa::Space::param) && !constants_go_on_);
  }
  [[nodiscard]] bool early(const link::DecodedInstruction& decoded, bool outlasts) const {
    const isa::Instruction& instruction = decoded.instruction;
    switch (decoded.unit) {
      case isa::Unit::control:
        return instruction.op == isa::Op::BRA && instruction.guard.always();
      case isa::Unit::barrier:
        return false;
      case isa::Unit::complex:
        return complex_is_simple_ || outlasts;
      case isa::Unit::half:
        return half_is_simple_ || outlasts;
      case isa::Unit::tensor:
        return outlasts;
      case isa::Unit::memory:
        return stays_in_core(instruction.op) || outlasts;
      case isa::Unit::alu:
      case isa::Unit::warp:
        break;
    }
    if (isa::is_heap(instruction.op)) {
      return false;
    }
    return !isa::is_tree_traverse(instruction.op) || prefix_is_simple_;
  }
  [[nodiscard]] bool outlasts(const link::DecodedInstruction& decoded) const {
    if (!on_use_) {
      return false;
    }
    switch (decoded.unit) {
      case isa::Unit::complex:
        return !complex_is_simple_ && !complex_faults_;
      case isa::Unit::half:
        return !half_is_simple_;
      case isa::Unit::tensor:
        return true;
      default:
        break;
    }
    const isa::Op op = decoded.instruction.op;
    const bool arrives =
        arrives_at_object(decoded.instruction) && decoded.instruction.dst == isa::kRZ && !stays_in_core(op);
    return arrives || isa::is_texture(op) || (isa::is_load(op) && !isa::is_volatile(op) && !stays_in_core(op)) ||
           (isa::is_store(op) && !isa::is_volatile(op) && !stores_wait_ && !stays_in_core(op));
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
    std::uint32_t copies = 0;  // bit f: flight f is a copy that outlasts others
    // Likewise: a copy in bulk, or an arrival behind copies.
    std::uint32_t by_themselves = 0;
    std::uint32_t commits = 0;                                    // groups of copies that have been closed
    std::array<std::uint32_t, Group::kFlights> commits_before{};  // likewise when a copy was formed
  };
  static_assert(Group::kFlights <= 32);

  // Of the instructions that outlast others, those that one waits for which waits for all. Barriers and fences do not
  // wait for copies, which nothing orders but waits for them (PTX ISA, "cp.async.wait_group", "mbarrier.try_wait").
  [[nodiscard]] std::uint32_t waited_for(const Board& board, const link::DecodedInstruction& next) const {
    const bool orders = next.unit == isa::Unit::barrier || next.instruction.op == isa::Op::MEMBAR;
    return orders ? board.outlasting & ~(board.copies | board.by_themselves) : board.outlasting;
  }
  // async.wait: copies of groups that must have ended are under way.
  [[nodiscard]] static bool waits_for_copies(const Board& board, const isa::Instruction& next) {
    if (next.op != isa::Op::ASYNC_WAIT) {
      return false;
    }
    for (const unsigned flight : set_bits(board.copies)) {
      if (next.imm == isa::kEveryCopy || std::uint64_t{board.commits_before[flight]} + next.imm < board.commits) {
        return true;
      }
    }
    return false;
  }

  const ScoreboardParameters own_;
  const bool on_use_, stores_wait_;
  const bool complex_is_simple_, complex_faults_, half_is_simple_, prefix_is_simple_;
  const bool scratchpad_goes_on_, constants_go_on_;
  std::vector<Board> boards_;  // by group
};

// Control bits instead of the comparison of registers: what outlasts others, and what waits for all of it, is as with a
// scoreboard, but a warp's next instruction goes when its wait mask and the stall count before it say so (MICRO 2025,
// section 4). The judge (hw/issue/dependence_board.hpp) sees each go. Behind it register read holds an instruction only
// where one before it was held up inside the pipeline, whose bubbles close up: in hardware everything behind would have
// kept its distance.
class ByControlBits final : public Scoreboard {
 public:
  static isa::ResultTime result_time(const CoreParameters& core, const isa::Instruction& instruction) {
    const auto fixed = [&core](unsigned in_units) {
      const unsigned cycles = bypass_time(core, in_units);
      return isa::ResultTime{cycles <= isa::ControlBits::kMostStall ? cycles : 0};
    };
    switch (unit_of(core.complex_conversions, instruction)) {
      case isa::Unit::memory:
      case isa::Unit::barrier:
      case isa::Unit::tensor:
        return {};
      case isa::Unit::complex:
        return complex_is_simple(core) && !core.division_trap ? fixed(simple_time(core)) : isa::ResultTime{};
      case isa::Unit::half:
        return fixed(half_time(core));
      case isa::Unit::alu:
      case isa::Unit::warp:
      case isa::Unit::control:
        break;
    }
    const bool late = isa::is_heap(instruction.op) ||
                      (isa::is_tree_traverse(instruction.op) && prefix_latency(core) > core.execute_stages);
    return late ? isa::ResultTime{} : fixed(simple_time(core));
  }
  static constexpr Traits traits{.overlaps = false,
                                 .early_next_pc = true,
                                 .stalls_on_use = Scoreboard::traits.stalls_on_use,
                                 .loads_ahead = Scoreboard::traits.loads_ahead,
                                 .result_time = &result_time};
  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    const auto refuse = [&found](const std::string& why) {
      found.push_back(
          {"core.issue", fmt::format("core.issue = \"control-bits\" {} or core.issue = \"scoreboard\"", why)});
    };
    const ScoreboardParameters& own = machine.core.policies.of<ScoreboardParameters>();
    if (machine.icache.instruction_bytes < 16) {
      refuse(
          fmt::format("has its bits in the second half of words of 16 bytes, and icache.instruction_bytes is {}; use "
                      "icache.instruction_bytes = 16",
                      machine.icache.instruction_bytes));
    }
    if (machine.core.sub_cores == 1) {
      refuse(
          "is of cores with sub-cores, whose warps wait in front of their own scheduler; use core.sub_cores above 1");
    }
    if (own.stall != "on-use") {
      refuse(fmt::format(
          "waits for loads by counters, and scoreboard.stall = \"{}\" keeps warps from going on behind them; use "
          "scoreboard.stall = \"on-use\"",
          own.stall));
    }
    if (!own.forwarding) {
      refuse("has stall counts up to 15, after which results come by bypasses; use scoreboard.forwarding = true");
    }
  }
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.mechanism("control bits");
    lines.add(CostLine::Kind::counted, "dependence counters and stall count",
              fmt::format("{} warps x (6 x 6 + 4 + 1)", shape.pool), shape.pool * 41,
              "MICRO 2025, section 4: six counters of 6 bits, stall counter, yield");
  }

  explicit ByControlBits(const Setup& setup) : Scoreboard(setup), core_(setup.core) {}

  [[nodiscard]] link::IssueRules rules(const link::DecodedInstruction& decoded) const override {
    link::IssueRules rules = Scoreboard::rules(decoded);
    rules.result_time = result_time(core_, decoded.instruction);
    return rules;
  }
  void begin(const Group& group) override {
    Scoreboard::begin(group);
    dependences_.begin(group);
  }
  void formed(const Group&, const link::DecodedInstruction&) override {}  // issued() has noted it
  [[nodiscard]] std::string issued(const Group& group, const link::DecodedInstruction& next, Cycle now) override {
    Scoreboard::formed(group, next);
    return dependences_.issued(group, next, now);
  }
  [[nodiscard]] Cycle next_issue(const Group& group) const override { return dependences_.next_issue(group.id); }
  [[nodiscard]] Waits waits_for(const Group& group, const link::DecodedInstruction& next) const override {
    switch (dependences_.open(group.id, next.instruction.control.wait)) {
      case DependenceBoard::Open::memory:
        return Waits::for_memory;
      case DependenceBoard::Open::units:
        return Waits::for_units;
      case DependenceBoard::Open::none:
        break;
    }
    return waits_for_all_before(group, next);
  }
  [[nodiscard]] bool read(const link::SubWarp& sub_warp, Cycle now) override {
    return dependences_.counted(sub_warp.group, sub_warp.flight) ? results_there(sub_warp, now)
                                                                 : Scoreboard::read(sub_warp, now);
  }
  [[nodiscard]] bool operands_read(const link::SubWarp& sub_warp) override {
    return sub_warp.last && dependences_.operands_read(sub_warp.group, sub_warp.flight);
  }
  [[nodiscard]] bool computed(const link::SubWarp& sub_warp, Cycle last) override {
    return !dependences_.counted(sub_warp.group, sub_warp.flight) && Scoreboard::computed(sub_warp, last);
  }
  void completed(const Group& group, unsigned flight) override {
    Scoreboard::completed(group, flight);
    dependences_.completed(group.id, flight);
  }

 private:
  const CoreParameters& core_;
  DependenceBoard dependences_;
};

const Register<IssueDiscipline, Scoreboard> scoreboard_entry{
    "scoreboard", "as soon as its next PC is known; a scoreboard holds what depends on results in flight"};
const Register<IssueDiscipline, ByControlBits> control_bits_entry{
    "control-bits", "as scoreboard, by the compiler's stall counts and dependence counters instead"};

}  // namespace

}  // namespace heddle::hw
