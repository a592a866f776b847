// Orders the instructions of a basic block so that loads, and all that takes its time, begin early and what needs them
// comes late, for cores whose warps go on behind them (IssueDiscipline::Traits::stalls_on_use). List scheduling: of the
// instructions whose operands are there, the one from which the longest chain hangs goes first; where more words or
// predicates would be live than the limit, or than the block had at once before, the one that leaves fewest live.
//
// What stays in order: accesses to the same registers; loads behind stores, atomics and volatile accesses that may be
// to the same memory, and those behind loads; everything around exits, traps, prints, reads of clocks, and what else
// has an effect of its own; around barriers and fences what may access memory. Operations between lanes keep their
// order among each other and around barriers.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "ptx/backend/liveness.hpp"
#include "ptx/backend/spill.hpp"

namespace heddle::ptx::backend {

namespace {

// Cycles from an instruction to one that needs its result, roughly: a load from memory is far longer than anything
// that stands between the two.
constexpr unsigned kLoad = 200, kInCore = 24, kComplex = 16, kSimple = 4;
constexpr std::size_t kWindow = 512;  // instructions that are ordered among each other; bounds the time
constexpr std::size_t kMostPredicates = isa::kPT - 1;  // live at once; one is left for what the allocator needs

// What is live: words of general registers, and predicates.
struct Live {
  std::size_t words = 0, predicates = 0;
};

// What it reads may be another value later.
bool reads_clock(const IrInstruction& in) {
  return (in.op == isa::Op::S2R || in.op == isa::Op::S2R64) && !is_fixed_special(in.imm);
}

// Nothing passes it but, where it is a barrier or fence, what is pure.
bool is_fence(const MachineInstruction& instruction) {
  if (instruction.copy) return false;
  const isa::Op op = instruction.in.op;
  const bool only_memory = isa::is_store(op) || isa::is_atomic(op) || isa::is_accumulate(op) || isa::is_volatile(op);
  return (has_side_effect(instruction) && !only_memory) || reads_clock(instruction.in);
}

// What passes barriers and fences: it makes a value out of registers.
bool is_pure(const MachineInstruction& instruction) {
  if (instruction.copy) return true;
  const isa::Unit unit = isa::info(instruction.in.op).unit;
  const bool computes = unit == isa::Unit::alu || unit == isa::Unit::complex || unit == isa::Unit::half;
  return computes && !has_side_effect(instruction) && !reads_clock(instruction.in);
}
// A fence that these pass.
bool orders_memory_only(const MachineInstruction& instruction) {
  const isa::Op op = instruction.in.op;
  return !instruction.copy && (isa::info(op).unit == isa::Unit::barrier || op == isa::Op::MEMBAR);
}

// Of today's GPUs, which the order is for, in the unit of special functions.
bool converts(const IrInstruction& in) {
  isa::Instruction instruction;
  instruction.op = in.op;
  instruction.mods = in.mods;
  return isa::is_conversion_or_count(instruction);
}

unsigned latency_of(const MachineInstruction& instruction) {
  if (instruction.copy) return 1;  // usually none is left of it
  const isa::Op op = instruction.in.op;
  switch (isa::info(op).unit) {
    case isa::Unit::memory: {
      if (!isa::is_load(op) && !isa::is_texture(op) && !isa::is_atomic(op)) return kSimple;
      const isa::Space space = isa::is_texture(op) ? isa::Space::global : isa::space_of(op);
      const bool in_core = space == isa::Space::shared || space == isa::Space::constant || space == isa::Space::param;
      return in_core ? kInCore : kLoad;
    }
    case isa::Unit::complex:
    case isa::Unit::tensor:
      return kComplex;
    default:
      return converts(instruction.in) ? kComplex : kSimple;
  }
}

// Which memory an instruction may access: accesses of different kinds never meet.
enum class Memory : std::uint8_t { none, shared, local, global, any, constant };
Memory memory_of(const MachineInstruction& instruction) {
  const isa::Op op = instruction.in.op;
  if (instruction.copy || isa::info(op).unit != isa::Unit::memory) return Memory::none;
  if (isa::is_texture(op)) return Memory::constant;  // what a launch reads by textures it does not write
  if (isa::is_copy(op)) return Memory::any;
  switch (isa::space_of(op)) {
    case isa::Space::shared:
      return Memory::shared;
    case isa::Space::local:
      return Memory::local;
    case isa::Space::global:
      return Memory::global;
    case isa::Space::constant:
    case isa::Space::param:
      return Memory::constant;
    default:
      return Memory::any;
  }
}
bool may_meet(Memory one, Memory other) {
  return one == other || one == Memory::any || other == Memory::any;
}

class Window {
 public:
  Window(const MachineFunction& function, std::span<MachineInstruction> code) : function_(function), code_(code) {
    nodes_.resize(code.size());
    for (std::size_t i = 0; i != code.size(); ++i) depend(i);
    for (std::size_t i = code.size(); i-- != 0;) {
      Node& node = nodes_[i];
      node.height = latency_of(code[i]);
      for (const Edge& edge : node.after) {
        node.height = std::max(node.height, edge.latency + nodes_[edge.to].height);
      }
    }
  }

