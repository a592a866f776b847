// Kernels that have been compiled. A program that brings device code bit by bit is linked anew each time, and most
// kernels come out no different: their machine code, which takes most of the time to make, is taken from here.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "ptx/ir.hpp"

namespace heddle::ptx {

class CompiledKernels {
 public:
  // As generate() does; what it made of an equal function is given again. Of a name the latest is kept.
  [[nodiscard]] isa::Kernel generate(IrFunction function, const std::string& file, const Interruption& interruption);
  // How often a kernel was compiled.
  [[nodiscard]] std::size_t compiled() const { return compiled_; }

 private:
  struct Known {
    IrFunction function;
    isa::Kernel kernel;
  };
  std::map<std::string, Known> known_;  // by name
  std::size_t compiled_ = 0;
};

}  // namespace heddle::ptx
