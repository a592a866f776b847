#include "ptx/lower/modifiers.hpp"

#include <algorithm>
#include <array>

namespace heddle::ptx {
namespace {

constexpr std::array kModifierTypes = {Type::u8,  Type::s8,  Type::u16, Type::s16, Type::u32, Type::s32,
                                       Type::u64, Type::s64, Type::f16, Type::f32, Type::f64, Type::b8,
                                       Type::b16, Type::b32, Type::b64, Type::pred};

// Types of PTX that no register of this machine has.
constexpr std::array<std::string_view, 14> kForeignTypes = {"f16x2",  "bf16",   "bf16x2", "tf32", "b128",
                                                            "u16x2",  "s16x2",  "f32x2",  "e4m3", "e5m2",
                                                            "e4m3x2", "e5m2x2", "s8x4",   "u8x4"};

// The type that a modifier names, if registers of this machine can have it.
std::optional<Type> type_of_word(std::string_view word) {
  for (const Type type : kModifierTypes) {
    if (isa::name_of(type) == word) return type;
  }
  return std::nullopt;
}

}  // namespace

bool Modifiers::accept(std::string_view word) {
  if (peek() != word || !more()) return false;
  ++next_;
  return true;
}

void Modifiers::expect(std::string_view word) {
  if (!accept(word)) missing("." + std::string(word), "write ." + std::string(word) + " there");
}

Type Modifiers::type(std::initializer_list<Type> allowed) {
  std::string hint = "this instruction takes";
  for (const Type type : allowed) hint += " " + dotted(type);
  const std::string word(peek());
  const auto named = type_of_word(word);
  if (!named) {
    if (std::find(kForeignTypes.begin(), kForeignTypes.end(), word) != kForeignTypes.end()) {
      refuse("type ." + word + " is not supported by this machine", hint);
    }
    missing("a type", hint);
  }
  if (std::find(allowed.begin(), allowed.end(), *named) == allowed.end()) {
    refuse("'" + statement_.opcode + "' does not take type ." + word + " here", hint);
  }
  ++next_;
  return *named;
}

void Modifiers::finish() const {
  if (!more()) return;
  const std::string word(peek());
  if (std::find(kForeignTypes.begin(), kForeignTypes.end(), word) != kForeignTypes.end()) {
    refuse("type ." + word + " is not supported by this machine", "use .f32, or convert with cvt");
  }
  refuse("'" + statement_.opcode + "' has an unknown or misplaced modifier ." + word,
         "remove it; modifiers are read in the order of the PTX manual");
}

std::optional<isa::Rounding> Modifiers::rounding() {
  using isa::Rounding;
  return choose<Rounding>({{"rn", Rounding::rn}, {"rz", Rounding::rz}, {"rm", Rounding::rm}, {"rp", Rounding::rp}});
}

bool Modifiers::scope() {
  return choose<bool>({{"cta", true}, {"cluster", true}, {"gpu", true}, {"gl", true}, {"sys", true}}).has_value();
}

void Modifiers::missing(std::string_view what, const std::string& hint) const {
  if (more()) {
    refuse("'" + statement_.opcode + "' expects " + std::string(what) + " where ." + std::string(peek()) + " stands",
           hint);
  }
  refuse("'" + statement_.opcode + "' lacks " + std::string(what), hint);
}

void Modifiers::refuse(const std::string& message, const std::string& hint) const {
  throw InputError({file_, statement_.at.line, statement_.at.column}, message, hint);
}

}  // namespace heddle::ptx
