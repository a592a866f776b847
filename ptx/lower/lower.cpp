// The entry point of lowering: lays the module out and lowers every kernel.
#include <algorithm>
#include <vector>

#include "ptx/lower/handlers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

constexpr unsigned kMinRegisters = 8;

// Thread counts of .maxntid and .reqntid.
isa::Dim3 dimensions(const std::vector<std::uint32_t>& given) {
  isa::Dim3 result;
  if (!given.empty()) result.x = given[0];
  if (given.size() > 1) result.y = given[1];
  if (given.size() > 2) result.z = given[2];
  return result;
}

std::vector<Handler> sorted_handlers() {
  std::vector<Handler> handlers;
  for (const auto table :
       {integer_handlers(), multiply_handlers(), logic_handlers(),   video_handlers(),       real_handlers(),
        compare_handlers(), move_handlers(),     convert_handlers(), memory_handlers(),      atomic_handlers(),
        control_handlers(), warp_handlers(),     matrix_handlers(),  warp_matrix_handlers(), copy_handlers(),
        search_handlers(),  library_handlers(),  texture_handlers(), surface_handlers(),     barrier_object_handlers(),
        hint_handlers()}) {
    handlers.insert(handlers.end(), table.begin(), table.end());
  }
  std::sort(handlers.begin(), handlers.end(), [](const Handler& a, const Handler& b) { return a.opcode < b.opcode; });
  return handlers;
}

const std::vector<Handler>& all_handlers() {
  static const std::vector<Handler> handlers = sorted_handlers();
  return handlers;
}

IrFunction lower_kernel(const File& file, const ModuleLayout& layout, const Function& function, const CodeOptions& code,
                        const Interruption& interruption, std::uint32_t stack_bytes) {
  if (function.refusal) throw InputError(*function.refusal);
  const SourceLocation where{file.name, function.at.line, function.at.column};
  IrFunction ir;
  ir.code = code;
  ir.code.max_registers = std::min(code.max_registers, isa::kRegisters);
  if (function.maxnreg) {
    if (*function.maxnreg < kMinRegisters) {
      throw InputError(where,
                       ".maxnreg " + std::to_string(*function.maxnreg) + " of '" + function.name + "' is too low",
                       "allow at least " + std::to_string(kMinRegisters) + " registers");
    }
    ir.code.max_registers = std::min(ir.code.max_registers, static_cast<unsigned>(*function.maxnreg));
  }
  for (const auto& given : {function.maxntid, function.reqntid}) {
    if (std::find(given.begin(), given.end(), 0U) != given.end()) {
      throw InputError(where, "'" + function.name + "' is declared for a block with no threads",
                       "give .maxntid and .reqntid numbers above 0");
    }
  }
  if (!function.reqntid.empty()) ir.kernel.required_block = dimensions(function.reqntid);
  if (!function.maxntid.empty()) {
    ir.kernel.max_threads =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(dimensions(function.maxntid).count(), UINT32_MAX));
  }
  Selector(file, layout, ir, interruption, stack_bytes).lower_entry(function);
  return ir;
}

}  // namespace

const Handler* find_handler(std::string_view opcode) {
  const std::vector<Handler>& handlers = all_handlers();
  const auto found =
      std::lower_bound(handlers.begin(), handlers.end(), opcode,
                       [](const Handler& handler, std::string_view name) { return handler.opcode < name; });
  return found == handlers.end() || found->opcode != opcode ? nullptr : &*found;
}

std::vector<std::string> handled_opcodes() {
  std::vector<std::string> names;
  for (const Handler& handler : all_handlers()) {
    names.emplace_back(handler.opcode);
  }
  return names;
}

IrModule lower(const File& file, const CodeOptions& code, Refusals refusals, const Interruption& interruption,
               std::uint32_t stack_bytes) {
  if (code.max_registers < kMinRegisters) {
    throw InputError({file.name, 0, 0}, "the limit of " + std::to_string(code.max_registers) + " registers is too low",
                     "allow at least " + std::to_string(kMinRegisters));
  }
  IrModule result;
  result.module.name = file.name;
  result.module.source_files = file.source_files;
  const ModuleLayout layout(file, result.module);
  for (const Function& function : file.functions) {
    if (!function.is_entry || !function.has_body) continue;
    try {
      result.kernels.push_back(lower_kernel(file, layout, function, code, interruption, stack_bytes));
    } catch (const InputError& reason) {
      if (refusals == Refusals::thrown) throw;
      result.refused.push_back({function.name, reason});
    }
  }
  return result;
}

}  // namespace heddle::ptx
