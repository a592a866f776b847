// A controller's way to the memory alone, before a memory that answers when and as the test says: which transfers go
// out and in which cycle, when an answer counts, what is kept in order and what overlaps.
#include "hw/dram/storage_port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using PortPayload = ::tlm::tlm_generic_payload;

constexpr unsigned kPortLine = 32;  // bytes
const sc_core::sc_time kPortCycle(1, sc_core::SC_NS);

// Answers each transfer as `returns` and `phase` say; by itself it sends nothing. Performs it when it is sent.
class ToldMemory final : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  explicit ToldMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  ::tlm::tlm_target_socket<> socket;
  std::array<unsigned char, 1024> bytes{};
  ::tlm::tlm_sync_enum returns = ::tlm::TLM_COMPLETED;
  ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
  ::tlm::tlm_response_status status = ::tlm::TLM_OK_RESPONSE;
  unsigned delay_ns = 0;
  bool grants = false;
  std::uint64_t granted_from = 0, granted_to = 1023;
  bool hints = false;
  std::vector<std::string> told;  // "read 32 + 4", "end"
  std::deque<PortPayload*> under_way;
  unsigned asked = 0;
  unsigned calls = 0;  // blocking ones that are under way
  unsigned call_ns = 5;

  std::vector<std::string> take() { return std::exchange(told, {}); }
  ::tlm::tlm_sync_enum send(PortPayload& payload, ::tlm::tlm_phase sent, unsigned after_ns = 0) {
    sc_core::sc_time delay(after_ns, sc_core::SC_NS);
    return socket->nb_transport_bw(payload, sent, delay);
  }
  // The oldest transfer is answered.
  void answer(unsigned after_ns = 0) {
    PortPayload& payload = *under_way.front();
    under_way.pop_front();
    send(payload, ::tlm::BEGIN_RESP, after_ns);
  }

 private:
  void perform(PortPayload& payload) {
    told.push_back((payload.is_write() ? "write " : "read ") + std::to_string(payload.get_address()) + " + " +
                   std::to_string(payload.get_data_length()) +
                   (payload.get_byte_enable_ptr() != nullptr ? " masked" : ""));
    payload.set_response_status(status);
    payload.set_dmi_allowed(hints);
    if (payload.is_write()) {
      std::memcpy(&bytes[payload.get_address()], payload.get_data_ptr(), payload.get_data_length());
    } else {
      std::memcpy(payload.get_data_ptr(), &bytes[payload.get_address()], payload.get_data_length());
    }
  }
  ::tlm::tlm_sync_enum nb_transport_fw(PortPayload& payload, ::tlm::tlm_phase& sent, sc_core::sc_time& delay) override {
    if (sent == ::tlm::END_RESP) {
      told.emplace_back("end");
      return ::tlm::TLM_COMPLETED;
    }
    perform(payload);
    delay += sc_core::sc_time(delay_ns, sc_core::SC_NS);
    if (returns != ::tlm::TLM_COMPLETED) {
      under_way.push_back(&payload);
      sent = phase;
    }
    return returns;
  }
  void b_transport(PortPayload& payload, sc_core::sc_time&) override {
    ++calls;
    sc_core::wait(sc_core::sc_time(call_ns, sc_core::SC_NS));
    --calls;
    perform(payload);
  }
  bool get_direct_mem_ptr(PortPayload&, ::tlm::tlm_dmi& dmi) override {
    ++asked;
    dmi.set_start_address(granted_from);
    dmi.set_end_address(granted_to);
    if (!grants) {
      dmi.allow_none();
      return false;
    }
    dmi.set_dmi_ptr(bytes.data() + granted_from);
    dmi.allow_read_write();
    dmi.set_read_latency(sc_core::sc_time(3, sc_core::SC_NS));
    dmi.set_write_latency(sc_core::sc_time(4, sc_core::SC_NS));
    return true;
  }
  unsigned transport_dbg(PortPayload&) override { return 0; }
};

// The module that has the port.
class PortOwner final : public sc_core::sc_module, public link::Waker {
 public:
  PortOwner(const sc_core::sc_module_name& name, const DramParameters& parameters)
      : sc_core::sc_module(name),
        socket("socket"),
        port(socket, *this, link::Clock(kPortCycle), parameters, kPortLine) {
    socket.bind(port);
  }
  void wake(Cycle at) override { woken.push_back(at); }
  ::tlm::tlm_initiator_socket<> socket;
  std::vector<Cycle> woken;
  StoragePort port;
};

