#include "ptx/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "ptx/ast.hpp"
#include "ptx/ir.hpp"
#include "ptx/link.hpp"
#include "ptx/lower/library.hpp"
#include "ptx/parse/rotates.hpp"
#include "ptx/parse/source_place.hpp"

namespace heddle::ptx {

namespace {

constexpr unsigned kFewestRegisters = 8;
constexpr std::size_t kLargestFile = std::size_t{256} << 20U;

std::string note_on_rotates(const File& file, const std::vector<Position>& rotates) {
  const Position& first = rotates.front();
  std::string where = fmt::format("{}:{}", file.name, first.line);
  if (first.source_line != 0)
    where += fmt::format(" ({}:{})", file.source_files.at(first.source_file), first.source_line);
  const std::string many =
      rotates.size() == 1 ? "one 64-bit rotate takes its" : fmt::format("{} 64-bit rotates take their", rotates.size());
  return fmt::format("{}: {} amount modulo 64, as C++ means it; clang's code gives 0 above 64", where, many);
}

isa::Module compile_parsed(File parsed, const std::string& file, const CompileOptions& options) {
  const std::vector<Position> rotates = mend_rotates(parsed);
  if (!rotates.empty() && options.notes != nullptr) options.notes->push_back(note_on_rotates(parsed, rotates));
  add_library(parsed);
  IrModule ir = lower(parsed, options.max_registers);
  isa::Module module = std::move(ir.module);
  module.name = file;
  module.kernels.clear();
  module.kernels.reserve(ir.kernels.size());
  for (IrFunction& function : ir.kernels) {
    function.if_conversion = options.if_conversion;
    module.kernels.push_back(generate(function, file));
  }
  return module;
}

void check(const std::string& file, const CompileOptions& options) {
  if (options.max_registers < kFewestRegisters || options.max_registers > isa::kRegisters) {
    throw InputError({file}, fmt::format("{} registers per thread are not possible", options.max_registers),
                     fmt::format("allow {} to {}", kFewestRegisters, isa::kRegisters));
  }
}

// Errors say where in the source the place in `text` comes from.
template <class Work>
auto with_place(std::string_view text, Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    const std::string place = error.where().line == 0 ? "" : source_place(text, error.where().line);
    if (place.empty()) throw;
    throw InputError(error.where(), fmt::format("{} ({})", error.message(), place), error.hint());
  }
}

}  // namespace

isa::Module compile(std::string_view text, const std::string& file, const CompileOptions& options) {
  check(file, options);
  return with_place(text, [&] { return compile_parsed(parse(text, file), file, options); });
}

isa::Module compile_program(std::span<const ProgramText> texts, const std::string& file, const CompileOptions& options,
                            std::vector<std::map<std::string, std::string>>& changed) {
  check(file, options);
  std::vector<LinkUnit> units;
  std::string whole;
  for (const ProgramText& text : texts) {
    LinkUnit unit;
    unit.file = with_place(text.text, [&] { return parse(text.text, text.file); });
    unit.relocatable = text.relocatable;
    unit.lines = static_cast<std::uint32_t>(std::count(text.text.begin(), text.text.end(), '\n'));
    units.push_back(std::move(unit));
    whole += text.text;
  }
  File linked = link(std::move(units), changed);
  linked.name = file;
  return with_place(whole, [&] { return compile_parsed(std::move(linked), file, options); });
}

isa::Module compile_file(const std::string& path, const CompileOptions& options) {
  return compile(read_input_file(path, kLargestFile, "PTX file"), path, options);
}

}  // namespace heddle::ptx
