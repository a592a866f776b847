// What the claims of the warp-size study share: its machines and its sixteen benchmarks (table 2).
#pragma once

#include <string>
#include <vector>

#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"

namespace heddle::studies::ws {

// The machines of figures 2 to 7, in this order.
enum Machine : std::size_t { warp8, warp16, warp32, warp64, sw_plus, lw_plus };
[[nodiscard]] std::vector<Variant> machines();

// A benchmark of table 2: the study's name for it, and what it is here.
struct Benchmark {
  const char* label;
  StudyWorkload workload;
};
[[nodiscard]] const std::vector<Benchmark>& benchmarks();
[[nodiscard]] std::vector<StudyWorkload> workloads();

// The grid of the machines and benchmarks, and means over the benchmarks that all of the compared machines ran.
class Study {
 public:
  Study(const Results& results, std::vector<Variant> variants, const std::vector<Benchmark>& benchmarks);

  [[nodiscard]] const std::vector<Variant>& variants() const { return grid_.variants(); }
  // A figure of one run; kNoValue where it was not measured.
  [[nodiscard]] double at(std::size_t variant, std::size_t benchmark, const Grid::Figure& figure) const {
    return grid_.value(variant, benchmark, figure);
  }
  // Geometric mean over the benchmarks of a figure of `variant` over that of `base`; kNoValue for none.
  [[nodiscard]] double ratio(std::size_t variant, std::size_t base, const Grid::Figure& figure) const;
  [[nodiscard]] double ratio(std::size_t variant, std::size_t base, std::size_t benchmark,
                             const Grid::Figure& figure) const;
  // Arithmetic mean of a figure over the benchmarks that all variants ran; kNoValue for none.
  [[nodiscard]] double average(std::size_t variant, const Grid::Figure& figure) const;

  // False: nothing was measured, and the finding says so.
  [[nodiscard]] bool count(Finding& finding) const;
  // By benchmark and machine, with `mean` of each machine at the right or at the end.
  [[nodiscard]] pages::Chart chart(std::string title, std::string unit, const Grid::Figure& figure,
                                   const std::vector<double>& mean) const;
  [[nodiscard]] ValueTable table(std::string caption, const Grid::Figure& figure, const char* format,
                                 const std::vector<double>& mean) const;

 private:
  Grid grid_;
  std::vector<Benchmark> benchmarks_;
};

// Requests that leave a core for each load, store or atomic of a thread would be equation 1; the programs are the same
// on all machines, and so are the threads' accesses: what differs is the number of requests.
[[nodiscard]] double offcore(const tb::Summary& summary);
[[nodiscard]] double idle_share(const tb::Summary& summary);
[[nodiscard]] double instructions_per_cycle(const tb::Summary& summary);

// "+16 %"; "-" for kNoValue.
[[nodiscard]] std::string by_percent(double ratio);

}  // namespace heddle::studies::ws
