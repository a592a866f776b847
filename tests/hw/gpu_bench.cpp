#include "tests/hw/gpu_bench.hpp"

#include <gtest/gtest.h>

#include <span>

#include "isa/launch_image.hpp"

namespace heddle::test {

GpuBench::GpuBench(const hw::Machine& machine, const sc_core::sc_module_name& name, const hw::CoreExtension& extension,
                   const hw::MakeTap& make_tap)
    : sc_core::sc_module(name),
      gpu("gpu", machine, &memory, make_tap, extension),
      target("memory", memory, machine.dram.channels),
      host_("host") {
  host_.bind(gpu.control);
  for (unsigned channel = 0; channel < machine.dram.channels; ++channel) {
    gpu.memory[channel].bind(target.channel[channel]);
  }
  memory.place("buffer", kBuffer, kBufferBytes);
}

void GpuBench::access(std::uint64_t address, void* data, unsigned bytes, bool write) {
  EXPECT_TRUE(try_access(address, data, bytes, write)) << "control access at " << address;
}

bool GpuBench::may_start() {
  std::uint64_t start = 1;
  return try_access(static_cast<std::uint64_t>(hw::RegisterOffset::control), &start, sizeof start, true);
}

bool GpuBench::try_access(std::uint64_t address, void* data, unsigned bytes, bool write) {
  ::tlm::tlm_generic_payload payload;
  payload.set_command(write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  host_->b_transport(payload, delay);
  return payload.is_response_ok();
}

void GpuBench::write_register(hw::RegisterOffset offset, std::uint64_t value) {
  access(static_cast<std::uint64_t>(offset), &value, sizeof value, true);
}

std::uint64_t GpuBench::read_register(hw::RegisterOffset offset) {
  std::uint64_t value = 0;
  access(static_cast<std::uint64_t>(offset), &value, sizeof value, false);
  return value;
}

void GpuBench::start(const Code& code, const LaunchShape& shape) {
  using Offset = hw::RegisterOffset;
  const isa::Module module = code.module();
  const std::vector<isa::InstructionWord>& words = module.kernels.front().words;
  const std::vector<std::uint64_t> image = isa::code_image(words, gpu.machine().icache.instruction_bytes);
  memory.write(isa::kCodeBase, std::as_bytes(std::span(image)));
  auto buffer = static_cast<std::uint32_t>(kBuffer);
  const isa::BankPlaces banks = isa::place_banks(isa::kBankBacking, sizeof buffer, constants.size());
  memory.put(banks.parameters, buffer);
  memory.write(banks.constants, std::as_bytes(std::span(constants)));
  const std::pair<Offset, std::uint64_t> values[] = {{Offset::code_address, isa::kCodeBase},
                                                     {Offset::code_words, words.size()},
                                                     {Offset::grid_x, shape.grid.x},
                                                     {Offset::grid_y, shape.grid.y},
                                                     {Offset::grid_z, shape.grid.z},
                                                     {Offset::block_x, shape.block.x},
                                                     {Offset::block_y, shape.block.y},
                                                     {Offset::block_z, shape.block.z},
                                                     {Offset::registers, shape.registers},
                                                     {Offset::shared_bytes, shape.shared_bytes},
                                                     {Offset::dynamic_shared, 0},
                                                     {Offset::local_bytes, shape.local_bytes},
                                                     {Offset::local_base, isa::kLocalBacking},
                                                     {Offset::cooperative, shape.cooperative ? 1U : 0U},
                                                     {Offset::parameter_bytes, 4},
                                                     {Offset::constant_bytes, constants.size()},
                                                     {Offset::parameter_base, banks.parameters},
                                                     {Offset::constant_base, banks.constants}};
  for (const auto& [offset, value] : values) {
    write_register(offset, value);
  }
  if (!constants.empty()) {
    access(hw::kConstantWindow, constants.data(), static_cast<unsigned>(constants.size()), true);
  }
  access(hw::kParameterWindow, &buffer, sizeof buffer, true);
  write_register(Offset::control, 1);
}

bool GpuBench::step(Cycle cycles) {
  sc_core::sc_start(gpu.clock().cycles(cycles));
  return gpu.status() == hw::LaunchStatus::running;
}

void GpuBench::finish(Cycle limit) {
  for (Cycle passed = 0; step(100); passed += 100) {
    ASSERT_LT(passed, limit) << "the launch does not end: " << gpu.describe_waiting();
  }
  ASSERT_FALSE(gpu.fault()) << gpu.fault()->detail;
  ASSERT_EQ(gpu.status(), hw::LaunchStatus::done);
}

hw::Totals GpuBench::run(const Code& code, const LaunchShape& shape) {
  const hw::Totals before = gpu.totals();
  start(code, shape);
  finish();
  return difference(gpu.totals(), before);
}

hw::Totals difference(const hw::Totals& after, const hw::Totals& before) {
  hw::Totals result = after;
  hw::Totals less = before;
  result.cycles -= before.cycles;
  CounterSums sums;
  hw::Totals::each_kind([&](const char*, auto kind) { sums.subtract(result.*kind, less.*kind); });
  return result;
}

}  // namespace heddle::test
