// Lanes of a warp, for kernels that rest on warps of this size.
#pragma once

constexpr unsigned kLanes = 32;
