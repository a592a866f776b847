// The bounded input queue: credits, lanes, what is kept aside, and that the order of the two ends within a cycle
// changes nothing.
#include "tlm/input_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace heddle::link {
namespace {

// A queue both of whose ends are the test's; what is done at a cycle's end it does at once.
class TimedQueue : public InputQueue<int> {
 public:
  using InputQueue<int>::InputQueue;
  [[nodiscard]] bool offer(int value, Cycle now, unsigned lane = 0) {
    const bool taken = take_credit(now);
    taken ? enter(value, lane) : keep(value, lane);
    return taken;
  }
  int pop(Cycle now, unsigned lane = 0) {
    const int value = InputQueue<int>::pop(now, lane);
    settle(now);
    return value;
  }
  void release(Cycle now) {
    InputQueue<int>::release(now);
    settle(now);
  }
};

TEST(InputQueue, TakesAsManyAsItHasPlaces) {
  for (const unsigned capacity : {1U, 2U, 5U}) {
    TimedQueue queue(capacity);
    for (unsigned i = 0; i != capacity; ++i) {
      EXPECT_TRUE(queue.has_credit(3)) << i;
      EXPECT_TRUE(queue.offer(static_cast<int>(i), 3)) << i;
      EXPECT_EQ(queue.occupied(3), i + 1);
    }
    EXPECT_FALSE(queue.has_credit(3));
    EXPECT_FALSE(queue.offer(99, 3));
    EXPECT_EQ(queue.size(), capacity) << "what is kept aside is not in it";
    for (unsigned i = 0; i != capacity; ++i) {
      EXPECT_EQ(queue.pop(4), static_cast<int>(i)) << "first in, first out";
    }
    EXPECT_TRUE(queue.empty());
  }
}

TEST(InputQueue, ARoomThatIsFreedCountsFromTheNextCycle) {
  TimedQueue queue(2);
  ASSERT_TRUE(queue.offer(1, 0));
  ASSERT_TRUE(queue.offer(2, 0));
  EXPECT_EQ(queue.pop(5), 1);
  EXPECT_EQ(queue.held(), 1U);
  EXPECT_EQ(queue.occupied(5), 2U);
  EXPECT_FALSE(queue.has_credit(5));
  EXPECT_EQ(queue.occupied(6), 1U);
  EXPECT_TRUE(queue.has_credit(6));
  EXPECT_EQ(queue.pop(6), 2);
  EXPECT_EQ(queue.occupied(6), 1U) << "the first one's place is back, the second one's is not";
  ASSERT_TRUE(queue.offer(3, 6));
  EXPECT_FALSE(queue.has_credit(6));
  EXPECT_EQ(queue.occupied(7), 1U);
}

TEST(InputQueue, WhatIsKeptAsideEntersWithTheNextCredit) {
  TimedQueue queue(1);
  ASSERT_TRUE(queue.offer(1, 0));
  EXPECT_EQ(queue.kept(), nullptr);
  ASSERT_FALSE(queue.offer(2, 1));
  ASSERT_NE(queue.kept(), nullptr);
  EXPECT_EQ(*queue.kept(), 2);
  EXPECT_FALSE(queue.can_admit(1));
  EXPECT_EQ(queue.admits_at(1), kNever) << "nobody has left yet";
  EXPECT_EQ(queue.pop(4), 1);
  EXPECT_FALSE(queue.can_admit(4));
  EXPECT_EQ(queue.admits_at(4), 5U);
  EXPECT_TRUE(queue.can_admit(5));
  *queue.kept() = 20;  // the receiver may note when it came in
  EXPECT_EQ(queue.admit(), 20);
  EXPECT_FALSE(queue.keeps());
  EXPECT_FALSE(queue.has_credit(5)) << "its credit is used";
  EXPECT_EQ(queue.admits_at(5), kNever);
  EXPECT_EQ(queue.front(), 20);
}

TEST(InputQueue, AnOfferThatIsRefusedInTheCycleOfAReleaseIsAdmittedInTheNext) {
  TimedQueue queue(1);
  ASSERT_TRUE(queue.offer(1, 0));
  EXPECT_EQ(queue.pop(7), 1);
  ASSERT_FALSE(queue.offer(2, 7));
  EXPECT_EQ(queue.admits_at(7), 8U);
  EXPECT_TRUE(queue.can_admit(8));
}

TEST(InputQueue, LanesShareTheRoomAndKeepTheirOrders) {
  TimedQueue queue(3, 2);
  ASSERT_TRUE(queue.offer(10, 0, 0));
  ASSERT_TRUE(queue.offer(20, 0, 1));
  ASSERT_TRUE(queue.offer(21, 0, 1));
  ASSERT_FALSE(queue.offer(11, 0, 0));
  EXPECT_EQ(queue.size(0), 1U);
  EXPECT_EQ(queue.size(1), 2U);
  EXPECT_EQ(queue.pop(1, 1), 20);
  ASSERT_TRUE(queue.can_admit(2));
  queue.admit();
  EXPECT_EQ(queue.size(0), 2U) << "it entered the lane that it was offered to";
  EXPECT_EQ(queue.pop(2, 1), 21);
  EXPECT_TRUE(queue.empty(1));
  EXPECT_EQ(queue.pop(2, 0), 10);
  EXPECT_EQ(queue.pop(2, 0), 11);
}

TEST(InputQueue, AnEntryThatIsTakenKeepsItsPlaceUntilItIsReleased) {
  TimedQueue queue(2);
  ASSERT_TRUE(queue.offer(1, 0));
  ASSERT_TRUE(queue.offer(2, 0));
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.held(), 2U);
  EXPECT_FALSE(queue.has_credit(9));
  EXPECT_EQ(queue.take(), 2);
  queue.release(9);
  EXPECT_FALSE(queue.has_credit(9));
  EXPECT_TRUE(queue.has_credit(10));
  queue.release(10);
  EXPECT_EQ(queue.held(), 0U);
}

