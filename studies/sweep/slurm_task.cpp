// What a task of a job array does.
#include <fmt/format.h>

#include <filesystem>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "studies/reproduce/plan.hpp"
#include "studies/sweep/slurm.hpp"
#include "studies/sweep/slurm_files.hpp"
#include "studies/sweep/store.hpp"

namespace heddle::studies::sweep {
namespace {

RunReport do_limited(const RunOrder& order, const RunLimits& limits) {
  const RunOutput output;
  return read_report(start_run(order, limits, output).wait(), limits, output);
}

}  // namespace

void do_slurm_task(const std::string& submission, std::uint64_t index) {
  const SlurmTask task = read_task(submission, index);
  const std::string build = program_build();
  for (const SlurmTask::Entry& run : task.runs) {
    const std::string path = task.results + "/" + run.key;
    std::error_code error;
    if (std::filesystem::exists(path, error)) {  // Slurm began the task anew
      continue;
    }
    RunReport report;
    if (build == task.build) {
      report = do_limited(run.order, task.limits);
    } else {
      report.status = status::kCrashed;
      report.message = fmt::format("this machine has another build of Heddle ({})", build);
    }
    report.host = host_name();
    os::write_file(path, report_text(report));
  }
}

}  // namespace heddle::studies::sweep
