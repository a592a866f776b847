// Conditional accumulate (thesis 7.1) in the interpreter: what is written where, the count, and faults that write
// nothing.
#include <gmock/gmock.h>

#include "tests/isa/interpreter_fixture.hpp"

namespace heddle::isa {
namespace {

using test::Code;
using test::KernelRun;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

// 32 threads: r0 the output buffer, r1 the lane, p0 lane >= 20.
Code upper_lanes() {
  Code code;
  code.param(0, 0);
  code.s2r(1, Special::laneid);
  code.setp(0, Comparison::ge, 1, 20);
  return code;
}

TEST(InterpreterSearch, AccumulateWritesContiguouslyAndCounts) {
  for (const unsigned bytes : {1U, 2U, 4U, 8U}) {
    Code code = upper_lanes();
    code.rri(Op::ADD, 2, 1, 0x1000);  // the value; of 8-byte elements r2 and r3
    code.rri(Op::SHL, 3, 1, 8);
    code.accumulate(Op::COND_ACC_GLOBAL, bytes, 4, 0, {0, false}, 2);
    code.rri(Op::SHL, 5, 1, 2);
    code.rrr(Op::ADD, 5, 5, 0);
    code.store(Op::ST_GLOBAL, 5, 4, 4 * 32);  // every thread has the count
    code.exit();
    KernelRun run(code, {}, {32, 1, 1}, 64);
    const std::vector<std::uint32_t> out = run.output();
    std::vector<std::uint8_t> got(12 * bytes + 4);
    run.memory.read(run.out, std::as_writable_bytes(std::span(got)));
    for (unsigned i = 0; i < 12; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, got.data() + i * bytes, bytes);
      const std::uint64_t full = (0x1000 + 20 + i) | (std::uint64_t{20 + i} << 40U);
      EXPECT_EQ(value, bytes == 8 ? full : full & ((std::uint64_t{1} << (8 * bytes)) - 1)) << bytes << " " << i;
    }
    EXPECT_THAT(std::vector<std::uint8_t>(got.end() - 4, got.end()), Each(0)) << bytes;
    EXPECT_THAT(std::vector<std::uint32_t>(out.begin() + 32, out.end()), Each(12U)) << bytes;
  }
}

TEST(InterpreterSearch, ThreadsThatDoNotExecuteNeitherWriteNorCount) {
  Code code = upper_lanes();
  code.setp(1, Comparison::lt, 1, 22);
  code.mov(4, 99);
  code.when(1).accumulate(Op::COND_ACC_GLOBAL, 4, 4, 0, {0, false}, 1);
  code.rri(Op::SHL, 5, 1, 2);
  code.rrr(Op::ADD, 5, 5, 0);
  code.store(Op::ST_GLOBAL, 5, 4, 4 * 32);
  code.exit();
  const std::vector<std::uint32_t> out = KernelRun(code, {}, {32, 1, 1}, 64).output();
  EXPECT_EQ(out[0], 20U);
  EXPECT_EQ(out[1], 21U);
  EXPECT_EQ(out[2], 0U);
  EXPECT_EQ(out[32], 2U);
  EXPECT_EQ(out[32 + 21], 2U);
  EXPECT_EQ(out[32 + 22], 99U);
}

TEST(InterpreterSearch, AnAccumulateThatDoesNotFitWritesNothing) {
  for (const unsigned fits : {12U, 11U}) {
    Code code = upper_lanes();
    code.rri(Op::ADD, 0, 0, 4 * (64 - fits));
    code.accumulate(Op::COND_ACC_GLOBAL, 4, 4, 0, {0, false}, 1);
    code.exit();
    KernelRun run(code, {}, {32, 1, 1}, 64);
    if (fits == 12) {
      EXPECT_EQ(run.output()[63], 31U);
      continue;
    }
    // The twelfth element, of lane 31.
    EXPECT_THAT(run.faults(Fault::Kind::out_of_bounds),
                AllOf(HasSubstr("thread (31, 0, 0)"), HasSubstr("store, just past the end of buffer 'out'")));
    std::vector<std::uint32_t> out(64);
    run.memory.read(run.out, std::as_writable_bytes(std::span(out)));
    EXPECT_THAT(out, Each(0U));
  }
}

TEST(InterpreterSearch, AnAccumulateDoesNotRunIntoTheNextAllocation) {
  Code code = upper_lanes();
  code.accumulate(Op::COND_ACC_GLOBAL, 4, 4, 0, {0, false}, 1);
  code.exit();
  KernelRun run(code, {}, {32, 1, 1}, 64);
  // Two allocations without a gap between them.
  run.memory.place("near", 0x20000000, 4 * 11);
  run.memory.place("far", 0x20000000 + 4 * 11, 64);
  run.set_parameters({0x20000000});
  EXPECT_THAT(run.faults(Fault::Kind::out_of_bounds), HasSubstr("thread (31, 0, 0)"));
  EXPECT_EQ(run.memory.get<std::uint32_t>(0x20000000), 0U);
}

TEST(InterpreterSearch, AccumulateChecksAlignmentAndTheScratchpadsEnd) {
  Code code = upper_lanes();
  code.mov(2, 6);
  code.accumulate(Op::COND_ACC_SHARED, 4, 4, 2, {0, false}, 1);
  code.exit();
  KernelRun run(code);
  EXPECT_THAT(run.faults(Fault::Kind::misaligned), HasSubstr("thread (20, 0, 0)"));
  Code past = upper_lanes();
  past.mov(2, 4);
  past.accumulate(Op::COND_ACC_SHARED, 4, 4, 2, {0, false}, 1);
  past.exit();
  KernelRun second(past);
  second.module.kernels[0].shared_bytes = 4 * 12;
  EXPECT_THAT(second.faults(Fault::Kind::out_of_bounds), HasSubstr("store at offset 48 of the block's scratchpad"));
  second.module.kernels[0].shared_bytes = 4 * 13;
  EXPECT_FALSE(second.go().fault);
  // No thread writes: no address is looked at.
  Code none;
  none.mov(2, 3);
  none.setp(0, Comparison::ne, kRZ, 0);
  none.accumulate(Op::COND_ACC_SHARED, 4, 4, 2, {0, false}, 1);
  none.exit();
  EXPECT_FALSE(KernelRun(none).go().fault);
}

}  // namespace
}  // namespace heddle::isa
