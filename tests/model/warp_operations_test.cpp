// Operations between lanes on every machine: of the warps of 32 threads that CUDA has, also where the SIMD unit has
// fewer lanes; or the launch is refused with the operation's line.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "hw/issue/discipline.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/config/config.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tb/device/executor.hpp"
#include "tb/measure/trace/recorder.hpp"
#include "tb/measure/trace_subject.hpp"
#include "tests/model/child.hpp"
#include "tests/model/replayed.hpp"
#include "tests/model/workload_cases.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("WarpOperations.AreCudasOnEvery*", "WarpOperations.AreCudasWhatever*")

namespace heddle {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kOut = isa::kGlobalBase;
constexpr std::uint64_t kList = isa::kGlobalBase + 0x10'0000;
constexpr unsigned kBlock = 56, kWarpBlocks = 3;  // a whole warp and one of 24 threads
constexpr unsigned kResultWords = 40;             // a thread's results
constexpr unsigned kListWords = 64;               // of a warp
constexpr unsigned kResultThreads = kBlock * kWarpBlocks;

// Word n of a thread's results.
std::string store(unsigned word) {
  return fmt::format("st.global.u32 [%a1+{}], %w;\n", 4 * word);
}
std::string store_predicate(unsigned word) {
  return "selp.u32 %w, 1, 0, %q;\n" + store(word);
}

// %r0: number in the block, %r1: lane, %r2: a value of 0 to 6, %p1: the value is odd, %p2: lane in 0x0ff0f3c6.
std::string operations() {
  std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 list) {\n"
      ".reg .pred %p<4>; .reg .pred %q; .reg .b32 %r<16>; .reg .b32 %w; .reg .b64 %a<8>; .shared .align 4 .b8 "
      "words[256];\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r3, %r3, 56, %r0; mul.wide.u32 %a1, %r3, 160;\n"
      "ld.param.u64 %a2, [out]; add.u64 %a1, %a1, %a2; ld.param.u64 %a3, [list];\n"
      "mov.u32 %r1, %laneid; mul.lo.u32 %r2, %r3, 40503; shr.u32 %r2, %r2, 7; rem.u32 %r2, %r2, 7;\n"
      "and.b32 %r4, %r2, 1; setp.ne.u32 %p1, %r4, 0; mov.u32 %r5, 0x0ff0f3c6; shr.u32 %r5, %r5, %r1; and.b32 %r5, %r5, "
      "1; setp.ne.u32 %p2, %r5, 0;\n";
  unsigned word = 0;
  for (const char* const special : {"%laneid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
                                    "%lanemask_gt", "%warpid", "%nwarpid"}) {
    text += fmt::format("mov.u32 %w, {};\n", special) + store(word++);
  }
  text += "mov.u32 %w, WARP_SZ;\n" + store(word++);
  text += "activemask.b32 %w;\n" + store(word++);
  text += "vote.sync.ballot.b32 %w, %p1, -1;\n" + store(word++);
  text += "setp.lt.u32 %p3, %r2, 7; vote.sync.all.pred %q, %p3, -1;\n" + store_predicate(word++);
  text += "setp.eq.u32 %p3, %r1, 23; vote.sync.any.pred %q, %p3, -1;\n" + store_predicate(word++);
  text += "vote.sync.uni.pred %q, %p3, -1;\n" + store_predicate(word++);
  text += "shfl.sync.idx.b32 %w, %r2, 19, 31, -1;\n" + store(word++);
  text += "shfl.sync.down.b32 %w|%q, %r3, 11, 31, -1;\n" + store(word) + store_predicate(word + 1);
  word += 2;
  text += "shfl.sync.up.b32 %w|%q, %r3, 9, 0, -1;\n" + store(word) + store_predicate(word + 1);
  word += 2;
  text += "shfl.sync.bfly.b32 %w, %r3, 16, 31, -1;\n" + store(word++);
  text += "shfl.sync.bfly.b32 %w, %r3, 5, 0x181f, -1;\n" + store(word++);  // segments of 8
  text += "xor.b32 %r6, %r1, 13; shfl.sync.idx.b32 %w|%q, %r3, %r6, 0x101f, -1;\n" + store(word++);
  text += "match.any.sync.b32 %w, %r2, -1;\n" + store(word++);
  text += "cvt.u64.u32 %a4, %r2; shl.b64 %a4, %a4, 33; match.any.sync.b64 %w, %a4, -1;\n" + store(word++);
  text += "mov.u32 %r7, 4; match.all.sync.b32 %w|%q, %r7, -1;\n" + store(word) + store_predicate(word + 1);
  word += 2;
  // The destination is a source: every row reads what was there before.
  text += "mov.u32 %w, %r3; shfl.sync.idx.b32 %w, %w, %r6, 31, -1;\n" + store(word++);
  // Under a guard, and in threads that have parted.
  text += "mov.u32 %w, 77; @%p1 vote.ballot.b32 %w, %p2;\n" + store(word++);
  text +=
      "mov.u32 %w, 0; @!%p2 bra OTHERS;\n"
      "activemask.b32 %r8; shfl.sync.bfly.b32 %w, %r3, 1, 31, 0x0ff0f3c6; add.u32 %w, %w, %r8; bra.uni MEET;\n"
      "OTHERS: activemask.b32 %r8; match.any.sync.b32 %w, %r2, 0xf00f0c39; sub.u32 %w, %w, %r8;\nMEET:\n" +
      store(word++);
  // As often as the thread's value says: fewer and fewer threads.
  text +=
      "mov.u32 %r9, %r2; mov.u32 %w, 0;\nLOOP: setp.eq.u32 %p3, %r9, 0; @%p3 bra DONE;\n"
      "activemask.b32 %r10; mad.lo.u32 %w, %w, 31, %r10; sub.u32 %r9, %r9, 1; bra.uni LOOP;\nDONE:\n" +
      store(word++);
  // A sum by shuffles, of the threads that there are.
  text += "mov.u32 %w, %r3;\n";
  for (const unsigned step : {16U, 8U, 4U, 2U, 1U}) {
    text += fmt::format("shfl.sync.down.b32 %r11|%q, %w, {}, 31, -1; @%q add.u32 %w, %w, %r11;\n", step);
  }
  text += store(word++);
  // Through the scratchpad, without a barrier of the block.
  text +=
      "shl.b32 %r12, %r0, 2; mov.u32 %r13, words; add.u32 %r12, %r12, %r13; st.volatile.shared.u32 [%r12], %r2;\n"
      "bar.warp.sync -1; xor.b32 %r14, %r1, 7; sub.u32 %r15, %r0, %r1; add.u32 %r14, %r14, %r15; shl.b32 %r14, %r14, "
      "2;\n"
      "add.u32 %r14, %r14, %r13; ld.volatile.shared.u32 %w, [%r14];\n" +
      store(word++);
  text += "tree_traverse.u32 %w, 1000, %p1, 2;\n" + store(word++);
  // A list of each warp's odd values.
  text +=
      "mov.u32 %r14, %ctaid.x; mov.u32 %r15, %warpid; mad.lo.u32 %r14, %r14, 2, %r15; mul.wide.u32 %a5, %r14, 256;\n"
      "add.u64 %a5, %a5, %a3; cond_acc.global.b32 %w, [%a5], %p1, %r3;\n" +
      store(word++);
  text +=
      "bar.warp.sync -1; mul.lo.u32 %r14, %r15, 128; add.u32 %r14, %r14, %r13; cond_acc.shared.b32 %w, [%r14], %p2, "
      "%r2;\n" +
      store(word++);
  text += "bar.warp.sync -1; ld.volatile.shared.u32 %w, [%r12];\n" + store(word++);
  text += "tree_traverse.size.u32 %w, 1000, %p1, 8;\n" + store(word++);
  text += "redux.sync.add.s32 %w, %r3, -1;\n" + store(word++);
  text += "mov.u32 %w, 5; @%p2 redux.sync.xor.b32 %w, %r3, 0x0ff0f3c6;\n" + store(word++);
  text += "mov.u32 %w, 9; @%p2 elect.sync %w|%q, 0x0ff0f3c6;\n" + store(word++);
  return text + "exit; }\n";
}

struct Results {
  std::vector<std::uint32_t> words, lists;
  std::uint64_t hash = 0;
  [[nodiscard]] std::string text() const {
    return fmt::format("{}\n{}\nhash {:x}\n", fmt::join(words, " "), fmt::join(lists, " "), hash);
  }
  [[nodiscard]] std::uint32_t at(unsigned thread, unsigned word) const {
    return words.at(thread * kResultWords + word);
  }
};

Results results_of(tb::Executor& executor, const isa::Module& module) {
  Results out;
  out.words.resize(std::size_t{kResultThreads} * kResultWords);
  out.lists.resize(std::size_t{2} * kWarpBlocks * kListWords);
  executor.load(module);
  executor.memory().place("out", kOut, 4 * out.words.size());
  executor.memory().place("list", kList, 4 * out.lists.size());
  isa::LaunchRequest request;
  request.kernel = "k";
  request.grid = {kWarpBlocks, 1, 1};
  request.block = {kBlock, 1, 1};
  request.parameters.resize(16);
  std::memcpy(request.parameters.data(), &kOut, 8);
  std::memcpy(request.parameters.data() + 8, &kList, 8);
  executor.launch(request);
  executor.memory().read(kOut, std::as_writable_bytes(std::span(out.words)));
  executor.memory().read(kList, std::as_writable_bytes(std::span(out.lists)));
  out.hash = executor.retirement().total();
  return out;
}

isa::Module compiled(const hw::Machine& machine, const std::string& text) {
  const ptx::CompileOptions options(tb::code_options(machine));
  return ptx::compile(text, "k.ptx", options);
}

std::string on_machine(const hw::Machine& machine, const std::string& text) {
  return test::in_child([&] {
    tb::Device device(machine);
    return results_of(device, compiled(machine, text)).text();
  });
}

Results on_interpreter(const hw::Machine& machine, const std::string& text) {
  tb::ReferenceExecutor reference;
  return results_of(reference, compiled(machine, text));
}

// What CUDA says of a warp of 32 threads, for rules that can be said in a line.
void expect_cuda(const Results& results) {
  for (unsigned thread = 0; thread < kResultThreads; ++thread) {
    SCOPED_TRACE(thread);
    const unsigned number = thread % kBlock;
    const unsigned lane = number % 32;
    const unsigned first = thread - lane;
    const unsigned count = number < 32 ? 32 : kBlock - 32;
    const std::uint32_t all = ~std::uint32_t{0} >> (32 - count);
    const std::uint32_t below = (std::uint32_t{1} << lane) - 1;
    const auto value = [](unsigned of) { return (of * 40503U >> 7U) % 7; };
    const std::uint32_t fixed[] = {lane, 1U << lane, below | 1U << lane, below, ~below, ~below << 1U, number / 32, 2,
                                   32,   all};
    for (unsigned word = 0; word < std::size(fixed); ++word) {
      EXPECT_EQ(results.at(thread, word), fixed[word]) << word;
    }
    std::uint32_t odd = 0, equal = 0, sum = 0;
    for (unsigned i = 0; i < count; ++i) {
      odd |= value(first + i) % 2 << i;
      equal |= (value(first + i) == value(thread) ? 1U : 0U) << i;
      sum += first + i;
    }
    EXPECT_EQ(results.at(thread, 10), odd);
    EXPECT_EQ(results.at(thread, 14), value(first + 19));
    EXPECT_EQ(results.at(thread, 15), lane + 11 < count ? thread + 11 : lane + 11 < 32 ? 0 : thread);
    EXPECT_EQ(results.at(thread, 17), lane < 9 ? thread : thread - 9);
    EXPECT_EQ(results.at(thread, 19), (lane ^ 16U) < count ? first + (lane ^ 16U) : 0);
    EXPECT_EQ(results.at(thread, 20), first + (lane ^ 5U));
    EXPECT_EQ(results.at(thread, 22), equal);
    EXPECT_EQ(results.at(thread, 23), equal);
    if (lane == 0) {
      EXPECT_EQ(results.at(thread, 30), sum);
    }
    EXPECT_EQ(results.at(thread, 31), value(first + (lane ^ 7U)));
    const auto odd_ones = static_cast<unsigned>(std::popcount(odd));
    EXPECT_EQ(results.at(thread, 32), 1000 + 4 * odd_ones);
    EXPECT_EQ(results.at(thread, 33), odd_ones);
    EXPECT_EQ(results.at(thread, 36), 1000 + 8 * odd_ones);
    constexpr std::uint32_t kSome = 0x0ff0f3c6;
    std::uint32_t some = 0;
    for (unsigned i = 0; i < count; ++i) some ^= (kSome >> i & 1U) != 0 ? first + i : 0;
    const bool in_it = (kSome >> lane & 1U) != 0;
    EXPECT_EQ(results.at(thread, 37), sum);
    EXPECT_EQ(results.at(thread, 38), in_it ? some : 5);
    EXPECT_EQ(results.at(thread, 39), in_it ? 1U : 9U);
    if (odd >> lane & 1U) {
      const unsigned place = (thread / kBlock * 2 + number / 32) * kListWords;
      EXPECT_EQ(results.lists.at(place + static_cast<unsigned>(std::popcount(odd & below))), thread);
    }
  }
}

// Whether it ran; a refusal names the operation.
bool runs_as_cuda(const hw::Machine& machine) {
  SCOPED_TRACE(machine.name);
  const std::string text = operations();
  const std::string ran = on_machine(machine, text);
  const std::string reason = hw::why_no_warp_operations(machine.core);
  if (!reason.empty()) {
    EXPECT_THAT(ran, StartsWith("refused: k.ptx:8: kernel 'k' uses a warp-level operation (vote, shfl, match, lane "
                                "ids): " +
                                reason));
    return false;
  }
  if (machine.scratchpad.bytes < 256) {
    EXPECT_THAT(ran, StartsWith("refused: ")) << "there is no scratchpad";
    return false;
  }
  EXPECT_EQ(ran, on_interpreter(machine, text).text());
  return true;
}

TEST(WarpOperations, AreCudasInTheInterpreter) {
  expect_cuda(on_interpreter(hw::Machine{}, operations()));
}

// What the machines' files describe.
TEST(WarpOperations, AreCudasOnEveryMachineOrRefused) {
  std::vector<std::string> refused, narrow;
  for (const std::string& name : test::machine_names()) {
    if (name.starts_with("test-")) {
      continue;
    }
    hw::Machine machine = test::machine_called(name);
    machine.gpu.cores = std::min(machine.gpu.cores, 2U);
    machine.scratchpad.bytes = std::max<std::uint64_t>(machine.scratchpad.bytes, 16384);
    if (!runs_as_cuda(machine)) {
      refused.push_back(machine.core.divergence);
    } else if (machine.core.simd_width < 32) {
      narrow.push_back(name);
    }
  }
  EXPECT_THAT(refused, ::testing::Not(::testing::Contains("stack")));
  EXPECT_THAT(narrow, ::testing::IsSupersetOf({"ws-8", "ws-16", "ws-32", "ws-64", "sw-plus", "dws-conv"}));
}

// Rows, sub-warps packed of several rows, threads in other lanes than their own, and instructions that overlap.
TEST(WarpOperations, AreCudasWhateverARowIs) {
  const std::vector<std::vector<std::string>> machines = {
      {"core.simd_width=1", "core.warp_size=1"},
      {"core.simd_width=2", "core.warp_size=64"},
      {"core.simd_width=4", "core.warp_size=4", "core.former=packed", "core.issue=relaxed"},
      {"core.simd_width=4", "core.warp_size=128", "core.former=packed-freely", "core.issue=relaxed-memory"},
      {"core.simd_width=8", "core.warp_size=8", "core.former=packed", "core.issue=strict"},
      {"core.simd_width=8", "core.warp_size=16", "core.former=packed-freely", "core.scheduler=two-level"},
      {"core.simd_width=16", "core.warp_size=16", "core.issue=relaxed-memory", "core.coalescer=whole-warp"},
      {"core.simd_width=16", "core.warp_size=32", "core.issue=scoreboard", "core.decode_latency=3"},
      {"core.simd_width=4", "core.warp_size=4", "core.issue=scoreboard", "scoreboard.forwarding=false",
       "core.former=packed"},
      {"core.simd_width=8", "core.warp_size=8", "core.scalar=detector", "core.execute_stages=1"},
      {"core.simd_width=8", "core.warp_size=8", "core.load_limiter=ccws", "core.prefix_levels_per_cycle=1"}};
  for (const std::vector<std::string>& settings : machines) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(settings, " ")));
    EXPECT_TRUE(runs_as_cuda(tb::read_machine("baseline", settings)));
  }
}

