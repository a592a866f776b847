// The verdicts of another reproduction, as its reproduction.json holds them, or of several at one scale, as a file of
// verdicts gathers them: shown beside ours where the two were made at different scales.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace heddle::studies {

struct Reproduction;

struct OtherReproduction {
  std::string scaling;  // "default scale"
  struct Verdict {
    std::string ours, shape;
    std::string date, version;  // "2026-11-30", "0.2.0"; empty in a reproduction.json, which has no date
  };
  std::map<std::string, Verdict> claims;  // by id
};

// Throws InputError (with the file) for what cannot be read or is no reproduction.
[[nodiscard]] OtherReproduction read_reproduction(const std::string& path);

// `kept` with the verdicts of `reproduction` in place of older ones, for a reproduction that is made in portions.
// Both are at one scale. Claims of which a workload is missing add nothing.
[[nodiscard]] OtherReproduction with_verdicts(const std::optional<OtherReproduction>& kept,
                                              const Reproduction& reproduction, const std::string& date);
// As a file that read_reproduction takes.
[[nodiscard]] std::string verdicts_json(const OtherReproduction& verdicts);

}  // namespace heddle::studies