  // The instructions' numbers in their new order. `words`, `predicates`: what is live before them; at most `most` words
  // are to be so between them. `live_out`: whether a register is needed behind the window.
  template <class LiveOut>
  std::vector<std::size_t> order(const LiveRegisters& words, const LiveRegisters& predicates, std::size_t most,
                                 LiveOut live_out) {
    begin(words, predicates);
    const Live peak = peak_in_order(live_out);
    const Live limit{std::max(most, peak.words), std::max(kMostPredicates, peak.predicates)};
    begin(words, predicates);
    std::vector<std::size_t> ready, done;
    for (std::size_t i = 0; i != nodes_.size(); ++i) {
      if (nodes_[i].waits == 0) ready.push_back(i);
    }
    for (std::uint64_t cycle = 0; done.size() != nodes_.size(); ++cycle) {
      const std::size_t chosen = choose(ready, cycle, limit, live_out);
      const std::size_t i = ready[chosen];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
      cycle = std::max(cycle, nodes_[i].earliest);
      apply(i, live_out);
      done.push_back(i);
      for (const Edge& edge : nodes_[i].after) {
        Node& next = nodes_[edge.to];
        next.earliest = std::max(next.earliest, cycle + edge.latency);
        if (--next.waits == 0) ready.push_back(edge.to);
      }
    }
    return done;
  }

 private:
  struct Edge {
    std::size_t to;
    unsigned latency;
  };
  struct Node {
    std::vector<Edge> after;
    unsigned waits = 0;          // instructions that must come before and have not
    std::uint64_t height = 0;    // cycles to the end of the longest chain from here
    std::uint64_t earliest = 0;  // cycle in which its operands are there
  };
  struct Last {
    std::size_t write = kNobody;
    std::vector<std::size_t> reads;  // since then
  };
  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

  void edge(std::size_t from, std::size_t to, unsigned latency) {
    if (from == kNobody || from == to) return;
    nodes_[from].after.push_back({to, latency});
    ++nodes_[to].waits;
  }

  void depend(std::size_t i) {
    const MachineInstruction& instruction = code_[i];
    for_each_use(function_, instruction, [&](VReg reg, unsigned, unsigned) {
      Last& last = registers_[reg];
      if (last.write != kNobody) edge(last.write, i, latency_of(code_[last.write]));
      last.reads.push_back(i);
    });
    for_each_definition(function_, instruction, [&](VReg reg, unsigned, unsigned, unsigned) {
      Last& last = registers_[reg];
      edge(last.write, i, 1);
      for (const std::size_t read : last.reads) edge(read, i, 1);
      last = {i, {}};
    });
    if (is_fence(instruction)) {
      const bool passable = orders_memory_only(instruction);
      const std::size_t last = passable ? fence_ : wall_;
      for (std::size_t before = last == kNobody ? 0 : last; before != i; ++before) {
        if (!passable || !is_pure(code_[before])) edge(before, i, 1);
      }
      fence_ = i;
      if (!passable) wall_ = i;
      loads_.clear();
      effects_.clear();
      exchange_ = kNobody;
      return;
    }
    edge(is_pure(instruction) ? wall_ : fence_, i, 1);
    if (!instruction.copy && isa::info(instruction.in.op).unit == isa::Unit::warp) {
      edge(exchange_, i, 1);
      exchange_ = i;
    }
    const Memory memory = memory_of(instruction);
    if (memory == Memory::none) {
      return;
    }
    const bool effect = has_side_effect(instruction);
    for (const std::size_t before : effects_) {
      if (may_meet(memory_of(code_[before]), memory) || effect) edge(before, i, 1);
    }
    for (std::size_t k = 0; effect && k != loads_.size(); ++k) {
      if (may_meet(memory_of(code_[loads_[k]]), memory)) edge(loads_[k], i, 1);
    }
    (effect ? effects_ : loads_).push_back(i);
  }

