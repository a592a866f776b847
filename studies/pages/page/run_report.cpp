#include "studies/pages/page/run_report.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "os/files/atomic_file.hpp"
#include "studies/pages/page/data_page.hpp"
#include "studies/pages/page/declarations.hpp"
#include "tb/measure/energy/power_file.hpp"
#include "tb/measure/profile/profile_json.hpp"

namespace heddle::pages {
std::string run_report_data(const tb::RunRecord& record, const StatisticsRegistry& modules, const tb::Profile& profile,
                            const tb::SourceFiles& sources) {
  return fmt::format(
      "{{\"kind\":\"report\",\"command\":{},\"stats\":{},\"profile\":{},{}\"declarations\":{}}}\n",
      boost::json::serialize(boost::json::string(record.command)), tb::stats_json(record, modules),
      boost::json::serialize(tb::profile_json(profile, &sources, record.energy ? &*record.energy : nullptr)),
      record.power ? fmt::format("\"power\":{},", boost::json::serialize(tb::power_steps_json(*record.power))) : "",
      boost::json::serialize(declarations_json()));
}

std::string run_report(const tb::RunRecord& record, const StatisticsRegistry& modules, const tb::Profile& profile,
                       const tb::SourceFiles& sources) {
  return data_page({fmt::format("Heddle: {} on {}", record.workload, record.machine.name),
                    run_report_data(record, modules, profile, sources),
                    {"energy.js", "report.js", "grid.js", "source.js"}});
}

void ReportPage::check() const {
  for (const auto& file : {files_.page, files_.data}) {
    if (file) {
      os::check_writable(*file);
    }
  }
}

void ReportPage::make(const tb::RunRecord& record, const StatisticsRegistry& modules) {
  if (files_.page) {
    os::write_file(*files_.page, run_report(record, modules, profile_, sources_));
  }
  if (files_.data) {
    os::write_file(*files_.data, run_report_data(record, modules, profile_, sources_));
  }
}

}  // namespace heddle::pages
