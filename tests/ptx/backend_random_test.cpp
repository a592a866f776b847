// Random programs through the back end at many register limits: what the machine code stores must be what the
// intermediate code stores.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "backend_execution.hpp"
#include "base/error.hpp"
#include "tests/ptx/post_dominators.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("Seeds/BackendRandom.*/2", "Seeds/BackendRandom.*/3", "Seeds/BackendRandom.*/4",
                      "Seeds/BackendRandom.*/5", "Seeds/BackendRandom.*/1", "Seeds/BackendRandom.*/0")

namespace heddle::ptx {
namespace {

using isa::Op;

// Control flow of any shape (unstructured joins, loops, endless loops) over registers of all classes. Registers are
// read only where every path has written them.
class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  IrFunction make() {
    function_.name = "random";
    function_.local_bytes = pick(2) * 12;
    const unsigned words = 2 + pick(22), pairs = pick(9), predicates = 1 + pick(11);
    for (unsigned i = 0; i < words; ++i) words_.push_back(function_.make(RegClass::word));
    for (unsigned i = 0; i < pairs; ++i) pairs_.push_back(function_.make(RegClass::pair));
    for (unsigned i = 0; i < predicates; ++i) predicates_.push_back(function_.make(RegClass::predicate));
    const unsigned blocks = 1 + pick(9);
    function_.label_count = blocks;
    plan(blocks);
    for (unsigned b = 0; b < blocks; ++b) write_block(b);
    return std::move(function_);
  }

 private:
  struct Plan {
    int taken = -1, next = -1;  // both: conditional; none: exit
    std::vector<VReg> defines;
    std::vector<bool> before, after;  // registers written on every path
  };

  unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  void plan(unsigned blocks) {
    plans_.resize(blocks);
    const auto all = static_cast<unsigned>(function_.registers.size());
    for (unsigned b = 0; b < blocks; ++b) {
      Plan& plan = plans_[b];
      const bool last = b + 1 == blocks;
      const unsigned shape = pick(10);
      if (last || shape == 0) {
        if (last && blocks > 2 && pick(4) == 0) plan.next = static_cast<int>(pick(blocks));
      } else {
        plan.next = static_cast<int>(b) + 1;
        if (shape > 3) plan.taken = static_cast<int>(pick(blocks));
        if (shape == 1) plan.next = static_cast<int>(pick(blocks));
      }
      const unsigned count = b == 0 ? all / 2 + pick(all / 2 + 1) : pick(6);
      for (unsigned i = 0; i < count; ++i) plan.defines.push_back(static_cast<VReg>(pick(all)));
      plan.before.assign(all, b != 0);
      plan.after.assign(all, true);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (Plan& plan : plans_) {
        std::vector<bool> after = plan.before;
        for (const VReg reg : plan.defines) after[static_cast<std::size_t>(reg)] = true;
        changed |= after != plan.after;
        plan.after = after;
        for (const int to : {plan.taken, plan.next}) {
          if (to < 0) continue;
          std::vector<bool>& before = plans_[static_cast<std::size_t>(to)].before;
          for (std::size_t i = 0; i < before.size(); ++i) {
            if (before[i] && !after[i]) {
              before[i] = false;
              changed = true;
            }
          }
        }
      }
    }
  }

  // A register of the list that has a value here, or kNone (which reads zero, or true).
  VReg readable(const std::vector<VReg>& list) {
    if (list.empty()) return kNone;
    for (int tries = 0; tries < 8; ++tries) {
      const VReg reg = list[pick(static_cast<unsigned>(list.size()))];
      if (written_[static_cast<std::size_t>(reg)]) return reg;
    }
    return kNone;
  }
  VReg word() { return readable(words_); }
  VReg pair() { return readable(pairs_); }
  VPred predicate() {
    const VReg reg = readable(predicates_);
    return {reg, reg != kNone && pick(2) == 0};
  }

  IrInstruction& push(Op op) {
    IrBlockItem item;
    item.instruction.op = op;
    item.instruction.at.line = ++line_;
    item.instruction.at.column = 1;
    function_.items.push_back(std::move(item));
    return function_.items.back().instruction;
  }

  void maybe_immediate(IrInstruction& in) {
    if (pick(3) != 0) return;
    in.immediate = true;
    in.b = kNone;
    in.imm = pick(2) == 0 ? pick(40) : random_();
  }

