// The parts of a review that need machines or files alone.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "studies/review/review.hpp"
#include "studies/review/runs.hpp"

namespace heddle::studies {

struct ReviewedMachine {
  std::string name;                   // distinct among the review's machines
  std::string config;                 // name or path
  std::vector<std::string> settings;  // --set
  hw::Machine machine;
  std::vector<std::string> notes;  // what its file and the settings say without effect (tb::read_machine)

  [[nodiscard]] bool set_in_vain(const std::string& key) const;
};

// A figure of the summary of a stats.json.
[[nodiscard]] double summary_figure(const boost::json::object& stats, const char* name);
// What the document shows of a run, from its stats.json: cycles, rates, where cycles went, energies.
[[nodiscard]] boost::json::object review_figures(const boost::json::object& stats);

// The parameters in which the machines are not the same: "key", "section", "unit", "meaning", "in_vain" (those that set
// it say it without effect), and by machine "values", of policies "about", what each does, and "said", what the
// machine's file says of the value, as its paper has it.
[[nodiscard]] boost::json::array review_differences(const std::vector<ReviewedMachine>& machines);

// By machine: storage_cost() as heddle cost --json has it.
[[nodiscard]] boost::json::array review_storage(const std::vector<ReviewedMachine>& machines);

// By machine: "svg", "marked" (modules that another machine lacks or has with other parameters). Null without Graphviz.
[[nodiscard]] boost::json::value review_diagrams(const std::vector<ReviewedMachine>& machines,
                                                 const boost::json::array& differences, const ReviewOptions& options);

// The workload on the base and on a design, around the first cycle in which their pipelines are not the same: "cycle",
// "workload", "machines" (two names), "pipelines" (rows of each), "signals" (with the changes of each). Null: the runs
// are the same for as long as was looked.
[[nodiscard]] boost::json::value review_closely(const ReviewRun& base, const ReviewRun& design, ReviewRunner& runner);

}  // namespace heddle::studies
