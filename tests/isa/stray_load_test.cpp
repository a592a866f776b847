// Loads out of bounds that read 0 (InterpreterOptions::trap_on_stray_load).
#include "tests/isa/interpreter_fixture.hpp"

namespace heddle::isa::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

InterpreterOptions without_load_trap() {
  InterpreterOptions options;
  options.trap_on_stray_load = false;
  return options;
}

// Each thread adds 7 to what it loads at its own slot plus `offset`, and stores that into its slot.
Code shifted_load(std::uint32_t offset) {
  Code code;
  code.own_slot(1, 2);
  code.load(Op::LD_GLOBAL, 3, 1, offset);
  code.rri(Op::ADD, 3, 3, 7);
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  return code;
}

TEST(StrayLoad, ReadsZeroAndIsNotedWithItsFirst) {
  KernelRun run(shifted_load(16), {1, 1, 1}, {8, 1, 1});
  for (std::uint32_t i = 0; i < 8; ++i) {
    run.memory.put(run.out + 4 * i, i + 1);
  }
  EXPECT_THAT(run.output(without_load_trap()), ElementsAre(12, 13, 14, 15, 7, 7, 7, 7));
  ASSERT_EQ(run.result.stray_loads.size(), 1U);
  EXPECT_EQ(run.result.stray_loads[0].count, 4U);
  const std::string text = describe(run.result.stray_loads[0]);
  EXPECT_THAT(text,
              HasSubstr("4 loads by one instruction read 0; the first: out-of-bounds access in kernel 'k' at PC "));
  EXPECT_THAT(text, HasSubstr("test.ptx:"));
  EXPECT_THAT(text,
              HasSubstr("block (0, 0, 0), thread (4, 0, 0): 4 bytes at address 0x10000020: load, just past the end "
                        "of buffer 'out' (0x10000000, 32 bytes)"));
}

TEST(StrayLoad, WithoutTheOptionItIsAFault) {
  KernelRun run(shifted_load(16), {1, 1, 1}, {8, 1, 1});
  EXPECT_THAT(run.faults(Fault::Kind::out_of_bounds), HasSubstr("thread (4, 0, 0)"));
  EXPECT_TRUE(run.result.stray_loads.empty());
}

// An access that begins within a buffer and ends beyond reads 0, all of it.
TEST(StrayLoad, AnAccessIsZeroAsAWhole) {
  Code code;
  code.own_slot(1, 2);
  code.load(Op::LD_GLOBAL, 6, 1, 8, Width::b32, 2);  // words 2 and 3 of three
  code.store(Op::ST_GLOBAL, 1, 6);
  code.exit();
  KernelRun run(code, {1, 1, 1}, {1, 1, 1}, 3);
  run.memory.put<std::uint32_t>(run.out, 5);
  run.memory.put<std::uint32_t>(run.out + 8, 6);
  EXPECT_THAT(run.output(without_load_trap()), ElementsAre(0, 0, 6));
}

TEST(StrayLoad, StoresAtomicsAndMisalignedLoadsStayFaults) {
  const auto text = [](Fault::Kind kind, auto body) {
    Code code;
    code.own_slot(1, 2);
    body(code);
    code.exit();
    KernelRun run(code, {1, 1, 1}, {1, 1, 1});
    return run.faults(kind, without_load_trap());
  };
  EXPECT_THAT(text(Fault::Kind::out_of_bounds, [](Code& code) { code.store(Op::ST_GLOBAL, 1, 2, 4); }),
              HasSubstr("store, just past"));
  EXPECT_THAT(text(Fault::Kind::misaligned, [](Code& code) { code.load(Op::LD_GLOBAL, 3, 1, 0x1002); }),
              HasSubstr("no multiple of 4"));
}

}  // namespace
}  // namespace heddle::isa::test