  void begin(const LiveRegisters& words, const LiveRegisters& predicates) {
    live_ = {words.words(), predicates.words()};
    is_live_.assign(function_.registers.size(), false);
    for (const LiveRegisters* const kind : {&words, &predicates}) {
      for (const VReg reg : kind->registers()) is_live_[at(reg)] = true;
    }
    uses_.assign(function_.registers.size(), 0);
    for (const MachineInstruction& instruction : code_) {
      for_each_use(function_, instruction, [&](VReg reg, unsigned, unsigned) { ++uses_[at(reg)]; });
    }
    for (Node& node : nodes_) node.earliest = 0;
  }

  // What is live more when it has been done.
  struct Change {
    int words = 0, predicates = 0;
  };
  template <class LiveOut>
  Change change(std::size_t i, LiveOut live_out) const {
    Change more;
    const auto add = [&](VReg reg, int times) {
      const bool predicate = function_.is_predicate(reg);
      (predicate ? more.predicates : more.words) += times * static_cast<int>(function_.words(reg));
    };
    std::array<VReg, 8> here;  // what it reads, each as often as it does
    std::size_t count = 0;
    for_each_use(function_, code_[i], [&](VReg reg, unsigned, unsigned) { here[count++] = reg; });
    const auto times = [&](VReg reg) {
      return static_cast<unsigned>(std::count(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(count), reg));
    };
    for (std::size_t k = 0; k != count; ++k) {
      const bool seen = std::find(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(k), here[k]) !=
                        here.begin() + static_cast<std::ptrdiff_t>(k);
      if (!seen && is_live_[at(here[k])] && uses_[at(here[k])] == times(here[k]) && !live_out(here[k])) {
        add(here[k], -1);
      }
    }
    for_each_definition(function_, code_[i], [&](VReg reg, unsigned, unsigned, unsigned) {
      if (!is_live_[at(reg)] && (live_out(reg) || uses_[at(reg)] > times(reg))) add(reg, 1);
    });
    return more;
  }
  [[nodiscard]] static std::size_t at(VReg reg) { return static_cast<std::size_t>(reg); }

  template <class LiveOut>
  void apply(std::size_t i, LiveOut live_out) {
    const Change more = change(i, live_out);
    live_.words = static_cast<std::size_t>(static_cast<long>(live_.words) + more.words);
    live_.predicates = static_cast<std::size_t>(static_cast<long>(live_.predicates) + more.predicates);
    for_each_use(function_, code_[i], [&](VReg reg, unsigned, unsigned) {
      if (--uses_[at(reg)] == 0 && !live_out(reg)) is_live_[at(reg)] = false;
    });
    for_each_definition(function_, code_[i], [&](VReg reg, unsigned, unsigned, unsigned) {
      is_live_[at(reg)] = live_out(reg) || uses_[at(reg)] != 0;
    });
  }

  template <class LiveOut>
  Live peak_in_order(LiveOut live_out) {
    Live peak = live_;
    for (std::size_t i = 0; i != code_.size(); ++i) {
      apply(i, live_out);
      peak = {std::max(peak.words, live_.words), std::max(peak.predicates, live_.predicates)};
    }
    return peak;
  }

