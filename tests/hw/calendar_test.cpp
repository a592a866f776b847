// The calendar of clocked modules: who runs when, and when the SystemC kernel's time may stand meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tests/hw/scribe.hpp"
#include "tlm/calendar/calendar.hpp"

namespace heddle::test {
namespace {

using link::Cycle;
using link::kNever;

TEST(Calendar, ModulesRunInTheCyclesThatTheyAskFor) {
  link::Calendar calendar(kPeriod);
  Scribe often("often", calendar.clock(), until_six);
  Scribe seldom("seldom", calendar.clock(), [](Cycle now) { return now < 10 ? now + 5 : kNever; });
  often.wake(2);
  seldom.wake(3);
  sc_core::sc_start();
  EXPECT_EQ(often.ran, (std::vector<Cycle>{2, 3, 4, 5, 6}));
  EXPECT_EQ(seldom.ran, (std::vector<Cycle>{3, 8, 13}));
  EXPECT_EQ(often.kernel_ps, (std::vector<std::uint64_t>{4000, 6000, 8000, 10000, 12000}));
  EXPECT_EQ(calendar.cycles_ahead(), 0U) << "without a horizon";
}

TEST(Calendar, ACycleRunsOnce) {
  link::Calendar calendar(kPeriod);
  Scribe* self = nullptr;
  Scribe module("module", calendar.clock(), [&](Cycle now) {
    if (now == 4) {
      self->wake(4);  // too late for this cycle: the next one
    }
    return kNever;
  });
  self = &module;
  module.wake(4);
  module.wake(4);
  sc_core::sc_start();
  EXPECT_EQ(module.ran, (std::vector<Cycle>{4, 5}));
}

// Whoever wakes another one for the present cycle, or the next one, finds it awake then, in whatever order they run.
class CalendarOrder : public ::testing::TestWithParam<bool> {};

TEST_P(CalendarOrder, DoesNotDecideWhenAWokenModuleRuns) {
  const bool waker_first = GetParam();
  link::Calendar calendar(kPeriod);
  Scribe* woken = nullptr;
  const auto wakes = [&](Cycle now) {
    woken->wake(now + 1);
    woken->wake(now + 3);
    return kNever;
  };
  std::vector<std::unique_ptr<Scribe>> all;
  for (const bool waker : {waker_first, !waker_first}) {
    all.push_back(waker ? std::make_unique<Scribe>("waker", calendar.clock(), wakes)
                        : std::make_unique<Scribe>("woken", calendar.clock(), never));
    all.back()->wake(5);
    woken = waker ? woken : all.back().get();
  }
  sc_core::sc_start();
  EXPECT_EQ(woken->ran, (std::vector<Cycle>{5, 6})) << "from its run on it says itself what comes next";
}

INSTANTIATE_TEST_SUITE_P(Calendar, CalendarOrder, ::testing::Bool());

TEST(Calendar, AWakeUpForThisCycleRunsInIt) {
  link::Calendar calendar(kPeriod);
  Scribe* second = nullptr;
  Scribe first("first", calendar.clock(), never);
  Scribe waker("waker", calendar.clock(), [&](Cycle now) {
    first.wake(now);    // before it in the order
    second->wake(now);  // after it
    return kNever;
  });
  Scribe after("after", calendar.clock(), never);
  second = &after;
  waker.wake(7);
  sc_core::sc_start();
  EXPECT_EQ(first.ran, std::vector<Cycle>{7});
  EXPECT_EQ(after.ran, std::vector<Cycle>{7});
}

// ------------------------------------------------------------------------------------------------ running ahead

TEST(Calendar, RunsAheadUpToTheHorizon) {
  link::Calendar calendar(kPeriod);
  Scribe module("module", calendar.clock(), [](Cycle now) { return now + 1; });
  module.wake(1);
  calendar.run_ahead_until(sc_core::sc_time(10, sc_core::SC_NS));
  sc_core::sc_start(10, sc_core::SC_NS);
  // Cycle 5 begins at 10 ns, the horizon: the kernel has the word again.
  EXPECT_EQ(calendar.cycles_ahead(), 3U);
  ASSERT_GE(module.ran.size(), 4U);
  EXPECT_EQ(std::vector<std::uint64_t>(module.kernel_ps.begin(), module.kernel_ps.begin() + 4),
            (std::vector<std::uint64_t>{2000, 2000, 2000, 2000}));
  EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(10, sc_core::SC_NS));
  EXPECT_EQ(module.clock().now(), 5U);
}

// One module is due in every cycle, the others seldom: no module misses a cycle for its having many turns on end, nor
// what it does to the others.
TEST(Calendar, AModuleThatIsAloneHasItsTurnsUntilSomebodyElseIsDue) {
  link::Calendar calendar(kPeriod);
  std::vector<std::pair<Cycle, char>> turns;
  Scribe* woken = nullptr;
  class Quiet final : public link::ClockedModule {
   public:
    Quiet(link::Clock clock, std::function<Cycle(Cycle)> work) : ClockedModule("busy", clock), work_(std::move(work)) {}

   private:
    Cycle advance(Cycle now) override { return work_(now); }
    std::function<Cycle(Cycle)> work_;
  };
  Quiet busy(calendar.clock(), [&](Cycle now) {
    turns.emplace_back(now, 'b');
    if (now == 10) {
      woken->wake(10);  // in this very cycle
    }
    if (now == 20) {
      calendar.tell([&woken] { woken->wake(25); });
    }
    return now < 40 ? now + 1 : kNever;
  });
  Scribe other("other", calendar.clock(), [&](Cycle now) {
    turns.emplace_back(now, 'o');
    return kNever;
  });
  Scribe late("late", calendar.clock(), [&](Cycle now) { return now == 30 ? 31 : kNever; });
  woken = &other;
  busy.wake(1);
  late.wake(30);
  calendar.run_ahead_until(sc_core::sc_max_time());
  sc_core::sc_start();
  EXPECT_EQ(other.ran, (std::vector<Cycle>{10, 25}));
  EXPECT_EQ(late.ran, (std::vector<Cycle>{30, 31}));
  EXPECT_EQ(turns.size(), 42U);
  EXPECT_TRUE(std::is_sorted(turns.begin(), turns.end(),
                             [](const auto& one, const auto& another) { return one.first < another.first; }));
  EXPECT_EQ(calendar.cycles_ahead(), 39U);
}

// A module outside the calendar, with an event at 7 ns: between cycles 3 and 4.
class Outsider : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Outsider);
  Outsider(const sc_core::sc_module_name& name, std::function<void()> act)
      : sc_core::sc_module(name), act_(std::move(act)) {
    SC_METHOD(act);
    sensitive << event;
    dont_initialize();
  }
  sc_core::sc_event event;

 private:
  void act() { act_(); }
  std::function<void()> act_;
};

