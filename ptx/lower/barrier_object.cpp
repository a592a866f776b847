// Barrier objects in shared memory: mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"). PTX leaves open what the 64 bits of an object are. Here
//
//   bit 0        the phase's parity
//   bits 1-20    arrivals that the phase still waits for
//   bits 22-41   arrivals that a phase waits for
//   bits 43-63   bytes that the phase still waits for (tx-count), two's complement
//
// so that every arrival and count of bytes is one atomic addition, as in hardware. The thread whose addition leaves
// nothing to wait for begins the next phase by another one: nobody else may arrive before that. Code for it is PTX,
// inlined as Heddle's device library is.
#include "ptx/lower/barrier_object.hpp"

#include <array>
#include <string>

#include "isa/memory_map.hpp"
#include "ptx/lower/handlers.hpp"
#include "ptx/lower/inlined.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

// `state` is the object before, which names its phase.
constexpr std::string_view kFunctions = R"(
.func init(.reg .b32 at, .reg .b32 count)
{
  .reg .b64 sum, all;
  cvt.u64.u32 sum, count;
  shl.b64 all, sum, 22;
  shl.b64 sum, sum, 1;
  or.b64 all, all, sum;
  st.shared.b64 [at], all;
  ret;
}
.func (.reg .b64 state) add(.reg .b32 at, .reg .b64 sum)
{
  .reg .pred p;
  .reg .b64 now, left, parity;
  atom.shared.add.u64 state, [at], sum;
  add.u64 now, state, sum;
  and.b64 left, now, 0xFFFFF800001FFFFE;
  setp.ne.u64 p, left, 0;
  @p bra END;
  shr.u64 left, now, 21;
  and.b64 left, left, 0x1FFFFE;
  and.b64 parity, now, 1;
  shl.b64 parity, parity, 1;
  sub.u64 left, left, parity;
  add.u64 left, left, 1;
  red.shared.add.u64 [at], left;
END:
  ret;
}
)";

const Function& function_of(const std::string& name) {
  static const OwnFunctions functions(kFunctions, "Heddle's barrier objects", 64);  // addresses are shared memory's
  return functions[name];
}

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
  const VReg sum = s.temp(Type::u64);
  s.emit(isa::Op::ADD64, sum, a, b);
  return Value::of(sum, Type::u64);
}

constexpr unsigned kLeft = 1, kExpected = 22, kBytes = 43;

// Adds, and gives the object's state before to `state`, where that is wanted.
void add(Selector& s, const Value& at, const Value& sum, const Operand* state) {
  Frame callee = inline_own(s, function_of("add"), {at, sum});
  if (state == nullptr) return;
  if (const VReg to = s.destination(*state, Type::b64); to != kNone) s.move(to, result_of(s, callee));
}

void lower_arrive(Selector& s, Modifiers& m, bool drops) {
  const bool with_bytes = m.accept("expect_tx");
  const bool completes = !m.accept("noComplete");
  ordering(m);
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(with_bytes || !completes ? 3 : 2, 3);
  s.guard_by_branch();
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
  s.guard_by_branch();
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
  s.guard_by_branch();
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
  s.guard_by_branch();
  const Value at = address_of(s, s.operand(0), place);
  static_cast<void>(inline_own(s, function_of("init"), {at, s.source(s.operand(1), Type::u32)}));
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
         Value::imm(0xFFFFF, Type::u32));
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

void bytes_have_come(Selector& s, const Operand& object, const Value& bytes) {
  const Value at = address_of(s, object, Place::shared);
  add(s, at, moved_up(s, bytes, kBytes, true), nullptr);
}

void lower_copies_arrive(Selector& s, Modifiers& m) {
  const bool counted = m.accept("noinc");  // among the arrivals that the phase waits for
  const Place place = place_of(m);
  m.type({Type::b64});
  m.finish();
  s.expect_operands(1);
  s.guard_by_branch();
  IrInstruction wait;
  wait.op = isa::Op::ASYNC_WAIT;
  wait.immediate = true;
  wait.imm = isa::kEveryCopy;
  s.write(std::move(wait));
  const Value at = address_of(s, s.operand(0), place);
  if (counted) add(s, at, moved_up(s, Value::imm(1, Type::u32), kLeft, true), nullptr);
}

std::span<const Handler> barrier_object_handlers() {
  return kBarrierObjectHandlers;
}

}  // namespace heddle::ptx
