// Modules from elsewhere within a core (hw/core/extension.hpp): a register file that is slower, a stage that is there
// beside the core's own, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "tests/hw/gpu_bench.hpp"
#include "tlm/protocol_tap.hpp"

namespace heddle::hw {
namespace {

using namespace heddle::test;

// Stands in front of a port of the register file: an access takes so many cycles more.
class SlowPort final : public link::ProtocolTap<RegisterProtocol> {
 public:
  SlowPort(const char* name, sc_core::sc_time more) : ProtocolTap(name), more_(more) {}

 private:
  void b_transport(RegisterAccess& access, sc_core::sc_time& delay) override {
    ProtocolTap::b_transport(access, delay);
    delay += more_;
  }
  const sc_core::sc_time more_;
};

CoreExtension slow_reads(unsigned cycles) {
  CoreExtension extension;
  extension.registers = [cycles](const CorePlace& place, link::Clock clock) -> std::unique_ptr<SlowPort> {
    if (place.socket != "registers.read_port") {
      return nullptr;
    }
    return std::make_unique<SlowPort>(("slow_" + place.text()).c_str(), clock.cycles(cycles));
  };
  return extension;
}

// Cycles of a round of a loop of `kBody` additions, once its instructions are in the I-cache; word 0 of the buffer gets
// the sum, and is checked.
constexpr unsigned kSlowBody = 5;
double slow_round(GpuBench& bench) {
  Cycle cycles[2];
  for (const unsigned many : {0U, 0U, 1U}) {
    const unsigned rounds = many != 0 ? 30 : 10;
    Code code;
    code.mov(1, 0);
    add_loop(code, rounds, [&] {
      for (unsigned i = 0; i < kSlowBody; ++i) {
        code.rri(Op::ADD, 1, 1, 3);
      }
    });
    code.param(2, 0);
    code.store(Op::ST_GLOBAL, 2, 1);
    code.exit();
    LaunchShape shape;
    shape.block = {1, 1, 1};
    cycles[many] = bench.run(code, shape).cycles;
    EXPECT_EQ(bench.word(0), rounds * kSlowBody * 3);
  }
  return static_cast<double>(cycles[1] - cycles[0]) / 20;
}

TEST(CorePlaces, ASlowRegisterFileTakesItsTimeOfEveryInstruction) {
  GpuBench bench({}, "bench", slow_reads(1));
  EXPECT_EQ(slow_round(bench), (7 + 1) * (kSlowBody + kLoopInstructions));
  EXPECT_TRUE(bench.gpu.core(0).lets_any_by()) << "behind register read";
}

TEST(CorePlaces, AndSoDoesASlowerOne) {
  GpuBench bench({}, "bench", slow_reads(4));
  EXPECT_EQ(slow_round(bench), (7 + 4) * (kSlowBody + kLoopInstructions));
}

// Stands in front of the bank of lane 0, which alone holds up the others.
class SlowBank final : public link::ProtocolTap<BankProtocol> {
 public:
  SlowBank(const char* name, sc_core::sc_time more) : ProtocolTap(name), more_(more) {}

