// When kernels of streams happen that were put off, on a GPU of which kernels take a known time.
#include "tb/session/stream_work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace heddle::tb::session {
namespace {

// Runs up to `most` kernels at once, each in `cycles[work]`.
class FixedTimes final : public KernelEngine {
 public:
  FixedTimes(std::vector<Time> cycles, std::size_t most) : cycles_(std::move(cycles)), most_(most) {}
  [[nodiscard]] Time now() const override { return now_; }
  [[nodiscard]] bool running() const override { return !running_.empty(); }
  [[nodiscard]] bool can_begin() const override { return running_.size() < most_; }
  void begin(std::size_t work) override {
    running_[work] = {work, now_, now_ + cycles_.at(work)};
    order.push_back(work);
  }
  std::vector<Ended> proceed(Time until) override {
    const auto first = std::min_element(running_.begin(), running_.end(),
                                        [](const auto& a, const auto& b) { return a.second.end < b.second.end; });
    if (first == running_.end() || first->second.end > until) {
      now_ = until;
      return {};
    }
    const Ended ended = first->second;
    now_ = ended.end;
    running_.erase(first);
    return {ended};
  }
  std::vector<std::size_t> order;

 private:
  std::vector<Time> cycles_;
  std::size_t most_;
  Time now_ = 5000;  // its clock is its own
  std::map<std::size_t, Ended> running_;
};

using Spans = std::map<std::size_t, StreamClock::Span>;

Spans settled(StreamWork& work, FixedTimes& gpu) {
  Spans spans;
  work.settle(gpu, [&](std::size_t of, const StreamClock::Span& span) { spans[of] = span; });
  EXPECT_TRUE(work.empty());
  EXPECT_FALSE(gpu.running());
  return spans;
}

void expect_span(const Spans& spans, std::size_t work, StreamClock::Time begin, StreamClock::Time end) {
  ASSERT_EQ(spans.count(work), 1U) << work;
  EXPECT_EQ(spans.at(work).begin, begin) << work;
  EXPECT_EQ(spans.at(work).end, end) << work;
}

TEST(StreamWork, KernelsOfDifferentStreamsRunAtOnceAndThoseOfOneInTurn) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({100, 30, 50}, 8);
  const auto a = clock.make_stream(true);
  const auto b = clock.make_stream(true);
  work.launch(a, 0);
  work.launch(b, 1);
  work.launch(b, 2);
  EXPECT_TRUE(work.waits(a));
  const Spans spans = settled(work, gpu);
  expect_span(spans, 0, 0, 100);
  expect_span(spans, 1, 0, 30);
  expect_span(spans, 2, 30, 80);
  EXPECT_EQ(clock.host(), 0U);
  clock.wait_for(b);
  EXPECT_EQ(clock.host(), 80U);
  // What comes later finds the GPU taken until all have ended.
  EXPECT_EQ(clock.run(b, Engine::kernels, 1).begin, 100U);
}

TEST(StreamWork, AKernelBeginsBehindItsStreamsCopy) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({100, 10}, 8);
  const auto a = clock.make_stream(true);
  const auto b = clock.make_stream(true);
  work.launch(a, 0);
  clock.run(b, Engine::to_device, 40);
  work.launch(b, 1);
  const Spans spans = settled(work, gpu);
  expect_span(spans, 0, 0, 100);
  expect_span(spans, 1, 40, 50);
}

TEST(StreamWork, KernelsInTurnFollowEachOtherInTheOrderOfTheCallsWhateverTheirStreamsWaitFor) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({100, 30, 20, 10, 5}, 8);
  const auto a = clock.make_stream(true);
  const auto b = clock.make_stream(true);
  const auto c = clock.make_stream(true);
  work.launch(a, 0);
  work.launch(a, 1, true);  // waits for 0, and 2 for it, though its stream is free
  work.launch(b, 2, true);
  work.launch(c, 3);
  work.launch(c, 4, true);
  const Spans spans = settled(work, gpu);
  expect_span(spans, 0, 0, 100);
  expect_span(spans, 3, 0, 10);
  expect_span(spans, 1, 100, 130);
  expect_span(spans, 2, 130, 150);
  expect_span(spans, 4, 150, 155);
}

TEST(StreamWork, EventsHoldStreams) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({100, 10, 20}, 8);
  const auto a = clock.make_stream(true);
  const auto b = clock.make_stream(false);
  const auto event = clock.make_event();
  work.launch(b, 1);
  work.launch(a, 0);
  work.record(event, a);
  EXPECT_TRUE(work.will_record(event));
  work.hold(b, event);
  work.launch(b, 2);
  const Spans spans = settled(work, gpu);
  expect_span(spans, 1, 0, 10);
  expect_span(spans, 2, 100, 120);
  EXPECT_TRUE(clock.recorded(event));
  EXPECT_EQ(clock.time(event), 100U);
  EXPECT_FALSE(work.will_record(event));
}

TEST(StreamWork, AnEventHoldsByItsLatestRecordBeforeTheWait) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({100, 10, 20}, 8);
  const auto a = clock.make_stream(true);
  const auto b = clock.make_stream(true);
  const auto event = clock.make_event();
  work.launch(a, 1);
  work.record(event, a);
  work.hold(b, event);
  work.launch(a, 0);
  work.record(event, a);
  work.launch(b, 2);
  const Spans spans = settled(work, gpu);
  expect_span(spans, 0, 10, 110);
  expect_span(spans, 2, 10, 30);
  EXPECT_EQ(clock.time(event), 110U);
}

TEST(StreamWork, AFullGpuTakesTheNextAsOneEnds) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({100, 30, 50, 5}, 2);
  for (std::size_t kernel = 0; kernel != 4; ++kernel) work.launch(clock.make_stream(true), kernel);
  const Spans spans = settled(work, gpu);
  expect_span(spans, 2, 30, 80);
  expect_span(spans, 3, 80, 85);
  EXPECT_EQ(gpu.order, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(StreamWork, OneAtATimeIsTheOldOrder) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({100, 30}, 1);
  for (std::size_t kernel = 0; kernel != 2; ++kernel) work.launch(clock.make_stream(true), kernel);
  const Spans spans = settled(work, gpu);
  expect_span(spans, 0, 0, 100);
  expect_span(spans, 1, 100, 130);
}

TEST(StreamWork, TheGpusClockStandsStillBetweenKernels) {
  StreamClock clock(10);
  StreamWork work(clock);
  FixedTimes gpu({10, 10}, 8);
  const auto a = clock.make_stream(true);
  work.launch(a, 0);
  expect_span(settled(work, gpu), 0, 0, 10);
  clock.run(a, Engine::to_host, 500);
  work.launch(a, 1);
  expect_span(settled(work, gpu), 1, 510, 520);
  EXPECT_EQ(gpu.now(), 5020U);
}

}  // namespace
}  // namespace heddle::tb::session