TEST(WarpOperations, AreRefusedWhereNoWarpHas32Threads) {
  const auto refusal = [](const std::vector<std::string>& settings) {
    return on_machine(tb::read_machine("baseline", settings), operations());
  };
  const std::string start =
      "refused: k.ptx:8: kernel 'k' uses a warp-level operation (vote, shfl, match, lane ids): its lanes are those of "
      "a "
      "warp of 32 threads, and ";
  const std::string hint =
      "; run it with core.divergence = \"stack\", a core.simd_width that divides 32, and a multiple of 32 as "
      "core.threads";
  EXPECT_EQ(refusal({"core.simd_width=5", "core.warp_size=5", "core.threads=1000"}),
            start + "32 is no multiple of core.simd_width (5)" + hint);
  EXPECT_EQ(refusal({"core.simd_width=8", "core.warp_size=8", "core.threads=1000"}),
            start + "core.threads (1000) is no multiple of 32" + hint);
}

// A launch of the other kind before and behind does not mind.
TEST(WarpOperations, LaunchesOfBothKindsFollowEachOther) {
  const std::string plain =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 list) {\n"
      ".reg .b32 %r<4>; .reg .b64 %a<4>; mov.u32 %r1, %tid.x; mul.wide.u32 %a1, %r1, 160; ld.param.u64 %a2, [out];\n"
      "add.u64 %a1, %a1, %a2; mov.u32 %r2, %warpid; mov.u32 %r3, %nwarpid; st.global.v2.u32 [%a1], {%r2, %r3}; exit; "
      "}\n";
  const hw::Machine machine = tb::read_machine("ws-8", {"gpu.cores=2"});
  const std::string ran = test::in_child([&] {
    tb::Device device(machine);
    std::string text;
    for (const std::string& source : {plain, operations(), plain, operations()}) {
      device.memory().release(kOut);
      device.memory().release(kList);
      text += results_of(device, compiled(machine, source)).text();
    }
    for (const auto& [kernel, threads] : device.warp_sizes()) {
      text += fmt::format("warps of {}: {}\n", kernel, threads);
    }
    return text;
  });
  tb::ReferenceExecutor reference;
  std::string expected;
  for (const std::string& source : {plain, operations(), plain, operations()}) {
    reference.memory().release(kOut);
    reference.memory().release(kList);
    expected += results_of(reference, compiled(machine, source)).text();
  }
  EXPECT_EQ(ran, expected + "warps of k: 32\n");
}

