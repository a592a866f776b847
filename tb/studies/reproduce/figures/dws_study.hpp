// What the claims of the DWS report share: its machine, its eight benchmarks, and how it characterises them (table 1).
#pragma once

#include <string>
#include <vector>

#include "tb/studies/reproduce/claim.hpp"
#include "tb/studies/reproduce/grid.hpp"

namespace heddle::tb::dws {

// The machine of the report's table 3 without warp subdivision ("Conv").
[[nodiscard]] Variant conventional();

// A benchmark of table 2, and its column of table 1.
struct Benchmark {
  std::string label;                            // the report's name
  StudyWorkload workload;                       // scale 1: the input of table 2
  double between_branches, divergent_branches;  // instructions; share of branches
  double between_misses, divergent_misses;      // instructions; share of the accesses that miss
};
[[nodiscard]] const std::vector<Benchmark>& benchmarks();

// The benchmarks' workloads, in the order of the tables, each with one more variant ("interleaved"), or none.
[[nodiscard]] std::vector<StudyWorkload> eight(const std::string& variant = {});

// Table 1 of a run, by the definitions of its columns:
//   branches  conditional ones; divergent: taken by some of a warp's threads only
//   misses    accesses of a warp with a thread whose line is not in the D-cache; divergent: others' lines are there.
//             The table's own figures say so: the instructions between misses, divided by the share of divergent
//             accesses, are those between divergent misses (7 / 0.69 = 10, 45 / 0.6 = 75).
struct Characterisation {
  double between_branches = 0, divergent_branches = 0, between_misses = 0, divergent_misses = 0;
};
[[nodiscard]] Characterisation characterise(const Summary& summary);

}  // namespace heddle::tb::dws