TEST(Calendar, StopsBeforeWhatTheKernelHasToDo) {
  link::Calendar calendar(kPeriod);
  Scribe module("module", calendar.clock(), until_six);
  std::size_t seen = 0;
  Cycle now = 0;
  Outsider outsider("outsider", [&] {
    seen = module.ran.size();
    now = module.clock().now();
  });
  outsider.event.notify(7, sc_core::SC_NS);
  module.wake(1);
  calendar.run_ahead_until(sc_core::sc_max_time());
  sc_core::sc_start();
  EXPECT_EQ(seen, 3U) << "cycles 1, 2, 3 and no more";
  EXPECT_EQ(now, 3U);
  EXPECT_EQ(module.ran.size(), 6U);
  EXPECT_EQ(calendar.cycles_ahead(), 4U) << "2 and 3 before it, 5 and 6 after it";
}

// What a module notifies while it is ahead happens at the module's time, and nothing of the calendar before it.
TEST(Calendar, AnEventOfAModuleThatIsAheadComesInTime) {
  link::Calendar calendar(kPeriod);
  std::size_t seen = 0;
  Scribe* self = nullptr;
  Outsider outsider("outsider", [&] {
    seen = self->ran.size();
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(9, sc_core::SC_NS));
  });
  Scribe module("module", calendar.clock(), [&](Cycle now) {
    if (now == 3) {
      outsider.event.notify(self->clock().ahead() + sc_core::sc_time(3, sc_core::SC_NS));
    }
    return until_six(now);
  });
  self = &module;
  module.wake(1);
  calendar.run_ahead_until(sc_core::sc_max_time());
  sc_core::sc_start();
  EXPECT_EQ(seen, 4U) << "cycle 4 begins at 8 ns, cycle 5 at 10 ns";
  EXPECT_EQ(module.ran.size(), 6U);
}

