// Branches, pragmas, barriers and exchange between lanes: the machine operations that PTX becomes, and what is refused
// where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/lower_cases.hpp"

namespace heddle::ptx::test {
namespace {

TEST(LowerControl, SelectsOperations) {
  expect_lowered({
      {"bra L; L: exit;", {"bra L0", "L0:"}},
      {"@%p1 bra.uni L; L: exit;", {"@%p1 bra L0", "L0:"}},
      {"@%p1 ret;", {"@%p1 exit"}},
      {"trap;", {"trap"}},
      {"@!%p1 trap;", {"@!%p1 trap"}},
      {"ts: .branchtargets A, B, C; brx.idx %r1, ts; A: exit; B: exit; C: exit;",
       {"setp.u32 t0, %r1, #0", "@t0 bra L0", "setp.u32 t1, %r1, #1", "@t1 bra L1", "bra L2", "L0:", "exit",
        "L1:", "exit", "L2:"}},
      {"ts: .branchtargets A, B; @%p1 brx.idx.uni %r1, ts; A: exit; B: exit;",
       {"@!%p1 bra L0", "setp.u32 t0, %r1, #0", "@t0 bra L1", "bra L2", "L0:", "L1:", "exit", "L2:"}},
      {".pragma \"row_hint\"; ld.global.u32 %r1, [%rd1];", {"ld.global.e'36 %rd1, #0, {%r1}"}},
      {".pragma \"nounroll\";", {}},
      {".pragma \"warp_size 64\";", {}},
  });
}

TEST(LowerControl, Refuses) {
  expect_refused({
      {"bra M; L: exit;", "t.ptx:8:5: the label 'M' is not defined; did you mean 'L'?"},
      {"brx.idx %r1, none; none: exit;",
       "t.ptx:8:14: 'none' is a label, not a list of branch targets; use another name"},
      {"pmevent 1, 2;",
       "t.ptx:8:1: 'pmevent' with these modifiers takes 1 operands and has 2; compare the operands with the PTX "
       "manual's"},
      {"wgmma.fence.sync.aligned;",
       "t.ptx:8:1: instruction 'wgmma' is not supported; matrices are multiplied by mma or wmma and loaded by "
       "ldmatrix"},
      {"cp.async.bulk.tensor.1d.shared::cta.global [s], [%rd1], [s];",
       "t.ptx:8:1: cp.async.bulk.tensor is not supported; copy rows by cp.async.bulk or cp.async"},
      {"cp.async.ca.shared.global [s], [%rd1], 12;",
       "t.ptx:8:40: cp.async copies 4, 8 or 16 bytes; write one of these numbers"},
      {"cp.async.cg.shared.global [s], [%rd1], 8;", "t.ptx:8:40: cp.async.cg copies 16 bytes; write .ca for less"},
      {"cp.async.ca.shared::cluster.global [s], [%rd1], 8;",
       "t.ptx:8:1: cp.async copies to the block's shared memory; write .shared.global"},
      {"@%p1 tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [t, {%f0,%f1}];",
       "t.ptx:8:6: instruction 'tld4' is not supported; textures are fetched from by tex.1d and tex.2d"},
      {"sured.b.add.1d.u32.trap [surf, {%r2}], %r1;",
       "t.ptx:8:1: instruction 'sured' is not supported; surfaces are accessed by suld and sust; use a buffer with "
       "atom.global"},
      {"mbarrier.test_wait.shared.b64 %p1, [s];",
       "t.ptx:8:1: 'mbarrier' with these modifiers takes 3 operands and has 2; compare the operands with the PTX "
       "manual's"},
      {"ad.u32 %r1, %r2, 1;", "t.ptx:8:1: unknown instruction 'ad'; did you mean 'add'?"},
      {"fleury.u32 %r1;", "t.ptx:8:1: unknown instruction 'fleury'; docs/ptx.md lists the instructions that there are"},
      {"call nothing;",
       "t.ptx:8:6: the function or call prototype 'nothing' is not declared; declare functions before their use"},
      {"call (%r1), %r2, (%r3);",
       "t.ptx:8:13: the call through a register names no prototype; write the name of a .callprototype or .calltargets "
       "behind the arguments"},
      {"@%r1 add.u32 %r1, %r2, 1;",
       "t.ptx:8:2: '%r1' is a .b32 register, the guard must be a predicate; set a .pred register with setp"},
      {".pragma \"row_hint\"; ld.shared.u32 %r1, [%rd1];",
       "t.ptx:8:21: pragma \"row_hint\" stands before a load that reaches no DRAM; use it for global loads only"},
      {".pragma \"row_hint\"; add.u32 %r1, %r2, 1;",
       "t.ptx:8:1: pragma \"row_hint\" stands before no load; put it directly before the load it is for"},
      {".pragma \"row_hint\";",
       "t.ptx:8:1: pragma \"row_hint\" stands before no load; put it directly before the load it is for"},
      {".pragma \"warp_size 0\";",
       "t.ptx:8:1: pragma \"warp_size 0\" names no warp size; write a number from 1 to 1024"},
      {".pragma \"frobnicate\";",
       "t.ptx:8:1: unknown pragma \"frobnicate\"; known ones: \"row_hint\" before a load, \"warp_size N\", "
       "\"lane_groups N\", \"nounroll\", \"used_bytes_mask ...\", \"enable_smem_spilling\", \"frequency ...\""},
  });
}

// The extensions for database search.
TEST(LowerSearch, SelectsOperations) {
  expect_lowered({
      {"cond_acc.global.b32 %r1, [%rd1], %p1, %r2;", {"cond_acc.global.e:2 %r1, %rd1, %r2, [%p1]"}},
      {"cond_acc.global.b32 %r1, [%r3], !%p1, %f1;", {"cond_acc.global:2 %r1, %r3, %f1, [!%p1]"}},
      {"cond_acc.shared.b64 _, [%r3], %p1, %rd2;", {"cond_acc.shared:3 %r3, %rd2, [%p1]"}},
      {"cond_acc.shared.b16 %r1, [s+4], %p1, %h2;", {"mov t0, #4", "cond_acc.shared:1 %r1, t0, %h2, [%p1]"}},
      {"@!%p2 cond_acc.shared.b8 %r1, [%r3+8], 1, %r2;", {"add t0, %r3, #8", "@!%p2 cond_acc.shared %r1, t0, %r2"}},
      {"cond_acc.shared.b32 %r1, [%r3], %p1, 0;", {"cond_acc.shared:2 %r1, %r3, rz, [%p1]"}},
      {"tree_traverse.u32 %r1, %r2, %p1, 5;", {"tree_traverse %r1, %r2, #5, [%p1]"}},
      {"tree_traverse.size.u32 %r1, %r2, %p1, 32;", {"tree_traverse.size %r1, %r2, #32, [%p1]"}},
      {"tree_traverse.size.u32 %r1, %r2, %p1, %r3;", {"tree_traverse.size %r1, %r2, %r3, [%p1]"}},
      {"@%p2 tree_traverse.u32 %r1, 32, !%p1, %r3;", {"mov t0, #32", "@%p2 tree_traverse %r1, t0, %r3, [!%p1]"}},
  });
}

TEST(LowerSearch, Refuses) {
  expect_refused({
      {"cond_acc.b32 %r1, [%rd1], %p1, %r2;",
       "t.ptx:8:1: 'cond_acc' expects a state space where .b32 stands; write one of .shared .global"},
      {"cond_acc.local.b32 %r1, [%rd1], %p1, %r2;",
       "t.ptx:8:1: 'cond_acc' expects a state space where .local stands; write one of .shared .global"},
      {"cond_acc.global.u32 %r1, [%rd1], %p1, %r2;",
       "t.ptx:8:1: 'cond_acc' does not take type .u32 here; this instruction takes .b8 .b16 .b32 .b64"},
      {"cond_acc.global.b32 %r1, [%rd1], %p1;",
       "t.ptx:8:1: 'cond_acc' with these modifiers takes 4 operands and has 3; compare the operands with the PTX "
       "manual's"},
      {"cond_acc.global.b64 %r1, [%rd1], %p1, %r2;",
       "t.ptx:8:39: a register of type .b32 stands where the access has type .b64; use a register of type .b64"},
      {"cond_acc.global.b32 %r1, [%rd1], %r2, %r2;",
       "t.ptx:8:34: a predicate is expected here; use a register declared .pred"},
      {"tree_traverse.b32 %r1, %r2, %p1, 5;",
       "t.ptx:8:1: 'tree_traverse' does not take type .b32 here; this instruction takes .u32"},
      {"tree_traverse.size.u32 %r1, %r2, %p1, 24;",
       "t.ptx:8:39: the size of a node is a power of 2, and 24 is none; pad the nodes"},
      {"tree_traverse.u32 %r1;",
       "t.ptx:8:1: 'tree_traverse' with these modifiers takes 4 operands and has 1; compare the operands with the PTX "
       "manual's"},
  });
}

TEST(LowerProgress, IsAnOperationWithoutOperands) {
  expect_lowered({{"progress;", {"progress"}}, {"@!%p2 progress;", {"@!%p2 progress"}}});
  expect_refused({
      {"progress %r1;",
       "t.ptx:8:1: 'progress' with these modifiers takes 0 operands and has 1; compare the operands with the PTX "
       "manual's"},
      {"progress.u32;",
       "t.ptx:8:1: 'progress' has an unknown or misplaced modifier .u32; remove it; modifiers are read in the order of "
       "the PTX manual"},
  });
}

TEST(LowerWarp, SelectsOperations) {
  expect_lowered({
      {"bar.sync 0;", {"bar.sync rz, #0"}},
      {"@%p1 bar.sync 1, 64;", {"mov t0, #1", "@%p1 bar.sync t0, #64"}},
      {"bar.sync %r1, %r2;", {"bar.sync %r1, %r2"}},
      {"bar.arrive 2, 64;", {"mov t0, #2", "bar.arrive t0, #64"}},
      {"bar.red.popc.u32 %r1, 0, !%p1;", {"bar.red.popc %r1, rz, #0, [!%p1]"}},
      {"bar.red.and.pred %p1, 1, 64, %p2;", {"mov t0, #1", "bar.red.and %p1, t0, #64, [%p2]"}},
      {"barrier.sync.aligned 0;", {"bar.sync rz, #0"}},
      {"barrier.cta.sync 0;", {"bar.sync rz, #0"}},
      {"barrier.cta.red.popc.aligned.u32 %r1, 0, %p1;", {"bar.red.popc %r1, rz, #0, [%p1]"}},
      {"barrier.grid.sync;", {"bar.grid"}},
      {"@!%p1 barrier.grid.sync;", {"@!%p1 bar.grid"}},
      {"bar.warp.sync -1;", {"nop"}},
      {"bar.cta.sync 3;", {"mov t0, #3", "bar.sync t0, #0"}},
      {"vote.all.pred %p1, !%p2;", {"vote.all %p1, #-1, [!%p2]"}},
      {"vote.sync.any.pred %p1, %p2, 0xffff;", {"vote.any %p1, #65535, [%p2]"}},
      {"vote.sync.ballot.b32 %r1, %p1, %r2;", {"vote.ballot %r1, %r2, [%p1]"}},
      {"vote.ballot.sync.b32 %r1, %p1, %r2;", {"vote.ballot %r1, %r2, [%p1]"}},
      {"vote.ballot.b32 %r1, 1;", {"vote.ballot %r1, #-1"}},
      {"shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;",
       {"mov t0, #16", "mov t1, #31", "shfl.down %r1, %p1, %r2, t0, t1, rz"}},
      {"shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;", {"mov t0, #31", "shfl.bfly %r1, %r2, #16, t0, rz"}},
      {"shfl.sync.idx.b32 %r1, %r2, 3, %r3, %r0;", {"mov t0, #3", "shfl.idx %r1, %r2, t0, %r3, %r0"}},
      {"@%p2 shfl.up.b32 %r1, %r2, %r3, 0;", {"@%p2 shfl.up %r1, %r2, %r3, rz, rz"}},
      {"activemask.b32 %r1;", {"activemask %r1"}},
      {"match.any.sync.b64 %r1, %rd1, -1;", {"match.any.b64 %r1, %rd1, #-1"}},
      {"match.all.sync.b32 %r1|%p1, %r2, %r3;", {"match.all %r1, %p1, %r2, %r3"}},
      {"nanosleep.u32 100;", {"nop"}},
  });
}

TEST(LowerWarp, Refuses) {
  expect_refused({
      {"shfl.sync.idx.b32 _|%p1, %r2, 0, %r3, 0;", "t.ptx:8:39: no lane is a member; name the lanes that exchange"},
      {"bar.sync 16;", "t.ptx:8:10: the barrier must be a constant from 0 to 15; write such a number here"},
      {"barrier.grid.arrive;", "t.ptx:8:1: 'barrier' expects .sync where .arrive stands; write .sync there"},
      {"barrier.grid.sync 0;",
       "t.ptx:8:1: 'barrier' with these modifiers takes 0 operands and has 1; compare the operands with the PTX "
       "manual's"},
      {"bar.grid.sync;",
       "t.ptx:8:1: 'bar' expects what the barrier does where .grid stands; write one of .sync .arrive .red"},
      {"match.any.sync.b32 %r1|%p1, %r2, %r3;",
       "t.ptx:8:20: 'match' has no second result behind '|'; name one destination only"},
  });
}

}  // namespace
}  // namespace heddle::ptx::test
