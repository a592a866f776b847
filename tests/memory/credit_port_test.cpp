// The end of a connection at which payloads arrive by credits: what a sender is answered, and what a receiver is told.
#include "tlm/credit_port.hpp"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "system.hpp"

namespace heddle::link {
namespace {

using hw::test::ExpectedReports;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;

// A receiver whose own part is a log, and a sender that calls it.
struct Receiver {
  using Payload = ::tlm::tlm_generic_payload;
  explicit Receiver(unsigned capacity) : port(capacity) {}

  tlm_sync_enum send(Payload& payload, tlm_phase& phase) {
    const Cycle visible = clock.visible_after(sc_core::SC_ZERO_TIME);
    return port.forward(
        clock, payload, phase, visible, reports,
        [this, &payload](bool has_credit) {
          log.emplace_back(has_credit ? "enters" : "is kept");
          has_credit ? port.queue.enter(&payload) : port.queue.keep(&payload);
        },
        [this, visible] { log.push_back("response ended, next in " + std::to_string(visible)); });
  }
  tlm_sync_enum send(Payload& payload, tlm_phase&& phase) { return send(payload, phase); }
  std::vector<std::string> told() { return std::exchange(log, {}); }
  void next_cycle() { sc_core::sc_start(clock.period()); }

  const PortReports reports{"heddle/test", "unexpected phase from a test"};
  Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
  CreditPort<Payload*> port;
  std::vector<std::string> log;
};

TEST(CreditPort, EndsARequestThatHasACreditWithinTheCall) {
  Receiver receiver(2);
  Receiver::Payload one;
  tlm_phase phase = ::tlm::BEGIN_REQ;
  EXPECT_EQ(receiver.send(one, phase), ::tlm::TLM_UPDATED);
  EXPECT_EQ(phase, ::tlm::END_REQ);
  EXPECT_THAT(receiver.told(), ElementsAre("enters"));
  EXPECT_EQ(receiver.port.queue.front(), &one);
  EXPECT_EQ(receiver.port.queue.occupied(0), 1U);
}

TEST(CreditPort, OwesTheEndOfARequestWithoutOneUntilACreditIsBack) {
  Receiver receiver(1);
  Receiver::Payload one;
  Receiver::Payload two;
  EXPECT_EQ(receiver.send(one, ::tlm::BEGIN_REQ), ::tlm::TLM_UPDATED);
  tlm_phase phase = ::tlm::BEGIN_REQ;
  EXPECT_EQ(receiver.send(two, phase), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(phase, ::tlm::BEGIN_REQ);
  EXPECT_THAT(receiver.told(), ElementsAre("enters", "is kept"));

  receiver.port.give_credits_back(receiver.clock);
  receiver.next_cycle();
  EXPECT_FALSE(receiver.port.queue.can_admit(1)) << "no place was released";
  EXPECT_EQ(receiver.port.queue.pop(1), &one);
  receiver.next_cycle();
  EXPECT_FALSE(receiver.port.queue.can_admit(2)) << "the credit is not back";
  receiver.port.give_credits_back(receiver.clock);
  EXPECT_FALSE(receiver.port.queue.can_admit(2)) << "it counts from the next cycle on";
  EXPECT_TRUE(receiver.port.queue.can_admit(3));
  EXPECT_EQ(receiver.port.queue.admit(), &two);
}

TEST(CreditPort, ALoneOfferIsAnsweredByItsCredit) {
  Receiver receiver(1);
  std::vector<bool> told;
  const auto arrived = [&told](bool has_credit) { told.push_back(has_credit); };
  EXPECT_TRUE(receiver.port.offer(receiver.clock, arrived));
  EXPECT_FALSE(receiver.port.offer(receiver.clock, arrived));
  EXPECT_THAT(told, ElementsAre(true, false));
}

TEST(CreditPort, EndsTheResponseThatIsUnderWay) {
  Receiver receiver(1);
  Receiver::Payload one;
  Receiver::Payload other;
  receiver.port.output.begin(one, 0);
  {
    const ExpectedReports reports;
    EXPECT_EQ(receiver.send(other, ::tlm::END_RESP), ::tlm::TLM_COMPLETED);
    EXPECT_THAT(reports.messages, ElementsAre("unexpected phase from a test"));
  }
  EXPECT_THAT(receiver.told(), IsEmpty());
  EXPECT_TRUE(receiver.port.output.under_way(one));
  receiver.next_cycle();
  receiver.next_cycle();
  EXPECT_EQ(receiver.send(one, ::tlm::END_RESP), ::tlm::TLM_COMPLETED);
  EXPECT_THAT(receiver.told(), ElementsAre("response ended, next in 3"));
  EXPECT_FALSE(receiver.port.output.can_begin(2));
  EXPECT_TRUE(receiver.port.output.can_begin(3));
  const ExpectedReports reports;
  EXPECT_EQ(receiver.send(one, ::tlm::END_RESP), ::tlm::TLM_COMPLETED);
  EXPECT_THAT(reports.messages, ElementsAre("unexpected phase from a test")) << "it is over";
}

TEST(CreditPort, ReportsThePhasesOfItsOwnSide) {
  Receiver receiver(1);
  Receiver::Payload one;
  for (const tlm_phase own : {tlm_phase(::tlm::END_REQ), tlm_phase(::tlm::BEGIN_RESP)}) {
    const ExpectedReports reports;
    tlm_phase phase = own;
    EXPECT_EQ(receiver.send(one, phase), ::tlm::TLM_ACCEPTED);
    EXPECT_THAT(reports.messages, ElementsAre("unexpected phase from a test"));
    EXPECT_EQ(phase, own);
  }
  EXPECT_THAT(receiver.told(), IsEmpty());
  EXPECT_TRUE(receiver.port.queue.has_credit(0));
}

// Where turns are shuffled the receiver is told at the cycle's end. The sender has its answer within the call.
TEST(CreditPort, TellsTheReceiverAtTheCyclesEnd) {
  class Sender final : public ClockedModule {
   public:
    Sender(const sc_core::sc_module_name& name, Clock clock) : ClockedModule(name, clock) {}
    CreditPort<int> port{1};
    std::vector<bool> told;
    std::vector<bool> answers;
    std::vector<std::size_t> told_before;

   private:
    Cycle advance(Cycle /*now*/) override {
      for (int i = 0; i != 2; ++i) {
        answers.push_back(port.offer(clock(), [this](bool has_credit) { told.push_back(has_credit); }));
        told_before.push_back(told.size());
      }
      return kNever;
    }
  };
  Calendar calendar(sc_core::sc_time(1, sc_core::SC_NS));
  Sender sender("sender", calendar.clock());
  sender.wake(1);
  calendar.shuffle(1);
  sc_core::sc_start();
  EXPECT_THAT(sender.answers, ElementsAre(true, false));
  EXPECT_THAT(sender.told_before, ElementsAre(0, 0));
  EXPECT_THAT(sender.told, ElementsAre(true, false));
}

}  // namespace
}  // namespace heddle::link
