// What the claims of the ODGS paper share: its machines and its five benchmarks (table 1), each with as many blocks per
// core as the paper had.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tb/studies/reproduce/claim.hpp"
#include "tb/studies/reproduce/grid.hpp"

namespace heddle::tb::odgs {

struct Benchmark {
  const char* label;
  StudyWorkload workload;
  // Registers of a core, where the machine's would let more or fewer blocks in than table 1 says (its kernels use other
  // numbers of registers than ours); 0: the machine's.
  unsigned registers = 0;
};
[[nodiscard]] const std::vector<Benchmark>& benchmarks();

// A machine as a benchmark runs on it.
[[nodiscard]] Variant on(const Benchmark& benchmark, const Variant& machine);

// Machines x benchmarks, each benchmark with its number of registers.
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
  // Notes how many benchmarks all machines ran; false: none.
  [[nodiscard]] bool count(const Results& results, Finding& finding) const;
  // A row per benchmark, a column per machine: value(machine, benchmark).
  using Value = std::function<double(std::size_t machine, std::size_t benchmark)>;
  [[nodiscard]] ValueTable table(std::string caption, const char* format, const Value& value) const;
  [[nodiscard]] Chart bars(std::string title, std::string unit, const Value& value) const;

 private:
  std::vector<Variant> machines_;
  std::vector<Benchmark> benchmarks_;
};

[[nodiscard]] double instructions_per_cycle(const Summary& summary);

}  // namespace heddle::tb::odgs
