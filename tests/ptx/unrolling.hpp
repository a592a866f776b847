// For tests of unrolling: kernels with a buffer, what they compute, and what their code holds.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx/post_dominators.hpp"

namespace heddle::ptx::unrolling {

inline constexpr unsigned kWords = 4096;  // of the buffer

inline isa::Module compiled(const std::string& text, const CompileOptions& options) {
  isa::Module module = compile(text, "k.ptx", options);
  EXPECT_EQ(heddle::test::check_re_convergence(module.kernels.front()).wrong, "") << text;
  return module;
}

inline CompileOptions unrolling() {
  CompileOptions options;
  options.unroll = 4;
  return options;
}

inline std::vector<isa::Instruction> code_of(const isa::Module& module) {
  std::vector<isa::Instruction> code;
  for (const isa::InstructionWord& word : module.kernels.front().words) code.push_back(isa::decode(word).value());
  return code;
}

inline unsigned count(const isa::Module& module, isa::Op op) {
  unsigned found = 0;
  for (const isa::Instruction& instruction : code_of(module)) found += instruction.op == op ? 1U : 0U;
  return found;
}

inline unsigned branches_back(const isa::Module& module) {
  unsigned found = 0;
  std::uint32_t pc = 0;
  for (const isa::Instruction& instruction : code_of(module)) {
    found += instruction.op == isa::Op::BRA && instruction.target <= pc ? 1U : 0U;
    ++pc;
  }
  return found;
}

// What the threads leave in the buffer, and how many instructions their warps took.
struct Ran {
  std::vector<std::uint32_t> words;
  std::uint64_t warp_instructions = 0;
};
// `word_at`: what the buffer has in a word at first.
template <class WordAt>
Ran ran(const isa::Module& module, unsigned threads, WordAt word_at) {
  isa::DeviceMemory memory;
  isa::load_module(module, memory);
  const std::uint64_t buffer = memory.allocate("buffer", 4 * kWords, false);
  for (unsigned i = 0; i < kWords; ++i) memory.put<std::uint32_t>(buffer + 4 * i, word_at(i));
  isa::LaunchRequest launch;
  launch.kernel = "k";
  launch.block = {threads, 1, 1};
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &buffer, 8);
  isa::RetirementHash hash;
  isa::InterpreterOptions limits;
  limits.max_instructions_per_thread = 1'000'000;
  const isa::InterpreterResult result = isa::interpret(module, launch, memory, hash, limits);
  if (result.fault) ADD_FAILURE() << isa::describe(*result.fault, module);
  Ran values;
  values.warp_instructions = result.warp_instructions;
  values.words.resize(kWords);
  memory.read(buffer, std::as_writable_bytes(std::span(values.words)));
  return values;
}

// Of 64 threads.
inline std::vector<std::uint32_t> words_of(const isa::Module& module) {
  return ran(module, 64, [](unsigned i) { return 77 * i * i + 1001 * i + 5; }).words;
}

// %r1: thread. %rd1: buffer, %rd2: the thread's word in it. Scratchpad of 512 words from `s` on.
inline std::string kernel_of(const std::string& body) {
  return ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 buffer) {\n"
         ".reg .pred %p<12>; .reg .b32 %r<70>; .reg .b64 %rd<90>; .reg .f32 %f<9>; .shared .align 4 .b32 s[512];\n"
         "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [buffer]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd1, %rd3;\n" +
         body + "\nexit; }\n";
}

}  // namespace heddle::ptx::unrolling
