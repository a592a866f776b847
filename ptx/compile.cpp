#include "ptx/compile.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "ptx/ast.hpp"
#include "ptx/ir.hpp"

namespace heddle::ptx {

namespace {

constexpr unsigned kFewestRegisters = 8;
constexpr std::size_t kLargestFile = std::size_t{256} << 20U;

}  // namespace

isa::Module compile(std::string_view text, const std::string& file, const CompileOptions& options) {
  if (options.max_registers < kFewestRegisters || options.max_registers > isa::kRegisters) {
    throw InputError({file}, fmt::format("{} registers per thread are not possible", options.max_registers),
                     fmt::format("allow {} to {}", kFewestRegisters, isa::kRegisters));
  }
  IrModule ir = lower(parse(text, file), options.max_registers);
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

isa::Module compile_file(const std::string& path, const CompileOptions& options) {
  return compile(read_input_file(path, kLargestFile, "PTX file"), path, options);
}

}  // namespace heddle::ptx
