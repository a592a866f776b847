#include "ptx/compiled_kernels.hpp"

#include <utility>

namespace heddle::ptx {

isa::Kernel CompiledKernels::generate(IrFunction function, const std::string& file, const Interruption& interruption) {
  if (const auto found = known_.find(function.name); found != known_.end() && found->second.function == function) {
    return found->second.kernel;
  }
  isa::Kernel kernel = ptx::generate(function, file, interruption);
  ++compiled_;
  const std::string name = function.name;
  known_.insert_or_assign(name, Known{std::move(function), kernel});
  return kernel;
}

}  // namespace heddle::ptx
