// First-ready scheduling remembers what it has found out; here it is compared, choice by choice, with a search over all
// waiting requests that remembers nothing. Without a controller: queue, timing and policy alone.
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hw/dram/policy.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Channels/FirstReadyOn.*")

namespace heddle::hw {
namespace {

// Of the requests that may start, a bank's hits before its conflicts, each in order of arrival, and of the banks' first
// ones the one that can start first: hits before conflicts, older before younger. The oldest of all before others once
// it starves.
DramChoice first_by_search(const DramView& view) {
  if (view.waiting.empty()) {
    return {};
  }
  if (DramRequest& oldest = view.waiting.front(); view.starving(oldest) && view.may_start(oldest)) {
    return {&oldest, view.earliest_start(oldest)};
  }
  DramRequest* best = nullptr;
  Cycle best_start = kNever;
  for (DramRequest& request : view.waiting) {
    if (!view.may_start(request)) {
      continue;
    }
    const bool hit = view.timing.row_hit(request);
    bool first_of_bank = true;
    for (DramRequest& other : view.waiting) {
      if (!view.may_start(other)) {
        continue;
      }
      const bool other_hit = view.timing.row_hit(other);
      first_of_bank = first_of_bank && (other.location.bank != request.location.bank || &other == &request ||
                                        (other_hit != hit ? hit : request.serial < other.serial));
    }
    if (!first_of_bank) {
      continue;
    }
    const Cycle start = view.earliest_start(request);
    const bool best_hit = best != nullptr && view.timing.row_hit(*best);
    if (best == nullptr || start < best_start ||
        (start == best_start && (hit != best_hit ? hit : request.serial < best->serial))) {
      best = &request;
      best_start = start;
    }
  }
  return {best, best_start};
}

struct ReadyChannel {
  std::string timing;
  std::string preset;
  double period_ns;
  unsigned rows;       // that requests are to, of each bank: few of them are hits often
  unsigned mean_wait;  // cycles between arrivals
  unsigned write_high = 0;
  unsigned write_low = 0;
  unsigned starvation_bound = 0;
};

class FirstReadyOn : public ::testing::TestWithParam<ReadyChannel> {};

TEST_P(FirstReadyOn, ChoosesAsASearchDoes) {
  const ReadyChannel& channel = GetParam();
  DramParameters parameters;
  parameters.timing = channel.timing;
  parameters.preset = channel.preset;
  parameters.scheduler = "fr-fcfs";
  parameters.banks = 8;
  parameters.starvation_bound = channel.starvation_bound;
  parameters.write_high = channel.write_high;
  parameters.write_low = channel.write_low;
  const std::unique_ptr<DramTiming> timing = make_dram_timing(parameters, 64, channel.period_ns);
  const auto scheduler = Registry<DramScheduler>::instance().make(parameters.scheduler, {parameters});
  HoldStatistics none;
  RowHolds holds(parameters.banks, false, 0, 0, none);
  WriteDrain drain(parameters);
  RequestQueue waiting;
  DramView view(waiting, *timing, holds, drain, parameters.starvation_bound);
  std::list<DramRequest> requests;
  std::mt19937 random(7);
  std::uint64_t refreshes = 0;
  std::size_t arrived = 0;
  unsigned steps = 0;
  unsigned turns_of_writes = 0;
  bool wrote = false;
  unsigned starved = 0;
  for (Cycle now = 1; now < 60'000; ++now) {
    while (waiting.size() < 32 && random() % channel.mean_wait == 0) {
      DramRequest& request = requests.emplace_back();
      request.serial = ++arrived;
      request.location.bank = random() % parameters.banks;
      request.location.row = random() % channel.rows;
      request.location.column = random() % 4;
      request.write = random() % 4 == 0;
      request.arrival = now;
      drain.admitted(request, waiting);
      waiting.push_back(request);
      scheduler->admitted(request);
    }
    if (waiting.empty()) {
      continue;
    }
    timing->settle(now);
    if (timing->refreshes() != refreshes) {
      refreshes = timing->refreshes();
      scheduler->rows_closed();
    }
    for (unsigned turned = 0; true;) {
      view.at(now);
      const DramChoice expected = first_by_search(view);
      const Cycle asked_again = view.asked_again();
      view.at(now);
      const DramChoice choice = scheduler->choose(view);
      ASSERT_EQ(choice.request, expected.request) << "cycle " << now;
      if (choice.request == nullptr) {
        // Whoever remembers must be asked again no later than who searches.
        ASSERT_LE(view.asked_again(), asked_again) << "cycle " << now;
        if (drain.enabled() && turned != 2) {
          ++turned;
          drain.turn();
          continue;
        }
        break;
      }
      ASSERT_EQ(choice.start, expected.start) << "cycle " << now;
      if (choice.start > now) {
        break;
      }
      DramRequest& request = *choice.request;
      turns_of_writes += !wrote && view.turn_of_writes() ? 1 : 0;
      wrote = view.turn_of_writes();
      starved += view.starving(request) ? 1 : 0;
      const bool last = timing->last_step(request);
      if (last) {
        waiting.erase(request);
        drain.left(request);
      }
      const DramStep step = timing->start(request, now, last && random() % 3 == 0);
      scheduler->stepped(request);
      if (last) {
        scheduler->started(request, now);
      } else if (step.activations != 0 || step.bus != 0) {
        drain.commit(request);
      }
      ++steps;
    }
  }
  EXPECT_GT(steps, 600U);
  if (channel.write_high != 0) {
    EXPECT_GT(turns_of_writes, 10U);
  }
  if (channel.starvation_bound != 0) {
    EXPECT_GT(starved, 20U);
  }
}

INSTANTIATE_TEST_SUITE_P(Channels, FirstReadyOn,
                         ::testing::Values(ReadyChannel{"jedec", "ddr4-2400", 1.0, 1000, 8},
                                           ReadyChannel{"jedec", "ddr4-2400", 1.7, 4, 4},
                                           ReadyChannel{"jedec", "gddr5", 0.3, 3, 20},
                                           ReadyChannel{"jedec", "hbm2", 0.7, 20, 3},
                                           ReadyChannel{"hit-conflict", "ddr4-2400", 1.0, 3, 20},
                                           ReadyChannel{"jedec", "ddr4-2400", 1.7, 4, 20, 16, 4},
                                           ReadyChannel{"jedec", "hbm2", 0.7, 20, 34, 8, 2, 400},
                                           ReadyChannel{"jedec", "hbm3", 0.6, 2, 12, 6, 2, 400},
                                           ReadyChannel{"hit-conflict", "ddr4-2400", 1.0, 3, 60, 5, 1, 600}));

}  // namespace
}  // namespace heddle::hw
