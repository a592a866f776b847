#include "tb/executor.hpp"

#include <utility>

#include "base/error.hpp"
#include "isa/launch_check.hpp"

namespace heddle::tb {

ReferenceExecutor::ReferenceExecutor(isa::InterpreterOptions options) : options_(options) {}

void ReferenceExecutor::load(isa::Module module) {
  module_ = std::move(module);
  isa::load_module(module_, memory_);
}

void ReferenceExecutor::launch(const isa::LaunchRequest& request) {
  isa::InterpreterOptions options = options_;
  if (warp_size_of_) {
    options.warp_size = warp_size_of_(module_, isa::kernel_of(module_, request));
  }
  const isa::InterpreterResult result = isa::interpret(module_, request, memory_, hash_, options);
  thread_instructions_ += result.thread_instructions;
  warp_instructions_ += result.warp_instructions;
  if (result.fault) {
    throw SimulatedFault(isa::describe(*result.fault, module_));
  }
}

}  // namespace heddle::tb