struct PortBench {
  explicit PortBench(unsigned blocking_calls = 0, const char* pieces = "aligned")
      : owner("owner", parameters(blocking_calls, pieces)) {
    owner.socket.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (unsigned i = 0; i != memory.bytes.size(); ++i) {
      memory.bytes[i] = static_cast<unsigned char>(i / 4);
    }
  }
  static DramParameters parameters(unsigned blocking_calls, const char* pieces) {
    DramParameters out;
    out.blocking_calls = blocking_calls;
    out.write_pieces = pieces;
    return out;
  }
  struct Asked {
    DramRequest request;
    PortPayload payload;
    link::MemoryExtension extension;
    link::AtomicLanes atomic;
    std::array<unsigned char, kPortLine> data{};
    std::array<unsigned char, kPortLine> enable{};
  };
  Asked& ask(std::uint64_t line, bool write = false) {
    Asked& out = asked.emplace_back();
    out.payload.set_address(line);
    out.payload.set_data_ptr(out.data.data());
    out.payload.set_data_length(kPortLine);
    out.payload.set_streaming_width(kPortLine);
    out.payload.set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
    out.request.payload = &out.payload;
    out.request.write = write;
    return out;
  }
  // A write of bytes [from, end) of a line.
  Asked& write(std::uint64_t line, unsigned from, unsigned end, unsigned char value) {
    Asked& out = ask(line, true);
    out.data.fill(value);
    std::fill(out.enable.begin() + from, out.enable.begin() + end, 0xff);
    out.payload.set_byte_enable_ptr(out.enable.data());
    out.payload.set_byte_enable_length(kPortLine);
    return out;
  }
  // Adds to words of a line.
  Asked& add(std::uint64_t line, const std::vector<unsigned>& words, unsigned value) {
    Asked& out = ask(line);
    out.payload.set_command(::tlm::TLM_IGNORE_COMMAND);
    out.request.atomic = true;
    out.request.extension = &out.extension;
    out.extension.atomic = &out.atomic;
    for (const unsigned word : words) {
      out.atomic.lane[out.atomic.count] = static_cast<std::uint8_t>(out.atomic.count);
      out.atomic.offset[out.atomic.count] = 4 * word;
      out.atomic.b[out.atomic.count++] = value;
    }
    return out;
  }
  bool access(Asked& one) { return owner.port.access(one.request, delay = sc_core::SC_ZERO_TIME); }
  // The next cycle begins; those that are finished, by their lines.
  std::vector<std::uint64_t> step() {
    sc_core::sc_start(kPortCycle);
    return advance();
  }
  std::vector<std::uint64_t> advance() {
    std::vector<DramRequest*> finished;
    next = owner.port.advance(sc_core::sc_time_stamp().value() / kPortCycle.value(), finished);
    std::vector<std::uint64_t> out;
    for (const DramRequest* request : finished) {
      out.push_back(request->payload->get_address());
    }
    return out;
  }
  [[nodiscard]] std::uint32_t word(unsigned index) const {
    std::uint32_t out = 0;
    std::memcpy(&out, &memory.bytes[std::size_t{4} * index], 4);
    return out;
  }

  ToldMemory memory{"memory"};
  PortOwner owner;
  std::deque<Asked> asked;
  sc_core::sc_time delay;
  Cycle next = 0;
};

