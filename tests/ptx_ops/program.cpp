#include "tests/ptx_ops/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <span>

#include "base/error.hpp"
#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/post_dominators.hpp"
#include "tests/ptx_ops/kernel_text.hpp"
#include "tests/support/gpu_programs.hpp"

namespace heddle::ptx_ops {
namespace {

std::string text_of(const Program& program, unsigned address_bits) {
  const std::string bits = std::to_string(address_bits);
  const std::string text = header(address_bits) + program.module + "\n.visible .entry main(.param .u" + bits +
                           " input, .param .u" + bits + " output)\n{\n  .reg .u" + bits +
                           " %in, %out;\n  .reg .u32 %tid0, %ctaid0, %ntid0;\n  ld.param.u" + bits +
                           " %in, [input];\n  ld.param.u" + bits +
                           " %out, [output];\n  mov.u32 %tid0, %tid.x;\n  mov.u32 %ctaid0, %ctaid.x;\n"
                           "  mov.u32 %ntid0, %ntid.x;\n  mad.lo.u32 %tid0, %ctaid0, %ntid0, %tid0;\n" +
                           program.body + "\n  ret;\n}\n";
  std::string expanded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "$p") == 0) {
      expanded += bits;
      ++i;
    } else {
      expanded += text[i];
    }
  }
  return expanded;
}

std::vector<u32> run_once(const Program& program, unsigned address_bits, unsigned registers) {
  std::vector<u32> output(program.output_words);
  const std::string text = text_of(program, address_bits);
  isa::Module module;
  try {
    ptx::CompileOptions options;
    options.max_registers = registers;
    module = ptx::compile(text, "program.ptx", options);
  } catch (const InputError& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
    return output;
  }
  for (const isa::Kernel& kernel : module.kernels) EXPECT_EQ(test::check_re_convergence(kernel).wrong, "") << text;
  isa::DeviceMemory memory;
  load_module(module, memory);
  const bool low = address_bits == 32;
  const u64 in = memory.allocate("input", std::max<std::size_t>(program.input.size(), 1) * 4, low);
  const u64 out = memory.allocate("output", std::max<std::size_t>(program.output_words, 1) * 4, low);
  memory.write(in, std::as_bytes(std::span(program.input)));
  const isa::Kernel* kernel = module.find("main");
  isa::LaunchRequest request{
      "main", {program.grid, program.grid_y, program.grid_z}, {program.block, program.block_y, program.block_z}, 0, {}};
  request.parameters.resize(kernel->parameter_bytes);
  std::memcpy(request.parameters.data() + kernel->parameters.at(0).offset, &in, address_bits / 8);
  std::memcpy(request.parameters.data() + kernel->parameters.at(1).offset, &out, address_bits / 8);
  isa::RetirementHash hash;
  isa::InterpreterOptions options;
  options.warp_size = program.warp_size;
  options.max_instructions_per_thread = 1'000'000;
  const isa::InterpreterResult result = interpret(module, request, memory, hash, options);
  EXPECT_FALSE(result.fault) << describe(*result.fault, module) << "\n" << text;
  memory.read(out, std::as_writable_bytes(std::span(output)));
  return output;
}

bool for_gpus(const Program& program) {
  return program.ours_alone.empty() && program.warp_size == 32 && program.grid_y == 1 && program.grid_z == 1 &&
         program.block_y == 1 && program.block_z == 1;
}

}  // namespace

std::vector<u32> run_with_address_bits(const Program& program, unsigned address_bits) {
  const std::vector<u32> output = run_once(program, address_bits, 63);
  EXPECT_EQ(run_once(program, address_bits, 10), output) << address_bits << "-bit addresses, 10 registers";
  return output;
}

std::vector<u32> run(const Program& program) {
  const std::vector<u32> output = run_with_address_bits(program, 32);
  EXPECT_EQ(run_with_address_bits(program, 64), output) << "64-bit addresses";
  if (const auto folder = test::gpu_programs_folder(); folder && for_gpus(program) && !testing::Test::HasFailure()) {
    static unsigned programs = 0;  // of this process, which is one test
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = fmt::format("{}.{}.program-{}", test.test_suite_name(), test.name(), ++programs);
    const auto bytes = [](const std::vector<u32>& words) {
      const auto all = std::as_bytes(std::span(words));
      return std::vector<std::byte>(all.begin(), all.end());
    };
    const std::vector<u32> input = program.input.empty() ? std::vector<u32>(1) : program.input;
    const test::GpuProgram one{name,          "programs",   text_of(program, 64), "main",       program.grid,
                               program.block, bytes(input), bytes(output),        std::nullopt, {}};
    test::write_gpu_programs(*folder, name, {&one, 1});
  }
  return output;
}

}  // namespace heddle::ptx_ops
