// Watches memory channels for a window of cycles, for the picture of thesis figure 7.2 (tb/report/bank_timeline.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/dram/timing.hpp"
#include "tb/report/bank_timeline.hpp"

namespace heddle::tb {

// A window of simulated time, and where its picture goes.
struct TimelineRequest {
  std::string path;  // FILE.svg, or FILE.json: the figures
  std::uint64_t begin = 0;
  std::uint64_t cycles = 3000;
};
// Throws InputError for a path that ends otherwise.
void check_timeline_path(const std::string& path);

class DramTimeline {
 public:
  DramTimeline(const TimelineRequest& request, unsigned channels, unsigned banks);
  ~DramTimeline();
  DramTimeline(const DramTimeline&) = delete;
  DramTimeline& operator=(const DramTimeline&) = delete;

  // For DramController::observe of a channel; lives as long as this.
  [[nodiscard]] hw::DramObserver& observer(unsigned channel);
  [[nodiscard]] BankTimeline timeline(std::string title) const;
  // Writes the file that was asked for, whole or not at all. Throws InputError.
  void write(std::string title) const;

 private:
  class Watcher;
  const TimelineRequest request_;
  const unsigned banks_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
};

}  // namespace heddle::tb
