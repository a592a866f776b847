// Want of room in the memory system, told apart: kernels that run short of one thing only. Each runs twice, each time
// in a process of its own: watched, when the core is awake in every cycle, and alone, when it sleeps while the L1
// refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "hw/state/observer.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tests/model/child.hpp"

namespace heddle::test {
namespace {

using hw::IdleCause;

struct Shortage {
  IdleCause cause;
  std::function<void(hw::Machine&)> limit;
  std::function<void(Code&)> access;  // r9: the block's buffer, r0: the warp's number, r1: a line of the warp's own
};

void PrintTo(const Shortage& shortage, std::ostream* out) {
  *out << hw::kIdleCauses[static_cast<std::size_t>(shortage.cause)].name;
}

std::vector<Shortage> shortages() {
  return {
      {IdleCause::mshrs_full, [](hw::Machine& machine) { machine.l1d.mshrs = 2; },
       [](Code& code) { code.load(Op::LD_GLOBAL, 2, 1); }},
      {IdleCause::targets_full, [](hw::Machine& machine) { machine.l1d.mshr_targets = 1; },
       [](Code& code) { code.load(Op::LD_GLOBAL, 2, 9, 4096); }},
      {IdleCause::write_buffer_full,
       [](hw::Machine& machine) {
         machine.l1d.write_policy = "write-through";
         machine.l1d.write_buffer = 1;
       },
       [](Code& code) { code.store(Op::ST_GLOBAL, 1, 0); }},
      // Every warp stores a word into the same absent line; the atomics then wait for its fetch.
      {IdleCause::line_order, [](hw::Machine&) {},
       [](Code& code) {
         code.store(Op::ST_GLOBAL, 9, 0, 8192);
         code.atomic(Op::ATOM_GLOBAL, isa::AtomicOp::add, isa::Type::u32, 3, 10, 0);
       }},
      {IdleCause::pending_full, [](hw::Machine& machine) { machine.core.pending_accesses = 2; },
       [](Code& code) { code.load(Op::LD_GLOBAL, 2, 1); }},
  };
}

// Adds the idle cycles up as it is told of them.
class IdleSums final : public hw::CoreObserver {
 public:
  void idle(const hw::CoreState&, Cycle, Cycle cycles, IdleCause cause) override {
    sums[static_cast<std::size_t>(cause)] += cycles;
  }
  std::array<std::uint64_t, hw::kIdleCauseCount> sums{};
};

std::string text_of(const std::array<std::uint64_t, hw::kIdleCauseCount>& idle) {
  std::string text;
  for (std::size_t cause = 0; cause < hw::kIdleCauseCount; ++cause) {
    text += fmt::format("{} {}\n", hw::kIdleCauses[cause].name, idle[cause]);
  }
  return text;
}

std::string idle_of(const Shortage& shortage, bool watched) {
  return in_child([&] {
    hw::Machine machine;
    shortage.limit(machine);
    GpuBench bench(machine);
    IdleSums seen;
    if (watched) {
      bench.gpu.observe(&seen);
    }
    Code code;
    code.param(9, 0);
    code.s2r(0, Special::tid_x);
    code.rri(Op::SHR_U, 0, 0, 5);
    code.rri(Op::SHL, 1, 0, 7);
    code.rrr(Op::ADD, 1, 1, 9);
    code.rri(Op::ADD, 10, 9, 8192);
    shortage.access(code);
    code.exit();
    LaunchShape shape;
    shape.block = {512, 1, 1};
    const hw::Totals totals = bench.run(code, shape);
    return watched && seen.sums != totals.core.idle ? "told otherwise than counted" : text_of(totals.core.idle);
  });
}

class WantOfRoom : public ::testing::TestWithParam<Shortage> {};

TEST_P(WantOfRoom, IsCountedByWhatIsWanted) {
  const std::string alone = idle_of(GetParam(), false);
  for (std::size_t i = 0; i < hw::kIdleCauseCount; ++i) {
    const auto cause = static_cast<IdleCause>(i);
    if (hw::is_want_of_room(cause)) {
      const bool none = alone.find(fmt::format("{} 0\n", hw::kIdleCauses[i].name)) != std::string::npos;
      EXPECT_EQ(none, cause != GetParam().cause) << hw::kIdleCauses[i].name << "\n" << alone;
    }
  }
  EXPECT_EQ(alone, idle_of(GetParam(), true)) << "a core that sleeps counts what one counts that is awake";
}

INSTANTIATE_TEST_SUITE_P(All, WantOfRoom, ::testing::ValuesIn(shortages()), [](const auto& info) {
  return std::string(hw::kIdleCauses[static_cast<std::size_t>(info.param.cause)].name);
});

// What the core did at the end of a launch, and how long it slept, says nothing about the first cycles of the next one.
std::string no_work_of_launches(bool watched) {
  return in_child([&] {
    GpuBench bench;
    IdleSums seen;
    if (watched) {
      bench.gpu.observe(&seen);
    }
    Code code;
    code.param(9, 0);
    code.store(Op::ST_GLOBAL, 9, 0, 0);
    code.exit();
    std::string text;
    for (unsigned launch = 0; launch != 3; ++launch) {
      text += fmt::format("{} ", bench.run(code).core.idle[static_cast<std::size_t>(IdleCause::no_work)]);
      bench.step(1 + 7 * launch);
    }
    return text;
  });
}

TEST(IdleCauses, AreTheSameAtTheStartOfEveryLaunch) {
  const std::string unwatched = no_work_of_launches(false);
  const std::string first = unwatched.substr(0, unwatched.find(' '));
  EXPECT_NE(first, "0");
  EXPECT_EQ(unwatched, first + " " + first + " " + first + " ");
  EXPECT_EQ(no_work_of_launches(true), unwatched);
}

// Sixteen warps each load a line of their own, again and again, through an L1 of two lines: each loses it to the
// others.
std::string throttled(const char* limiter, bool watched) {
  return in_child([&] {
    hw::Machine machine;
    machine.core.load_limiter = limiter;
    machine.l1d.bytes = 256;
    machine.l1d.ways = 1;
    GpuBench bench(machine);
    IdleSums seen;
    if (watched) {
      bench.gpu.observe(&seen);
    }
    Code code;
    code.param(9, 0);
    code.s2r(0, Special::tid_x);
    code.rri(Op::SHR_U, 0, 0, 5);
    code.rri(Op::SHL, 1, 0, 7);
    code.rrr(Op::ADD, 1, 1, 9);
    for (unsigned i = 0; i != 6; ++i) {
      code.load(Op::LD_GLOBAL, 2, 1);
    }
    code.exit();
    LaunchShape shape;
    shape.block = {512, 1, 1};
    const hw::Totals totals = bench.run(code, shape);
    return watched && seen.sums != totals.core.idle
               ? "told otherwise than counted"
               : text_of(totals.core.idle) + fmt::format("lost {} held {} cycles {}\n", totals.core.lost_locality,
                                                         totals.core.throttled_loads, totals.core.throttled_cycles);
  });
}

TEST(LoadLimiter, HoldsLoadsBackAsleepAsAwake) {
  const std::string alone = throttled("ccws", false);
  EXPECT_EQ(alone, throttled("ccws", true)) << "a core that sleeps releases loads when one does that is awake";
  EXPECT_EQ(alone.find("throttled 0\n"), std::string::npos) << alone;
  EXPECT_EQ(alone.find("lost 0 "), std::string::npos) << alone;
  EXPECT_EQ(alone.find("held 0 "), std::string::npos) << alone;
  const std::string without = throttled("none", false);
  EXPECT_NE(without.find("lost 0 held 0 cycles 0\n"), std::string::npos) << without;
}

}  // namespace
}  // namespace heddle::test
