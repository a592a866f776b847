// An observer of a DRAM controller sees every request arrive in its cycle. Unwatched, a controller may take what
// arrives later, and let go of its sender ahead of time: no other module must be able to tell.
#include <gtest/gtest.h>

#include <random>

#include "channel.hpp"

namespace heddle::hw::test {
namespace {

struct Case {
  const char* name;
  const char* scheduler;
  const char* timing;
  unsigned queue;
  bool hints;
};

class Unwatched : public ::testing::TestWithParam<Case> {};

TEST_P(Unwatched, AnswersInTheSameCycles) {
  DramParameters parameters;
  parameters.scheduler = GetParam().scheduler;
  parameters.timing = GetParam().timing;
  parameters.queue = GetParam().queue;
  parameters.hints = GetParam().hints;
  Channel watched(parameters, 128, 1.0, "watched");
  Channel unwatched(parameters, 128, 1.0, "unwatched");
  unwatched.controller().observe(nullptr);
  std::mt19937 random(GetParam().queue);
  Cycle at = 0;
  for (unsigned i = 0; i != 3000; ++i) {
    // Bursts that fill the queue, and times in which it empties.
    at += i % 200 < 100 ? random() % 12 : random() % 500;
    DramAccess access;
    access.at = at;
    access.address = random() % 4 * kRow + random() % 3 * kSameBank + random() % 8 * 128;
    access.write = random() % 4 == 0;
    access.hint = random() % 8 == 0;
    watched.add(access);
    unwatched.add(access);
  }
  watched.run();
  unwatched.run();
  for (std::size_t i = 0; i != watched.script().size(); ++i) {
    ASSERT_EQ(unwatched.script()[i].answered, watched.script()[i].answered) << "request " << i;
  }
  const DramStatistics& seen = watched.statistics();
  const DramStatistics& unseen = unwatched.statistics();
  EXPECT_EQ(unseen.queue_max, seen.queue_max);
  EXPECT_EQ(unseen.queue_full, seen.queue_full);
  EXPECT_EQ(unseen.queue_wait_cycles, seen.queue_wait_cycles);
  EXPECT_EQ(unseen.row_hits, seen.row_hits);
  EXPECT_EQ(unseen.bank_busy_cycles, seen.bank_busy_cycles);
  EXPECT_GT(seen.queue_full, 0U);
}

INSTANTIATE_TEST_SUITE_P(Dram, Unwatched,
                         ::testing::Values(Case{"in_order", "fcfs", "hit-conflict", 4, false},
                                           Case{"in_order_one_place", "fcfs", "hit-conflict", 1, false},
                                           Case{"in_order_hints", "fcfs", "hit-conflict", 5, true},
                                           Case{"in_order_commands", "fcfs", "jedec", 3, false},
                                           Case{"first_ready", "fr-fcfs", "hit-conflict", 4, false}),
                         [](const auto& info) { return info.param.name; });

// Statistics read in the middle of a run count what has arrived by then.
TEST(UnwatchedDram, CountsWhatHasArrived) {
  DramParameters parameters;
  parameters.scheduler = "fcfs";
  parameters.queue = 8;
  Channel channel(parameters, 128, 1.0, "channel");
  channel.controller().observe(nullptr);
  for (unsigned i = 0; i != 5; ++i) {
    channel.read(0, i * kSameBank);
  }
  std::uint64_t at_first_answer = 0;
  channel.on_answer = [&](DramAccess& access) {
    at_first_answer = access.address == 0 ? channel.statistics().queue_max : at_first_answer;
  };
  channel.run();
  EXPECT_EQ(at_first_answer, 5U);
}

}  // namespace
}  // namespace heddle::hw::test