// A record has no values; the passes take their cycles all the same, on a machine of other warps too.
TEST(WarpOperations, ReplayInTheCyclesOfTheProgram) {
  const auto cycles_of = [](const tb::Device& device) {
    const hw::Totals totals = device.totals();
    return fmt::format("cycles {} warp {} thread {} idle {} fu {} dram {} {}", totals.cycles,
                       totals.core.warp_instructions, totals.core.thread_instructions, fmt::join(totals.core.idle, ","),
                       fmt::join(totals.core.fu_active, ","), totals.dram.reads, totals.dram.writes);
  };
  const auto record = [&](const hw::Machine& machine, bool trace) {
    return test::in_child([&] {
      std::ostringstream out;
      tb::TraceRecorder recorder(out);
      tb::DeviceOptions options;
      options.observers = {&recorder};
      tb::Device device(machine, options);
      static_cast<void>(results_of(device, compiled(machine, operations())));
      recorder.finish({});
      return trace ? out.str() : cycles_of(device);
    });
  };
  const hw::Machine narrow = tb::read_machine("ws-8", {"gpu.cores=2"});
  const hw::Machine wide = tb::read_machine("ws-64", {"gpu.cores=2"});
  const std::string program = record(narrow, false);
  for (const hw::Machine& recorder : {narrow, wide}) {
    const std::string trace = record(recorder, true);
    EXPECT_EQ(test::replayed(narrow, trace, cycles_of), program) << recorder.name;
  }
}

