// Whether a machine makes sense: its parameters between each other, and what the policies that it names can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// Values beyond their parameters' limits and names of no policy; without any, contradictions between parameters. Empty
// when the machine makes sense.
[[nodiscard]] std::vector<Contradiction> check(const Machine& machine);

// Parameters that change nothing on this machine.
[[nodiscard]] std::vector<WithoutEffect> without_effect(const Machine& machine);

// Why kernels cannot use warp-level operations (vote, shfl, match) on this machine; empty when they can. Launches of
// such kernels have warps of isa::kLanes threads, whatever the SIMD width is.
[[nodiscard]] std::string why_no_warp_operations(const CoreParameters& core);
// Likewise why kernels cannot use operations on matrices (mma, ldmatrix).
[[nodiscard]] std::string why_no_matrices(const CoreParameters& core);

// Why a launch cannot have warps of so many threads on a core; empty: it can (thesis 9.2.1). The machine's own warp
// size always can; another one is a multiple of core.simd_width, divides core.threads, and is at most kLargestWarp.
[[nodiscard]] std::string why_no_warp_size(const CoreParameters& core, std::uint32_t warp_size);

}  // namespace heddle::hw
