// Atomics and fences: atom red membar fence (PTX ISA, sections 9.7.13.3 to 9.7.13.13).
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/memory_modifiers.hpp"

namespace heddle::ptx {
namespace {

using isa::AtomicOp;
using isa::Op;
using isa::Space;

bool orders_before(Ordering o) {
  return o == Ordering::release || o == Ordering::acquire_release;
}
bool orders_after(Ordering o) {
  return o == Ordering::acquire || o == Ordering::acquire_release;
}

Op op_for(Selector& s, const Selector::Address& at) {
  switch (at.space) {
    case Space::global:
      return at.wide ? Op::ATOM_GLOBAL_E : Op::ATOM_GLOBAL;
    case Space::generic:
      return at.wide ? Op::ATOM_GENERIC_E : Op::ATOM_GENERIC;
    case Space::shared:
      return Op::ATOM_SHARED;
    default:
      s.refuse("atomics work on .global, .shared and generic addresses", "move the variable there");
  }
}

Type type_of(Modifiers& m, AtomicOp op) {
  switch (op) {
    case AtomicOp::add:
      return m.type({Type::u32, Type::s32, Type::u64, Type::s64, Type::f32, Type::f64, Type::f16});
    case AtomicOp::min:
    case AtomicOp::max:
      return m.type({Type::u32, Type::s32, Type::u64, Type::s64});
    case AtomicOp::inc:
    case AtomicOp::dec:
      return m.type({Type::u32});
    case AtomicOp::cas:
      return m.type({Type::b32, Type::b64, Type::u32, Type::u64, Type::s32, Type::s64, Type::b16});
    case AtomicOp::exch:
      return m.type({Type::b32, Type::b64, Type::u32, Type::u64, Type::s32, Type::s64});
    default:
      return m.type({Type::b32, Type::b64, Type::u32, Type::u64, Type::s32, Type::s64});
  }
}

const std::initializer_list<std::pair<std::string_view, AtomicOp>> kOperations = {
    {"add", AtomicOp::add},   {"and", AtomicOp::and_}, {"or", AtomicOp::or_},  {"xor", AtomicOp::xor_},
    {"min", AtomicOp::min},   {"max", AtomicOp::max},  {"inc", AtomicOp::inc}, {"dec", AtomicOp::dec},
    {"exch", AtomicOp::exch}, {"cas", AtomicOp::cas}};

const std::initializer_list<std::pair<std::string_view, Ordering>> kOrderings = {
    {"relaxed", Ordering::relaxed},
    {"acquire", Ordering::acquire},
    {"release", Ordering::release},
    {"acq_rel", Ordering::acquire_release}};

// What stands between opcode and type: the manual has .sem .scope .space .op, but nvcc writes and takes any order.
struct Qualifiers {
  std::optional<Ordering> ordering;
  std::optional<bool> scope;
  std::optional<Space> space;
  std::optional<AtomicOp> op;
  bool keeps_subnormals = false;  // .noftz
  CacheHints hints;
};

template <class T>
bool take(Modifiers& m, std::optional<T>& into, std::optional<T> found, std::string_view what) {
  if (!found) return false;
  if (into) m.refuse("two modifiers name " + std::string(what), "write one of them");
  into = found;
  return true;
}

Qualifiers qualifiers(Modifiers& m) {
  Qualifiers q;
  for (bool more = true; more;) {
    more = take(m, q.ordering, m.choose<Ordering>(kOrderings), "the memory ordering");
    more |= take(m, q.scope, m.scope() ? std::optional(true) : std::nullopt, "the scope");
    const Space space = space_modifier(m);
    more |= take(m, q.space, space == Space::generic ? std::nullopt : std::optional(space), "the state space");
    more |= take(m, q.op, m.choose<AtomicOp>(kOperations), "the operation");
    const bool noftz = m.accept("noftz");
    q.keeps_subnormals |= noftz;
    more |= noftz;
    const CacheHints hints = cache_hints(m, true);
    more |= hints.any;
    q.hints.policy |= hints.policy;
  }
  if (!q.op) m.require<AtomicOp>("an atomic operation", kOperations);  // refuses
  return q;
}

void atomic(Selector& s, bool reduction) {
  Modifiers m = s.modifiers();
  if (m.peek() == "async") m.refuse("asynchronous reductions are not supported", "use red");
  const Qualifiers q = qualifiers(m);
  const Ordering ordering = q.ordering.value_or(Ordering::relaxed);
  AtomicOp op = *q.op;
  const CacheHints& hints = q.hints;
  if (reduction && orders_after(ordering)) {
    m.refuse("red has no value to acquire", "use .relaxed or .release, or atom");
  }
  if (reduction && (op == AtomicOp::exch || op == AtomicOp::cas)) {
    m.refuse("red cannot exchange", "use atom, with _ as destination if the old value does not matter");
  }
  if (m.peek() == "v2" || m.peek() == "v4" || m.peek() == "v8") {
    m.refuse("vector atomics are not supported", "use one atomic for each element");
  }
  if (op == AtomicOp::add && m.accept("f16x2")) {  // one access; each half is added by itself (9.7.13.5)
    op = AtomicOp::add_halves;
  }
  const Type type = op == AtomicOp::add_halves ? Type::b32 : type_of(m, op);
  m.finish();
  if (q.keeps_subnormals && op != AtomicOp::add_halves && type != Type::f16) {
    m.refuse(".noftz belongs to sums of .f16 and .f16x2", "remove it");
  }
  const std::size_t first = reduction ? 0 : 1;
  const std::size_t values = op == AtomicOp::cas ? 2 : 1;
  s.expect_operands(first + 1 + values + (hints.policy ? 1 : 0));
  if (hints.policy) check_policy(s, first + 1 + values);
  const VReg dst = reduction ? kNone : s.destination(s.operand(0), type);
  const Selector::Address at = s.flat_address(s.operand(first), q.space.value_or(Space::generic));
  IrInstruction instruction;
  instruction.op = op_for(s, at);
  instruction.dst = dst;
  instruction.a = at.base;
  instruction.b = s.in_register(s.source(s.operand(first + 1), type));
  if (op == AtomicOp::cas) instruction.c = s.in_register(s.source(s.operand(first + 2), type));
  instruction.mods = isa::atomic_mods(op, type);
  if (orders_before(ordering)) emit_fence(s);
  s.write(std::move(instruction));
  if (orders_after(ordering)) emit_fence(s);
}

void lower_atom(Selector& s) {
  atomic(s, false);
}
void lower_red(Selector& s) {
  atomic(s, true);
}

void lower_membar(Selector& s) {
  Modifiers m = s.modifiers();
  if (m.accept("proxy")) {
    m.expect("alias");
  } else {
    m.require<bool>("a scope", {{"cta", true}, {"gl", true}, {"sys", true}});
  }
  m.finish();
  s.expect_operands(0);
  emit_fence(s);
}

void lower_fence(Selector& s) {
  Modifiers m = s.modifiers();
  s.expect_operands(0);
  if (m.accept("mbarrier_init")) {
    m.expect("release");
    m.expect("cluster");
    m.finish();
    emit_fence(s);
    return;
  }
  if (m.accept("proxy")) {  // this machine has one path to memory
    if (m.accept("async")) {
      m.choose<bool>({{"global", true}, {"shared::cta", true}, {"shared::cluster", true}});
    } else if (!m.accept("alias")) {
      m.refuse("fence.proxy." + std::string(m.peek()) + " is not supported", "write fence.proxy.async or .alias");
    }
    m.finish();
    emit_fence(s);
    return;
  }
  const auto semantics = [&] {
    return m.choose<bool>({{"sc", true}, {"acq_rel", true}, {"acquire", true}, {"release", true}}).has_value();
  };
  const bool first = semantics();
  const bool scope = m.scope();
  if (!first) semantics();
  if (!scope) m.refuse("the fence lacks a scope", "write .cta, .gpu or .sys");
  m.finish();
  emit_fence(s);
}

constexpr std::array kAtomicHandlers = {Handler{"atom", lower_atom}, Handler{"red", lower_red},
                                        Handler{"membar", lower_membar}, Handler{"fence", lower_fence}};

}  // namespace

std::span<const Handler> atomic_handlers() {
  return kAtomicHandlers;
}

}  // namespace heddle::ptx
