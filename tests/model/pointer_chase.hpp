// Pointer chases of one thread on a machine, beside latencies that were measured on hardware.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "isa/device_memory.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tests/model/child.hpp"

namespace heddle::test {

// One thread follows pointers, of which each load needs the one before, in passes of ROUNDS x 8 loads. Its own clock
// times the last one, whose instructions have been fetched by then.
inline constexpr const char* kChase = R"(
.version 8.0
.target sm_90
.address_size @BITS
.visible .entry chase(.param .u@BITS first, .param .u@BITS out, .param .u32 passes, .param .u32 rounds)
{
  .reg .pred %p<4>;
  .reg .u32 %r<8>;
  .reg .u@BITS %a<8>;
  .reg .u64 %t<4>;
  ld.param.u@BITS %a0, [first];
  ld.param.u@BITS %a1, [out];
  ld.param.u32 %r0, [passes];
  @BEGIN
PASS:
  ld.param.u32 %r1, [rounds];
  add.u@BITS %a2, %a0, 1;
  mov.u64 %t0, %clock64;
ROUND:
  @LOADS
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra ROUND;
  add.u@BITS %a3, %a0, 1;
  mov.u64 %t1, %clock64;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra PASS;
  sub.u64 %t2, %t1, %t0;
  st.global.u64 [%a1], %t2;
  st.global.u@BITS [%a1+8], %a3;
  st.global.u@BITS [%a1+16], %a2;
  ret;
}
)";

struct Chase {
  const char* load;
  unsigned lines;    // in random order, in a circle
  unsigned spacing;  // bytes from one to the next
  unsigned loads;    // of a pass
  unsigned passes;
  unsigned address_bits = 64;
  const char* begin = "";              // what stands before the first pass
  bool as_the_machine_has_it = false;  // compiled
};
// One thread; the 64 bits that it stores at `out`.
inline std::uint64_t stored_by_one_thread(tb::Device& device, const char* kernel, std::vector<std::uint8_t> parameters,
                                          std::uint64_t out) {
  isa::LaunchRequest request;
  request.kernel = kernel;
  request.block = request.grid = {1, 1, 1};
  request.parameters = std::move(parameters);
  device.launch(request);
  std::uint64_t stored = 0;
  device.memory().read(out, std::as_writable_bytes(std::span(&stored, 1)));
  return stored;
}

// Kernel parameters, one behind the other.
class ParameterBytes {
 public:
  ParameterBytes& add(const void* value, std::size_t bytes) {
    const auto* const from = static_cast<const std::uint8_t*>(value);
    bytes_.insert(bytes_.end(), from, from + bytes);
    return *this;
  }
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

// Cycles per load of the last pass.
inline double follow(const hw::Machine& machine, const Chase& chase) {
  const std::string counted = test::in_child([&] {
    constexpr unsigned kUnrolled = 8;
    std::string loads;
    for (unsigned i = 0; i != kUnrolled; ++i) {
      loads += chase.load;
    }
    std::string text = kChase;
    text.replace(text.find("@LOADS"), 6, loads);
    text.replace(text.find("@BEGIN"), 6, chase.begin);
    for (std::size_t at = text.find("@BITS"); at != std::string::npos; at = text.find("@BITS")) {
      text.replace(at, 5, std::to_string(chase.address_bits));
    }
    ptx::CompileOptions options;
    if (chase.as_the_machine_has_it) {
      options = ptx::CompileOptions(tb::code_options(machine));
    }
    tb::Device device(machine);
    const isa::Module module = ptx::compile(text, "chase.ptx", options);
    device.load(module);
    const std::uint64_t first = isa::kGlobalBase;
    const std::uint64_t bytes = std::uint64_t{chase.lines} * chase.spacing;
    const std::uint64_t out = first + bytes + 4096;
    device.memory().release(first);
    device.memory().place("chain", first, bytes + 8192);
    std::vector<unsigned> order(chase.lines);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
    for (unsigned i = 0; i != chase.lines; ++i) {
      const std::uint64_t next = first + std::uint64_t{order[(i + 1) % chase.lines]} * chase.spacing;
      device.memory().write(first + std::uint64_t{order[i]} * chase.spacing, std::as_bytes(std::span(&next, 1)));
    }
    const unsigned rounds = chase.loads / kUnrolled;
    ParameterBytes parameters;
    parameters.add(&first, chase.address_bits / 8).add(&out, chase.address_bits / 8);
    parameters.add(&chase.passes, 4).add(&rounds, 4);
    const std::uint64_t cycles = stored_by_one_thread(device, "chase", parameters.take(), out);
    return fmt::format("{:.1f}", static_cast<double>(cycles) / chase.loads);
  });
  return std::stod(counted);
}

// docs/gpus.md, which has tables that tests compute.
inline std::string gpus_page() {
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/docs/gpus.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace heddle::test
