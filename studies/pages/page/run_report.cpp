#include "studies/pages/page/run_report.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "os/files/atomic_file.hpp"
#include "studies/pages/page/data_page.hpp"
#include "studies/pages/page/declarations.hpp"
#include "tb/measure/profile/profile_json.hpp"

namespace heddle::tb {
std::string run_report_data(const RunRecord& record, const StatisticsRegistry& modules, const Profile& profile,
                            const SourceFiles& sources) {
  return fmt::format("{{\"kind\":\"report\",\"command\":{},\"stats\":{},\"profile\":{},\"declarations\":{}}}\n",
                     boost::json::serialize(boost::json::string(record.command)), stats_json(record, modules),
                     boost::json::serialize(profile_json(profile, &sources, record.energy ? &*record.energy : nullptr)),
                     boost::json::serialize(declarations_json()));
}

std::string run_report(const RunRecord& record, const StatisticsRegistry& modules, const Profile& profile,
                       const SourceFiles& sources) {
  return data_page({fmt::format("Heddle: {} on {}", record.workload, record.machine.name),
                    run_report_data(record, modules, profile, sources),
                    {"energy.js", "report.js", "grid.js", "source.js"}});
}

void ReportPage::check() const {
  for (const auto& file : {files_.page, files_.data}) {
    if (file) {
      check_writable(*file);
    }
  }
}

void ReportPage::make(const RunRecord& record, const StatisticsRegistry& modules) {
  if (files_.page) {
    write_file(*files_.page, run_report(record, modules, profile_, sources_));
  }
  if (files_.data) {
    write_file(*files_.data, run_report_data(record, modules, profile_, sources_));
  }
}

}  // namespace heddle::tb
