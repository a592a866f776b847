// Mechanisms of all papers beside one another, on machines and workloads that they share: the figures all-on-one and
// on-h100.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"

namespace heddle::studies::side {

// The papers' workloads; one that two sets name counts in both.
enum Set : std::size_t { kTwelve, kEight, kSixteen, kFive, kSets };
struct WorkloadSet {
  const char* name;
  std::vector<StudyWorkload> workloads;
};
// Smaller than in the papers' own claims: some thousand runs in a few minutes.
[[nodiscard]] const std::vector<WorkloadSet>& sets_of_all_papers();

struct Mechanism {
  const char* label;
  const char* where;  // which section describes it
  Set home;           // its paper's workloads; kSets: none of the sets
  std::vector<std::string> settings;
};
// As the papers' own machine files have them; in the order of Which.
[[nodiscard]] const std::vector<Mechanism>& mechanisms_of_all_papers();
enum Which : std::size_t {
  kStrict,
  kLwm,
  kTwoLevel,
  kTbc,
  kDwf,
  kDws,
  kSlip,
  kLwPlus,
  kOdgs,
  kMimd,
  kScalar,
  kGto,
  kCcws
};

[[nodiscard]] std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more);

constexpr double kNoDifference = 0.005;  // speedups that lie closer are the same

// A machine of the table, and the one that it is compared with.
struct Compared {
  Variant variant;
  std::string remark;    // its second column
  std::size_t base = 0;  // of the machines; the first is compared with none
  Set home = kSets;      // of the mechanism on it
};

// Machines on the workloads of several sets. Means are geometric, over the workloads that every machine has.
class SideBySide {
 public:
  SideBySide(const Results& results, std::vector<Compared> machines, std::vector<WorkloadSet> sets);

  [[nodiscard]] const Grid& grid() const { return grid_; }
  [[nodiscard]] const std::vector<WorkloadSet>& sets() const { return sets_; }
  [[nodiscard]] const std::vector<Compared>& machines() const { return machines_; }
  [[nodiscard]] const std::string& label(std::size_t machine) const { return machines_[machine].variant.label; }

  // Over the machine's base. `set`: of sets(); their number: all workloads.
  [[nodiscard]] double speedup(std::size_t machine, std::size_t set) const;
  [[nodiscard]] double all(std::size_t machine) const { return speedup(machine, sets_.size()); }
  // The fastest of `among` on a set.
  [[nodiscard]] std::size_t best(const std::vector<std::size_t>& among, std::size_t set) const;
  // Why a machine loses on the workload of a set on which it loses most; empty: none was measured.
  [[nodiscard]] std::vector<std::string> worst(std::size_t machine, std::size_t set) const;

  // Speedups by set, lanes, idle cycles, energy, storage. `remark`: what the second column is.
  [[nodiscard]] ValueTable overview(std::string caption, std::string remark) const;
  // Which workloads of which of `among` gain and lose, the most first.
  [[nodiscard]] ValueTable help(std::string caption, const std::vector<std::size_t>& among) const;
  [[nodiscard]] ValueTable by_workload(std::string caption, const std::vector<std::size_t>& among) const;
  // Mean gains of `among`, a bar for each set.
  [[nodiscard]] pages::Chart chart(std::string title, std::string unit, const std::vector<std::size_t>& among) const;

 private:
  [[nodiscard]] std::vector<std::size_t> workloads_of(std::size_t set) const;
  [[nodiscard]] double over_base(std::size_t machine, std::size_t workload) const;
  [[nodiscard]] double mean(std::size_t machine, const Grid::Figure& figure) const;
  [[nodiscard]] double energy(std::size_t machine) const;  // over the base's; kNoValue where one run was not priced
  [[nodiscard]] std::string storage(std::size_t machine) const;

  std::vector<Compared> machines_;
  std::vector<WorkloadSet> sets_;
  Grid grid_;
};

// Each workload of the sets once, in order.
[[nodiscard]] std::vector<StudyWorkload> workloads_of_sets(const std::vector<WorkloadSet>& sets);
[[nodiscard]] std::vector<Variant> variants_of(const std::vector<Compared>& machines);

}  // namespace heddle::studies::side
