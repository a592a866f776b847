// Orders the instructions of a basic block so that loads begin early and what needs them comes late, for cores whose
// warps go on behind their loads (IssueDiscipline::Traits::stalls_on_use). List scheduling: of the instructions whose
// operands are there, the one from which the longest chain hangs goes first; where more words would be live than the
// limit, or than the block had at once before, the one that leaves fewest live.
//
// What stays in order: accesses to the same registers; loads behind stores, atomics and volatile accesses that may be
// to the same memory, and those behind loads; everything around barriers, fences, exits, traps, prints, reads of
// clocks, and what else has an effect of its own. Operations between lanes keep their order among each other.
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

// What it reads may be another value later.
bool reads_clock(const IrInstruction& in) {
  return (in.op == isa::Op::S2R || in.op == isa::Op::S2R64) && !is_fixed_special(in.imm);
}

// Nothing passes it.
bool is_fence(const MachineInstruction& instruction) {
  if (instruction.copy) return false;
  const isa::Op op = instruction.in.op;
  const bool only_memory = isa::is_store(op) || isa::is_atomic(op) || isa::is_accumulate(op) || isa::is_volatile(op);
  return (has_side_effect(instruction) && !only_memory) || reads_clock(instruction.in);
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
      return kComplex;
    default:
      return kSimple;
  }
}

