// Watches memory channels for a window of cycles, for the picture of thesis figure 7.2
// (tb/measure/dram/bank_timeline.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hw/dram/timing.hpp"
#include "tb/measure/dram/bank_timeline.hpp"

namespace heddle::tb {

class DramTimeline {
 public:
  // Of the cycles from `begin` on, so many.
  DramTimeline(std::uint64_t begin, std::uint64_t cycles, unsigned channels, unsigned banks);
  ~DramTimeline();
  DramTimeline(const DramTimeline&) = delete;
  DramTimeline& operator=(const DramTimeline&) = delete;

  // For DramController::observe of a channel; lives as long as this.
  [[nodiscard]] hw::DramObserver& observer(unsigned channel);
  [[nodiscard]] BankTimeline timeline(std::string title) const;

 private:
  class Watcher;
  const std::uint64_t begin_;
  const std::uint64_t end_;
  const unsigned banks_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
};

}  // namespace heddle::tb
