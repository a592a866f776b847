// The warp size of a launch: chosen by the program, or 32 threads where it uses warp-level operations. A launch
// with another warp size than the machine's runs cycle by cycle as on a machine that has that size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "hw/schedule/two_level.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tb/device/launch_warps.hpp"
#include "tests/model/child.hpp"

namespace heddle {
namespace {

constexpr unsigned kBlocks = 6, kThreads = 256;

const char* const kBallot =
    "setp.ne.u32 %p2, %r5, 0;\nvote.sync.ballot.b32 %r6, %p2, -1; mov.u32 %r7, %laneid; shl.b32 %r7, %r7, 16;\n";

// `first` is line 5 of the file. Threads loop a number of times that differs within a warp, load and store.
std::string entry(const std::string& name, const std::string& first, const std::string& more = "") {
  return ".visible .entry " + name + "(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n" +
         first + "\n" +
         "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 256, %r1; mul.wide.u32 %rd1, %r3, 8;\n"
         "ld.param.u64 %rd2, [out]; add.u64 %rd1, %rd1, %rd2; mul.lo.u32 %r4, %r3, 40503; shr.u32 %r4, %r4, 8;\n"
         "and.b32 %r5, %r4, 7; mov.u32 %r6, 0; mov.u32 %r7, 0;\n" +
         more +
         "LOOP: setp.eq.u32 %p1, %r5, 0; @%p1 bra DONE; ld.global.u32 %r8, [%rd1]; add.u32 %r7, %r7, %r8;\n"
         "st.global.u32 [%rd1], %r7; sub.u32 %r5, %r5, 1; bra.uni LOOP;\n"
         "DONE: bar.sync 0; st.global.v2.u32 [%rd1], {%r6, %r7}; exit; }\n";
}

isa::Module compiled(const std::string& entries) {
  return ptx::compile(".version 7.0\n.target sm_60\n.address_size 64\n" + entries, "k.ptx");
}

hw::Machine machine_with(unsigned warp_size) {
  hw::Machine machine;
  machine.core.registers_per_thread = 63;
  machine.core.warp_size = warp_size;
  return machine;
}

// Launches the kernels one after the other on one device; everything that came of it, as text.
std::string run(const hw::Machine& machine, const std::string& entries, const std::vector<std::string>& kernels) {
  std::string text;
  tb::Device device(machine);
  device.load(compiled(entries));
  const std::uint64_t out = device.memory().allocate("out", 8 * kBlocks * kThreads, false);
  for (unsigned i = 0; i < 2 * kBlocks * kThreads; ++i) {
    device.memory().put<std::uint32_t>(out + 4 * i, i);
  }
  for (const std::string& kernel : kernels) {
    isa::LaunchRequest request;
    request.kernel = kernel;
    request.grid = {kBlocks, 1, 1};
    request.block = {kThreads, 1, 1};
    request.parameters.resize(8);
    std::memcpy(request.parameters.data(), &out, 8);
    device.launch(request);
    const hw::Totals totals = device.totals();
    text += fmt::format(
        "cycles {} warp {} thread {} divergent {} of {} idle {} fu {} l1d {} {} dram {} {} {} barriers {}\n",
        totals.cycles, totals.core.warp_instructions, totals.core.thread_instructions, totals.core.divergent_branches,
        totals.core.branches, fmt::join(totals.core.idle, ","), fmt::join(totals.core.fu_active, ","), totals.l1d.hits,
        totals.l1d.misses, totals.dram.reads, totals.dram.writes, totals.dram.row_hits, totals.core.barriers);
  }
  text += fmt::format("hash {:x}\n", device.retirement().total());
  std::vector<std::uint32_t> words(2 * kBlocks * kThreads);
  device.memory().read(out, std::as_writable_bytes(std::span(words)));
  text += fmt::format("out {}\n", fmt::join(words, " "));
  for (const auto& [kernel, threads] : device.warp_sizes()) {
    text += fmt::format("warps of {}: {}\n", kernel, threads);
  }
  return text;
}

std::string run_apart(const hw::Machine& machine, const std::string& entries, const std::vector<std::string>& kernels) {
  return test::in_child([&] { return run(machine, entries, kernels); });
}

std::string without_sizes(const std::string& text) {
  return text.substr(0, text.find("warps of"));
}

TEST(LaunchWarps, WarpLevelOperationsGet32ThreadsOnAMachineOfLargeWarps) {
  const std::string entries = entry("k", "", kBallot);
  const std::string narrow = run_apart(machine_with(32), entries, {"k"});
  const std::string large = run_apart(machine_with(256), entries, {"k"});
  EXPECT_EQ(narrow.find("warps of"), std::string::npos);
  EXPECT_NE(large.find("warps of k: 32\n"), std::string::npos) << large;
  EXPECT_EQ(without_sizes(large), narrow);
}

TEST(LaunchWarps, AProgramChoosesAsOnAMachineOfThatSize) {
  for (const unsigned of_the_machine : {32U, 64U, 1024U}) {
    for (const unsigned chosen : {32U, 128U, 1024U}) {
      const std::string chooses = entry("k", fmt::format(".pragma \"warp_size {}\";", chosen));
      const std::string expected = run_apart(machine_with(chosen), entry("k", ""), {"k"});
      const std::string actual = run_apart(machine_with(of_the_machine), chooses, {"k"});
      EXPECT_EQ(actual, of_the_machine == chosen ? expected : expected + fmt::format("warps of k: {}\n", chosen))
          << chosen << " on " << of_the_machine;
    }
  }
  // The size matters: otherwise nothing has been compared above.
  EXPECT_NE(run_apart(machine_with(32), entry("k", ""), {"k"}), run_apart(machine_with(128), entry("k", ""), {"k"}));
}

// Fetch groups cover as many threads as on the machine's own warps.
TEST(LaunchWarps, MechanismsAreThoseOfThatSize) {
  const auto mechanisms = [](unsigned warp_size, unsigned fetch_group) {
    hw::Machine machine = machine_with(warp_size);
    machine.core.former = "packed";
    machine.core.issue = "relaxed";
    machine.core.scheduler = "two-level";
    machine.core.policies.of<hw::TwoLevelParameters>().fetch_group = fetch_group;
    machine.core.policies.of<hw::TwoLevelParameters>().fetch_group_timeout = 500;
    return machine;
  };
  const std::string chooses = entry("k", ".pragma \"warp_size 128\";");
  const std::string expected = run_apart(mechanisms(128, 2), entry("k", ""), {"k"});
  EXPECT_EQ(expected.find("refused"), std::string::npos) << expected;
  EXPECT_EQ(without_sizes(run_apart(mechanisms(32, 8), chooses, {"k"})), expected);
  EXPECT_EQ(without_sizes(run_apart(mechanisms(256, 1), chooses, {"k"})), expected);
  EXPECT_NE(run_apart(mechanisms(128, 8), entry("k", ""), {"k"}), expected) << "the fetch group matters";
}

TEST(LaunchWarps, LaunchesOfSeveralSizesFollowEachOther) {
  const std::string entries =
      entry("plain", "") + entry("ballot", "", kBallot) + entry("wide", ".pragma \"warp_size 512\";");
  const std::vector<std::string> order = {"plain", "ballot", "wide", "plain", "wide", "ballot"};
  const std::string text = run_apart(machine_with(128), entries, order);
  EXPECT_NE(text.find("warps of ballot: 32\nwarps of wide: 512\n"), std::string::npos) << text;
  // Memory and instruction streams do not depend on the warp size, and the ballots' warps have 32 threads.
  const std::string other = run_apart(machine_with(64), entries, order);
  EXPECT_EQ(text.substr(text.find("hash")), other.substr(other.find("hash")));
  EXPECT_NE(without_sizes(text), without_sizes(other));
}

std::string refusal(const std::string& entries, const hw::Machine& machine) {
  const isa::Module module = compiled(entries);
  try {
    return fmt::format("warps of {}", tb::launch_warp_size(module, module.kernels.front(), machine.core));
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(LaunchWarps, ImpossibleSizesAreRefusedAtThePragma) {
  const auto sized = [](unsigned size) { return entry("k", fmt::format(".pragma \"warp_size {}\";", size)); };
  hw::Machine machine = machine_with(64);
  EXPECT_EQ(refusal(sized(32), machine), "warps of 32");
  EXPECT_EQ(refusal(sized(1024), machine), "warps of 1024");
  EXPECT_EQ(refusal(sized(48), machine),
            "k.ptx:5: kernel 'k' asks for warps of 48 threads (.pragma \"warp_size 48\"): 48 is no multiple of "
            "core.simd_width (32); ask for another size, or leave the pragma out");
  EXPECT_EQ(refusal(sized(16), machine).substr(0, 8), "k.ptx:5:");
  EXPECT_NE(refusal(sized(96), machine).find("core.threads (1024) is no multiple of 96"), std::string::npos);
  machine.core.threads = 2048;
  EXPECT_EQ(refusal(sized(1024), machine), "warps of 1024");
  machine.core.threads = 512;
  EXPECT_NE(refusal(sized(1024), machine).find("core.threads (512) is no multiple of 1024"), std::string::npos);
  machine = machine_with(32);
  machine.core.divergence = "per-thread-pc";
  EXPECT_EQ(refusal(sized(32), machine), "warps of 32");
  EXPECT_NE(refusal(sized(64), machine).find("core.divergence = \"per-thread-pc\" forms warps of the SIMD width (32)"),
            std::string::npos);
}

TEST(LaunchWarps, WarpLevelOperationsAreRefusedWhereAWarpsThreadsNeedNotMeetAgain) {
  hw::Machine machine = machine_with(32);
  for (const char* divergence : {"per-thread-pc", "dwf", "tbc"}) {
    machine.core.divergence = divergence;
    EXPECT_EQ(refusal(entry("k", "", kBallot), machine)
                  .rfind("k.ptx:10: kernel 'k' uses a warp-level operation (vote, "
                         "shfl, match, lane ids): core.divergence = \"" +
                             std::string(divergence) + "\"",
                         0),
              0U)
        << refusal(entry("k", "", kBallot), machine);
  }
}

TEST(LaunchWarps, TheAdviceForWarpLevelOperationsIsWhatHelps) {
  hw::Machine machine = machine_with(8);
  machine.core.simd_width = 8;
  machine.core.divergence = "slip";
  EXPECT_EQ(
      refusal(entry("k", "", kBallot), machine),
      "k.ptx:10: kernel 'k' uses a warp-level operation (vote, shfl, match, lane ids): core.divergence = \"slip\" "
      "lets threads of a warp run ahead of the others; run it with core.divergence = \"stack\"");
  machine.core.simd_width = machine.core.warp_size = 5;
  machine.core.threads = 100;
  EXPECT_EQ(
      refusal(entry("k", "", kBallot), machine),
      "k.ptx:10: kernel 'k' uses a warp-level operation (vote, shfl, match, lane ids): core.divergence = \"slip\" "
      "lets threads of a warp run ahead of the others; run it with core.divergence = \"stack\", a "
      "core.simd_width that divides 32, and a multiple of 32 as core.threads");
}

TEST(LaunchWarps, WarpLevelOperationsAndWiderWarpsAreRefusedAtTheOperation) {
  EXPECT_EQ(
      refusal(entry("k", ".pragma \"warp_size 64\";", kBallot), machine_with(64)),
      "k.ptx:10: kernel 'k' uses a warp-level operation (vote, shfl, match, lane ids) and asks for warps of 64 "
      "threads (.pragma \"warp_size 64\" in line 5): such operations work on warps of 32; ask for 32, or leave the "
      "pragma out");
  EXPECT_EQ(refusal(entry("k", ".pragma \"warp_size 32\";", kBallot), machine_with(64)), "warps of 32");
}

// A tile's threads lie in one warp.
TEST(LaunchWarps, GroupsOfNeighboursLieInOneWarp) {
  const auto groups = [](unsigned size, const std::string& more = "") {
    return entry("k", fmt::format(".pragma \"lane_groups {}\"; {}", size, more));
  };
  hw::Machine machine = machine_with(64);
  machine.core.simd_width = 8;
  EXPECT_EQ(refusal(groups(16), machine), "warps of 64");
  machine.core.warp_size = 8;
  EXPECT_EQ(refusal(groups(8), machine), "warps of 8");
  EXPECT_EQ(refusal(groups(16), machine), "warps of 32");
  EXPECT_EQ(
      refusal(groups(16, ".pragma \"warp_size 8\";"), machine),
      "k.ptx:5: kernel 'k' forms groups of 16 neighbouring threads in one warp (.pragma \"lane_groups 16\"; "
      "tiled_partition in CUDA): 16 does not divide 8, the threads of a warp; form smaller groups, or run it on a "
      "machine with wider warps");
  machine.core.divergence = "tbc";
  EXPECT_EQ(refusal(groups(16), machine),
            "k.ptx:5: kernel 'k' forms groups of 16 neighbouring threads in one warp (.pragma \"lane_groups 16\"; "
            "tiled_partition in CUDA): core.divergence = \"tbc\" forms warps of the SIMD width (8); large warps need "
            "core.divergence = \"dws-large\" or \"mimd\" or \"stack\"; form smaller groups, or run it on a machine "
            "with wider warps");
}

// Dynamic warps have no fixed lanes, on which such operations work.
TEST(LaunchWarps, DynamicWarpsRefuseWarpOperations) {
  for (const char* const mechanism : {"dwf", "tbc"}) {
    hw::Machine machine = machine_with(32);
    machine.core.divergence = mechanism;
    const isa::Module module = compiled(entry("ballot", "", kBallot));
    try {
      static_cast<void>(tb::launch_warp_size(module, module.kernels.front(), machine.core));
      ADD_FAILURE() << mechanism << " took it";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(mechanism), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace heddle
