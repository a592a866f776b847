// The verdicts of another reproduction, as its reproduction.json holds them: shown beside ours where the two were made
// at different scales.
#pragma once

#include <map>
#include <string>

namespace heddle::studies {

struct OtherReproduction {
  std::string scaling;  // "default scale"
  struct Verdict {
    std::string ours, shape;
  };
  std::map<std::string, Verdict> claims;  // by id
};

// Throws InputError (with the file) for what cannot be read or is no reproduction.
[[nodiscard]] OtherReproduction read_reproduction(const std::string& path);

}  // namespace heddle::studies
