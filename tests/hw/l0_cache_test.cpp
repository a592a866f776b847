// The L0 by itself, between a fetch stage of the test and an L1 that answers as it is told.
#include <gmock/gmock.h>

#include "hw/cache/l0_cache.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Answer = link::LineRequest::Answer;

constexpr std::uint64_t kLine = test::StubL1::kLineBytes;

L0Parameters l0_of(unsigned lines, unsigned ways, unsigned prefetch) {
  return {true, lines * kLine, ways, prefetch};
}

// Grants that it refuses while it is full.
class L1WithRoom final : public test::StubL1, public link::LineRoom {
 public:
  using StubL1::StubL1;
  [[nodiscard]] bool refuses_still() const override { return full; }
  [[nodiscard]] bool would_refuse(link::LineRequest&) override { return false; }
  void refused_again(std::uint64_t cycles) override { refused_asleep += cycles; }
  std::uint64_t refused_asleep = 0;
};

class L0Bench : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
 public:
  explicit L0Bench(const L0Parameters& parameters, const sc_core::sc_module_name& name = "bench")
      : sc_core::sc_module(name), fetch("fetch"), l0("l0", parameters, kLine) {
    fetch.bind(*this);
    fetch.bind(l0.cpu);
    l0.beyond.bind(l1.socket);
    l1.ports = 16;
  }
  // A fetch in the next cycle; then the prefetches.
  ::tlm::tlm_sync_enum want(link::LineRequest& request, std::uint64_t line, bool again = false) {
    ++state.now;
    request.address = line * kLine;
    request.repeats_miss = again;
    link::LinePhase phase = link::LinePhase::request;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const ::tlm::tlm_sync_enum answer = fetch->nb_transport_fw(request, phase, delay);
    if (answer == ::tlm::TLM_COMPLETED) {
      EXPECT_EQ(word_of(request), test::StubL1::word_at(request.address));
    }
    l0.ask_again();
    return answer;
  }
  ::tlm::tlm_sync_enum want(std::uint64_t line) {
    link::LineRequest request;
    return want(request, line);
  }
  // The lines that the L1 has been asked for since this was last called.
  std::vector<std::uint64_t> asked() {
    std::vector<std::uint64_t> lines;
    for (const test::StubL1::Offer& offer : l1.taken) {
      lines.push_back(offer.address / kLine);
    }
    l1.taken.clear();
    return lines;
  }
  // The L1 has a line that it was asked for.
  void comes(std::uint64_t line, bool failed = false) {
    for (link::LineRequest* const request : under_way) {
      if (request->address == line * kLine) {
        std::erase(under_way, request);
        l1.respond(*request, failed);
        return;
      }
    }
    FAIL() << "line " << line << " is not under way";
  }
  // Lines 0 to 63 miss in the L1 from now on; what it was asked for is noted.
  void let_all_miss() {
    for (std::uint64_t line = 0; line != 64; ++line) {
      l1.missing.insert(line * kLine);
    }
  }
  void note_under_way() {
    for (const test::StubL1::Offer& offer : l1.taken) {
      under_way.push_back(offer.request);
    }
    l1.taken.clear();
  }
  static std::uint32_t word_of(const link::LineRequest& request) {
    std::uint32_t word = 0;
    std::memcpy(&word, request.line, sizeof word);
    return word;
  }

  Machine machine;
  CoreState state{machine, 0, nullptr};
  L1WithRoom l1{"l1", state};
  link::LineInitiatorSocket fetch;
  L0Cache l0;
  std::vector<link::LineRequest*> under_way;
  std::vector<std::pair<const link::LineRequest*, bool>> answers;  // failed

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) override {
    answers.emplace_back(&request, request.failed);
    if (!request.failed) {
      EXPECT_EQ(word_of(request), test::StubL1::word_at(request.address));
    }
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

TEST(L0Cache, AsksTheL1OnceForALineThatItKeeps) {
  L0Bench bench(l0_of(4, 2, 0));
  EXPECT_EQ(bench.want(5), ::tlm::TLM_COMPLETED);
  EXPECT_EQ(bench.want(5), ::tlm::TLM_COMPLETED);
  EXPECT_THAT(bench.asked(), ElementsAre(5));
  EXPECT_EQ(bench.l0.statistics().accesses, 2U);
  EXPECT_EQ(bench.l0.statistics().hits, 1U);
  EXPECT_EQ(bench.l0.statistics().misses, 1U);
}

TEST(L0Cache, GivesUpTheLineOfASetThatWasUsedLast) {
  L0Bench bench(l0_of(4, 2, 0));  // sets of even and of odd lines
  for (const std::uint64_t line : {0, 2, 0, 4}) {
    (void)bench.want(line);
  }
  EXPECT_THAT(bench.asked(), ElementsAre(0, 2, 4));
  (void)bench.want(0);
  EXPECT_THAT(bench.asked(), IsEmpty());
  (void)bench.want(2);
  EXPECT_THAT(bench.asked(), ElementsAre(2)) << "line 4 has its place";
  bench.l0.begin_launch(true);
  (void)bench.want(0);
  EXPECT_THAT(bench.asked(), IsEmpty());
  bench.l0.begin_launch(false);
  (void)bench.want(0);
  EXPECT_THAT(bench.asked(), ElementsAre(0));
}

TEST(L0Cache, AnswersAllWhoWaitWhenTheLineComes) {
  L0Bench bench(l0_of(4, 2, 0));
  bench.let_all_miss();
  link::LineRequest one, two;
  EXPECT_EQ(bench.want(one, 3), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(one.answer, Answer::miss);
  EXPECT_EQ(bench.want(two, 3), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(two.answer, Answer::merged);
  EXPECT_EQ(bench.l1.taken.size(), 1U);
  EXPECT_FALSE(bench.l0.quiet());
  bench.note_under_way();
  bench.comes(3);
  EXPECT_THAT(bench.answers, ElementsAre(std::pair(&one, false), std::pair(&two, false)));
  EXPECT_TRUE(bench.l0.quiet());
  EXPECT_EQ(bench.want(one, 3, true), ::tlm::TLM_COMPLETED);
  EXPECT_EQ(bench.l0.statistics().accesses, 2U) << "the look that follows a miss is not counted again";
}

TEST(L0Cache, IsRefusedWhatTheL1Refuses) {
  L0Bench bench(l0_of(4, 2, 0));
  bench.l1.full = true;
  bench.l1.full_of = link::LineRequest::Busy::ports;
  link::LineRequest request;
  EXPECT_EQ(bench.want(request, 1), ::tlm::TLM_UPDATED);
  EXPECT_EQ(request.answer, Answer::busy);
  EXPECT_EQ(bench.l0.statistics().accesses, 0U);
  EXPECT_TRUE(bench.l0.quiet());
  bench.l1.full = false;
  EXPECT_EQ(bench.want(request, 1), ::tlm::TLM_COMPLETED);
}

TEST(L0Cache, ErrorsGoToWhoWaitsAndLeaveNoLine) {
  L0Bench bench(l0_of(4, 2, 0));
  bench.let_all_miss();
  link::LineRequest request;
  (void)bench.want(request, 3);
  bench.note_under_way();
  bench.comes(3, true);
  EXPECT_THAT(bench.answers, ElementsAre(std::pair(&request, true)));
  EXPECT_EQ(bench.want(request, 3), ::tlm::TLM_ACCEPTED) << "it is asked for once more";
}

// ---- the stream buffer

TEST(L0Cache, StreamBufferIsAheadOfAMissAndStaysAhead) {
  L0Bench bench(l0_of(16, 4, 3));
  (void)bench.want(8);
  EXPECT_THAT(bench.asked(), ElementsAre(8, 9, 10, 11));
  (void)bench.want(9);
  EXPECT_THAT(bench.asked(), ElementsAre(12)) << "a line has left the buffer";
  (void)bench.want(9);
  EXPECT_THAT(bench.asked(), IsEmpty()) << "it is in the cache now";
  EXPECT_EQ(bench.l0.statistics().misses, 1U);
  EXPECT_EQ(bench.l0.statistics().prefetches, 4U);
  EXPECT_EQ(bench.l0.statistics().prefetch_hits, 1U);
}

TEST(L0Cache, AMissElsewhereEmptiesTheStreamBuffer) {
  L0Bench bench(l0_of(16, 4, 2));
  (void)bench.want(8);
  (void)bench.want(40);
  EXPECT_THAT(bench.asked(), ElementsAre(8, 9, 10, 40, 41, 42));
  (void)bench.want(9);
  EXPECT_THAT(bench.asked(), ElementsAre(9, 10, 11)) << "the buffer has lost it";
}

TEST(L0Cache, PrefetchesThatWouldBeRefusedCanBeSleptThrough) {
  L0Bench bench(l0_of(16, 4, 2));
  bench.l1.ports = 2;
  (void)bench.want(8);
  EXPECT_THAT(bench.asked(), ElementsAre(8, 9)) << "both ports are used";
  EXPECT_TRUE(bench.l0.may_be_taken()) << "a port is free in the next cycle";
  bench.l1.full = true;
  ++bench.state.now;
  bench.l0.ask_again();
  EXPECT_TRUE(bench.l0.has_to_ask());
  EXPECT_FALSE(bench.l0.may_be_taken());
  bench.l0.waited(7);
  EXPECT_EQ(bench.l1.refused_asleep, 7U);
  bench.l1.full = false;
  EXPECT_TRUE(bench.l0.may_be_taken());
  ++bench.state.now;
  bench.l0.ask_again();
  EXPECT_THAT(bench.asked(), ElementsAre(10));
  EXPECT_FALSE(bench.l0.has_to_ask());
  bench.l0.waited(3);
  EXPECT_EQ(bench.l1.refused_asleep, 7U) << "it has nothing to ask for";
  bench.l1.full = true;
  (void)bench.want(9);
  bench.l0.stop();
  EXPECT_FALSE(bench.l0.has_to_ask());
}

TEST(L0Cache, FetchWaitsForALineThatIsForeseenAndOnItsWay) {
  L0Bench bench(l0_of(16, 4, 2));
  bench.let_all_miss();
  link::LineRequest first, second;
  (void)bench.want(first, 8);
  bench.note_under_way();
  EXPECT_EQ(bench.want(second, 9), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(second.answer, Answer::merged);
  EXPECT_TRUE(bench.l1.taken.empty());
  bench.comes(9);
  EXPECT_THAT(bench.answers, ElementsAre(std::pair(&second, false)));
  EXPECT_EQ(bench.l0.statistics().prefetch_late, 1U);
  EXPECT_TRUE(bench.l0.has_to_ask()) << "for the line behind the last one";
  bench.comes(8);
  bench.comes(10, true);  // nobody waits
  EXPECT_EQ(bench.answers.size(), 2U);
}

TEST(L0Cache, PrefetchesThatTheL1RefusesAreAskedForLater) {
  L0Bench bench(l0_of(16, 4, 3));
  bench.l1.ports = 2;
  (void)bench.want(8);
  EXPECT_THAT(bench.asked(), ElementsAre(8, 9));
  EXPECT_TRUE(bench.l0.has_to_ask());
  ++bench.state.now;
  bench.l0.ask_again();
  EXPECT_THAT(bench.asked(), ElementsAre(10, 11));
  EXPECT_FALSE(bench.l0.has_to_ask());
}

}  // namespace
}  // namespace heddle::hw
