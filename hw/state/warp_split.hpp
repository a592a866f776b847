// Why a warp, or a warp-split, is parted in two, and how the two come together again (DWS report 4 and 5).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle::hw {

enum class SplitCause : std::uint8_t {
  branch,   // its threads disagree
  access,   // an access has answered some of its threads, the others wait for lines
  revived,  // an access, noticed while threads waited already, as the core had nothing else to do (ReviveSplit)
  slip      // an access, and the threads that wait stay behind (adaptive slip, 5.7)
};
inline constexpr std::array<std::string_view, 4> kSplitCauses = {"branch", "access", "revived", "slip"};
[[nodiscard]] constexpr std::string_view name_of(SplitCause cause) {
  return kSplitCauses[static_cast<std::size_t>(cause)];
}

enum class SplitEnd : std::uint8_t {
  pc,             // it joins another one of its warp that stands at the same PC (4.5)
  formation,      // it joins one of another warp that stands at the same PC (dynamic warp formation)
  reconvergence,  // it joins others at the re-convergence point of the warp's stack (4.4)
  branch,         // at a branch at which all of its warp wait for each other (BranchLimited, 5.3.1)
  barrier,        // at a barrier
  exit,           // its threads have exited
  alone           // no other one of its warp is left: it is the warp
};
inline constexpr std::array<std::string_view, 7> kSplitEnds = {"pc",      "formation", "reconvergence", "branch",
                                                               "barrier", "exit",      "alone"};
[[nodiscard]] constexpr std::string_view name_of(SplitEnd end) {
  return kSplitEnds[static_cast<std::size_t>(end)];
}

}  // namespace heddle::hw
