// When streams' work happens, worked out by hand.
#include "tb/session/stream_clock.hpp"

#include <gtest/gtest.h>

namespace heddle::tb::session {
namespace {

TEST(StreamClock, CopiesOverlapKernelsOfOtherStreams) {
  StreamClock clock(10);
  const auto a = clock.make_stream(true);
  const auto b = clock.make_stream(true);
  EXPECT_EQ(clock.run(a, Engine::to_device, 100).end, 100U);
  EXPECT_EQ(clock.run(a, Engine::kernels, 50).begin, 100U);    // behind its copy
  EXPECT_EQ(clock.run(b, Engine::to_device, 30).begin, 100U);  // the engine is taken until then
  const StreamClock::Span second = clock.run(b, Engine::kernels, 5);
  EXPECT_EQ(second.begin, 150U);  // its copy ends at 130, the first kernel at 150
  EXPECT_EQ(second.end, 155U);
  EXPECT_EQ(clock.run(b, Engine::to_host, 7).end, 162U);
  EXPECT_EQ(clock.host(), 0U);
  clock.wait_for(a);
  EXPECT_EQ(clock.host(), 150U);
  clock.wait_for_all();
  EXPECT_EQ(clock.host(), 162U);
}

TEST(StreamClock, TheDefaultStreamWaitsForAllButThoseThatDoNot) {
  StreamClock clock(10);
  const auto waits = clock.make_stream(true);
  const auto free = clock.make_stream(false);
  clock.run(waits, Engine::kernels, 40);
  clock.run(free, Engine::to_device, 90);
  EXPECT_EQ(clock.run(0, Engine::to_host, 1).begin, 40U);
  EXPECT_EQ(clock.run(waits, Engine::to_host, 1).begin, 41U);
  EXPECT_EQ(clock.run(free, Engine::kernels, 1).begin, 90U);
}

TEST(StreamClock, EventsHoldStreamsAndTheHost) {
  StreamClock clock(10);
  const auto a = clock.make_stream(true);
  const auto b = clock.make_stream(true);
  const auto event = clock.make_event();
  EXPECT_FALSE(clock.recorded(event));
  clock.hold(b, event);  // not recorded: nothing to wait for
  clock.run(a, Engine::kernels, 25);
  clock.record(event, a);
  EXPECT_EQ(clock.time(event), 25U);
  clock.hold(b, event);
  EXPECT_EQ(clock.run(b, Engine::to_host, 5).begin, 25U);
  EXPECT_FALSE(clock.poll_event(event));  // each takes the host 10 cycles
  EXPECT_FALSE(clock.poll_event(event));
  EXPECT_FALSE(clock.poll_event(event));
  EXPECT_TRUE(clock.poll_event(event));
  EXPECT_EQ(clock.host(), 30U);
  EXPECT_TRUE(clock.poll(b));
}

}  // namespace
}  // namespace heddle::tb::session
