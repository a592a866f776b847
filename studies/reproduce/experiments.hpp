// Which claims put to the test why another claim does not hold, or show it under another reading of its paper.
#pragma once

#include <string>
#include <vector>

namespace heddle::studies {

// What the experiments of a claim came to stands beside it where it does not hold.
struct Experiments {
  std::vector<std::string> claims;
  std::vector<std::string> experiments;  // ids of claims, too
};
[[nodiscard]] const std::vector<Experiments>& all_experiments();
[[nodiscard]] std::vector<std::string> experiments_of(const std::string& claim);

}  // namespace heddle::studies
