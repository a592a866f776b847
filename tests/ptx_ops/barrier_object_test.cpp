// Barrier objects in shared memory (mbarrier), copies in bulk that count their bytes there, and what is only a hint.
#include <gtest/gtest.h>

#include "tests/ptx_ops/warp_text.hpp"

namespace heddle::ptx_ops {
namespace {

// A barrier object of three warps: two phases by arrivals, one by bytes too, one of fewer after a thread has dropped
// out. Each thread writes before it arrives, and reads another warp's word behind the wait.
TEST(PtxBarrier, Objects) {
  constexpr unsigned kThreads = 96;
  for (const bool generic : {false, true}) {
    Program program;
    program.block = kThreads;
    program.module = ".shared .align 8 .b64 object;\n.shared .b32 words[96];\n.shared .b32 sum;\n";
    program.input = values(kThreads, 1000);
    program.output_words = kThreads * 6;
    const std::string in = generic ? "" : ".shared";
    const std::string at = generic ? "[%object]" : "[object]";
    const std::string write = "  st.shared.b32 [%own], %v;\n";
    const std::string read = "  ld.shared.b32 %w, [%other];\n";
    program.body =
        warp_prologue(6) +
        "  .reg .b64 %state; .reg .u$p %object; .reg .b32 %own, %other, %count;\n"
        "  mov.u$p %object, object; cvta.shared.u$p %object, %object;\n"
        "  mov.u32 %own, words; mov.u32 %other, words; shl.b32 %w, %tid0, 2; add.u32 %own, %own, %w;\n"
        "  add.u32 %w, %tid0, 37; rem.u32 %w, %w, 96; shl.b32 %w, %w, 2; add.u32 %other, %other, %w;\n"
        "  setp.eq.u32 %p, %tid0, 0;\n  @%p st.shared.b32 [sum], 0;\n  @%p mbarrier.init" +
        in + ".b64 " + at + ", 96;\n  bar.sync 0;\n" + write +
        // The phase that begins is not over; the parity of the one before it is.
        "  mbarrier.test_wait.parity" + in + ".b64 %q, " + at + ", 1;\n" + store_predicate(0, "%q") +
        "  mbarrier.arrive" + in + ".b64 %state, " + at + ";\n  mbarrier.pending_count.b64 %count, %state;\n" +
        "  red.shared.add.u32 [sum], %count;\nFIRST:\n  mbarrier.try_wait" + in + ".b64 %q, " + at +
        ", %state;\n  @!%q bra FIRST;\n" + read + store(2, "%w") + "  bar.sync 0;\n  ld.shared.b32 %w, [sum];\n" +
        store(1, "%w") + "  add.u32 %v, %v, 1000;\n" + write +
        // Thread 5 says that 24 bytes are to come, and thread 70 that they have.
        "  setp.eq.u32 %q, %tid0, 5;\n  @%q mbarrier.expect_tx.relaxed.cta" + in + ".b64 " + at + ", 24;\n" +
        "  bar.sync 0;\n  setp.eq.u32 %q, %tid0, 70;\n  mbarrier.arrive.release.cta" + in + ".b64 _, " + at +
        ", 1;\n  @%q mbarrier.complete_tx" + in + ".b64 " + at + ", 24;\nSECOND:\n  mbarrier.try_wait.parity" + in +
        ".b64 %q, " + at + ", 1, 100;\n  @!%q bra SECOND;\n" + read + store(3, "%w") +
        // Thread 95 drops out: the third phase ends with its arrival, the fourth without.
        "  bar.sync 0;\n  add.u32 %v, %v, 1000;\n" + write +
        "  setp.eq.u32 %q, %tid0, 95;\n  @%q mbarrier.arrive_drop" + in + ".b64 %state, " + at +
        ";\n  @!%q mbarrier.arrive.expect_tx" + in + ".b64 %state, " + at + ", 0;\nTHIRD:\n  mbarrier.test_wait" + in +
        ".b64 %q, " + at + ", %state;\n  @!%q bra THIRD;\n" + read + store(4, "%w") +
        "  bar.sync 0;\n  setp.ne.u32 %q, %tid0, 95;\n  @%q mbarrier.arrive.noComplete" + in + ".b64 %state, " + at +
        ", 1;\n  mov.u32 %w, 7;\n  @!%q bra LAST;\nFOURTH:\n  mbarrier.test_wait.parity.acquire.cta" + in +
        ".b64 %q, " + at + ", 1;\n  @!%q bra FOURTH;\n  mov.u32 %w, 8;\nLAST:\n" + store(5, "%w");
    const std::vector<u32> output = run(program);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      SCOPED_TRACE(thread);
      const u32* found = &output[thread * 6];
      const u32 other = program.input[(thread + 37) % kThreads];
      EXPECT_EQ(found[0], 1U);
      EXPECT_EQ(found[1], 96U * 97 / 2);  // each arrival finds one less to wait for
      EXPECT_EQ(found[2], other);
      EXPECT_EQ(found[3], other + 1000);
      EXPECT_EQ(found[4], other + 2000);
      EXPECT_EQ(found[5], thread == 95 ? 7U : 8U);
    }
  }
}

// One thread copies the block's input to shared memory in two pieces, of which the barrier object counts the bytes, and
// the sums back to global memory.
TEST(PtxBarrier, CopiesInBulk) {
  constexpr unsigned kThreads = 64;
  for (const std::string to : {"shared::cluster", "shared::cta"}) {
    Program program;
    if (to == "shared::cta") program.ours_alone = "of PTX 8.6";
    program.block = kThreads;
    program.module = ".shared .align 16 .b8 space[256];\n.shared .align 8 .b64 object;\n";
    program.input = values(kThreads, 0xffffffffU);
    program.output_words = 2 * kThreads;
    program.body = "  .reg .u$p %first; mov.u$p %first, %in;\n" + warp_prologue(1) +
                   "  .reg .b32 %own; mov.u32 %own, space; shl.b32 %w, %tid0, 2; add.u32 %own, %own, %w;\n"
                   "  setp.ne.u32 %p, %tid0, 0;\n  @!%p mbarrier.init.shared::cta.b64 [object], 1;\n  bar.sync 0;\n"
                   "  @%p bra WAIT;\n  mbarrier.arrive.expect_tx.shared::cta.b64 _, [object], 256;\n"
                   "  cp.async.bulk." +
                   to +
                   ".global.mbarrier::complete_tx::bytes [space], [%first], 96, [object];\n"
                   "  cp.async.bulk." +
                   to +
                   ".global.mbarrier::complete_tx::bytes [space+96], [%first+96], 160, "
                   "[object];\nWAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %q, [object], 0;\n  @!%q bra WAIT;\n"
                   "  ld.shared.b32 %v, [%own];\n  bar.sync 0;\n  add.u32 %v, %v, 3;\n  st.shared.b32 [%own], %v;\n"
                   "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n"
                   "  @!%p cp.async.bulk.global.shared::cta.bulk_group [%out+256], [space], 256;\n"
                   "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group.read 0;\n" +
                   store(0, "%v");
    const std::vector<u32> output = run(program);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      EXPECT_EQ(output[thread], program.input[thread] + 3) << thread;
      EXPECT_EQ(output[kThreads + thread], program.input[thread] + 3) << thread;
    }
  }
}

