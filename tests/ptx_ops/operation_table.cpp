#include "tests/ptx_ops/operation_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "base/error.hpp"
#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx_ops/kernel_text.hpp"
#include "tests/ptx_ops/operand_values.hpp"
#include "tests/support/gpu_programs.hpp"

namespace heddle::ptx_ops {
namespace {

// Few registers make the kernels of several rows spill.
constexpr Form kForms[] = {
    {"plain, 32-bit addresses", 32, 63, 1},
    {"four rows in 10 registers, upper halves dirty, 64-bit addresses", 64, 10, 4, true, false, true},
    {"guarded, result in the first operand's register", 32, 63, 1, true, true, false, 0},
    {"guarded, result in the second operand's register", 64, 63, 1, false, true, false, 1},
    {"third operand's register", 32, 10, 2, true, false, true, 2},
    {"first operand constant", 64, 63, 1, false, false, false, 1, 0},
    {"second operand constant", 32, 63, 1, true, false, true, 0, 1},
    {"third operand constant", 64, 63, 1, true, false, false, 0, 2},
    {"fourth operand constant", 32, 63, 1, false, true, false, 0, 3},
    {"both operands in one register", 64, 10, 3, true, false, false, kNoOperand, kNoOperand, true},
    {"one register for both operands and the result", 32, 63, 1, false, true, true, 0, kNoOperand, true},
    {"all operands constant", 32, 63, 1, false, false, false, kNoOperand, kEveryOperand},
};
constexpr const char* kDivisions[] = {"div.", "rem.", "rcp.", "sqrt.", "rsqrt.", "ex2.", "lg2."};
constexpr unsigned kReported = 6;       // failures of one form
constexpr unsigned kEdgeThreads = 768;  // the other threads get random operands too

// HEDDLE_OPERATION_SEED=n: other random operands than usual.
u64 seed() {
  const char* text = std::getenv("HEDDLE_OPERATION_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10) * 1000003;
}

using Slots = std::vector<std::array<u64, 4>>;  // per thread, operands or results

// Edge values against edge values (as many pairs as fit), then random ones among them.
Slots operands_of(const Row& row, std::mt19937_64& random) {
  Slots slots(kThreads);
  const auto pick = [&](Kind kind) {
    const std::vector<u64>& edges = edge_values(kind);
    return random() % 2 == 0 ? edges[random() % edges.size()] : random_value(kind, random);
  };
  std::size_t combinations = 1;
  for (const Kind kind : row.in) combinations *= edge_values(kind).size();
  const bool few = row.in.size() <= 2;
  const std::size_t start = combinations <= kEdgeThreads ? 0 : random() % combinations;
  const std::size_t step = combinations <= kEdgeThreads ? 1 : 7919;  // a prime: pairs from all over
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    const bool edge = few && thread < std::min<std::size_t>(combinations, kEdgeThreads);
    std::size_t rest = (start + thread * step) % combinations;
    for (std::size_t i = 0; i < row.in.size(); ++i) {
      const std::vector<u64>& edges = edge_values(row.in[i]);
      slots[thread][i] = edge ? edges[rest % edges.size()] : pick(row.in[i]);
      rest /= edges.size();
    }
    // Sums that cancel all but the last bits.
    if (row.in.size() == 3 && row.in[0] == Kind::f32_ && row.in[2] == Kind::f32_ && thread % 5 == 0) {
      slots[thread][2] = to_slot(-(from_slot<float>(slots[thread][0]) * from_slot<float>(slots[thread][1])));
    }
    if (row.in.size() == 3 && row.in[0] == Kind::f64_ && row.in[2] == Kind::f64_ && thread % 5 == 0) {
      slots[thread][2] = to_slot(-(from_slot<double>(slots[thread][0]) * from_slot<double>(slots[thread][1])));
    }
  }
  return slots;
}

u64 truncated(Kind kind, u64 slot) {
  const unsigned bits = 8 * size_of(kind);
  return bits == 64 ? slot : slot & ((u64{1} << bits) - 1);
}

// Floats of one sign are ordered as their bits are.
bool agree(Kind kind, u64 found, u64 expected, u64 ulps) {
  if (found == expected) return true;
  if (ulps == 0 || (kind != Kind::f32_ && kind != Kind::f64_)) return false;
  const bool single = kind == Kind::f32_;
  const u64 infinity = single ? 0x7f800000U : 0x7ff0000000000000U;
  const u64 sign = single ? 0x80000000U : u64{1} << 63U;
  if ((found & ~sign) > infinity || (expected & ~sign) > infinity) return false;
  if ((found & sign) != (expected & sign)) return (found & ~sign) + (expected & ~sign) <= ulps;
  return (found > expected ? found - expected : expected - found) <= ulps;
}

bool divides(const Row& row) {
  return std::any_of(std::begin(kDivisions), std::end(kDivisions),
                     [&](const char* opcode) { return row.text.starts_with(opcode); });
}
bool is_approximate(const Row& row) {
  return row.text.find(".approx") != std::string::npos || row.text.find(".full") != std::string::npos;
}
// Neither zero nor infinite nor NaN.
bool has_neighbours(Kind kind, u64 slot) {
  if (kind == Kind::f32_) return std::isfinite(from_slot<float>(slot)) && from_slot<float>(slot) != 0;
  return kind == Kind::f64_ && std::isfinite(from_slot<double>(slot)) && from_slot<double>(slot) != 0;
}

struct Rows {
  std::vector<Placed> placed;
  std::vector<Slots> operands;
  std::size_t in_slots = 0, out_slots = 0;
};

class FormRun {
 public:
  // `software`: divisions, reciprocals and roots as code, and only the rows that it is about; what is approximate may
  // be by two more steps off.
  FormRun(const Rows& rows, const Form& form, bool software = false) : rows_(rows), form_(form), software_(software) {}

