// A CUDA host program in C++: compiles saxpy.cu, fills device memory, launches, and looks at what came out.
//   host SAXPY.cu [CONFIG [section.key=value...]]
#include <cstdint>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "cuda/compiler/cuda_compiler.hpp"
#include "ptx/compile.hpp"
#include "tb/config/config.hpp"
#include "tb/device/arguments.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"

namespace {

constexpr unsigned kAddressBits = 32;
constexpr std::uint32_t kElements = 5000;
constexpr std::uint32_t kBlock = 256;
constexpr float kFactor = 2.0F;

std::uint64_t upload(heddle::isa::DeviceMemory& memory, const std::string& name, const std::vector<float>& values) {
  const std::uint64_t address = memory.allocate(name, values.size() * sizeof(float));
  memory.write(address, std::as_bytes(std::span(values)));
  return address;
}

int run(const std::string& kernel_file, const heddle::hw::Machine& machine) {
  const heddle::ptx::CompileOptions options(heddle::tb::code_options(machine));
  const std::string ptx = heddle::cuda::compile_cuda(kernel_file, kAddressBits);
  heddle::tb::Device device(machine);
  device.load(heddle::ptx::compile(ptx, "saxpy.ptx", options));

  std::vector<float> x(kElements);
  std::vector<float> y(kElements);
  for (std::uint32_t i = 0; i < kElements; ++i) {
    x[i] = static_cast<float>(i) / 2;
    y[i] = static_cast<float>(kElements - i);
  }
  const std::uint64_t x_address = upload(device.memory(), "x", x);
  const std::uint64_t y_address = upload(device.memory(), "y", y);
  heddle::tb::Arguments arguments(device.module(), "saxpy");
  arguments.pointer(x_address).pointer(y_address).value(kFactor).value(kElements);
  device.launch({"saxpy", {(kElements + kBlock - 1) / kBlock}, {kBlock}, 0, arguments.bytes()});

  std::vector<float> result(kElements);
  device.memory().read(y_address, std::as_writable_bytes(std::span(result)));
  for (std::uint32_t i = 0; i < kElements; ++i) {
    if (result[i] != kFactor * x[i] + y[i]) {  // whole and half numbers: exact
      std::cerr << "y[" << i << "] is " << result[i] << "\n";
      return 1;
    }
  }
  const heddle::hw::Totals totals = device.totals();
  std::cout << "saxpy of " << kElements << " floats on " << machine.name << ": " << totals.cycles << " cycles, "
            << totals.core.warp_instructions << " warp instructions\n";
  return 0;
}

}  // namespace

int sc_main(int count, char** words) {
  if (count < 2) {
    std::cerr << "host SAXPY.cu [CONFIG [section.key=value...]]\n";
    return 2;
  }
  try {
    heddle::hw::Machine machine;  // the baseline, without a file
    if (count > 2) {
      machine = heddle::tb::read_machine(words[2], {words + 3, words + count});
    }
    return run(words[1], machine);
  } catch (const std::exception& error) {
    std::cerr << "host: " << error.what() << "\n";
    return 2;
  }
}
