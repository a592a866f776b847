// What the claims of thesis chapter 8 share: table scan and index search, with and without what chapter 7 proposes, and
// how they are compared: by the time for the same work, not by IPC, as the new instructions replace others.
#pragma once

#include <string>
#include <vector>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"

namespace heddle::studies::database {

// A kernel on a machine.
struct Case {
  std::string label;
  Variant machine;
  StudyWorkload workload;
};

// A full table scan (thesis 8.1): one row in `selectivity` passes.
struct Scan {
  bool cond_acc = false;
  unsigned selectivity = 2;
  unsigned columns = 1;
  bool wide = false;  // one of a sweep over columns, which has a smaller default scale
  double bandwidth_gbs = 32;
};
[[nodiscard]] Case scan(const Scan& scan, std::string label);
// Without and with COND_ACC, selectivity 50 %: the bars of figure 8.1.
[[nodiscard]] std::vector<Case> two_scans();

// 128K searches in the tree of a billion keys; hints of the kernel go with a controller that honours them.
[[nodiscard]] Case index_search(bool tree_traverse, bool row_hints, std::string label,
                                const std::vector<std::string>& settings = {});
// Baseline, tree traverse, hints, both: the bars of figure 8.4, in its order.
[[nodiscard]] std::vector<Case> four_searches();
enum : std::size_t { kBaseline, kTraverse, kHints, kBoth };

[[nodiscard]] std::vector<Run> runs_of(const std::vector<Case>& cases);

// The cases with what they measured.
class Measured {
 public:
  Measured(const Results& results, std::vector<Case> cases);
  // Whether every case was measured: a figure that lacks a bar is not judged.
  [[nodiscard]] bool complete() const;
  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }
  [[nodiscard]] const tb::Summary& at(std::size_t index) const { return *summaries_[index]; }
  // How many times faster one does the same work.
  [[nodiscard]] double speedup(std::size_t index, std::size_t base) const;
  // Share of the warp instructions that one variant needs less than the other.
  [[nodiscard]] double fewer_instructions(std::size_t index, std::size_t base) const;

  // One bar per case.
  using Figure = double (*)(const tb::Summary&);
  [[nodiscard]] pages::Chart bars(std::string title, std::string unit, Figure figure) const;
  [[nodiscard]] pages::Chart speedup_bars(std::string title, std::string unit) const;  // over case 0
  // Everything that the figures of chapter 8 show, and what the time went into, by case.
  [[nodiscard]] ValueTable table(std::string caption) const;
  // Why one is faster or slower than another: time is instructions x time per instruction; where idle cycles went, and
  // what the memory did.
  [[nodiscard]] std::string diagnosis(std::size_t index, std::size_t base) const;

 private:
  std::vector<Case> cases_;
  std::vector<const tb::Summary*> summaries_;
};

// Pairs of scans over a parameter: what figures 8.2 and 8.3 sweep.
struct Sweep {
  std::vector<std::string> places;
  std::vector<Case> cases;  // of each place without, then with COND_ACC
};
struct SweptGains {
  std::vector<double> speedups;  // by place
  std::vector<double> fewer;     // warp instructions, as shares
};
[[nodiscard]] SweptGains gains_of(const Measured& measured);
[[nodiscard]] std::string gains_text(const std::vector<std::string>& places, const std::vector<double>& speedups);
[[nodiscard]] pages::Chart speedup_line(std::string title, const std::vector<std::string>& places,
                                        const std::vector<double>& speedups);

// A claim over cases, judged when all were measured.
struct CasesRow {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Case> (*cases)();
  void (*judge)(Finding& finding, const Measured& measured);  // value, checks and charts
  std::string caption;                                        // of the table of everything that was measured
  struct Explained {
    std::size_t index, base;
  };
  std::vector<Explained> explained = {};  // the causes: one case against another; none named: each against the first
  bool lanes = false;                     // a table of the lanes per warp instruction, too
};

class CasesClaim final : public Claim {
 public:
  explicit CasesClaim(const CasesRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(row_.cases()); }
  [[nodiscard]] Finding judge(const Results& results) const override;

 private:
  const CasesRow& row_;
};

}  // namespace heddle::studies::database