// Two modules are due in every cycle, and the kernel has been asked for its next event before one of them notifies a
// nearer one: having asked how far it is ahead, or as a module that stays, which need not ask. The other one has no
// turn beyond it.
class CalendarEvent : public ::testing::TestWithParam<bool> {};

TEST_P(CalendarEvent, ThatIsNotifiedInATurnComesInTime) {
  const bool stays = GetParam();
  link::Calendar calendar(kPeriod);
  std::size_t seen = 0;
  Scribe* self = nullptr;
  Scribe other("other", calendar.clock(), until_nine);
  Outsider outsider("outsider", [&] {
    seen = other.ran.size();
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(13, sc_core::SC_NS));
  });
  Scribe module("module", calendar.clock(), [&](Cycle now) {
    if (now == 5) {
      const sc_core::sc_time kernel =
          stays ? sc_core::sc_time_stamp() : self->clock().cycles(5) - self->clock().ahead();
      outsider.event.notify(sc_core::sc_time(13, sc_core::SC_NS) - kernel);
    }
    return until_nine(now);
  });
  self = &module;
  module.stay(stays);
  module.asks = other.asks = false;
  module.wake(1);
  other.wake(1);
  calendar.run_ahead_until(sc_core::sc_max_time());
  sc_core::sc_start();
  EXPECT_EQ(seen, 6U) << "cycle 6 begins at 12 ns, cycle 7 at 14 ns";
  EXPECT_EQ(other.ran.size(), 9U);
  EXPECT_EQ(module.ran.size(), 9U);
  EXPECT_GE(calendar.cycles_ahead(), 7U) << "with nothing in its way it runs ahead";
}

INSTANTIATE_TEST_SUITE_P(Notified, CalendarEvent, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "by_one_that_stays" : "by_one_that_asks"; });

TEST(Calendar, ShufflesWhoRunsFirst) {
  link::Calendar calendar(kPeriod);
  std::vector<std::string> order;
  const auto note = [&order](const char* name) {
    return [&order, name](Cycle now) {
      order.emplace_back(name);
      return now < 64 ? now + 1 : kNever;
    };
  };
  Scribe a("a", calendar.clock(), note("a"));
  Scribe b("b", calendar.clock(), note("b"));
  a.wake(1);
  b.wake(1);
  calendar.shuffle(3);
  sc_core::sc_start();
  ASSERT_EQ(order.size(), 128U);
  unsigned a_first = 0;
  for (std::size_t i = 0; i < order.size(); i += 2) {
    EXPECT_NE(order[i], order[i + 1]) << "each once in a cycle";
    a_first += order[i] == "a" ? 1 : 0;
  }
  EXPECT_GT(a_first, 10U);
  EXPECT_LT(a_first, 54U);
}

// ------------------------------------------------------------------------------------------------ turns

// What modules have done at a cycle's end is done when all have had their turns, by module and, of each, in the order
// of telling, in whatever order they had them. So is all that they tell, when turns are shuffled.
class CalendarTold : public ::testing::TestWithParam<std::tuple<std::uint64_t, bool>> {};

TEST_P(CalendarTold, IsDoneWhenAllHaveHadTheirTurns) {
  const auto& [seed, at_end] = GetParam();
  link::Calendar calendar(kPeriod);
  std::vector<std::pair<Cycle, int>> done;
  const auto tells = [&, at_end = at_end](int number) {
    return [&, at_end, number](Cycle now) {
      EXPECT_TRUE(done.empty() || done.back().first < now);
      for (const int part : {0, 1}) {
        const auto task = [&done, now, number, part] { done.emplace_back(now, number * 10 + part); };
        at_end ? calendar.clock().at_cycle_end(task) : calendar.clock().tell(task);
      }
      return now < 9 ? now + 1 : kNever;
    };
  };
  std::vector<std::unique_ptr<Scribe>> all;
  for (int number = 0; number != 4; ++number) {
    all.push_back(
        std::make_unique<Scribe>(("teller" + std::to_string(number)).c_str(), calendar.clock(), tells(number)));
    all.back()->wake(4);
  }
  if (seed != 0) {
    calendar.shuffle(seed);
  }
  sc_core::sc_start();
  std::vector<std::pair<Cycle, int>> expected;
  for (Cycle cycle = 4; cycle != 10; ++cycle) {
    for (const int entry : {0, 1, 10, 11, 20, 21, 30, 31}) {
      expected.emplace_back(cycle, entry);
    }
  }
  EXPECT_EQ(done, expected);
}

