// What the claims of the LWM report and of thesis chapters 4 and 5 share: the twelve workloads, the machines, and the
// groups of workloads that the papers speak of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"

namespace heddle::studies::lwm {

enum class Level { low, medium, high };
[[nodiscard]] std::string_view level_text(Level level);

// LWM report, table 2, in its order (that of the figures); inputs: thesis, table 5.2.
struct Benchmark {
  StudyWorkload workload;
  double pthreads_scale;  // as workload.scale, of the papers' form (variant pthreads)
  Level divergence;
  Level idle;
};
[[nodiscard]] const std::vector<Benchmark>& benchmarks();
[[nodiscard]] std::vector<StudyWorkload> twelve();
// "The leftmost 4 benchmarks": branch-intensive and not idle (LWM report 6.1).
[[nodiscard]] std::vector<std::string> leftmost();
// "The rightmost benchmarks": idle of medium or high intensity in table 2.
[[nodiscard]] std::vector<std::string> rightmost();
[[nodiscard]] std::vector<std::string> all_but(const std::vector<std::string>& left_out);

// The caveat of claims about warps of more than 256 threads.
inline constexpr const char* kWarpsOfOneBlock =
    "A warp belongs to one block. In the papers' form that is all 1024 threads; in the CUDA form blocks have 256 "
    "threads, so that warps of 512 or 1024 are partly empty, and fewer threads are resident.";

// Table 2's limits (LWM report, section 5).
[[nodiscard]] Level divergence_level(double lanes_per_warp_instruction);
[[nodiscard]] Level idle_level(double idle_share);

// Machines; `changes` are settings of section core ("warp_size=64").
[[nodiscard]] Variant machine(std::string label, std::string config, std::vector<std::string> changes = {});
[[nodiscard]] Variant baseline();  // LWM report, table 1
[[nodiscard]] std::vector<Variant> baseline_alone();
[[nodiscard]] Variant large();            // LWM-256, strict
[[nodiscard]] Variant two_level();        // fetch groups of 8
[[nodiscard]] Variant large_two_level();  // LWM-256, fetch groups of 2
[[nodiscard]] Variant thesis_baseline();  // thesis, table 5.1
[[nodiscard]] Variant thesis_large();     // LWM-256, relaxed
[[nodiscard]] Variant thesis_two_level();
[[nodiscard]] Variant thesis_large_two_level();  // fetch groups of 1, timeout
[[nodiscard]] Variant thread_block_compaction();
[[nodiscard]] std::vector<Variant> dynamic_warp_formation();  // majority, post-dominator priority

// A variant whose result on each workload is that of the machine with the highest IPC among `variants`, and where there
// is none, none. `results` gets it.
[[nodiscard]] Variant best_of(Results& results, std::string label, const std::vector<Variant>& variants,
                              const std::vector<StudyWorkload>& workloads);

// The finding's counts: workloads of the grid on which every machine was measured.
void count_workloads(Finding& finding, const Grid& grid);

// A sweep: mean speedup over the grid's first machine of all, of the leftmost and of the rightmost workloads, by
// machine.
[[nodiscard]] pages::Chart sweep_chart(const Grid& grid, std::string title);
// The machine of the grid with the highest mean IPC over the workloads that all have, `first` and later.
[[nodiscard]] std::size_t best_machine(const Grid& grid, std::size_t first = 0);
// Geometric mean speedup over the workloads that all machines of the grid have; kNoValue for none.
[[nodiscard]] double common_speedup(const Grid& grid, std::size_t variant, std::size_t base,
                                    const std::vector<std::string>& among = {});

}  // namespace heddle::studies::lwm