  void write_block(unsigned b) {
    const Plan& plan = plans_[b];
    IrBlockItem label;
    label.is_label = true;
    label.label = b;
    function_.items.push_back(label);
    written_ = plan.before;
    for (const VReg reg : plan.defines) {
      define(reg);
      written_[static_cast<std::size_t>(reg)] = true;
      while (pick(3) == 0) disturb();
    }
    for (unsigned i = 1 + pick(4); i > 0; --i) store();
    if (pick(8) == 0) {
      if (const VPred guard = predicate(); guard.reg != kNone) push(Op::EXIT).guard = guard;
    }
    const VPred condition = predicate();
    if (plan.taken >= 0 && condition.reg != kNone) {
      IrInstruction& branch = push(Op::BRA);
      branch.guard = condition;
      branch.target = static_cast<LabelId>(plan.taken);
    }
    if (plan.next < 0) {
      push(Op::EXIT);
    } else if (plan.next != static_cast<int>(b) + 1) {
      push(Op::BRA).target = static_cast<LabelId>(plan.next);
    }
  }

  // A guarded definition of a register that has a value already, a copy, a vector load.
  void disturb() {
    const unsigned kind = pick(4);
    if (kind == 0 && written_any()) {
      const VPred guard = predicate();
      const std::size_t first = function_.items.size();
      define(any_written());
      for (std::size_t i = first; i < function_.items.size(); ++i) function_.items[i].instruction.guard = guard;
    } else if (kind == 1 && word() != kNone) {
      const VReg from = word(), to = word();
      if (from == kNone || to == kNone) return;
      IrInstruction& move = push(Op::MOV);
      move.dst = to;
      move.b = from;
    } else {
      load(pick(4) == 0);
    }
  }

  bool written_any() const { return std::find(written_.begin(), written_.end(), true) != written_.end(); }
  VReg any_written() {
    for (;;) {
      const auto reg = static_cast<VReg>(pick(static_cast<unsigned>(written_.size())));
      if (written_[static_cast<std::size_t>(reg)]) return reg;
    }
  }

  std::vector<VReg> distinct(const std::vector<VReg>& list, unsigned count) {
    std::vector<VReg> result = list;
    std::shuffle(result.begin(), result.end(), random_);
    result.resize(count);
    return result;
  }

  void load(bool wide) {
    const std::vector<VReg>& list = wide ? pairs_ : words_;
    unsigned count = 1U << pick(wide ? 2 : 3);
    if (list.size() < count) return;
    IrInstruction& in = push(Op::LD_GLOBAL);
    in.a = word();
    in.immediate = true;
    in.imm = pick(64) * 4;
    in.sub = isa::memory_sub(wide ? isa::Width::b64 : isa::Width::b32, count);
    in.elements = distinct(list, count);
    for (const VReg reg : in.elements) written_[static_cast<std::size_t>(reg)] = true;
  }

  void store() {
    const bool wide = pick(4) == 0;
    const VReg value = wide ? pair() : word();
    if (value == kNone) return;
    const unsigned count = 1U << pick(wide ? 2 : 3);
    IrInstruction in;
    in.elements.push_back(value);
    while (in.elements.size() < count) {
      const VReg more = wide ? pair() : word();
      in.elements.push_back(more == kNone ? value : more);
    }
    in.a = word();
    in.immediate = true;
    in.imm = pick(64) * 4;
    in.guard = pick(4) == 0 ? predicate() : VPred{};
    in.sub = isa::memory_sub(wide ? isa::Width::b64 : isa::Width::b32, count);
    IrInstruction& out = push(Op::ST_GLOBAL);
    const Position at = out.at;
    out = in;
    out.op = Op::ST_GLOBAL;
    out.at = at;
  }

  void define(VReg reg) {
    switch (function_.registers[static_cast<std::size_t>(reg)]) {
      case RegClass::word:
        return define_word(reg);
      case RegClass::pair:
        return define_pair(reg);
      default:
        return define_predicate(reg);
    }
  }

  void define_word(VReg reg) {
    const unsigned kind = pick(8);
    const VReg from = pair();
    if (kind == 0) {
      IrInstruction& in = push(Op::MOV);
      in.dst = reg;
      in.immediate = true;
      in.imm = pick(3) == 0 ? 0 : random_();
    } else if (kind == 1) {
      IrInstruction& in = push(Op::S2R);
      in.dst = reg;
      in.immediate = true;
      in.imm = pick(12);
    } else if (kind == 2 && from != kNone) {
      IrInstruction& in = push(Op::MOV);
      in.a = from;
      in.elements = pick(2) == 0 ? std::vector<VReg>{reg, kNone} : std::vector<VReg>{kNone, reg};
      // Both halves, when another word can take one.
      const VReg other = word();
      if (other != kNone && other != reg && pick(2) == 0) in.elements = {reg, other};
    } else if (kind == 3) {
      IrInstruction& in = push(Op::SEL);
      in.dst = reg, in.a = word(), in.b = word(), in.pa = predicate();
      maybe_immediate(in);
    } else if (kind == 4) {
      IrInstruction& in = push(pick(2) == 0 ? Op::MAD_LO : Op::BFI);
      in.dst = reg, in.a = word(), in.b = word(), in.c = word();
      if (in.op == Op::BFI) in.d = word();
      if (in.op == Op::MAD_LO) maybe_immediate(in);
    } else {
      static constexpr Op kOps[] = {Op::ADD, Op::SUB, Op::XOR, Op::SHL, Op::MUL_LO};
      IrInstruction& in = push(kOps[pick(5)]);
      in.dst = reg, in.a = word(), in.b = word();
      maybe_immediate(in);
    }
  }

