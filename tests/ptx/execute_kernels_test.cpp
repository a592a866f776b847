// Kernels from CUDA C++ through the whole front end, run by the reference interpreter at several register limits and
// warp sizes, against values computed here.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/post_dominators.hpp"

namespace heddle::ptx {
namespace {

struct Setting {
  unsigned address_bits;
  unsigned registers;
  unsigned warp;
};

class ExecuteKernels : public testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    CompileOptions options;
    options.max_registers = GetParam().registers;
    module_ = compile_file(std::string(HEDDLE_SOURCE_DIR) + "/tests/ptx/kernels/kernels." +
                               std::to_string(GetParam().address_bits) + ".ptx",
                           options);
    for (const isa::Kernel& kernel : module_.kernels) EXPECT_EQ(heddle::test::check_re_convergence(kernel).wrong, "");
    isa::load_module(module_, memory_);
  }

  template <class T>
  std::uint64_t buffer(const std::vector<T>& values) {
    const std::uint64_t address = memory_.allocate("buffer", values.size() * sizeof(T));
    memory_.write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <class T>
  std::vector<T> contents(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    memory_.read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }

  void argument(const void* value, std::size_t size) {
    const isa::Parameter& parameter = kernel_->parameters.at(next_++);
    ASSERT_EQ(parameter.size, size) << parameter.name;
    std::memcpy(launch_.parameters.data() + parameter.offset, value, size);
  }
  void pointer(std::uint64_t address) { argument(&address, GetParam().address_bits / 8); }
  template <class T>
  void scalar(T value) {
    argument(&value, sizeof value);
  }

  void begin(const std::string& name, isa::Dim3 grid, isa::Dim3 block) {
    kernel_ = module_.find(name);
    ASSERT_NE(kernel_, nullptr);
    EXPECT_LE(kernel_->registers, GetParam().registers);
    launch_ = {name, grid, block, 0, std::vector<std::uint8_t>(kernel_->parameter_bytes)};
    next_ = 0;
  }
  void run() {
    isa::InterpreterOptions options;
    options.warp_size = GetParam().warp;
    isa::RetirementHash hash;
    const isa::InterpreterResult result = isa::interpret(module_, launch_, memory_, hash, options);
    ASSERT_FALSE(result.fault) << isa::describe(*result.fault, module_);
  }

  isa::Module module_;
  isa::DeviceMemory memory_;
  const isa::Kernel* kernel_ = nullptr;
  isa::LaunchRequest launch_;
  std::size_t next_ = 0;
  std::mt19937 random_{7};
};

TEST_P(ExecuteKernels, Saxpy) {
  std::vector<float> x(300), y(300), expected(300);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) * 0.5F;
    y[i] = static_cast<float>(i % 7);
    expected[i] = 2.5F * x[i] + y[i];
  }
  expected[299] = y[299];  // n is 299
  const std::uint64_t at_x = buffer(x), at_y = buffer(y);
  begin("saxpy", {5, 1, 1}, {64, 1, 1});
  pointer(at_x);
  pointer(at_y);
  scalar(2.5F);
  scalar(299U);
  run();
  EXPECT_EQ(contents<float>(at_y, 300), expected);
}

TEST_P(ExecuteKernels, Collatz) {
  std::vector<std::uint32_t> in(200), expected;
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<std::uint32_t>(i) + 1;
    std::uint32_t x = in[i], count = 0;
    while (x != 1 && count < 1000) {
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
      ++count;
      if (x == 13) break;
    }
    expected.push_back(count);
  }
  const std::uint64_t at_in = buffer(in), at_out = buffer(std::vector<std::uint32_t>(200));
  begin("collatz", {4, 1, 1}, {64, 1, 1});
  pointer(at_in);
  pointer(at_out);
  scalar(200U);
  run();
  EXPECT_EQ(contents<std::uint32_t>(at_out, 200), expected);
}

