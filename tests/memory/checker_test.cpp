// The protocol checker finds a violation of each of its rules, and none in correct traffic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system.hpp"
#include "tlm/payload_pool.hpp"

namespace heddle::hw::test {
namespace {

using ::testing::HasSubstr;
using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;
using Payload = ::tlm::tlm_generic_payload;

// Both ends of a checked connection; what each answers is the test's to say.
class Ends final : public sc_core::sc_module, public ::tlm::tlm_fw_transport_if<>, public ::tlm::tlm_bw_transport_if<> {
 public:
  using Answer = std::function<tlm_sync_enum(Payload&, tlm_phase&, sc_core::sc_time&)>;
  explicit Ends(const sc_core::sc_module_name& name)
      : sc_core::sc_module(name), out("out"), in("in"), checker("check") {
    out.bind(*this);
    in.bind(*this);
    out.bind(checker.target);
    checker.initiator.bind(in);
  }
  ::tlm::tlm_initiator_socket<> out;
  ::tlm::tlm_target_socket<> in;
  link::ProtocolChecker checker;
  link::PayloadPool pool;
  Answer at_target = accept;
  Answer at_initiator = accept;
  std::uint64_t granted_from = 0;
  std::function<void(Payload&)> blocking = [](Payload& payload) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  };

  static tlm_sync_enum accept(Payload&, tlm_phase&, sc_core::sc_time&) { return ::tlm::TLM_ACCEPTED; }
  static tlm_sync_enum complete(Payload& payload, tlm_phase&, sc_core::sc_time&) {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return ::tlm::TLM_COMPLETED;
  }
  // Answers by changing the phase.
  static Answer update(tlm_phase to) {
    return [to](Payload&, tlm_phase& phase, sc_core::sc_time&) {
      phase = to;
      return ::tlm::TLM_UPDATED;
    };
  }
  link::LinePayload& read(std::uint64_t address = 0x100) { return pool.acquire(::tlm::TLM_READ_COMMAND, address, 64); }
  void forward(Payload& payload, tlm_phase phase) {
    sc_core::sc_time delay(1, sc_core::SC_NS);
    out->nb_transport_fw(payload, phase, delay);
  }
  void backward(Payload& payload, tlm_phase phase) {
    sc_core::sc_time delay(1, sc_core::SC_NS);
    in->nb_transport_bw(payload, phase, delay);
  }

