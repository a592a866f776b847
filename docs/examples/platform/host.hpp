// The host of both platforms, plain TLM-2.0: it compiles a kernel from PTX text, writes code and data into memory,
// launches through the GPU's registers, waits for the interrupt, reads the result back and checks it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <systemc>
#include <utility>
#include <vector>

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm>

#include "hw/gpu/gpu.hpp"
#include "hw/gpu/registers.hpp"
#include "isa/launch_image.hpp"
#include "ptx/compile.hpp"

inline constexpr std::uint64_t kMemoryBytes = 1 << 20;
inline constexpr std::uint64_t kCode = 0x1000;
inline constexpr std::uint64_t kX = 0x20000;
inline constexpr std::uint64_t kY = 0x40000;
inline constexpr std::uint32_t kCount = 4096;
inline constexpr std::uint32_t kBlock = 256;

// y[i] = a * x[i] + y[i]
inline const char* const kSaxpy = R"(
.version 7.0
.target sm_50
.address_size 32
.visible .entry saxpy(.param .u32 x, .param .u32 y, .param .f32 a, .param .u32 n)
{
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .pred %p;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  ld.param.u32 %r3, [n];
  setp.ge.u32 %p, %r0, %r3;
  @%p ret;
  ld.param.u32 %r4, [x];
  ld.param.u32 %r5, [y];
  ld.param.f32 %f0, [a];
  shl.b32 %r6, %r0, 2;
  add.u32 %r4, %r4, %r6;
  add.u32 %r5, %r5, %r6;
  ld.global.f32 %f1, [%r4];
  ld.global.f32 %f2, [%r5];
  fma.rn.f32 %f2, %f0, %f1, %f2;
  st.global.f32 [%r5], %f2;
  ret;
}
)";

class Host : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Host);
  tlm_utils::simple_initiator_socket<Host> registers{"registers"};  // of the GPU
  tlm_utils::simple_initiator_socket<Host> memory{"memory"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  bool passed = false;

  explicit Host(const sc_core::sc_module_name& name) : sc_core::sc_module(name) { SC_THREAD(run); }

 private:
  using Offset = heddle::hw::RegisterOffset;

  using Socket = tlm_utils::simple_initiator_socket<Host>;

  void access(Socket& socket, std::uint64_t address, void* data, std::size_t length, tlm::tlm_command command) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(static_cast<unsigned>(length));
    payload.set_streaming_width(static_cast<unsigned>(length));
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_error()) {
      throw std::runtime_error("an access was refused: " + payload.get_response_string());
    }
  }
  void write(Offset offset, std::uint64_t value) {
    access(registers, static_cast<std::uint64_t>(offset), &value, sizeof value, tlm::TLM_WRITE_COMMAND);
  }
  std::uint64_t read(Offset offset) {
    std::uint64_t value = 0;
    access(registers, static_cast<std::uint64_t>(offset), &value, sizeof value, tlm::TLM_READ_COMMAND);
    return value;
  }

  void run() {
    // Code and data.
    heddle::ptx::CompileOptions options;
    options.max_registers = 16;  // so that 1024 threads fit the baseline's register file
    const heddle::isa::Module module = heddle::ptx::compile(kSaxpy, "saxpy.ptx", options);
    const heddle::isa::Kernel& kernel = module.kernels.front();
    std::vector<std::uint64_t> words =
        heddle::isa::code_image(kernel.words, heddle::hw::Machine{}.icache.instruction_bytes);
    access(memory, kCode, words.data(), words.size() * sizeof words[0], tlm::TLM_WRITE_COMMAND);
    std::vector<float> x(kCount);
    std::vector<float> y(kCount, 1.0F);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      x[i] = static_cast<float>(i);
    }
    access(memory, kX, x.data(), x.size() * sizeof x[0], tlm::TLM_WRITE_COMMAND);
    access(memory, kY, y.data(), y.size() * sizeof y[0], tlm::TLM_WRITE_COMMAND);
    // The launch.
    const float a = 2.0F;
    const std::uint64_t arguments[] = {kX, kY, 0, kCount};
    std::vector<unsigned char> parameters(kernel.parameter_bytes);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      std::memcpy(&parameters[kernel.parameters[i].offset], &arguments[i], 4);
    }
    std::memcpy(&parameters[kernel.parameters[2].offset], &a, sizeof a);
    access(registers, heddle::hw::kParameterWindow, parameters.data(), parameters.size(), tlm::TLM_WRITE_COMMAND);
    const std::pair<Offset, std::uint64_t> launch[] = {
        {Offset::code_address, kCode},
        {Offset::code_words, kernel.words.size()},
        {Offset::grid_x, kCount / kBlock},
        {Offset::grid_y, 1},
        {Offset::grid_z, 1},
        {Offset::block_x, kBlock},
        {Offset::block_y, 1},
        {Offset::block_z, 1},
        {Offset::registers, kernel.registers},
        {Offset::shared_bytes, kernel.shared_bytes},
        {Offset::local_bytes, kernel.local_bytes},
        {Offset::parameter_bytes, parameters.size()},
    };
    for (const auto& [offset, value] : launch) {
      write(offset, value);
    }
    write(Offset::control, 1);
    wait(interrupt.posedge_event());

    // The result.
    const std::uint64_t status = read(Offset::status);
    std::printf("status %llu after %llu GPU cycles\n", static_cast<unsigned long long>(status),
                static_cast<unsigned long long>(read(Offset::cycles)));
    passed = status == static_cast<std::uint64_t>(heddle::hw::LaunchStatus::done);
    access(memory, kY, y.data(), y.size() * sizeof y[0], tlm::TLM_READ_COMMAND);
    for (std::uint32_t i = 0; i < kCount; ++i) {
      if (y[i] != a * x[i] + 1.0F) {
        std::printf("y[%u] is %g\n", i, static_cast<double>(y[i]));
        passed = false;
        break;
      }
    }
    std::puts(passed ? "passed" : "failed");
    sc_core::sc_stop();
  }
};