 private:
  void b_transport(BankAccess& access, sc_core::sc_time& delay) override {
    ProtocolTap::b_transport(access, delay);
    delay += more_;
  }
  const sc_core::sc_time more_;
};

TEST(CorePlaces, TheSlowestBankSaysHowLongAnAccessTakes) {
  CoreExtension extension;
  extension.banks = [](const CorePlace& place, link::Clock clock) -> std::unique_ptr<SlowBank> {
    if (place.socket != "registers.bank0.port") {
      return nullptr;
    }
    return std::make_unique<SlowBank>(("slow_" + place.text()).c_str(), clock.cycles(2));
  };
  GpuBench bench({}, "bench", extension);
  EXPECT_EQ(slow_round(bench), (7 + 2) * (kSlowBody + kLoopInstructions));
}

TEST(CorePlaces, ABankHandsOutItsColumn) {
  GpuBench bench;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Code code;
  code.s2r(3, Special::tid_x);
  code.exit();
  bench.run(code);
  const RegisterFile& registers = bench.gpu.core(0).registers();
  EXPECT_TRUE(registers.direct());
  for (const unsigned lane : {0U, 7U, 31U}) {
    BankAccess access;
    ::tlm::tlm_dmi dmi;
    ::tlm::tlm_fw_transport_if<BankProtocol>& bank = *registers.banks()[lane];
    ASSERT_TRUE(bank.get_direct_mem_ptr(access, dmi));
    EXPECT_EQ(reinterpret_cast<RegisterColumn*>(dmi.get_dmi_ptr())->word(0, 3), lane);
  }
}

TEST(CorePlaces, AnExtensionOfNothingIsNone) {
  GpuBench bench({}, "bench", slow_reads(0));
  EXPECT_EQ(slow_round(bench), 7 * (kSlowBody + kLoopInstructions));
}

TEST(CorePlaces, AreAskedForOnceByTheNamesOfTheirSockets) {
  std::vector<std::string> asked;
  const auto note = [&](const CorePlace& place, link::Clock) {
    asked.push_back(place.text());
    return nullptr;
  };
  CoreExtension extension;
  extension.sub_warps = note;
  extension.registers = note;
  extension.banks = note;
  extension.former = note;
  extension.scratchpad = note;
  extension.private_memory = note;
  extension.lines = note;
  Machine machine;
  machine.gpu.cores = 2;
  machine.l1d.write_policy = "write-through";
  machine.private_memory.bytes = 16;
  machine.constant_cache.bytes = 1024;
  machine.constant_cache.l0_bytes = 128;
  const GpuBench bench(machine, "bench", extension);
  std::vector<std::string> expected;
  for (const char* core : {"core0_", "core1_"}) {
    for (const char* socket :
         {"decode_in", "decode_former_form", "register_read_in", "execute_in", "memory_in", "writeback_in",
          "writeback_returns_in", "registers_read_port", "registers_write_port", "scratchpad_access",
          "private_memory_access", "icache_cpu", "l1d_cpu", "texture_cpu", "l0c_cpu", "constant_cache_cpu"}) {
      expected.push_back(std::string(core) + socket);
    }
    for (unsigned lane = 0; lane < machine.core.simd_width; ++lane) {
      expected.push_back(core + ("registers_bank" + std::to_string(lane)) + "_port");
    }
  }
  std::sort(asked.begin(), asked.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(asked, expected);
}

// Of a core with an extension, the message of what it refuses.
std::string refusal_of_core(const CoreExtension& extension) {
  try {
    const GpuBench bench({}, "bench", extension);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// A stage at which everything would end.
class DeadEnd final : public ReceivingStage {
 public:
  explicit DeadEnd(CoreState& state) : ReceivingStage("dead_end", state, 1, CoreStage::added) {}
  void tick(Cycle) override {}
  [[nodiscard]] bool idle() const override { return empty(); }
  [[nodiscard]] bool stuck(Cycle) const override { return true; }
  void reset() override { drop_all(); }
};

TEST(CorePlaces, AStageNeedsAPlace) {
  CoreExtension extension;
  extension.stages.push_back({"decod", [](CoreState& state, link::Clock) { return std::make_unique<DeadEnd>(state); }});
  EXPECT_EQ(refusal_of_core(extension),
            "no stage of bench.gpu.core0 is called 'decod'; a stage can stand in front of decode, register_read, "
            "execute, memory, writeback");
}

TEST(CorePlaces, AStageNeedsAnOutput) {
  CoreExtension extension;
  extension.stages.push_back(
      {"memory", [](CoreState& state, link::Clock) { return std::make_unique<DeadEnd>(state); }});
  EXPECT_EQ(
      refusal_of_core(extension),
      "the stage in front of bench.gpu.core0.memory has no output; Stage::output() is where it hands sub-warps on");
}

}  // namespace
}  // namespace heddle::hw
