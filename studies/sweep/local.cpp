// The launcher of this machine: one forked process per run. Forking the program as it stands, with every machine read
// and every workload known, saves what starting it anew would cost.
#include <map>
#include <optional>

#include "os/process/children.hpp"
#include "studies/sweep/launcher.hpp"

namespace heddle::studies::sweep {
namespace {

class Local final : public Launcher {
 public:
  explicit Local(unsigned jobs) : jobs_(jobs) {}

  void launch(const Job& job) override {
    struct Running {
      Point point;
      RunOutput output;
    };
    std::map<std::size_t, Running> running;
    os::ChildLoop loop;
    loop.count = job.entries.size();
    loop.jobs = jobs_;
    loop.stop = job.stop;
    loop.start = [&](std::size_t index) {
      const auto run = running.emplace(index, Running{job.plan.point(job.entries[index]), RunOutput()}).first;
      try {
        return start_run(run->second.point.order, job.exploration.limits, run->second.output);
      } catch (const InternalError&) {
        running.erase(run);
        throw;
      }
    };
    loop.ended = [&](std::size_t index, const os::ProcessEnd& end) {
      const auto run = running.find(index);
      const RunReport report = read_report(end, job.exploration.limits, run->second.output);
      const bool stopped = job.stop != nullptr && job.stop->load() != 0;
      if (!(report.interrupted && stopped)) {
        job.ended(job.entries[index], run->second.point, report);
      }
      running.erase(run);
    };
    loop.not_started = [&](std::size_t index, const std::string& why) {
      RunReport report;
      report.status = status::kCrashed;
      report.message = why;
      job.ended(job.entries[index], job.plan.point(job.entries[index]), report);
    };
    loop.changed = [&](std::size_t, const std::vector<std::size_t>& now) { job.changed(now.size()); };
    os::run_children(loop);
  }

 private:
  unsigned jobs_;
};

}  // namespace

std::unique_ptr<Launcher> local_launcher(unsigned jobs) {
  return std::make_unique<Local>(jobs);
}

}  // namespace heddle::studies::sweep