// The part of shared memory that is reserved to the run-time library lies apart from the program's.
TEST(PtxBarrier, ReservedSharedMemory) {
  Program program;
  program.ours_alone = "where it lies";
  program.input = values(kWarp, 0xffffffffU);
  program.output_words = kWarp * 4;
  program.module = ".shared .b32 words[32];\n.extern .shared .align 4 .b8 dynamic[];\n";
  program.body = warp_prologue(4) +
                 "  .reg .b32 %own, %place, %end;\n  mov.u32 %place, %reserved_smem_offset_1;\n"
                 "  shl.b32 %w, %lane, 2; add.u32 %place, %place, %w; mov.u32 %own, words; add.u32 %own, %own, %w;\n"
                 "  st.shared.b32 [%own], %v; not.b32 %x, %v; st.shared.b32 [%place], %x;\n  bar.sync 0;\n"
                 "  ld.shared.b32 %w, [%own];\n" +
                 store(0, "%w") + "  ld.shared.b32 %w, [%place];\n" + store(1, "%w") +
                 "  mov.u32 %w, %reserved_smem_offset_cap;\n" + store(2, "%w") +
                 "  mov.u32 %end, %reserved_smem_offset_end; mov.u32 %w, %reserved_smem_offset_begin;\n"
                 "  sub.u32 %end, %end, %w;\n" +
                 store(3, "%end");
  const std::vector<u32> output = run(program);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const u32 own = program.input[lane];
    EXPECT_EQ(std::vector<u32>(output.begin() + 4 * lane, output.begin() + 4 * lane + 4),
              (std::vector<u32>{own, ~own, 1024, 1024}))
        << lane;
  }
}

