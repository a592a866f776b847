// A thread that works on batches gets them in their order, and its errors come to who hands them over.
#include "traces/batch_thread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace heddle::traces {
namespace {

struct Numbers {
  std::vector<std::uint64_t> of{};
};
using Thread = BatchThread<Numbers>;

// More batches than may wait; `pauses`: all is done now and then, and no thread is left.
void hand_over_all(Thread& thread, bool pauses) {
  Numbers numbers;
  std::uint64_t value = 0;
  for (std::size_t batch = 0; batch != 200; ++batch) {
    numbers.of.clear();  // of one that has been worked on
    for (std::size_t i = 0; i != batch % 7 * 100; ++i) {
      numbers.of.push_back(value++);
    }
    thread.hand_over(numbers);
    if (pauses && batch % 32 == 0) {
      PausingThread::pause_all();
    }
  }
  thread.finish();
}

TEST(BatchThread, WorksOnBatchesInTheirOrder) {
  for (const bool pauses : {false, true}) {
    for (const std::size_t ahead : {std::size_t{1}, std::size_t{4}}) {
      std::vector<std::uint64_t> values;
      Thread thread([&values](Numbers& numbers) { values.insert(values.end(), numbers.of.begin(), numbers.of.end()); },
                    ahead);
      hand_over_all(thread, pauses);
      ASSERT_EQ(values.size(), 59'400U);
      for (std::uint64_t i = 0; i != values.size(); ++i) {
        ASSERT_EQ(values[i], i);
      }
    }
  }
}

// The first thread gets what the second one hands on: a pause leaves nothing under way between them.
TEST(BatchThread, APauseReachesThoseThatOthersHandOverTo) {
  std::vector<std::uint64_t> values;
  Thread last([&values](Numbers& numbers) { values.insert(values.end(), numbers.of.begin(), numbers.of.end()); });
  Thread first([&last](Numbers& numbers) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    last.hand_over(numbers);
  });
  for (std::uint64_t round = 1; round != 10; ++round) {
    Numbers numbers{{round}};
    first.hand_over(numbers);
    PausingThread::pause_all();
    ASSERT_EQ(values.size(), round);
  }
}

TEST(BatchThread, ErrorsComeToWhoHandsOver) {
  for (const std::size_t full : {std::size_t{0}, std::size_t{20'000}, std::size_t{59'399}}) {
    Thread thread([full](Numbers& numbers) {
      if (std::find(numbers.of.begin(), numbers.of.end(), full) != numbers.of.end()) {
        throw InputError({"file"}, "is full");
      }
    });
    try {
      hand_over_all(thread, false);
      ADD_FAILURE() << full;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "file: is full");
    }
    Numbers more{{full}};
    EXPECT_NO_THROW(thread.hand_over(more)) << "nothing is worked on any more";
    EXPECT_NO_THROW(thread.finish());
  }
}

}  // namespace
}  // namespace heddle::traces