INSTANTIATE_TEST_SUITE_P(Calendar, CalendarTold,
                         ::testing::Values(std::tuple{0U, true}, std::tuple{3U, true}, std::tuple{3U, false},
                                           std::tuple{8U, false}));

TEST(Calendar, DoesAtOnceWhatItIsToldInNobodysTurn) {
  link::Calendar calendar(kPeriod);
  calendar.shuffle(1);
  int done = 0;
  calendar.clock().tell([&done] { done += 1; });
  EXPECT_EQ(done, 1);
  link::Clock(kPeriod).tell([&done] { done += 10; });
  link::Clock(kPeriod).at_cycle_end([&done] { done += 10; });
  EXPECT_EQ(done, 21) << "without a calendar";
  Scribe module("module", calendar.clock(), [&](Cycle) {
    calendar.clock().tell([&done, &calendar] {
      done += 100;
      calendar.clock().tell([&done] { done += 1000; });
      EXPECT_EQ(done, 1121) << "turns are over";
      calendar.clock().at_cycle_end([&done] { done += 10000; });
      EXPECT_EQ(done, 1121);
    });
    EXPECT_EQ(done, 21);
    return kNever;
  });
  module.wake(3);
  sc_core::sc_start();
  EXPECT_EQ(done, 11121);
}

// Two modules, each of which has its turn in every cycle up to 6 and does something in it: what is wrong with that.
std::string both_do(const std::function<void(Scribe& self, Scribe& other, Cycle now)>& act) {
  link::Calendar calendar(kPeriod);
  std::array<Scribe*, 2> both{};
  std::string wrong;
  const auto work = [&](std::size_t number) {
    return [&, number](Cycle now) {
      try {
        act(*both[number], *both[1 - number], now);
      } catch (const InternalError& error) {
        wrong = error.what();
      }
      return until_six(now);
    };
  };
  Scribe a("a", calendar.clock(), work(0));
  Scribe b("b", calendar.clock(), work(1));
  both = {&a, &b};
  a.wake(1);
  b.wake(1);
  calendar.shuffle(5);
  sc_core::sc_start();
  return wrong.empty() && calendar.touches() == 0 ? "touched nothing" : wrong;
}

TEST(Calendar, SeesWhoTouchesOneThingInOneCycle) {
  const int thing = 0;
  EXPECT_THAT(both_do([&](Scribe& self, Scribe&, Cycle) { self.clock().touch(&thing, "the thing"); }),
              ::testing::HasSubstr("both touch the thing in cycle 6"));
}

TEST(Calendar, LetsATouchedThingGoToAnotherInAnotherCycle) {
  const int thing = 0;
  EXPECT_EQ(both_do([&](Scribe& self, Scribe&, Cycle now) {
              if ((now % 2 == 0) == (std::string(self.basename()) == "a")) {
                self.clock().touch(&thing, "the thing");
                self.clock().touch(&thing, "the thing");
              }
            }),
            "");
}

TEST(Calendar, SeesWhoWakesAnotherWithinItsTurn) {
  EXPECT_THAT(both_do([](Scribe&, Scribe& other, Cycle now) { other.wake(now + 1); }),
              ::testing::HasSubstr("instead of telling the calendar"));
}

TEST(Calendar, LetsAModuleTellThatAnotherIsToWake) {
  EXPECT_EQ(both_do([](Scribe& self, Scribe& other, Cycle now) {
              if (now < 6) {
                self.clock().tell([&other, now] { other.wake(now + 1); });
              }
            }),
            "touched nothing");
}

// As a trace file does that is finished when the GPU is gone.
TEST(Calendar, AClockOutlivesIt) {
  auto calendar = std::make_unique<link::Calendar>(kPeriod);
  const link::Clock clock = calendar->clock();
  sc_core::sc_start(10, sc_core::SC_NS);
  calendar.reset();
  EXPECT_EQ(clock.now(), 5U);
  EXPECT_EQ(clock.until(7), sc_core::sc_time(4, sc_core::SC_NS));
}

// A module with a clock that no calendar has made has a calendar of its own.
TEST(Calendar, AModuleAloneHasItsOwn) {
  Scribe module("module", link::Clock(kPeriod), until_six);
  module.wake(5);
  sc_core::sc_start();
  EXPECT_EQ(module.ran, (std::vector<Cycle>{5, 6}));
}

}  // namespace
}  // namespace heddle::test
