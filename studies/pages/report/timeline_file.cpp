#include "studies/pages/report/timeline_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "studies/pages/report/timeline_picture.hpp"
#include "tb/measure/record.hpp"

namespace heddle::pages {

void check_timeline_path(const std::string& path) {
  if (!path.ends_with(".svg") && !path.ends_with(".json")) {
    throw InputError({path}, "a timeline is FILE.svg, a picture, or FILE.json, its figures");
  }
}

void write_timeline(const TimelineRequest& request, const tb::BankTimeline& timeline) {
  os::write_file(request.path, request.path.ends_with(".json") ? tb::timeline_json(timeline) : timeline_file(timeline));
}

TimelineFile::TimelineFile(TimelineRequest request, const hw::Machine& machine)
    : request_(std::move(request)),
      timeline_(request_.begin, request_.cycles, machine.dram.channels, machine.dram.banks),
      observer_(timeline_) {}

void TimelineFile::check() const {
  os::check_writable(request_.path);
}

void TimelineFile::make(const tb::RunRecord& record, const StatisticsRegistry& /*modules*/) {
  write_timeline(request_, timeline_.timeline(fmt::format("{} on {}", record.workload, record.machine.name)));
}

}  // namespace heddle::pages
