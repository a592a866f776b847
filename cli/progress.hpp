// The progress line of a long run: one line on stderr, rewritten in place, on a terminal only.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tb/device/device.hpp"

namespace heddle::cli {

class ProgressLine {
 public:
  // Active only when stderr is a terminal and `wanted`.
  explicit ProgressLine(bool wanted);
  // In a process that goes on with another one's line: its stderr is another one.
  void begin_anew();
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  [[nodiscard]] bool active() const { return active_; }
  void show(const std::string& text);
  void clear();

 private:
  bool wanted_;
  bool active_ = false;
  std::size_t shown_ = 0;  // columns
};

// "43 %, 1 min 20 s left: launch 7 of 24 (expand), 12 of 64 blocks, 3.20 M cycles, 1.10 M warp instructions/s". Share
// and time only of a program that has planned its launches, the time once the share says anything.
[[nodiscard]] std::string progress_text(const tb::DeviceOptions::Progress& progress, double wall_seconds);

}  // namespace heddle::cli
