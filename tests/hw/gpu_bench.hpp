// A GPU with device memory and a host in a test: kernels assembled by hand, launched through the control socket, and
// simulation in steps of single cycles where a test wants to look inside.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/gpu/gpu.hpp"
#include "hw/gpu/memory_target.hpp"
#include "isa/device_memory.hpp"
#include "isa/memory_map.hpp"
#include "isa/module.hpp"
#include "tests/isa/kernel_builder.hpp"

namespace heddle::test {

using isa::Op;
using isa::Special;
using isa::test::Code;
using link::Cycle;

// How a kernel is launched.
struct LaunchShape {
  isa::Dim3 grid;
  isa::Dim3 block{32, 1, 1};
  unsigned registers = 16;
  std::uint32_t shared_bytes = 0;
  std::uint32_t local_bytes = 0;
  bool cooperative = false;
};

class GpuBench : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t kBuffer = isa::kGlobalBase;  // 1 MiB, the kernels' first parameter
  static constexpr std::uint64_t kBufferBytes = 1 << 20;

  // `extension`: what is put into the cores.
  explicit GpuBench(const hw::Machine& machine = {}, const sc_core::sc_module_name& name = "bench",
                    const hw::CoreExtension& extension = {}, const hw::MakeTap& make_tap = {});

  // Writes code and launch registers; the launch starts with the next cycle.
  void start(const Code& code, const LaunchShape& shape = {});
  // Lets cycles pass; true while the launch runs.
  bool step(Cycle cycles = 1);
  // To the end of the launch; fails the test on a fault and after `limit` cycles.
  void finish(Cycle limit = 1'000'000);
  // Both; returns the counters of this launch alone.
  hw::Totals run(const Code& code, const LaunchShape& shape = {});

  // Starts a launch by what the registers say; false: the GPU refuses.
  [[nodiscard]] bool may_start();

  void write_register(hw::RegisterOffset offset, std::uint64_t value);
  [[nodiscard]] std::uint64_t read_register(hw::RegisterOffset offset);
  // A 32-bit word of the buffer.
  [[nodiscard]] std::uint32_t word(std::size_t index) const { return memory.get<std::uint32_t>(kBuffer + 4 * index); }
  [[nodiscard]] const hw::CoreState& core(unsigned index = 0) { return gpu.core(index).state(); }

  std::vector<std::uint8_t> constants;  // the constant bank of the launches from now on
  isa::DeviceMemory memory;
  hw::Gpu gpu;
  hw::MemoryTarget target;

 private:
  void access(std::uint64_t address, void* data, unsigned bytes, bool write);
  [[nodiscard]] bool try_access(std::uint64_t address, void* data, unsigned bytes, bool write);
  tlm_utils::simple_initiator_socket<GpuBench> host_;
};

// What lies between two sets of counters of one GPU.
[[nodiscard]] hw::Totals difference(const hw::Totals& after, const hw::Totals& before);

// A loop that every thread goes round `rounds` times: the body that `emit` adds, then three instructions (subtract,
// compare, branch). Uses register 15 and predicate 6.
inline constexpr unsigned kLoopInstructions = 3;
template <class Emit>
void add_loop(Code& code, std::uint32_t rounds, Emit emit) {
  code.mov(15, rounds);
  const Code::Pc top = code.here();
  emit();
  code.rri(Op::ADD, 15, 15, ~std::uint32_t{0});
  code.setp(6, isa::Comparison::ne, 15, 0);
  const Code::Pc branch = code.when(6).bra();
  code.aim(branch, top, code.here());
}

}  // namespace heddle::test
