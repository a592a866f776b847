// Modifiers that ld, st, atom and red share: ordering, space, cache hints (PTX ISA, sections 9.7.9.1 to 9.7.9.13).
#pragma once

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

enum class Ordering { weak, volatile_, relaxed, acquire, release, acquire_release };

// .global .shared{::cta} .local .const .param{::entry ::func}; generic when none stands there.
[[nodiscard]] isa::Space space_modifier(Modifiers& m);

// Cache operators, eviction priorities and prefetch sizes; they tell a real cache what to do and change no value.
struct CacheHints {
  bool bypass = false;  // .cv, .cg: not answered by the L1
  bool policy = false;  // L2::cache_hint: one more operand
  bool any = false;     // there was one, even if it says nothing to this machine
};
[[nodiscard]] CacheHints cache_hints(Modifiers& m, bool store);
// The operand of L2::cache_hint.
void check_policy(Selector& s, std::size_t index);

// A value to be stored: the low part of its register, which may be wider than the type.
[[nodiscard]] Value stored_value(Selector& s, const Operand& operand, Type type);

void emit_fence(Selector& s);

// The operations of a space, for addresses of 32 and of 64 bits. bypass: not answered by the L1.
struct SpaceOps {
  isa::Op near, far;
};
[[nodiscard]] SpaceOps load_ops(isa::Space space, bool bypass);
// Refuses spaces that cannot be written.
[[nodiscard]] SpaceOps store_ops(Selector& s, isa::Space space);

}  // namespace heddle::ptx
