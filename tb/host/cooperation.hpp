// Why a kernel cannot be launched cooperatively on a machine, apart from how many blocks are resident.
#pragma once

#include <fmt/format.h>

#include <string>

#include "hw/gpu/dispatcher.hpp"
#include "isa/program.hpp"

namespace heddle::tb {

// Empty: it can. Code of nvcc's waits for its grid by reading a word of memory over and over; behind that its loads
// must not find old copies in a core's L1, which only the machine's own barrier sees to.
[[nodiscard]] inline std::string why_no_cooperation(const hw::Machine& machine, const isa::Kernel& kernel) {
  if (kernel.reads_grid_workspace && machine.gpu.cores > 1) {
    return fmt::format(
        "it has nvcc's code for this_grid(), which reads memory in a loop (%envreg1, %envreg2) and does so on one core "
        "only; gpu.cores is {}. Compile it with heddle nvcc, whose code uses the machine's barrier",
        machine.gpu.cores);
  }
  return hw::why_no_cooperation(machine);
}

}  // namespace heddle::tb
