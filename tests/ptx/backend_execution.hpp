// Two tiny executors for one thread, of intermediate code and of machine code, over a common evaluation of a handful of
// operations. They agree on what a program stores to global memory, or the back end is wrong.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "isa/module.hpp"
#include "ptx/ir.hpp"

namespace heddle::ptx::test {

struct Trace {
  std::vector<std::uint64_t> stores;  // address, then the words stored
  bool finished = false;              // by EXIT, not by the step limit
};

// Runs intermediate code straight from its items. Throws std::logic_error when it reads a register never written.
Trace run_ir(const IrFunction& function, std::size_t steps);

// Decodes and runs machine code; local memory and registers start with garbage. Throws std::logic_error when code
// leaves its registers, predicates or local memory.
Trace run_machine(const isa::Kernel& kernel, std::size_t steps, unsigned limit);

}  // namespace heddle::ptx::test
