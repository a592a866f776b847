#include "studies/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "studies/pages/report/time_left.hpp"
#include "studies/reproduce/plan.hpp"
#include "studies/sweep/store.hpp"
#include "tb/measure/host_cost.hpp"

namespace heddle::studies::sweep {
namespace {

constexpr double kProgressSeconds = 0.2;  // between two lines

}  // namespace

SweepResult sweep(const SweepOptions& options, Launcher& launcher) {
  const double start = tb::wall_clock();
  Exploration exploration = read_exploration(options.exploration);
  if (options.scale != 1) {
    scale_all(exploration, options.scale);
  }
  const Plan plan(exploration, program_build());
  SweepResult result;
  result.database = options.database;
  result.runs = plan.entries().size();
  Store store(result.database);
  if (const std::string objection = store.objection(exploration, plan); !objection.empty() && !options.resume) {
    throw InputError({result.database}, objection,
                     "--resume adds this sweep to it and keeps what is there; --database names another");
  }
  store.begin(exploration, plan);

  std::map<std::string, std::string> there = store.runs();
  std::set<std::string> taken;  // what is to be done
  std::vector<std::size_t> refused;
  Launcher::Job job{exploration, plan, {}, {}, {}, options.stop};
  pages::TimeLeft::Counts rest;
  for (std::size_t i = 0; i < plan.entries().size(); ++i) {
    const Plan::Entry& entry = plan.entries()[i];
    const auto known = there.find(entry.key);
    if (known != there.end() && !(options.retry && may_retry(known->second))) {
      ++result.kept;
    } else if (taken.insert(entry.key).second) {
      (entry.refused ? refused : job.entries).push_back(i);
      rest[plan.workloads()[entry.workload]] += entry.refused ? 0 : 1;
    }
  }
  store.all_at_once([&] {
    for (const std::size_t entry : refused) {
      const Point point = plan.point(entry);
      RunReport report;
      report.status = status::kRefused;
      report.message = point.refusal;
      store.put(point, report);
      there[point.key] = report.status;
      taken.erase(point.key);
      ++result.ran;
    }
  });

  pages::TimeLeft times;
  std::size_t done = 0;
  std::size_t failed = 0;
  double shown = 0;
  job.ended = [&](std::size_t entry, const Point& point, const RunReport& report) {
    store.put(point, report);
    there[point.key] = report.status;
    taken.erase(point.key);
    ++done;
    ++result.ran;
    failed += report.status == status::kDone || report.status == status::kStopped ? 0 : 1;
    result.run_seconds += report.cost.wall_seconds;
    result.simulation_cpu_seconds += report.cost.simulation_cpu_seconds;
    const std::string& workload = plan.workloads()[plan.entries()[entry].workload];
    times.done(workload, report.cost.wall_seconds);
    if (--rest[workload] == 0) {
      rest.erase(workload);
    }
  };
  const double launched = tb::wall_clock();
  job.changed = [&](std::size_t running) {
    const double now = tb::wall_clock();
    if (!options.progress || (now - shown < kProgressSeconds && done != job.entries.size())) {
      return;
    }
    shown = now;
    std::string line = fmt::format("{} of {} runs done", done, job.entries.size());
    // As many at a time as so far: on a cluster this is what it gave us.
    const double at_a_time = std::max(1.0, result.run_seconds / std::max(1e-9, now - launched));
    if (const auto left = times.left(rest, 1)) {
      line += fmt::format(", {} left", pages::time_text(*left / at_a_time));
    }
    line += fmt::format("; {} running", running);
    options.progress(failed == 0 ? line : line + fmt::format("; {} failed", failed));
  };
  launcher.launch(job);

  for (const Plan::Entry& entry : plan.entries()) {
    if (taken.count(entry.key) != 0) {
      ++result.missing;
    } else {
      ++result.by_status[there.at(entry.key)];
    }
  }
  if (result.missing == 0) {
    store.end();
  }
  store.check_in_place();
  if (result.by_status.count(std::string(status::kRefused)) != 0) {
    result.refusal = store.first_refusal();
  }
  result.wall_seconds = tb::wall_clock() - start;
  return result;
}

}  // namespace heddle::studies::sweep
