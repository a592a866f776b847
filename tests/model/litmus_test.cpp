// Litmus kernels in PTX on several cores, with write-back L1s that are kept coherent and with write-through L1s
// that are not: message passing, store buffering, load buffering, independent reads of independent writes,
// coherence of one location, atomics. With the fences (and atomics) that make an outcome forbidden in PTX's memory
// model (PTX ISA, "Memory consistency model": causality order, fence-SC order, coherence, atomicity) it never occurs,
// whatever the skew between the cores; without them store buffering does occur, so that the kernels would show it.
//
// A round: every block touches its locations or not, meets the others by an atomic counter, waits for its own time, and
// runs its thread of the test in all 32 lanes, each on locations of its own.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Each/LitmusOn.*")

namespace heddle {
namespace {

constexpr unsigned kRounds = 16;
constexpr unsigned kLanes = 32;
constexpr unsigned kLocations = 2;
constexpr unsigned kResults = 2;  // per thread

// The values that the threads have read, thread by thread, and what the locations have at last.
struct LitmusOutcome {
  std::vector<std::uint32_t> read;
  std::vector<std::uint32_t> last;
};

struct Litmus {
  const char* name;
  // Per thread: lines of PTX on the addresses %x, %y with results %r0, %r1.
  std::vector<std::string> threads;
  std::function<bool(const LitmusOutcome&)> forbidden;
  bool must_occur = false;  // instead: the outcome is allowed, and to be seen
};

struct Shape {
  const char* name;
  void (*change)(hw::Machine& machine);
};

std::string kernel_of(const Litmus& litmus, unsigned stride) {
  std::string text = R"(
.version 7.0
.target sm_60
.address_size 32
.visible .entry k(.param .u32 data, .param .u32 delays, .param .u32 results, .param .u32 counter) {
  .reg .b32 %r<16>;
  .reg .b32 %x, %y, %round, %lane, %block, %t<12>;
  .reg .pred %p<12>;
  mov.u32 %lane, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %round, 0;
ROUND:
  // x, y of this round and lane
  ld.param.u32 %t0, [data];
  mul.lo.u32 %t1, %round, )" +
                     std::to_string(kLocations * stride) + R"(;
  add.u32 %t0, %t0, %t1;
  shl.b32 %t1, %lane, 2;
  add.u32 %x, %t0, %t1;
  add.u32 %y, %x, )" +
                     std::to_string(stride) +
                     R"(;
  // delays[round][block]: bit 0: touch the locations first; the rest: how long to wait
  ld.param.u32 %t2, [delays];
  mul.lo.u32 %t3, %round, 16;
  add.u32 %t2, %t2, %t3;
  shl.b32 %t3, %block, 2;
  add.u32 %t2, %t2, %t3;
  ld.global.u32 %t4, [%t2];
  and.b32 %t5, %t4, 1;
  setp.eq.u32 %p1, %t5, 0;
  @%p1 bra TOUCHED;
  ld.global.u32 %t6, [%x];
  ld.global.u32 %t7, [%y];
  add.u32 %t6, %t6, %t7;
  setp.eq.u32 %p2, %t6, 77;
  @%p2 bra END;
TOUCHED:
  ld.param.u32 %t6, [counter];
  setp.ne.u32 %p3, %lane, 0;
  @%p3 bra MEET;
  red.global.add.u32 [%t6], 1;
MEET:
  mov.u32 %t7, %nctaid.x;
  add.u32 %t8, %round, 1;
  mul.lo.u32 %t7, %t7, %t8;
SPIN:
  ld.volatile.global.u32 %t8, [%t6];
  setp.lt.u32 %p4, %t8, %t7;
  @%p4 bra SPIN;
  shr.u32 %t4, %t4, 1;
WAIT:
  setp.eq.u32 %p5, %t4, 0;
  @%p5 bra GO;
  sub.u32 %t4, %t4, 1;
  bra WAIT;
GO:
  mov.u32 %r0, 99;
  mov.u32 %r1, 99;
)";
  for (unsigned thread = 0; thread != litmus.threads.size(); ++thread) {
    const std::string number = std::to_string(thread);
    text += "  setp.ne.u32 %p6, %block, " + number + ";\n  @%p6 bra NOT" + number + ";\n" + litmus.threads[thread] +
            "\n  bra STORE;\nNOT" + number + ":\n";
  }
  text += R"(
STORE:
  // results[round][block][lane]
  ld.param.u32 %t9, [results];
  mov.u32 %t10, %nctaid.x;
  mul.lo.u32 %t10, %t10, %round;
  add.u32 %t10, %t10, %block;
  mul.lo.u32 %t10, %t10, 32;
  add.u32 %t10, %t10, %lane;
  shl.b32 %t10, %t10, 3;
  add.u32 %t9, %t9, %t10;
  st.global.u32 [%t9], %r0;
  st.global.u32 [%t9+4], %r1;
  add.u32 %round, %round, 1;
  setp.lt.u32 %p7, %round, )" +
          std::to_string(kRounds) + R"(;
  @%p7 bra ROUND;