  template <class LiveOut>
  std::size_t choose(const std::vector<std::size_t>& ready, std::uint64_t cycle, const Live& limit,
                     LiveOut live_out) const {
    std::size_t best = 0;
    bool best_fits = false, best_there = false;
    Change best_more;
    for (std::size_t k = 0; k != ready.size(); ++k) {
      const std::size_t i = ready[k];
      const Change more = change(i, live_out);
      const bool fits =
          (more.words <= 0 || live_.words + static_cast<std::size_t>(more.words) <= limit.words) &&
          (more.predicates <= 0 || live_.predicates + static_cast<std::size_t>(more.predicates) <= limit.predicates);
      const bool there = nodes_[i].earliest <= cycle;
      const std::size_t other = ready[best];
      const auto better = [&] {
        if (k == 0) return true;
        if (fits != best_fits) return fits;
        if (!fits && more.predicates != best_more.predicates) return more.predicates < best_more.predicates;
        if (!fits && more.words != best_more.words) return more.words < best_more.words;
        if (there != best_there) return there;
        if (!there && nodes_[i].earliest != nodes_[other].earliest) return nodes_[i].earliest < nodes_[other].earliest;
        if (nodes_[i].height != nodes_[other].height) return nodes_[i].height > nodes_[other].height;
        return i < other;
      };
      if (better()) {
        best = k;
        best_fits = fits;
        best_there = there;
        best_more = more;
      }
    }
    return best;
  }

  const MachineFunction& function_;
  const std::span<MachineInstruction> code_;
  std::vector<Node> nodes_;
  std::map<VReg, Last> registers_;
  std::size_t fence_ = kNobody, wall_ = kNobody;  // the last fence, and the last one that nothing passes
  std::size_t exchange_ = kNobody;
  std::vector<std::size_t> loads_, effects_;  // behind the fence
  Live live_;
  std::vector<bool> is_live_;   // by register
  std::vector<unsigned> uses_;  // likewise, that are to come
};

// Of one kind of registers, where blocks begin and end.
struct Kind {
  Kind(const MachineFunction& function, bool predicates) : units(function, predicates), liveness(function, units) {}

  // What is live before each window of a block.
  [[nodiscard]] std::vector<LiveRegisters> before_windows(const Block& block, std::size_t number) const {
    const std::size_t count = block.code.size();
    std::vector<LiveRegisters> before((count + kWindow - 1) / kWindow, LiveRegisters(units));
    LiveRegisters live(units);
    liveness.walk(number, live, [&](std::size_t index) {  // `live`: after the instruction; the walk goes backwards
      if (index + 1 < count && (index + 1) % kWindow == 0) before[(index + 1) / kWindow] = live;
    });
    liveness.enter(number, before.front());
    return before;
  }
  [[nodiscard]] bool is_live_out(const MachineFunction& function, std::size_t number, VReg reg) const {
    bool any = false;
    for (unsigned word = 0; word != function.words(reg); ++word) {
      any = any || liveness.is_live_out(number, units.base(reg) + word);
    }
    return any;
  }

  Units units;
  Liveness liveness;
};

void schedule_block(MachineFunction& function, const Kind& general, const Kind& predicates, std::size_t number,
                    unsigned limit) {
  Block& block = function.blocks[number];
  const std::size_t count = block.code.size();
  const std::vector<LiveRegisters> words = general.before_windows(block, number);
  const std::vector<LiveRegisters> bits = predicates.before_windows(block, number);
  for (std::size_t window = 0; window != words.size(); ++window) {
    const std::size_t first = window * kWindow;
    const std::span<MachineInstruction> code = std::span(block.code).subspan(first, std::min(kWindow, count - first));
    const auto live_out = [&](VReg reg) {
      const bool predicate = function.is_predicate(reg);
      if (window + 1 != words.size()) return (predicate ? bits : words)[window + 1].mask(reg) != 0;
      return (predicate ? predicates : general).is_live_out(function, number, reg);
    };
    const std::vector<std::size_t> order = Window(function, code).order(words[window], bits[window], limit, live_out);
    std::vector<MachineInstruction> moved;
    moved.reserve(code.size());
    for (const std::size_t i : order) moved.push_back(code[i]);
    std::move(moved.begin(), moved.end(), code.begin());
  }
}

}  // namespace

void schedule(MachineFunction& function, unsigned limit) {
  if (limit == 0) return;
  const Kind general(function, false), predicates(function, true);
  for (std::size_t number = 0; number != function.blocks.size(); ++number) {
    function.interruption.check();
    if (!function.blocks[number].removed && function.blocks[number].code.size() > 1) {
      schedule_block(function, general, predicates, number, limit);
    }
  }
}

}  // namespace heddle::ptx::backend
