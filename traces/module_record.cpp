#include "traces/module_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "isa/instruction.hpp"
#include "isa/register_use.hpp"

namespace heddle::traces {

namespace {

constexpr std::uint64_t kMost32 = 0xffff'ffff;
// No module comes near them. Each thing that is counted takes more memory than bytes.
constexpr std::size_t kMostNames = std::size_t{1} << 16U;
constexpr std::size_t kMostParameters = 4352;  // bytes of all parameters that PTX allows

std::uint32_t number32(ByteReader& in) {
  return static_cast<std::uint32_t>(in.number_to(kMost32, "a number"));
}

// Absent, or a number.
void write_optional(const std::optional<std::uint64_t>& value, ByteWriter& out) {
  out.byte(value ? 1 : 0);
  if (value) {
    out.number(*value);
  }
}

std::optional<std::uint32_t> read_optional(ByteReader& in) {
  if (in.number_to(1, "a flag") == 0) {
    return std::nullopt;
  }
  return number32(in);
}

// What stands before a word of 16 bytes, with what its second 8 say: no instruction begins so.
constexpr std::uint64_t kWide = 0xffULL << 54U;
constexpr std::uint64_t kHighBits = 0x3ff;
static_assert(isa::kOperations < 0xff);

// Control bits are of the machine that the code was made for; one that goes by them makes its own.
isa::InstructionWord without_control(const isa::InstructionWord& word) {
  std::optional<isa::Instruction> instruction = word.high == 0 ? std::nullopt : isa::decode(word);
  if (!instruction || !instruction->control.there) {
    return word;
  }
  instruction->control = {};
  return isa::encode(*instruction);
}

void write_kernel(const isa::Kernel& kernel, ByteWriter& out) {
  out.text(kernel.name);
  out.number(kernel.words.size());
  for (const isa::InstructionWord& with_marks : kernel.words) {
    const isa::InstructionWord word = without_control(with_marks);
    if (word.high != 0) {
      out.fixed(kWide | (word.high & kHighBits), 8);
    }
    out.fixed(word.low, 8);
  }
  out.number(kernel.lines.size());
  isa::LineInfo before;
  const auto step = [&out](std::uint64_t now, std::uint64_t then) {
    out.difference(static_cast<std::int64_t>(now - then));
  };
  for (const isa::LineInfo& line : kernel.lines) {
    step(line.ptx_line, before.ptx_line);
    step(line.source_file, before.source_file);
    step(line.source_line, before.source_line);
    step(line.live_registers, before.live_registers);
    before = line;
  }
  out.number(kernel.parameters.size());
  for (const isa::Parameter& parameter : kernel.parameters) {
    out.text(parameter.name);
    out.byte(static_cast<std::uint8_t>(parameter.type));
    out.number(parameter.offset);
    out.number(parameter.size);
    out.number(parameter.alignment);
  }
  for (const std::uint64_t value :
       {std::uint64_t{kernel.parameter_bytes}, std::uint64_t{kernel.registers}, std::uint64_t{kernel.predicates},
        std::uint64_t{kernel.shared_bytes}, std::uint64_t{kernel.local_bytes}, std::uint64_t{kernel.spilled_registers},
        std::uint64_t{kernel.address_bits}, std::uint64_t{kernel.uses_warp_operations},
        std::uint64_t{kernel.warp_size_line}, std::uint64_t{kernel.warp_operation_line}}) {
    out.number(value);
  }
  out.byte(kernel.required_block ? 1 : 0);
  if (kernel.required_block) {
    out.number(kernel.required_block->x);
    out.number(kernel.required_block->y);
    out.number(kernel.required_block->z);
  }
  write_optional(kernel.max_threads, out);
  write_optional(kernel.warp_size, out);
}

std::vector<isa::LineInfo> read_lines(ByteReader& in) {
  std::vector<isa::LineInfo> lines(in.count(4));
  isa::LineInfo before;
  for (isa::LineInfo& line : lines) {
    line.ptx_line = before.ptx_line + static_cast<std::uint32_t>(in.difference());
    line.source_file = before.source_file + static_cast<std::uint32_t>(in.difference());
    line.source_line = before.source_line + static_cast<std::uint32_t>(in.difference());
    line.live_registers = static_cast<std::uint16_t>(before.live_registers + in.difference());
    before = line;
  }
  return lines;
}

// An instruction that a record can hold and that leads only where there is code. Without the compiler's marks, which
// need not be true in a file; a machine that goes by them has them made anew when it loads the module.
isa::InstructionWord read_instruction(ByteReader& in, std::size_t instructions) {
  const std::size_t at = in.at();
  isa::InstructionWord word = in.fixed(8);
  if ((word.low & ~kHighBits) == kWide) {
    word.high = std::uint64_t{1} << 63U | (word.low & kHighBits);
    word.low = in.fixed(8);
  }
  std::optional<isa::Instruction> instruction = isa::decode(word);
  if (!instruction) {
    throw Damaged(at, fmt::format("0x{} is no instruction", isa::text_of(word)));
  }
  if (instruction->op == isa::Op::BRA &&
      (instruction->target >= instructions ||
       (instruction->reconvergence >= instructions && instruction->reconvergence != isa::kNoReconvergence))) {
    throw Damaged(at, fmt::format("a branch beyond the {} instructions of its kernel", instructions));
  }
  if (isa::is_texture(instruction->op) || instruction->op == isa::Op::BAR_GRID) {
    throw Damaged(at, fmt::format("{}, which a trace does not hold", isa::info(instruction->op).mnemonic));
  }
  instruction->uniform = instruction->subdivides = instruction->past_scratchpad = instruction->yields = false;
  return isa::encode(*instruction);
}

// No instruction names a register beyond the kernel's.
void check_registers(const isa::Kernel& kernel, std::size_t at) {
  for (std::size_t pc = 0; pc != kernel.words.size(); ++pc) {
    const isa::RegisterUse use = isa::register_use(isa::decode(kernel.words[pc]).value());
    const unsigned predicates = use.predicates_read | use.predicates_written;
    if ((use.read | use.written).end() > kernel.registers || (predicates >> kernel.predicates) != 0) {
      throw Damaged(at, fmt::format("instruction {} of kernel '{}' uses more than its {} registers and {} predicates",
                                    pc, kernel.name, kernel.registers, kernel.predicates));
    }
  }
}

isa::Kernel read_kernel(ByteReader& in) {
  isa::Kernel kernel;
  kernel.name = in.text();
  kernel.words.resize(in.count(8));
  for (isa::InstructionWord& word : kernel.words) {
    word = read_instruction(in, kernel.words.size());
  }
  const std::size_t at = in.at();
  kernel.lines = read_lines(in);
  if (!kernel.lines.empty() && kernel.lines.size() != kernel.words.size()) {
    throw Damaged(at, fmt::format("{} lines for {} instructions", kernel.lines.size(), kernel.words.size()));
  }
  kernel.parameters.resize(in.count(5, kMostParameters));
  for (isa::Parameter& parameter : kernel.parameters) {
    parameter.name = in.text();
    parameter.type =
        static_cast<isa::Type>(in.number_to(static_cast<std::uint64_t>(isa::Type::pred), "a parameter's type"));
    parameter.offset = number32(in);
    parameter.size = number32(in);
    parameter.alignment = number32(in);
  }
  kernel.parameter_bytes = number32(in);
  const std::size_t registers_at = in.at();
  kernel.registers = static_cast<unsigned>(in.number_to(isa::kRegisters, "a count of registers"));
  kernel.predicates = static_cast<unsigned>(in.number_to(isa::kPredicates, "a count of predicates"));
  check_registers(kernel, registers_at);
  kernel.shared_bytes = number32(in);
  kernel.local_bytes = number32(in);
  kernel.spilled_registers = number32(in);
  kernel.address_bits = number32(in);
  kernel.uses_warp_operations = in.number_to(1, "a flag") != 0;
  kernel.warp_size_line = number32(in);
  kernel.warp_operation_line = number32(in);
  if (in.number_to(1, "a flag") != 0) {
    isa::Dim3 block;
    block.x = number32(in);
    block.y = number32(in);
    block.z = number32(in);
    kernel.required_block = block;
  }
  kernel.max_threads = read_optional(in);
  kernel.warp_size = read_optional(in);
  return kernel;
}

}  // namespace

void write_module(const isa::Module& module, ByteWriter& out) {
  out.text(module.name);
  out.number(module.source_files.size());
  for (const std::string& file : module.source_files) {
    out.text(file);
  }
  out.number(module.kernels.size());
  for (const isa::Kernel& kernel : module.kernels) {
    write_kernel(kernel, out);
  }
  out.block(module.constant_bank);
}

isa::Module read_module(ByteReader& in) {
  isa::Module module;
  module.name = in.text();
  module.source_files.resize(in.count(1, kMostNames));
  for (std::string& file : module.source_files) {
    file = in.text();
  }
  std::set<std::string_view> names;
  module.kernels.resize(in.count(20, kMostNames));
  const isa::Kernel* before = nullptr;
  for (isa::Kernel& kernel : module.kernels) {
    const std::size_t at = in.at();
    kernel = read_kernel(in);
    if (!names.insert(kernel.name).second) {
      kernel.more_registers = before->name == kernel.name && !before->more_registers;
      if (!kernel.more_registers) throw Damaged(at, "two kernels of one name");
    }
    before = &kernel;
    for (const isa::LineInfo& line : kernel.lines) {
      if (line.source_file >= std::max<std::size_t>(module.source_files.size(), 1)) {
        throw Damaged(at, fmt::format("kernel '{}' has a line of source file {}, of {} that there are", kernel.name,
                                      line.source_file, module.source_files.size()));
      }
    }
  }
  const auto constants = in.block();
  module.constant_bank.assign(constants.begin(), constants.end());
  in.expect_end();
  return module;
}

}  // namespace heddle::traces