END:
  ret;
}
)";
  return text;
}

const std::string kStX = "  st.relaxed.gpu.global.u32 [%x], 1;\n";
const std::string kStY = "  st.relaxed.gpu.global.u32 [%y], 1;\n";
const std::string kFence = "  fence.sc.gpu;\n";
std::string ld(const char* location, unsigned result) {
  return std::string("  ld.relaxed.gpu.global.u32 %r") + std::to_string(result) + ", [%" + location + "];\n";
}

std::vector<Litmus> all_litmus() {
  const auto message = [](const LitmusOutcome& o) { return o.read[2] == 1 && o.read[3] == 0; };
  const auto both_zero = [](const LitmusOutcome& o) { return o.read[0] == 0 && o.read[2] == 0; };
  return {{"message_passing", {kStX + kFence + kStY, ld("y", 0) + kFence + ld("x", 1)}, message},
          {"message_passing_release_acquire",
           {kStX + "  st.release.gpu.global.u32 [%y], 1;\n", "  ld.acquire.gpu.global.u32 %r0, [%y];\n" + ld("x", 1)},
           message},
          {"message_passing_to_weak_loads",
           {"  st.global.u32 [%x], 1;\n" + kFence + kStY, ld("y", 0) + kFence + "  ld.global.u32 %r1, [%x];\n"},
           message},
          {"message_passing_release_acquire_to_weak_loads",
           {"  st.global.u32 [%x], 1;\n  st.release.gpu.global.u32 [%y], 1;\n",
            "  ld.acquire.gpu.global.u32 %r0, [%y];\n  ld.global.u32 %r1, [%x];\n"},
           message},
          {"message_passing_by_atomics",
           {kStX + kFence + "  atom.global.exch.b32 %r0, [%y], 1;\n",
            "  atom.global.add.u32 %r0, [%y], 0;\n" + kFence + ld("x", 1)},
           message},
          {"store_buffering", {kStX + kFence + ld("y", 0), kStY + kFence + ld("x", 0)}, both_zero},
          {"store_buffering_without_fences", {kStX + ld("y", 0), kStY + ld("x", 0)}, both_zero, true},
          {"load_buffering",
           {ld("x", 0) + kFence + kStY, ld("y", 0) + kFence + kStX},
           [](const LitmusOutcome& o) { return o.read[0] == 1 && o.read[2] == 1; }},
          {"independent_reads_of_independent_writes",
           {kStX, kStY, ld("x", 0) + kFence + ld("y", 1), ld("y", 0) + kFence + ld("x", 1)},
           [](const LitmusOutcome& o) { return o.read[4] == 1 && o.read[5] == 0 && o.read[6] == 1 && o.read[7] == 0; }},
          {"write_to_read_causality",
           {kStX, ld("x", 0) + kFence + kStY, ld("y", 0) + kFence + ld("x", 1)},
           [](const LitmusOutcome& o) { return o.read[2] == 1 && o.read[4] == 1 && o.read[5] == 0; }},
          {"coherence_of_one_location",
           {kStX + "  st.relaxed.gpu.global.u32 [%x], 2;\n", ld("x", 0) + ld("x", 1), ld("x", 0) + ld("x", 1)},
           [](const LitmusOutcome& o) { return o.read[2] > o.read[3] || o.read[4] > o.read[5] || o.last[0] != 2; }},
          {"atomics_add",
           {"  atom.global.add.u32 %r0, [%x], 1;\n", "  atom.global.add.u32 %r0, [%x], 1;\n",
            "  atom.global.add.u32 %r0, [%x], 1;\n", "  atom.global.add.u32 %r0, [%x], 1;\n"},
           [](const LitmusOutcome& o) {
             unsigned seen = 0;
             for (const unsigned thread : {0U, 1U, 2U, 3U}) {
               seen |= 1U << o.read[kResults * thread];
             }
             return seen != 0xf || o.last[0] != 4;
           }},
          {"atomics_compare_and_swap",
           {"  atom.global.cas.b32 %r0, [%x], 0, 1;\n", "  atom.global.cas.b32 %r0, [%x], 0, 2;\n",
            "  atom.global.cas.b32 %r0, [%x], 0, 3;\n"},
           [](const LitmusOutcome& o) {
             unsigned winner = 0;
             for (const unsigned thread : {0U, 1U, 2U}) {
               winner = o.read[kResults * thread] == 0 ? winner * 4 + thread + 1 : winner;
             }
             return winner == 0 || winner > 3 || o.last[0] != winner;
           }}};
}

