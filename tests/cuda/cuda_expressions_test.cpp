// What clang and the PTX compiler make of C++ computes what another compiler's code computes: random expressions, on
// the reference interpreter and in a program for the host. HEDDLE_RANDOM_SEED=n takes others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "cuda/compiler/cuda_compiler.hpp"
#include "os/process/child_process.hpp"
#include "ptx/compile.hpp"
#include "tests/cuda/expressions.hpp"
#include "tests/ptx/post_dominators.hpp"
#include "tests/support/launch_folder.hpp"
#include "tests/support/marks.hpp"
#include "workloads/support.hpp"

HEDDLE_LONG("AddressBits/CudaExpressions.*/32")
HEDDLE_LONG_SANITIZED("AddressBits/CudaExpressions.*")

namespace heddle::cuda {
namespace {

using test::ExpressionInput;
using test::Expressions;

constexpr unsigned kEach = 500;      // expressions of a program
constexpr unsigned kOfAKernel = 20;  // of those, in one kernel
constexpr unsigned kInputs = 64;     // on which they are evaluated: a thread each

struct Program {
  std::vector<std::string> functions;
  std::vector<ExpressionInput> inputs;
  std::string device, host;
};

Program random_program(std::uint64_t seed) {
  Expressions random(seed);
  Program program;
  std::string functions;
  for (unsigned i = 0; i < kEach; ++i) functions += program.functions.emplace_back(random.function(i));
  for (unsigned i = 0; i < kInputs; ++i) program.inputs.push_back(random.input());
  program.device = "#define FUNCTION __device__\nnamespace random_cpp {\n" + Expressions::prelude() + functions;
  program.host = "#include <cstdio>\n#define FUNCTION\n" + Expressions::prelude() + functions +
                 fmt::format(
                     "static Input in[{0}]; static u64 out[{1} * {0}];\n"
                     "int main(int, char** names) {{\n"
                     "  std::FILE* file = std::fopen(names[1], \"rb\");\n"
                     "  if (!file || std::fread(in, sizeof in, 1, file) != 1) return 1;\n"
                     "  for (u32 t = 0; t < {0}; ++t) {{\n",
                     kInputs, kEach);
  for (unsigned i = 0; i < kEach; ++i) {
    if (i % kOfAKernel == 0) {
      program.device += fmt::format("extern \"C\" __global__ void k{}(const Input* in, u64* out) {{\n", i / kOfAKernel);
    }
    program.device += fmt::format("  e{0}(in[threadIdx.x], out + {0} * {1} + threadIdx.x);\n", i, kInputs);
    if (i % kOfAKernel == kOfAKernel - 1) program.device += "}\n";
    program.host += fmt::format("    e{0}(in[t], out + {0} * {1} + t);\n", i, kInputs);
  }
  program.host +=
      "  }\n  file = std::fopen(names[2], \"wb\");\n"
      "  return !file || std::fwrite(out, sizeof out, 1, file) != 1 || std::fclose(file) != 0;\n}\n";
  program.device += "}\n";
  return program;
}

std::vector<std::uint64_t> on_host(const Program& program, const test::LaunchFolder& folder) {
  folder.write("host.cpp", program.host);
  folder.write("in",
               {reinterpret_cast<const char*>(program.inputs.data()), program.inputs.size() * sizeof(ExpressionInput)});
  const std::string at = folder.path();
  const auto run = [](const std::vector<std::string>& words) {
    const os::Finished finished = os::run_program(words);
    EXPECT_TRUE(finished.end.good()) << words.front() << ": " << finished.end.text() << "\n" << finished.err;
  };
  run({HEDDLE_CXX, "-w", "-O0", "-ffp-contract=off", "-o", at + "/host", at + "/host.cpp"});
  run({at + "/host", at + "/in", at + "/out"});
  const std::string out = folder.read("out");
  std::vector<std::uint64_t> values(kEach * kInputs);
  EXPECT_EQ(out.size(), values.size() * 8);
  std::memcpy(values.data(), out.data(), std::min(out.size(), values.size() * 8));
  return values;
}

std::vector<std::uint64_t> on_device(const Program& program, const test::LaunchFolder& folder, unsigned address_bits) {
  folder.write("device.cu", program.device);
  const isa::Module module = ptx::compile(compile_cuda(folder.path("device.cu"), address_bits), "device.ptx");
  for (const isa::Kernel& kernel : module.kernels) EXPECT_EQ(heddle::test::check_re_convergence(kernel).wrong, "");
  tb::ReferenceExecutor executor;
  executor.load(module);
  isa::DeviceMemory& memory = executor.memory();
  std::vector<std::uint64_t> values(kEach * kInputs);
  const std::uint64_t in = memory.allocate("in", program.inputs.size() * sizeof(ExpressionInput), address_bits == 32);
  const std::uint64_t out = memory.allocate("out", values.size() * 8, address_bits == 32);
  memory.write(in, std::as_bytes(std::span(program.inputs)));
  for (unsigned k = 0; k < kEach / kOfAKernel; ++k) {
    const std::string name = fmt::format("k{}", k);
    tb::Arguments arguments(executor.module(), name.c_str());
    arguments.pointer(in);
    arguments.pointer(out);
    executor.launch({name, {1}, {kInputs}, 0, arguments.bytes()});
  }
  memory.read(out, std::as_writable_bytes(std::span(values)));
  return values;
}

class CudaExpressions : public ::testing::TestWithParam<unsigned> {};

TEST_P(CudaExpressions, EqualTheHosts) {
  const char* const seed = std::getenv("HEDDLE_RANDOM_SEED");
  const Program program = random_program(seed != nullptr ? std::strtoull(seed, nullptr, 10) : GetParam());
  const test::LaunchFolder folder;
  const std::vector<std::uint64_t> got = on_device(program, folder, GetParam());
  const std::vector<std::uint64_t> expected = on_host(program, folder);
  unsigned wrong = 0;
  for (std::size_t i = 0; i < expected.size() && wrong < 5; ++i) {
    if (got[i] == expected[i]) continue;
    ++wrong;
    ADD_FAILURE() << fmt::format("input {}: {:#x} instead of {:#x}: {}", i % kInputs, got[i], expected[i],
                                 program.functions[i / kInputs]);
    i += kInputs - i % kInputs - 1;  // on to the next expression
  }
  // What clang makes of a rotate depends on its version.
  for (const char* rotate : {"rotl<u64>(", "rotr<u64>(", "rotl<i64>(", "rotr<i64>(", "rotl_unless_0<u64>("}) {
    EXPECT_NE(program.device.find(rotate, Expressions::prelude().size()), std::string::npos) << rotate;
  }
}

INSTANTIATE_TEST_SUITE_P(AddressBits, CudaExpressions, ::testing::Values(32U, 64U));

}  // namespace
}  // namespace heddle::cuda
