// Loops of one block, several iterations at a time: fewer tests and branches, and loads of several iterations that the
// scheduler can put together. Those of several blocks are unroll_blocks.cpp's.
//
// A loop's counter is a register that each iteration changes by a constant, and that its test compares with something
// which the loop leaves alone. Where the count of iterations is known, the loop becomes as many copies of its body, or,
// if they would be too long, a loop of so many copies as divide the count. Where the count is not known, a loop of
// `times` copies goes first, for as long as so many iterations are left to a thread, and the loop as it was does the
// rest. That loop has no operations between lanes, barriers and exits, since threads that have fewer iterations left
// are not with the others then; a loop with a known count has the same threads in each copy as in each iteration.
//
// Registers that change by constants keep their first value throughout all copies: loads and stores have the difference
// in their offset, others get a sum of their own. What is only meant for its own iteration has a register in each copy.
//
// How far it goes is what ptxas 13.0 was seen to do for sm_75, sm_80 and sm_90 with loops of 1 to 64 instructions
// beside their counters (number of copies in the machine code): four iterations at a time up to some 40 instructions
// with an access to memory, some 20 without; in full up to 500 to 2,000 instructions, of which the least is taken here;
// not by four with atomics, and in full only with predicated stores to global memory.
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ptx/backend/loop_body.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

using isa::Comparison;
using isa::Op;

namespace {

constexpr std::size_t kMostWithMemory = 40, kMostWithout = 20;  // of a loop whose count is not known
constexpr std::size_t kMostInFull = 512;
constexpr std::size_t kMostAtATime = 256;  // of copies that a loop with a known count is made of
constexpr std::uint64_t kMostCopies = 32;  // of those
constexpr std::size_t kMostGrowth = 4096;  // instructions that a kernel gains

class Loop {
 public:
  // The block `at`; `exit` is where it leads behind the loop, by its number when `live` was found.
  Loop(MachineFunction& function, int at, int exit, const LiveEverywhere& live)
      : function_(function), at_(at), body_(function, at, exit, live) {
    exit_ = block().taken == at ? block().next : block().taken;
  }

  // True: it has been changed. `growth`: instructions that the kernel may still gain.
  bool unroll(unsigned times, bool lockstep, std::size_t& growth, const std::vector<std::vector<int>>& before) {
    if (!body_.find()) return false;
    const std::size_t size = body_.instructions(), all = block().code.size();  // moves may go, or stay
    const auto fits = [&](std::uint64_t copies, std::size_t most) {
      return copies * size <= most && copies * all <= 2 * most && copies * all <= growth;
    };
    const auto grown = [&](std::uint64_t copies, bool done) {
      if (done) growth -= copies * all;
      return done;
    };
    const std::optional<std::uint64_t> count = body_.counted().count(before);
    if (count && fits(*count, kMostInFull) && grown(*count, in_full(*count))) return true;
    if (body_.has_guarded_stores()) return false;
    if (count) {
      for (std::uint64_t copies = kMostCopies; copies > 1; --copies) {
        if (*count % copies == 0 && fits(copies, kMostAtATime)) return grown(copies, by_divisor(copies));
      }
    }
    if (lockstep || !body_.may_part() || body_.has_atomics() || (count && *count < times)) return false;
    if (!fits(times, times * (body_.has_memory() ? kMostWithMemory : kMostWithout))) return false;
    return grown(times, with_rest(test().goes_on == Comparison::ne ? std::bit_floor(times) : times));
  }

 private:
  [[nodiscard]] const LoopTest& test() const { return body_.counted().test(); }
  Block& block() { return function_.blocks[static_cast<std::size_t>(at_)]; }
  [[nodiscard]] const Block& block() const { return function_.blocks[static_cast<std::size_t>(at_)]; }

  bool in_full(std::uint64_t count) {
    std::vector<MachineInstruction> code;
    if (!body_.copy(count, true, code)) return false;
    block().code = std::move(code);
    block().taken = kNoBlock;
    block().next = exit_;
    return true;
  }

