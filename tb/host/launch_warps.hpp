// The warp size of a launch: the kernel's own (.pragma "warp_size N", HEDDLE_WARP_SIZE), else the SIMD width where it
// uses warp-level operations, else the machine's (hybrid warp sizes, thesis 9.2.1).
#pragma once

#include <map>
#include <string>

#include "hw/parameters/machine.hpp"
#include "isa/program.hpp"

namespace heddle::tb {

// Threads of a warp, by kernel, of the kernels that ran with another warp size than the machine's.
using WarpSizes = std::map<std::string, unsigned>;

// Throws InputError at the pragma when the machine cannot have such warps, and at the first warp-level operation when
// the pragma asks for warps wider than the SIMD unit, on whose lanes those operations work.
[[nodiscard]] unsigned launch_warp_size(const isa::Module& module, const isa::Kernel& kernel,
                                        const hw::CoreParameters& core);

}  // namespace heddle::tb
