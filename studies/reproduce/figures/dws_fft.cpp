// dws-fft: FFT in four forms, put to the figures that the DWS report has of it: table 1's column, figure 13's slip.
#include <fmt/format.h>

#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "studies/reproduce/figures/dws_study.hpp"

namespace heddle::studies::dws {
namespace {

namespace fft_forms {

enum : std::size_t { kConventional, kRevive, kSlip, kSlipBypass };

std::vector<Variant> machines() {
  return {conventional(), scheme("DWS.ReviveSplit", "dws-revive-bypass"), scheme("Slip", "slip"),
          scheme("Slip.BranchBypass", "slip-bypass")};
}

struct Form {
  const char* label;
  const char* variant;
};
constexpr std::array<Form, 4> kForms = {{{"passes", ""},
                                         {"passes, padded", "padded"},
                                         {"six steps", "six_step"},
                                         {"six steps, padded", "six_step,padded"}}};
constexpr std::size_t kPasses = 0;
constexpr std::size_t kSource = 3;  // Splash-2's own rows are padded

const Benchmark& fft() {
  for (const Benchmark& one : benchmarks()) {
    if (one.label == "FFT") {
      return one;
    }
  }
  throw InternalError("the DWS report has a benchmark FFT");
}

StudyWorkload in_form(const StudyWorkload& workload, const Form& form) {
  StudyWorkload one = workload;
  if (*form.variant != 0) {
    one.name += std::string(":") + form.variant;
  }
  return one;
}

std::vector<Benchmark> forms() {
  std::vector<Benchmark> all;
  for (const Form& form : kForms) {
    Benchmark one = fft();
    one.label = form.label;
    one.workload = in_form(one.workload, form);
    all.push_back(one);
  }
  return all;
}

std::vector<StudyWorkload> workloads() {
  std::vector<StudyWorkload> all;
  for (const Benchmark& one : forms()) {
    all.push_back(one.workload);
  }
  return all;
}

// As table 1 is measured.
std::vector<StudyWorkload> workloads_of_table() {
  std::vector<StudyWorkload> all;
  for (const Form& form : kForms) {
    StudyWorkload one = fft().workload;
    one.scale = fft().table_scale;
    all.push_back(in_form(one, form));
  }
  return all;
}

std::vector<Run> runs() {
  std::vector<Run> all = runs_of(machines(), workloads());
  const std::vector<Run> table = runs_of({conventional()}, workloads_of_table());
  all.insert(all.end(), table.begin(), table.end());
  return all;
}

Finding judge(const Results& results) {
  const Speedups speedups(results, machines(), forms());
  Finding finding;
  speedups.count(finding);
  if (finding.measured == 0) {
    finding.ours = "-";
    return finding;
  }
  ValueTable table{
      "Table 1's column of FFT, by form",
      {"form", "between branches", "divergent branches", "between misses", "divergent misses", "of the report's size"},
      {}};
  const auto add = [&table](const std::string& label, const Characterisation& one, const std::string& size) {
    table.rows.push_back({label, fmt::format("{:.1f}", one.between_branches), percent(one.divergent_branches),
                          fmt::format("{:.1f}", one.between_misses), percent(one.divergent_misses), size});
  };
  std::array<std::size_t, kForms.size()> alike = {};
  const std::vector<StudyWorkload> measured = workloads_of_table();
  for (std::size_t form = 0; form < kForms.size(); ++form) {
    if (const Results::Entry* const entry = results.find(run_of(conventional(), measured[form])); entry != nullptr) {
      const Characterisation one = characterise(entry->summary);
      alike.at(form) = of_the_reports_size(one, fft());
      add(kForms.at(form).label, one, fmt::format("{} of {}", alike.at(form), kFiguresOfTable1));
    }
    finding.ours += fmt::format("{}{}: {} of {}, DWS {}, Slip.BranchBypass {}", form == 0 ? "" : "; ",
                                kForms.at(form).label, alike.at(form), kFiguresOfTable1,
                                times(speedups.of(kRevive, form)), times(speedups.of(kSlipBypass, form)));
  }
  add("the report's", {fft().between_branches, fft().divergent_branches, fft().between_misses, fft().divergent_misses},
      "");
  finding.checks.push_back(
      main_check("the source's form has more of table 1's figures between half and twice the report's than passes have",
                 fmt::format("{} and {}", alike[kSource], alike[kPasses]), alike[kSource] > alike[kPasses]));
  finding.checks.push_back(main_check("Slip.BranchBypass loses on the source's form",
                                      times(speedups.of(kSlipBypass, kSource)),
                                      speedups.of(kSlipBypass, kSource) < 0.99));
  finding.checks.push_back(
      check("Slip gains less than 5 % on it", times(speedups.of(kSlip, kSource)), speedups.of(kSlip, kSource) < 1.05));
  finding.checks.push_back(
      check("DWS gains on it", times(speedups.of(kRevive, kSource)), speedups.of(kRevive, kSource) > 1.01));
  finding.charts.push_back(speedups.chart("Speedup by form of FFT"));
  finding.tables.push_back(speedups.table("Speedup over the conventional machine"));
  finding.tables.push_back(std::move(table));
  finding.tables.push_back(speedups.why("What the cores do"));
  return finding;
}

}  // namespace fft_forms

const std::vector<ClaimRow>& dws_fft_rows() {
  static const std::vector<ClaimRow> all = {
      {"dws-fft",
       "FFT as its source has it",
       {.rank = 4053,
        .statement = "FFT (Splash-2): 59 instructions between branches, 3.4 % divergent ones, 7 instructions between "
                     "misses, 69 % divergent ones; slip gains nothing on it and loses with BranchBypass",
        .paper = "59, 3.4 %, 7, 69 %; Slip.BranchBypass loses",
        .source = "DWS report, table 1; section 5.7, figure 13",
        .caveat = "An experiment on dws-characterisation and dws-slip. The report names Splash-2 and calls FFT a "
                  "\"butterfly computation\": ours makes log2 n passes of butterflies over all numbers, Splash-2 six "
                  "steps over the rows of a matrix (transpositions, and rows that one thread transforms), which lie a "
                  "line further apart than a power of two. Which of it the report's own version has is open."},
       fft_forms::runs,
       fft_forms::judge},
  };
  return all;
}

const RegisterRows<RowClaim, ClaimRow> dws_fft_entry{dws_fft_rows()};

}  // namespace
}  // namespace heddle::studies::dws