  // The one row as a program for a GPU; call run() before.
  [[nodiscard]] test::GpuProgram program(const std::string& name) const {
    const Placed& placed = rows_.placed.front();
    test::GpuProgram out{name, "operations", text_, names_.front(), kThreads / kBlock, kBlock, {}, {}, {}, {}};
    out.input.resize(rows_.in_slots * 8 * kThreads);
    out.output.resize(rows_.out_slots * 8 * kThreads);
    memory_.read(in_, out.input);
    memory_.read(out_, out.output);
    for (std::size_t o = 0; o < placed.row->out.size(); ++o) {
      const Kind kind = placed.row->out[o];
      const bool approximate = placed.row->ulps != 0 && (kind == Kind::f32_ || kind == Kind::f64_);
      const std::string bits = std::to_string(8 * std::max(size_of(kind), 4U));  // those of 16 lie in words
      out.parts.push_back({"result " + std::to_string(o), (placed.out_slot + o) * 8 * kThreads, kThreads, 8,
                           (approximate ? "f" : "b") + bits, approximate ? placed.row->ulps : 0});
    }
    return out;
  }

  void run() {
    compile();
    if (names_.empty()) return;
    load_module(module_, memory_);
    in_ = memory_.allocate("input", rows_.in_slots * 8 * kThreads);
    out_ = memory_.allocate("output", rows_.out_slots * 8 * kThreads);
    std::mt19937_64 random(5);
    for (std::size_t r : chosen_) write_operands(rows_.placed[r], rows_.operands[r], random);
    for (const std::string& name : names_) launch(name);
    for (std::size_t r : chosen_) compare(rows_.placed[r], rows_.operands[r]);
  }