TEST_P(ExecuteKernels, Mixed) {
  constexpr unsigned kCount = 70;
  std::vector<double> in(kCount), expected(kCount);
  std::vector<std::int64_t> k(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    in[i] = 0.1 * i - 3;
    k[i] = static_cast<std::int32_t>(random_()) * std::int64_t{1 << 20} + 5;
  }
  for (unsigned i = 0; i < kCount; ++i) {
    double a[8], s = 0;
    for (unsigned j = 0; j < 8; ++j) a[j] = in[(i + j) % kCount] * j;
    std::int64_t q = k[i];
    for (unsigned j = 0; j < 8; ++j) {
      s += a[(q >> j) & 7];
      q = static_cast<std::int64_t>(static_cast<std::uint64_t>(q) * 3 + j);  // wraps as the kernel's does
    }
    expected[i] = s + static_cast<double>(q);
  }
  const std::uint64_t at_in = buffer(in), at_out = buffer(std::vector<double>(kCount)), at_k = buffer(k);
  begin("mixed", {3, 1, 1}, {32, 1, 1});
  pointer(at_in);
  pointer(at_out);
  pointer(at_k);
  scalar(kCount);
  run();
  EXPECT_EQ(contents<double>(at_out, kCount), expected);
}

TEST_P(ExecuteKernels, TiledMatrixMultiply) {
  constexpr unsigned kSide = 32;
  std::vector<std::uint32_t> a(kSide * kSide), b(kSide * kSide), expected(kSide * kSide);
  for (std::uint32_t& value : a) value = random_();
  for (std::uint32_t& value : b) value = random_();
  for (unsigned row = 0; row < kSide; ++row) {
    for (unsigned column = 0; column < kSide; ++column) {
      for (unsigned i = 0; i < kSide; ++i) expected[row * kSide + column] += a[row * kSide + i] * b[i * kSide + column];
    }
  }
  const std::uint64_t at_a = buffer(a), at_b = buffer(b), at_c = buffer(expected);
  memory_.put(at_c, std::array<std::uint32_t, kSide * kSide>{});
  begin("tiled", {2, 2, 1}, {16, 16, 1});
  pointer(at_a);
  pointer(at_b);
  pointer(at_c);
  scalar(kSide);
  run();
  EXPECT_EQ(contents<std::uint32_t>(at_c, kSide * kSide), expected);
}

TEST_P(ExecuteKernels, Vectors) {
  constexpr unsigned kCount = 50;
  std::vector<float> in(4 * kCount), expected(4 * kCount);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * i % 101);
  for (std::size_t i = 0; i < kCount; ++i) {
    for (std::size_t e = 0; e < 4; ++e) expected[4 * i + e] = in[4 * i + e] + in[4 * (kCount - 1 - i) + (e + 1) % 4];
  }
  const std::uint64_t at_in = buffer(in), at_out = buffer(std::vector<float>(4 * kCount));
  begin("turned", {1, 1, 1}, {64, 1, 1});
  pointer(at_in);
  pointer(at_out);
  scalar(kCount);
  run();
  EXPECT_EQ(contents<float>(at_out, 4 * kCount), expected);
}

INSTANTIATE_TEST_SUITE_P(Limits, ExecuteKernels,
                         testing::Values(Setting{32, 63, 32}, Setting{32, 16, 32}, Setting{32, 8, 7},
                                         Setting{64, 63, 32}, Setting{64, 16, 1}, Setting{64, 10, 32},
                                         Setting{64, 8, 32}));

// The papers give a thread 16 registers: what these kernels need must not grow unnoticed.
TEST(RegisterNeed, OfKernelsInThirtyTwoBitCode) {
  const isa::Module module = compile_file(std::string(HEDDLE_SOURCE_DIR) + "/tests/ptx/kernels/kernels.32.ptx");
  EXPECT_LE(module.find("saxpy")->registers, 8U);
  EXPECT_LE(module.find("collatz")->registers, 8U);
  CompileOptions papers;
  papers.max_registers = 16;
  const isa::Module narrow = compile_file(std::string(HEDDLE_SOURCE_DIR) + "/tests/ptx/kernels/kernels.32.ptx", papers);
  EXPECT_EQ(narrow.find("tiled")->spilled_registers, 0U);
}

}  // namespace
}  // namespace heddle::ptx
