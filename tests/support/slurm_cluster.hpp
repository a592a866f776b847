// A whole Slurm of one node, in a folder of its own, for one test: munged, slurmctld and slurmd on ports that are free,
// as the present user, without systemd and cgroups.
#pragma once

#include <string>
#include <vector>

#include "os/process/child_process.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::test {

class SlurmCluster {
 public:
  // Throws std::runtime_error with the logs when it does not come up.
  explicit SlurmCluster(unsigned largest_array);
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  // "SLURM_CONF=...", for the environment of programs that talk to it.
  [[nodiscard]] std::string environment() const { return "SLURM_CONF=" + scratch_.path("slurm.conf"); }
  [[nodiscard]] Ran ask(const std::vector<std::string>& words) const {
    return spawn(words, {{environment()}, "", false, {}});
  }
  [[nodiscard]] std::string logs() const;

 private:
  void start(const std::vector<std::string>& words);
  [[noreturn]] void fail(const std::string& why);
  void stop();
  Scratch scratch_;
  std::vector<os::ChildProcess> processes_;
};

}  // namespace heddle::test
