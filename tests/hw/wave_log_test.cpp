// The log of waves: the order of changes against a naive model.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "tests/hw/scribe.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/wave.hpp"

namespace heddle::hw {
namespace {

using link::Cycle;
using link::Wave;

class Recorder final : public link::WaveLog {
 public:
  explicit Recorder(std::size_t batch = 0) : WaveLog(batch) {}
  using WaveLog::end_step;
  using WaveLog::flush;
  using WaveLog::follow;
  using WaveLog::pass_on;
  using WaveLog::sleep;
  using WaveLog::wake;
  struct Shown {
    Cycle cycle;
    std::uint32_t wave;
    std::uint64_t value;
  };
  std::vector<Shown> shown;
  Cycle now = 0;  // where no clock says it

 private:
  [[nodiscard]] Cycle present() const override { return now; }
  void declare(const std::string&, unsigned) override { steps_.declare(); }
  // As a batch that another thread works on: the log gets another vector, of whatever content.
  void pass(std::vector<link::WaveOp>& ops, std::size_t count) override {
    steps_.apply({ops.data(), count});
    ops = std::vector<link::WaveOp>(count / 2, link::WaveOp{});
  }
  void show(Cycle cycle, std::span<const link::WaveChange> changes) {
    for (const link::WaveChange& change : changes) {
      shown.push_back({cycle, change.wave, change.value});
    }
  }
  link::WaveSteps steps_{[this](Cycle cycle, std::span<const link::WaveChange> changes) { show(cycle, changes); }};
};

// A wave as its definition has it: what is planned for a cycle happens unless a set() of that or an earlier cycle that
// comes after the plan takes it back.
struct NaiveWave {
  std::map<Cycle, std::uint64_t> planned;
  Cycle set_at = link::kNever;

