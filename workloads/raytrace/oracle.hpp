// What a pixel of raytrace must look like, in double precision by another way to find the same points: distances of
// centres from rays instead of quadratic equations. Beside each value stands a bound on how far the kernel's single
// precision may be from it. Where that leaves open what a ray meets, all that it may meet is tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tb/device/workload.hpp"

namespace heddle::workloads::raytrace {

// As in the kernel.
struct Body {
  float x = 0, y = 0, z = 0;
  float radius = 0;
  float red = 0, green = 0, blue = 0;
  float mirror = 0;
};
inline constexpr std::size_t kMostBodies = 16;
struct Scene {
  Body bodies[kMostBodies];
  float eye[3] = {0, 0, 0};
  float light[3] = {0, 0, 0};
};

// Is `picture`, side x side pixels of 8 bits each for red (lowest), green, blue and 255, what is seen of `count`
// bodies?
[[nodiscard]] tb::Verdict judge(const std::vector<std::uint32_t>& picture, std::uint32_t side, const Scene& scene,
                                std::uint32_t count);

}  // namespace heddle::workloads::raytrace
