// The page about one run (heddle run --report): what it came to, over time, per core, warp and lane, and per line of
// the kernels' source. docs/report.md describes it and the data that it holds.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/statistics.hpp"
#include "tb/measure/profile/profile.hpp"
#include "tb/measure/profile/source_text.hpp"
#include "tb/measure/record.hpp"
#include "tb/measure/run_product.hpp"

namespace heddle::pages {

// {"kind": "report", "command": how the run was called, "stats": stats.json, "profile": ..., "declarations": ...}. A
// function of the run's input alone. `sources` says which files' texts may be in it.
[[nodiscard]] std::string run_report_data(const tb::RunRecord& record, const StatisticsRegistry& modules,
                                          const tb::Profile& profile, const tb::SourceFiles& sources);
[[nodiscard]] std::string run_report(const tb::RunRecord& record, const StatisticsRegistry& modules,
                                     const tb::Profile& profile, const tb::SourceFiles& sources);

// The page as a run makes it, and its data alone, each in a file.
class ReportPage final : public tb::RunProduct {
 public:
  struct Files {
    std::optional<std::string> page;  // none: it is not written
    std::optional<std::string> data;  // run_report_data()
  };
  ReportPage(Files files, const hw::Machine& machine, tb::SourceFiles sources)
      : files_(std::move(files)), profile_(machine), sources_(std::move(sources)) {}
  void check() const override;
  [[nodiscard]] tb::RunObserver* observer() override { return &profile_; }
  void make(const tb::RunRecord& record, const StatisticsRegistry& modules) override;

 private:
  Files files_;
  tb::Profile profile_;
  tb::SourceFiles sources_;
};

}  // namespace heddle::pages
