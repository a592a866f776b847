// Stage modules alone between stubs: the fetch stage with a stub instruction cache and a stub decode, the register
// file.
#include <gtest/gtest.h>

#include <vector>

#include "hw/core/front/fetch.hpp"
#include "hw/registers/register_file.hpp"

namespace heddle::hw {
namespace {

using link::LineRequest;

// Answers line requests as it is told, and remembers them.
class StubCache : public sc_core::sc_module, private link::NonBlockingTarget<link::LineProtocol> {
 public:
  link::LineTargetSocket socket{"socket"};
  ::tlm::tlm_sync_enum answer = ::tlm::TLM_COMPLETED;
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(16);
  std::vector<LineRequest*> requests;

  explicit StubCache(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { socket.bind(*this); }
  void respond(LineRequest& request) {
    link::LinePhase phase = link::LinePhase::response;
    sc_core::sc_time delay;
    socket->nb_transport_bw(request, phase, delay);
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(LineRequest& request, link::LinePhase&, sc_core::sc_time&) override {
    requests.push_back(&request);
    request.line = reinterpret_cast<const std::byte*>(words.data());
    return answer;
  }
};

// Takes sub-warps while it has room.
class StubStage : public sc_core::sc_module, private link::NonBlockingTarget<link::WarpProtocol> {
 public:
  link::WarpTargetSocket socket{"socket"};
  bool room = true;
  std::vector<link::SubWarp*> taken;
  unsigned refused = 0;

  explicit StubStage(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { socket.bind(*this); }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(link::SubWarp& sub_warp, link::WarpPhase&, sc_core::sc_time&) override {
    if (!room) {
      ++refused;
      return ::tlm::TLM_UPDATED;
    }
    taken.push_back(&sub_warp);
    return ::tlm::TLM_COMPLETED;
  }
};

class Fetch : public ::testing::Test {
 protected:
  Fetch() {
    launch_.code_address = 0x1000;
    launch_.code_words = 20;
    state_.launch = &launch_;
    for (std::size_t i = 0; i < cache_.words.size(); ++i) {
      cache_.words[i] = 100 + i;
    }
    fetch_.icache.bind(cache_.socket);
    fetch_.out.socket.bind(decode_.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  Group& ready(GroupId id, std::uint32_t pc) {
    Group& group = state_.groups[id];
    group.pc = pc;
    state_.groups.set_state(group, GroupState::ready);
    return group;
  }
  Machine machine_;
  Launch launch_;
  CoreState state_{machine_, 0, nullptr};
  StubCache cache_{"cache"};
  StubStage decode_{"decode"};
  FetchStage fetch_{"fetch", state_,
                    Registry<WarpScheduler>::instance().make("round-robin", {state_.groups, state_.machine.core})};
};

TEST_F(Fetch, HandsOneWordPerCycleToDecode) {
  Group& first = ready(3, 0);
  ready(5, 15);
  fetch_.tick(0);
  ASSERT_EQ(decode_.taken.size(), 1U);
  EXPECT_EQ(decode_.taken[0]->group, 3U);
  EXPECT_EQ(decode_.taken[0]->word, 100U);
  EXPECT_EQ(first.state, GroupState::in_flight);
  fetch_.tick(1);
  ASSERT_EQ(decode_.taken.size(), 2U);
  EXPECT_EQ(decode_.taken[1]->group, 5U);
  EXPECT_EQ(decode_.taken[1]->pc, 15U);
  EXPECT_EQ(decode_.taken[1]->word, 115U);
  EXPECT_EQ(cache_.requests[1]->address, 0x1000U);
  fetch_.tick(2);
  EXPECT_EQ(decode_.taken.size(), 2U) << "nobody is ready";
  EXPECT_EQ(fetch_.cause(2), IdleCause::pipeline);
}

TEST_F(Fetch, AMissSetsTheGroupAsideUntilItsLineIsThere) {
  Group& group = ready(0, 16);
  cache_.answer = ::tlm::TLM_ACCEPTED;
  fetch_.tick(0);
  EXPECT_EQ(group.state, GroupState::fetching);
  EXPECT_EQ(cache_.requests[0]->address, 0x1080U);
  EXPECT_EQ(fetch_.cause(0), IdleCause::icache);
  cache_.answer = ::tlm::TLM_COMPLETED;
  fetch_.tick(1);
  EXPECT_TRUE(decode_.taken.empty());
  cache_.respond(*cache_.requests[0]);
  EXPECT_EQ(group.state, GroupState::ready);
  fetch_.tick(2);
  ASSERT_EQ(decode_.taken.size(), 1U);
  EXPECT_EQ(decode_.taken[0]->word, 100U);
}

TEST_F(Fetch, ABusyCacheIsAskedAgain) {
  Group& group = ready(0, 0);
  cache_.answer = ::tlm::TLM_UPDATED;
  fetch_.tick(0);
  EXPECT_EQ(group.state, GroupState::ready);
  cache_.answer = ::tlm::TLM_COMPLETED;
  fetch_.tick(1);
  EXPECT_EQ(decode_.taken.size(), 1U);
}

TEST_F(Fetch, NothingIsFetchedWhileDecodeIsFull) {
  ready(0, 0);
  Group& second = ready(1, 0);
  decode_.room = false;
  fetch_.tick(0);
  fetch_.tick(1);
  EXPECT_EQ(decode_.refused, 2U);
  EXPECT_EQ(second.state, GroupState::ready);
  EXPECT_FALSE(fetch_.idle());
  decode_.room = true;
  fetch_.tick(2);
  ASSERT_EQ(decode_.taken.size(), 1U) << "the one that waited, and no other in this cycle";
  EXPECT_EQ(decode_.taken[0]->group, 0U);
  fetch_.tick(3);
  ASSERT_EQ(decode_.taken.size(), 2U);
  EXPECT_EQ(decode_.taken[1]->group, 1U);
}

TEST_F(Fetch, RunningPastTheEndIsAFault) {
  ready(0, 19);
  fetch_.tick(0);
  EXPECT_FALSE(state_.fault) << "the last word";
  ready(1, 20);
  fetch_.tick(1);
  ASSERT_TRUE(state_.fault);
  EXPECT_EQ(state_.fault->kind, isa::Fault::Kind::invalid_instruction);
  EXPECT_EQ(state_.fault->pc, 20U);
}

TEST_F(Fetch, AFailedLineIsABusError) {
  ready(0, 0);
  cache_.answer = ::tlm::TLM_ACCEPTED;
  fetch_.tick(0);
  cache_.requests[0]->failed = true;
  cache_.respond(*cache_.requests[0]);
  ASSERT_TRUE(state_.fault);
  EXPECT_EQ(state_.fault->kind, isa::Fault::Kind::bus_error);
}

// ---- registers

TEST(RegisterArray, ClearsOneRowOnly) {
  RegisterArray array;
  array.resize(3, 16);
  for (unsigned row = 0; row < 3; ++row) {
    array.word(row, 15)[31] = row + 1;
    array.predicate(row, 6) = row + 1;
  }
  array.clear_row(1);
  EXPECT_EQ(array.word(0, 15)[31], 1U);
  EXPECT_EQ(array.word(1, 15)[31], 0U);
  EXPECT_EQ(array.word(2, 15)[31], 3U);
  EXPECT_EQ(array.predicate(0, 6), 1U);
  EXPECT_EQ(array.predicate(1, 6), 0U);
  EXPECT_EQ(array.predicate(2, 6), 3U);
}

}  // namespace
}  // namespace heddle::hw
