// A tap between a DRAM controller and the memory behind the GPU sees every access of the data: none goes around it by
// direct memory.
#include <gtest/gtest.h>

#include <memory>

#include "tests/hw/gpu_bench.hpp"

namespace heddle::hw {
namespace {

using heddle::test::GpuBench;

struct MemoryTraffic {
  unsigned reads = 0, writes = 0;
  std::uint64_t bytes_written = 0;
};

class MemoryTap final : public link::ChannelTap {
 public:
  MemoryTap(const sc_core::sc_module_name& name, MemoryTraffic& seen) : link::ChannelTap(name), seen_(seen) {}

 private:
  void request(const ::tlm::tlm_generic_payload& payload, const sc_core::sc_time&) override {
    if (payload.is_write()) {
      ++seen_.writes;
      seen_.bytes_written += payload.get_data_length();
    } else {
      ++seen_.reads;
    }
  }
  MemoryTraffic& seen_;
};

Machine one_core() {
  Machine machine;
  machine.gpu.cores = 1;
  return machine;
}

// Each of 32 threads adds 1 to a word of a line of its own.
isa::test::Code add_to_lines() {
  isa::test::Code code;
  code.s2r(1, isa::Special::tid_x);
  code.rri(isa::Op::SHL, 1, 1, 7);
  code.param(2, 0);
  code.rrr(isa::Op::ADD, 1, 1, 2);
  code.load(isa::Op::LD_GLOBAL, 3, 1);
  code.rri(isa::Op::ADD, 3, 3, 1);
  code.store(isa::Op::ST_GLOBAL, 1, 3);
  code.exit();
  return code;
}

TEST(MemoryTap, SeesAllThatTheChannelsAsk) {
  MemoryTraffic seen;
  GpuBench tapped(one_core(), "tapped", {}, [&](const TapPlace& place, link::Clock) -> std::unique_ptr<link::Tap> {
    return place.link == TapPlace::Link::memory ? std::make_unique<MemoryTap>(place.text().c_str(), seen) : nullptr;
  });
  GpuBench direct(one_core(), "direct");
  const Totals with = tapped.run(add_to_lines());
  const Totals without = direct.run(add_to_lines());
  EXPECT_EQ(with.dram.reads, without.dram.reads);
  EXPECT_EQ(with.dram.writes, without.dram.writes);
  EXPECT_EQ(with.cycles, without.cycles) << "a tap changes nothing";
  EXPECT_EQ(seen.reads, with.dram.reads);
  EXPECT_EQ(seen.writes, with.dram.writes);
  EXPECT_NE(seen.writes, 0U);
  for (unsigned thread = 0; thread < 32; ++thread) {
    EXPECT_EQ(tapped.word(thread * 32), 1U) << thread;
  }
}

}  // namespace
}  // namespace heddle::hw