  void set(Cycle now, std::uint64_t value) {
    planned.erase(planned.lower_bound(now), planned.end());
    planned[now] = value;
    set_at = now;
  }
  void pulse(Cycle now, std::uint64_t value) {
    set(now, value);
    planned[now + 1] = 0;
  }
  [[nodiscard]] std::optional<std::uint64_t> value(Cycle at) const {
    const auto after = planned.upper_bound(at);
    return after == planned.begin() ? std::nullopt : std::optional(std::prev(after)->second);
  }
};

// In each cycle before `end` each wave has the value that its definition says, and it changes there alone.
template <std::size_t kWaves>
void expect_shown(const Recorder& recorder, const std::array<NaiveWave, kWaves>& naive, Cycle end) {
  std::array<std::map<Cycle, std::uint64_t>, kWaves> shown;
  Cycle last = 0;
  for (const Recorder::Shown& change : recorder.shown) {
    ASSERT_GE(change.cycle, last) << "time goes back";
    last = change.cycle;
    const auto [place, is_new] = shown[change.wave].emplace(change.cycle, change.value);
    ASSERT_TRUE(is_new) << "two values in cycle " << change.cycle;
    ASSERT_TRUE(place == shown[change.wave].begin() || std::prev(place)->second != change.value) << "no change";
  }
  for (std::size_t i = 0; i < kWaves; ++i) {
    for (Cycle at = 0; at < end; ++at) {
      const auto after = shown[i].upper_bound(at);
      const auto seen = after == shown[i].begin() ? std::nullopt : std::optional(std::prev(after)->second);
      ASSERT_EQ(seen, naive[i].value(at)) << "wave " << i << " in cycle " << at;
    }
  }
}

TEST(WaveLog, ShowsWhatEachWaveIsInEachCycle) {
  constexpr std::size_t kWaves = 6;
  constexpr std::size_t kCounting = 4;  // from this wave on they count events
  std::mt19937 random(7);
  Recorder recorder(100);
  std::array<Wave, kWaves> waves;
  std::array<NaiveWave, kWaves> naive;
  for (Wave& wave : waves) {
    recorder.take(wave, "w", 8);
  }
  Cycle now = 0;
  for (unsigned step = 0; step < 20000; ++step) {
    std::array<bool, kWaves> pulsed{};
    recorder.now = now;
    for (unsigned op = random() % 6; op > 0; --op) {
      const std::size_t i = random() % kWaves;
      const std::uint64_t value = random() % 4;
      if (i >= kCounting) {
        const std::uint64_t before = naive[i].set_at == now ? naive[i].value(now).value() : 0;
        waves[i].count(value);
        naive[i].pulse(now, before + value);
        continue;
      }
      switch (random() % 4) {
        case 0:
          waves[i].set(value);
          naive[i].set(now, value);
          pulsed[i] = false;
          break;
        case 1:
          waves[i].merge(value);
          naive[i].set(now, naive[i].value(now).value_or(0) | value);
          pulsed[i] = false;
          break;
        case 2:
          waves[i].pulse(value);
          naive[i].pulse(now, value);
          pulsed[i] = true;
          break;
        default: {
          const Cycle at = now + (pulsed[i] ? 2 : 1) + random() % 5;
          waves[i].set_at(at, value);
          naive[i].planned[at] = value;
          break;
        }
      }
    }
    recorder.flush(now);
    if (random() % 8 == 0) {
      recorder.flush(now);  // another time step of the same cycle
    }
    now += 1 + (random() % 4 == 0 ? random() % 9 : 0);
  }
  recorder.flush(now + 100);
  recorder.pass_on();
  expect_shown<kWaves>(recorder, naive, now + 100);
}

// A log that follows modules' cycles, which may run ahead of the kernel: of signals that are mostly on for many cycles
// on end, as those of busy stages, it shows each cycle, though most of their changes come to nothing.
class FollowingWaveLog : public ::testing::TestWithParam<bool> {};

TEST_P(FollowingWaveLog, ShowsWhatEachWaveIsInEachCycle) {
  constexpr std::size_t kWaves = 7;
  constexpr std::size_t kCounting = 6;  // this one counts events
  constexpr Cycle kCycles = 20'000;
  std::mt19937 random(5);
  link::Calendar calendar(heddle::test::kPeriod);
  Recorder recorder;
  recorder.follow(calendar.clock());
  std::array<Wave, kWaves> waves;
  std::array<NaiveWave, kWaves> naive;
  for (Wave& wave : waves) {
    recorder.take(wave, "w", 8);
  }
  heddle::test::Scribe module("module", calendar.clock(), [&](Cycle now) {
    if (random() % 2 == 0) {  // several at once, perhaps some of them twice
      link::WaveSetter to(waves[0]);
      for (unsigned op = random() % 8; op != 0; --op) {
        const std::size_t i = random() % kCounting;
        const std::uint64_t value = random() % 3;
        switch (random() % 3) {
          case 0:
            to.pulse(waves[i], value);
            naive[i].pulse(now, value);
            break;
          case 1:
            to.set(waves[i], value);
            naive[i].set(now, value);
            break;
          default:
            to.set(waves[i], waves[i].value());
            naive[i].set(now, waves[i].value());
            break;
        }
      }
    }
    for (unsigned counts = random() % 3; counts != 0; --counts) {
      const std::uint64_t before = naive[kCounting].set_at == now ? naive[kCounting].value(now).value() : 0;
      const std::uint64_t events = random() % 3;
      if (counts == 1) {
        link::WaveSetter(waves[0]).count(waves[kCounting], events);
      } else {
        waves[kCounting].count(events);
      }
      naive[kCounting].pulse(now, before + events);
    }
    for (std::size_t i = 0; i != kCounting; ++i) {
      for (unsigned op = random() % 8; op < 8; op += 3) {
        switch (i < 3 || random() % 4 != 0 ? 0 : 1 + random() % 3) {
          case 0:
            if (random() % 8 != 0) {
              waves[i].pulse();
              naive[i].pulse(now, 1);
            }
            break;
          case 1:
            waves[i].pulse(random() % 3);
            naive[i].pulse(now, waves[i].value());
            break;
          case 2:
            waves[i].set(random() % 3);
            naive[i].set(now, waves[i].value());
            break;
          default: {
            const Cycle later = now + 2 + random() % 3;
            waves[i].set_at(later, 1);
            naive[i].planned[later] = 1;
            break;
          }
        }
      }
    }
    return now >= kCycles ? link::kNever : now + 1 + (random() % 16 == 0 ? random() % 4 : 0);
  });
  module.wake(1);
  const sc_core::sc_time end = calendar.clock().cycles(kCycles + 100);
  if (GetParam()) {
    calendar.run_ahead_until(end);
  }
  sc_core::sc_start(end);
  EXPECT_EQ(calendar.cycles_ahead() != 0, GetParam());
  recorder.flush(recorder.end_step());
  recorder.flush(kCycles + 100);
  expect_shown<kWaves>(recorder, naive, kCycles + 100);
}

INSTANTIATE_TEST_SUITE_P(WaveLog, FollowingWaveLog, ::testing::Bool());

TEST(WaveLog, DifferencesAddUpInAnyOrder) {
  Recorder recorder;
  Wave bus;
  recorder.take(bus, "bus", 2);
  bus.set(0);
  // [10, 14), [6, 10) and [14, 15), announced in this order: no gap and no overlap between them.
  for (const auto& [begin, end] : {std::pair<Cycle, Cycle>{10, 14}, {6, 10}, {14, 15}}) {
    bus.add_at(begin, 1);
    bus.add_at(end, ~std::uint64_t{0});
  }
  recorder.flush(0);
  recorder.flush(40);
  ASSERT_EQ(recorder.shown.size(), 3U);
  EXPECT_EQ(recorder.shown[1].cycle, 6U);
  EXPECT_EQ(recorder.shown[1].value, 1U);
  EXPECT_EQ(recorder.shown[2].cycle, 15U);
  EXPECT_EQ(recorder.shown[2].value, 0U);
}

TEST(WaveLog, AfterSleepItShowsWhatWavesHaveByThen) {
  Recorder recorder;
  Wave set, announced, bus, voided, crossed, overridden;
  for (Wave* const wave : {&set, &announced, &bus, &voided, &crossed, &overridden}) {
    recorder.take(*wave, "w", 8);
  }
  recorder.sleep(20);
  set.set(3);
  announced.set_at(10, 7);
  announced.set_at(30, 9);
  bus.set(0);
  bus.add_at(5, 1);
  bus.add_at(25, ~std::uint64_t{0});
  voided.set_at(12, 4);
  crossed.set_at(15, 6);
  crossed.set_at(8, 2);  // announced later, takes place earlier
  overridden.set_at(3, 4);
  recorder.now = 6;
  set.set(5);
  voided.set(1);
  overridden.set(8);
  overridden.set_at(7, 9);
  EXPECT_TRUE(recorder.shown.empty());
  recorder.wake(20);
  recorder.flush(20);
  std::map<std::uint32_t, std::uint64_t> values;
  for (const Recorder::Shown& shown : recorder.shown) {
    EXPECT_EQ(shown.cycle, 19U);
    values[shown.wave] = shown.value;
  }
  EXPECT_EQ(values, (std::map<std::uint32_t, std::uint64_t>{{0, 5}, {1, 7}, {2, 1}, {3, 1}, {4, 6}, {5, 9}}));
  recorder.shown.clear();
  recorder.flush(40);
  ASSERT_EQ(recorder.shown.size(), 2U);
  EXPECT_EQ(recorder.shown[0].cycle, 25U);
  EXPECT_EQ(recorder.shown[0].value, 0U);
  EXPECT_EQ(recorder.shown[1].cycle, 30U);
  EXPECT_EQ(recorder.shown[1].value, 9U);
}

TEST(WaveLog, ASetterOfItSetsWavesOfOthersToo) {
  Recorder recorder;
  Recorder other;
  Wave own, of_other, of_none;
  recorder.take(own, "own", 8);
  other.take(of_other, "other", 8);
  {
    link::WaveSetter to(own);
    ASSERT_TRUE(to);
    to.set(own, 3);
    to.set(of_other, 4);
    to.set(of_none, 5);
    to.pulse(of_other, 6);
    to.pulse(of_none);
    to.count(of_none, 2);
  }
  for (Recorder* const log : {&recorder, &other}) {
    log->flush(1);
    log->flush(9);
  }
  ASSERT_EQ(recorder.shown.size(), 1U);
  EXPECT_EQ(recorder.shown[0].value, 3U);
  ASSERT_EQ(other.shown.size(), 2U);
  EXPECT_EQ(other.shown[0].value, 6U);
  EXPECT_EQ(other.shown[1].value, 0U);
  EXPECT_FALSE(link::WaveSetter(of_none)) << "nobody has taken it";
}

TEST(WaveLog, WhileItSleepsASetterKeepsValues) {
  Recorder recorder;
  Wave set, pulsed;
  recorder.take(set, "set", 8);
  recorder.take(pulsed, "pulsed", 8);
  recorder.sleep(20);
  {
    link::WaveSetter to(set);
    to.set(set, 3);
    to.pulse(pulsed, 3);
    to.set(set, 5);
  }
  EXPECT_TRUE(recorder.shown.empty());
  recorder.wake(20);
  recorder.flush(20);
  ASSERT_EQ(recorder.shown.size(), 2U);
  EXPECT_EQ(recorder.shown[0].value, 5U);
  EXPECT_EQ(recorder.shown[1].value, 0U) << "which it has from the next cycle on";
}

TEST(WaveLog, NobodyLooksAndNothingHappens) {
  Wave wave;
  wave.set(3);
  wave.pulse();
  wave.set_at(7, 2);
  EXPECT_FALSE(wave.traced());
  {
    Recorder recorder;
    recorder.take(wave, "w", 2);
    EXPECT_TRUE(wave.traced());
    EXPECT_THROW(recorder.take(wave, "w", 2), InternalError);
    recorder.flush(1);
    EXPECT_TRUE(recorder.shown.empty());
  }
  EXPECT_FALSE(wave.traced()) << "the log has gone";
}

TEST(WaveLog, ForgetsWavesThatGo) {
  Recorder recorder;
  Wave stays;
  recorder.take(stays, "stays", 8);
  {
    Wave goes;
    recorder.take(goes, "goes", 8);
    goes.set(1);
    goes.pulse(2);
    goes.set_at(5, 3);
    goes.add_at(6, 4);
    stays.set_at(5, 7);
    stays.add_at(6, 1);
  }
  recorder.flush(9);
  ASSERT_EQ(recorder.shown.size(), 2U);
  EXPECT_EQ(recorder.shown[0].value, 7U);
  EXPECT_EQ(recorder.shown[1].value, 8U);
}

}  // namespace
}  // namespace heddle::hw
