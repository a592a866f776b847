// Copies that threads do not wait for: cp.async and its groups (PTX ISA, "Asynchronous copy").
#include <array>
#include <string>
#include <string_view>

#include "isa/bulk_copy.hpp"
#include "ptx/lower/barrier_object.hpp"
#include "ptx/lower/handlers.hpp"
#include "ptx/lower/inlined.hpp"
#include "ptx/lower/memory_modifiers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

using isa::Op;

constexpr std::uint64_t kMostGroups = 0x7fff'ffff;

void note(Selector& s, Op op, std::uint32_t number = 0) {
  IrInstruction instruction;
  instruction.op = op;
  instruction.immediate = op == Op::ASYNC_WAIT;
  instruction.imm = number;
  s.write(std::move(instruction));
}

std::uint8_t form_of(std::uint64_t bytes, bool past_l1) {
  return isa::memory_sub(isa::Width::b32, static_cast<unsigned>(bytes / 4), past_l1);
}

void copy(Selector& s, Modifiers& m) {
  const bool past_l1 = m.require<bool>("a cache", {{"ca", false}, {"cg", true}});
  if (!m.accept("shared") && !m.accept("shared::cta")) {
    m.refuse("cp.async copies to the block's shared memory", "write .shared.global");
  }
  m.expect("global");
  const CacheHints hints = cache_hints(m, false);
  m.finish();
  const std::size_t least = hints.policy ? 4 : 3;
  s.expect_operands(least, least + 1);
  const std::uint64_t bytes = s.constant(s.operand(2), 4, 16, "the number of bytes");
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    s.refuse(s.operand(2).at, "cp.async copies 4, 8 or 16 bytes", "write one of these numbers");
  }
  if (past_l1 && bytes != 16) s.refuse(s.operand(2).at, "cp.async.cg copies 16 bytes", "write .ca for less");
  const bool some = s.operand_count() > least;
  if (some && s.operand(3).kind == Operand::Kind::predicate) {
    s.refuse(s.operand(3).at, "a predicate that leaves the source out is not supported", "give the number of bytes");
  }
  if (hints.policy) check_policy(s, s.operand_count() - 1);
  const Selector::Address from = s.address(s.operand(1), isa::Space::global, static_cast<unsigned>(bytes));
  const Selector::Address to = s.address(s.operand(0), isa::Space::shared, static_cast<unsigned>(bytes));
  const VReg place = s.temp(Type::b32);
  s.emit(Op::ADD, place, Value::of(to.base, Type::u32), Value::imm(static_cast<std::uint32_t>(to.offset), Type::u32));
  IrInstruction instruction;
  instruction.op =
      some ? (from.wide ? Op::CP_ASYNC_FILL_E : Op::CP_ASYNC_FILL) : (from.wide ? Op::CP_ASYNC_E : Op::CP_ASYNC);
  instruction.a = from.base;
  instruction.immediate = true;
  instruction.imm = static_cast<std::uint32_t>(from.offset);
  instruction.sub = form_of(bytes, past_l1);
  instruction.elements = {place};
  if (some) {
    const VReg read = s.temp(Type::b32);
    s.move(read, s.source(s.operand(3), Type::u32));
    instruction.elements.push_back(read);
  }
  s.write(std::move(instruction));
}

// The thread's own loops: 16 bytes at a time.
constexpr std::string_view kBulk = R"(
.func to_shared(.reg .b32 to, .reg .b@A from, .reg .b32 bytes)
{
  .reg .pred p;
  setp.eq.u32 p, bytes, 0;
  @p bra END;
NEXT:
  cp.async.cg.shared.global [to], [from], 16;
  add.u32 to, to, 16;
  add.u@A from, from, 16;
  sub.u32 bytes, bytes, 16;
  setp.ne.u32 p, bytes, 0;
  @p bra NEXT;
END:
  cp.async.wait_all;
  ret;
}
.func to_global(.reg .b@A to, .reg .b32 from, .reg .b32 bytes)
{
  .reg .pred p;
  .reg .b32 a, b, c, d;
  setp.eq.u32 p, bytes, 0;
  @p bra END;
NEXT:
  ld.shared.v4.b32 {a, b, c, d}, [from];
  st.global.v4.b32 [to], {a, b, c, d};
  add.u32 from, from, 16;
  add.u@A to, to, 16;
  sub.u32 bytes, bytes, 16;
  setp.ne.u32 p, bytes, 0;
  @p bra NEXT;
END:
  ret;
}
)";

const Function& bulk_function(unsigned address_bits, const char* name) {
  static const OwnFunctions narrow(kBulk, "Heddle's copies in bulk", 32);
  static const OwnFunctions wide(kBulk, "Heddle's copies in bulk", 64);
  return (address_bits == 64 ? wide : narrow)[name];
}

