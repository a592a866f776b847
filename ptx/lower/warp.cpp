// Between threads: vote shfl match redux elect activemask, and barriers (PTX ISA, sections 9.7.9.5, 9.7.9.6, 9.7.13).
#include <array>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

constexpr std::uint64_t kBarriers = 16;

// b as an immediate where it may be one.
void set_b(Selector& s, IrInstruction& instruction, const Value& b) {
  if (b.constant) {
    instruction.immediate = true;
    instruction.imm = static_cast<std::uint32_t>(b.bits);
  } else {
    instruction.b = s.in_register(b);
  }
}

// Among the lanes of a mask, which is b.
void write_among(Selector& s, IrInstruction instruction, const Operand& lanes) {
  const Value mask = s.source(lanes, Type::b32);
  if (instruction.p == kNone) {
    set_b(s, instruction, mask);  // the immediate form has no predicate result
  } else {
    instruction.b = s.in_register(mask);
  }
  s.note_warp_operation();
  s.wait_for_lanes(mask);
  s.write(std::move(instruction));
}

void lower_vote(Selector& s) {
  Modifiers m = s.modifiers();
  bool sync = m.accept("sync");
  const Op op = m.require<Op>(
      "a vote", {{"all", Op::VOTE_ALL}, {"any", Op::VOTE_ANY}, {"uni", Op::VOTE_UNI}, {"ballot", Op::BALLOT}});
  sync = sync || m.accept("sync");  // CUB writes vote.ballot.sync, which ptxas takes
  const bool ballot = op == Op::BALLOT;
  m.type({ballot ? Type::b32 : Type::pred});
  m.finish();
  s.expect_operands(sync ? 3 : 2);
  s.expect_unpaired(s.operand(0));
  IrInstruction instruction;
  instruction.op = op;
  if (ballot) {
    instruction.dst = s.destination(s.operand(0), Type::b32);
  } else {
    instruction.p = s.destination_predicate(s.operand(0));
  }
  instruction.pa = s.predicate(s.operand(1));
  const Value members = sync ? s.source(s.operand(2), Type::b32) : Value::imm(kEveryLane, Type::b32);
  set_b(s, instruction, members);
  s.note_warp_operation();
  if (sync) s.wait_for_lanes(members);
  s.write(std::move(instruction));
}

void lower_shfl(Selector& s) {
  Modifiers m = s.modifiers();
  const bool sync = m.accept("sync");
  const Op op = m.require<Op>(
      "a mode", {{"up", Op::SHFL_UP}, {"down", Op::SHFL_DOWN}, {"bfly", Op::SHFL_BFLY}, {"idx", Op::SHFL_IDX}});
  m.type({Type::b32});
  m.finish();
  s.expect_operands(sync ? 5 : 4);
  IrInstruction instruction;
  instruction.op = op;
  instruction.dst = s.destination(s.operand(0), Type::b32);
  instruction.p = s.paired(s.operand(0));
  instruction.a = s.in_register(s.source(s.operand(1), Type::b32));
  const Value lane = s.source(s.operand(2), Type::b32);
  const Value clamp = s.source(s.operand(3), Type::b32);
  const Value mask = sync ? s.source(s.operand(4), Type::b32) : Value::imm(kEveryLane, Type::b32);
  const bool everyone = mask.constant && static_cast<std::uint32_t>(mask.bits) == kEveryLane;
  if (mask.constant && mask.bits == 0) s.refuse(s.operand(4).at, "no lane is a member", "name the lanes that exchange");
  instruction.d = everyone ? kNone : s.in_register(mask);  // RZ there stands for every lane
  if (everyone && instruction.p == kNone) {
    set_b(s, instruction, lane);  // the immediate form has neither member mask nor predicate result
  } else {
    instruction.b = s.in_register(lane);
  }
  instruction.c = s.in_register(clamp);
  s.note_warp_operation();
  if (sync) s.wait_for_lanes(mask);
  s.write(std::move(instruction));
}

void lower_match(Selector& s) {
  Modifiers m = s.modifiers();
  const bool all = m.require<bool>(".any or .all", {{"any", false}, {"all", true}});
  m.expect("sync");
  const Type type = m.type({Type::b32, Type::b64});
  m.finish();
  s.expect_operands(3);
  const bool wide = is_wide(type);
  IrInstruction instruction;
  instruction.op = all ? (wide ? Op::MATCH_ALL64 : Op::MATCH_ALL) : (wide ? Op::MATCH_ANY64 : Op::MATCH_ANY);
  if (!all) s.expect_unpaired(s.operand(0));
  instruction.dst = s.destination(s.operand(0), Type::b32);
  instruction.p = s.paired(s.operand(0));
  instruction.a = s.in_register(s.source(s.operand(1), type));
  write_among(s, std::move(instruction), s.operand(2));
}