// Which memory an instruction may access: accesses of different kinds never meet.
enum class Memory : std::uint8_t { none, shared, local, global, any, constant };
Memory memory_of(const MachineInstruction& instruction) {
  const isa::Op op = instruction.in.op;
  if (instruction.copy || isa::info(op).unit != isa::Unit::memory) return Memory::none;
  if (isa::is_texture(op)) return Memory::constant;  // what a launch reads by textures it does not write
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

  // The instructions' numbers in their new order. `live`: words that are live before them, at most `limit` to be so
  // between them. `live_out`: whether a register is needed behind the window.
  template <class LiveOut>
  std::vector<std::size_t> order(const LiveRegisters& live, std::size_t limit, LiveOut live_out) {
    begin(live, live_out);
    limit = std::max(limit, peak_in_order(live_out));
    begin(live, live_out);
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
      for (std::size_t before = fence_ == kNobody ? 0 : fence_; before != i; ++before) edge(before, i, 1);
      fence_ = i;
      loads_.clear();
      effects_.clear();
      exchange_ = kNobody;
      return;
    }
    edge(fence_, i, 1);
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

  template <class LiveOut>
  void begin(const LiveRegisters& live, LiveOut) {
    words_ = live.words();
    is_live_.assign(function_.registers.size(), false);
    for (const VReg reg : live.registers()) is_live_[at(reg)] = true;
    uses_.assign(function_.registers.size(), 0);
    for (const MachineInstruction& instruction : code_) {
      for_each_use(function_, instruction, [&](VReg reg, unsigned, unsigned) { ++uses_[at(reg)]; });
    }
    for (Node& node : nodes_) node.earliest = 0;
  }

  // Words that are live more when it has been done, of general registers.
  template <class LiveOut>
  int change(std::size_t i, LiveOut live_out) const {
    int more = 0;
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
        more -= words(here[k]);
      }
    }
    for_each_definition(function_, code_[i], [&](VReg reg, unsigned, unsigned, unsigned) {
      if (!is_live_[at(reg)] && (live_out(reg) || uses_[at(reg)] > times(reg))) more += words(reg);
    });
    return more;
  }
  [[nodiscard]] static std::size_t at(VReg reg) { return static_cast<std::size_t>(reg); }
  [[nodiscard]] int words(VReg reg) const {
    return function_.is_predicate(reg) ? 0 : static_cast<int>(function_.words(reg));
  }

  template <class LiveOut>
  void apply(std::size_t i, LiveOut live_out) {
    words_ = static_cast<std::size_t>(static_cast<long>(words_) + change(i, live_out));
    for_each_use(function_, code_[i], [&](VReg reg, unsigned, unsigned) {
      if (--uses_[at(reg)] == 0 && !live_out(reg)) is_live_[at(reg)] = false;
    });
    for_each_definition(function_, code_[i], [&](VReg reg, unsigned, unsigned, unsigned) {
      is_live_[at(reg)] = live_out(reg) || uses_[at(reg)] != 0;
    });
  }

  template <class LiveOut>
  std::size_t peak_in_order(LiveOut live_out) {
    std::size_t peak = words_;
    for (std::size_t i = 0; i != code_.size(); ++i) {
      apply(i, live_out);
      peak = std::max(peak, words_);
    }
    return peak;
  }

  template <class LiveOut>
  std::size_t choose(const std::vector<std::size_t>& ready, std::uint64_t cycle, std::size_t limit,
                     LiveOut live_out) const {
    std::size_t best = 0;
    bool best_fits = false, best_there = false;
    int best_more = 0;
    for (std::size_t k = 0; k != ready.size(); ++k) {
      const std::size_t i = ready[k];
      const int more = change(i, live_out);
      const bool fits = more <= 0 || words_ + static_cast<std::size_t>(more) <= limit;
      const bool there = nodes_[i].earliest <= cycle;
      const std::size_t other = ready[best];
      const auto better = [&] {
        if (k == 0) return true;
        if (fits != best_fits) return fits;
        if (!fits && more != best_more) return more < best_more;
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
  std::size_t fence_ = kNobody, exchange_ = kNobody;
  std::vector<std::size_t> loads_, effects_;  // behind the fence
  std::size_t words_ = 0;
  std::vector<bool> is_live_;   // by register
  std::vector<unsigned> uses_;  // likewise, that are to come
};

// True: some load takes long enough.
bool gains(std::span<const MachineInstruction> code) {
  return std::any_of(code.begin(), code.end(),
                     [](const MachineInstruction& instruction) { return latency_of(instruction) == kLoad; });
}

void schedule_block(MachineFunction& function, const Units& units, const Liveness& liveness, std::size_t number,
                    unsigned limit) {
  Block& block = function.blocks[number];
  // What is live before each window: the walk goes backwards.
  std::vector<LiveRegisters> before;
  const std::size_t count = block.code.size();
  const std::size_t windows = (count + kWindow - 1) / kWindow;
  before.reserve(windows);
  for (std::size_t window = 0; window != windows; ++window) before.emplace_back(units);
  LiveRegisters live(units);
  liveness.walk(number, live, [&](std::size_t index) {  // `live`: after the instruction
    if (index + 1 < count && (index + 1) % kWindow == 0) before[(index + 1) / kWindow] = live;
  });
  liveness.enter(number, before.front());
  for (std::size_t window = 0; window != windows; ++window) {
    const std::size_t first = window * kWindow;
    const std::span<MachineInstruction> code = std::span(block.code).subspan(first, std::min(kWindow, count - first));
    if (!gains(code)) continue;
    const auto live_out = [&](VReg reg) {
      if (!units.has(reg)) return true;
      if (window + 1 != windows) return before[window + 1].mask(reg) != 0;
      bool any = false;
      for (unsigned word = 0; word != function.words(reg); ++word) {
        any = any || liveness.is_live_out(number, units.base(reg) + word);
      }
      return any;
    };
    const std::vector<std::size_t> order = Window(function, code).order(before[window], limit, live_out);
    std::vector<MachineInstruction> moved;
    moved.reserve(code.size());
    for (const std::size_t i : order) moved.push_back(code[i]);
    std::move(moved.begin(), moved.end(), code.begin());
  }
}

}  // namespace

void schedule(MachineFunction& function, unsigned limit) {
  if (limit == 0) return;
  const Units units(function, false);
  const Liveness liveness(function, units);
  for (std::size_t number = 0; number != function.blocks.size(); ++number) {
    function.interruption.check();
    if (!function.blocks[number].removed && function.blocks[number].code.size() > 1) {
      schedule_block(function, units, liveness, number, limit);
    }
  }
}

}  // namespace heddle::ptx::backend
