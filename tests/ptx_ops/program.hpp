// PTX programs written by hand, run by the reference interpreter with 32-bit and 64-bit addresses and with many and few
// registers; the results must be equal.
#pragma once

#include <string>
#include <vector>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {

struct Program {
  // Declarations of the module, before the kernel.
  std::string module;
  // The kernel's body. It finds the thread's index along x in %tid0 (.u32) and the buffers' addresses in %in and %out;
  // $p stands for the bits of an address, 32 or 64, here and in the declarations.
  std::string body;
  unsigned grid = 1, grid_y = 1, grid_z = 1;
  unsigned block = 32, block_y = 1, block_z = 1;
  std::vector<u32> input;
  std::size_t output_words = 0;
  unsigned warp_size = 32;
  // Why a GPU may make something else of it (addresses, orders, what PTX leaves open) or refuse it; empty: it may not.
  std::string ours_alone = {};
};

// The output buffer, which starts as zeros. A compile error, a fault, or outputs that differ among the settings fail
// the running test. Where programs for GPUs are wanted (tests/support/gpu_programs.hpp), it becomes one, unless it is
// `ours_alone`, of several dimensions, or of warps of another size.
[[nodiscard]] std::vector<u32> run(const Program& program);
// With one address size only, for programs that depend on it.
[[nodiscard]] std::vector<u32> run_with_address_bits(const Program& program, unsigned address_bits);

}  // namespace heddle::ptx_ops
