#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/error.hpp"
#include "studies/pages/compare/compare.hpp"
#include "studies/pages/page/data_page.hpp"
#include "studies/pages/page/declarations.hpp"

namespace heddle::pages {
namespace {

namespace json = boost::json;

json::array contributions_json(const std::vector<Contribution>& contributions) {
  json::array out;
  for (const Contribution& one : contributions) {
    out.push_back({{"cause", one.cause},
                   {"detail", one.detail},
                   {"cycles", one.cycles},
                   {"factors", contributions_json(one.factors)}});
  }
  return out;
}

}  // namespace

std::string compare_data(const std::vector<ComparedRun>& runs, const std::string& command) {
  json::array all;
  json::array explanations;
  for (const ComparedRun& run : runs) {
    json::object stats = run.stats;
    all.push_back({{"label", run.label}, {"path", run.path}, {"stats", std::move(stats)}});
    if (&run != &runs.front()) {
      const Explanation why = explain(runs.front().summary, runs.front().machine, run.summary, run.machine);
      explanations.push_back({{"run", run.label},
                              {"cycles", why.cycles},
                              {"speed_up", speed_up(runs.front(), run)},
                              {"clocks_ghz", {runs.front().machine.gpu.clock_ghz, run.machine.gpu.clock_ghz}},
                              {"causes", contributions_json(why.causes)}});
    }
  }
  json::array parameters;
  for (const ParameterDifference& one : parameter_differences(runs)) {
    parameters.push_back({{"key", one.key}, {"values", json::array(one.values.begin(), one.values.end())}});
  }
  return json::serialize(json::object{{"kind", "compare"},
                                      {"command", command},
                                      {"runs", std::move(all)},
                                      {"explanations", std::move(explanations)},
                                      {"parameters", std::move(parameters)},
                                      {"declarations", declarations_json()}});
}

std::string compare_page(const std::vector<ComparedRun>& runs, const std::string& command) {
  if (!runs.empty() && runs.front().of_channels()) {
    throw InputError({"--html"}, "draws what the cores of runs do; memory channels alone (heddle dram) have none",
                     "leave it out: the table has their figures");
  }
  std::string title = "Heddle:";
  for (const ComparedRun& run : runs) {
    title += fmt::format("{} {} on {}", &run == &runs.front() ? "" : " /", run.workload, run.machine.name);
  }
  return data_page({std::move(title), compare_data(runs, command), {"energy.js", "causes.js", "compare.js"}});
}

}  // namespace heddle::pages
