#include "traces/module_record.hpp"

namespace heddle::traces {

namespace {

constexpr std::uint64_t kMost32 = 0xffff'ffff;

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

void write_kernel(const isa::Kernel& kernel, ByteWriter& out) {
  out.text(kernel.name);
  out.number(kernel.words.size());
  for (const std::uint64_t word : kernel.words) {
    out.fixed(word, 8);
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

isa::Kernel read_kernel(ByteReader& in) {
  isa::Kernel kernel;
  kernel.name = in.text();
  kernel.words.resize(in.count(8));
  for (std::uint64_t& word : kernel.words) {
    word = in.fixed(8);
  }
  kernel.lines = read_lines(in);
  kernel.parameters.resize(in.count(5));
  for (isa::Parameter& parameter : kernel.parameters) {
    parameter.name = in.text();
    parameter.type =
        static_cast<isa::Type>(in.number_to(static_cast<std::uint64_t>(isa::Type::pred), "a parameter's type"));
    parameter.offset = number32(in);
    parameter.size = number32(in);
    parameter.alignment = number32(in);
  }
  kernel.parameter_bytes = number32(in);
  kernel.registers = static_cast<unsigned>(in.number_to(isa::kRegisters, "a count of registers"));
  kernel.predicates = static_cast<unsigned>(in.number_to(isa::kPredicates, "a count of predicates"));
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
  module.source_files.resize(in.count());
  for (std::string& file : module.source_files) {
    file = in.text();
  }
  module.kernels.resize(in.count(20));
  for (isa::Kernel& kernel : module.kernels) {
    const std::size_t at = in.at();
    kernel = read_kernel(in);
    if (module.find(kernel.name) != &kernel) {
      throw Damaged(at, "two kernels of one name");
    }
  }
  const auto constants = in.block();
  module.constant_bank.assign(constants.begin(), constants.end());
  in.expect_end();
  return module;
}

}  // namespace heddle::traces
