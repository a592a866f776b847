// Register allocation on hand-built intermediate code: coalescing, alignment, spilling, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend_execution.hpp"
#include "base/error.hpp"
#include "ptx/backend/machine_code.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("BackendAllocation.ManyMore*")

namespace heddle::ptx {
namespace {

using isa::Op;

IrInstruction& push(IrFunction& function, Op op) {
  IrBlockItem item;
  item.instruction.op = op;
  item.instruction.at.line = static_cast<std::uint32_t>(function.items.size()) + 1;
  item.instruction.at.column = 3;
  function.items.push_back(item);
  return function.items.back().instruction;
}

// Returns the first element.
VReg load(IrFunction& function, std::uint32_t address, std::vector<VReg> elements) {
  IrInstruction& in = push(function, Op::LD_GLOBAL);
  in.immediate = true;
  in.imm = address;
  const bool wide = function.registers[static_cast<std::size_t>(elements[0])] == RegClass::pair;
  in.sub = isa::memory_sub(wide ? isa::Width::b64 : isa::Width::b32, static_cast<unsigned>(elements.size()));
  in.elements = std::move(elements);
  return in.elements[0];
}

void store(IrFunction& function, std::uint32_t address, std::vector<VReg> elements) {
  load(function, address, std::move(elements));
  function.items.back().instruction.op = Op::ST_GLOBAL;
}

unsigned count(const isa::Kernel& kernel, Op op) {
  unsigned result = 0;
  for (const isa::InstructionWord& word : kernel.words) result += isa::decode(word)->op == op ? 1U : 0U;
  return result;
}

void expect_same_stores(IrFunction& function, const isa::Kernel& kernel, unsigned limit) {
  EXPECT_EQ(test::run_ir(function, 1000).stores, test::run_machine(kernel, 10000, limit).stores);
}

TEST(BackendAllocation, PackAndUnpackOfDyingHalvesCostNothing) {
  IrFunction function;
  function.name = "k";
  const VReg lo = function.make(RegClass::word), hi = function.make(RegClass::word);
  const VReg pair = function.make(RegClass::pair), sum = function.make(RegClass::pair);
  const VReg out_lo = function.make(RegClass::word), out_hi = function.make(RegClass::word);
  load(function, 0, {lo});
  load(function, 64, {hi});
  IrInstruction& pack = push(function, Op::MOV64);
  pack.dst = pair;
  pack.elements = {lo, hi};
  IrInstruction& add = push(function, Op::ADD64);
  add.dst = sum, add.a = pair, add.b = pair;
  IrInstruction& unpack = push(function, Op::MOV);
  unpack.a = sum;
  unpack.elements = {out_lo, out_hi};
  store(function, 128, {out_lo});
  store(function, 192, {out_hi});
  push(function, Op::EXIT);
  const isa::Kernel kernel = generate(function, "k.ptx");
  EXPECT_EQ(kernel.words.size(), 6U);
  EXPECT_EQ(kernel.registers, 2U);
  expect_same_stores(function, kernel, 2);
}

TEST(BackendAllocation, SwappedHalvesAreMovedThroughAnotherRegister) {
  IrFunction function;
  function.name = "k";
  const VReg lo = function.make(RegClass::word), hi = function.make(RegClass::word);
  const VReg pair = function.make(RegClass::pair), swapped = function.make(RegClass::pair);
  load(function, 0, {pair});
  IrInstruction& unpack = push(function, Op::MOV);
  unpack.a = pair;
  unpack.elements = {lo, hi};
  IrInstruction& pack = push(function, Op::MOV64);
  pack.dst = swapped;
  pack.elements = {hi, lo};
  store(function, 128, {swapped});
  push(function, Op::EXIT);
  const isa::Kernel kernel = generate(function, "k.ptx");
  expect_same_stores(function, kernel, 4);
  EXPECT_LE(count(kernel, Op::MOV), 2U);
}

TEST(BackendAllocation, VectorElementsLiveInTheVector) {
  IrFunction function;
  function.name = "k";
  std::vector<VReg> elements;
  for (int i = 0; i < 4; ++i) elements.push_back(function.make(RegClass::word));
  load(function, 0, elements);
  for (const VReg reg : elements) {
    IrInstruction& add = push(function, Op::ADD);
    add.dst = add.a = reg;
    add.immediate = true;
    add.imm = 1;
  }
  store(function, 128, elements);
  push(function, Op::EXIT);
  const isa::Kernel kernel = generate(function, "k.ptx");
  EXPECT_EQ(count(kernel, Op::MOV), 0U);
  EXPECT_EQ(kernel.registers, 4U);
  expect_same_stores(function, kernel, 4);
}

// n values loaded first and stored last.
IrFunction many_values(unsigned n) {
  IrFunction function;
  function.name = "many";
  std::vector<VReg> values;
  for (unsigned i = 0; i < n; ++i) values.push_back(load(function, 64 * i, {function.make(RegClass::word)}));
  for (unsigned i = 0; i < n; ++i) store(function, 64 * i + 4, {values[i]});
  push(function, Op::EXIT);
  return function;
}

TEST(BackendAllocation, SpillsFromTheLimitOnAndNotBefore) {
  IrFunction function = many_values(10);
  function.code.max_registers = 10;
  const isa::Kernel fits = generate(function, "k.ptx");
  EXPECT_EQ(fits.spilled_registers, 0U);
  EXPECT_EQ(fits.local_bytes, 0U);
  EXPECT_EQ(fits.registers, 10U);
  function.code.max_registers = 9;
  const isa::Kernel spills = generate(function, "k.ptx");
  EXPECT_GE(spills.spilled_registers, 1U);
  EXPECT_GT(count(spills, Op::LD_LOCAL), 0U);
  EXPECT_EQ(spills.local_bytes % 8, 0U);
  EXPECT_LE(spills.registers, 9U);
  expect_same_stores(function, spills, 9);
}

TEST(BackendAllocation, PressureAboveTheLimitIsSpilledFirst) {
  const IrFunction function = many_values(40);
  const auto spilled_below = [&](unsigned limit) {
    backend::MachineFunction machine = backend::import_function(function, "k.ptx");
    backend::limit_pressure(machine, false, limit);
    return machine.spilled;
  };
  EXPECT_EQ(spilled_below(40), 0U);
  EXPECT_EQ(spilled_below(39), 21U);  // down to 19, half of the limit
}

TEST(BackendAllocation, ManyMoreValuesThanRegistersKeepTheirResults) {
  for (const unsigned n : {backend::kMostLive, backend::kMostLive + 1, 2 * backend::kMostLive}) {
    SCOPED_TRACE(n);
    IrFunction function = many_values(n);
    function.code.max_registers = 32;
    const isa::Kernel kernel = generate(function, "k.ptx");
    EXPECT_GE(kernel.spilled_registers, n - 32);
    EXPECT_LE(kernel.registers, 32U);
    EXPECT_EQ(test::run_ir(function, 3 * n).stores, test::run_machine(kernel, 8 * n, 32).stores);
  }
}

TEST(BackendAllocation, PressureThatNoSpillCanLowerIsRefused) {
  backend::MachineFunction machine = backend::import_function(many_values(6), "k.ptx");
  for (backend::Register& reg : machine.registers) reg.temporary = true;  // never spilled
  EXPECT_NO_THROW(backend::limit_pressure(machine, false, 6));
  try {
    backend::limit_pressure(machine, false, 5);
    FAIL() << "six values do not fit five words";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "k.ptx:6:3: kernel many keeps 6 words of registers at once here, more than the 5 that can be placed; "
                 "split the kernel, or compute values closer to their uses");
  }
}

TEST(BackendAllocation, SpillSlotsLieBehindLocalVariables) {
  IrFunction function = many_values(12);
  function.local_bytes = 20;
  function.code.max_registers = 8;
  const isa::Kernel kernel = generate(function, "k.ptx");
  ASSERT_GT(count(kernel, Op::ST_LOCAL), 0U);
  for (const isa::InstructionWord& word : kernel.words) {
    const isa::Instruction in = *isa::decode(word);
    if (in.op != Op::ST_LOCAL) continue;
    EXPECT_GE(in.imm, 20U);
    EXPECT_EQ(in.a, isa::kRZ);
  }
}

TEST(BackendAllocation, ParametersAndConstantsAreRepeatedInsteadOfSpilled) {
  IrFunction function;
  function.name = "k";
  std::vector<VReg> parameters;
  for (unsigned i = 0; i < 12; ++i) {
    parameters.push_back(function.make(RegClass::word));
    load(function, 4 * i, {parameters.back()});
    function.items.back().instruction.op = Op::LD_PARAM;
  }
  for (unsigned i = 0; i < 12; ++i) store(function, 64 * i, {parameters[i]});
  push(function, Op::EXIT);
  function.code.max_registers = 8;
  const isa::Kernel kernel = generate(function, "k.ptx");
  EXPECT_EQ(kernel.spilled_registers, 0U);
  EXPECT_EQ(count(kernel, Op::LD_LOCAL) + count(kernel, Op::ST_LOCAL), 0U);
  EXPECT_EQ(count(kernel, Op::LD_PARAM), 12U);
  EXPECT_LE(kernel.registers, 8U);
}

TEST(BackendAllocation, ConstantsBecomeImmediates) {
  IrFunction function;
  function.name = "k";
  const VReg constant = function.make(RegClass::word), value = load(function, 0, {function.make(RegClass::word)});
  IrInstruction& move = push(function, Op::MOV);
  move.dst = constant;
  move.immediate = true;
  move.imm = 77;
  IrInstruction& add = push(function, Op::ADD);
  const VReg sum = function.make(RegClass::word);
  add.dst = sum, add.a = constant, add.b = value;  // exchanged
  store(function, 64, {sum});
  push(function, Op::EXIT);
  const isa::Kernel kernel = generate(function, "k.ptx");
  EXPECT_EQ(kernel.words.size(), 4U);
  EXPECT_EQ(isa::decode(kernel.words[1])->imm, 77U);
  expect_same_stores(function, kernel, 2);
}

TEST(BackendAllocation, ChainsOfConstantsBecomeOneOffset) {
  IrFunction function;
  function.name = "k";
  VReg at = load(function, 0, {function.make(RegClass::word)});
  for (const std::uint32_t step : {4U, 8U, 0U}) {
    IrInstruction& add = push(function, Op::ADD);
    add.a = at;
    add.dst = at = function.make(RegClass::word);
    add.immediate = true;
    add.imm = step;
  }
  store(function, 64, {at});  // the sum itself is needed here, so it cannot be only an offset
  function.items.back().instruction.a = at;
  push(function, Op::EXIT);
  const isa::Kernel sum = generate(function, "k.ptx");
  ASSERT_EQ(sum.words.size(), 4U);
  EXPECT_EQ(isa::decode(sum.words[1])->imm, 12U);
  expect_same_stores(function, sum, 2);

  const VReg value = function.make(RegClass::word);
  load(function, 128, {value});
  std::swap(function.items[function.items.size() - 2], function.items.back());  // before the exit
  function.items[function.items.size() - 3].instruction.elements = {value};
  std::swap(function.items[function.items.size() - 3], function.items[function.items.size() - 2]);
  const isa::Kernel offset = generate(function, "k.ptx");
  ASSERT_EQ(offset.words.size(), 4U);
  EXPECT_EQ(isa::decode(offset.words[2])->op, Op::ST_GLOBAL);
  EXPECT_EQ(isa::decode(offset.words[2])->imm, 64U + 12U);
  expect_same_stores(function, offset, 2);
}

TEST(BackendAllocation, MoreThanSevenPredicatesGoToWords) {
  IrFunction function;
  function.name = "k";
  const VReg value = load(function, 0, {function.make(RegClass::word)});
  std::vector<VReg> predicates;
  for (unsigned i = 0; i < 9; ++i) {
    predicates.push_back(function.make(RegClass::predicate));
    IrInstruction& in = push(function, Op::SETP_U32);
    in.p = predicates.back();
    in.a = value;
    in.sub = static_cast<std::uint8_t>(isa::Comparison::lt);
    in.immediate = true;
    in.imm = 12340 + i;
  }
  for (unsigned i = 0; i < 9; ++i) {
    store(function, 64 * i, {value});
    function.items.back().instruction.guard.reg = predicates[i];
  }
  push(function, Op::EXIT);
  const isa::Kernel kernel = generate(function, "k.ptx");
  EXPECT_EQ(kernel.predicates, 7U);
  EXPECT_GT(count(kernel, Op::SEL), 0U);
  EXPECT_EQ(kernel.spilled_registers, 0U);
  EXPECT_EQ(test::run_ir(function, 100).stores.size(), 2 * 3U);  // 12345 < 12346, 12347, 12348
  expect_same_stores(function, kernel, 8);
}

TEST(BackendAllocation, TooFewRegistersSaysWhereAndHowMany) {
  IrFunction function;
  function.name = "wide";
  std::vector<VReg> pairs;
  for (int i = 0; i < 4; ++i) pairs.push_back(function.make(RegClass::pair));
  const VReg address = load(function, 0, {function.make(RegClass::word)});
  for (int i = 0; i < 4; ++i) load(function, 64U * static_cast<unsigned>(i), {pairs[static_cast<std::size_t>(i)]});
  store(function, 0, pairs);
  function.items.back().instruction.a = address;
  const std::uint32_t line = function.items.back().instruction.at.line;
  push(function, Op::EXIT);
  function.code.max_registers = 9;
  EXPECT_NO_THROW(static_cast<void>(generate(function, "wide.ptx")));
  function.code.max_registers = 8;
  try {
    static_cast<void>(generate(function, "wide.ptx"));
    FAIL() << "eight registers and an address do not fit eight registers";
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().file, "wide.ptx");
    EXPECT_EQ(error.where().line, line);
    EXPECT_THAT(error.message(), testing::HasSubstr("kernel wide"));
    EXPECT_THAT(error.hint(), testing::HasSubstr("at least 9 registers"));
  }
}

}  // namespace
}  // namespace heddle::ptx
