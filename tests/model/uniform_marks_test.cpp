// The compiler's marks of scalar instructions (ptx/uniformity.hpp) against the registers: random kernels run on the
// model with nothing scalar, every thread for itself, on warps of several sizes; each time a marked instruction is
// decoded for a whole warp, its operands in all threads are compared. A detector that compares operands finds all that
// is marked, then.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "base/set_bits.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "isa/memory_map.hpp"
#include "ptx/compile.hpp"
#include "tb/device/device.hpp"
#include "tests/model/machines.hpp"
#include "tests/random/ptx_generator.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Warps/UniformMarks.*")

namespace heddle {
namespace {

struct Judged {
  std::uint64_t marked = 0, marked_and_different = 0, unmarked_and_different = 0;
  std::string first;  // the first marked one with different operands
};
Judged judged;

// Lets nothing be scalar; looks at everything that could be.
class JudgeOfMarks final : public hw::Scalarisation {
 public:
  static constexpr Traits traits{.finds = true, .needs_marks = true};
  static void cost(const hw::CostShape&, hw::CostLines&) {}
  explicit JudgeOfMarks(const Setup&) {}
  [[nodiscard]] bool same_operands(const link::DecodedInstruction& decoded,
                                   const hw::WarpOperands& operands) const override {
    bool same = true;
    decoded.use.read.each([&](unsigned reg) { same = same && operands.same_word(reg); });
    for (const unsigned predicate : set_bits(decoded.use.predicates_read)) {
      same = same && operands.same_predicate(predicate);
    }
    judged.marked += decoded.instruction.uniform ? 1 : 0;
    if (!same) {
      if (decoded.instruction.uniform && judged.marked_and_different++ == 0) {
        judged.first = isa::disassemble(decoded.instruction);
      }
      judged.unmarked_and_different += decoded.instruction.uniform ? 0 : 1;
    }
    return false;
  }
};

const Register<hw::Scalarisation, JudgeOfMarks> judge_of_marks_entry{"judge-of-marks", "nothing; tests compare marks"};

// Kernels in which values that are equal in all threads and values that are not meet in few registers, in branches and
// loops that threads take together or apart. The programs of tests/random/ mix nearly everything with a thread's input.
class MixedKernel {
 public:
  explicit MixedKernel(std::uint32_t seed) : random_(seed) {}
  std::string text() {
    std::string body;
    statements(body, 8 + below(12), 0);
    std::string out =
        ".version 7.0\n.target sm_60\n.address_size 32\n.visible .entry mixed(.param .u32 out, .param .u32 n)\n{\n"
        "  .reg .b32 %v<8>;\n  .reg .b32 %c<64>;\n  .reg .b32 %a<4>;\n  .reg .pred %p<128>;\n"
        "  ld.param.u32 %v0, [n];\n  mov.u32 %v1, %tid.x;\n  mov.u32 %v2, %ctaid.x;\n  mov.u32 %v3, 5;\n"
        "  mov.u32 %v4, %ntid.x;\n  shr.u32 %v5, %v1, 3;\n  mov.u32 %v6, 1;\n  mov.u32 %v7, 2;\n";
    out += body;
    for (unsigned v = 1; v < kVariables; ++v) out += "  add.u32 %v0, %v0, %v" + std::to_string(v) + ";\n";
    return out +
           "  ld.param.u32 %a0, [out];\n  mov.u32 %a1, %tid.x;\n  shl.b32 %a1, %a1, 2;\n  add.u32 %a0, %a0, %a1;\n"
           "  st.global.u32 [%a0], %v0;\n  ret;\n}\n";
  }