  bool by_divisor(std::uint64_t copies) {
    std::vector<MachineInstruction> code;
    if (!body_.copy(copies, false, code)) return false;
    body_.compare_again(code);
    code.push_back(std::move(block().code.back()));
    block().code = std::move(code);
    block().keep_loop = true;
    return true;
  }

  // Blocks before the loop: whether it is worth while, the copies, whether there is a rest.
  bool with_rest(unsigned times) {
    if (times < 2 || at_ == 0) return false;
    Block ahead, copies, rest;
    if (!body_.copy(times, false, copies.code)) return false;
    const IrInstruction branch = block().code.back().in;
    const VReg enough = function_.make(1, true), again = function_.make(1, true);
    const bool prepared = test().goes_on == Comparison::ne
                              ? prepare_end(times, enough, ahead.code, again, copies.code)
                              : prepare_limit(times, enough, ahead.code, again, copies.code);
    if (!prepared) return false;
    ahead.code.push_back(make_branch(enough, branch.at));
    copies.code.push_back(make_branch(again, branch.at));
    body_.compare_again(rest.code);
    rest.code.push_back(block().code.back());
    insert(std::move(ahead), std::move(copies), std::move(rest));
    return true;
  }

  static MachineInstruction make_branch(VReg guard, const Position& at) {
    MachineInstruction branch;
    branch.in.op = Op::BRA;
    branch.in.guard = {guard, false};
    branch.in.at = at;
    return branch;
  }

  MachineInstruction make(Op narrow, Op wide, VReg to, VReg a) const {
    MachineInstruction one;
    one.in.op = test().numbers.wide ? wide : narrow;
    one.in.dst = to;
    one.in.a = a;
    one.in.at = block().code[test().at].in.at;
    return one;
  }
  VReg fresh() { return function_.make(test().numbers.wide ? 2 : 1); }

  MachineInstruction compare(VReg result, Comparison comparison, VReg a, VReg b, std::int64_t constant) const {
    MachineInstruction one = make(Op::SETP_U32, Op::SETP_U64, kNone, a);
    one.in.op = block().code[test().at].in.op;
    one.in.p = result;
    one.in.sub = static_cast<std::uint8_t>(comparison);
    one.in.b = b;
    one.in.immediate = b == kNone;
    one.in.imm = b == kNone ? static_cast<std::uint32_t>(constant) : 0;
    return one;
  }

  // A register with a constant of the counter's size.
  VReg constant(std::int64_t value, std::vector<MachineInstruction>& code) {
    const VReg to = fresh();
    append_constant(to, function_.words(to), static_cast<std::uint64_t>(value), block().code[test().at].in.at, code);
    return to;
  }

  // A counter that comes to its bound: by whole groups of iterations to the last one that does not pass it. The count
  // is modulo 2^32 or 2^64, as the counter is; that of all numbers becomes none, which leaves them to the rest.
  bool prepare_end(unsigned times, VReg enough, std::vector<MachineInstruction>& ahead, VReg again,
                   std::vector<MachineInstruction>& copies) {
    const auto group = static_cast<std::int64_t>(times * body_.counted().magnitude());
    const VReg bound = test().bound != kNone ? test().bound : constant(test().constant, ahead);
    VReg left = fresh();
    const bool up = test().step > 0;
    const VReg counter = body_.compared(test().counter, ahead);
    MachineInstruction difference = make(Op::SUB, Op::SUB64, left, up ? bound : counter);
    difference.in.b = up ? counter : bound;
    ahead.push_back(std::move(difference));
    if (test().ahead != test().step) {
      const VReg more = fresh();
      ahead.push_back(make_sum(function_, more, left, static_cast<std::int64_t>(body_.counted().magnitude()),
                               block().code[test().at].in.at));
      left = more;
    }
    const VReg whole = fresh(), end = fresh();
    MachineInstruction groups = make(Op::AND, Op::AND64, whole, left);
    groups.in.immediate = true;
    groups.in.imm = static_cast<std::uint32_t>(-group);
    ahead.push_back(std::move(groups));
    MachineInstruction last = make(up ? Op::ADD : Op::SUB, up ? Op::ADD64 : Op::SUB64, end, counter);
    last.in.b = whole;
    ahead.push_back(std::move(last));
    ahead.push_back(compare(enough, Comparison::ne, whole, kNone, 0));
    copies.push_back(compare(again, Comparison::ne, body_.compared(test().counter, copies), end, 0));
    return true;
  }

