// The runs of a design review: each a `heddle run` in a process of its own, kept in the review's folder, so that the
// next review does only what is missing.
//
// Below the folder: runs/<subject>-<machine>-<digest>/ with key.txt and what the run writes. A folder holds a result
// when its key.txt is the run's key and the run has ended as it should.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "studies/review/subjects.hpp"

namespace heddle::studies {

// By which energy table runs are priced.
struct ReviewPricing {
  std::string table;              // a name, where runs are started a path; empty: they are not priced
  std::optional<double> celsius;  // the temperature of the machine; none: the table's

  [[nodiscard]] bool empty() const { return table.empty(); }
};

struct ReviewRun {
  std::string config;                 // name or path, as the command names it
  std::vector<std::string> settings;  // --set
  hw::Machine machine;                // what they make
  ReviewSubject subject;
  double scale = 1;        // of a workload
  std::uint64_t seed = 1;  // likewise
  ReviewPricing energy;
  // A look at the first cycles alone: the run ends behind `until`, and writes the pipeline's log (pipeline.kanata) or,
  // with `waves`, the signals of these groups (waves.vcd), from cycle `from` on. 0: a whole run.
  std::uint64_t until = 0;
  std::uint64_t from = 0;
  std::string waves;
};

struct ReviewRunDone {
  std::string folder;   // of stats.json and the other files
  std::string failure;  // why there is no result, one line; empty: there is one
  bool reused = false;  // was there already
};

struct ReviewRunner {
  std::string folder;
  unsigned jobs = 1;
  std::function<void(const std::string&)> progress;
  const std::atomic<int>* stop = nullptr;
  std::size_t ran = 0;         // so far
  std::size_t kept = 0;        // were there already
  std::set<std::string> seen;  // folders of those
  // Runs that are there and have been priced by it do for those that are not to be priced. Empty: there are none.
  ReviewPricing priced_by;

  // One for each run, in order; equal runs are done once. Throws InputError when the folder cannot be used, and
  // os::Stopped when a signal has come.
  [[nodiscard]] std::vector<ReviewRunDone> run(const std::vector<ReviewRun>& runs);

 private:
  [[nodiscard]] std::string folder_of(const ReviewRun& run, const std::string& key) const;
};

}  // namespace heddle::studies
