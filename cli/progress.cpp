#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/text.hpp"
#include "cli/printable.hpp"
#include "studies/pages/report/time_left.hpp"

namespace heddle::cli {

ProgressLine::ProgressLine(bool wanted) : wanted_(wanted) {
  begin_anew();
}

void ProgressLine::begin_anew() {
  active_ = wanted_ && ::isatty(STDERR_FILENO) == 1;
  shown_ = 0;
}

void ProgressLine::show(const std::string& text) {
  if (!active_) {
    return;
  }
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t room = known ? size.ws_col - 1U : 79U;  // a full line would wrap and could not be rewritten
  const std::string line = printable(text).substr(0, room);
  std::fprintf(stderr, "\r%s%s", line.c_str(),
               std::string(shown_ > line.size() ? shown_ - line.size() : 0, ' ').c_str());
  std::fflush(stderr);
  shown_ = line.size();
}

void ProgressLine::clear() {
  if (active_ && shown_ != 0) {
    std::fprintf(stderr, "\r%s\r", std::string(shown_, ' ').c_str());
    std::fflush(stderr);
    shown_ = 0;
  }
}

std::string progress_text(const tb::DeviceOptions::Progress& progress, double wall_seconds) {
  const double rate = wall_seconds > 0 ? static_cast<double>(progress.warp_instructions) / wall_seconds : 0;
  std::string text;
  if (const std::optional<double> share = progress.share()) {
    text = fmt::format("{:.0f} %", std::floor(100 * *share));
    if (*share > 0) {
      text += fmt::format(", {} left", pages::time_text(wall_seconds * (1 - *share) / *share));
    }
    text += ": ";
  }
  text += fmt::format("launch {}", progress.launches_ended + 1);
  if (progress.plan) {
    text += fmt::format(" of {}", progress.plan->launches);
  }
  return text + fmt::format(" ({}), {} of {} blocks, {} cycles, {} warp instructions/s", progress.kernel,
                            progress.blocks_finished, progress.blocks, scaled(static_cast<double>(progress.cycles)),
                            scaled(rate));
}

}  // namespace heddle::cli
