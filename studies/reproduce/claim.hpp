// A claim of a paper and how it is reproduced: the runs it needs, what the paper reports, the checks that decide
// whether its shape holds, and the figure. Claims are rows of tables below studies/reproduce/figures/: the id, the
// title of the figure, the paper's words, what is run, and a small function that judges. RegisterRows makes a table's
// rows known; `heddle reproduce` finds new files by itself.
//
// What is run is a list of runs (ClaimRow), machines on workloads (GridRow of figures/grid_rows.hpp;
// figures/lwm_forms.hpp does them under several readings), or cases of one workload (CasesRow of
// figures/database_study.hpp). Where claims of one family differ in data only, their rows hold just those:
// figures/gains.cpp, groups.cpp, causes.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "studies/pages/report/charts.hpp"
#include "studies/reproduce/results.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::studies {

// Whether what a paper says is seen here too. Computed from checks (shape_of), never written down.
enum class Shape { holds, partly, does_not_hold, not_measured };
[[nodiscard]] std::string_view shape_text(Shape shape);  // "holds", "partly", "does not hold", "not measured"

// One statement of a claim, put to the measurements.
struct Check {
  std::string rule;      // "LWM-256 gains over the baseline on average"
  std::string measured;  // "+6.1 %"
  bool main = false;     // a claim without its main statements does not hold
  bool passed = false;
};

[[nodiscard]] Check check(std::string rule, std::string measured, bool passed);
[[nodiscard]] Check main_check(std::string rule, std::string measured, bool passed);

// The rule of every verdict: all checks pass: holds. All main checks pass, some other fails: partly. A main check
// fails: does not hold, except that it is partly when other main checks of the claim pass. No checks: not measured.
[[nodiscard]] Shape shape_of(const std::vector<Check>& checks);

struct ValueTable {
  std::string caption;
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

// What a claim came to.
struct Finding {
  std::string ours;  // our value, in the form of the paper's
  std::vector<Check> checks;
  std::vector<std::string> causes;  // sentences from the measurements; shown unless the claim holds
  std::vector<pages::Chart> charts;
  std::vector<ValueTable> tables;
  std::size_t measured = 0;  // workloads that entered
  std::size_t wanted = 0;    // workloads that should; a difference is shown beside the verdict
  std::string label = {};    // what it was measured on, where there are several
  std::string note = {};     // of a finding in `beside`, as ClaimText::note of the claim's own
  // What the same claim came to on other workloads: shown after it, without a part in its verdict.
  std::vector<Finding> beside = {};
};

// The words of a claim. They hold no figure that was measured here: nothing would renew it with the next run. What was
// measured stands in a Finding, which is made from results; words say why, and point to the claim that measures it
// ("2lev-rules"). So a number with a unit of measurement (percent, times, cycles, points, instructions, lanes) or with
// a decimal point stands in `note`, `beside_note` and `caveat` only where it also stands in `statement` or `paper`, or
// in `given`. Sizes ("32 KB", "256 threads", "16 GB/s") are free. A test reads the words of all claims
// (tests/studies/claim_words_test.cpp).
struct ClaimText {
  unsigned rank = 0;             // order on the page: paper * 1000 + place in the paper
  std::string statement;         // what the paper says
  std::string paper;             // its value in a few words
  std::string source;            // "LWM report, section 6.1, figure 9; thesis, section 5.2.1": begins with the paper
  std::string note = {};         // what we found by looking into a difference; shown unless the claim holds
  std::string beside_note = {};  // as note, of what stands beside (Finding::beside)
  std::string caveat = {};       // what a reader must know of the comparison; always shown
  // Figures of the notes and the caveat that were not measured here: other figures of the papers, parameters of a
  // machine, bounds that were set before the first run: "20 cycles".
  std::vector<std::string> given = {};
};

class Claim {
 public:
  struct Setup {};
  virtual ~Claim() = default;
  [[nodiscard]] virtual ClaimText text() const = 0;
  // Everything judge() looks up. Runs that several claims share are run once.
  [[nodiscard]] virtual std::vector<Run> runs() const = 0;
  // `results` may lack any of the runs (they failed); what is missing is left out, never guessed.
  [[nodiscard]] virtual Finding judge(const Results& results) const = 0;
};

// A claim as a row.
struct ClaimRow {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Run> (*runs)();
  Finding (*judge)(const Results& results);
};
[[nodiscard]] inline std::vector<Run> no_runs() {
  return {};
}

class RowClaim final : public Claim {
 public:
  explicit RowClaim(const ClaimRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return row_.runs(); }
  [[nodiscard]] Finding judge(const Results& results) const override { return row_.judge(results); }

 private:
  const ClaimRow& row_;
};

// Registers a claim per row of a table: Rows have an id and a title, and TheClaim is made of a row, which outlives it.
template <class TheClaim, class Row>
struct RegisterRows {
  explicit RegisterRows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      Registry<Claim>::instance().add(row.id, row.title,
                                      [&row](const Claim::Setup&) { return std::make_unique<TheClaim>(row); });
    }
  }
};

}  // namespace heddle::studies
