#include "isa/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "isa/symbol_names.hpp"

namespace heddle::isa {

namespace {

// "saxpy.cu:12", empty when unknown.
std::string source_text(const Module& module, const LineInfo& line) {
  if (line.source_file == 0 || line.source_file >= module.source_files.size() || line.source_line == 0) {
    return {};
  }
  return fmt::format("{}:{}", module.source_files[line.source_file], line.source_line);
}

}  // namespace

const Kernel* Module::find(std::string_view kernel) const {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& entry) { return entry.name == kernel; });
  if (found != kernels.end()) {
    return &*found;
  }
  std::vector<std::string> names;
  for (const Kernel& entry : kernels) {
    names.push_back(entry.more_registers ? "" : entry.name);
  }
  const std::vector<std::size_t> matches = find_named(names, kernel);
  return matches.size() == 1 ? &kernels[matches.front()] : nullptr;
}

bool is_wide(const Kernel& kernel) {
  return std::any_of(kernel.words.begin(), kernel.words.end(),
                     [](const InstructionWord& word) { return word.high != 0; });
}

void rewrite(Kernel& kernel, const std::function<void(std::vector<Instruction>&)>& change) {
  std::vector<Instruction> code;
  code.reserve(kernel.words.size());
  for (const InstructionWord& word : kernel.words) {
    const std::optional<Instruction> instruction = decode(word);
    if (!instruction) {
      throw InternalError("kernel " + kernel.name + " has a word that is no instruction");
    }
    code.push_back(*instruction);
  }
  change(code);
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    kernel.words[pc] = encode(code[pc]);
  }
}

bool uses_heap(const Kernel& kernel) {
  return std::any_of(kernel.words.begin(), kernel.words.end(), [](const InstructionWord& word) {
    const std::optional<Instruction> instruction = decode(word);
    return instruction && is_heap(instruction->op);
  });
}

std::optional<std::uint32_t> first_matrix_operation(const Kernel& kernel) {
  const auto found = std::find_if(kernel.words.begin(), kernel.words.end(), [](const InstructionWord& word) {
    const std::optional<Instruction> instruction = decode(word);
    return instruction && is_matrix(instruction->op);
  });
  return found == kernel.words.end() ? std::nullopt
                                     : std::optional(static_cast<std::uint32_t>(found - kernel.words.begin()));
}

std::string describe_pc(const Module& module, const Kernel& kernel, std::uint32_t pc) {
  const std::string file = module.name.empty() ? std::string("PTX") : module.name;
  if (pc >= kernel.lines.size()) {
    return fmt::format("{}, kernel '{}', PC {}", file, kernel.name, pc);
  }
  const LineInfo& line = kernel.lines[pc];
  std::string out = line.ptx_line != 0
                        ? fmt::format("{}:{}", file, line.ptx_line)
                        : fmt::format("{}, kernel '{}', PC {} made by the compiler", file, kernel.name, pc);
  if (const std::string source = source_text(module, line); !source.empty()) {
    out += fmt::format(" ({})", source);
  }
  return out;
}

std::string listing(const Module& module, const Kernel& kernel) {
  struct Row {
    std::string pc, word, text, ptx, source, live, reconvergence;
  };
  std::vector<Row> rows;
  rows.reserve(kernel.words.size() + 1);
  rows.push_back({"PC", "word", "instruction", "PTX line", "source", "live", "re-convergence"});
  for (std::size_t pc = 0; pc < kernel.words.size(); ++pc) {
    Row row;
    row.pc = fmt::format("{}", pc);
    row.word = text_of(kernel.words[pc]);
    const std::optional<Instruction> instruction = decode(kernel.words[pc]);
    row.text = instruction ? disassemble(*instruction) : "(no instruction)";
    if (instruction && instruction->op == Op::BRA && !instruction->guard.always()) {
      row.reconvergence =
          instruction->reconvergence == kNoReconvergence ? "exit" : fmt::format("{}", instruction->reconvergence);
    }
    const LineInfo line = pc < kernel.lines.size() ? kernel.lines[pc] : LineInfo{};
    row.ptx = line.ptx_line != 0 ? fmt::format("{}", line.ptx_line) : "-";
    row.source = source_text(module, line);
    row.live = fmt::format("{}", line.live_registers);
    rows.push_back(std::move(row));
  }
  const auto width = [&rows](std::string Row::*column) {
    std::size_t out = 0;
    for (const Row& row : rows) {
      out = std::max(out, (row.*column).size());
    }
    return out;
  };
  const bool has_source = std::any_of(rows.begin() + 1, rows.end(), [](const Row& row) { return !row.source.empty(); });
  const std::size_t pc = width(&Row::pc);
  const std::size_t word = width(&Row::word);
  const std::size_t text = width(&Row::text);
  const std::size_t ptx = width(&Row::ptx);
  const std::size_t source = width(&Row::source);
  const std::size_t live = width(&Row::live);

  const auto counted = [](std::size_t number, std::string_view noun, std::string_view after = {}) {
    return fmt::format("{} {}{}{}", number, noun, number == 1 ? "" : "s", after);
  };
  std::string out =
      fmt::format("// {}: kernel {}: {}, {}, {}, {}, {}, {}, {} spilled\n", module.name, kernel.name,
                  counted(kernel.words.size(), "instruction"), counted(kernel.registers, "register"),
                  counted(kernel.predicates, "predicate"), counted(kernel.shared_bytes, "byte", " shared"),
                  counted(kernel.local_bytes, "byte", " local"), counted(kernel.parameter_bytes, "parameter byte"),
                  kernel.spilled_registers);
  for (const Row& row : rows) {
    std::string line =
        fmt::format("{:>{}}  {:<{}}  {:<{}}  {:>{}}", row.pc, pc, row.word, word, row.text, text, row.ptx, ptx);
    if (has_source) {
      line += fmt::format("  {:<{}}", row.source, source);
    }
    line += fmt::format("  {:>{}}  {}", row.live, live, row.reconvergence);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace heddle::isa
