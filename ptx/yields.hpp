// The compiler's marks of branches at which threads that wait for others let these run (the YIELD of NVIDIA's patent
// US 10,067,768, claim 2: "inserted into the program by a compiler").
#pragma once

#include "isa/module.hpp"

namespace heddle::ptx {

// Sets isa::Instruction::yields in all kernels, in place of marks that there are: at branches that lead back to the
// beginning of a loop whose end depends on what other threads may write (isa::LoopExits::waits).
void mark_yields(isa::Module& module);

}  // namespace heddle::ptx
