#include "ptx/compile.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "ptx/ast.hpp"
#include "ptx/ir.hpp"

namespace heddle::ptx {

namespace {

constexpr unsigned kFewestRegisters = 8;

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
  for (const IrFunction& function : ir.kernels) {
    module.kernels.push_back(generate(function, file));
  }
  return module;
}

isa::Module compile_file(const std::string& path, const CompileOptions& options) {
  const auto unreadable = [&](const std::string& why) {
    return InputError({path}, fmt::format("the file cannot be read: {}", why), "check its name and permissions");
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw unreadable(std::generic_category().message(errno != 0 ? errno : EIO));
  }
  std::string text;
  std::array<char, 65'536> chunk{};
  while (file.read(chunk.data(), chunk.size()), file.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) {  // a directory opens, but cannot be read
    throw unreadable(std::generic_category().message(errno != 0 ? errno : EIO));
  }
  return compile(text, path, options);
}

}  // namespace heddle::ptx
