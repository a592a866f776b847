#include "tb/device/launch_warps.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "hw/divergence/divergence.hpp"

namespace heddle::tb {

namespace {

constexpr unsigned kWarp = isa::kLanes;  // threads that operations between lanes work on; WARP_SZ

// The warp size of a kernel that asks for none.
unsigned usual_warp_size(const isa::Kernel& kernel, const hw::CoreParameters& core) {
  const bool groups_fit = core.warp_size % kernel.lane_groups == 0;
  return kernel.uses_warp_operations || !groups_fit ? kWarp : core.warp_size;
}

void check_operations(const isa::Module& module, const isa::Kernel& kernel, const hw::CoreParameters& core) {
  const std::string reason = hw::why_no_warp_operations(core);
  if (reason.empty() && kernel.needs_lockstep && hw::schedules_threads(core)) {
    throw InputError({module.name, kernel.warp_operation_line},
                     fmt::format("kernel '{}' uses a warp-level operation (vote, shfl, match, bar.warp.sync) and is "
                                 "compiled for machines on which the lanes of a warp stay together, which "
                                 "core.divergence = \"{}\" does not promise",
                                 kernel.name, core.divergence),
                     "compile it for this machine (ptx::CompileOptions::warp_syncs)");
  }
  if (reason.empty()) {
    return;
  }
  hw::CoreParameters advised = core;
  advised.divergence = "stack";
  throw InputError(
      {module.name, kernel.warp_operation_line},
      fmt::format("kernel '{}' uses a warp-level operation (vote, shfl, match, lane ids): {}", kernel.name, reason),
      hw::why_no_warp_operations(advised).empty()
          ? "run it with core.divergence = \"stack\""
          : fmt::format("run it with core.divergence = \"stack\", a core.simd_width that divides {0}, and a multiple "
                        "of {0} as core.threads",
                        kWarp));
}

// A row of the register file holds a lane's part for the whole warp.
void check_matrices(const isa::Module& module, const isa::Kernel& kernel, const hw::CoreParameters& core) {
  const std::string reason = hw::why_no_matrices(core);
  const auto first = reason.empty() ? std::nullopt : isa::first_matrix_operation(kernel);
  if (first) {
    throw InputError({},
                     fmt::format("{}: an operation on matrices (mma, ldmatrix): {}",
                                 isa::describe_pc(module, kernel, *first), reason),
                     "run it on a machine with tensor cores, as h100 or a100");
  }
}

// Neighbouring threads of a group lie in one warp.
void check_groups(const isa::Module& module, const isa::Kernel& kernel, const hw::CoreParameters& core,
                  unsigned warp_size) {
  std::string reason = hw::why_no_warp_size(core, warp_size);
  if (warp_size % kernel.lane_groups != 0) {
    reason = fmt::format("{} does not divide {}, the threads of a warp", kernel.lane_groups, warp_size);
  } else if (reason.empty()) {
    return;
  }
  throw InputError({module.name, kernel.lane_groups_line},
                   fmt::format("kernel '{}' forms groups of {} neighbouring threads in one warp (.pragma \"lane_groups "
                               "{}\"; tiled_partition in CUDA): {}",
                               kernel.name, kernel.lane_groups, kernel.lane_groups, reason),
                   "form smaller groups, or run it on a machine with wider warps");
}

}  // namespace

unsigned launch_warp_size(const isa::Module& module, const isa::Kernel& kernel, const hw::CoreParameters& core) {
  if (kernel.uses_warp_operations) {
    check_operations(module, kernel, core);
    check_matrices(module, kernel, core);
  }
  if (!kernel.warp_size) {
    const unsigned warp_size = usual_warp_size(kernel, core);
    check_groups(module, kernel, core, warp_size);
    return warp_size;
  }
  const unsigned wanted = *kernel.warp_size;
  if (const std::string reason = hw::why_no_warp_size(core, wanted); !reason.empty()) {
    throw InputError({module.name, kernel.warp_size_line},
                     fmt::format("kernel '{}' asks for warps of {} threads (.pragma \"warp_size {}\"): {}", kernel.name,
                                 wanted, wanted, reason),
                     "ask for another size, or leave the pragma out");
  }
  if (kernel.uses_warp_operations && wanted != kWarp) {
    throw InputError({module.name, kernel.warp_operation_line},
                     fmt::format("kernel '{}' uses a warp-level operation (vote, shfl, match, lane ids) and asks for "
                                 "warps of {} threads (.pragma \"warp_size {}\" in line {}): such operations work on "
                                 "warps of {}",
                                 kernel.name, wanted, wanted, kernel.warp_size_line, kWarp),
                     fmt::format("ask for {}, or leave the pragma out", kWarp));
  }
  check_groups(module, kernel, core, wanted);
  return wanted;
}

}  // namespace heddle::tb