void lower_redux(Selector& s) {
  enum class What : std::uint8_t { add, min, max, bits_and, bits_or, bits_xor };
  Modifiers m = s.modifiers();
  m.expect("sync");
  const What what = m.require<What>("what all come to", {{"add", What::add},
                                                         {"min", What::min},
                                                         {"max", What::max},
                                                         {"and", What::bits_and},
                                                         {"or", What::bits_or},
                                                         {"xor", What::bits_xor}});
  const bool bits = what >= What::bits_and;
  const Type type = bits ? m.type({Type::b32}) : m.type({Type::u32, Type::s32});
  m.finish();
  s.expect_operands(3);
  s.expect_unpaired(s.operand(0));
  const bool is_signed = type == Type::s32;
  IrInstruction instruction;
  switch (what) {
    case What::add:
      instruction.op = Op::REDUX_ADD;
      break;
    case What::min:
      instruction.op = is_signed ? Op::REDUX_MIN_S : Op::REDUX_MIN_U;
      break;
    case What::max:
      instruction.op = is_signed ? Op::REDUX_MAX_S : Op::REDUX_MAX_U;
      break;
    case What::bits_and:
      instruction.op = Op::REDUX_AND;
      break;
    case What::bits_or:
      instruction.op = Op::REDUX_OR;
      break;
    case What::bits_xor:
      instruction.op = Op::REDUX_XOR;
      break;
  }
  instruction.dst = s.destination(s.operand(0), type);
  instruction.a = s.in_register(s.source(s.operand(1), type));
  write_among(s, std::move(instruction), s.operand(2));
}

void lower_elect(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("sync");
  m.finish();
  s.expect_operands(2);
  IrInstruction instruction;
  instruction.op = Op::ELECT;
  instruction.dst = s.destination(s.operand(0), Type::b32);
  instruction.p = s.paired(s.operand(0));
  write_among(s, std::move(instruction), s.operand(1));
}

void lower_activemask(Selector& s) {
  Modifiers m = s.modifiers();
  m.type({Type::b32});
  m.finish();
  s.expect_operands(1);
  IrInstruction instruction;
  instruction.op = Op::ACTIVEMASK;
  instruction.dst = s.destination(s.operand(0), Type::b32);
  s.note_warp_operation();
  s.write(std::move(instruction));
}

// Barrier id in operand a, thread count in b.
void set_barrier(Selector& s, IrInstruction& instruction, std::size_t id, std::optional<std::size_t> count) {
  const Operand& barrier = s.operand(id);
  if (barrier.kind == Operand::Kind::integer) s.constant(barrier, 0, kBarriers - 1, "the barrier");
  instruction.a = s.in_register(s.source(barrier, Type::u32));
  set_b(s, instruction, count ? s.source(s.operand(*count), Type::u32) : Value::imm(0, Type::u32));
}

void barrier_sync(Selector& s) {
  s.expect_operands(1, 2);
  IrInstruction instruction;
  instruction.op = Op::BAR_SYNC;
  set_barrier(s, instruction, 0, s.operand_count() > 1 ? std::optional<std::size_t>(1) : std::nullopt);
  s.write(std::move(instruction));
}

void barrier_arrive(Selector& s) {
  s.expect_operands(2);
  IrInstruction instruction;
  instruction.op = Op::BAR_ARRIVE;
  set_barrier(s, instruction, 0, 1);
  s.write(std::move(instruction));
}

void barrier_reduce(Selector& s, Op op) {
  s.expect_operands(3, 4);
  const bool counted = s.operand_count() == 4;
  IrInstruction instruction;
  instruction.op = op;
  if (op == Op::BAR_RED_POPC) {
    instruction.dst = s.destination(s.operand(0), Type::u32);
  } else {
    instruction.p = s.destination_predicate(s.operand(0));
  }
  set_barrier(s, instruction, 1, counted ? std::optional<std::size_t>(2) : std::nullopt);
  instruction.pa = s.predicate(s.operand(counted ? 3 : 2));
  s.write(std::move(instruction));
}

