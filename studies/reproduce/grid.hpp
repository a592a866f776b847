// Machines x workloads: what most figures compare. Workloads count only where every compared machine has a result.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "studies/reproduce/claim.hpp"

namespace heddle::studies {

class Grid {
 public:
  Grid(const Results& results, std::vector<Variant> variants, std::vector<StudyWorkload> workloads);

  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  [[nodiscard]] const std::vector<StudyWorkload>& workloads() const { return workloads_; }
  [[nodiscard]] const Results::Entry* at(std::size_t variant, std::size_t workload) const;
  // Workloads measured on all of `variants` (all variants when empty), as indices in order.
  [[nodiscard]] std::vector<std::size_t> common(const std::vector<std::size_t>& variants = {}) const;
  [[nodiscard]] std::size_t index_of(const std::string& workload) const;  // workloads().size() when absent

  using Figure = std::function<double(const tb::Summary&)>;
  [[nodiscard]] double value(std::size_t variant, std::size_t workload, const Figure& figure) const;  // or kNoValue
  // IPC of `variant` / IPC of `base`, or kNoValue.
  [[nodiscard]] double speedup(std::size_t variant, std::size_t base, std::size_t workload) const;
  // Geometric mean of the speedups over the workloads of `among` (all when empty) that both machines have; kNoValue for
  // none.
  [[nodiscard]] double mean_speedup(std::size_t variant, std::size_t base,
                                    const std::vector<std::string>& among = {}) const;

  // Figures as the papers draw them: IPC of every machine by workload, and their geometric mean at the right.
  [[nodiscard]] pages::Chart ipc_chart(std::string title) const;
  // Cycles by number of active functional units (LWM report, figures 1 and 10).
  [[nodiscard]] pages::Chart utilisation_chart(std::string title) const;
  // IPC by workload and machine; speedups over variant 0 when `relative`.
  [[nodiscard]] ValueTable ipc_table(std::string caption, bool relative) const;

  // Why `variant` gains or loses against `base` on a workload. IPC is lanes per instruction x busy share of the cycles,
  // so the two ratios multiply to the speedup; then what the idle cycles waited for, and the memory figures that moved.
  [[nodiscard]] std::string diagnosis(std::size_t variant, std::size_t base, std::size_t workload) const;
  // A diagnosis for each of the `most` workloads that keep the mean down most (lowest speedups), as far as these lie
  // below `limit`.
  [[nodiscard]] std::vector<std::string> worst(std::size_t variant, std::size_t base, std::size_t most,
                                               double limit) const;

 private:
  std::vector<Variant> variants_;
  std::vector<StudyWorkload> workloads_;
  std::vector<const Results::Entry*> entries_;  // variant-major
};

// "62.0 % (memory 55.1 %, pipeline 6.4 %)": the idle share and its two largest causes, as shares of all cycles.
[[nodiscard]] std::string idle_text(const tb::Summary& summary);

[[nodiscard]] std::string gain_text(double speedup);  // 1.076: "+7.6 %"; kNoValue: "-"

// The paper's gain and ours are of a size when ours lies between half and twice the paper's (both as fractions, same
// sign).
[[nodiscard]] bool of_a_size(double ours, double paper);

}  // namespace heddle::studies
