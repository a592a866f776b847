// A pipeline's log in Kanata's form (heddle run --pipeline) read back: the sub-warps on their way through the stages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::studies {

struct LoggedStage {
  std::string name;
  std::uint64_t begin = 0, end = 0;  // cycles, the end excluded
};

struct LoggedSubWarp {
  std::uint64_t warp = 0;           // 65536 times the core plus the group
  std::string label;                // core, group, PC, instruction, lanes
  std::vector<LoggedStage> stages;  // lane 0
  std::string waits;                // lane 1: what held it up, by the first cause
  bool flushed = false;             // was on its way when the log ended

  [[nodiscard]] std::uint64_t begin() const { return stages.empty() ? 0 : stages.front().begin; }
  [[nodiscard]] std::uint64_t end() const { return stages.empty() ? 0 : stages.back().end; }
};

// In the order in which they began. Throws InputError for what is no such log.
[[nodiscard]] std::vector<LoggedSubWarp> read_kanata(const std::string& path);

// The first cycle in which the logs of two machines are not the same; none: they are, as far as both go.
[[nodiscard]] std::optional<std::uint64_t> first_difference(const std::vector<LoggedSubWarp>& one,
                                                            const std::vector<LoggedSubWarp>& other);

}  // namespace heddle::studies
