// What the claims of the DWS report share: its machine, its eight benchmarks, and how it characterises them (table 1).
#pragma once

#include <string>
#include <vector>

#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"

namespace heddle::studies::dws {

// The machine of the report's table 3 without warp subdivision ("Conv").
[[nodiscard]] Variant conventional();

// A scheme, its runs priced by the report's parts at 65 nm (configs/energy/dws-65nm.toml): the same machine with warps
// that subdivide, or slip ("dws-branch"), with more settings.
[[nodiscard]] Variant scheme(std::string label, std::string config, std::vector<std::string> settings = {});

// Settings: so many warps of so many lanes, each lane with its port and bank of the D-cache.
[[nodiscard]] std::vector<std::string> shape(unsigned warps, unsigned width);

// Core cycles of a run without the cycles at the ends of launches in which the caches write their last stores to
// memory: the report's benchmarks are one program each, ours several launches.
[[nodiscard]] double working_cycles(const tb::Summary& summary);

// Of positive numbers; kNoValue for none.
[[nodiscard]] double harmonic_mean(const std::vector<double>& values);

// A benchmark of table 2, and its column of table 1.
struct Benchmark {
  std::string label;                            // the report's name
  StudyWorkload workload;                       // scale 1: the input of table 2
  double between_branches, divergent_branches;  // instructions; share of branches
  double between_misses, divergent_misses;      // instructions; share of the accesses that miss
  double table_scale;                           // at which the column is measured: one machine, larger inputs
};
[[nodiscard]] const std::vector<Benchmark>& benchmarks();

// Speedups of variants over the first one: cycles of the same work (working_cycles).
class Speedups {
 public:
  Speedups(const Results& results, std::vector<Variant> variants, std::vector<Benchmark> benchmarks);

  [[nodiscard]] const std::vector<Variant>& variants() const { return grid_.variants(); }
  [[nodiscard]] const std::vector<Benchmark>& benchmarks() const { return benchmarks_; }
  // kNoValue when one of the runs was not measured.
  [[nodiscard]] double of(std::size_t variant, std::size_t benchmark, std::size_t base = 0) const;
  [[nodiscard]] double of(std::size_t variant, const std::string& label) const;
  // The harmonic mean over the benchmarks measured on both; kNoValue for none.
  [[nodiscard]] double mean(std::size_t variant, std::size_t base = 0) const;
  // The benchmarks on which a variant's speedup is below `limit`: "KMeans 0.92, Short 0.97"; empty: none.
  [[nodiscard]] std::string below(std::size_t variant, double limit) const;
  // Arithmetic mean of a figure over the benchmarks that a variant was measured on; kNoValue for none.
  [[nodiscard]] double average(std::size_t variant, const Grid::Figure& figure) const;

  // A variant's energy over the first variant's; kNoValue when one of the two has none.
  [[nodiscard]] double energy(std::size_t variant, std::size_t benchmark) const;

  void count(Finding& finding) const;
  [[nodiscard]] pages::Chart chart(std::string title) const;
  [[nodiscard]] ValueTable table(std::string caption) const;
  // Share of issue slots used, lanes per instruction, hit rates and what idle cycles wait for, by benchmark and
  // variant.
  [[nodiscard]] ValueTable why(std::string caption) const;

 private:
  Grid grid_;
  std::vector<Benchmark> benchmarks_;
};

// "1.13"; "-" for kNoValue.
[[nodiscard]] std::string times(double speedup);

// Share of a run's core cycles (working_cycles) that wait for memory, or for room on the way there.
[[nodiscard]] double stalled_on_memory(const tb::Summary& summary);

// The benchmarks' workloads, in the order of the tables.
[[nodiscard]] std::vector<StudyWorkload> eight();
// As table 1 is measured, each with one more variant ("interleaved"), or none.
[[nodiscard]] std::vector<StudyWorkload> eight_of_table(const std::string& variant = {});

// Table 1 of a run, by the definitions of its columns:
//   branches  conditional ones; divergent: taken by some of a warp's threads only
//   misses    accesses of a warp with a thread whose line is not in the D-cache; divergent: other threads' lines are
//             there. The table's own figures say so: the instructions between misses, divided by the share of divergent
//             accesses, are the instructions between divergent misses (7 / 0.69 = 10, 45 / 0.6 = 75).
struct Characterisation {
  double between_branches = 0, divergent_branches = 0, between_misses = 0, divergent_misses = 0;
};
[[nodiscard]] Characterisation characterise(const tb::Summary& summary);
// How many of a benchmark's figures of table 1 are of a size with the report's: between half and twice. Shares below
// 2 % are as good as equal.
constexpr std::size_t kFiguresOfTable1 = 4;
[[nodiscard]] std::size_t of_the_reports_size(const Characterisation& ours, const Benchmark& report);

}  // namespace heddle::studies::dws
