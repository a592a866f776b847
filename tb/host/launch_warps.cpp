#include "tb/host/launch_warps.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "hw/check/machine.hpp"

namespace heddle::tb {

unsigned launch_warp_size(const isa::Module& module, const isa::Kernel& kernel, const hw::CoreParameters& core) {
  if (kernel.uses_warp_operations) {
    if (const std::string reason = hw::why_no_warp_operations(core); !reason.empty()) {
      throw InputError(
          {module.name, kernel.warp_operation_line},
          fmt::format("kernel '{}' uses a warp-level operation (vote, shfl, match, lane ids): {}", kernel.name, reason),
          "run it with core.divergence = \"stack\"");
    }
  }
  if (core.simd_width % kernel.lane_groups != 0) {
    throw InputError(
        {module.name, kernel.lane_groups_line},
        fmt::format("kernel '{}' forms groups of {} neighbouring threads in one warp (.pragma \"lane_groups "
                    "{}\"; tiled_partition in CUDA): {} does not divide core.simd_width ({})",
                    kernel.name, kernel.lane_groups, kernel.lane_groups, kernel.lane_groups, core.simd_width),
        "form smaller groups, or run it on a machine with more lanes");
  }
  if (!kernel.warp_size) {
    return kernel.uses_warp_operations ? core.simd_width : core.warp_size;
  }
  const unsigned wanted = *kernel.warp_size;
  if (const std::string reason = hw::why_no_warp_size(core, wanted); !reason.empty()) {
    throw InputError({module.name, kernel.warp_size_line},
                     fmt::format("kernel '{}' asks for warps of {} threads (.pragma \"warp_size {}\"): {}", kernel.name,
                                 wanted, wanted, reason),
                     "ask for another size, or leave the pragma out");
  }
  if (kernel.uses_warp_operations && wanted != core.simd_width) {
    throw InputError({module.name, kernel.warp_operation_line},
                     fmt::format("kernel '{}' uses a warp-level operation (vote, shfl, match, lane ids) and asks for "
                                 "warps of {} threads (.pragma \"warp_size {}\" in line {}): such operations work on "
                                 "the {} lanes of core.simd_width",
                                 kernel.name, wanted, wanted, kernel.warp_size_line, core.simd_width),
                     fmt::format("ask for {}, or leave the pragma out", core.simd_width));
  }
  return wanted;
}

}  // namespace heddle::tb
