// Lowered code as text, so that tests compare whole instructions:
//
//   @!%p1 add:4 %r1, %r2, #5
//
// Mnemonic, then ":" and the modifiers in hexadecimal and "'" and sub() where they are not zero; destination, predicate
// results, sources (immediates with #, RZ where the operation has an operand that is absent), vector elements in
// braces, predicate sources in brackets, target label. Registers without a PTX name are t0, t1... in order of their
// first appearance.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "ptx/ir.hpp"

namespace heddle::ptx::test {

class IrText {
 public:
  explicit IrText(const IrFunction& function) : function_(function) {}

  std::vector<std::string> lines() {
    std::vector<std::string> result;
    for (const IrBlockItem& item : function_.items) {
      result.push_back(item.is_label ? fmt::format("L{}:", item.label) : line(item.instruction));
    }
    return result;
  }

 private:
  std::string name(VReg reg) {
    if (reg == kNone) return "rz";
    const std::string& given = function_.register_names.at(static_cast<std::size_t>(reg));
    if (!given.empty()) return given;
    const auto number = temporaries_.emplace(reg, temporaries_.size()).first->second;
    return fmt::format("t{}", number);
  }
  std::string name(const VPred& p) { return (p.negated ? "!" : "") + (p.reg == kNone ? "pt" : name(p.reg)); }

  std::string line(const IrInstruction& in) {
    std::vector<std::string> parts;
    const isa::OperationInfo& info = isa::info(in.op);
    const bool half_moves = !in.elements.empty() && (in.op == isa::Op::MOV || in.op == isa::Op::MOV64);
    if (in.dst != kNone) parts.push_back(name(in.dst));
    if (in.p != kNone) parts.push_back(name(in.p));
    if (in.q != kNone) parts.push_back("|" + name(in.q));
    if (in.a != kNone || info.a != isa::OperandKind::none) parts.push_back(name(in.a));
    if (in.immediate) {
      parts.push_back(fmt::format("#{}", static_cast<std::int32_t>(in.imm)));
    } else if (in.b != kNone || (info.b != isa::OperandKind::none && !half_moves)) {
      parts.push_back(name(in.b));
    }
    if (in.c != kNone || info.c == isa::OperandKind::r || info.c == isa::OperandKind::w) parts.push_back(name(in.c));
    if (in.d != kNone || info.d != isa::OperandKind::none) parts.push_back(name(in.d));
    if (!in.elements.empty()) {
      std::string list;
      for (const VReg element : in.elements) list += (list.empty() ? "" : " ") + name(element);
      parts.push_back("{" + list + "}");
    }
    if (in.pa.reg != kNone || in.pa.negated) parts.push_back("[" + name(in.pa) + "]");
    if (in.pb.reg != kNone || in.pb.negated) parts.push_back("[" + name(in.pb) + "]");
    if (in.op == isa::Op::BRA) parts.push_back(fmt::format("L{}", in.target));
    std::string text;
    if (in.guard.reg != kNone || in.guard.negated) text += "@" + name(in.guard) + " ";
    text += info.mnemonic;
    if (in.mods != 0) text += fmt::format(":{:x}", in.mods);
    if (in.sub != 0) text += fmt::format("'{}", in.sub);
    return text + (parts.empty() ? "" : " ") + fmt::format("{}", fmt::join(parts, ", "));
  }

  const IrFunction& function_;
  std::map<VReg, std::size_t> temporaries_;
};

inline std::string header(unsigned address_size) {
  return fmt::format(".version 8.0\n.target sm_80\n.address_size {}\n", address_size);
}

// A kernel k(u32 n, u64 m, b8 s[16]) with registers of every class; the statements start at line 8, column 1.
inline std::string kernel_text(std::string_view statements, unsigned address_size = 64) {
  return header(address_size) +
         ".global .align 4 .b8 g[64]; .const .align 4 .b8 c[8] = {1, 2, 3, 4, 5, 6, 7, 8}; .shared .align 4 .b8 "
         "s[32];\n"
         ".extern .shared .align 4 .b8 dynamic[];\n"
         ".entry k(.param .u32 n, .param .u64 m, .param .align 4 .b8 by_value[16]) {\n"
         ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<8>;\n" +
         std::string(statements) + "\n}\n";
}

inline IrModule lower_module(const std::string& text, unsigned max_registers = isa::kRegisters) {
  CodeOptions code;
  code.max_registers = max_registers;
  return lower(parse(text, "t.ptx"), code);
}
inline IrFunction lower_kernel(std::string_view statements, unsigned address_size = 64) {
  return lower_module(kernel_text(statements, address_size)).kernels.at(0);
}

// The instructions of a kernel's body without the exit that ends it.
inline std::vector<std::string> lowered(std::string_view statements, unsigned address_size = 64) {
  const IrFunction function = lower_kernel(statements, address_size);
  std::vector<std::string> lines = IrText(function).lines();
  if (!lines.empty() && lines.back() == "exit") lines.pop_back();
  return lines;
}

// what() of the refusal, or "accepted".
inline std::string module_refusal(const std::string& text) {
  try {
    static_cast<void>(lower_module(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
inline std::string refusal(std::string_view statements, unsigned address_size = 64) {
  return module_refusal(kernel_text(statements, address_size));
}

}  // namespace heddle::ptx::test
