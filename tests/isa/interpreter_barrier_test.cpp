#include <gmock/gmock.h>

#include "tests/isa/interpreter_fixture.hpp"

namespace heddle::isa {
namespace {

using test::Code;
using test::KernelRun;
using ::testing::HasSubstr;

KernelRun with_scratchpad(const Code& code, Dim3 grid, Dim3 block) {
  Module module = code.module();
  module.kernels[0].shared_bytes = 4096;
  return KernelRun(std::move(module), grid, block);
}

TEST(InterpreterBarrier, ExchangeBetweenWarpsThroughScratchpad) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.rri(Op::SHL, 3, 0, 2);
  code.rri(Op::MUL_LO, 4, 0, 3);
  code.store(Op::ST_SHARED, 3, 4);
  code.barrier(Op::BAR_SYNC, kRZ);
  code.mov(5, 99 * 4);
  code.rrr(Op::SUB, 5, 5, 3);
  code.load(Op::LD_SHARED, 4, 5);
  code.store(Op::ST_GLOBAL, 1, 4);
  code.exit();
  for (const unsigned warp_size : {1U, 7U, 32U}) {
    KernelRun run = with_scratchpad(code, {2, 1, 1}, {100, 1, 1});
    const auto out = run.output({warp_size});
    for (std::uint32_t i = 0; i < 200; ++i) {
      EXPECT_EQ(out[i], 3 * (99 - i % 100));
    }
  }
}

TEST(InterpreterBarrier, ExitedThreadsAreNotWaitedFor) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::lt, 0, 40);
  code.when(0).exit();  // all of warp 0, part of warp 1, after warp 0 may already wait
  code.barrier(Op::BAR_SYNC, kRZ);
  code.mov(3, 6);
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  KernelRun run(code, {}, {96, 1, 1});
  const auto out = run.output();
  for (std::uint32_t t = 0; t < 96; ++t) {
    EXPECT_EQ(out[t], t < 40 ? 0U : 6U);
  }
}

TEST(InterpreterBarrier, AnExitCanCompleteABarrier) {
  Code code;
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::ge, 0, 32);
  code.when(0).exit();  // warp 1, after warp 0 has arrived
  code.barrier(Op::BAR_SYNC, kRZ);
  code.exit();
  KernelRun run(code, {}, {64, 1, 1});
  EXPECT_FALSE(run.go().fault);
}

// Warps 0 and 1 produce (arrive), warps 2 and 3 consume (sync) at barrier 3 with a count.
TEST(InterpreterBarrier, NamedBarriersCountArrivals) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.mov(6, 3);
  code.rri(Op::SHL, 3, 0, 2);
  code.setp(0, Comparison::lt, 0, 64);
  const auto branch = code.when(0).bra();
  code.barrier(Op::BAR_SYNC, 6, 128);
  code.load(Op::LD_SHARED, 4, 3, static_cast<std::uint32_t>(-256));
  code.store(Op::ST_GLOBAL, 1, 4);
  code.exit();
  code.aim(branch, code.here());
  code.rri(Op::ADD, 4, 0, 500);
  code.store(Op::ST_SHARED, 3, 4);
  code.barrier(Op::BAR_ARRIVE, 6, 128);
  code.store(Op::ST_GLOBAL, 1, 6);
  code.exit();
  KernelRun run = with_scratchpad(code, {}, {128, 1, 1});
  const auto out = run.output();
  for (std::uint32_t t = 0; t < 128; ++t) {
    EXPECT_EQ(out[t], t < 64 ? 3 : 500 + t - 64);
  }
}

TEST(InterpreterBarrier, ReductionsCombineAllThreads) {
  const auto run = [](std::uint32_t below) {
    Code code;
    code.own_slot(1, 2);
    code.s2r(0, Special::tid_x);
    code.setp(0, Comparison::lt, 0, below);
    code.barrier(Op::BAR_RED_POPC, kRZ, 0, 3, Pred{0, false});
    code.barrier(Op::BAR_RED_AND, kRZ, 0, pred_pair(1), Pred{0, false});
    code.barrier(Op::BAR_RED_OR, kRZ, 0, pred_pair(2), Pred{0, true});
    code.when(1).rri(Op::ADD, 3, 3, 1000);
    code.when(2).rri(Op::ADD, 3, 3, 2000);
    code.store(Op::ST_GLOBAL, 1, 3);
    code.exit();
    KernelRun out(code, {}, {50, 1, 1});
    const auto values = out.output();
    EXPECT_EQ(std::vector<std::uint32_t>(50, values[0]), values);
    return values[0];
  };
  EXPECT_EQ(run(0), 2000U);
  EXPECT_EQ(run(37), 2037U);
  EXPECT_EQ(run(50), 1050U);
}

TEST(InterpreterBarrier, SpinningOnAFlagOfAnotherWarpMakesProgress) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::ge, 0, 32);
  const auto branch = code.when(0).bra();
  const auto spin = code.load(Op::LD_SHARED, 3, kRZ, 0);
  code.setp(1, Comparison::eq, 3, 0);
  code.aim(code.when(1).bra(), spin, code.here());
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  code.aim(branch, code.here());
  code.mov(3, 4);
  code.store(Op::ST_SHARED, kRZ, 3);
  code.exit();
  KernelRun run = with_scratchpad(code, {}, {64, 1, 1});
  const auto out = run.output();
  EXPECT_EQ(out[0], 4U);
  EXPECT_EQ(out[31], 4U);
  EXPECT_GT(run.result.warp_instructions, 512U);
}