Value flat(Selector& s, std::size_t index, isa::Space space) {
  const Selector::Address at = s.flat_address(s.operand(index), space);
  return Value::of(at.base, at.wide ? Type::u64 : Type::u32);
}

void nothing(Selector& s) {
  IrInstruction instruction;
  instruction.op = Op::NOP;
  s.write(std::move(instruction));
}

// For a unit that copies by itself, and counts the bytes at the barrier object when all have come.
void ask_for_bulk(Selector& s, const Value& to, const Value& from, const Value& bytes) {
  const auto word = [&s](const Value& value) {
    const VReg held = s.temp(Type::b32);
    s.move(held, value.type == Type::u64 ? Value::of(s.low_half(value.reg), Type::u32) : value);
    return held;
  };
  IrInstruction instruction;
  instruction.op = s.address_size() == 64 ? Op::BULK_COPY_E : Op::BULK_COPY;
  instruction.a = from.reg;
  instruction.immediate = true;
  instruction.sub = isa::memory_sub(isa::Width::b32, isa::kBulkPiece / 4);
  instruction.elements = {word(to), word(bytes), word(barrier_object_at(s, s.operand(3))),
                          word(Value::imm(0, Type::u32))};
  s.write(std::move(instruction));
}

// cp.async.bulk between global and shared memory. To shared memory the machine may have a unit that copies
// (CodeOptions::bulk_copies). Without one, and to global memory, the thread, of which there has to be no more than one,
// copies 16 bytes at a time itself, and goes on when all have come: who waits for the bytes sees no difference but in
// time. So all groups of copies to global memory are over when they are asked for.
void copy_in_bulk(Selector& s, Modifiers& m) {
  if (m.accept("commit_group")) {
    m.finish();
    s.expect_operands(0);
    nothing(s);
    return;
  }
  if (m.accept("wait_group")) {
    m.accept("read");
    m.finish();
    s.expect_operands(1);
    s.constant(s.operand(0), 0, kMostGroups, "the number of groups");
    nothing(s);
    return;
  }
  if (m.peek() == "tensor" || m.peek() == "prefetch") {
    m.refuse("cp.async.bulk." + std::string(m.peek()) + " is not supported", "copy rows by cp.async.bulk or cp.async");
  }
  const bool to_shared = m.accept("shared::cluster") || m.accept("shared::cta");
  if (to_shared) {
    m.expect("global");
    m.expect("mbarrier::complete_tx::bytes");
  } else {
    m.expect("global");
    m.expect("shared::cta");
    m.expect("bulk_group");
  }
  const CacheHints hints = cache_hints(m, false);
  m.finish();
  s.expect_operands((to_shared ? 4 : 3) + (hints.policy ? 1 : 0));
  s.guard_by_branch();
  const Value bytes = s.source(s.operand(2), Type::u32);
  const Value to = flat(s, 0, to_shared ? isa::Space::shared : isa::Space::global);
  const Value from = flat(s, 1, to_shared ? isa::Space::global : isa::Space::shared);
  if (to_shared && s.code().bulk_copies) {
    ask_for_bulk(s, to, from, bytes);
    if (hints.policy) check_policy(s, s.operand_count() - 1);
    return;
  }
  static_cast<void>(
      inline_own(s, bulk_function(s.address_size(), to_shared ? "to_shared" : "to_global"), {to, from, bytes}));
  if (to_shared) bytes_have_come(s, s.operand(3), bytes);
  if (hints.policy) check_policy(s, s.operand_count() - 1);
}

// cp.async, and what is known by the same name.
void lower_cp(Selector& s) {
  Modifiers m = s.modifiers();
  m.expect("async");
  if (m.accept("commit_group")) {
    m.finish();
    s.expect_operands(0);
    note(s, Op::ASYNC_COMMIT);
    return;
  }
  if (m.accept("wait_group")) {
    m.finish();
    s.expect_operands(1);
    note(s, Op::ASYNC_WAIT,
         static_cast<std::uint32_t>(s.constant(s.operand(0), 0, kMostGroups, "the number of groups")));
    return;
  }
  if (m.accept("wait_all")) {
    m.finish();
    s.expect_operands(0);
    note(s, Op::ASYNC_WAIT, isa::kEveryCopy);
    return;
  }
  if (m.accept("bulk")) {
    copy_in_bulk(s, m);
    return;
  }
  if (m.accept("mbarrier")) {
    m.expect("arrive");
    lower_copies_arrive(s, m);
    return;
  }
  copy(s, m);
}

constexpr std::array kCopyHandlers = {Handler{"cp", lower_cp}};

}  // namespace

std::span<const Handler> copy_handlers() {
  return kCopyHandlers;
}

}  // namespace heddle::ptx
