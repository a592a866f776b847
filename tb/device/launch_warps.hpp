// The warp size of a launch: the kernel's own (.pragma "warp_size N", HEDDLE_WARP_SIZE), else 32, which WARP_SZ says,
// where it uses warp-level operations, else the machine's (hybrid warp sizes, thesis 9.2.1).
#pragma once

#include <map>
#include <string>

#include "hw/parameters/machine.hpp"
#include "isa/module.hpp"

namespace heddle::tb {

// Threads of a warp, by kernel, of the kernels that ran with another warp size than the machine's.
using WarpSizes = std::map<std::string, unsigned>;

// Throws InputError at the pragma when the machine cannot have such warps, and at the first warp-level operation when
// the machine cannot have warps of 32 threads, on whose lanes such operations work, or the pragma asks for others.
[[nodiscard]] unsigned launch_warp_size(const isa::Module& module, const isa::Kernel& kernel,
                                        const hw::CoreParameters& core);

}  // namespace heddle::tb
