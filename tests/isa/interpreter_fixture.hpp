// Runs a hand-assembled kernel with one output buffer, whose address is the first parameter.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "tests/isa/kernel_builder.hpp"

namespace heddle::isa::test {

struct KernelRun {
  explicit KernelRun(Module module_, Dim3 grid = {}, Dim3 block = {32, 1, 1}, std::size_t words = 0)
      : module(std::move(module_)) {
    launch.kernel = "k";
    launch.grid = grid;
    launch.block = block;
    count = words != 0 ? words : grid.count() * block.count();
    out = memory.allocate("out", 4 * count);
    set_parameters({static_cast<std::uint32_t>(out)});
  }
  explicit KernelRun(const Code& code, Dim3 grid = {}, Dim3 block = {32, 1, 1}, std::size_t words = 0)
      : KernelRun(code.module(), grid, block, words) {}

  void set_parameters(const std::vector<std::uint32_t>& parameters) {
    launch.parameters.resize(4 * parameters.size());
    std::memcpy(launch.parameters.data(), parameters.data(), launch.parameters.size());
    module.kernels[0].parameter_bytes = static_cast<std::uint32_t>(launch.parameters.size());
  }
  InterpreterResult go(const InterpreterOptions& options = {}) {
    result = interpret(module, launch, memory, hash, options);
    return result;
  }
  // The output buffer after a run that must not fault.
  std::vector<std::uint32_t> output(const InterpreterOptions& options = {}) {
    go(options);
    EXPECT_FALSE(result.fault) << describe(*result.fault, module);
    std::vector<std::uint32_t> values(count);
    memory.read(out, std::as_writable_bytes(std::span(values)));
    return values;
  }
  // The message of a run that must fault in this way.
  std::string faults(Fault::Kind kind, const InterpreterOptions& options = {}) {
    go(options);
    if (!result.fault) {
      ADD_FAILURE() << "no fault";
      return {};
    }
    EXPECT_EQ(result.fault->kind, kind) << describe(*result.fault, module);
    return describe(*result.fault, module);
  }

  Module module;
  LaunchRequest launch;
  DeviceMemory memory;
  RetirementHash hash;
  InterpreterResult result;
  std::uint64_t out = 0;
  std::size_t count = 0;
};

}  // namespace heddle::isa::test
