#include "studies/reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/registry.hpp"
#include "base/text.hpp"
#include "studies/pages/report/time_left.hpp"
#include "tb/measure/host_cost.hpp"
#include "tb/measure/json_text.hpp"
#include "tb/measure/version.hpp"

namespace heddle::studies {
namespace {

struct KnownClaim {
  std::string id;
  std::string title;
  ClaimText text;
  std::unique_ptr<Claim> claim;
};

std::vector<KnownClaim> known_claims() {
  std::vector<KnownClaim> known;
  for (const auto& [id, entry] : Registry<Claim>::instance().entries()) {
    std::unique_ptr<Claim> claim = entry.make({});
    ClaimText text = claim->text();
    known.push_back({id, entry.description, std::move(text), std::move(claim)});
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const KnownClaim& a, const KnownClaim& b) { return a.text.rank < b.text.rank; });
  return known;
}

std::vector<KnownClaim> chosen_claims(const std::vector<std::string>& ids) {
  std::vector<KnownClaim> known = known_claims();
  const std::vector<std::string> names = claim_ids();
  for (const std::string& id : ids) {
    if (std::find(names.begin(), names.end(), id) == names.end()) {
      throw InputError({}, "there is no claim '" + id + "'", suggest(id, names, "try heddle reproduce --list"));
    }
  }
  if (!ids.empty()) {
    std::erase_if(known,
                  [&](const KnownClaim& claim) { return std::find(ids.begin(), ids.end(), claim.id) == ids.end(); });
  }
  return known;
}

}  // namespace

std::vector<std::string> claim_ids() {
  std::vector<std::string> ids;
  for (const KnownClaim& known : known_claims()) {
    ids.push_back(known.id);
  }
  return ids;
}

Reproduction reproduce(const ReproduceOptions& options) {
  const double start = tb::wall_clock();
  const std::vector<KnownClaim> chosen = chosen_claims(options.ids);
  std::vector<Run> wanted;
  for (const KnownClaim& known : chosen) {
    const std::vector<Run> runs = known.claim->runs();
    wanted.insert(wanted.end(), runs.begin(), runs.end());
  }
  const std::string build = program_build();
  const Plan plan = plan_runs(wanted, options.scaling, build);
  const std::vector<DoneRun> done = do_runs(plan, options.runner);
  Reproduction out;
  out.scaling = options.scaling;
  out.runs = plan.runs.size();
  out.stopped = options.runner.stop != nullptr && options.runner.stop->load() != 0;
  for (std::size_t i = 0; i < done.size(); ++i) {
    const PlannedRun& run = plan.runs[i];
    out.reused += done[i].reused ? 1 : 0;
    double& scale = out.scales[run.run.workload.substr(0, run.run.workload.find(':'))];  // of all its variants
    scale = std::max(scale, run.scale);
    if (!done[i].kept) {
      out.failed.push_back({run.name(), done[i].failure});
      continue;
    }
    const double seconds = done[i].kept->files.cost.cpu_seconds;
    out.processor_seconds += seconds;
    out.full_seconds += seconds / run.scale;
    if (done[i].kept->build != build) {
      ++out.other_builds[done[i].kept->build];
    }
  }
  Results results;
  for (const Run& run : wanted) {
    const std::size_t at = plan.by_text.at(run.text());
    if (const auto& kept = done[at].kept) {
      results.add(run, kept->files.summary, plan.runs[at].scale, kept->timeline, kept->files.energy, kept->series);
    }
  }
  std::vector<bool> counted_already(done.size(), false);
  for (const KnownClaim& known : chosen) {
    ReproducedClaim claim{known.id, known.title, known.text, known.claim->judge(results), Shape::not_measured};
    claim.shape = shape_of(claim.finding.checks);
    for (const Run& run : known.claim->runs()) {
      const std::size_t at = plan.by_text.at(run.text());
      if (done[at].kept && !counted_already[at]) {
        counted_already[at] = true;
        claim.processor_seconds += done[at].kept->files.cost.cpu_seconds;
      }
    }
    out.claims.push_back(std::move(claim));
  }
  out.wall_seconds = tb::wall_clock() - start;
  return out;
}

std::string scaling_text(const Scaling& scaling) {
  return scaling.full            ? "full scale"
         : scaling.factor == 1.0 ? "default scale"
                                 : fmt::format("default scale x {:g}", scaling.factor);
}

std::string other_builds_text(const Reproduction& reproduction) {
  std::string out;
  for (const auto& [build, runs] : reproduction.other_builds) {
    out += fmt::format("{}{} by build {}", out.empty() ? "" : ", ", counted(runs, "run"), build);
  }
  return out.empty() ? out : "Measured earlier: " + out + ".";
}

std::string time_and_full(const Reproduction& reproduction) {
  const std::string time = pages::time_text(reproduction.processor_seconds);
  return reproduction.full_seconds <= reproduction.processor_seconds
             ? time
             : fmt::format("{} (with --full, in proportion to the scales, some {})", time,
                           pages::time_text(reproduction.full_seconds));
}

