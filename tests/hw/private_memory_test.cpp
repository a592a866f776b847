// Private memory (private.bytes): the time that its banks take, who shares one, and what goes past it; and the frames
// of local memory that lies in device memory.
#include "hw/private_memory/private_memory.hpp"

#include <gtest/gtest.h>

#include "hw/check/machine.hpp"
#include "hw/subwarp/packing.hpp"
#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using namespace heddle::test;
using isa::Width;

TEST(PrivateCycles, AreTheWordsOfTheThreadsThatShareABank) {
  PrivateAccess access;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    access.bank[lane] = static_cast<std::uint8_t>(lane);
  }
  access.lanes = ~isa::LaneMask{0};
  EXPECT_EQ(private_cycles(access), 1U) << "a bank per lane";
  access.bytes = 1;
  EXPECT_EQ(private_cycles(access), 1U);
  access.bytes = 16;
  EXPECT_EQ(private_cycles(access), 4U) << "four words of each";
  access.bytes = 4;
  access.bank[5] = access.bank[9] = access.bank[30] = 2;
  EXPECT_EQ(private_cycles(access), 4U) << "threads of lane 2 in four lanes";
  access.bytes = 8;
  EXPECT_EQ(private_cycles(access), 8U);
  access.lanes &= ~(isa::LaneMask{1} << 9U);
  EXPECT_EQ(private_cycles(access), 6U) << "lane 9 does not access";
}

Machine private_machine(unsigned private_bytes) {
  Machine machine;
  machine.private_memory.bytes = private_bytes;
  return machine;
}

// Cycles of a round of a loop that `emit` adds to, once its instructions are in the I-cache, and of the same warp what
// has been counted in all.
struct PrivateRound {
  double cycles = 0;
  Totals totals;
};
template <class Emit>
PrivateRound private_round(GpuBench& bench, Emit emit) {
  PrivateRound round;
  Totals of[2];
  for (const unsigned many : {0U, 0U, 1U}) {
    Code code;
    code.s2r(3, Special::tid_x);
    code.mov(4, 0);
    add_loop(code, many != 0 ? 30 : 10, [&] { emit(code); });
    code.exit();
    LaunchShape shape;
    shape.local_bytes = 256;
    of[many] = bench.run(code, shape);
  }
  round.totals = difference(of[1], of[0]);
  round.cycles = static_cast<double>(of[1].cycles - of[0].cycles) / 20;
  return round;
}

TEST(PrivateMemory, ServesAWordOfEachLaneInACycle) {
  GpuBench bench(private_machine(128));
  const unsigned own = 7 * kLoopInstructions;
  for (const unsigned words : {1U, 2U, 4U}) {
    const PrivateRound round = private_round(bench, [&](Code& code) {
      code.load(Op::LD_LOCAL, 8, 4, 112, words == 1 ? Width::b32 : Width::b64, words == 4 ? 2 : 1);
    });
    EXPECT_EQ(round.cycles, own + 7 + words - 1) << words << " words";
    EXPECT_EQ(round.totals.private_memory.accesses, 20U);
    EXPECT_EQ(round.totals.private_memory.bank_conflicts, 0U);
    EXPECT_EQ(round.totals.l1d.accesses, 0U);
    EXPECT_EQ(round.totals.core.memory_instructions, 0U) << "nothing that a warp would wait for";
  }
}

TEST(PrivateMemory, EndsWhereTheL1Begins) {
  GpuBench bench(private_machine(128));
  const PrivateRound last = private_round(bench, [](Code& code) { code.store(Op::ST_LOCAL, 4, 3, 124); });
  EXPECT_EQ(last.totals.private_memory.accesses, 20U);
  EXPECT_EQ(last.totals.l1d.accesses, 0U);
  const PrivateRound behind = private_round(bench, [](Code& code) { code.store(Op::ST_LOCAL, 4, 3, 128); });
  EXPECT_EQ(behind.totals.private_memory.accesses, 0U);
  EXPECT_EQ(behind.totals.l1d.accesses, 20U);
  EXPECT_EQ(behind.totals.core.memory_instructions, 20U);
}