 private:
  void compile() {
    for (std::size_t r = 0; r < rows_.placed.size(); ++r) {
      const Row& row = *rows_.placed[r].row;
      bool immediate = form_.immediate == kNoOperand;
      for (std::size_t i = 0; i < row.in.size(); ++i) immediate = immediate || is_immediate(row, form_, i);
      const bool one = row.in.size() < 2;
      const bool pointless = (form_.alias == 1 && one) || (form_.same && (one || !is_same(row, form_, 1)));
      if (immediate && !pointless && (!software_ || divides(row))) chosen_.push_back(r);
    }
    text_ = header(form_.address_bits);
    for (std::size_t first = 0; first < chosen_.size(); first += form_.rows) {
      std::vector<Placed> group;
      for (std::size_t i = first; i < std::min<std::size_t>(first + form_.rows, chosen_.size()); ++i) {
        group.push_back(rows_.placed[chosen_[i]]);
      }
      names_.push_back("k" + std::to_string(first));
      text_ += kernel(names_.back(), group, form_);
    }
    ptx::CompileOptions options;
    options.max_registers = form_.registers;
    options.software_division = software_;
    try {
      module_ = ptx::compile(text_, "table.ptx", options);
    } catch (const InputError& error) {
      ADD_FAILURE() << form_.name << ": " << error.what() << "\n" << line_of(error.what());
      names_.clear();
    }
  }

  // The text that an error message points to.
  [[nodiscard]] std::string line_of(const std::string& message) const {
    unsigned number = 0;
    if (std::sscanf(message.c_str(), "table.ptx:%u", &number) != 1) return "";
    std::istringstream lines(text_);
    std::string line;
    while (number-- > 0) std::getline(lines, line);
    return line;
  }

  void write_operands(const Placed& placed, const Slots& operands, std::mt19937_64& random) {
    for (std::size_t i = 0; i < placed.row->in.size(); ++i) {
      const Kind kind = placed.row->in[i];
      std::vector<u64> column(kThreads);
      for (unsigned thread = 0; thread < kThreads; ++thread) {
        const u64 garbage = kind == Kind::predicate ? 0 : random() & ~truncated(kind, ~u64{0});
        column[thread] = truncated(kind, operands[thread][i]) | garbage;
      }
      memory_.write(in_ + (placed.in_slot + i) * 8 * kThreads, std::as_bytes(std::span(column)));
    }
  }

  void launch(const std::string& name) {
    const isa::Kernel* kernel = module_.find(name);
    isa::LaunchRequest request{name, {kThreads / kBlock, 1, 1}, {kBlock, 1, 1}, 0, {}};
    request.parameters.resize(kernel->parameter_bytes);
    std::memcpy(request.parameters.data() + kernel->parameters.at(0).offset, &in_, form_.address_bits / 8);
    std::memcpy(request.parameters.data() + kernel->parameters.at(1).offset, &out_, form_.address_bits / 8);
    isa::RetirementHash hash;
    const isa::InterpreterResult result = interpret(module_, request, memory_, hash);
    EXPECT_FALSE(result.fault) << form_.name << ": " << describe(*result.fault, module_);
    EXPECT_LE(kernel->registers, form_.registers);
  }

  void compare(const Placed& placed, const Slots& operands) {
    const Row& row = *placed.row;
    std::vector<std::vector<u64>> found(row.out.size(), std::vector<u64>(kThreads));
    for (std::size_t o = 0; o < row.out.size(); ++o) {
      memory_.read(out_ + (placed.out_slot + o) * 8 * kThreads, std::as_writable_bytes(std::span(found[o])));
    }
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      std::array<u64, 4> in = operands[thread];
      for (std::size_t i = 0; i < row.in.size(); ++i) {
        if (is_immediate(row, form_, i)) in[i] = placed.constants[i];
        if (is_same(row, form_, i)) in[i] = in[0];
      }
      std::array<u64, 2> expected{};
      row.host.call(row.host.function.data(), in.data(), expected.data());
      const bool skipped = form_.guarded && row.guard && thread % 2 == 0;
      for (std::size_t o = 0; o < row.out.size(); ++o) {
        u64 value = expected[o];
        if (skipped) {
          const auto alias = o == 0 ? aliased_operand(row, form_) : std::nullopt;
          value = alias ? in[*alias] : sentinel(row.out[o]);
        }
        value = truncated(row.out[o], value);
        // Words hold 16-bit results zero-extended.
        const bool word = size_of(row.out[o]) == 2 && !form_.untyped;
        const u64 got = word ? found[o][thread] & 0xffffffffU : truncated(row.out[o], found[o][thread]);
        const u64 ulps = row.ulps + (software_ && is_approximate(row) && has_neighbours(row.out[o], value) ? 2 : 0);
        if (!agree(row.out[o], got, value, skipped ? 0 : ulps)) report(row, thread, in, o, got, value);
      }
    }
  }