// barrier.grid.sync; an extension of PTX: every thread of the grid.
void barrier_grid(Selector& s, Modifiers& m) {
  m.expect("sync");
  m.finish();
  s.expect_operands(0);
  IrInstruction instruction;
  instruction.op = Op::BAR_GRID;
  s.write(std::move(instruction));
}

// Of a cluster, which is one block. Who has arrived goes on to where it waits; there all threads of the block wait for
// each other.
void barrier_cluster(Selector& s, Modifiers& m) {
  const bool waits = m.require<bool>("what the barrier does", {{"arrive", false}, {"wait", true}});
  m.choose<bool>({{"release", true}, {"relaxed", true}, {"acquire", true}});
  m.accept("aligned");
  m.finish();
  s.expect_operands(0);
  IrInstruction instruction;
  instruction.op = waits ? Op::BAR_SYNC : Op::NOP;
  if (waits) {
    instruction.a = s.in_register(Value::imm(kBarriers - 1, Type::u32));
    set_b(s, instruction, Value::imm(0, Type::u32));
  }
  s.write(std::move(instruction));
}

// bar and barrier. `bar` is barrier.aligned; whether a barrier is aligned makes no difference to this machine.
void barrier(Selector& s, bool may_be_aligned) {
  enum class Action { sync, arrive, reduce };
  Modifiers m = s.modifiers();
  if (may_be_aligned && m.accept("cluster")) {
    barrier_cluster(s, m);
    return;
  }
  if (m.accept("warp")) {
    m.expect("sync");
    m.finish();
    s.expect_operands(1);
    const Value members = s.source(s.operand(0), Type::b32);
    s.note_warp_operation();
    s.wait_for_lanes(members);
    IrInstruction nothing;  // else the threads of a warp run in lockstep between re-convergence points
    nothing.op = Op::NOP;
    s.write(std::move(nothing));
    return;
  }
  if (may_be_aligned && m.accept("grid")) {
    barrier_grid(s, m);
    return;
  }
  m.accept("cta");
  const Action action = m.require<Action>(
      "what the barrier does", {{"sync", Action::sync}, {"arrive", Action::arrive}, {"red", Action::reduce}});
  std::optional<Op> op;
  // The aligned form stands before the operation of a reduction in PTX 6 and behind it in older texts.
  if (may_be_aligned) m.accept("aligned");
  if (action == Action::reduce) {
    op = m.require<Op>("a reduction", {{"popc", Op::BAR_RED_POPC}, {"and", Op::BAR_RED_AND}, {"or", Op::BAR_RED_OR}});
    if (may_be_aligned) m.accept("aligned");
    if (*op == Op::BAR_RED_POPC) {
      m.type({Type::u32});
    } else {
      m.type({Type::pred});
    }
  }
  m.finish();
  switch (action) {
    case Action::sync:
      barrier_sync(s);
      return;
    case Action::arrive:
      barrier_arrive(s);
      return;
    case Action::reduce:
      barrier_reduce(s, *op);
      return;
  }
}

void lower_bar(Selector& s) {
  barrier(s, false);
}
void lower_barrier(Selector& s) {
  barrier(s, true);
}

void lower_nanosleep(Selector& s) {
  Modifiers m = s.modifiers();
  m.type({Type::u32});
  m.finish();
  s.expect_operands(1);
  (void)s.source(s.operand(0), Type::u32);
  IrInstruction nothing;  // may wait for no time at all
  nothing.op = Op::NOP;
  s.write(std::move(nothing));
}

// progress; an extension of PTX (thesis 9.2.2).
void lower_progress(Selector& s) {
  Modifiers m = s.modifiers();
  m.finish();
  s.expect_operands(0);
  IrInstruction progress;
  progress.op = Op::PROGRESS;
  s.write(std::move(progress));
}

constexpr std::array kWarpHandlers = {
    Handler{"vote", lower_vote},        Handler{"shfl", lower_shfl},       Handler{"match", lower_match},
    Handler{"redux", lower_redux},      Handler{"elect", lower_elect},     Handler{"activemask", lower_activemask},
    Handler{"bar", lower_bar},          Handler{"barrier", lower_barrier}, Handler{"nanosleep", lower_nanosleep},
    Handler{"progress", lower_progress}};

}  // namespace

std::span<const Handler> warp_handlers() {
  return kWarpHandlers;
}

}  // namespace heddle::ptx
