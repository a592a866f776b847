// Barrier objects in shared memory: mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"). What the 64 bits of an object are says isa/barrier_object.hpp: all that happens to it is an atomic
// addition.
#include "ptx/lower/barrier_object.hpp"

#include <array>
#include <string>

#include "isa/barrier_object.hpp"
#include "isa/memory_map.hpp"
#include "ptx/lower/handlers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::barrier_object::kBytes, isa::barrier_object::kExpected, isa::barrier_object::kLeft;

// What the words say of order and place: every addition is one for all threads of the block, in order.
void ordering(Modifiers& m) {
  m.choose<bool>({{"release", true}, {"acquire", true}, {"relaxed", true}});
  m.scope();
}

enum class Place : std::uint8_t { generic, shared };

Place place_of(Modifiers& m) {
  return m
      .choose<Place>({{"shared", Place::shared}, {"shared::cta", Place::shared}, {"shared::cluster", Place::shared}})
      .value_or(Place::generic);
}

// Its address in shared memory.
Value address_of(Selector& s, const Operand& operand, Place place) {
  const Selector::Address at =
      s.flat_address(operand, place == Place::shared ? isa::Space::shared : isa::Space::generic);
  const VReg within = s.temp(Type::u32);
  if (at.space == isa::Space::shared) {
    s.move(within, Value::of(at.base, Type::u32));
  } else if (at.space == isa::Space::generic) {
    const VReg low = at.wide ? s.low_half(at.base) : at.base;
    s.emit(isa::Op::SUB, within, Value::of(low, Type::u32), Value::imm(isa::kSharedWindow, Type::u32));
  } else {
    s.refuse(operand.at, "barrier objects are in the block's shared memory", "declare it .shared");
  }
  return Value::of(within, Type::u32);
}

// 64 bits of `value` (signed counts of bytes keep their sign), moved up; with `minus`, its negative.
Value moved_up(Selector& s, const Value& value, unsigned by, bool minus) {
  if (value.constant) {
    const auto number = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value.bits)}) << by;
    return Value::imm(minus ? 0 - number : number, Type::u64);
  }
  const VReg wide = s.temp(Type::u64);
  s.convert(wide, Type::s64, value.as(Type::s32));
  const VReg up = s.temp(Type::u64);
  s.emit(isa::Op::SHL64, up, Value::of(wide, Type::u64), Value::imm(by, Type::u32));
  if (!minus) return Value::of(up, Type::u64);
  const VReg down = s.temp(Type::u64);
  s.emit(isa::Op::SUB64, down, Value::imm(0, Type::u64), Value::of(up, Type::u64));
  return Value::of(down, Type::u64);
}

Value sum_of(Selector& s, const Value& a, const Value& b) {
  if (a.constant && b.constant) return Value::imm(a.bits + b.bits, Type::u64);
  const VReg sum = s.temp(Type::u64);
  s.emit(isa::Op::ADD64, sum, b.constant ? b : a, b.constant ? a : b);
  return Value::of(sum, Type::u64);
}

// Adds, and gives the object's state before, which names its phase, to `state`, where that is wanted.
void add(Selector& s, const Value& at, const Value& sum, const Operand* state,
         isa::AtomicOp op = isa::AtomicOp::barrier) {
  IrInstruction instruction;
  instruction.op = isa::Op::ATOM_SHARED;
  instruction.dst = state == nullptr ? kNone : s.destination(*state, Type::b64);
  instruction.a = at.reg;
  instruction.b = s.in_register(sum);
  instruction.mods = isa::atomic_mods(op, isa::Type::u64);
  s.write(std::move(instruction));
}

void lower_arrive(Selector& s, Modifiers& m, bool drops) {
  const bool with_bytes = m.accept("expect_tx");
  const bool completes = !m.accept("noComplete");
  ordering(m);
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(with_bytes || !completes ? 3 : 2, 3);
  const Value at = address_of(s, s.operand(1), place);
  const bool given = s.operand_count() == 3;
  const Value count = given && !with_bytes ? s.source(s.operand(2), Type::u32) : Value::imm(1, Type::u32);
  Value sum = moved_up(s, count, kLeft, true);
  if (drops) sum = sum_of(s, sum, moved_up(s, count, kExpected, true));
  if (with_bytes) sum = sum_of(s, sum, moved_up(s, s.source(s.operand(2), Type::u32), kBytes, false));
  add(s, at, sum, &s.operand(0));
}

void lower_bytes(Selector& s, Modifiers& m, bool expects) {
  ordering(m);
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(2);
  const Value at = address_of(s, s.operand(0), place);
  add(s, at, moved_up(s, s.source(s.operand(1), Type::u32), kBytes, !expects), nullptr);
}