  // A counter that passes its bound: as long as the last test but one of a group would go on.
  bool prepare_limit(unsigned times, VReg enough, std::vector<MachineInstruction>& ahead, VReg again,
                     std::vector<MachineInstruction>& copies) {
    // A counter that changes behind its test may be past the last number when the next group begins.
    if (test().ahead != test().step) return false;
    const std::int64_t further = (static_cast<std::int64_t>(times) - 1) * test().step;
    const Numbers& numbers = test().numbers;
    const VReg counter = body_.compared(test().counter, ahead);
    const VReg behind = body_.compared(test().counter, copies);
    if (test().bound == kNone) {
      std::int64_t limit = 0;
      if (__builtin_sub_overflow(test().constant, further, &limit) || !fits_immediate(limit) ||
          !fits_immediate(test().constant) || (!numbers.is_signed && (limit < 0 || test().constant < 0))) {
        return false;
      }
      ahead.push_back(compare(enough, test().goes_on, counter, kNone, limit));
      copies.push_back(compare(again, test().goes_on, behind, kNone, limit));
      return true;
    }
    // The limit is a number as long as the bound is not nearer than that to the last number in its direction.
    const bool up = test().step > 0;
    std::int64_t edge = 0;
    if (numbers.wide) {
      edge = numbers.is_signed
                 ? (up ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max())
                 : (up ? 0 : -1);
    } else {
      edge = numbers.is_signed
                 ? (up ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int32_t>::max())
                 : (up ? 0 : std::int64_t{std::numeric_limits<std::uint32_t>::max()});
    }
    edge += further;
    const VReg limit = fresh(), possible = function_.make(1, true), begins = function_.make(1, true);
    ahead.push_back(make_sum(function_, limit, test().bound, -further, block().code[test().at].in.at));
    const Comparison inside = up ? Comparison::ge : Comparison::le;
    if (numbers.wide && !fits_immediate(edge)) {
      ahead.push_back(compare(possible, inside, test().bound, constant(edge, ahead), 0));
    } else {
      ahead.push_back(compare(possible, inside, test().bound, kNone, edge));
    }
    ahead.push_back(compare(begins, test().goes_on, counter, limit, 0));
    MachineInstruction both;
    both.in.op = Op::PLOP;
    both.in.mods = static_cast<std::uint32_t>(isa::BoolOp::and_) << 8U;
    both.in.p = enough;
    both.in.pa = {possible, false};
    both.in.pb = {begins, false};
    both.in.at = block().code[test().at].in.at;
    ahead.push_back(std::move(both));
    copies.push_back(compare(again, test().goes_on, behind, limit, 0));
    return true;
  }

  // ahead, copies, rest and the loop, one behind the other. Who came to the loop from elsewhere comes to the first one.
  void insert(Block ahead, Block copies, Block rest) {
    constexpr int kMore = 3;
    const int second = at_ + 1, third = at_ + 2, loop = at_ + kMore;
    const int exit = exit_ > at_ ? exit_ + kMore : exit_;
    const bool taken = block().taken == at_;
    block().keep_loop = true;
    ahead.taken = second;
    ahead.next = loop;
    copies.taken = second;
    copies.next = third;
    copies.keep_loop = true;
    rest.taken = taken ? loop : exit;
    rest.next = taken ? exit : loop;
    std::vector<Block> more;
    more.push_back(std::move(ahead));
    more.push_back(std::move(copies));
    more.push_back(std::move(rest));
    for (Block& one : function_.blocks) {
      for (int* to : {&one.taken, &one.next}) {
        if (*to > at_) *to += kMore;
      }
    }
    function_.blocks.insert(function_.blocks.begin() + at_, std::make_move_iterator(more.begin()),
                            std::make_move_iterator(more.end()));
    Block& last = function_.blocks[static_cast<std::size_t>(loop)];
    (taken ? last.taken : last.next) = loop;
  }