// A cluster of one block: its barrier is the block's, another block's shared memory its own.
TEST(PtxBarrier, ClustersOfOneBlock) {
  constexpr unsigned kThreads = 96;
  Program program;
  program.grid = 2;
  program.block = kThreads;
  program.module = ".shared .align 4 .b32 words[96];\n";
  program.input = values(2 * kThreads, 0xffffffffU);
  program.output_words = 2 * kThreads * 4;
  program.body =
      warp_prologue(4) +
      "  .reg .u$p %far; .reg .b32 %own, %there, %rank;\n  mov.u32 %own, words; mov.u32 %x, %tid.x; shl.b32 %w, %x, "
      "2;\n"
      "  add.u32 %own, %own, %w; st.shared.b32 [%own], %v;\n"
      "  mapa.shared::cluster.u32 %there, %own, 0; xor.b32 %w, %w, 128; setp.gt.u32 %p, %w, 380; @%p mov.u32 %w, 0;\n"
      "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
      "  mov.u32 %x, words; add.u32 %x, %x, %w; ld.shared::cluster.b32 %x, [%x];\n" +
      store(0, "%x") + "  ld.shared::cluster.b32 %x, [%there];\n" + store(1, "%x") +
      "  cvt.u$p.u32 %far, %own; cvta.shared::cluster.u$p %far, %far; mapa.u$p %far, %far, 0;\n"
      "  getctarank.u$p %rank, %far; ld.b32 %x, [%far]; add.u32 %x, %x, %rank;\n" +
      store(2, "%x") +
      "  mov.u32 %w, %clusterid.x; mov.u32 %x, %nclusterid.x; mad.lo.u32 %w, %w, 10, %x; mov.u32 %x, "
      "%cluster_nctaid.x;\n  mad.lo.u32 %w, %w, 10, %x; mov.u32 %x, %cluster_ctaid.y; mad.lo.u32 %w, %w, 10, %x;\n"
      "  mov.u32 %x, %cluster_nctarank; mad.lo.u32 %w, %w, 10, %x; mov.u32 %x, %cluster_ctarank; add.u32 %w, %w, "
      "%x;\n" +
      store(3, "%w");
  const std::vector<u32> output = run(program);
  for (unsigned thread = 0; thread < 2 * kThreads; ++thread) {
    const unsigned number = thread % kThreads, first = thread - number;
    const unsigned other = (number ^ 32U) < kThreads ? number ^ 32U : 0;
    const u32 own = program.input[thread];
    EXPECT_EQ(std::vector<u32>(output.begin() + 4 * thread, output.begin() + 4 * thread + 4),
              (std::vector<u32>{program.input[first + other], own, own, (thread < kThreads ? 0U : 10000U) + 2101}))
        << thread;
  }
}

// What changes no result.
TEST(PtxWarp, HintsToHardwareDoNothing) {
  Program program;
  program.ours_alone = "setmaxnreg is of sm_90a";
  program.input = values(kWarp, 1000);
  program.output_words = kWarp;
  program.body = warp_prologue(1) +
                 "  .reg .b64 %policy;\n  griddepcontrol.wait;\n  setmaxnreg.inc.sync.aligned.u32 64;\n"
                 "  createpolicy.fractional.L2::evict_last.b64 %policy, 0.5;\n"
                 "  createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %policy;\n"
                 "  ld.global.L2::cache_hint.b32 %v, [%in], %policy;\n  fence.proxy.async;\n"
                 "  fence.mbarrier_init.release.cluster;\n  griddepcontrol.launch_dependents;\n" +
                 store(0, "%v");
  EXPECT_EQ(run(program), program.input);
}

}  // namespace
}  // namespace heddle::ptx_ops
