// Cooperative launches on the interpreter: blocks take turns and meet at the grid's barriers.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "tests/isa/interpreter_fixture.hpp"

namespace heddle::isa {
namespace {

using test::Code;
using test::KernelRun;
using ::testing::HasSubstr;

struct Together : KernelRun {
  Together(const Code& code, Dim3 grid, Dim3 block) : KernelRun(code, grid, block) { launch.cooperative = true; }
};

// Each thread adds what the same thread of the next block had before the barrier, three times.
Code neighbours(std::uint32_t blocks, std::uint32_t threads) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::ctaid_x);
  code.rri(Op::ADD, 3, 0, 1);
  code.setp(0, Comparison::eq, 3, blocks);
  code.when(0).mov(3, 0);
  code.rri(Op::MUL_LO, 3, 3, 4 * threads);
  code.s2r(4, Special::tid_x);
  code.rri(Op::SHL, 4, 4, 2);
  code.rrr(Op::ADD, 3, 3, 4);
  code.param(4, 0);
  code.rrr(Op::ADD, 3, 3, 4);
  code.rri(Op::ADD, 5, 0, 1);
  code.store(Op::ST_GLOBAL, 1, 5);
  for (unsigned round = 0; round < 3; ++round) {
    code.plain(Op::BAR_GRID);
    code.load(Op::LD_GLOBAL, 6, 3);
    code.rrr(Op::ADD, 5, 5, 6);
    code.plain(Op::BAR_GRID);
    code.store(Op::ST_GLOBAL, 1, 5);
  }
  code.exit();
  return code;
}

TEST(InterpreterGrid, BlocksExchangeAtItsBarrier) {
  for (const unsigned warp_size : {1U, 7U, 32U}) {
    Together run(neighbours(5, 40), {5, 1, 1}, {40, 1, 1});
    const auto out = run.output({warp_size});
    std::vector<std::uint32_t> values = {1, 2, 3, 4, 5};
    for (unsigned round = 0; round < 3; ++round) {
      const std::vector<std::uint32_t> before = values;
      for (unsigned block = 0; block < 5; ++block) {
        values[block] += before[(block + 1) % 5];
      }
    }
    for (unsigned i = 0; i < 200; ++i) {
      EXPECT_EQ(out[i], values[i / 40]) << i;
    }
  }
}

// Block 0 spins until block 1 has counted: the others have their turns meanwhile.
TEST(InterpreterGrid, BlocksThatSpinLetOthersGoOn) {
  Code code;
  code.s2r(0, Special::ctaid_x);
  code.param(1, 0);
  code.setp(0, Comparison::ne, 0, 0);
  code.mov(2, 7);
  code.when(0).store(Op::ST_GLOBAL, 1, 2, 4);
  code.when(0).exit();
  const Code::Pc top = code.here();
  code.load(Op::LDV_GLOBAL, 3, 1, 4);
  code.setp(1, Comparison::eq, 3, 0);
  code.aim(code.when(1).bra(), top, code.here());
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  Together run(code, {2, 1, 1}, {1, 1, 1});
  EXPECT_EQ(run.output()[0], 7U);
}

TEST(InterpreterGrid, ABlockThatHasEndedCanNeverCome) {
  Code code;
  code.s2r(0, Special::ctaid_x);
  code.setp(0, Comparison::lt, 0, 2);
  code.when(0).exit();
  code.plain(Op::BAR_GRID);
  code.exit();
  Together run(code, {5, 1, 1}, {64, 1, 1});
  const std::string text = run.faults(Fault::Kind::barrier_mismatch);
  EXPECT_THAT(text, HasSubstr("barrier mismatch in kernel 'k' at PC 3"));
  EXPECT_THAT(text, HasSubstr("block (2, 0, 0), thread (0, 0, 0)"));
  EXPECT_THAT(text, HasSubstr("the grid's barrier can never complete: 3 blocks wait at it, 2 blocks have ended without "
                              "coming to it"));
}

TEST(InterpreterGrid, AWarpThatWaitsElsewhereCanNeverCome) {
  Code code;
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::lt, 0, 32);
  code.when(0).barrier(Op::BAR_SYNC, kRZ);
  code.plain(Op::BAR_GRID);
  code.exit();
  Together run(code, {2, 1, 1}, {64, 1, 1});
  EXPECT_THAT(
      run.faults(Fault::Kind::barrier_mismatch),
      HasSubstr("warp 0 (32 of its 32 threads) waits at barrier 0, PC 2; warp 1 (32 of its 32 threads) waits at "
                "the grid's barrier, PC 3; barrier 0 has 32 of 64 threads; the grid's barrier has 32 of 64 "
                "threads"));
}

TEST(InterpreterGrid, TheBarrierTakesACooperativeLaunch) {
  Code code;
  code.s2r(0, Special::is_cooperative);
  code.own_slot(1, 2);
  code.store(Op::ST_GLOBAL, 1, 0);
  code.setp(0, Comparison::eq, 0, 0);
  code.when(0).exit();
  code.plain(Op::BAR_GRID);
  code.exit();
  KernelRun plain(code, {2, 1, 1});
  EXPECT_EQ(plain.output()[33], 0U);
  Together run(code, {2, 1, 1}, {32, 1, 1});
  EXPECT_EQ(run.output()[33], 1U);
  Code waits;
  waits.plain(Op::BAR_GRID);
  waits.exit();
  EXPECT_THAT(KernelRun(waits).faults(Fault::Kind::barrier_mismatch), HasSubstr("the launch was not cooperative"));
}

TEST(InterpreterGrid, KeepsSoManyWarpsTogether) {
  Code code;
  code.exit();
  KernelRun run(code, {kMaxTogether + 1, 1, 1}, {1, 1, 1}, 1);
  run.launch.cooperative = true;
  EXPECT_THROW(run.go(), InputError);
}

}  // namespace
}  // namespace heddle::isa
