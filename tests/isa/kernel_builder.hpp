// Hand-assembled kernels for the interpreter's tests: one method per instruction shape, each returning its PC.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "isa/memory_map.hpp"
#include "isa/module.hpp"

namespace heddle::isa::test {

class Code {
 public:
  using Pc = std::uint32_t;

  Pc add(const Instruction& instruction) {
    code_.push_back(instruction);
    code_.back().guard = std::exchange(guard_, Pred{});
    return static_cast<Pc>(code_.size() - 1);
  }
  [[nodiscard]] Pc here() const { return static_cast<Pc>(code_.size()); }

  // The next instruction's guard.
  Code& when(unsigned predicate, bool negated = false) {
    guard_ = Pred{static_cast<std::uint8_t>(predicate), negated};
    return *this;
  }

  // dst = a op b, registers or an immediate b.
  Pc rrr(Op op, unsigned dst, unsigned a, unsigned b) {
    Instruction out = make(op, dst, a);
    out.b = static_cast<std::uint8_t>(b);
    return add(out);
  }
  Pc rri(Op op, unsigned dst, unsigned a, std::uint32_t immediate) {
    Instruction out = make(op, dst, a);
    out.immediate = true;
    out.imm = immediate;
    return add(out);
  }
  Pc mov(unsigned dst, std::uint32_t value) { return rri(Op::MOV, dst, kRZ, value); }
  Pc s2r(unsigned dst, Special special) { return rri(Op::S2R, dst, kRZ, static_cast<std::uint32_t>(special)); }
  Pc setp(unsigned predicate, Comparison comparison, unsigned a, std::uint32_t immediate) {
    Instruction out = make(Op::SETP_U32, pred_pair(predicate), a);
    out.c = static_cast<std::uint8_t>(comparison);
    out.immediate = true;
    out.imm = immediate;
    return add(out);
  }
  Pc load(Op op, unsigned dst, unsigned address, std::uint32_t offset = 0, Width width = Width::b32,
          unsigned vector = 1) {
    Instruction out = make(op, dst, address);
    out.immediate = true;
    out.imm = offset;
    out.c = memory_sub(width, vector);
    return add(out);
  }
  Pc store(Op op, unsigned address, unsigned value, std::uint32_t offset = 0, Width width = Width::b32,
           unsigned vector = 1) {
    return load(op, value, address, offset, width, vector);
  }
  Pc atomic(Op op, AtomicOp operation, Type type, unsigned dst, unsigned address, unsigned b, unsigned c = kRZ) {
    Instruction out = make(op, dst, address);
    out.b = static_cast<std::uint8_t>(b);
    out.c = static_cast<std::uint8_t>(c);
    out.mods = atomic_mods(operation, type);
    return add(out);
  }
  Pc tree_traverse(unsigned dst, unsigned base, Pred predicate, std::uint32_t shift) {
    Instruction out = make(Op::TREE_TRAVERSE, dst, base);
    out.c = static_cast<std::uint8_t>(predicate.bits());
    out.immediate = true;
    out.imm = shift;
    return add(out);
  }
  Pc accumulate(Op op, unsigned bytes, unsigned dst, unsigned address, Pred predicate, unsigned value) {
    Instruction out = make(op, dst, address);
    out.b = static_cast<std::uint8_t>(value);
    out.c = static_cast<std::uint8_t>(predicate.bits());
    out.mods = element_mods(bytes);
    return add(out);
  }
  Pc param(unsigned dst, std::uint32_t offset) { return load(Op::LD_PARAM, dst, kRZ, offset); }
  Pc plain(Op op) { return add(make(op, kRZ, kRZ)); }
  Pc exit() { return plain(Op::EXIT); }
  // A branch whose target (and re-convergence PC) aim() sets later.
  Pc bra(Pc target = 0, Pc reconvergence = kNoReconvergence) {
    Instruction out = make(Op::BRA, kRZ, kRZ);
    out.target = target;
    out.reconvergence = reconvergence;
    return add(out);
  }
  void aim(Pc branch, Pc target, Pc reconvergence = kNoReconvergence) {
    code_[branch].target = target;
    code_[branch].reconvergence = reconvergence;
  }
  // As the compiler marks branches at which warps may subdivide.
  void mark(Pc branch) { code_[branch].subdivides = true; }
  // As it marks branches at which threads let others run.
  void mark_yields(Pc branch) { code_[branch].yields = true; }
  // For who writes control bits, and who spoils them.
  [[nodiscard]] std::vector<Instruction>& instructions() { return code_; }
  // bar.sync, bar.arrive, bar.red: barrier number in a register, count 0: all threads.
  Pc barrier(Op op, unsigned id, std::uint32_t count = 0, unsigned dst = kRZ, Pred predicate = {}) {
    Instruction out = make(op, dst, id);
    out.immediate = count != 0;
    out.imm = count;
    if (op != Op::BAR_SYNC && op != Op::BAR_ARRIVE) {
      out.c = static_cast<std::uint8_t>(predicate.bits());
    }
    return add(out);
  }
  // address register = parameter at byte 0 + 4 * (block * threads per block + thread), for one-dimensional launches.
  void own_slot(unsigned address, unsigned scratch) {
    s2r(address, Special::ctaid_x);
    s2r(scratch, Special::ntid_x);
    rrr(Op::MUL_LO, address, address, scratch);
    s2r(scratch, Special::tid_x);
    rrr(Op::ADD, address, address, scratch);
    rri(Op::SHL, address, address, 2);
    param(scratch, 0);
    rrr(Op::ADD, address, address, scratch);
  }

  [[nodiscard]] Module module(std::uint32_t parameter_bytes = 4) const {
    Module out;
    out.name = "test.ptx";
    out.source_files = {"", "test.cu"};
    Kernel kernel;
    kernel.name = "k";
    for (const Instruction& instruction : code_) {
      kernel.words.push_back(encode(instruction));
      const auto line = static_cast<std::uint32_t>(kernel.words.size());
      kernel.lines.push_back({line + 100, 1, line, 0});
    }
    kernel.parameter_bytes = parameter_bytes;
    out.kernels.push_back(std::move(kernel));
    return out;
  }

 private:
  static Instruction make(Op op, unsigned dst, unsigned a) {
    Instruction out;
    out.op = op;
    out.dst = static_cast<std::uint8_t>(dst);
    out.a = static_cast<std::uint8_t>(a);
    return out;
  }
  std::vector<Instruction> code_;
  Pred guard_;
};

}  // namespace heddle::isa::test
