// From an exploration to its runs: the points of its grid that the constraints leave and the sample takes, each with
// the key under which its result is kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "studies/sweep/exploration.hpp"
#include "studies/sweep/order.hpp"

namespace heddle::studies::sweep {

inline constexpr std::uint64_t kMostRuns = 1000000;

// One run of the sweep.
struct Point {
  std::uint64_t number = 0;      // of the point within the whole grid, from 1: stays when a sample grows
  std::uint64_t repetition = 0;  // from 1
  RunOrder order;                // the machine is as far as it came when `refusal` is not empty
  std::string config;            // as the exploration names it
  std::string energy;            // the energy table, as it does; empty: none
  std::string key;               // digest of all that the result depends on
  std::string refusal;           // why there is no such machine; such a point is not run
};

// What a LAUNCH.toml says itself of a run.
struct LaunchFacts {
  std::string digest;  // of the file, of its kernels as PTX and of every file that it reads
  unsigned address_bits = 32;
  std::shared_ptr<const std::string> ptx;  // of its kernels
};
// Throws InputError also for kernels that do not compile: no machine could run them.
[[nodiscard]] LaunchFacts read_launch_facts(const std::string& path);

class Plan {
 public:
  // `build` names the program that runs (program_build()). Throws InputError when there are no points, or more than
  // kMostRuns runs.
  Plan(const Exploration& exploration, std::string build);

  struct Entry {
    std::uint64_t number = 0;
    std::uint64_t repetition = 0;
    std::string key;
    std::uint32_t workload = 0;  // into workloads()
    bool refused = false;
  };
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<std::string>& workloads() const { return workloads_; }
  [[nodiscard]] Point point(std::size_t entry) const;  // made anew: a machine takes room
  [[nodiscard]] const std::string& build() const { return build_; }
  [[nodiscard]] std::string digest() const;  // equal for the same runs by the same program

 private:
  using Assigned = std::map<std::string, const ParameterValue*, std::less<>>;
  [[nodiscard]] Assigned assigned(std::uint64_t number) const;
  [[nodiscard]] bool allowed(std::uint64_t number) const;
  [[nodiscard]] std::vector<std::uint64_t> chosen() const;
  [[nodiscard]] Point make(std::uint64_t number, std::uint64_t repetition) const;
  [[nodiscard]] const hw::Machine& base(const std::string& config) const;
  [[nodiscard]] const LaunchFacts& launch_facts(const std::string& path) const;
  [[nodiscard]] const std::string& energy_text(const std::string& path) const;

  const Exploration& exploration_;
  std::string build_;
  std::uint64_t grid_ = 0;  // combinations of the axes' values
  std::vector<Entry> entries_;
  std::vector<std::string> workloads_;
  mutable std::map<std::string, hw::Machine> machines_;  // by config
  mutable std::map<std::string, LaunchFacts> launches_;  // by path
  mutable std::map<std::string, std::string> energies_;  // energy tables by path
};

}  // namespace heddle::studies::sweep