TEST(InputQueue, WhatIsForcedTakesAPlaceThatItLacks) {
  TimedQueue queue(1);
  ASSERT_TRUE(queue.offer(1, 0));
  queue.force(2);
  EXPECT_TRUE(queue.unsettled());
  EXPECT_EQ(queue.held(), 2U);
  queue.settle(0);
  EXPECT_FALSE(queue.unsettled());
  EXPECT_EQ(queue.occupied(1), 2U);
  EXPECT_EQ(queue.pop(1), 1);
  EXPECT_FALSE(queue.has_credit(2)) << "one over its capacity";
  EXPECT_EQ(queue.pop(2), 2);
  EXPECT_TRUE(queue.has_credit(3));
}

TEST(InputQueue, RefusesWhatItsEndsMustNotDo) {
  EXPECT_THROW(InputQueue<int>(0), InternalError);
  EXPECT_THROW((InputQueue<int>(1, 0)), InternalError);
  TimedQueue queue(1);
  EXPECT_THROW(queue.release(0), InternalError);
  ASSERT_TRUE(queue.offer(1, 0));
  ASSERT_FALSE(queue.offer(2, 0));
  EXPECT_THROW(static_cast<void>(queue.offer(3, 0)), InternalError);
}

// One sender, one receiver, both with work or not by dice of their own: whichever has its turn first in a cycle, the
// same offers are taken at once, kept aside and served, in the same cycles.
struct Event {
  Cycle cycle;
  char what;
  int value;
  friend bool operator==(const Event&, const Event&) = default;
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.cycle, a.what, a.value) < std::tie(b.cycle, b.what, b.value);
  }
};

std::vector<Event> played(unsigned seed, unsigned capacity, unsigned lanes, unsigned order) {
  InputQueue<int> queue(capacity, lanes);
  std::mt19937 sender(seed), receiver(seed + 1), who(order);
  std::vector<Event> events;
  int next = 0;
  bool waits = false;  // for the end of its phase, which it hears of in the next cycle
  Cycle goes_on = 0;
  std::deque<std::pair<int, unsigned>> reference;  // in order of offer
  for (Cycle now = 0; now != 400; ++now) {
    std::vector<std::function<void()>> ends;
    const auto at_end = [&ends, order](std::function<void()> done) {
      if (order == 3) {
        done();  // no cycle's end for both of them
      } else {
        ends.push_back(std::move(done));
      }
    };
    const auto send = [&] {
      if (const bool wants = sender() % 3 != 0; waits || goes_on > now || !wants) {
        return;
      }
      const auto lane = static_cast<unsigned>(next) % lanes;
      reference.emplace_back(next, lane);
      waits = !queue.take_credit(now);
      ends.push_back(
          [&queue, lane, value = next, waits] { waits ? queue.keep(value, lane) : queue.enter(value, lane); });
      events.push_back({now, waits ? 'k' : 't', next++});
    };
    const auto receive = [&] {
      if (queue.can_admit(now)) {
        const int value = queue.admit();
        events.push_back({now, 'a', value});
        waits = false;
        goes_on = now + 1;
      }
      for (unsigned lane = 0; lane != lanes; ++lane) {
        if (const bool serves = receiver() % 4 == 0; serves && !queue.empty(lane) && queue.front(lane) >= 0) {
          // What arrives in a cycle is looked at from the next on.
          const bool arrived_now = std::any_of(events.begin(), events.end(), [&](const Event& event) {
            return event.cycle == now && event.value == queue.front(lane) && event.what != 's';
          });
          if (!arrived_now) {
            events.push_back({now, 's', queue.pop(now, lane)});
            at_end([&queue, now] { queue.settle(now); });
          }
        }
      }
      EXPECT_LE(queue.held(), capacity);
    };
    if (order == 0 || (order != 1 && who() % 2 == 0)) {
      send();
      receive();
    } else {
      receive();
      send();
    }
    if (order % 2 == 1) {
      std::reverse(ends.begin(), ends.end());
    }
    for (const auto& end : ends) {
      end();
    }
  }
  // Each lane was served in the order of its offers.
  for (unsigned lane = 0; lane != lanes; ++lane) {
    std::vector<int> served, offered;
    for (const Event& event : events) {
      if (event.what == 's' && static_cast<unsigned>(event.value) % lanes == lane) {
        served.push_back(event.value);
      }
    }
    for (const auto& [value, of] : reference) {
      if (of == lane) {
        offered.push_back(value);
      }
    }
    offered.resize(std::min(offered.size(), served.size()));
    EXPECT_EQ(served, offered);
  }
  std::sort(events.begin(), events.end());
  return events;
}

TEST(InputQueue, TheOrderOfItsEndsWithinACycleChangesNothing) {
  for (unsigned seed = 1; seed != 40; ++seed) {
    const unsigned capacity = 1 + seed % 5;
    const unsigned lanes = 1 + seed % 3;
    const std::vector<Event> first = played(seed, capacity, lanes, 0);
    EXPECT_GT(first.size(), 100U);
    for (const unsigned order : {1U, 2U, 3U}) {
      ASSERT_EQ(played(seed, capacity, lanes, order), first) << "seed " << seed << " order " << order;
    }
  }
}

}  // namespace
}  // namespace heddle::link