// Thread t loads what it has stored at 4 t: threads 0 to 15 on the chip, the others from their lines.
TEST(PrivateMemory, OneAccessMayGoBothWays) {
  GpuBench bench(private_machine(64));
  Code code;
  code.s2r(3, Special::tid_x);
  code.rri(Op::SHL, 4, 3, 2);
  code.rri(Op::ADD, 6, 3, 1000);
  code.store(Op::ST_LOCAL, 4, 6);
  code.load(Op::LD_LOCAL, 5, 4);
  code.load(Op::LD_LOCAL, 7, isa::kRZ, 60);
  code.rrr(Op::ADD, 5, 5, 7);
  code.param(8, 0);
  code.rrr(Op::ADD, 8, 8, 4);
  code.store(Op::ST_GLOBAL, 8, 5);
  code.exit();
  LaunchShape shape;
  shape.local_bytes = 128;
  const Totals totals = bench.run(code, shape);
  for (unsigned thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(bench.word(thread), 1000 + thread + (thread == 15 ? 1015U : 0U)) << thread;
  }
  EXPECT_EQ(totals.private_memory.accesses, 3U);
  EXPECT_EQ(totals.core.memory_instructions, 3U) << "two that go both ways, and the store of the result";
}

// Free packing brings threads of one column together, whose data are in one bank.
TEST(PrivateMemory, ThreadsOfOneColumnTakeTurns) {
  Machine machine = private_machine(128);
  machine.core.warp_size = 64;
  machine.core.former = "packed-freely";
  machine.core.policies.of<PackingParameters>().memory_by_rows = false;
  GpuBench bench(machine);
  Code code;
  code.s2r(3, Special::tid_x);
  code.rri(Op::AND, 3, 3, 31);
  code.setp(1, isa::Comparison::eq, 3, 0);  // threads 0 and 32
  code.when(1).load(Op::LD_LOCAL, 5, isa::kRZ, 0);
  code.exit();
  LaunchShape shape;
  shape.block = {64, 1, 1};
  shape.local_bytes = 128;
  const Totals totals = bench.run(code, shape);
  EXPECT_EQ(totals.private_memory.accesses, 1U);
  EXPECT_EQ(totals.private_memory.bank_conflicts, 1U);
}

// Lines that a core asks for where each thread stores a word at one offset, loads it, and stores it to global memory.
std::uint64_t lines_of_one_offset(unsigned frame_bytes) {
  Machine machine = private_machine(0);
  machine.private_memory.frame_bytes = frame_bytes;
  GpuBench bench(machine);
  Code code;
  code.s2r(3, Special::tid_x);
  code.rri(Op::SHL, 4, 3, 2);
  code.rri(Op::ADD, 6, 3, 1000);
  code.store(Op::ST_LOCAL, isa::kRZ, 6, 128);
  code.load(Op::LD_LOCAL, 5, isa::kRZ, 128);
  code.param(8, 0);
  code.rrr(Op::ADD, 8, 8, 4);
  code.store(Op::ST_GLOBAL, 8, 5);
  code.exit();
  LaunchShape shape;
  shape.local_bytes = 132;
  const Totals totals = bench.run(code, shape);
  for (unsigned thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(bench.word(thread), 1000 + thread) << thread;
  }
  return totals.core.line_requests;
}

TEST(PrivateMemory, ThreadsShareLinesOfDeviceMemory) {
  EXPECT_EQ(lines_of_one_offset(0), 1U + 1 + 1);
}
TEST(PrivateMemory, FramesLieApartInDeviceMemory) {
  EXPECT_EQ(lines_of_one_offset(256), 32U + 32 + 1);
}

std::string private_refused(const Machine& machine) {
  std::string text;
  for (const Contradiction& found : check(machine)) {
    text += found.key + ": " + found.message + "\n";
  }
  return text;
}

TEST(PrivateMemory, IsACoresAndOfWholeAccesses) {
  EXPECT_EQ(private_refused(private_machine(128)), "");
  EXPECT_EQ(private_refused(private_machine(24)),
            "private.bytes: private.bytes (24) is no multiple of 16, the widest access of a thread\n");
  Machine frames = private_machine(0);
  frames.private_memory.frame_bytes = 100;
  EXPECT_EQ(private_refused(frames),
            "private.frame_bytes: private.frame_bytes (100) is no multiple of 64, the largest vector that a thread "
            "accesses at once; use 128\n");
  Machine moving = private_machine(128);
  moving.core.divergence = "odgs";
  EXPECT_EQ(
      private_refused(moving),
      "private.bytes: core.divergence = \"odgs\" moves threads between cores, away from the private memory of the "
      "core in which they began; use private.bytes = 0\n");
  Machine of_parts = private_machine(128);
  of_parts.core.sub_cores = 4;
  EXPECT_EQ(
      private_refused(of_parts),
      "private.bytes: core.sub_cores (4) have lanes of their own, and private memory has a bank for each lane of a "
      "core; use core.sub_cores = 1 or private.bytes = 0\n");
}

}  // namespace
}  // namespace heddle::hw
