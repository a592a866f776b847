// How long the rest of many runs takes, for progress lines.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace heddle::pages {

// Guesses how long the rest takes from the runs that are done: a run takes what its workload's runs took on average;
// one whose workload has not run yet takes the average of all.
class TimeLeft {
 public:
  using Counts = std::map<std::string, std::size_t>;  // runs by workload
  void done(const std::string& workload, double seconds);
  // Seconds for so many runs of each workload on `jobs` processes; nothing before the first run is done.
  [[nodiscard]] std::optional<double> left(const Counts& runs, unsigned jobs) const;

 private:
  struct Sum {
    double seconds = 0;
    unsigned runs = 0;
  };
  std::map<std::string, Sum> by_workload_;
  Sum all_;
};

// "1 h 05 min", "3 min 20 s", "12 s"
[[nodiscard]] std::string time_text(double seconds);

}  // namespace heddle::pages