// Of a conditional accumulate whose warp takes several passes, too, nothing is written when not all of it fits.
TEST(WarpOperations, AConditionalAccumulateThatDoesNotFitWritesNothing) {
  const std::string text =
      ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 list) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %a<4>; mov.u32 %r1, %tid.x; ld.param.u64 %a2, [list];\n"
      "setp.lt.u32 %p2, %r1, 32; setp.ne.and.u32 %p1, %r1, 3, %p2; cond_acc.global.b32 %r3, [%a2+1432], %p1, 77; exit; "
      "}\n";  // room for 26 of 31
  const hw::Machine machine = tb::read_machine("baseline", {"core.simd_width=8", "core.warp_size=8"});
  const std::string ran = test::in_child([&] {
    tb::Device device(machine);
    std::string said;
    try {
      // Another allocation begins where the list ends.
      device.memory().place("behind", kList + 4ULL * 2 * kWarpBlocks * kListWords, 4096);
      results_of(device, compiled(machine, text));
    } catch (const SimulatedFault& fault) {
      said = fault.what();
    }
    for (unsigned i = 0; i < 2 * kWarpBlocks * kListWords + 1024; ++i) {
      if (device.memory().get<std::uint32_t>(kList + 4ULL * i) != 0) {
        said += fmt::format(" word {}", i);
      }
    }
    return said;
  });
  EXPECT_THAT(ran, HasSubstr("thread (27, 0, 0)"));
  EXPECT_THAT(ran, ::testing::Not(HasSubstr("word")));
}

}  // namespace
}  // namespace heddle