  MachineFunction& function_;
  int at_;
  int exit_ = kNoBlock;
  LoopBody body_;
};

bool is_loop(const MachineFunction& function, int at) {
  const Block& block = function.blocks[static_cast<std::size_t>(at)];
  return !block.removed && !block.keep_loop && (block.taken == at || block.next == at) && block.taken != block.next &&
         block.taken != kNoBlock && block.next != kNoBlock;
}

// Loops whose exit ends the thread: the branch was made a guarded EXIT. It becomes a branch to one again.
void part_from_exits(MachineFunction& function) {
  int end = kNoBlock;
  for (const NaturalLoop& loop : natural_loops(function, Dominators(function))) {
    for (const int latch : loop.latches) {
      const Block& block = function.blocks[static_cast<std::size_t>(latch)];
      if (block.taken != kNoBlock || block.code.empty()) continue;
      const IrInstruction last = block.code.back().in;
      if (block.code.back().copy || last.op != Op::EXIT || last.guard.reg == kNone) continue;
      if (end == kNoBlock) {
        end = static_cast<int>(function.blocks.size());
        Block exit;
        exit.code.resize(1);
        exit.code.front().in.op = Op::EXIT;
        exit.code.front().in.at = last.at;
        function.blocks.push_back(std::move(exit));
      }
      Block& parted = function.blocks[static_cast<std::size_t>(latch)];
      parted.code.back().in.op = Op::BRA;
      parted.taken = end;
    }
  }
}

// A loop of one block that leads behind itself by its branch, and goes round by a jump: it goes round by its branch.
void turn_loops(MachineFunction& function) {
  for (std::size_t b = 0; b != function.blocks.size(); ++b) {
    Block& block = function.blocks[b];
    if (block.removed || block.taken == kNoBlock || block.next != static_cast<int>(b) || block.taken == block.next)
      continue;
    VPred& guard = block.code.back().in.guard;
    guard.negated = !guard.negated;
    std::swap(block.taken, block.next);
  }
}

// All loops of one block as it stands now; an outer one may be of one block when its inner ones are gone.
bool unroll_round(MachineFunction& function, unsigned times, bool lockstep, std::size_t& growth) {
  std::vector<std::pair<int, int>> loops;  // and where they lead
  for (std::size_t b = 0; b != function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    const int at = static_cast<int>(b);
    if (is_loop(function, at)) loops.emplace_back(at, block.taken == at ? block.next : block.taken);
  }
  if (loops.empty()) return false;
  const LiveEverywhere live(function);
  std::vector<std::vector<int>> before = predecessors(function);
  bool changed = false;
  // From the last one on: blocks that are inserted change the numbers of those behind them.
  for (std::size_t i = loops.size(); i-- != 0;) {
    const auto [at, exit] = loops[i];
    const std::size_t blocks = function.blocks.size();
    if (Loop(function, at, exit, live).unroll(times, lockstep, growth, before)) {
      changed = true;
      if (function.blocks.size() != blocks) before = predecessors(function);
    } else {
      function.blocks[static_cast<std::size_t>(at)].keep_loop = true;
    }
    function.interruption.check();
  }
  return changed;
}

}  // namespace

void unroll(MachineFunction& function, const CodeOptions& code, bool lockstep) {
  if (code.unroll < 2) return;
  std::size_t growth = kMostGrowth;
  const auto clean = [&] {
    clean_up(function);
    fold_constants(function);
    narrow_sums(function);
    narrow_words(function);
    clean_up(function);
    share_values(function);
    clean_up(function);
    simplify_control_flow(function);
  };
  bool changed = false, of_blocks = true;
  while (of_blocks) {
    part_from_exits(function);
    while (unroll_round(function, code.unroll, lockstep, growth)) {
      changed = true;
      simplify_control_flow(function);
      part_from_exits(function);
    }
    // What was too long for predication may have become short, now that the counter is a number.
    of_blocks = unroll_blocks(function, growth);
    if (of_blocks) {
      simplify_control_flow(function);
      clean();
      convert_ifs(function, code);
      changed = true;
    }
  }
  if (changed) clean();
  simplify_control_flow(function);
  turn_loops(function);
}

}  // namespace heddle::ptx::backend
