// The network between cores whose threads change cores, alone: what one core says only the core hears that it is for,
// at once and whole.
#include "hw/gpu/thread_network.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace heddle::hw {
namespace {

// A core as the network sees it: what it hears it keeps, and it answers as the test says.
class ListeningCore : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<HomeProtocol> {
 public:
  explicit ListeningCore(const sc_core::sc_module_name& name) : sc_core::sc_module(name), others("others") {
    others.bind(*this);
  }
  HomeInitiatorSocket others;
  std::vector<HomeMessage> heard;
  std::vector<sc_core::sc_time> delays;
  ::tlm::tlm_sync_enum answers = ::tlm::TLM_COMPLETED;

  ::tlm::tlm_sync_enum say(HomeMessage& message, sc_core::sc_time& delay) {
    HomePhase phase = HomePhase::message;
    return others->nb_transport_fw(message, phase, delay);
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(HomeMessage& message, HomePhase& phase, sc_core::sc_time& delay) override {
    EXPECT_EQ(phase, HomePhase::message);
    heard.push_back(message);
    delays.push_back(delay);
    return answers;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

struct Connected {
  explicit Connected(unsigned cores) : network("network", cores) {
    for (unsigned i = 0; i != cores; ++i) {
      core.push_back(std::make_unique<ListeningCore>(("core" + std::to_string(i)).c_str()));
      core.back()->others.bind(network.core[i]);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  [[nodiscard]] std::vector<std::size_t> heard() const {
    std::vector<std::size_t> out;
    for (const auto& one : core) {
      out.push_back(one->heard.size());
    }
    return out;
  }
  ThreadNetwork network;
  std::vector<std::unique_ptr<ListeningCore>> core;
};

HomeMessage from_to(unsigned from, unsigned to, std::uint32_t pc = 0) {
  HomeMessage message;
  message.from = from;
  message.to = to;
  message.pc = pc;
  return message;
}

TEST(ThreadNetwork, AMessageGoesToItsCoreAlone) {
  Connected all(3);
  sc_core::sc_time delay(5, sc_core::SC_NS);
  for (unsigned from = 0; from != 3; ++from) {
    for (unsigned to = 0; to != 3; ++to) {
      for (auto& core : all.core) {
        core->heard.clear();
      }
      HomeMessage message = from_to(from, to, 10 * from + to);
      EXPECT_EQ(all.core[from]->say(message, delay), ::tlm::TLM_COMPLETED);
      std::vector<std::size_t> expected(3, 0);
      expected[to] = 1;
      EXPECT_EQ(all.heard(), expected) << from << " to " << to;
      EXPECT_EQ(all.core[to]->heard.at(0).from, from);
      EXPECT_EQ(all.core[to]->heard.at(0).pc, 10 * from + to);
      EXPECT_EQ(all.core[to]->delays.back(), sc_core::sc_time(5, sc_core::SC_NS)) << "no time of its own";
    }
  }
  EXPECT_EQ(delay, sc_core::sc_time(5, sc_core::SC_NS));
  EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::SC_ZERO_TIME);
}

TEST(ThreadNetwork, ThreadsArriveWithAllThatTheyHave) {
  Connected all(2);
  ThreadHome home;
  BlockHome block;
  HomeMessage message = from_to(1, 0, 77);
  message.kind = HomeMessage::Kind::group;
  message.warp_in_block = 3;
  message.merge_points = 4;
  message.progress = 5;
  message.progress_before = 2;
  message.bound = true;
  message.block = &block;
  for (unsigned i = 0; i != 2; ++i) {
    Traveller thread;
    thread.thread = {&home, static_cast<std::uint8_t>(i)};
    thread.lane = static_cast<std::uint8_t>(7 + i);
    thread.registers = {11 + i, 13 + i};
    thread.predicates[1] = true;
    message.threads.push_back(thread);
  }
  sc_core::sc_time delay;
  static_cast<void>(all.core[1]->say(message, delay));
  const HomeMessage& heard = all.core[0]->heard.at(0);
  EXPECT_EQ(heard.kind, HomeMessage::Kind::group);
  EXPECT_EQ(heard.warp_in_block, 3U);
  EXPECT_EQ(heard.merge_points, 4U);
  EXPECT_EQ(heard.progress, 5U);
  EXPECT_EQ(heard.progress_before, 2U);
  EXPECT_TRUE(heard.bound);
  EXPECT_EQ(heard.block, &block);
  ASSERT_EQ(heard.threads.size(), 2U);
  EXPECT_EQ(heard.threads[1].thread, (HomeThread{&home, 1}));
  EXPECT_EQ(heard.threads[1].lane, 8U);
  EXPECT_EQ(heard.threads[1].registers, (std::vector<std::uint32_t>{12, 14}));
  EXPECT_TRUE(heard.threads[1].predicates[1]);
}

TEST(ThreadNetwork, HasRoomForEverythingInOneCycleAndKeepsTheOrder) {
  Connected all(2);
  sc_core::sc_time delay;
  for (std::uint32_t pc = 0; pc != 100; ++pc) {
    HomeMessage message = from_to(pc % 2, 1, pc);
    EXPECT_EQ(all.core[pc % 2]->say(message, delay), ::tlm::TLM_COMPLETED);
  }
  ASSERT_EQ(all.heard(), (std::vector<std::size_t>{0, 100}));
  for (std::uint32_t pc = 0; pc != 100; ++pc) {
    EXPECT_EQ(all.core[1]->heard[pc].pc, pc);
  }
}

TEST(ThreadNetwork, TheSenderIsAnsweredAsTheCoreAnswers) {
  Connected all(2);
  all.core[1]->answers = ::tlm::TLM_UPDATED;
  sc_core::sc_time delay;
  HomeMessage message = from_to(0, 1);
  EXPECT_EQ(all.core[0]->say(message, delay), ::tlm::TLM_UPDATED);
}

TEST(ThreadNetwork, SpeaksNonBlockingTransportAlone) {
  Connected all(1);
  HomeMessage message = from_to(0, 0);
  sc_core::sc_time delay;
  try {
    all.core[0]->others->b_transport(message, delay);
    FAIL() << "it was taken";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "this socket's protocol is non-blocking");
  }
  ::tlm::tlm_dmi direct;
  EXPECT_FALSE(all.core[0]->others->get_direct_mem_ptr(message, direct));
  EXPECT_EQ(all.core[0]->others->transport_dbg(message), 0U);
  EXPECT_TRUE(all.core[0]->heard.empty());
}

}  // namespace
}  // namespace heddle::hw