  void report(const Row& row, unsigned thread, const std::array<u64, 4>& in, std::size_t result, u64 found,
              u64 expected) {
    if (reported_++ >= kReported) return;
    std::ostringstream operands;
    for (std::size_t i = 0; i < row.in.size(); ++i) operands << " 0x" << std::hex << truncated(row.in[i], in[i]);
    ADD_FAILURE() << row.text << " (" << form_.name << (software_ ? ", division in software" : "") << "), thread "
                  << thread << ", operands" << operands.str() << ": result " << result << std::hex << " is 0x" << found
                  << ", expected 0x" << expected;
  }

  const Rows& rows_;
  const Form& form_;
  bool software_;
  std::vector<std::size_t> chosen_;
  std::vector<std::string> names_;
  std::string text_;
  isa::Module module_;
  isa::DeviceMemory memory_;
  u64 in_ = 0, out_ = 0;
  unsigned reported_ = 0;
};

// How rows go to GPUs (hardware/README.md), one to a program.
constexpr Form kGpuForm = {"plain, 64-bit addresses", 64, 63, 1};

void write_for_gpus(const std::string& folder, const Rows& all) {
  static unsigned tables = 0;  // of this process, which is one test
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  std::string list = std::string(test.test_suite_name()) + "." + test.name() + "." + std::to_string(++tables);
  std::replace(list.begin(), list.end(), '/', '.');
  std::vector<test::GpuProgram> programs;
  for (std::size_t r = 0; r < all.placed.size(); ++r) {
    Rows one;
    one.placed = {{all.placed[r].row, 0, 0, all.placed[r].constants}};
    one.operands = {all.operands[r]};
    one.in_slots = one.placed.front().row->in.size();
    one.out_slots = one.placed.front().row->out.size();
    FormRun form(one, kGpuForm);
    form.run();
    if (testing::Test::HasFailure()) return;
    programs.push_back(form.program(list + "/" + std::to_string(r) + " " + one.placed.front().row->text));
  }
  test::write_gpu_programs(folder, list, programs);
}

}  // namespace

void OperationTable::run() const {
  ASSERT_FALSE(rows_.empty());
  std::mt19937_64 random(rows_.size() + seed());
  Rows rows;
  for (const Row& row : rows_) {
    Placed placed{&row, rows.in_slots, rows.out_slots, {}};
    for (std::size_t i = 0; i < row.in.size(); ++i) {
      const std::vector<u64>& edges = edge_values(row.in[i]);
      placed.constants[i] = random() % 4 == 0 ? random_value(row.in[i], random) : edges[random() % edges.size()];
    }
    rows.placed.push_back(placed);
    rows.operands.push_back(operands_of(row, random));
    rows.in_slots += row.in.size();
    rows.out_slots += row.out.size();
  }
  for (const Form& form : kForms) FormRun(rows, form).run();
  if (std::any_of(rows_.begin(), rows_.end(), divides)) {
    for (const Form& form : kForms) FormRun(rows, form, true).run();
  }
  if (const auto folder = test::gpu_programs_folder()) write_for_gpus(*folder, rows);
}

}  // namespace heddle::ptx_ops