std::string processor_time_text(const Reproduction& reproduction) {
  constexpr std::size_t kNamed = 6;
  std::vector<const ReproducedClaim*> order;
  for (const ReproducedClaim& claim : reproduction.claims) {
    order.push_back(&claim);
  }
  std::stable_sort(order.begin(), order.end(), [](const ReproducedClaim* a, const ReproducedClaim* b) {
    return a->processor_seconds > b->processor_seconds;
  });
  std::string most;
  for (std::size_t i = 0; i < std::min(kNamed, order.size()) && order[i]->processor_seconds > 0; ++i) {
    most +=
        fmt::format("{}{} {}", most.empty() ? "" : ", ", order[i]->id, pages::time_text(order[i]->processor_seconds));
  }
  return fmt::format("Processor time of the runs: {}{}.", time_and_full(reproduction),
                     most.empty() ? "" : "; most: " + most);
}

std::string verdict_text(const Finding& finding) {
  const Shape shape = shape_of(finding.checks);
  std::string out(shape_text(shape));
  if (finding.measured < finding.wanted && shape != Shape::not_measured) {
    out += fmt::format(" ({} of {} workloads)", finding.measured, finding.wanted);
  }
  return out;
}

std::string ours_text(const Finding& finding) {
  std::string out = finding.ours;
  for (const Finding& other : finding.beside) {
    out += fmt::format("; {}: {}", other.label, other.ours);
  }
  return out;
}

std::string shapes_text(const Finding& finding) {
  std::string out = verdict_text(finding);
  for (const Finding& other : finding.beside) {
    out += fmt::format("; {}: {}", other.label, verdict_text(other));
  }
  return out;
}

std::string reproduction_table(const Reproduction& reproduction) {
  constexpr std::size_t kWidest = 46;
  TextTable table({{"id"}, {"paper"}, {"ours"}, {"shape"}});
  const auto shortened = [&](const std::string& text) {
    return columns(text) <= kWidest ? text : text.substr(0, kWidest - 3) + "...";
  };
  for (const ReproducedClaim& claim : reproduction.claims) {
    table.add({claim.id, shortened(claim.text.paper), shortened(claim.finding.ours), shapes_text(claim.finding)});
  }
  std::string out = table.text();
  if (!reproduction.failed.empty()) {
    constexpr std::size_t kShown = 20;
    out += fmt::format("\n{} failed:\n", counted(reproduction.failed.size(), "run"));
    for (std::size_t i = 0; i < std::min(kShown, reproduction.failed.size()); ++i) {
      out += fmt::format("  {}: {}\n", reproduction.failed[i].run, reproduction.failed[i].why);
    }
    if (reproduction.failed.size() > kShown) {
      out += fmt::format("  and {} more, on the page\n", reproduction.failed.size() - kShown);
    }
  }
  return out;
}

std::string reproduction_json(const Reproduction& reproduction) {
  namespace json = boost::json;
  json::array claims;
  for (const ReproducedClaim& claim : reproduction.claims) {
    json::array checks;
    for (const Check& check : claim.finding.checks) {
      checks.push_back(json::object{
          {"rule", check.rule}, {"measured", check.measured}, {"main", check.main}, {"passed", check.passed}});
    }
    json::array causes;
    for (const std::string& cause : claim.finding.causes) {
      causes.emplace_back(json::string(cause));
    }
    json::array beside;
    for (const Finding& other : claim.finding.beside) {
      beside.push_back(json::object{
          {"label", other.label}, {"ours", other.ours}, {"shape", json::string(shape_text(shape_of(other.checks)))}});
    }
    claims.push_back(json::object{{"id", claim.id},
                                  {"source", claim.text.source},
                                  {"paper", claim.text.paper},
                                  {"ours", claim.finding.ours},
                                  {"shape", json::string(shape_text(claim.shape))},
                                  {"workloads_measured", claim.finding.measured},
                                  {"workloads_wanted", claim.finding.wanted},
                                  {"checks", std::move(checks)},
                                  {"causes", std::move(causes)},
                                  {"beside", std::move(beside)}});
  }
  json::object scales;
  for (const auto& [workload, scale] : reproduction.scales) {
    scales[workload] = scale;
  }
  json::array failed;
  for (const FailedRun& run : reproduction.failed) {
    failed.push_back(json::object{{"run", run.run}, {"why", run.why}});
  }
  json::object builds;
  for (const auto& [build, runs] : reproduction.other_builds) {
    builds[build] = runs;
  }
  return tb::json_text(json::object{{"schema", kReproductionSchema},
                                    {"heddle", json::string(tb::version())},
                                    {"scaling", scaling_text(reproduction.scaling)},
                                    {"scales", std::move(scales)},
                                    {"runs", reproduction.runs},
                                    {"runs_of_other_builds", std::move(builds)},
                                    {"claims", std::move(claims)},
                                    {"failed", std::move(failed)}});
}

}  // namespace heddle::studies