 private:
  tlm_sync_enum nb_transport_fw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) override {
    return at_target(payload, phase, delay);
  }
  tlm_sync_enum nb_transport_bw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) override {
    return at_initiator(payload, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time&) override { blocking(payload); }
  bool get_direct_mem_ptr(Payload&, ::tlm::tlm_dmi& dmi) override {
    dmi.set_start_address(granted_from);
    dmi.set_end_address(granted_from + 0xfff);
    return true;
  }
  unsigned transport_dbg(Payload&) override { return 0; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

class Checker : public ::testing::Test {
 protected:
  // Elaborates, runs the wrong traffic and returns the rules that it broke.
  std::string broken(const std::function<void(Ends&)>& traffic) {
    Ends ends("ends");
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    ExpectedReports reports;
    traffic(ends);
    EXPECT_EQ(ends.checker.violations(), reports.messages.size());
    std::string all;
    for (const std::string& message : reports.messages) {
      all += message + "\n";
    }
    return all;
  }
  static void ok(Payload& payload) { payload.set_response_status(::tlm::TLM_OK_RESPONSE); }
};

TEST_F(Checker, AcceptsEveryCorrectVariant) {
  EXPECT_EQ(broken([](Ends& ends) {
              Payload& four = ends.read();
              ends.forward(four, ::tlm::BEGIN_REQ);
              ends.backward(four, ::tlm::END_REQ);
              Payload& second = ends.read();  // may begin now, and answer first
              ends.forward(second, ::tlm::BEGIN_REQ);
              ok(second);
              ends.backward(second, ::tlm::BEGIN_RESP);  // implies END_REQ
              ends.forward(second, ::tlm::END_RESP);
              ok(four);
              ends.at_initiator = Ends::update(::tlm::END_RESP);
              ends.backward(four, ::tlm::BEGIN_RESP);
              ends.at_target = Ends::complete;
              Payload& early = ends.read();
              ends.forward(early, ::tlm::BEGIN_REQ);
              ends.at_target = Ends::update(::tlm::END_REQ);
              Payload& updated = ends.read();
              ends.forward(updated, ::tlm::BEGIN_REQ);
              ok(updated);
              ends.at_initiator = [](Payload&, tlm_phase&, sc_core::sc_time&) { return ::tlm::TLM_COMPLETED; };
              ends.backward(updated, ::tlm::BEGIN_RESP);
              EXPECT_EQ(ends.checker.transactions(), 4U);
              EXPECT_EQ(ends.checker.outstanding(), 0U);
            }),
            "");
}

TEST_F(Checker, RequestExclusion) {
  EXPECT_THAT(broken([](Ends& ends) {
                ends.forward(ends.read(), ::tlm::BEGIN_REQ);
                ends.forward(ends.read(), ::tlm::BEGIN_REQ);
              }),
              HasSubstr("request: BEGIN_REQ before"));
}

TEST_F(Checker, ResponseExclusion) {
  EXPECT_THAT(broken([](Ends& ends) {
                ends.at_target = Ends::update(::tlm::END_REQ);
                Payload& a = ends.read();
                Payload& b = ends.read();
                ends.forward(a, ::tlm::BEGIN_REQ);
                ends.forward(b, ::tlm::BEGIN_REQ);
                ok(a);
                ok(b);
                ends.backward(a, ::tlm::BEGIN_RESP);
                ends.backward(b, ::tlm::BEGIN_RESP);
              }),
              HasSubstr("response: BEGIN_RESP before"));
}

TEST_F(Checker, PhaseOrder) {
  const std::string text = broken([](Ends& ends) {
    Payload& a = ends.read();
    ends.forward(a, ::tlm::BEGIN_REQ);
    ends.forward(a, ::tlm::BEGIN_REQ);
    ends.backward(a, ::tlm::END_REQ);
    ends.backward(a, ::tlm::END_REQ);
    ends.forward(a, ::tlm::END_RESP);
    ok(a);
    ends.backward(a, ::tlm::BEGIN_RESP);
    ends.backward(a, ::tlm::BEGIN_RESP);
    ends.forward(a, ::tlm::END_REQ);
    ends.backward(a, ::tlm::BEGIN_REQ);
    ends.backward(ends.read(), ::tlm::BEGIN_RESP);
  });
  EXPECT_THAT(text, HasSubstr("BEGIN_REQ of a transaction that has not ended"));
  EXPECT_THAT(text, HasSubstr("END_REQ outside a request phase"));
  EXPECT_THAT(text, HasSubstr("END_RESP outside a response phase"));
  EXPECT_THAT(text, HasSubstr("a second BEGIN_RESP"));
  EXPECT_THAT(text, HasSubstr("END_REQ on the forward path"));
  EXPECT_THAT(text, HasSubstr("BEGIN_REQ on the backward path"));
  EXPECT_THAT(text, HasSubstr("a response to no request"));
}

TEST_F(Checker, ReturnValues) {
  const std::string text = broken([](Ends& ends) {
    Payload& a = ends.read();
    ends.at_target = [](Payload&, tlm_phase& phase, sc_core::sc_time&) {
      phase = ::tlm::END_REQ;
      return ::tlm::TLM_ACCEPTED;
    };
    ends.forward(a, ::tlm::BEGIN_REQ);
    ends.at_initiator = [](Payload&, tlm_phase&, sc_core::sc_time&) { return ::tlm::TLM_COMPLETED; };
    ends.backward(a, ::tlm::END_REQ);
    ends.at_target = Ends::update(::tlm::END_RESP);
    ends.forward(ends.read(), ::tlm::BEGIN_REQ);
  });
  EXPECT_THAT(text, HasSubstr("TLM_ACCEPTED leaves the phase"));
  EXPECT_THAT(text, HasSubstr("TLM_COMPLETED to END_REQ"));
  EXPECT_THAT(text, HasSubstr("TLM_UPDATED from BEGIN_REQ to END_RESP"));
}

TEST_F(Checker, AttributesThatATargetMustNotTouch) {
  using Change = std::function<void(link::LinePayload&)>;
  const std::vector<Change> changes = {
      [](link::LinePayload& payload) { payload.set_command(::tlm::TLM_READ_COMMAND); },
      [](link::LinePayload& payload) { payload.set_data_length(32); },
      [](link::LinePayload& payload) { payload.set_data_ptr(payload.get_data_ptr() + 1); },
      [](link::LinePayload& payload) { payload.set_byte_enable_ptr(payload.enable.data()); },
      [](link::LinePayload& payload) { payload.set_byte_enable_length(4); },
      [](link::LinePayload& payload) { payload.set_streaming_width(4); },
      [](link::LinePayload& payload) { payload.set_address(0x200); },
      [](link::LinePayload& payload) { payload.data[3] ^= std::byte{1}; },
  };
  const std::string text = broken([&](Ends& ends) {
    ends.at_target = Ends::update(::tlm::END_REQ);
    ends.at_initiator = [](Payload&, tlm_phase&, sc_core::sc_time&) { return ::tlm::TLM_COMPLETED; };
    for (std::size_t i = 0; i != changes.size(); ++i) {
      link::LinePayload& payload = ends.pool.acquire(::tlm::TLM_WRITE_COMMAND, 0x100, 64);
      ends.forward(payload, ::tlm::BEGIN_REQ);
      changes[i](payload);
      ok(payload);
      ends.backward(payload, ::tlm::BEGIN_RESP);
      EXPECT_EQ(ends.checker.violations(), i + 1);
    }
  });
  EXPECT_THAT(text, HasSubstr("attributes: only the initiator"));
  EXPECT_THAT(text, HasSubstr("attributes: the address"));
  EXPECT_THAT(text, HasSubstr("attributes: the data of a write"));
}

TEST_F(Checker, WellFormedRequests) {
  using Change = std::function<void(link::LinePayload&)>;
  const std::vector<Change> changes = {
      [](link::LinePayload& payload) { payload.set_data_length(0); },
      [](link::LinePayload& payload) { payload.set_data_ptr(nullptr); },
      [](link::LinePayload& payload) { payload.set_streaming_width(0); },
      [](link::LinePayload& payload) { payload.set_byte_enable_ptr(payload.enable.data()); },
      [](link::LinePayload& payload) { payload.set_response_status(::tlm::TLM_OK_RESPONSE); },
      [](link::LinePayload& payload) { payload.set_dmi_allowed(true); },
  };
  const std::string text = broken([&](Ends& ends) {
    ends.at_target = Ends::complete;
    for (std::size_t i = 0; i != changes.size(); ++i) {
      link::LinePayload& payload = ends.read();
      changes[i](payload);
      ends.forward(payload, ::tlm::BEGIN_REQ);
      EXPECT_EQ(ends.checker.violations(), i + 1);
    }
  });
  EXPECT_THAT(text, HasSubstr("well formed"));
}

TEST_F(Checker, ResponseStatus) {
  const std::string text = broken([](Ends& ends) {
    Payload& a = ends.read();
    ends.forward(a, ::tlm::BEGIN_REQ);
    ends.backward(a, ::tlm::BEGIN_RESP);
    a.set_response_status(::tlm::TLM_GENERIC_ERROR_RESPONSE);
    ends.forward(a, ::tlm::END_RESP);
    ends.blocking = [](Payload&) {};
    sc_core::sc_time delay;
    ends.out->b_transport(ends.read(), delay);
  });
  EXPECT_EQ(text.find("the target must set it") != text.rfind("the target must set it"), true) << text;
  EXPECT_THAT(text, HasSubstr("the initiator must not change it"));
}

TEST_F(Checker, MemoryManagerAndReferences) {
  const std::string text = broken([](Ends& ends) {
    ends.at_target = Ends::update(::tlm::END_REQ);
    std::array<unsigned char, 4> data{};
    Payload bare;
    bare.set_read();
    bare.set_data_ptr(data.data());
    bare.set_data_length(4);
    bare.set_streaming_width(4);
    ends.forward(bare, ::tlm::BEGIN_REQ);
    Payload& released = ends.read();
    released.release();
    ends.forward(released, ::tlm::BEGIN_REQ);
    Payload& early = ends.read(0x500);
    ends.forward(ends.read(0x600), ::tlm::BEGIN_REQ);
    ends.forward(early, ::tlm::BEGIN_REQ);
    early.release();
    ok(early);
    ends.backward(early, ::tlm::BEGIN_RESP);
    ends.forward(early, ::tlm::END_RESP);
  });
  EXPECT_THAT(text, HasSubstr("memory manager: the non-blocking path needs one"));
  EXPECT_THAT(text, HasSubstr("referenced when it is sent"));
  EXPECT_THAT(text, HasSubstr("referenced until it has ended"));
}

TEST_F(Checker, DelaysAndDirectMemory) {
  const std::string text = broken([](Ends& ends) {
    ends.at_target = [](Payload&, tlm_phase&, sc_core::sc_time& delay) {
      delay = sc_core::SC_ZERO_TIME;
      return ::tlm::TLM_ACCEPTED;
    };
    ends.forward(ends.read(), ::tlm::BEGIN_REQ);
    ::tlm::tlm_dmi dmi;
    ends.granted_from = 0x2000;
    ends.out->get_direct_mem_ptr(ends.read(), dmi);
    ends.in->invalidate_direct_mem_ptr(2, 1);
  });
  EXPECT_THAT(text, HasSubstr("delay: a callee"));
  EXPECT_THAT(text, HasSubstr("does not hold the address"));
  EXPECT_THAT(text, HasSubstr("taken back is empty"));
}

}  // namespace
}  // namespace heddle::hw::test