TEST(StoragePort, ThroughDirectMemoryAnAccessIsDoneAtOnceAndTheMemoryAskedOnce) {
  PortBench bench;
  bench.memory.grants = true;
  bench.memory.granted_from = 32;
  bench.memory.granted_to = 95;
  PortBench::Asked& read = bench.ask(32);
  EXPECT_TRUE(bench.access(read));
  EXPECT_EQ(bench.delay, sc_core::sc_time(3, sc_core::SC_NS));
  EXPECT_EQ(read.data[5], 9);
  EXPECT_EQ(read.payload.get_response_status(), ::tlm::TLM_OK_RESPONSE);
  PortBench::Asked& write = bench.write(64, 3, 5, 200);
  EXPECT_TRUE(bench.access(write));
  EXPECT_EQ(bench.delay, sc_core::sc_time(4, sc_core::SC_NS));
  EXPECT_EQ(bench.memory.bytes[66], 16);
  EXPECT_EQ(bench.memory.bytes[67], 200);
  EXPECT_EQ(bench.memory.bytes[68], 200);
  EXPECT_EQ(bench.memory.bytes[69], 17);
  PortBench::Asked& atomic = bench.add(32, {1, 1}, 5);
  std::memset(&bench.memory.bytes[36], 0, 4);
  EXPECT_TRUE(bench.access(atomic));
  EXPECT_EQ(bench.delay, sc_core::sc_time(7, sc_core::SC_NS)) << "it reads and writes";
  EXPECT_EQ(atomic.atomic.old[0], 0U);
  EXPECT_EQ(atomic.atomic.old[1], 5U) << "the steps in lane order";
  EXPECT_EQ(bench.word(9), 10U);
  EXPECT_EQ(bench.memory.asked, 1U);
  EXPECT_THAT(bench.memory.told, IsEmpty());
  // A line beyond the range is asked about anew; likewise one that the memory has taken back.
  bench.memory.granted_from = 96;
  bench.memory.granted_to = 127;
  EXPECT_TRUE(bench.access(bench.ask(96)));
  EXPECT_EQ(bench.memory.asked, 2U);
  bench.memory.socket->invalidate_direct_mem_ptr(127, 127);
  EXPECT_TRUE(bench.access(bench.ask(96)));
  EXPECT_TRUE(bench.access(bench.ask(64)));
  EXPECT_EQ(bench.memory.asked, 3U);
  EXPECT_TRUE(bench.owner.port.idle());
}

TEST(StoragePort, ARefusalIsRememberedUntilAResponseHintsOtherwise) {
  PortBench bench;
  bench.memory.delay_ns = 6;
  EXPECT_TRUE(bench.access(bench.ask(0)));
  EXPECT_EQ(bench.delay, sc_core::sc_time(6, sc_core::SC_NS)) << "the memory's own time";
  EXPECT_TRUE(bench.access(bench.ask(32)));
  EXPECT_EQ(bench.memory.asked, 1U);
  EXPECT_THAT(bench.memory.take(), ElementsAre("read 0 + 32", "read 32 + 32"));
  bench.memory.grants = bench.memory.hints = true;
  EXPECT_TRUE(bench.access(bench.ask(0)));
  EXPECT_EQ(bench.memory.asked, 1U);
  EXPECT_TRUE(bench.access(bench.ask(0)));
  EXPECT_EQ(bench.memory.asked, 2U);
  EXPECT_THAT(bench.memory.take(), ElementsAre("read 0 + 32")) << "the second one needed no transport";
}

TEST(StoragePort, AnAnswerCountsInTheCycleInWhichItIsVisibleAndEndsThere) {
  PortBench bench;
  bench.memory.returns = ::tlm::TLM_ACCEPTED;
  PortBench::Asked& read = bench.ask(32);
  EXPECT_FALSE(bench.access(read));
  EXPECT_FALSE(bench.owner.port.idle());
  EXPECT_THAT(bench.step(), IsEmpty());
  EXPECT_EQ(bench.next, kNever) << "it is for the memory to go on";
  bench.memory.answer(2);  // in cycle 1
  EXPECT_EQ(bench.owner.woken.back(), 3U);
  EXPECT_THAT(bench.advance(), IsEmpty());
  EXPECT_EQ(bench.next, 3U);
  EXPECT_THAT(bench.step(), IsEmpty());
  EXPECT_THAT(bench.memory.take(), ElementsAre("read 32 + 32"));
  EXPECT_THAT(bench.step(), ElementsAre(32));
  EXPECT_THAT(bench.memory.take(), ElementsAre("end"));
  EXPECT_EQ(bench.next, kNever);
  EXPECT_EQ(read.data[31], 15);
  EXPECT_TRUE(bench.owner.port.idle());
}

