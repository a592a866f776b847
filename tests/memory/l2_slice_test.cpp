// A slice of the L2 alone, behind an initiator of another make.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <memory>

#include "system.hpp"
#include "tests/memory/slice_flusher.hpp"
#include "tlm/payload_pool.hpp"

namespace heddle::hw::test {
namespace {

class Initiator final : public sc_core::sc_module {
 public:
  explicit Initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.register_nb_transport_bw(this, &Initiator::backward);
  }
  tlm_utils::simple_initiator_socket<Initiator> socket;
  unsigned responses = 0;

  // Non-blocking, to its response.
  void transport(::tlm::tlm_generic_payload& payload, const link::Clock& clock) {
    ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const unsigned before = responses;
    responses += socket->nb_transport_fw(payload, phase, delay) == ::tlm::TLM_COMPLETED ? 1 : 0;
    for (unsigned i = 0; i != 1000 && responses == before; ++i) {
      sc_core::sc_start(clock.cycles(1));
    }
    EXPECT_EQ(responses, before + 1);
    sc_core::sc_start(clock.cycles(1));
  }

 private:
  ::tlm::tlm_sync_enum backward(::tlm::tlm_generic_payload& /*payload*/, ::tlm::tlm_phase& phase,
                                sc_core::sc_time& /*delay*/) {
    responses += phase == ::tlm::BEGIN_RESP ? 1 : 0;
    return phase == ::tlm::BEGIN_RESP ? ::tlm::TLM_COMPLETED : ::tlm::TLM_ACCEPTED;
  }
};

struct SliceAlone {
  SliceAlone() {
    machine.l2.enabled = true;
    slice = std::make_unique<L2Slice>("slice", machine, 0, clock);
    initiator.socket.bind(slice->target);
    slice->memory().bind(target.channel[0]);
    flusher.socket.bind(slice->flushes);
  }
  link::LinePayload& payload(::tlm::tlm_command command, std::uint64_t address, std::uint32_t value = 0) {
    link::LinePayload& made = pool.acquire(command, address, 4);
    made.extension = {};
    std::memcpy(made.data.data(), &value, 4);
    return made;
  }
  static std::uint32_t value(const link::LinePayload& payload) {
    std::uint32_t result = 0;
    std::memcpy(&result, payload.data.data(), 4);
    return result;
  }
  Machine machine;
  link::Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
  isa::DeviceMemory memory;
  MemoryTarget target{"memory", memory, 1};
  Initiator initiator{"initiator"};
  std::unique_ptr<L2Slice> slice;
  SliceFlusher flusher{"flusher"};
  link::PayloadPool pool;
};

TEST(L2Slice, DebugAndBlockingTransportsSeeItsLinesOverMemorys) {
  SliceAlone alone;
  alone.memory.put<std::uint32_t>(kBase + 8, 1);
  alone.memory.put<std::uint32_t>(kBase + 4096, 2);
  alone.initiator.transport(alone.payload(::tlm::TLM_WRITE_COMMAND, kBase + 8, 5), alone.clock);
  EXPECT_EQ(alone.memory.get<std::uint32_t>(kBase + 8), 1U);
  const auto debug = [&](::tlm::tlm_command command, std::uint64_t address, std::uint32_t value = 0) {
    link::LinePayload& payload = alone.payload(command, address, value);
    EXPECT_EQ(alone.initiator.socket->transport_dbg(payload), 4U);
    return SliceAlone::value(payload);
  };
  EXPECT_EQ(debug(::tlm::TLM_READ_COMMAND, kBase + 8), 5U);
  EXPECT_EQ(debug(::tlm::TLM_READ_COMMAND, kBase + 4096), 2U);
  debug(::tlm::TLM_WRITE_COMMAND, kBase + 8, 6);
  link::LinePayload& read = alone.payload(::tlm::TLM_READ_COMMAND, kBase + 8);
  alone.initiator.transport(read, alone.clock);
  EXPECT_EQ(SliceAlone::value(read), 6U);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  link::LinePayload& write = alone.payload(::tlm::TLM_WRITE_COMMAND, kBase + 8, 7);
  alone.initiator.socket->b_transport(write, delay);
  EXPECT_EQ(delay, alone.clock.cycles(30));
  link::LinePayload& blocking = alone.payload(::tlm::TLM_READ_COMMAND, kBase + 8);
  alone.initiator.socket->b_transport(blocking, delay);
  EXPECT_EQ(SliceAlone::value(blocking), 7U);
  ::tlm::tlm_dmi dmi;
  EXPECT_FALSE(alone.initiator.socket->get_direct_mem_ptr(read, dmi));
  alone.flusher.flush();
  sc_core::sc_start(alone.clock.cycles(100));
  EXPECT_TRUE(alone.slice->quiet());
  EXPECT_EQ(alone.flusher.flushed, 1U);
  EXPECT_EQ(alone.memory.get<std::uint32_t>(kBase + 8), 7U);
}

TEST(L2Slice, TakesPartsOfLinesAndRefusesMoreThanOne) {
  SliceAlone alone;
  alone.memory.put<std::uint32_t>(kBase + 120, 0x01020304);
  link::LinePayload& part = alone.payload(::tlm::TLM_WRITE_COMMAND, kBase + 120, 0xa1a2a3a4);
  part.enable = {0xff, 0};
  part.set_byte_enable_ptr(part.enable.data());
  part.set_byte_enable_length(2);  // repeats
  alone.initiator.transport(part, alone.clock);
  link::LinePayload& read = alone.payload(::tlm::TLM_READ_COMMAND, kBase + 120);
  alone.initiator.transport(read, alone.clock);
  EXPECT_EQ(SliceAlone::value(read), 0x01a203a4U);
  link::LinePayload& over = alone.payload(::tlm::TLM_READ_COMMAND, kBase + 125);
  alone.initiator.transport(over, alone.clock);
  EXPECT_EQ(over.get_response_status(), ::tlm::TLM_BURST_ERROR_RESPONSE);
  over.set_address(kBase + 124);
  over.set_streaming_width(2);
  alone.initiator.transport(over, alone.clock);
  EXPECT_EQ(over.get_response_status(), ::tlm::TLM_BURST_ERROR_RESPONSE);
  over.set_streaming_width(4);
  alone.initiator.transport(over, alone.clock);
  EXPECT_EQ(over.get_response_status(), ::tlm::TLM_OK_RESPONSE);
  // An ignored command without an atomic moves no data.
  link::LinePayload& nothing = alone.payload(::tlm::TLM_IGNORE_COMMAND, kBase + 120, 9);
  alone.initiator.transport(nothing, alone.clock);
  EXPECT_EQ(nothing.get_response_status(), ::tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(SliceAlone::value(nothing), 9U);
}

}  // namespace
}  // namespace heddle::hw::test
