// Modules that run on: the order of all that one module sees is as if none did.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <systemc>
#include <tuple>
#include <utility>
#include <vector>

#include "tlm/calendar/calendar.hpp"
#include "tlm/inbox.hpp"

namespace heddle {
namespace {

using link::Cycle;
using link::kNever;

constexpr Cycle kWay = 5;  // from the office to a walker
constexpr Cycle kLong = 2000;

// Answers what walkers ask, kWay cycles after it has heard of it, in the order in which it has.
class Office;

// Works for itself, and asks the office now and then.
class Walker final : public link::ClockedModule {
 public:
  Walker(link::Clock clock, Office& office, unsigned number, unsigned seldom, Cycle first)
      : ClockedModule(sc_core::sc_gen_unique_name("walker"), clock),
        office_(office),
        number_(number),
        seldom_(seldom),
        first_(first) {
    wake(first);
  }
  void answer(Cycle at, std::uint64_t word) {
    told_.put(at, word);
    wake(at + 1);
  }
  [[nodiscard]] bool asked() const { return asked_; }
  std::vector<std::pair<Cycle, std::uint64_t>> seen;  // when, and its state then

 private:
  Cycle advance(Cycle now) override;
  Office& office_;
  const unsigned number_;
  const unsigned seldom_;
  const Cycle first_;
  link::Inbox<std::uint64_t> told_;
  std::uint64_t state_ = 7;
  bool asked_ = false;
};

class Office final : public link::ClockedModule {
 public:
  Office(link::Clock clock, std::vector<std::unique_ptr<Walker>>& walkers, Cycle first)
      : ClockedModule(sc_core::sc_gen_unique_name("office"), clock), walkers_(walkers), first_(first) {}
  void ask(Cycle at, unsigned walker, std::uint64_t word) {
    asked_.put(at, {walker, word});
    wake(at + 1);
  }
  std::vector<std::tuple<Cycle, unsigned, std::uint64_t>> heard;

 private:
  struct Answer {
    Cycle at;
    unsigned walker;
    std::uint64_t word;
  };
  Cycle advance(Cycle now) override {
    asked_.take(now, [&](std::pair<unsigned, std::uint64_t> question, Cycle) {
      heard.emplace_back(now - first_, question.first, question.second);
      state_ = state_ * 31 + question.second;
      answers_.push_back({now + kWay, question.first, state_});
    });
    while (!answers_.empty() && answers_.front().at <= now) {
      const Answer answer = answers_.front();
      answers_.erase(answers_.begin());
      clock().tell([&walker = *walkers_[answer.walker], answer, now] { walker.answer(now, answer.word); });
    }
    return answers_.empty() ? kNever : answers_.front().at;
  }
  std::vector<std::unique_ptr<Walker>>& walkers_;
  const Cycle first_;
  link::Inbox<std::pair<unsigned, std::uint64_t>> asked_;
  std::vector<Answer> answers_;
  std::uint64_t state_ = 1;
};

Cycle Walker::advance(Cycle now) {
  told_.take(now, [this](std::uint64_t word, Cycle) {
    state_ ^= word;
    asked_ = false;
  });
  state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  seen.emplace_back(now - first_, state_);
  if (!asked_ && (state_ >> 33U) % seldom_ == 0) {
    asked_ = true;
    clock().tell([&office = office_, number = number_, word = state_, now] { office.ask(now, number, word); });
  }
  return now < first_ + kLong ? now + 1 + (state_ >> 60U) % 2 : kNever;
}

struct Street : sc_core::sc_module, link::Foresight {
  Street(const sc_core::sc_module_name& name, unsigned seldom, Cycle first) : sc_core::sc_module(name), first(first) {
    for (unsigned number = 0; number != 9; ++number) {
      walkers.push_back(std::make_unique<Walker>(calendar.clock(), office(), number, seldom, first));
    }
  }
  Office& office() {
    if (!office_) {
      office_ = std::make_unique<Office>(calendar.clock(), walkers, first);
    }
    return *office_;
  }
  void run_on() {
    std::vector<link::ClockedModule*> runners;
    for (const auto& walker : walkers) {
      runners.push_back(walker.get());
    }
    calendar.let_run_on(runners, *this);
  }
  // Who has asked nothing waits for nothing.
  void look(Cycle now, Cycle told) override { answers = std::min({office().due() + 1, now + kWay, told + kWay}); }
  [[nodiscard]] Cycle undisturbed_until(unsigned walker) const override {
    return walkers[walker]->asked() ? answers : kNever;
  }
  const Cycle first;
  link::Calendar calendar{sc_core::sc_time(2, sc_core::SC_NS)};
  std::vector<std::unique_ptr<Walker>> walkers;
  std::unique_ptr<Office> office_;
  Cycle answers = 0;
};

class CalendarRunOn : public ::testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(CalendarRunOn, ChangesNothingThatAnybodySees) {
  const auto& [threads, seldom] = GetParam();
  // The streets run one after the other: each would keep the other from being ahead of the kernel.
  Street lock_step("lock_step", seldom, 1);
  Street on("on", seldom, 1 + 2 * kLong);
  on.run_on();
  on.calendar.share_among(threads);
  on.calendar.share_every_cycle();
  const link::Clock clock = on.calendar.clock();
  for (const Cycle until : {3 * kLong, 5 * kLong}) {
    lock_step.calendar.run_ahead_until(clock.cycles(until));
    on.calendar.run_ahead_until(clock.cycles(until));
    sc_core::sc_start(clock.cycles(until) - sc_core::sc_time_stamp());
    for (const auto& walker : on.walkers) {
      EXPECT_LT(walker->seen.back().first, until - on.first);  // no module has passed the horizon
    }
  }
  EXPECT_EQ(on.office().heard, lock_step.office().heard);
  EXPECT_GT(on.office().heard.size(), 20U);
  for (std::size_t i = 0; i != on.walkers.size(); ++i) {
    EXPECT_EQ(on.walkers[i]->seen, lock_step.walkers[i]->seen) << "walker " << i;
  }
  EXPECT_EQ(lock_step.calendar.turns_on(), 0U);
  EXPECT_GT(on.calendar.turns_on(), 300U);
}

INSTANTIATE_TEST_SUITE_P(Calendar, CalendarRunOn,
                         ::testing::Combine(::testing::Values(1U, 2U, 4U), ::testing::Values(3U, 20U, 200U)));

// Once no module runs on any more, all are in step.
TEST(CalendarRunOnNoMore, EndsIt) {
  Street street("street", 20, 1);
  street.run_on();
  street.calendar.run_on_no_more();
  street.calendar.run_ahead_until(street.calendar.clock().cycles(500));
  sc_core::sc_start(street.calendar.clock().cycles(500));
  EXPECT_EQ(street.calendar.turns_on(), 0U);
  EXPECT_GT(street.walkers[0]->seen.size(), 200U);
}

}  // namespace
}  // namespace heddle
