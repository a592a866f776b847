#include "tests/ptx_ops/kernel_text.hpp"

#include <cstdio>

#include "tests/ptx_ops/operand_values.hpp"

namespace heddle::ptx_ops {
namespace {

std::string register_type(Kind kind, bool untyped) {
  switch (kind) {
    case Kind::predicate:
      return "pred";
    case Kind::f32_:
      return "f32";
    case Kind::f64_:
      return "f64";
    case Kind::u16_:
      return untyped ? "b16" : "u16";
    case Kind::s16_:
      return untyped ? "b16" : "s16";
    case Kind::half:
      return untyped ? "b16" : "f16";
    case Kind::u32_:
    case Kind::count:
      return untyped ? "b32" : "u32";
    case Kind::s32_:
      return untyped ? "b32" : "s32";
    case Kind::u64_:
      return untyped ? "b64" : "u64";
    case Kind::s64_:
      return untyped ? "b64" : "s64";
  }
  return "b32";
}

std::string hexadecimal(u64 value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

std::string literal(Kind kind, u64 value) {
  switch (kind) {
    case Kind::f32_:
      return "0f" + hexadecimal(value, 8);
    case Kind::f64_:
      return "0d" + hexadecimal(value, 16);
    case Kind::s16_:
      return std::to_string(from_slot<s16>(value));
    case Kind::s32_:
      return std::to_string(from_slot<s32>(value));
    case Kind::s64_:
      return value == u64{1} << 63U ? "0x8000000000000000" : std::to_string(from_slot<s64>(value));
    case Kind::u64_:
      return std::to_string(value) + "U";
    default:
      return "0x" + hexadecimal(value, 0);
  }
}

std::string bits_suffix(Kind kind) {
  return ".b" + std::to_string(8 * size_of(kind));
}

std::string slot_address(const char* base, std::size_t slot) {
  return "[" + std::string(base) + "+" + std::to_string(slot * 8 * kThreads) + "]";
}

// One row's registers: operands "<prefix>a", results "<prefix>d", temporaries.
class RowText {
 public:
  RowText(const Placed& placed, const Form& form, std::size_t index)
      : placed_(placed), row_(*placed.row), form_(form), prefix_("%r" + std::to_string(index)) {}

  std::string load() {
    std::string text;
    for (std::size_t i = 0; i < row_.in.size(); ++i) {
      if (is_immediate(row_, form_, i) || is_same(row_, form_, i)) continue;
      const std::string name = operand(i);
      const Kind kind = row_.in[i];
      text += "  .reg ." + register_type(kind, form_.untyped) + " " + name + ";\n";
      const std::string from = slot_address("%in", placed_.in_slot + i);
      if (kind == Kind::predicate) {
        text += "  ld.global.b32 %word, " + from + ";\n  setp.ne.b32 " + name + ", %word, 0;\n";
      } else if (size_of(kind) == 2 && form_.dirty) {
        text += "  ld.global.b32 %word, " + from + ";\n  mov.b32 {" + name + ", %rest}, %word;\n";
      } else {
        text += "  ld.global" + bits_suffix(kind) + " " + name + ", " + from + ";\n";
      }
    }
    for (std::size_t i = 0; i < row_.out.size(); ++i) {
      if (i == 0 && aliased_operand(row_, form_)) continue;
      text += "  .reg ." + register_type(row_.out[i], form_.untyped) + " " + result(i) + ";\n";
      if (form_.guarded && row_.guard) text += preset(i);
    }
    if (row_.text.find("$t") != std::string::npos) text += "  .reg .b32 " + prefix_ + "t;\n";
    if (row_.text.find("$u") != std::string::npos) text += "  .reg .b64 " + prefix_ + "u;\n";
    return text;
  }

  std::string execute() {
    std::string text = "  ";
    bool start = true;
    for (std::size_t i = 0; i < row_.text.size(); ++i) {
      const char c = row_.text[i];
      if (start && c != ' ' && form_.guarded && row_.guard) text += "@%guard ";
      start = (start && c == ' ') || c == ';';
      if (c == '$') {
        text += expand(row_.text[++i]);
      } else {
        text += c;
      }
    }
    return text + "\n";
  }

  std::string store() {
    std::string text;
    for (std::size_t i = 0; i < row_.out.size(); ++i) {
      const Kind kind = row_.out[i];
      const std::string to = slot_address("%out", placed_.out_slot + i);
      if (kind == Kind::predicate) {
        text += "  selp.b32 %word, 1, 0, " + result(i) + ";\n  st.global.b32 " + to + ", %word;\n";
      } else if (size_of(kind) == 2 && !form_.untyped) {
        // Zero extension, which must not see what the operation left in the upper half.
        text +=
            "  mov.b16 %rest, " + result(i) + ";\n  cvt.u32.u16 %word, %rest;\n  st.global.b32 " + to + ", %word;\n";
      } else {
        text += "  st.global" + bits_suffix(kind) + " " + to + ", " + result(i) + ";\n";
      }
    }
    return text;
  }

 private:
  [[nodiscard]] std::string operand(std::size_t i) const { return prefix_ + "abce"[is_same(row_, form_, i) ? 0 : i]; }
  [[nodiscard]] std::string result(std::size_t i) const {
    const auto alias = aliased_operand(row_, form_);
    return i == 0 && alias ? operand(*alias) : prefix_ + "dq"[i];
  }
  [[nodiscard]] std::string preset(std::size_t i) const {
    const Kind kind = row_.out[i];
    if (kind == Kind::predicate) return "  setp.eq.b32 " + result(i) + ", %thread, " + std::to_string(kThreads) + ";\n";
    return "  mov" + bits_suffix(kind) + " " + result(i) + ", 0x" + hexadecimal(sentinel(kind), 0) + ";\n";
  }
  [[nodiscard]] std::string expand(char c) const {
    if (c == 'd') return result(0);
    if (c == 'q') return result(1);
    if (c == 't' || c == 'u') return prefix_ + c;
    const std::size_t i = c == 'e' ? 3 : static_cast<std::size_t>(c - 'a');
    return is_immediate(row_, form_, i) ? literal(row_.in.at(i), placed_.constants.at(i)) : operand(i);
  }

  const Placed& placed_;
  const Row& row_;
  const Form& form_;
  std::string prefix_;
};

}  // namespace

bool is_immediate(const Row& row, const Form& form, std::size_t operand) {
  const bool chosen = form.immediate == kEveryOperand || form.immediate == static_cast<int>(operand);
  const Kind kind = row.in[operand];  // PTX has no constants of these two kinds
  return chosen && row.immediates && kind != Kind::predicate && kind != Kind::half;
}

bool is_same(const Row& row, const Form& form, std::size_t operand) {
  return form.same && operand == 1 && row.in[0] == row.in[1];
}

std::optional<std::size_t> aliased_operand(const Row& row, const Form& form) {
  if (form.alias == kNoOperand) return std::nullopt;
  const auto operand = static_cast<std::size_t>(form.alias);
  if (operand >= row.in.size() || is_immediate(row, form, operand)) return std::nullopt;
  const bool same = register_type(row.in[operand], false) == register_type(row.out[0], false);
  return same ? std::optional(operand) : std::nullopt;
}

u64 sentinel(Kind kind) {
  if (kind == Kind::predicate) return 0;
  return size_of(kind) == 2 ? 0x5aa5 : size_of(kind) == 4 ? 0x3f9d5aa5 : 0x3ff123456789abcd;
}

std::string header(unsigned address_bits) {
  return ".version 8.3\n.target sm_90\n.address_size " + std::to_string(address_bits) + "\n";
}

std::string kernel(const std::string& name, const std::vector<Placed>& rows, const Form& form) {
  const std::string address = ".u" + std::to_string(form.address_bits);
  std::string text = ".visible .entry " + name + "(.param " + address + " input, .param " + address + " output)\n{\n";
  text += "  .reg " + address + " %in, %out, %offset;\n  .reg .u32 %thread, %block, %size;\n  .reg .b32 %word;\n";
  text += "  .reg .b16 %rest;\n  .reg .pred %guard;\n";
  text += "  ld.param" + address + " %in, [input];\n  ld.param" + address + " %out, [output];\n";
  text += "  mov.u32 %thread, %tid.x;\n  mov.u32 %block, %ctaid.x;\n  mov.u32 %size, %ntid.x;\n";
  text += "  mad.lo.u32 %thread, %block, %size, %thread;\n";
  text += form.address_bits == 64 ? "  mul.wide.u32 %offset, %thread, 8;\n" : "  shl.b32 %offset, %thread, 3;\n";
  text += "  add" + address + " %in, %in, %offset;\n  add" + address + " %out, %out, %offset;\n";
  if (form.guarded) text += "  and.b32 %word, %thread, 1;\n  setp.ne.b32 %guard, %word, 0;\n";
  std::vector<RowText> texts;
  for (std::size_t i = 0; i < rows.size(); ++i) texts.emplace_back(rows[i], form, i);
  for (RowText& row : texts) text += row.load();
  for (RowText& row : texts) text += row.execute();
  for (RowText& row : texts) text += row.store();
  return text + "  ret;\n}\n";
}

}  // namespace heddle::ptx_ops
