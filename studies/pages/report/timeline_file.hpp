// The file that shows what memory channels do over a window: --timeline of every command that drives them.
#pragma once

#include <cstdint>
#include <string>

#include "hw/parameters/machine.hpp"
#include "tb/measure/dram/timeline.hpp"
#include "tb/measure/run_product.hpp"

namespace heddle::pages {

// A window of simulated time, and where its picture goes.
struct TimelineRequest {
  std::string path;  // FILE.svg, or FILE.json: the figures
  std::uint64_t begin = 0;
  std::uint64_t cycles = 3000;
};
// Throws InputError for a path that ends otherwise.
void check_timeline_path(const std::string& path);

// Writes the file that was asked for, whole or not at all. Throws InputError.
void write_timeline(const TimelineRequest& request, const tb::BankTimeline& timeline);

// That of a run.
class TimelineFile final : public tb::RunProduct {
 public:
  TimelineFile(TimelineRequest request, const hw::Machine& machine);
  void check() const override;
  [[nodiscard]] tb::RunObserver* observer() override { return &observer_; }
  void make(const tb::RunRecord& record, const StatisticsRegistry& modules) override;

 private:
  struct Channels final : tb::RunObserver {
    explicit Channels(tb::DramTimeline& watched) : timeline(watched) {}
    [[nodiscard]] hw::DramObserver* dram(unsigned channel) override { return &timeline.observer(channel); }
    tb::DramTimeline& timeline;
  };
  TimelineRequest request_;
  tb::DramTimeline timeline_;
  Channels observer_;
};

}  // namespace heddle::pages
