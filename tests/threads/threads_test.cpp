// One GPU simulated by several host threads: every counter, every hash, what is printed, recorded and said of a fault
// is what one thread makes. With a seed each module goes to another thread in every cycle, and every cycle is shared
// out; without, as in a run. The build with the thread sanitizer (preset tsan) runs these tests too.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tb/measure/profile/profile.hpp"
#include "tb/measure/trace/recorder.hpp"
#include "tb/measure/trace_subject.hpp"
#include "tests/model/child.hpp"
#include "tests/model/crowded_machines.hpp"
#include "tests/model/wandering.hpp"
#include "tests/model/workload_cases.hpp"
#include "tlm/calendar/thread_trial.hpp"

namespace heddle {
namespace {

// How a GPU is simulated.
struct Hosts {
  unsigned threads = 1;
  std::uint64_t shuffle = 0;
  bool tried = false;  // one and so many by turns, as a trial has them
};

tb::DeviceOptions options_of(const Hosts& hosts) {
  tb::DeviceOptions options;
  options.threads = hosts.threads;
  options.shuffle = hosts.shuffle;
  options.share_every_cycle = true;
  options.try_threads = hosts.tried;
  options.host_time = [now = std::uint64_t{0}]() mutable { return now += link::ThreadTrial::kWindow; };
  return options;
}

// In the first line, what may differ: whether cycles were shared out.
std::string all_counters(const tb::Device& device) {
  std::string text = device.cycles_shared() > 100 ? "shared\n" : "alone\n";
  text += fmt::format("{} cycles, hash {:016x}\n", device.totals().cycles, device.retirement().total());
  for (const StatisticsRegistry::Scalar& one : device.statistics().scalars()) {
    text += fmt::format("{}.{} {}\n", one.declaration.module, one.declaration.name, *one.value);
  }
  for (const StatisticsRegistry::Histogram& one : device.statistics().histograms()) {
    text += fmt::format("{}.{} {}\n", one.declaration.module, one.declaration.name, fmt::join(*one.values, " "));
  }
  return text;
}

// Makes a text in a process of its own with one thread, then with several: the texts are the same, and the threads did
// share.
template <class MakeText>
void expect_same(MakeText make_text, std::initializer_list<Hosts> others) {
  const std::string alone = test::in_child([&] { return make_text(Hosts{}); });
  ASSERT_EQ(alone.rfind("alone\n", 0), 0U) << alone.substr(0, 1000);
  for (const Hosts& hosts : others) {
    const std::string together = test::in_child([&] { return make_text(hosts); });
    EXPECT_EQ(together, "shared\n" + alone.substr(6)) << hosts.threads << " threads, seed " << hosts.shuffle;
  }
}

// ------------------------------------------------------------------------------------------------- mechanisms

hw::Machine without_l2() {
  hw::Machine machine;
  machine.gpu.cores = 5;
  machine.l1d.write_policy = "write-through";
  machine.core.scheduler = "two-level";
  machine.dram.channels = 2;
  return machine;
}
hw::Machine jedec() {
  hw::Machine machine;
  machine.gpu.cores = 4;
  machine.core.warp_size = 64;
  machine.core.former = "packed";
  machine.core.issue = "relaxed";
  machine.l1d.write_policy = "write-through";
  machine.l2.enabled = true;
  machine.l2.write_policy = "write-through";
  machine.dram.timing = "jedec";
  machine.dram.scheduler = "fr-fcfs";
  machine.dram.write_high = 32;
  machine.dram.write_low = 8;
  machine.dram.channels = 4;
  return machine;
}

hw::Machine global_warps() {
  hw::Machine machine;
  machine.gpu.cores = 5;
  machine.gpu.perfect_memory = true;
  machine.core.divergence = "odgs";
  machine.dram.channels = 2;
  return machine;
}

struct Case {
  const char* name;
  hw::Machine (*machine)();
  const char* workload;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

class Threads : public ::testing::TestWithParam<Case> {};

TEST_P(Threads, ChangeNoCounter) {
  const hw::Machine machine = GetParam().machine();
  expect_same(
      [&](const Hosts& hosts) {
        const auto workload = test::make_workload(GetParam().workload, machine);
        tb::Device device(machine, options_of(hosts));
        device.load(workload->compile());
        const tb::Verdict verdict = workload->run(device);
        return verdict.correct ? all_counters(device) : "wrong: " + verdict.detail;
      },
      {{2, 0}, {3, 7}, {5, 1234}});
}

INSTANTIATE_TEST_SUITE_P(
    Machines, Threads,
    ::testing::Values(Case{"crowded", test::crowded, "sort"}, Case{"coherent", test::coherent, "histogram"},
                      Case{"compaction", [] { return test::with_divergence("tbc"); }, "sort"},
                      Case{"dynamic_warps", [] { return test::with_divergence("dwf"); }, "histogram"},
                      Case{"subdivision", [] { return test::with_divergence("dws"); }, "histogram"},
                      Case{"global_warps", global_warps, "suffix_tree"},
                      Case{"bound_warps", [] { return test::machine_called("test-odgslastthrough"); }, "streamcluster"},
                      Case{"without_l2", without_l2, "reduction"}, Case{"jedec", jedec, "histogram"},
                      Case{"limiter", [] { return test::machine_called("test-fewestmisses"); }, "histogram"}),
    [](const auto& info) { return std::string(info.param.name); });

// ------------------------------------------------------------------------------------------------- replay

TEST(ThreadsRecord, TheSameBytesAndReplayThem) {
  const hw::Machine machine = test::crowded();
  std::string trace;
  expect_same(
      [&](const Hosts& hosts) {
        std::ostringstream out;
        tb::TraceRecorder recorder(out);
        tb::DeviceOptions options = options_of(hosts);
        options.observers = {&recorder};
        const auto workload = test::make_workload("histogram", machine);
        tb::Device device(machine, options);
        device.load(workload->compile());
        static_cast<void>(workload->run(device));
        traces::TraceRun run;
        run.cycles = device.totals().cycles;
        recorder.finish(run);
        return all_counters(device) + "trace:\n" + out.str();
      },
      {{2, 0}, {3, 7}});
  expect_same(
      [&](const Hosts& hosts) {
        std::ostringstream out;
        const std::string recorded = test::in_child([&] {
          tb::TraceRecorder recorder(out);
          tb::DeviceOptions options;
          options.observers = {&recorder};
          const auto workload = test::make_workload("histogram", machine);
          tb::Device device(machine, options);
          device.load(workload->compile());
          static_cast<void>(workload->run(device));
          recorder.finish({});
          return out.str();
        });
        std::istringstream in(recorded);
        tb::TraceSubject subject(in, "recorded.trace");
        tb::DeviceOptions options = options_of(hosts);
        options.replay = &subject;
        tb::Device device(machine, options);
        device.load(subject.compile());
        static_cast<void>(subject.run(device, std::nullopt));
        return all_counters(device);
      },
      {{3, 7}});
}

// ------------------------------------------------------------------------------------------------- what is said

constexpr std::uint64_t kData = isa::kGlobalBase;  // 1024 bytes, the kernel's parameter

std::string said_by(const std::string& body, const hw::Machine& machine, const Hosts& hosts) {
  const std::string text =
      ".version 7.0\n.target sm_50\n.address_size 32\n.visible .entry k(.param .u32 data) {\n.reg .b32 %r<9>; .reg "
      ".pred %p<4>; ld.param.u32 %r0, [data]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n" +
      body + "\nret;\n}\n";
  tb::Device device(machine, options_of(hosts));
  device.load(ptx::compile(text, "kernel.ptx"));
  device.memory().place("data", kData, 1024);
  isa::LaunchRequest request;
  request.kernel = "k";
  request.block = {64, 1, 1};
  request.grid = {24, 1, 1};
  request.parameters = {0, 0, 0, 0x10};
  std::string said = "no fault";
  try {
    device.launch(request);
  } catch (const SimulatedFault& fault) {
    said = fault.what();
  }
  return all_counters(device) + said;
}

// Every core faults in the same cycle, with addresses of its own; the caches are emptied then.
TEST(ThreadsFault, IsTheSameOneOfMany) {
  expect_same(
      [](const Hosts& hosts) {
        return said_by(
            "mov.u32 %r5, 0;\nAGAIN: shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r0; atom.global.add.u32 %r4, [%r3], 1;\n"
            "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 8; @%p1 bra AGAIN;\n"
            "mad.lo.u32 %r3, %r2, 4096, %r0; st.global.u32 [%r3+4096], %r1;",
            test::crowded(), hosts);
      },
      {{2, 0}, {3, 7}, {5, 99}});
}

TEST(ThreadsDeadlock, IsSeenByAll) {
  expect_same(
      [](const Hosts& hosts) {
        hw::Machine machine = without_l2();
        machine.watchdog.deadlock_cycles = 20'000;
        return said_by(
            "mov.u32 %r5, 0;\nAGAIN: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 40; @%p1 bra AGAIN;\n"
            "setp.eq.u32 %p2, %r1, 5; @%p2 bar.sync 1, 64;",
            machine, hosts);
      },
      {{2, 0}, {3, 7}});
}

// Threads that go from core to core in one cycle of many hosts.
TEST(ThreadsMove, FromCoreToCore) {
  expect_same(
      [](const Hosts& hosts) {
        return said_by(
            "mov.u32 %r5, %r2;\nAGAIN: add.u32 %r5, %r5, 1; and.b32 %r6, %r5, %r1; setp.eq.u32 %p2, %r6, 0;\n"
            "@%p2 bra EVEN; add.u32 %r5, %r5, 2;\nEVEN: setp.lt.u32 %p1, %r5, 60; @%p1 bra AGAIN;\n"
            "shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r0; st.volatile.global.u32 [%r3], %r1; bar.sync 0;",
            test::wandering_machine(4), hosts);
      },
      {{2, 0}, {3, 7}});
}

// ------------------------------------------------------------------------------------------------- who watches

// Of a device whose run tries threads, the number changes every few cycles here.
TEST(ThreadsTried, MakeTheSameBytes) {
  expect_same(
      [](const Hosts& hosts) {
        const hw::Machine machine = without_l2();
        const auto workload = test::make_workload("histogram", machine);
        tb::Device device(machine, options_of(hosts));
        device.load(workload->compile());
        static_cast<void>(workload->run(device));
        return all_counters(device);
      },
      {{3, 0, true}, {5, 0, true}});
}

TEST(ThreadsWatched, AreOneUnlessCoresAreWatchedApart) {
  const hw::Machine machine = test::crowded();
  const auto threads = [&](auto make) {
    return test::in_child([&] {
      const auto observer = make();
      tb::DeviceOptions options = options_of({3, 0});
      options.observers = {observer.get()};
      const tb::Device device(machine, options);
      return std::to_string(device.threads());
    });
  };
  std::ostringstream out;
  EXPECT_EQ(threads([&] { return std::make_unique<tb::TraceRecorder>(out); }), "3");
  EXPECT_EQ(threads([&] { return std::make_unique<tb::Profile>(machine); }), "1");
}

}  // namespace
}  // namespace heddle
