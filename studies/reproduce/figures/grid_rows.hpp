// Claims that compare machines on a grid: a row each, of words, machines, workloads and a small function that judges.
#pragma once

#include <string>
#include <vector>

#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"

namespace heddle::studies {

struct GridRow {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Variant> (*machines)();
  std::vector<StudyWorkload> (*workloads)();
  void (*judge)(const Grid& grid, Finding& finding);  // with the workloads counted already
};

class GridClaim final : public Claim {
 public:
  explicit GridClaim(const GridRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(row_.machines(), row_.workloads()); }
  [[nodiscard]] Finding judge(const Results& results) const override {
    const Grid grid(results, row_.machines(), row_.workloads());
    Finding finding;
    finding.measured = grid.common().size();
    finding.wanted = grid.workloads().size();
    row_.judge(grid, finding);
    return finding;
  }

 private:
  const GridRow& row_;
};

}  // namespace heddle::studies
