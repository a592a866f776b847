// How a core's one store is shared out between its scratchpad and its L1 in a launch (scratchpad.carve_outs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// The sizes of a list of carve-outs, in bytes; empty: there are none, or they make no sense, and `why` says why.
[[nodiscard]] std::vector<std::uint64_t> parse_carve_outs(const std::string& text, std::string& why);

// Bytes of the scratchpad in a launch whose blocks have so many each, and of which a core can have so many by
// everything else. Of the carve-outs the smallest that holds
//   preferred >= 0   that part of the largest, in percent, and one block (CUDA Runtime API, cudaFuncSetAttribute)
//   else             the blocks, as many as the largest holds, and at least scratchpad.least_carve_out
// Without carve-outs scratchpad.bytes.
[[nodiscard]] std::uint64_t carve_out(const Machine& machine, std::uint64_t of_block, std::uint64_t blocks,
                                      int preferred);

}  // namespace heddle::hw
