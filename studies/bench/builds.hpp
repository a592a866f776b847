// Two builds of the program, benchmark by benchmark in turns, so that what the machine does meanwhile befalls both:
// ratios of processor times from a shared machine that mean something.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace heddle::studies {

struct BuildsRow {
  std::string name;            // of the benchmark
  std::vector<double> ratios;  // this build's rate over the other's, of each pair of runs
  double median = 0;           // of the pairs' ratios
  double least_times = 0;      // the highest rate of this build over the other's: of their least disturbed runs
  bool missing = false;        // the other build has no such benchmark
  std::string failure;         // not empty: could not be measured
};

// How bench begins to say that it does not know a name; by it, other builds are known not to.
inline constexpr const char* kNoSuchBenchmark = "there is no benchmark";

struct BuildsOptions {
  unsigned pairs = 5;
  bool quick = false;  // a tenth of the work
  std::function<void(const std::string&)> progress;
};

// Runs `other bench --only NAME --repeat 1` and the running program with the same words, each a process of its own;
// which of the two is first changes from pair to pair. Throws InputError when `other` cannot be started.
[[nodiscard]] std::vector<BuildsRow> compare_builds(const std::string& other, const std::vector<std::string>& names,
                                                    const BuildsOptions& options);

[[nodiscard]] std::string builds_table(const std::vector<BuildsRow>& rows, const std::string& other);
[[nodiscard]] std::string builds_json(const std::vector<BuildsRow>& rows, const std::string& other);

}  // namespace heddle::studies