constexpr Shape kShapes[] = {{"roomy", [](hw::Machine&) {}},
                             {"quick_caches",
                              [](hw::Machine& machine) {
                                machine.l1d.hit_latency = 1;
                                machine.l2.hit_latency = 2;
                                machine.noc.request_latency = machine.noc.response_latency = 1;
                              }},
                             {"far_away",
                              [](hw::Machine& machine) {
                                machine.l1d.hit_latency = 3;
                                machine.noc.request_latency = 43;
                                machine.noc.response_latency = 17;
                                machine.dram.channels = 2;
                              }},
                             {"incoherent",
                              [](hw::Machine& machine) {
                                machine.gpu.coherence = "none";
                                machine.l1d.write_policy = "write-through";
                                machine.noc.request_latency = 43;
                                machine.l2.inclusive = false;
                              }},
                             {"incoherent_without_l2",
                              [](hw::Machine& machine) {
                                machine.gpu.coherence = "none";
                                machine.l1d.write_policy = "write-through";
                                machine.l2.enabled = machine.l2.inclusive = false;
                                machine.dram.channels = 2;
                              }},
                             {"tight", [](hw::Machine& machine) {
                                machine.l1d.bytes = 2 * 128;
                                machine.l1d.ways = 1;
                                machine.l1d.mshrs = machine.l1d.mshr_targets = machine.l1d.write_buffer = 1;
                                machine.l2.bytes = 4 * 128;
                                machine.l2.ways = 2;
                                machine.l2.mshrs = machine.l2.mshr_targets = machine.l2.write_buffer =
                                    machine.l2.queue = 1;
                                machine.noc.queue = 1;
                              }}};

hw::Machine machine_for(const Litmus& litmus, const Shape& shape) {
  hw::Machine machine;
  machine.gpu.cores = static_cast<unsigned>(litmus.threads.size());
  machine.gpu.coherence = "mesi";
  machine.core.blocks = 1;
  machine.l1d.write_policy = "write-back";
  machine.l2.enabled = machine.l2.inclusive = true;
  machine.l2.write_policy = "write-back";
  shape.change(machine);
  return machine;
}

class LitmusOn : public ::testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(LitmusOn, OutcomesAreThoseOfPtx) {
  const Litmus litmus = all_litmus()[std::get<0>(GetParam())];
  const Shape& shape = kShapes[std::get<1>(GetParam())];
  const auto threads = static_cast<unsigned>(litmus.threads.size());
  const unsigned stride = kLanes * 4;
  tb::Device device(machine_for(litmus, shape));
  device.load(ptx::compile(kernel_of(litmus, stride), "litmus.ptx"));
  const std::uint64_t data = isa::kGlobalBase;
  const std::uint64_t delays = data + std::uint64_t{kRounds} * kLocations * stride;
  const std::uint64_t results = delays + kRounds * 16;
  const std::uint64_t counter = results + std::uint64_t{kRounds} * threads * kLanes * 8;
  device.memory().place("all", data, counter + 4 - data);
  std::mt19937 engine(17);
  unsigned occurred = 0;
  for (unsigned launch = 0; launch != 6; ++launch) {
    device.memory().write(data, std::vector<std::byte>(counter + 4 - data));
    std::vector<std::uint32_t> wait(kRounds * 4);
    for (std::uint32_t& one : wait) {
      one = engine() % (launch < 4 ? 5 : 60) * 2 + (engine() % 4 != 0 ? 1 : 0);
    }
    device.memory().write(delays, std::as_bytes(std::span(wait)));
    isa::LaunchRequest request;
    request.kernel = "k";
    request.grid = {threads, 1, 1};
    request.block = {kLanes, 1, 1};
    for (const std::uint64_t value : {data, delays, results, counter}) {
      for (unsigned byte = 0; byte != 4; ++byte) {
        request.parameters.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
      }
    }
    device.launch(request);
    const auto word = [&](std::uint64_t address) {
      std::uint32_t value = 0;
      device.memory().read(address, std::as_writable_bytes(std::span(&value, 1)));
      return value;
    };
    for (unsigned round = 0; round != kRounds; ++round) {
      for (unsigned lane = 0; lane != kLanes; ++lane) {
        LitmusOutcome outcome;
        for (unsigned thread = 0; thread != threads; ++thread) {
          const std::uint64_t at = results + ((std::uint64_t{round} * threads + thread) * kLanes + lane) * 8;
          outcome.read.push_back(word(at));
          outcome.read.push_back(word(at + 4));
        }
        for (unsigned location = 0; location != kLocations; ++location) {
          outcome.last.push_back(word(data + (std::uint64_t{round} * kLocations + location) * stride + lane * 4));
        }
        occurred += litmus.forbidden(outcome) ? 1 : 0;
      }
    }
  }
  if (litmus.must_occur) {
    // Where a message takes longer than the next instruction.
    EXPECT_TRUE(occurred != 0 || shape.name != std::string("far_away"));
  } else {
    EXPECT_EQ(occurred, 0U);
  }
  RecordProperty("occurred", static_cast<int>(occurred));
}

INSTANTIATE_TEST_SUITE_P(Each, LitmusOn,
                         ::testing::Combine(::testing::Range(0U, static_cast<unsigned>(all_litmus().size())),
                                            ::testing::Range(0U, static_cast<unsigned>(std::size(kShapes)))),
                         [](const auto& info) {
                           return std::string(all_litmus()[std::get<0>(info.param)].name) + "_" +
                                  kShapes[std::get<1>(info.param)].name;
                         });

}  // namespace
}  // namespace heddle
