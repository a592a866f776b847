// What the claims of the ODGS paper share: its machines, its five benchmarks (table 1), each with as many blocks per
// core as the paper had, and how a claim about them is judged.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/grid.hpp"

namespace heddle::studies::odgs {

struct Benchmark {
  const char* label;
  StudyWorkload workload;
  // Of the machine, where its own would let more or fewer blocks into a core than table 1 says.
  std::vector<std::string> settings = {};
  bool series = false;  // what it does over time and over its grid is drawn
};
[[nodiscard]] const std::vector<Benchmark>& benchmarks();
[[nodiscard]] const Benchmark& benchmark(const std::string& label);

// IPC over POD's (table 3), in the order of the benchmarks.
struct Reported {
  const char* benchmark;
  double mimd, dwf, odgs;
};
inline constexpr std::array<Reported, 5> kTable3 = {{{"MUM", 2.71, 1.95, 4.4},
                                                     {"BFS", 1.92, 1.64, 2.6},
                                                     {"RAY", 1.05, 0.76, 1.10},
                                                     {"NN", 1.52, 0.98, 10.6},
                                                     {"WP", 1.02, 0.24, 0.4}}};

// The machine of a claim that compares all four of the paper's.
enum Machine : std::size_t { pod, mimd, dwf, oracle };
[[nodiscard]] std::vector<Variant> machines();

extern const char* const kCaveat;

// Machines x benchmarks.
class Study {
 public:
  explicit Study(std::vector<Variant> machines, std::vector<Benchmark> of = benchmarks());

  [[nodiscard]] std::vector<Run> runs() const;
  [[nodiscard]] const std::vector<Variant>& machines() const { return machines_; }
  [[nodiscard]] const std::vector<Benchmark>& of() const { return benchmarks_; }
  // A figure of one run; kNoValue where it was not measured.
  [[nodiscard]] double at(const Results& results, std::size_t machine, std::size_t benchmark,
                          const Grid::Figure& figure) const;
  // That of a machine over that of another one.
  [[nodiscard]] double ratio(const Results& results, std::size_t machine, std::size_t base, std::size_t benchmark,
                             const Grid::Figure& figure) const {
    return at(results, machine, benchmark, figure) / at(results, base, benchmark, figure);
  }
  // Null where it was not measured, or is not drawn.
  [[nodiscard]] const RunSeries* series(const Results& results, std::size_t machine, std::size_t benchmark) const;
  // Notes how many benchmarks all machines ran; false: none.
  [[nodiscard]] bool count(const Results& results, Finding& finding) const;
  // A row per benchmark, a column per machine: value(machine, benchmark).
  using Value = std::function<double(std::size_t machine, std::size_t benchmark)>;
  [[nodiscard]] ValueTable table(std::string caption, const char* format, const Value& value) const;
  [[nodiscard]] pages::Chart bars(std::string title, std::string unit, const Value& value) const;

 private:
  [[nodiscard]] Run run(std::size_t machine, std::size_t benchmark) const;

  std::vector<Variant> machines_;
  std::vector<Benchmark> benchmarks_;
};

// IPC of a machine over that of another one.
[[nodiscard]] double gain(const Study& study, const Results& results, std::size_t machine, std::size_t base,
                          std::size_t benchmark);

// A claim, judged where at least one benchmark has run on all of its machines.
struct StudyRow {
  std::string id;
  std::string title;
  ClaimText text;
  Study (*study)();
  void (*judge)(const Study& study, const Results& results, Finding& finding);
};

class StudyClaim final : public Claim {
 public:
  explicit StudyClaim(const StudyRow& row) : row_(row), study_(row.study()) {}
  [[nodiscard]] ClaimText text() const override { return row_.text; }
  [[nodiscard]] std::vector<Run> runs() const override { return study_.runs(); }
  [[nodiscard]] Finding judge(const Results& results) const override;

 private:
  const StudyRow& row_;
  const Study study_;
};

[[nodiscard]] std::string times(double ratio);  // "1.47"; kNoValue: "-"

// ---- the paper's pictures, of the runs that have series: a panel per machine; no panels: none has (odgs_pictures.cpp)
// Figures 3, 5 and 15: instructions per cycle of each core over time.
[[nodiscard]] pages::ImagePanels ipc_pictures(const Study& study, const Results& results, std::size_t benchmark);
// Figure 6: blocks of each core over time, of machines whose cores have blocks.
[[nodiscard]] pages::ImagePanels block_pictures(const Study& study, const Results& results, std::size_t benchmark);
// Figure 7: warps by active threads over time.
[[nodiscard]] pages::ImagePanels band_pictures(const Study& study, const Results& results, std::size_t benchmark);
// Figure 4: how much of the time each memory channel's bus is used.
[[nodiscard]] pages::ImagePanels channel_pictures(const Study& study, const Results& results, std::size_t benchmark);
// Figures 10 and 12: the divergences of each thread, by machine, and first, with `paths`, what the kernel has drawn and
// each thread's instructions.
[[nodiscard]] pages::ImagePanels thread_pictures(const Study& study, const Results& results, std::size_t benchmark,
                                                 bool paths);

}  // namespace heddle::studies::odgs
