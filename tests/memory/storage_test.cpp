// The controller in front of memories that know nothing of Heddle.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

constexpr std::uint64_t kPlace = 0x1000;

SystemParameters small_cache() {
  SystemParameters parameters;
  parameters.cache.bytes = 512;
  parameters.cache.ways = 2;
  return parameters;
}

// A blocking memory as found in tutorials: no byte enables, no extensions, 64 KiB.
class SimpleMemory : public sc_core::sc_module {
 public:
  SimpleMemory(const sc_core::sc_module_name& name, sc_core::sc_time latency)
      : sc_core::sc_module(name), socket("socket"), bytes(65536), latency_(latency) {
    socket.register_b_transport(this, &SimpleMemory::b_transport);
  }
  void with_direct_memory() { socket.register_get_direct_mem_ptr(this, &SimpleMemory::direct); }

  tlm_utils::simple_target_socket<SimpleMemory> socket;
  std::vector<unsigned char> bytes;
  unsigned transports = 0;
  unsigned grants = 0;
  bool writable = true;
  [[nodiscard]] std::uint32_t word(std::uint64_t address) const {
    std::uint32_t value = 0;
    std::memcpy(&value, &bytes[address], 4);
    return value;
  }

 private:
  void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++transports;
    const std::uint64_t address = payload.get_address();
    if (payload.get_byte_enable_ptr() != nullptr) {
      payload.set_response_status(::tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
      return;
    }
    if (address + payload.get_data_length() > bytes.size()) {
      payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read()) {
      std::memcpy(payload.get_data_ptr(), &bytes[address], payload.get_data_length());
    } else if (payload.is_write()) {
      std::memcpy(&bytes[address], payload.get_data_ptr(), payload.get_data_length());
    } else {
      payload.set_response_status(::tlm::TLM_COMMAND_ERROR_RESPONSE);
      return;
    }
    delay += latency_;
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  }
  bool direct(::tlm::tlm_generic_payload& /*payload*/, ::tlm::tlm_dmi& dmi) {
    ++grants;
    dmi.set_dmi_ptr(bytes.data());
    dmi.set_start_address(0);
    dmi.set_end_address(bytes.size() - 1);
    dmi.set_read_latency(latency_);
    dmi.set_write_latency(latency_);
    if (writable) {
      dmi.allow_read_write();
    } else {
      dmi.allow_read();
    }
    return true;
  }
  sc_core::sc_time latency_;
};

TEST(Storage, BlockingMemoryWithoutDirectMemory) {
  SimpleMemory memory("simple", sc_core::sc_time(7, sc_core::SC_NS));
  SystemParameters parameters = small_cache();
  parameters.storage = [&](unsigned, auto& storage) { storage.bind(memory.socket); };
  MemorySystem system(parameters);
  memory.bytes[kPlace + 8] = 42;
  const Access& load = system.core().load(0, kPlace);
  system.core().store_word(1000, kPlace + 4, 0xabcd);
  system.core().store_word(1001, kPlace + 12, 0x1234);
  const Access& atomic = system.core().atomic_add(2000, kPlace, {5, 6, 7}, false);
  const Access& again = system.core().load(3000, kPlace);
  system.run();
  // The memory's own time comes on top, and the cycle after which an answer is visible.
  EXPECT_EQ(load.answered, 2 + 300U + 7 + 1 + 2);
  EXPECT_EQ(load.word(2), 42U);
  EXPECT_EQ(atomic.lanes.old[1], 0xabcdU);
  EXPECT_EQ(again.word(0), 5U);
  EXPECT_EQ(again.word(1), 0xabcdU + 6);
  EXPECT_EQ(again.word(2), 42U + 7);
  EXPECT_EQ(memory.word(kPlace + 12), 0x1234U);
  // Two loads, two words of one write-back, read and three words of the atomic: eight bytes and four.
  EXPECT_EQ(memory.transports, 7U);
}

TEST(Storage, ErrorsReachTheCore) {
  SimpleMemory memory("simple", sc_core::SC_ZERO_TIME);
  SystemParameters parameters = small_cache();
  parameters.storage = [&](unsigned, auto& storage) { storage.bind(memory.socket); };
  MemorySystem system(parameters);
  const Access& good = system.core().load(0, 65536 - 128);
  const Access& bad = system.core().load(1000, 65536);
  const Access& atomic = system.core().atomic_add(2000, 65536, {1}, true);
  Access& store = system.core().store_word(3000, 65536 + 4, 1);
  store.request.pc = 17;
  system.run();
  EXPECT_FALSE(good.failed);
  EXPECT_TRUE(bad.failed);
  EXPECT_TRUE(atomic.failed);
  EXPECT_FALSE(store.failed);  // it was done before the fetch failed
  ASSERT_TRUE(system.cache().failed_write().has_value());
  EXPECT_EQ(system.cache().failed_write()->address, 65536U);
  EXPECT_EQ(system.cache().failed_write()->pc, 17U);
  EXPECT_EQ(system.cache().statistics().failed_reads, 2U);
  EXPECT_EQ(system.cache().statistics().failed_writes, 1U);
  EXPECT_EQ(system.controller().statistics().failures, 3U);
}