 private:
  static constexpr unsigned kVariables = 8;
  unsigned below(unsigned limit) { return random_() % limit; }
  std::string variable() { return "%v" + std::to_string(below(kVariables)); }
  std::string operand() { return below(3) == 0 ? std::to_string(below(9)) : variable(); }
  std::string condition(std::string& out) {
    static constexpr const char* kCompare[] = {"lt", "ge", "eq", "ne"};
    const std::string predicate = "%p" + std::to_string(predicates_++ % 128);
    out += std::string("  setp.") + kCompare[below(4)] + ".u32 " + predicate + ", " + variable() + ", " +
           std::to_string(below(40)) + ";\n";
    return predicate;
  }
  void statements(std::string& out, unsigned count, unsigned depth) {
    for (unsigned i = 0; i < count; ++i) statement(out, depth);
  }
  void statement(std::string& out, unsigned depth) {
    static constexpr const char* kOperations[] = {"add.u32", "sub.u32", "and.b32", "min.u32", "mul.lo.u32"};
    const unsigned kind = below(depth < 3 ? 9 : 6);
    if (kind < 2) {
      out += "  mov.u32 " + variable() + ", " + operand() + ";\n";
    } else if (kind < 6) {
      const std::string guard = below(4) == 0 ? "@" + condition(out) + " " : "";
      out += "  " + guard + kOperations[below(5)] + " " + variable() + ", " + variable() + ", " + operand() + ";\n";
    } else if (kind < 8) {
      const std::string label = std::to_string(labels_++);
      out += "  @" + condition(out) + " bra ELSE" + label + ";\n";
      statements(out, 1 + below(3), depth + 1);
      out += "  bra.uni END" + label + ";\nELSE" + label + ":\n";
      statements(out, below(3), depth + 1);
      out += "END" + label + ":\n";
    } else {  // a loop of as many rounds as a variable says, which may be the thread's own
      const std::string label = std::to_string(labels_++);
      const std::string counter = "%c" + std::to_string(counters_++ % 64);
      out += "  and.b32 " + counter + ", " + variable() + ", 3;\nLOOP" + label + ":\n";
      statements(out, 1 + below(3), depth + 1);
      const std::string predicate = "%p" + std::to_string(predicates_++ % 128);
      out += "  setp.eq.u32 " + predicate + ", " + counter + ", 0;\n  sub.u32 " + counter + ", " + counter +
             ", 1;\n  @!" + predicate + " bra LOOP" + label + ";\n";
    }
  }
  std::mt19937 random_;
  unsigned predicates_ = 0;
  unsigned labels_ = 0;
  unsigned counters_ = 0;
};

constexpr std::uint64_t kMarksInput = isa::kGlobalBase;
constexpr std::uint64_t kMarksOutput = isa::kGlobalBase + 0x10'0000;

void launch(tb::Device& device, const isa::Module& module, unsigned block, unsigned grid,
            const std::vector<std::uint64_t>& arguments, std::uint64_t output_bytes) {
  device.load(module);
  device.memory().release(kMarksInput);
  device.memory().release(kMarksOutput);
  device.memory().place("in", kMarksInput, 4096);
  device.memory().place("out", kMarksOutput, output_bytes);
  for (std::uint32_t i = 0; i < 1024; ++i) {
    device.memory().put<std::uint32_t>(kMarksInput + 4ULL * i, i % 7 * 0x9e37'79b9U);
  }
  const isa::Kernel& kernel = module.kernels.front();
  isa::LaunchRequest request;
  request.kernel = kernel.name;
  request.block = {block, 1, 1};
  request.grid = {grid, 1, 1};
  request.parameters.resize(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::memcpy(request.parameters.data() + kernel.parameters[i].offset, &arguments[i], kernel.parameters[i].size);
  }
  device.launch(request);
}

void run_random(tb::Device& device, std::uint64_t seed) {
  random_ptx::GeneratorOptions options;
  options.statements = 20 + static_cast<unsigned>(seed % 5) * 15;
  options.modern = seed % 2 == 0;
  const random_ptx::GeneratedProgram program = random_ptx::generate_ptx(seed, options);
  launch(device, ptx::compile(program.text, "random.ptx"), program.block, program.grid,
         {kMarksInput, kMarksOutput, program.input_words}, 4ULL * program.output_words);
}

void run_mixed(tb::Device& device, std::uint64_t seed) {
  ptx::CompileOptions options;
  options.if_conversion = seed % 2 == 0 ? 0 : 8;
  const isa::Module module = ptx::compile(MixedKernel(static_cast<std::uint32_t>(seed)).text(), "mixed.ptx", options);
  launch(device, module, 32 + static_cast<unsigned>(seed % 3) * 80, 2, {kMarksOutput, 7}, 4096);
}

class UniformMarks : public ::testing::TestWithParam<unsigned> {};

TEST_P(UniformMarks, AreOfEqualOperands) {
  hw::Machine machine = test::machines().front();
  // the usual issue: nothing of a warp is in flight when its next instruction is decoded
  machine.core.warp_size = GetParam();
  machine.core.simd_width = std::min(GetParam(), 32U);
  machine.core.scalar = "judge-of-marks";
  tb::Device device(machine);
  judged = {};
  const std::uint64_t first = 2000 + 100 * GetParam();
  for (std::uint64_t seed = first; seed < first + 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_random(device, seed);
    run_mixed(device, 2 * seed);
    run_mixed(device, 2 * seed + 1);
    ASSERT_EQ(judged.marked_and_different, 0U) << judged.first;
  }
  EXPECT_EQ(device.totals().core.scalar_instructions, 0U);
  EXPECT_GT(judged.marked, 1000U);
  EXPECT_GT(judged.unmarked_and_different, 1000U);  // it sees what differs: a wrong mark would be found
}

INSTANTIATE_TEST_SUITE_P(Warps, UniformMarks, ::testing::Values(8U, 32U, 256U), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace heddle