  void define_pair(VReg reg) {
    const unsigned kind = pick(8);
    if (kind < 3) {
      IrInstruction& in = push(Op::MOV64);
      in.dst = reg;
      in.elements = {word(), word()};
    } else if (kind == 3) {
      IrInstruction& in = push(Op::MOV64);
      in.dst = reg;
      in.b = pair();
      maybe_immediate(in);
      if (!in.immediate && in.b == kNone) in.immediate = true;
    } else if (kind == 4) {
      IrInstruction& in = push(pick(2) == 0 ? Op::MUL_WIDE_U : Op::MAD_WIDE_U);
      in.dst = reg, in.a = word(), in.b = word();
      if (in.op == Op::MAD_WIDE_U) in.c = pair();
      maybe_immediate(in);
    } else if (kind == 5) {
      IrInstruction& in = push(Op::SHL64);
      in.dst = reg, in.a = pair(), in.b = word();
      maybe_immediate(in);
    } else if (kind == 6) {
      IrInstruction& in = push(Op::SEL64);
      in.dst = reg, in.a = pair(), in.b = pair(), in.pa = predicate();
      maybe_immediate(in);
    } else {
      IrInstruction& in = push(pick(3) == 0 ? Op::MAD_LO64 : pick(2) == 0 ? Op::ADD64 : Op::SUB64);
      in.dst = reg, in.a = pair(), in.b = pair();
      if (in.op == Op::MAD_LO64) in.c = pair();
      maybe_immediate(in);
    }
  }

  void define_predicate(VReg reg) {
    const VReg other = readable(predicates_);
    if (pick(4) == 0) {
      IrInstruction& in = push(Op::PLOP);
      in.p = reg, in.pa = predicate(), in.pb = predicate();
      in.mods = (1 + pick(3)) << 8U;
      return;
    }
    IrInstruction& in = push(Op::SETP_U32);
    in.p = reg, in.a = word(), in.b = word();
    in.sub = static_cast<std::uint8_t>(pick(4) == 3 ? 5 : pick(3));
    if (other != kNone && other != reg && pick(4) == 0) in.q = other;
    if (pick(3) == 0) {
      in.pa = predicate();
      in.mods = 1 + pick(3);
    } else {
      maybe_immediate(in);
    }
  }

  std::mt19937 random_;
  IrFunction function_;
  std::vector<VReg> words_, pairs_, predicates_;
  std::vector<Plan> plans_;
  std::vector<bool> written_;
  std::uint32_t line_ = 0;
};

class BackendRandom : public testing::TestWithParam<std::uint32_t> {};

TEST_P(BackendRandom, StoresWhatTheIntermediateCodeStores) {
  for (std::uint32_t seed = GetParam() * 100; seed < GetParam() * 100 + 100; ++seed) {
    IrFunction function = Generator(seed).make();
    const test::Trace expected = test::run_ir(function, 3000);
    for (const unsigned limit : {8U, 9U, 11U, 16U, 24U, 63U}) {
      function.code.max_registers = limit;
      function.code.convergence_instructions = limit % 2 == 1;
      isa::Kernel kernel;
      ASSERT_NO_THROW(kernel = generate(function, "random.ptx")) << "seed " << seed << ", limit " << limit;
      test::Trace got;
      ASSERT_NO_THROW(got = test::run_machine(kernel, 30000, limit)) << "seed " << seed << ", limit " << limit;
      EXPECT_EQ(heddle::test::check_re_convergence(kernel).wrong, "") << "seed " << seed << ", limit " << limit;
      const std::size_t both = std::min(expected.stores.size(), got.stores.size());
      EXPECT_TRUE(std::equal(expected.stores.begin(), expected.stores.begin() + static_cast<std::ptrdiff_t>(both),
                             got.stores.begin()))
          << "seed " << seed << ", limit " << limit;
      if (expected.finished) {
        EXPECT_TRUE(got.finished) << "seed " << seed << ", limit " << limit;
        EXPECT_EQ(expected.stores.size(), got.stores.size()) << "seed " << seed << ", limit " << limit;
      } else {
        EXPECT_FALSE(got.finished) << "seed " << seed << ", limit " << limit;
      }
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackendRandom, testing::Range(0U, 6U));

}  // namespace
}  // namespace heddle::ptx