TEST(Storage, DirectMemoryIsUsedWithItsLatencyAndGivenBack) {
  SimpleMemory memory("simple", sc_core::sc_time(2500, sc_core::SC_PS));
  memory.with_direct_memory();
  SystemParameters parameters = small_cache();
  parameters.storage = [&](unsigned, auto& storage) { storage.bind(memory.socket); };
  MemorySystem system(parameters);
  const Access& load = system.core().load(0, kPlace);
  system.core().load(1000, kPlace + 128);
  system.run();
  EXPECT_EQ(load.answered, 2 + 303U + 2);
  EXPECT_EQ(memory.grants, 1U);
  EXPECT_EQ(memory.transports, 0U);
  memory.socket->invalidate_direct_mem_ptr(kPlace + 4, kPlace + 4);
  memory.writable = false;
  const Cycle now = system.clock.now();
  system.core().load(now + 1, kPlace + 256);
  system.core().store_line(now + 1000, kPlace + 384, 9);
  system.core().wake(now + 1);
  system.run();
  system.flush();
  EXPECT_EQ(memory.grants, 2U);
  EXPECT_EQ(memory.transports, 1U);  // the write: the second grant is read-only
  EXPECT_EQ(memory.word(kPlace + 384), 9U);
}

// Four phases, several requests under way, answers out of order between lines: even lines take 40 ns, odd ones 5.
class PipelinedMemory : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  explicit PipelinedMemory(const sc_core::sc_module_name& name)
      : sc_core::sc_module(name), socket("socket"), bytes(65536) {
    socket.bind(*this);
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.set_sensitivity(&event_);
    options.dont_initialize();
    sc_core::sc_spawn([this] { step(); }, "step", &options);
  }
  ::tlm::tlm_target_socket<> socket;
  std::vector<unsigned char> bytes;
  unsigned most_under_way = 0;

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
    if (phase == ::tlm::END_RESP) {
      responding_ = false;
      event_.notify(delay);
      return ::tlm::TLM_COMPLETED;
    }
    const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
    const bool odd = payload.get_address() / 128 % 2 != 0;
    ending_ = &payload;
    end_at_ = now + sc_core::sc_time(2, sc_core::SC_NS);
    jobs_.push_back({&payload, now + sc_core::sc_time(odd ? 5 : 40, sc_core::SC_NS)});
    most_under_way = std::max(most_under_way, static_cast<unsigned>(jobs_.size()));
    event_.notify(sc_core::sc_time(1, sc_core::SC_NS));
    return ::tlm::TLM_ACCEPTED;
  }
  void step() {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (ending_ != nullptr && now >= end_at_) {
      ::tlm::tlm_generic_payload& payload = *ending_;
      ending_ = nullptr;
      ::tlm::tlm_phase phase = ::tlm::END_REQ;
      socket->nb_transport_bw(payload, phase, delay);
    }
    for (std::size_t i = 0; i != jobs_.size() && !responding_; ++i) {
      ::tlm::tlm_generic_payload& payload = *jobs_[i].payload;
      if (jobs_[i].at > now || &payload == ending_) {
        continue;
      }
      jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
      unsigned char* const memory = &bytes[payload.get_address()];
      if (payload.is_read()) {
        std::memcpy(payload.get_data_ptr(), memory, payload.get_data_length());
      } else {
        std::memcpy(memory, payload.get_data_ptr(), payload.get_data_length());
      }
      payload.set_response_status(::tlm::TLM_OK_RESPONSE);
      ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
      responding_ = true;
      const auto result = socket->nb_transport_bw(payload, phase, delay);
      responding_ = result != ::tlm::TLM_COMPLETED && !(result == ::tlm::TLM_UPDATED && phase == ::tlm::END_RESP);
      break;
    }
    if (!jobs_.empty() || ending_ != nullptr) {
      event_.notify(sc_core::sc_time(1, sc_core::SC_NS));
    }
  }
  void b_transport(::tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(::tlm::tlm_generic_payload&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(::tlm::tlm_generic_payload&) override { return 0; }

  struct Pending {
    ::tlm::tlm_generic_payload* payload;
    sc_core::sc_time at;
  };
  std::vector<Pending> jobs_;
  ::tlm::tlm_generic_payload* ending_ = nullptr;
  sc_core::sc_time end_at_;
  bool responding_ = false;
  sc_core::sc_event event_;
};

TEST(Storage, FourPhaseMemoryOverlapsLinesAndKeepsTheOrderWithinOne) {
  PipelinedMemory memory("pipelined");
  SystemParameters parameters = small_cache();
  parameters.cache.enabled = false;
  parameters.storage = [&](unsigned, auto& storage) { storage.bind(memory.socket); };
  MemorySystem system(parameters);
  std::vector<const Access*> loads;
  std::vector<const Access*> atomics;
  for (unsigned i = 0; i != 200; ++i) {
    const std::uint64_t line = kPlace + 128 * (i % 8);
    system.core().store_word(0, line + 4, 1000 + i);
    loads.push_back(&system.core().load(0, line));
    atomics.push_back(&system.core().atomic_add(0, line, {1, 1, 1}, true));
  }
  system.run();
  for (unsigned i = 0; i != 200; ++i) {
    EXPECT_EQ(loads[i]->word(1), 1000 + i) << i;
    EXPECT_EQ(atomics[i]->lanes.old[2], 3 * (i / 8) + 2) << i;
  }
  EXPECT_GT(memory.most_under_way, 1U);
}

}  // namespace
}  // namespace heddle::hw::test
