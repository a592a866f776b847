// What sub-cores share a cache and a scratchpad by, alone: whose answer it is, and who waits for the banks.
#include <gmock/gmock.h>

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
