#include "ptx/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "isa/symbol_names.hpp"
#include "ptx/ast.hpp"
#include "ptx/compiled_kernels.hpp"
#include "ptx/ir.hpp"
#include "ptx/link.hpp"
#include "ptx/lower/library.hpp"
#include "ptx/parse/rotates.hpp"
#include "ptx/parse/source_place.hpp"

namespace heddle::ptx {

namespace {

constexpr std::string_view kRoomier = " (more registers)";  // behind the name by which a version is known
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

Refusals refusals_of(const CompileOptions& options) {
  return options.refused == nullptr ? Refusals::thrown : Refusals::kept;
}

constexpr std::uint64_t kMostThreads = 1024;  // of a block

// Of the largest block, as far as that is known: of launches, and of what the text allows.
std::optional<std::uint64_t> known_threads(const isa::Kernel& kernel, std::uint64_t launched) {
  if (launched != 0) return launched;
  if (kernel.required_block) return kernel.required_block->count();
  return kernel.max_threads;
}

// So that a launch finds room for its largest block.
unsigned most_registers(std::optional<std::uint64_t> known, const CompileOptions& options) {
  const CoreRegisters& core = options.core_registers;
  if (core.count == 0) return options.max_registers;
  const std::uint64_t threads = known.value_or(kMostThreads);
  const std::uint64_t parts = (std::clamp<std::uint64_t>(threads, 1, kMostThreads) + core.threads - 1) / core.threads;
  return static_cast<unsigned>(std::min<std::uint64_t>(
      options.max_registers, std::max<std::uint64_t>(core.count / (parts * core.threads), isa::kNarrowRegisters)));
}

// By kernel, what options.block_threads says; 0: nothing.
std::vector<std::uint64_t> launched_threads(const IrModule& ir, const CompileOptions& options) {
  std::vector<std::uint64_t> threads(ir.kernels.size());
  if (options.block_threads == nullptr) return threads;
  std::vector<std::string> names;
  for (const IrFunction& function : ir.kernels) names.push_back(function.name);
  for (const auto& [name, count] : *options.block_threads) {
    for (const std::size_t i : isa::find_named(names, name)) threads[i] = std::max(threads[i], count);
  }
  return threads;
}

isa::Module compile_parsed(File parsed, const std::string& file, const CompileOptions& options) {
  const Interruption interruption(options.interrupted);
  const std::vector<Position> rotates = mend_rotates(parsed);
  if (!rotates.empty() && options.notes != nullptr) options.notes->push_back(note_on_rotates(parsed, rotates));
  add_library(parsed);
  IrModule ir = lower(parsed, options, refusals_of(options), interruption, options.stack_bytes);
  isa::Module module = std::move(ir.module);
  module.name = file;
  module.kernels.clear();
  const auto machine_code = [&](IrFunction function) {
    return options.known != nullptr ? options.known->generate(std::move(function), file, interruption)
                                    : generate(function, file, interruption);
  };
  const std::vector<std::uint64_t> launched = launched_threads(ir, options);
  for (std::size_t i = 0; i < ir.kernels.size(); ++i) {
    IrFunction& function = ir.kernels[i];
    const std::optional<std::uint64_t> threads = known_threads(function.kernel, launched[i]);
    const unsigned most = most_registers(threads, options);
    const std::string name = function.name;
    std::optional<IrFunction> again;  // with all registers that the machine has
    if (options.roomier && !threads && most < function.code.max_registers) again = function;
    function.code.max_registers = std::min(function.code.max_registers, most);
    try {
      module.kernels.push_back(machine_code(std::move(function)));
      if (again && module.kernels.back().spilled_registers != 0) {
        again->name += kRoomier;
        isa::Kernel version = machine_code(std::move(*again));
        version.name = name;
        version.more_registers = true;
        module.kernels.push_back(std::move(version));
      }
    } catch (const InputError& reason) {
      if (options.refused == nullptr) throw;
      ir.refused.push_back({name, reason});
    }
  }
  if (options.refused != nullptr) {
    std::stable_sort(ir.refused.begin(), ir.refused.end(), [](const RefusedKernel& a, const RefusedKernel& b) {
      return a.reason.where().line < b.reason.where().line;
    });
    for (RefusedKernel& kernel : ir.refused) {
      const InputError& reason = kernel.reason;
      kernel.reason = {
          reason.where(),
          fmt::format("kernel '{}' cannot be compiled: {}", isa::source_name(kernel.name), reason.message()),
          reason.hint()};
    }
    *options.refused = std::move(ir.refused);
  }
  return module;
}

void check(const std::string& file, const CompileOptions& options) {
  if (options.max_registers < kFewestRegisters || options.max_registers > isa::kRegisters) {
    throw InputError({file}, fmt::format("{} registers per thread are not possible", options.max_registers),
                     fmt::format("allow {} to {}", kFewestRegisters, isa::kRegisters));
  }
}

InputError placed(std::string_view text, const InputError& error) {
  const std::string place = error.where().line == 0 ? "" : source_place(text, error.where().line);
  if (place.empty()) return error;
  return {error.where(), fmt::format("{} ({})", error.message(), place), error.hint()};
}

// Errors, and the reasons of `refused`, say where in the source the place in `text` comes from.
template <class Work>
auto with_place(std::string_view text, std::vector<RefusedKernel>* refused, Work&& work) {
  try {
    auto result = work();
    if (refused != nullptr) {
      for (RefusedKernel& kernel : *refused) kernel.reason = placed(text, kernel.reason);
    }
    return result;
  } catch (const InputError& error) {
    throw placed(text, error);
  }
}

}  // namespace

isa::Module compile(std::string_view text, const std::string& file, const CompileOptions& options) {
  check(file, options);
  return with_place(text, options.refused,
                    [&] { return compile_parsed(parse(text, file, refusals_of(options)), file, options); });
}

isa::Module compile_program(std::span<const ProgramText> texts, const std::string& file, const CompileOptions& options,
                            std::vector<std::map<std::string, std::string>>& changed) {
  check(file, options);
  std::vector<LinkUnit> units;
  std::string whole;
  for (const ProgramText& text : texts) {
    LinkUnit unit;
    unit.file = with_place(text.text, nullptr, [&] { return parse(text.text, text.file, refusals_of(options)); });
    unit.relocatable = text.relocatable;
    unit.lines = static_cast<std::uint32_t>(std::count(text.text.begin(), text.text.end(), '\n'));
    units.push_back(std::move(unit));
    whole += text.text;
  }
  File linked = link(std::move(units), changed);
  linked.name = file;
  return with_place(whole, options.refused, [&] { return compile_parsed(std::move(linked), file, options); });
}

std::vector<std::string> kernel_names(const isa::Module& module, std::span<const RefusedKernel> refused) {
  std::vector<std::string> names;
  names.reserve(module.kernels.size() + refused.size());
  for (const isa::Kernel& kernel : module.kernels) {
    if (!kernel.more_registers) names.push_back(kernel.name);
  }
  for (const RefusedKernel& kernel : refused) names.push_back(kernel.name);
  return names;
}

const RefusedKernel* find_refused(const isa::Module& module, std::span<const RefusedKernel> refused,
                                  std::string_view wanted) {
  if (refused.empty()) return nullptr;
  const std::vector<std::string> names = kernel_names(module, refused);
  const std::vector<std::size_t> found = isa::find_named(names, wanted);
  const std::size_t compiled = names.size() - refused.size();
  if (found.size() != 1 || found.front() < compiled) return nullptr;
  return &refused[found.front() - compiled];
}

std::string read_file(const std::string& path) {
  return read_input_file(path, kLargestFile, "PTX file");
}

isa::Module compile_file(const std::string& path, const CompileOptions& options) {
  return compile(read_file(path), path, options);
}

}  // namespace heddle::ptx
