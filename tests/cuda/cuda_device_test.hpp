// A CUDA file compiled by clang for 32- or 64-bit addresses and run on the reference interpreter.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "cuda/compiler/cuda_compiler.hpp"
#include "isa/device_memory.hpp"
#include "ptx/compile.hpp"
#include "tests/support/launch_folder.hpp"
#include "workloads/support.hpp"

namespace heddle::test {

class CudaOnReference : public ::testing::TestWithParam<unsigned> {
 protected:
  void compile(const std::string& source) {
    folder_.write("k.cu", source);
    executor_.load(ptx::compile(cuda::compile_cuda(folder_.path("k.cu"), GetParam()), "k.ptx"));
    executor_.on_print([this](const std::string& text) { printed_ += text; });
  }
  template <class T>
  std::uint64_t upload(const std::string& name, const std::vector<T>& values) {
    const std::uint64_t address = executor_.memory().allocate(name, values.size() * sizeof(T), GetParam() == 32);
    executor_.memory().write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <class T>
  std::vector<T> download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    executor_.memory().read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }
  void launch(isa::Dim3 grid, isa::Dim3 block, const std::vector<std::uint64_t>& pointers) {
    tb::Arguments arguments(executor_.module(), "k");
    for (const std::uint64_t pointer : pointers) arguments.pointer(pointer);
    executor_.launch({"k", grid, block, 0, arguments.bytes()});
  }

  LaunchFolder folder_;
  tb::ReferenceExecutor executor_;
  std::string printed_;
};

}  // namespace heddle::test
