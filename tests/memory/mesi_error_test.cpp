// A memory that refuses a line behind coherent caches: who asked is told, the home is done with it, and other lines and
// the same line's next requests are as ever.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <vector>

#include "system.hpp"

namespace heddle::hw::test {
namespace {

constexpr std::uint64_t kBadLine = 0x400;
constexpr std::uint64_t kGoodLine = 0x800;

struct RefusingMemory : sc_core::sc_module {
  explicit RefusingMemory(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.register_b_transport(this, &RefusingMemory::transport);
  }
  void transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
    const std::uint64_t address = payload.get_address();
    if (refuses && address >= kBadLine && address < kBadLine + 128) {
      payload.set_response_status(::tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read()) {
      std::memcpy(payload.get_data_ptr(), &bytes[address], payload.get_data_length());
    } else {
      std::memcpy(&bytes[address], payload.get_data_ptr(), payload.get_data_length());
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  }
  tlm_utils::simple_target_socket<RefusingMemory> socket;
  bool refuses = true;
  std::vector<unsigned char> bytes = std::vector<unsigned char>(0x1000);
};

TEST(MesiErrors, ARefusedLineIsNobodys) {
  RefusingMemory memory("memory_of_test");
  SystemParameters parameters;
  parameters.cores = 2;
  parameters.coherence = "mesi";
  parameters.cache.write_policy = parameters.l2.write_policy = "write-back";
  parameters.l2.enabled = parameters.l2.inclusive = true;
  parameters.storage = [&](unsigned, auto& storage) { storage.bind(memory.socket); };
  MemorySystem system(parameters);
  const Access& first = system.core(0).load(0, kBadLine);
  const Access& second = system.core(1).load(1, kBadLine);
  system.core(0).store_word(3000, kBadLine, 5);
  const Access& good = system.core(1).load(3001, kGoodLine);
  system.run();
  EXPECT_TRUE(first.failed);
  EXPECT_TRUE(second.failed);
  EXPECT_FALSE(good.failed);
  ASSERT_TRUE(system.cache(0).failed_write());
  EXPECT_EQ(system.cache(0).failed_write()->address, kBadLine);
  EXPECT_FALSE(system.cache(1).failed_write());
  EXPECT_TRUE(system.cache(0).stores_visible());
  EXPECT_EQ(system.l2().home()->state_of(kBadLine), "U");
  EXPECT_EQ(system.l2().home()->state_of(kGoodLine), "X");
}

TEST(MesiErrors, TheLineCanBeHadLater) {
  RefusingMemory memory("memory_of_test");
  SystemParameters parameters;
  parameters.cores = 2;
  parameters.coherence = "mesi";
  parameters.cache.write_policy = parameters.l2.write_policy = "write-back";
  parameters.l2.enabled = parameters.l2.inclusive = true;
  parameters.storage = [&](unsigned, auto& storage) { storage.bind(memory.socket); };
  MemorySystem system(parameters);
  system.core(0).on_answer = [&](Access& access) { memory.refuses = memory.refuses && !access.failed; };
  const Access& bad = system.core(0).load(0, kBadLine);
  system.core(1).store_word(3000, kBadLine + 4, 7);
  const Access& after = system.core(0).load(6000, kBadLine);
  system.run();
  EXPECT_TRUE(bad.failed);
  EXPECT_FALSE(after.failed);
  EXPECT_EQ(after.word(1), 7U);
  EXPECT_EQ(system.cache(1).coherence_statistics().given_data, 1U);
  EXPECT_EQ(system.cache(1).coherence_statistics().shared, 1U);
  EXPECT_EQ(system.l2().home()->state_of(kBadLine), "S");
}

}  // namespace
}  // namespace heddle::hw::test
