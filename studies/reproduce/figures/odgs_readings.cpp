// odgs-mimd, odgs-layers: table 3 of the ODGS paper with what its words leave open of MIMD lanes and of NN's kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "studies/reproduce/figures/odgs_study.hpp"

namespace heddle::studies::odgs {
namespace {

enum LanesOf : std::size_t { of_pod, own_lanes, any_lanes };

void judge_mimd(const Study& study, const Results& results, Finding& finding) {
  const auto gains = [&](std::size_t machine, std::size_t benchmark) {
    return gain(study, results, machine, of_pod, benchmark);
  };
  for (std::size_t i = 0; i != study.of().size(); ++i) {
    const Reported& theirs = kTable3.at(i);
    const double own = gains(own_lanes, i);
    const double any = gains(any_lanes, i);
    finding.ours += fmt::format("{}{} {} and {}", i == 0 ? "" : ", ", theirs.benchmark, times(own), times(any));
    if (!std::isfinite(own) || !std::isfinite(any)) {
      continue;
    }
    const std::string both = fmt::format("{} and {}", times(own), times(any));
    if (theirs.mimd > 1.1) {  // of the others the paper has next to nothing
      finding.checks.push_back(
          main_check(fmt::format("with any lanes MIMD differs from POD on {} by a size with the paper's {:.2f} (half "
                                 "to twice)",
                                 theirs.benchmark, theirs.mimd),
                     times(any), of_a_size(any - 1, theirs.mimd - 1)));
    } else {
      finding.checks.push_back(check(fmt::format("with any lanes MIMD is within 10 % of POD on {}", theirs.benchmark),
                                     times(any), std::abs(any - 1) <= 0.1));
    }
    finding.checks.push_back(
        check(fmt::format("lanes of any thread are no slower on {}", theirs.benchmark), both, any >= 0.99 * own));
  }
  finding.charts.push_back(study.bars("IPC of MIMD lanes with perfect memory", "over POD's", gains));
  finding.tables.push_back(study.table("IPC over POD's", "{:.2f}", gains));
}

enum LayersOn : std::size_t { few_pod, few_odgs, many_pod, many_odgs };

void judge_layers(const Study& study, const Results& results, Finding& finding) {
  constexpr double kPaper = 10.6;
  ValueTable table{"ODGS's IPC over POD's on NN", {"second layer", "2 ports", "32 ports"}, {}};
  std::array<double, 2> many{};
  for (std::size_t i = 0; i != study.of().size(); ++i) {
    const double few = gain(study, results, few_odgs, few_pod, i);
    many.at(i) = gain(study, results, many_odgs, many_pod, i);
    finding.ours += fmt::format("{}{} {} and {}", i == 0 ? "" : ", ", study.of()[i].label, times(few), times(many[i]));
    table.rows.push_back({study.of()[i].label, times(few), times(many[i])});
  }
  finding.tables.push_back(std::move(table));
  if (std::isfinite(many[0]) && std::isfinite(many[1])) {
    finding.checks.push_back(
        main_check("by places, with 32 ports, ODGS differs from POD by a size with the paper's 10.6 (half to twice)",
                   times(many[1]), of_a_size(many[1] - 1, kPaper - 1)));
    finding.checks.push_back(
        check("by maps it gains less", fmt::format("{} and {}", times(many[0]), times(many[1])), many[0] < many[1]));
  }
}

const std::vector<StudyRow>& readings_rows() {
  static const std::vector<StudyRow> all = {
      {"odgs-mimd",
       "MIMD lanes that take any thread",
       {.rank = 6023,
        .statement =
            "With perfect memory MIMD has 2.71, 1.92, 1.05, 1.52 and 1.02 times POD's IPC on MUM, BFS, RAY, NN and WP: "
            "\"the scalar pipelines are allowed to execute different instructions at the same time\"",
        .paper = "2.71, 1.92, 1.05, 1.52, 1.02",
        .source = "ODGS paper, sections 3.2 and 3.7, table 3",
        .caveat =
            "Two readings: a thread keeps its lane (odgs-mimd as in odgs-ipc), or any lane takes any ready thread of "
            "the core, as in the paper's simulator (mimd.lanes = any). " +
            std::string(kCaveat)},
       [] {
         return Study({{"POD", "odgs-pod", {}},
                       {"MIMD, own lanes", "odgs-mimd", {}},
                       {"MIMD, any lanes", "odgs-mimd", {"mimd.lanes=any"}}});
       },
       judge_mimd},
      {"odgs-layers",
       "NN with its layers weighed as the benchmark's",
       {.rank = 6024,
        .statement = "With perfect memory ODGS has 10.6 times POD's IPC on NN, whose last two layers have a block of a "
                     "single thread per neuron",
        .paper = "10.6",
        .source = "ODGS paper, section 3.7, table 3",
        .caveat =
            "An experiment on odgs-ipc and odgs-ports. In the benchmark the second layer goes by the places of a "
            "window, with the six maps before it written out at each, and the third is a plain loop: so the second, "
            "in which ODGS gains little, takes less of the time than by maps (neural:by_places)."},
       [] {
         return Study({{"POD", "odgs-pod", {}},
                       {"ODGS", "odgs", {}},
                       {"POD, 32 ports", "odgs-pod", {"l1d.ports=32"}},
                       {"ODGS, 32 ports", "odgs", {"l1d.ports=32"}}},
                      {{"by maps", {"neural", 1}}, {"by places", {"neural:by_places", 1}}});
       },
       judge_layers},
  };
  return all;
}

const RegisterRows<StudyClaim, StudyRow> readings_entries{readings_rows()};

}  // namespace
}  // namespace heddle::studies::odgs
