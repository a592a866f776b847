// A CUDA file compiled by clang for 32- or 64-bit addresses, with its points of re-convergence checked, and run on the
// reference interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cuda/compiler/cuda_compiler.hpp"
#include "isa/device_memory.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/post_dominators.hpp"
#include "tests/support/launch_folder.hpp"
#include "workloads/support.hpp"

namespace heddle::test {

class CheckedCuda : public ::testing::TestWithParam<unsigned> {
 protected:
  void compile(const std::string& source) {
    folder_.write("k.cu", source);
    const isa::Module module = ptx::compile(cuda::compile_cuda(folder_.path("k.cu"), GetParam()), "k.ptx");
    for (const isa::Kernel& kernel : module.kernels) EXPECT_EQ(heddle::test::check_re_convergence(kernel).wrong, "");
    executor_.load(module);
  }
  std::uint64_t allocate(const std::string& name, std::uint64_t bytes) {
    return executor_.memory().allocate(name, bytes, GetParam() == 32);
  }
  template <class T>
  std::uint64_t upload(const std::string& name, const std::vector<T>& values) {
    const std::uint64_t address = allocate(name, values.size() * sizeof(T));
    executor_.memory().write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <class T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    executor_.memory().read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }
  void launch(isa::Dim3 grid, isa::Dim3 block, const std::vector<std::uint64_t>& pointers, const char* kernel = "k") {
    tb::Arguments arguments(executor_.module(), kernel);
    for (const std::uint64_t pointer : pointers) {
      arguments.pointer(pointer);
    }
    isa::LaunchRequest request{kernel, grid, block, 0, arguments.bytes()};
    executor_.launch(request);
  }

  LaunchFolder folder_;
  tb::ReferenceExecutor executor_;
};

}  // namespace heddle::test