TEST(StoragePort, OneRequestPhaseAtATimeAndLinesOverlapBehindIt) {
  PortBench bench;
  bench.memory.returns = ::tlm::TLM_ACCEPTED;
  EXPECT_FALSE(bench.access(bench.ask(0)));
  EXPECT_FALSE(bench.access(bench.ask(32)));
  EXPECT_FALSE(bench.access(bench.ask(64)));
  bench.step();
  EXPECT_THAT(bench.memory.take(), ElementsAre("read 0 + 32"));
  bench.memory.send(*bench.memory.under_way[0], ::tlm::END_REQ);  // in cycle 1
  bench.advance();
  EXPECT_THAT(bench.memory.take(), IsEmpty()) << "not in the cycle in which it ends";
  bench.step();
  EXPECT_THAT(bench.memory.take(), ElementsAre("read 32 + 32"));
  // A response without END_REQ ends the request too. They are finished as they were asked for.
  std::swap(bench.memory.under_way[0], bench.memory.under_way[1]);
  bench.memory.answer();
  EXPECT_THAT(bench.step(), ElementsAre(32));
  EXPECT_THAT(bench.memory.take(), ElementsAre("end", "read 64 + 32"));
  bench.memory.answer();
  bench.memory.answer();
  EXPECT_THAT(bench.step(), ElementsAre(0, 64));
}

TEST(StoragePort, AccessesToOneLineAreKeptInOrder) {
  PortBench bench;
  bench.memory.returns = ::tlm::TLM_UPDATED;
  bench.memory.phase = ::tlm::END_REQ;
  EXPECT_FALSE(bench.access(bench.write(0, 0, 4, 7)));
  EXPECT_FALSE(bench.access(bench.ask(0)));
  EXPECT_FALSE(bench.access(bench.ask(32)));
  bench.step();
  EXPECT_THAT(bench.memory.take(), ElementsAre("write 0 + 4", "read 32 + 32")) << "the other line overtakes";
  bench.step();
  EXPECT_THAT(bench.memory.take(), IsEmpty());
  bench.memory.answer();
  EXPECT_THAT(bench.step(), ElementsAre(0));
  bench.step();
  EXPECT_THAT(bench.memory.take(), ElementsAre("end", "read 0 + 32"));
  EXPECT_EQ(bench.asked[1].data[0], 7);
}

TEST(StoragePort, AMaskedWriteBecomesPieces) {
  PortBench bench;
  EXPECT_TRUE(bench.access(bench.write(32, 1, 7, 9)));
  EXPECT_THAT(bench.memory.take(), ElementsAre("write 33 + 1", "write 34 + 2", "write 36 + 2", "write 38 + 1"));
  EXPECT_TRUE(bench.access(bench.write(32, 0, 32, 9)));
  EXPECT_THAT(bench.memory.take(), ElementsAre("write 32 + 32"));
  EXPECT_TRUE(bench.access(bench.write(32, 4, 4, 9)));
  EXPECT_THAT(bench.memory.take(), IsEmpty()) << "no byte is enabled";
  EXPECT_EQ(bench.asked.back().payload.get_response_status(), ::tlm::TLM_OK_RESPONSE);
  EXPECT_TRUE(bench.owner.port.idle());
}

TEST(StoragePort, ByteEnablesGoAlongWhereTheMachineSaysSo) {
  PortBench bench(0, "byte-enables");
  EXPECT_TRUE(bench.access(bench.write(32, 1, 7, 9)));
  EXPECT_TRUE(bench.access(bench.write(32, 0, 32, 9)));
  EXPECT_THAT(bench.memory.take(), ElementsAre("write 32 + 32 masked", "write 32 + 32"));
}

TEST(StoragePort, AnAtomicReadsItsLineAndWritesTheWordsThatItTouched) {
  PortBench bench;
  std::memset(&bench.memory.bytes[32], 0, 32);
  PortBench::Asked& atomic = bench.add(32, {1, 6, 1}, 3);
  EXPECT_TRUE(bench.access(atomic));
  EXPECT_THAT(bench.memory.take(), ElementsAre("read 32 + 32", "write 36 + 4", "write 56 + 4"));
  EXPECT_EQ(bench.word(9), 6U);
  EXPECT_EQ(bench.word(14), 3U);
  EXPECT_EQ(atomic.atomic.old[2], 3U);
}

