// The calendar's turns in several host threads: what modules do and hear is as in one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <systemc>
#include <thread>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "tests/hw/scribe.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/calendar/turn_team.hpp"
#include "tlm/inbox.hpp"

namespace heddle::test {
namespace {

using link::Cycle;
using link::kNever;

// Modules that tell each other numbers: what each has heard, in order, depends on all turns of all cycles before.
class Chatter final : public link::ClockedModule {
 public:
  Chatter(link::Clock clock, std::vector<std::unique_ptr<Chatter>>& all)
      : ClockedModule(sc_core::sc_gen_unique_name("chatter"), clock), all_(all), state_(all.size() + 1) {
    wake(1);
  }
  std::vector<std::uint64_t> heard;
  std::set<std::thread::id> threads;  // that had its turns

 private:
  Cycle advance(Cycle now) override {
    threads.insert(std::this_thread::get_id());
    told_.take(now, [this](std::uint64_t word, Cycle) {
      heard.push_back(word);
      state_ = state_ * 31 + word;
    });
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    for (unsigned i = 0; i != 2; ++i) {
      clock().tell([&other = *all_[(state_ >> (20U + 10 * i)) % all_.size()], word = state_ + i, now] {
        other.told_.put(now, word);
        other.wake(now + 1 + word % 3);
      });
    }
    return now < 300 ? now + 1 + (state_ >> 50U) % 4 : kNever;
  }
  std::vector<std::unique_ptr<Chatter>>& all_;
  link::Inbox<std::uint64_t> told_;
  std::uint64_t state_;
};

// Room for a number of them; the one in the middle stays.
struct Chat : sc_core::sc_module {
  explicit Chat(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
    while (all.size() != 23) {
      all.push_back(std::make_unique<Chatter>(calendar.clock(), all));
    }
    stays().stay(true);
  }
  Chatter& stays() { return *all[11]; }
  std::vector<std::vector<std::uint64_t>> heard() const {
    std::vector<std::vector<std::uint64_t>> words;
    for (const auto& one : all) {
      words.push_back(one->heard);
    }
    return words;
  }
  link::Calendar calendar{kPeriod};
  std::vector<std::unique_ptr<Chatter>> all;
};

class CalendarThreads : public ::testing::TestWithParam<std::tuple<unsigned, std::uint64_t>> {};

// One after the other, at once, and in threads that change from cycle to cycle: every module hears the same words.
TEST_P(CalendarThreads, ChangeNothing) {
  const auto& [threads, shuffle] = GetParam();
  Chat alone("alone");
  Chat together("together");
  together.calendar.share_among(threads);
  together.calendar.share_every_cycle();
  if (shuffle != 0) {
    together.calendar.shuffle(shuffle);
  }
  sc_core::sc_start(alone.calendar.clock().cycles(400));
  EXPECT_TRUE(together.heard() == alone.heard());
  EXPECT_GT(alone.all[3]->heard.size(), 100U);
  EXPECT_EQ(alone.calendar.cycles_shared(), 0U);
  EXPECT_GT(together.calendar.cycles_shared(), 100U);
  EXPECT_EQ(together.stays().threads, std::set{std::this_thread::get_id()});
}

INSTANTIATE_TEST_SUITE_P(Calendar, CalendarThreads,
                         ::testing::Combine(::testing::Values(2U, 3U, 5U, 40U), ::testing::Values(0U, 9U)));

// Each look at the time is a window's end: with one thread and with several by turns.
TEST(CalendarThreads, ChangeNothingWhileTheyAreTried) {
  Chat alone("alone");
  Chat together("together");
  std::uint64_t now = 0;
  together.calendar.try_threads(5);
  together.calendar.time_trials_by([&now] { return now += link::ThreadTrial::kWindow; });
  together.calendar.share_every_cycle();
  const sc_core::sc_time end = alone.calendar.clock().cycles(400);
  together.calendar.run_ahead_until(end);
  sc_core::sc_start(end);
  EXPECT_TRUE(together.heard() == alone.heard());
  EXPECT_GT(together.calendar.cycles_shared(), 30U);
  EXPECT_LT(together.calendar.cycles_shared(), 200U);
}

// How many threads a calendar ends with, of four, where a turn takes half or twice as long with several.
unsigned found_by_trial(double of_several) {
  link::Calendar calendar(kPeriod);
  std::vector<std::unique_ptr<Scribe>> all;
  for (int number = 0; number != 12; ++number) {
    all.push_back(std::make_unique<Scribe>(("module" + std::to_string(number)).c_str(), calendar.clock(),
                                           [](Cycle now) { return now + 1; }));
    all.back()->wake(1);
  }
  std::uint64_t now = 0;
  std::set<unsigned> seen;
  calendar.try_threads(4);
  calendar.share_every_cycle();
  calendar.time_trials_by([&] {
    seen.insert(calendar.threads());
    const double took = calendar.threads() == 1 ? 1 : of_several;
    return now += static_cast<std::uint64_t>(took * link::ThreadTrial::kWindow / 5);
  });
  const sc_core::sc_time end = calendar.clock().cycles(5000);
  calendar.run_ahead_until(end);
  sc_core::sc_start(end);
  EXPECT_EQ(seen, of_several < 1 ? (std::set<unsigned>{1, 4}) : (std::set<unsigned>{1, 2, 4}));
  EXPECT_EQ(all.back()->ran.size(), 4999U);
  return calendar.threads();
}

TEST(Calendar, KeepsThreadsThatAreFaster) {
  EXPECT_EQ(found_by_trial(0.5), 4U);
}

TEST(Calendar, LetsThreadsThatLoseGo) {
  EXPECT_EQ(found_by_trial(2), 1U);
}

// A module's own errors come out of sc_start, of errors in one cycle the first one by number.
TEST(Calendar, TellsTheFirstOfSeveralErrors) {
  link::Calendar calendar(kPeriod);
  std::vector<std::unique_ptr<Scribe>> all;
  for (int number = 0; number != 12; ++number) {
    all.push_back(std::make_unique<Scribe>(("module" + std::to_string(number)).c_str(), calendar.clock(),
                                           [number](Cycle now) -> Cycle {
                                             if (now == 40 && number % 4 == 3) {
                                               throw InternalError("number " + std::to_string(number));
                                             }
                                             return now + 1;
                                           }));
    all.back()->wake(1);
  }
  calendar.share_among(3);
  calendar.share_every_cycle();
  sc_core::sc_report_handler::set_handler(nullptr);  // the error is what is asked for
  try {
    sc_core::sc_start(calendar.clock().cycles(100));
    FAIL() << "no error";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("number 3"));
  }
}

TEST(Calendar, HasOneThreadAgainWhenAsked) {
  link::Calendar calendar(kPeriod);
  std::set<std::thread::id> threads;
  std::vector<std::unique_ptr<Scribe>> all;
  for (int number = 0; number != 8; ++number) {
    all.push_back(std::make_unique<Scribe>(("module" + std::to_string(number)).c_str(), calendar.clock(),
                                           [](Cycle now) { return now + 1; }));
    all.back()->wake(1);
  }
  calendar.share_among(2);
  calendar.share_every_cycle();
  EXPECT_EQ(calendar.threads(), 2U);
  sc_core::sc_start(calendar.clock().cycles(50));
  const std::uint64_t shared = calendar.cycles_shared();
  EXPECT_GT(shared, 40U);
  calendar.share_among(1);
  sc_core::sc_start(calendar.clock().cycles(50));
  EXPECT_EQ(calendar.cycles_shared(), shared);
  EXPECT_EQ(all.back()->ran.size(), 99U) << "cycle 0 is nobody's";
}

// Every part is done once per job, by whatever thread; also when the threads have fallen asleep in between.
TEST(TurnTeam, DoesEveryPartOnce) {
  std::array<unsigned, 4> done{};
  unsigned jobs = 0;
  link::TurnTeam team(4, [&](unsigned part) { done[part] += jobs; });
  unsigned expected = 0;
  for (unsigned i = 0; i != 2000; ++i) {
    if (i % 500 == 499) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    expected += ++jobs;
    team.run();
    for (const unsigned part : done) {
      ASSERT_EQ(part, expected);
    }
  }
}

}  // namespace
}  // namespace heddle::test
