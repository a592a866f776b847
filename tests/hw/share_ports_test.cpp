// What sub-cores share a cache and a scratchpad by, alone: whose answer it is, and who waits for the banks.
#include <gmock/gmock.h>

#include "hw/cache/l1_cache.hpp"
#include "hw/core/share/line_ports.hpp"
#include "hw/core/share/scratchpad_ports.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;

// One sub-core's end of a cache's port.
class PortClient final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
 public:
  explicit PortClient(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  ::tlm::tlm_sync_enum ask(link::LineRequest& request, std::uint64_t address) {
    request.address = address;
    link::LinePhase phase = link::LinePhase::request;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return socket->nb_transport_fw(request, phase, delay);
  }
  link::LineInitiatorSocket socket;
  std::vector<const link::LineRequest*> answers;

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(link::LineRequest& request, link::LinePhase&, sc_core::sc_time&) override {
    answers.push_back(&request);
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

TEST(LinePorts, AnswersGoToThePortThatTheRequestCameBy) {
  Machine machine;
  CoreState state(machine, 0, nullptr);
  test::StubL1 l1("l1", state);
  l1.ports = 2;
  l1.missing = {0, 128};
  LinePorts ports("ports", 3);
  std::vector<unsigned> answered;
  ports.answered = [&](unsigned port) { answered.push_back(port); };
  PortClient clients[] = {PortClient("a"), PortClient("b"), PortClient("c")};
  for (unsigned i = 0; i != 3; ++i) {
    clients[i].socket.bind(ports.in[i]);
  }
  ports.out.bind(l1.socket);
  link::LineRequest of_c, of_a, of_b;
  EXPECT_EQ(clients[2].ask(of_c, 0), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(clients[0].ask(of_a, 128), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(clients[1].ask(of_b, 256), ::tlm::TLM_UPDATED) << "the L1 has two ports";
  state.now = 1;
  EXPECT_EQ(clients[1].ask(of_b, 256), ::tlm::TLM_COMPLETED);
  l1.respond(of_a);
  l1.respond(of_c);
  EXPECT_THAT(answered, ElementsAre(0, 2));
  EXPECT_THAT(clients[0].answers, ElementsAre(&of_a));
  EXPECT_THAT(clients[1].answers, ElementsAre());
  EXPECT_THAT(clients[2].answers, ElementsAre(&of_c));
}

// Takes what a cache asks memory for, and answers when it is told to.
class HeldMemory final : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  explicit HeldMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  void answer_first() {
    ::tlm::tlm_generic_payload& payload = *asked.front();
    asked.erase(asked.begin());
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
  }
  ::tlm::tlm_target_socket<> socket;
  std::vector<::tlm::tlm_generic_payload*> asked;

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time&) override {
    if (phase == ::tlm::BEGIN_REQ) {
      asked.push_back(&payload);
      phase = ::tlm::END_REQ;
      return ::tlm::TLM_UPDATED;
    }
    return ::tlm::TLM_ACCEPTED;
  }
  void b_transport(::tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(::tlm::tlm_generic_payload&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(::tlm::tlm_generic_payload&) override { return 0; }
};

class NoWaker final : public link::Waker {
 public:
  void wake(Cycle) override {}
};

// One MSHR, for which two sub-cores compete.
TEST(LinePorts, ARefusedLineGoesToTheCacheAgainWhenThereMayBeRoom) {
  const link::Clock clock(sc_core::sc_time(1, sc_core::SC_NS));
  NoWaker waker;
  DataCacheParameters parameters;
  parameters.mshrs = 1;
  L1Cache l1("l1", parameters, clock, 0, waker, "none");
  HeldMemory memory("memory");
  l1.memory.bind(memory.socket);
  LinePorts ports("ports", 2);
  ports.answered = [](unsigned) {};
  PortClient one("one"), other("other");
  one.socket.bind(ports.in[0]);
  other.socket.bind(ports.in[1]);
  ports.out.bind(l1.cpu);
  auto* const room = dynamic_cast<link::LineRoom*>(other.socket.operator->());
  ASSERT_NE(room, nullptr);

  Cycle now = 1;
  const auto next_cycle = [&] {
    sc_core::sc_start(1, sc_core::SC_NS);
    static_cast<void>(l1.advance(++now));
  };
  sc_core::sc_start(1, sc_core::SC_NS);
  static_cast<void>(l1.advance(now));
  link::LineRequest first, second, third;
  EXPECT_EQ(one.ask(first, 0x1000), ::tlm::TLM_ACCEPTED);
  next_cycle();
  EXPECT_FALSE(room->refuses_still());
  EXPECT_EQ(other.ask(second, 0x2000), ::tlm::TLM_UPDATED);
  EXPECT_EQ(second.busy, link::LineRequest::Busy::mshrs);
  EXPECT_TRUE(room->refuses_still());
  EXPECT_EQ(l1.statistics().busy_mshrs, 1U);
  next_cycle();
  // What another port asks for meanwhile changes nothing.
  EXPECT_EQ(one.ask(third, 0x1000), ::tlm::TLM_ACCEPTED) << "it goes with the first";
  EXPECT_TRUE(room->refuses_still());
  second.busy = link::LineRequest::Busy::ports;
  EXPECT_EQ(other.ask(second, 0x2000), ::tlm::TLM_UPDATED);
  EXPECT_EQ(second.busy, link::LineRequest::Busy::mshrs) << "not the port that has been taken";
  EXPECT_EQ(l1.statistics().busy_mshrs, 2U);
  room->refused_again(5);
  EXPECT_EQ(l1.statistics().busy_mshrs, 7U);
  ASSERT_EQ(memory.asked.size(), 1U);
  memory.answer_first();
  EXPECT_TRUE(room->refuses_still()) << "it has not come yet";
  next_cycle();
  EXPECT_FALSE(room->refuses_still());
  EXPECT_THAT(one.answers, ElementsAre(&first, &third));
  EXPECT_EQ(other.ask(second, 0x2000), ::tlm::TLM_ACCEPTED);
  EXPECT_FALSE(room->refuses_still());
}

class ScratchpadClient final : public sc_core::sc_module, private link::ForwardOnlyInitiator<ScratchpadProtocol> {
 public:
  explicit ScratchpadClient(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  // Cycles until the access is over; so many lanes want words of one bank.
  Cycle access(unsigned lanes, const link::Clock& clock) {
    ScratchpadAccess access;
    access.lanes = (LaneMask{1} << lanes) - 1;
    for (unsigned lane = 0; lane != lanes; ++lane) {
      access.address[lane] = lane * 4 * 32;
    }
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(access, delay);
    return clock.cycles_of(delay);
  }
  ScratchpadInitiatorSocket socket;
};

TEST(ScratchpadPorts, ServeAccessesOneAfterTheOther) {
  const link::Clock clock(sc_core::sc_time(1, sc_core::SC_NS));
  ScratchpadParameters parameters;
  parameters.banks = 32;
  Scratchpad scratchpad("scratchpad", parameters, clock);
  ScratchpadPorts ports("ports", 2, clock);
  ScratchpadClient one("one"), other("other");
  one.socket.bind(ports.in[0]);
  other.socket.bind(ports.in[1]);
  ports.out.bind(scratchpad.access);
  EXPECT_EQ(one.access(3, clock), 3U);
  EXPECT_EQ(other.access(1, clock), 4U) << "behind the other's three";
  EXPECT_EQ(one.access(2, clock), 6U);
  sc_core::sc_start(5, sc_core::SC_NS);
  EXPECT_EQ(other.access(1, clock), 2U) << "one cycle of the last access is left";
  sc_core::sc_start(9, sc_core::SC_NS);
  EXPECT_EQ(other.access(1, clock), 1U);
  ::tlm::tlm_dmi dmi;
  ScratchpadAccess access;
  EXPECT_TRUE(one.socket->get_direct_mem_ptr(access, dmi));
  EXPECT_EQ(dmi.get_dmi_ptr(), reinterpret_cast<unsigned char*>(scratchpad.data()));
}

}  // namespace
}  // namespace heddle::hw
