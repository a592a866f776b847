// Under what the claims of the LWM report and of thesis chapter 5 are looked at. The papers leave open what their
// programs looked like, whether first come, first served is one queue or one per bank, and where arrays lay. So a claim
// is put to
//
//   both forms    the twelve workloads as the papers ran theirs (the variant pthreads), which decide the verdict, and
//                 their CUDA form, which stands beside it;
//   readings      besides, one queue for all banks and one per bank, on inputs as large or smaller;
//   placements    besides, several places of the arrays: figures are the median over the places drawn at random.
//
// A claim asks for runs of the twelve workloads under their usual names and judges what it gets; OnForms, the class
// that its row is registered with, does the runs under every reading in turn:
//
//   const RegisterRows<OnForms<GridClaim>, GridRow> fetch_group_size_entry{fetch_group_size_rows()};
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "studies/reproduce/figures/lwm_study.hpp"

namespace heddle::studies::lwm {

// One way to do the runs of a claim.
struct Reading {
  std::string name;                     // "one queue per bank"
  bool pthreads = true;                 // the papers' form, else the CUDA form
  std::vector<std::string> settings{};  // of every machine
  double scale = 1;                     // times the workload's
};

[[nodiscard]] Reading papers_form();
[[nodiscard]] Reading cuda_form();
inline constexpr unsigned kPlacements = 5;

// The run that is done where a claim asks for `run`, and the results of such runs, under the names asked for. Workloads
// that are not of the twelve are left as they are.
[[nodiscard]] Run under(const Reading& reading, const Run& run);
[[nodiscard]] Results under(const Reading& reading, const std::vector<Run>& asked, const Results& results);

// Results with arrays where the machines put them, and with arrays placed at random, once per seed.
struct Placed {
  Results as_is;
  std::vector<Results> random{};  // none: the claim is judged by as_is
};

// The middle one and the ends of a figure's values over placements.
struct Spread {
  double median = 1;
  double low = 1;
  double high = 1;
  std::size_t placements = 0;  // 0: one value, of the machine as it is
};
[[nodiscard]] Spread spread(std::vector<double> values, bool of_placements = true);
// Of the mean speedup over the workloads of the twelve that are in `among` (empty: all); kNoValue for none.
[[nodiscard]] Spread mean_speedup(const Placed& placed, const Variant& machine, const Variant& over,
                                  const std::vector<std::string>& among = {});
[[nodiscard]] std::string spread_text(const Spread& speedup);  // "+3.7 % (-1.0 to +5.2)"
// By workload: as the machine is, median, lowest and highest over the placements.
[[nodiscard]] ValueTable placement_table(const Placed& placed, const Variant& machine, const Variant& over,
                                         std::string caption);
// Workloads of the twelve on which every machine was measured, everywhere.
void count_workloads(Finding& finding, const Placed& placed, const std::vector<Variant>& machines);

// A claim whose figures depend on where arrays lie.
class PlacedClaim : public Claim {
 public:
  [[nodiscard]] virtual Finding judge_placed(const Placed& placed) const = 0;
  [[nodiscard]] Finding judge(const Results& results) const final { return judge_placed({results}); }
};

// Such a claim as a row: machines on the twelve workloads. `grid` has them as the machines place the arrays; workloads
// are counted already.
struct PlacedRow {
  std::string id;
  std::string title;
  ClaimText text;
  std::vector<Variant> (*machines)();
  void (*judge)(const Placed& placed, const Grid& grid, Finding& finding);
};

class PlacedRowClaim final : public PlacedClaim {
 public:
  explicit PlacedRowClaim(const PlacedRow& row) : row_(row) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return runs_of(row_.machines(), twelve()); }
  [[nodiscard]] Finding judge_placed(const Placed& placed) const override {
    const Grid grid(placed.as_is, row_.machines(), twelve());
    Finding finding;
    count_workloads(finding, placed, grid.variants());
    row_.judge(placed, grid, finding);
    return finding;
  }

 private:
  const PlacedRow& row_;
};

enum class Over : std::uint8_t { forms, readings, small_readings, placements };

// A claim under all that `over` says.
class FormsClaim : public Claim {
 public:
  FormsClaim(std::unique_ptr<Claim> claim, Over over);
  [[nodiscard]] ClaimText text() const override { return claim_->text(); }
  [[nodiscard]] std::vector<Run> runs() const override;
  [[nodiscard]] Finding judge(const Results& results) const override;

 private:
  // A row of the table of readings.
  struct Row {
    Reading reading;
    bool random = false;
  };
  [[nodiscard]] std::vector<Row> rows() const;
  [[nodiscard]] Finding judged(const Row& row, const Results& results) const;

  const std::unique_ptr<Claim> claim_;
  const PlacedClaim* const placed_;  // null: it is none
  const Over over_;
};

template <class Inner, Over over = std::derived_from<Inner, PlacedClaim> ? Over::placements : Over::forms>
class OnForms final : public FormsClaim {
 public:
  template <class Argument>
  explicit OnForms(const Argument& argument) : FormsClaim(std::make_unique<Inner>(argument), over) {}
};

}  // namespace heddle::studies::lwm
