// A thread that works on batches gets them in their order, and its errors come to who hands them over.
#include "traces/steps_thread.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/error.hpp"

namespace heddle::traces {
namespace {

using link::WaveOp;

// More batches than may wait; `pauses`: all is done now and then, and no thread is left.
void hand_over_all(StepsThread& thread, bool pauses) {
  std::vector<WaveOp> ops;
  std::uint64_t value = 0;
  for (std::size_t batch = 0; batch != 200; ++batch) {
    const std::size_t count = batch % 7 * 100;
    ops.resize(count + batch % 3);  // only the first `count` are of the batch
    for (std::size_t i = 0; i != count; ++i) {
      ops[i] = {static_cast<std::uint32_t>(batch), WaveOp::Kind::set, value++};
    }
    thread.hand_over(ops, count);
    if (pauses && batch % 32 == 0) {
      StepsThread::pause_all();
    }
  }
  thread.finish();
}

TEST(StepsThread, WorksOnBatchesInTheirOrder) {
  for (const bool pauses : {false, true}) {
    std::vector<std::uint64_t> values;
    StepsThread thread([&values](std::span<const WaveOp> ops) {
      for (const WaveOp& op : ops) {
        values.push_back(op.value);
      }
    });
    hand_over_all(thread, pauses);
    ASSERT_EQ(values.size(), 59'400U);
    for (std::uint64_t i = 0; i != values.size(); ++i) {
      ASSERT_EQ(values[i], i);
    }
  }
}

TEST(StepsThread, ErrorsComeToWhoHandsOver) {
  for (const std::size_t full : {std::size_t{0}, std::size_t{20'000}, std::size_t{59'399}}) {
    StepsThread thread([full](std::span<const WaveOp> ops) {
      for (const WaveOp& op : ops) {
        if (op.value == full) {
          throw InputError({"file"}, "is full");
        }
      }
    });
    try {
      hand_over_all(thread, false);
      ADD_FAILURE() << full;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "file: is full");
    }
    std::vector<WaveOp> more(1, {0, WaveOp::Kind::set, full});
    EXPECT_NO_THROW(thread.hand_over(more, 1)) << "nothing is worked on any more";
    EXPECT_NO_THROW(thread.finish());
  }
}

}  // namespace
}  // namespace heddle::traces