// Whether the phase that `state` or a parity names is over. try_wait may wait for a while, which may be no time.
void lower_wait(Selector& s, Modifiers& m, bool tries) {
  const bool by_parity = m.accept("parity");
  ordering(m);
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(3, tries ? 4 : 3);
  if (s.operand_count() == 4) (void)s.source(s.operand(3), Type::u32);
  const Value at = address_of(s, s.operand(1), place);
  const VReg now = s.temp(Type::u32);
  s.load(isa::Op::LD_SHARED, now, at.reg, 0, isa::Width::b32);
  VReg then = kNone;
  if (by_parity) {
    then = s.in_register(s.source(s.operand(2), Type::u32));
  } else {
    then = s.low_half(s.in_register(s.source(s.operand(2), Type::b64)));
  }
  const VReg other = s.temp(Type::u32);
  s.emit(isa::Op::XOR, other, Value::of(now, Type::u32), Value::of(then, Type::u32));
  const VReg over = s.temp(Type::u32);
  s.emit(isa::Op::AND, over, Value::of(other, Type::u32), Value::imm(1, Type::u32));
  s.setp({isa::Op::SETP_U32, isa::Comparison::ne, isa::BoolOp::none, {}, false}, s.destination_predicate(s.operand(0)),
         kNone, Value::of(over, Type::u32), Value::imm(0, Type::u32));
}

void lower_init(Selector& s, Modifiers& m) {
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(2);
  const Value at = address_of(s, s.operand(0), place);
  const Value count = s.source(s.operand(1), Type::u32);
  IrInstruction store;
  store.op = isa::Op::ST_SHARED;
  store.a = at.reg;
  store.immediate = true;
  store.sub = isa::memory_sub(isa::Width::b64, 1);
  const Value object = sum_of(s, moved_up(s, count, kLeft, false), moved_up(s, count, kExpected, false));
  store.elements = {s.in_register(object)};
  s.write(std::move(store));
}

// What the object was is of no use any more.
void lower_inval(Selector& s, Modifiers& m) {
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(1);
  (void)address_of(s, s.operand(0), place);
  IrInstruction nothing;
  nothing.op = isa::Op::NOP;
  s.write(std::move(nothing));
}

void lower_pending_count(Selector& s, Modifiers& m) {
  m.type({Type::b64});
  m.finish();
  s.expect_operands(2);
  const VReg low = s.low_half(s.in_register(s.source(s.operand(1), Type::b64)));
  const VReg left = s.temp(Type::u32);
  s.emit(isa::Op::SHR_U, left, Value::of(low, Type::u32), Value::imm(kLeft, Type::u32));
  s.emit(isa::Op::AND, s.destination(s.operand(0), Type::u32), Value::of(left, Type::u32),
         Value::imm(isa::barrier_object::kArrivals, Type::u32));
}

void lower_mbarrier(Selector& s) {
  enum class What : std::uint8_t { init, inval, expect_tx, complete_tx, arrive, arrive_drop, test, attempt, count };
  Modifiers m = s.modifiers();
  switch (m.require<What>("what is to be done", {{"init", What::init},
                                                 {"inval", What::inval},
                                                 {"expect_tx", What::expect_tx},
                                                 {"complete_tx", What::complete_tx},
                                                 {"arrive", What::arrive},
                                                 {"arrive_drop", What::arrive_drop},
                                                 {"test_wait", What::test},
                                                 {"try_wait", What::attempt},
                                                 {"pending_count", What::count}})) {
    case What::init:
      return lower_init(s, m);
    case What::inval:
      return lower_inval(s, m);
    case What::expect_tx:
      return lower_bytes(s, m, true);
    case What::complete_tx:
      return lower_bytes(s, m, false);
    case What::arrive:
      return lower_arrive(s, m, false);
    case What::arrive_drop:
      return lower_arrive(s, m, true);
    case What::test:
      return lower_wait(s, m, false);
    case What::attempt:
      return lower_wait(s, m, true);
    case What::count:
      return lower_pending_count(s, m);
  }
}

constexpr std::array kBarrierObjectHandlers = {Handler{"mbarrier", lower_mbarrier}};

}  // namespace

Value barrier_object_at(Selector& s, const Operand& object) {
  return address_of(s, object, Place::shared);
}

void bytes_have_come(Selector& s, const Operand& object, const Value& bytes) {
  add(s, barrier_object_at(s, object), moved_up(s, bytes, kBytes, true), nullptr);
}

void lower_copies_arrive(Selector& s, Modifiers& m) {
  const bool counted = m.accept("noinc");  // among the arrivals that the phase waits for
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(1);
  const Value at = address_of(s, s.operand(0), place);
  if (!counted) add(s, at, moved_up(s, Value::imm(1, Type::u32), kLeft, false), nullptr);
  add(s, at, moved_up(s, Value::imm(1, Type::u32), kLeft, true), nullptr, isa::AtomicOp::after_copies);
}

std::span<const Handler> barrier_object_handlers() {
  return kBarrierObjectHandlers;
}

}  // namespace heddle::ptx
