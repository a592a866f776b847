// The benchmark: how fast the model simulates, as medians of processor time, each set beside a fixed calibration loop
// so that figures of different or shared machines compare by their ratios.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/bench/forked.hpp"

namespace heddle::studies {

struct Benchmark {
  std::string name;
  std::string unit;                 // of the rate: "warp instructions/s"
  std::string what;                 // is measured
  std::optional<double> target;     // rate on one 2.5 GHz core
  std::function<Sample()> measure;  // in a child
};

struct BenchRow {
  const Benchmark* benchmark = nullptr;
  std::vector<double> rates;   // one per repetition
  std::vector<double> ratios;  // each rate over the calibration rate measured just before it
  double rate = 0;             // medians
  double ratio = 0;
  double seconds = 0;       // median time of one repetition: processor time, or wall-clock time of several threads
  double memory_bytes = 0;  // largest, without device memory
  std::string failure;      // not empty: could not be measured
};

struct BenchResult {
  double calibration = 0;  // median rate of the calibration loop, steps/s
  std::vector<BenchRow> rows;
};

struct BenchOptions {
  unsigned repetitions = 5;
  double effort = 1.0;  // times the size of each benchmark
  std::function<void(const std::string&)> progress;
};

// nqueens, blackjack and matrixmult at 32 lanes, pointer chases in which all warps wait, waves, a memory channel driven
// alone, what a sweep costs beside its runs, lane-wise operations, calls of a CUDA program.
[[nodiscard]] std::vector<Benchmark> benchmarks(double effort);
// Calls of a CUDA program's, and large copies beside memcpy's.
[[nodiscard]] std::vector<Benchmark> call_benchmarks(double effort);
// Machines of so many cores, all of them busy, simulated by so many host threads: rates of wall-clock time. All numbers
// of threads of a machine behind one another, so that their ratio says what threads gain.
struct ThreadAxes {
  std::vector<unsigned> cores{28};
  std::vector<unsigned> threads;
};
[[nodiscard]] std::vector<Benchmark> thread_benchmarks(const ThreadAxes& axes, double effort);
[[nodiscard]] BenchResult run_bench(const std::vector<Benchmark>& list, const BenchOptions& options);

// Steps of a fixed loop (dependent integer arithmetic and table look-ups in the first-level cache) per CPU second.
[[nodiscard]] double calibration_rate();

[[nodiscard]] double median(std::vector<double> values);  // 0 of none
[[nodiscard]] std::string bench_table(const BenchResult& result);
[[nodiscard]] std::string bench_json(const BenchResult& result);

}  // namespace heddle::studies
