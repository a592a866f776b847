// The home of an L2 slice's lines alone, between a slice and L1s that do as the test says: what becomes of each request
// in each state, who is told what and in which cycle, who waits for whom.
// Long: the states of one protocol, a test each, with one stubbed slice.
#include "hw/cache/home.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "hw/coherence/protocol.hpp"
#include "system.hpp"

namespace heddle::hw::test {
namespace {

using link::CoherenceMessage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr unsigned kHomeLine = 64;                               // bytes
constexpr std::uint64_t kA = 3 * kHomeLine, kB = 7 * kHomeLine;  // lines as the slice numbers them
const sc_core::sc_time kCycle(1, sc_core::SC_NS);

// The slice: every read does as `answers` says; all that the home does to it is written down.
class WrittenSlice final : public HomeSlice {
 public:
  Read answers = Read::done;
  std::vector<std::string> done;
  std::vector<std::byte> bytes;
  std::vector<std::uint8_t> enables;
  Cycle runs_at = 0;  // the latest

  [[nodiscard]] Read read(SliceRequest& request) override {
    if (answers != Read::busy) {
      done.push_back((request.exclusive ? "read alone for " : "read for ") + std::to_string(request.core));
    }
    return answers;
  }
  void answer_put(SliceRequest& request) override { done.push_back("put of " + std::to_string(request.core)); }
  void take_bytes(std::uint64_t line, const std::byte* data, const std::uint8_t* enable) override {
    done.push_back("bytes of " + std::to_string(line / kHomeLine));
    bytes.assign(data, data + kHomeLine);
    enables.assign(enable, enable + kHomeLine);
  }
  void leave_queue() override { done.push_back("left"); }
  void run_at(Cycle at) override { runs_at = at; }
  std::vector<std::string> take() { return std::exchange(done, {}); }
};

// All L1s, behind one socket. A message's request phase ends at once unless `keeps_phase`.
class ToldL1s final : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  explicit ToldL1s(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  ::tlm::tlm_target_socket<> socket;
  bool keeps_phase = false;
  std::vector<std::string> heard;  // "invalidate 2 @ 5": the core, in a cycle
  std::deque<::tlm::tlm_generic_payload*> asked;
  std::vector<std::uint64_t> addresses;

  std::vector<std::string> take() { return std::exchange(heard, {}); }
  // The oldest message is answered.
  ::tlm::tlm_sync_enum answer(bool keeps = false, const std::byte* data = nullptr) {
    ::tlm::tlm_generic_payload& payload = *asked.front();
    asked.pop_front();
    link::MemoryExtension* extension = nullptr;
    payload.get_extension(extension);
    extension->keeps = keeps;
    extension->has_data = data != nullptr;
    if (data != nullptr) {
      std::copy(data, data + kHomeLine, reinterpret_cast<std::byte*>(payload.get_data_ptr()));
    }
    return send(payload, ::tlm::BEGIN_RESP);
  }
  ::tlm::tlm_sync_enum send(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase phase) {
    sc_core::sc_time delay;
    return socket->nb_transport_bw(payload, phase, delay);
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time&) override {
    EXPECT_EQ(phase, ::tlm::BEGIN_REQ);
    EXPECT_TRUE(payload.is_read());
    EXPECT_EQ(payload.get_data_length(), kHomeLine);
    const link::MemoryExtension* extension = payload.get_extension<link::MemoryExtension>();
    const char* const what = extension->message == CoherenceMessage::invalidate   ? "invalidate "
                             : extension->message == CoherenceMessage::give_share ? "give_share "
                             : extension->message == CoherenceMessage::give_up    ? "give_up "
                                                                                  : "? ";
    const std::uint64_t cycle = sc_core::sc_time_stamp().value() / kCycle.value();
    heard.push_back(what + std::to_string(extension->core) + " @ " + std::to_string(cycle));
    asked.push_back(&payload);
    addresses.push_back(payload.get_address());
    if (keeps_phase) {
      return ::tlm::TLM_ACCEPTED;
    }
    phase = ::tlm::END_REQ;
    return ::tlm::TLM_UPDATED;
  }
  void b_transport(::tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(::tlm::tlm_generic_payload&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(::tlm::tlm_generic_payload&) override { return 0; }
};

class HomeBench : private HomeObserver {
 public:
  HomeBench() {
    home.probes.bind(l1s.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static DramParameters two_channels() {
    DramParameters parameters;
    parameters.channels = 2;
    return parameters;
  }
  // A request is at the head of its bank, in the present cycle.
  SliceRequest& request(CoherenceMessage message, unsigned core, std::uint64_t line = kA) {
    SliceRequest& out = requests.emplace_back();
    out.message = message;
    out.core = static_cast<std::uint16_t>(core);
    out.address = line;
    return out;
  }
  bool take(CoherenceMessage message, unsigned core, std::uint64_t line = kA) {
    return home.take(request(message, core, line));
  }
  // A put, with bytes if `value` is not 0.
  bool put(unsigned core, std::uint8_t value, std::uint64_t line = kA) {
    SliceRequest& out = request(CoherenceMessage::put, core, line);
    out.payload = &put_payload;
    put_extension.has_data = value != 0;
    put_payload.set_extension(&put_extension);
    std::fill(put_bytes.begin(), put_bytes.end(), std::byte{value});
    put_enables[1] = 0xff;
    out.store_data = put_bytes.data();
    out.byte_enable = put_enables.data();
    const bool taken = home.take(out);
    put_payload.clear_extension(&put_extension);
    return taken;
  }
  // The next cycle begins: the home's part of it.
  Cycle step() {
    sc_core::sc_start(kCycle);
    return home.advance(now());
  }
  [[nodiscard]] Cycle now() const { return clock.now(); }
  void steps(unsigned count) {
    for (unsigned i = 0; i != count; ++i) {
      step();
    }
  }
  // Cores become sharers of a line that no core has: the first owns it at first.
  void share_among(const std::vector<unsigned>& cores, std::uint64_t line = kA) {
    take(CoherenceMessage::share, cores.front(), line);
    for (std::size_t i = 1; i != cores.size(); ++i) {
      take(CoherenceMessage::share, cores[i], line);
      if (i == 1) {
        step();
        l1s.answer(true);
        step();
        EXPECT_TRUE(home.resume(0));
      }
    }
    step();
    EXPECT_EQ(home.state_of(line), cores.size() == 1 ? "X" : "S");
    slice.take();
    l1s.take();
  }

  link::Clock clock{kCycle};
  SliceMap map{two_channels(), kHomeLine, 1};
  WrittenSlice slice;
  ToldL1s l1s{"l1s"};
  Home home{"home", *home_table_of("mesi"), clock, slice, map, kHomeLine};
  std::deque<SliceRequest> requests;
  ::tlm::tlm_generic_payload put_payload;
  link::MemoryExtension put_extension;
  std::array<std::byte, kHomeLine> put_bytes{};
  std::array<std::uint8_t, kHomeLine> put_enables{};

  void watch() { home.observe(this); }
  std::vector<std::string> seen;  // "busy lines messages", "told core"

 private:
  void changed(unsigned busy, std::size_t lines, std::size_t messages) override {
    seen.push_back(std::to_string(busy) + " " + std::to_string(lines) + " " + std::to_string(messages));
  }
  void told(std::uint64_t line, unsigned core, CoherenceMessage) override {
    EXPECT_EQ(line, map.global(kA));
    seen.push_back("told " + std::to_string(core));
  }
};

TEST(Home, ALineThatNobodyHasIsReadForWhoAsksToBeItsOwn) {
  HomeBench bench;
  EXPECT_EQ(bench.home.state_of(kA), "U");
  EXPECT_TRUE(bench.take(CoherenceMessage::share, 4));
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 4", "left"));
  EXPECT_EQ(bench.home.state_of(kA), "X");
  EXPECT_EQ(bench.home.state_of(kB), "U");
  EXPECT_TRUE(bench.home.quiet());
  EXPECT_EQ(bench.home.statistics().shares, 1U);
  EXPECT_EQ(bench.home.statistics().owns, 0U);
}

TEST(Home, AnOwnIsReadLikewise) {
  HomeBench bench;
  EXPECT_TRUE(bench.take(CoherenceMessage::own, 0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 0", "left"));
  EXPECT_EQ(bench.home.state_of(kA), "X");
  EXPECT_EQ(bench.home.statistics().owns, 1U);
}

TEST(Home, WithoutRoomNothingHappens) {
  HomeBench bench;
  bench.slice.answers = HomeSlice::Read::busy;
  EXPECT_FALSE(bench.take(CoherenceMessage::share, 1));
  EXPECT_THAT(bench.slice.take(), IsEmpty());
  EXPECT_EQ(bench.home.state_of(kA), "U");
  EXPECT_EQ(bench.home.statistics().shares, 0U);
  EXPECT_TRUE(bench.home.quiet());
}

TEST(Home, IsBusyWithALineThatIsReadAndKeepsOthersOfItWaitingInOrder) {
  HomeBench bench;
  bench.slice.answers = HomeSlice::Read::waits;
  SliceRequest& first = bench.request(CoherenceMessage::own, 0);
  EXPECT_TRUE(bench.home.take(first));
  EXPECT_EQ(bench.home.state_of(kA), "U_X");
  EXPECT_FALSE(bench.home.quiet());
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 0", "left"));
  EXPECT_TRUE(bench.take(CoherenceMessage::own, 1)) << "it waits";
  EXPECT_TRUE(bench.take(CoherenceMessage::share, 2));
  EXPECT_THAT(bench.slice.take(), IsEmpty()) << "both hold their places in the queue";
  EXPECT_EQ(bench.home.statistics().waited, 2U);
  EXPECT_TRUE(bench.take(CoherenceMessage::share, 3, kB)) << "another line";
  EXPECT_EQ(bench.home.statistics().busy_max, 2U);
  bench.slice.take();
  bench.slice.answers = HomeSlice::Read::done;
  bench.home.filled(first);
  EXPECT_EQ(bench.home.state_of(kA), "X");
  EXPECT_THAT(bench.home.resumable(), ElementsAre(kA));
  EXPECT_EQ(bench.slice.runs_at, bench.now() + 1) << "the first of them is looked at in the next cycle";
  // While it has not been, who comes waits behind.
  EXPECT_TRUE(bench.take(CoherenceMessage::share, 5));
  EXPECT_EQ(bench.home.statistics().waited, 3U);
  bench.step();
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_EQ(bench.home.state_of(kA), "X_U") << "core 1 comes before core 2";
  EXPECT_THAT(bench.home.resumable(), IsEmpty());
  bench.step();
  EXPECT_THAT(bench.l1s.take(), ElementsAre("give_up 0 @ 2"));
  bench.l1s.answer();
  bench.step();
  EXPECT_THAT(bench.home.resumable(), ElementsAre(kA));
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 1", "left"));
  EXPECT_THAT(bench.home.resumable(), ElementsAre(kA)) << "core 2 waits still";
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_EQ(bench.home.state_of(kA), "X_S");
}

TEST(Home, AFailedReadLeavesNobodyWithTheLine) {
  HomeBench bench;
  bench.slice.answers = HomeSlice::Read::waits;
  SliceRequest& first = bench.request(CoherenceMessage::own, 0);
  EXPECT_TRUE(bench.home.take(first));
  first.failed = true;
  bench.home.filled(first);
  EXPECT_EQ(bench.home.state_of(kA), "U");
  EXPECT_TRUE(bench.home.quiet());
  EXPECT_TRUE(bench.home.may_leave(kA));
}

TEST(Home, AnOwnerIsAskedToShareWhatItHas) {
  HomeBench bench;
  bench.take(CoherenceMessage::own, 3);
  bench.slice.take();
  EXPECT_TRUE(bench.take(CoherenceMessage::share, 1));
  EXPECT_EQ(bench.home.state_of(kA), "X_S");
  EXPECT_THAT(bench.slice.take(), IsEmpty()) << "the request stays in the queue";
  EXPECT_THAT(bench.l1s.take(), IsEmpty());
  EXPECT_EQ(bench.slice.runs_at, 1U);
  bench.step();
  EXPECT_THAT(bench.l1s.take(), ElementsAre("give_share 3 @ 1"));
  EXPECT_EQ(bench.l1s.addresses.at(0), bench.map.global(kA));
  std::array<std::byte, kHomeLine> changed{};
  changed.fill(std::byte{9});
  bench.steps(3);
  EXPECT_EQ(bench.l1s.answer(true, changed.data()), ::tlm::TLM_COMPLETED);
  EXPECT_EQ(bench.slice.runs_at, 5U);
  EXPECT_EQ(bench.home.advance(bench.now()), 5U) << "it is visible in the next cycle";
  EXPECT_EQ(bench.home.state_of(kA), "X_S");
  bench.step();
  EXPECT_EQ(bench.home.state_of(kA), "S");
  EXPECT_THAT(bench.slice.take(), ElementsAre("bytes of 3"));
  EXPECT_EQ(bench.slice.bytes, std::vector<std::byte>(kHomeLine, std::byte{9}));
  EXPECT_EQ(bench.slice.enables, std::vector<std::uint8_t>(kHomeLine, 0xff));
  EXPECT_EQ(bench.slice.runs_at, 6U);
  // No room first, then there is.
  bench.slice.answers = HomeSlice::Read::busy;
  EXPECT_FALSE(bench.home.resume(0));
  EXPECT_THAT(bench.home.resumable(), ElementsAre(kA));
  bench.slice.answers = HomeSlice::Read::done;
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("read for 1", "left"));
  EXPECT_EQ(bench.home.state_of(kA), "S");
  const HomeStatistics& statistics = bench.home.statistics();
  EXPECT_EQ(statistics.forwards, 1U);
  EXPECT_EQ(statistics.forwards_data, 1U);
  EXPECT_EQ(statistics.shares, 1U);
}

TEST(Home, AnOwnerThatHasGivenItUpLeavesTheLineToWhoAsks) {
  HomeBench bench;
  bench.take(CoherenceMessage::own, 3);
  bench.take(CoherenceMessage::share, 1);
  bench.step();
  bench.l1s.answer(false);
  bench.slice.take();
  bench.step();
  EXPECT_EQ(bench.home.state_of(kA), "U");
  EXPECT_THAT(bench.slice.take(), IsEmpty()) << "it has not changed it";
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 1", "left"));
  EXPECT_EQ(bench.home.state_of(kA), "X");
  EXPECT_EQ(bench.home.statistics().forwards_data, 0U);
}

TEST(Home, CopiesGoOneMessagePerCycleButThatOfWhoAsks) {
  HomeBench bench;
  bench.share_among({5, 0, 2, 9});
  const Cycle at = bench.now();
  EXPECT_TRUE(bench.take(CoherenceMessage::own, 2));
  EXPECT_EQ(bench.home.state_of(kA), "S_U");
  EXPECT_EQ(bench.step(), at + 2);
  EXPECT_EQ(bench.step(), at + 3);
  EXPECT_EQ(bench.step(), kNever);
  bench.step();
  EXPECT_THAT(bench.l1s.take(),
              ElementsAre("invalidate 0 @ " + std::to_string(at + 1), "invalidate 5 @ " + std::to_string(at + 2),
                          "invalidate 9 @ " + std::to_string(at + 3)));
  EXPECT_EQ(bench.home.statistics().invalidations, 3U);
  bench.l1s.answer();
  bench.l1s.answer();
  bench.step();
  EXPECT_EQ(bench.home.state_of(kA), "S_U") << "one acknowledgement is missing";
  bench.l1s.answer();
  bench.step();
  EXPECT_EQ(bench.home.state_of(kA), "U");
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 2", "left"));
  EXPECT_EQ(bench.home.state_of(kA), "X");
  // The former sharers are forgotten: the owner alone is asked.
  bench.take(CoherenceMessage::own, 0);
  bench.steps(3);
  EXPECT_THAT(bench.l1s.take(), ElementsAre("give_up 2 @ " + std::to_string(at + 7)));
}

TEST(Home, TheOnlySharerThatWantsToOwnTheLineNeedsNobody) {
  HomeBench bench;
  bench.share_among({1, 4});
  bench.take(CoherenceMessage::own, 6);
  bench.steps(2);
  bench.l1s.answer();
  bench.l1s.answer();
  bench.step();
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_EQ(bench.home.state_of(kA), "X");
  bench.l1s.take();
  // Core 6 gives its line up for a share, and core 6 itself asks again, as the one that has a copy.
  bench.take(CoherenceMessage::share, 6, kB);
  bench.take(CoherenceMessage::share, 7, kB);
  bench.step();
  bench.l1s.answer(true);
  bench.step();
  EXPECT_EQ(bench.home.state_of(kB), "S") << "core 6 alone: core 7 has not been answered yet";
  bench.take(CoherenceMessage::own, 6, kB);
  bench.slice.answers = HomeSlice::Read::done;
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_EQ(bench.home.state_of(kB), "S_U");
  bench.l1s.take();
  bench.step();
  ASSERT_EQ(bench.l1s.heard.size(), 1U);
  EXPECT_THAT(bench.l1s.heard[0], ::testing::StartsWith("invalidate 7"));
}

TEST(Home, APutOfTheOwnerLeavesTheLineToTheSlice) {
  HomeBench bench;
  bench.take(CoherenceMessage::own, 3);
  bench.slice.take();
  EXPECT_TRUE(bench.put(3, 7));
  EXPECT_THAT(bench.slice.take(), ElementsAre("left", "bytes of 3", "put of 3"));
  EXPECT_EQ(bench.slice.bytes[1], std::byte{7});
  EXPECT_EQ(bench.slice.enables[1], 0xff);
  EXPECT_EQ(bench.slice.enables[0], 0);
  EXPECT_EQ(bench.home.state_of(kA), "U");
  bench.take(CoherenceMessage::own, 3);
  bench.slice.take();
  EXPECT_TRUE(bench.put(3, 0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("left", "put of 3")) << "it has changed nothing";
  EXPECT_EQ(bench.home.statistics().puts, 2U);
  EXPECT_EQ(bench.home.statistics().puts_late, 0U);
}

TEST(Home, APutOfWhoIsNotTheOwnerAnyMoreIsAnsweredAndNoMore) {
  HomeBench bench;
  EXPECT_TRUE(bench.put(3, 7)) << "nobody has it";
  bench.take(CoherenceMessage::own, 4);
  bench.slice.take();
  EXPECT_TRUE(bench.put(3, 7));
  EXPECT_THAT(bench.slice.take(), ElementsAre("left", "put of 3"));
  EXPECT_EQ(bench.home.state_of(kA), "X");
  EXPECT_EQ(bench.home.statistics().puts_late, 2U);
  // One that crosses the home's message waits, and is late by then.
  bench.take(CoherenceMessage::own, 5);
  EXPECT_TRUE(bench.put(4, 7));
  EXPECT_THAT(bench.slice.take(), IsEmpty());
  bench.step();
  bench.l1s.answer();
  bench.step();
  EXPECT_TRUE(bench.home.resume(0)) << "the request that the home was busy with comes first";
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 5", "left"));
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("left", "put of 4"));
  EXPECT_EQ(bench.home.state_of(kA), "X");
  EXPECT_EQ(bench.home.statistics().puts_late, 3U);
}

TEST(Home, TheSliceMayReplaceALineThatNobodyHas) {
  HomeBench bench;
  EXPECT_TRUE(bench.home.may_leave(kA));
  EXPECT_EQ(bench.home.statistics().recalls, 0U);
  bench.share_among({1, 4});
  EXPECT_FALSE(bench.home.may_leave(kA));
  EXPECT_EQ(bench.home.state_of(kA), "recall");
  EXPECT_FALSE(bench.home.may_leave(kA)) << "it is recalled already";
  EXPECT_EQ(bench.home.statistics().recalls, 1U);
  bench.steps(2);
  EXPECT_EQ(bench.l1s.heard.size(), 2U) << "both are told: nobody asks";
  bench.l1s.answer();
  bench.l1s.answer();
  bench.step();
  EXPECT_TRUE(bench.home.may_leave(kA));
  EXPECT_TRUE(bench.home.quiet());
  EXPECT_THAT(bench.home.resumable(), IsEmpty());
}

TEST(Home, ALineOfAnOwnerIsTakenBackWithItsBytes) {
  HomeBench bench;
  bench.take(CoherenceMessage::own, 4);
  bench.slice.take();
  EXPECT_FALSE(bench.home.may_leave(kA));
  bench.take(CoherenceMessage::share, 2);
  EXPECT_FALSE(bench.home.may_leave(kA));
  bench.step();
  EXPECT_THAT(bench.l1s.take(), ElementsAre("give_up 4 @ 1"));
  std::array<std::byte, kHomeLine> changed{};
  bench.l1s.answer(false, changed.data());
  bench.step();
  EXPECT_THAT(bench.slice.take(), ElementsAre("bytes of 3"));
  EXPECT_EQ(bench.home.state_of(kA), "U");
  EXPECT_FALSE(bench.home.may_leave(kA)) << "somebody waits for it";
  EXPECT_TRUE(bench.home.resume(0));
  EXPECT_THAT(bench.slice.take(), ElementsAre("read alone for 2", "left"));
}

TEST(Home, TheNextMessageWaitsForTheEndOfTheOneBefore) {
  HomeBench bench;
  bench.share_among({1, 4, 6});
  bench.l1s.keeps_phase = true;
  bench.take(CoherenceMessage::own, 2);
  const Cycle at = bench.now();
  bench.steps(3);
  EXPECT_THAT(bench.l1s.take(), ElementsAre("invalidate 1 @ " + std::to_string(at + 1)));
  EXPECT_EQ(bench.l1s.send(*bench.l1s.asked[0], ::tlm::END_REQ), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(bench.slice.runs_at, at + 4);
  EXPECT_EQ(bench.home.advance(bench.now()), at + 4);
  EXPECT_THAT(bench.l1s.take(), IsEmpty()) << "not in that cycle";
  bench.step();
  EXPECT_THAT(bench.l1s.take(), ElementsAre("invalidate 4 @ " + std::to_string(at + 4)));
  // An answer ends the request too.
  std::swap(bench.l1s.asked[0], bench.l1s.asked[1]);
  bench.l1s.answer();
  bench.step();
  EXPECT_THAT(bench.l1s.take(), ElementsAre("invalidate 6 @ " + std::to_string(at + 5)));
}

TEST(Home, WhatNoCacheSaysIsAnError) {
  HomeBench bench;
  ExpectedReports reports;
  for (const CoherenceMessage wrong : {CoherenceMessage::none, CoherenceMessage::invalidate,
                                       CoherenceMessage::give_share, CoherenceMessage::give_up}) {
    try {
      bench.take(wrong, 1);
      FAIL() << "it was taken";
    } catch (const InternalError& error) {
      EXPECT_STREQ(error.what(), "home: a home got a message that is none of a cache's");
    }
  }
  bench.take(CoherenceMessage::own, 4);
  bench.take(CoherenceMessage::own, 5);
  bench.step();
  EXPECT_EQ(bench.l1s.send(*bench.l1s.asked[0], ::tlm::BEGIN_REQ), ::tlm::TLM_ACCEPTED);
  EXPECT_THAT(reports.messages, ElementsAre("unexpected phase from an L1"));
  EXPECT_EQ(bench.home.state_of(kA), "X_U");
}

TEST(Home, ALineThatIsSharedMustBeInTheSlice) {
  HomeBench bench;
  bench.share_among({1, 4});
  bench.slice.answers = HomeSlice::Read::waits;
  try {
    bench.take(CoherenceMessage::share, 2);
    FAIL() << "it was taken";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "home: a line that caches share is not in the L2");
  }
}

TEST(Home, ForgetsWhoHasWhat) {
  HomeBench bench;
  bench.take(CoherenceMessage::own, 4);
  bench.share_among({1, 2}, kB);
  bench.home.forget();
  EXPECT_EQ(bench.home.state_of(kA), "U");
  EXPECT_EQ(bench.home.state_of(kB), "U");
  EXPECT_TRUE(bench.home.may_leave(kA));
  EXPECT_TRUE(bench.home.quiet());
}

TEST(Home, ShowsWhatItDoes) {
  HomeBench bench;
  bench.watch();
  EXPECT_THAT(std::exchange(bench.seen, {}), ElementsAre("0 0 0"));
  bench.take(CoherenceMessage::own, 4);
  bench.home.show();
  bench.take(CoherenceMessage::own, 5);
  bench.home.show();
  EXPECT_FALSE(bench.home.quiet());
  bench.step();
  bench.home.show();
  EXPECT_THAT(bench.seen, ElementsAre("0 1 0", "1 1 1", "told 4", "1 1 0"));
}

}  // namespace
}  // namespace heddle::hw::test