TEST(InterpreterBarrier, SpinningInsideOneWarpIsALivelock) {
  Code code;  // thread 1 would set the flag, but thread 0 of its warp spins first
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::eq, 0, 1);
  const auto branch = code.when(0).bra();
  const auto spin = code.load(Op::LD_SHARED, 3, kRZ, 0);
  code.setp(1, Comparison::eq, 3, 0);
  code.aim(code.when(1).bra(), spin, code.here());
  const auto meet = code.exit();
  const auto set = code.mov(3, 1);
  code.store(Op::ST_SHARED, kRZ, 3);
  code.bra(meet);
  code.aim(branch, set, meet);
  InterpreterOptions options;
  options.max_instructions_per_thread = 10'000;
  KernelRun run = with_scratchpad(code, {}, {2, 1, 1});
  EXPECT_THAT(run.faults(Fault::Kind::livelock, options), HasSubstr("thread (0, 0, 0)"));
}

// ---- mismatches

TEST(InterpreterBarrier, BarrierInOneBranchOfAWarpNamesWhoWaits) {
  Code code;
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::ge, 0, 10);
  const auto branch = code.when(0).bra();
  code.barrier(Op::BAR_SYNC, kRZ);  // PC 3: threads 0 to 9 of warp 0 only
  const auto meet = code.exit();
  code.aim(branch, meet, meet);
  KernelRun run(code, {}, {64, 1, 1});
  const std::string text = run.faults(Fault::Kind::barrier_mismatch);
  EXPECT_THAT(text, HasSubstr("barrier mismatch in kernel 'k' at PC 3"));
  EXPECT_THAT(text, HasSubstr("warp 0 (10 of its 32 threads) waits at barrier 0, PC 3"));
  EXPECT_THAT(text, HasSubstr("barrier 0 has 10 of 32 threads"));
  EXPECT_THAT(text, HasSubstr("32 threads have exited"));
}

TEST(InterpreterBarrier, WarpsAtDifferentBarriersAreStuck) {
  Code code;
  code.s2r(0, Special::tid_x);
  code.rri(Op::SHR_U, 0, 0, 5);
  code.barrier(Op::BAR_SYNC, 0);  // warp w at barrier w
  code.exit();
  KernelRun run(code, {}, {64, 1, 1});
  const std::string text = run.faults(Fault::Kind::barrier_mismatch);
  EXPECT_THAT(text, HasSubstr("warp 0 (32 of its 32 threads) waits at barrier 0, PC 2; warp 1 (32 of its 32 threads) "
                              "waits at barrier 1, PC 2"));
}

TEST(InterpreterBarrier, BadBarriersAndCountsFault) {
  const auto text = [](auto body) {
    Code code;
    code.s2r(0, Special::tid_x);
    code.setp(0, Comparison::lt, 0, 32);
    body(code);
    code.exit();
    KernelRun run(code, {}, {64, 1, 1});
    return run.faults(Fault::Kind::barrier_mismatch);
  };
  EXPECT_THAT(text([](Code& code) {
                code.mov(1, 15);
                code.barrier(Op::BAR_SYNC, 1);  // the last one that exists
                code.mov(1, 16);
                code.barrier(Op::BAR_SYNC, 1);
              }),
              HasSubstr("barrier 16 does not exist; there are 0 to 15"));
  EXPECT_THAT(text([](Code& code) {
                code.rri(Op::AND, 1, 0, 1);
                code.barrier(Op::BAR_SYNC, 1);
              }),
              HasSubstr("threads of one warp name different barriers or counts"));
  EXPECT_THAT(text([](Code& code) { code.barrier(Op::BAR_SYNC, kRZ, 16); }),
              HasSubstr("32 threads have arrived at barrier 0, which expects 16"));
  EXPECT_THAT(text([](Code& code) {
                code.when(0).barrier(Op::BAR_SYNC, kRZ, 96);
                code.barrier(Op::BAR_SYNC, kRZ, 64);
              }),
              HasSubstr("barrier 0 expects 96 threads, but threads arrive that expect 64"));
  EXPECT_THAT(text([](Code& code) {
                code.when(0).barrier(Op::BAR_RED_POPC, kRZ, 0, 3);
                code.barrier(Op::BAR_RED_AND, kRZ, 0, pred_pair(1));
              }),
              HasSubstr("bar.red.popc and bar.red.and meet at barrier 0"));
}

// ---- between lanes

TEST(InterpreterBarrier, ShuffleAndVoteSeeTheExecutingLanes) {
  Code code;
  code.own_slot(1, 2);
  code.s2r(0, Special::tid_x);
  code.setp(0, Comparison::lt, 0, 20);
  Instruction shuffle;  // lane - 1
  shuffle.op = Op::SHFL_UP;
  shuffle.dst = 3;
  shuffle.a = 0;
  shuffle.b = 5;
  shuffle.mods = 1;  // p1: the source lane was in range
  code.mov(5, 1);
  code.add(shuffle);
  Instruction ballot;
  ballot.op = Op::BALLOT;
  ballot.dst = 4;
  ballot.immediate = true;
  ballot.imm = 0xffff'ffff;
  ballot.c = static_cast<std::uint8_t>(Pred{0, false}.bits());
  code.add(ballot);
  code.when(1, true).mov(3, 1000);
  code.rrr(Op::ADD, 3, 3, 4);
  code.store(Op::ST_GLOBAL, 1, 3);
  code.exit();
  KernelRun run(code);
  const auto out = run.output();
  EXPECT_EQ(out[0], 1000U + 0xf'ffffU);
  for (std::uint32_t t = 1; t < 32; ++t) {
    EXPECT_EQ(out[t], t - 1 + 0xf'ffffU);
  }
}

}  // namespace
}  // namespace heddle::isa