TEST(StoragePort, AnErrorEndsTheAccess) {
  PortBench bench;
  bench.memory.status = ::tlm::TLM_ADDRESS_ERROR_RESPONSE;
  PortBench::Asked& write = bench.write(32, 1, 7, 9);
  EXPECT_TRUE(bench.access(write));
  EXPECT_THAT(bench.memory.take(), ElementsAre("write 33 + 1")) << "no further piece";
  EXPECT_EQ(write.payload.get_response_status(), ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
  PortBench::Asked& atomic = bench.add(32, {1}, 3);
  EXPECT_TRUE(bench.access(atomic));
  EXPECT_THAT(bench.memory.take(), ElementsAre("read 32 + 32"));
  EXPECT_EQ(atomic.payload.get_response_status(), ::tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(StoragePort, AMemoryThatBreaksTheProtocolIsReportedAndChangesNothing) {
  PortBench bench;
  ExpectedReports reports;
  bench.memory.returns = ::tlm::TLM_ACCEPTED;
  EXPECT_FALSE(bench.access(bench.ask(0)));
  PortPayload& payload = *bench.memory.under_way[0];
  PortPayload stranger;
  bench.memory.send(payload, ::tlm::BEGIN_REQ);
  bench.memory.send(payload, ::tlm::END_RESP);
  bench.memory.send(stranger, ::tlm::END_REQ);
  bench.memory.send(stranger, ::tlm::BEGIN_RESP);
  bench.memory.send(payload, ::tlm::END_REQ);
  bench.memory.send(payload, ::tlm::END_REQ);
  bench.memory.answer();
  bench.memory.send(payload, ::tlm::BEGIN_RESP);
  EXPECT_THAT(reports.messages, ElementsAre("the memory sent a phase that only an initiator may send",
                                            "the memory sent a phase that only an initiator may send",
                                            "the memory ended a request that is not under way",
                                            "the memory answered a request that is not under way",
                                            "the memory ended a request that is not under way",
                                            "the memory answered a request that is not under way"));
  EXPECT_THAT(bench.step(), ElementsAre(0));
}

TEST(StoragePort, AsManyBlockingCallsAtOnceAsTheMachineSays) {
  PortBench bench(2);
  EXPECT_FALSE(bench.access(bench.ask(0)));
  EXPECT_FALSE(bench.access(bench.ask(32)));
  EXPECT_FALSE(bench.access(bench.ask(64)));
  bench.step();
  EXPECT_EQ(bench.memory.calls, 2U);
  for (unsigned cycle = 2; cycle != 6; ++cycle) {
    EXPECT_THAT(bench.step(), IsEmpty()) << cycle;
  }
  EXPECT_THAT(bench.step(), ElementsAre(0, 32)) << "answered in cycle 5, visible in 6";
  bench.step();
  EXPECT_EQ(bench.memory.calls, 1U);
}

TEST(StoragePort, TellsOnceOfAnAnswerThatIsOwedForTooLong) {
  PortBench bench;
  std::vector<StoragePort::Unanswered> overdue;
  bench.owner.port.watch(10, [&](const StoragePort::Unanswered& transfer) { overdue.push_back(transfer); });
  bench.memory.returns = ::tlm::TLM_UPDATED;
  bench.memory.phase = ::tlm::END_REQ;
  bench.step();
  EXPECT_FALSE(bench.access(bench.write(32, 4, 8, 1)));  // in cycle 1
  bench.step();
  EXPECT_FALSE(bench.access(bench.ask(64)));
  for (unsigned cycle = 3; cycle <= 11; ++cycle) {
    bench.step();
  }
  EXPECT_THAT(overdue, IsEmpty()) << "in cycle 11 it may come";
  bench.step();
  ASSERT_EQ(overdue.size(), 1U);
  EXPECT_TRUE(overdue[0].write);
  EXPECT_EQ(overdue[0].address, 36U);
  EXPECT_EQ(overdue[0].bytes, 4U);
  EXPECT_EQ(overdue[0].since, 1U);
  for (unsigned cycle = 13; cycle != 40; ++cycle) {
    bench.step();
  }
  EXPECT_EQ(overdue.size(), 1U);
}

}  // namespace
}  // namespace heddle::hw::test
