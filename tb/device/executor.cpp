#include "tb/device/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "isa/launch_check.hpp"

namespace heddle::tb {

void check_launch(const isa::Module& module, const isa::LaunchRequest& request) {
  const isa::Kernel& kernel = isa::kernel_of(module, request);
  isa::check_request(kernel, request);
  if (const std::optional<isa::Fault> fault = isa::check_resources(kernel, request)) {
    throw InputError({}, fmt::format("kernel '{}' cannot be launched: {}", kernel.name, fault->detail));
  }
}

ReferenceExecutor::ReferenceExecutor(isa::InterpreterOptions options) : options_(options) {}

void ReferenceExecutor::load(isa::Module module) {
  module_ = std::move(module);
  const bool wide = std::any_of(module_.kernels.begin(), module_.kernels.end(), isa::is_wide);
  isa::load_module(module_, memory_, wide ? 16 : 8);
}

void replace_constants(isa::Module& module, std::uint64_t offset, std::span<const std::byte> bytes) {
  const auto bank = std::as_writable_bytes(std::span(module.constant_bank));
  if (offset > bank.size() || bytes.size() > bank.size() - offset) {
    throw InternalError("constants outside the module's bank were set");
  }
  std::copy(bytes.begin(), bytes.end(), bank.begin() + static_cast<std::ptrdiff_t>(offset));
}

void ReferenceExecutor::set_constants(std::uint64_t offset, std::span<const std::byte> bytes) {
  replace_constants(module_, offset, bytes);
}

void ReferenceExecutor::launch(const isa::LaunchRequest& request) {
  isa::InterpreterOptions options = options_;
  if (warp_size_of_) {
    options.warp_size = warp_size_of_(module_, isa::kernel_of(module_, request));
  }
  prints_.begin_launch(request);
  options.prints = &prints_;
  isa::InterpreterResult result = isa::interpret(module_, request, memory_, hash_, options);
  if (const std::string text = prints_.text(); print_ && !text.empty()) {
    print_(text);
  }
  thread_instructions_ += result.thread_instructions;
  warp_instructions_ += result.warp_instructions;
  for (const isa::StrayLoads& loads : result.stray_loads) {
    isa::add(stray_loads_, loads);
  }
  if (result.fault) {
    prints_.explain(*result.fault);
    throw SimulatedFault(isa::describe(*result.fault, module_));
  }
}

}  // namespace heddle::tb
