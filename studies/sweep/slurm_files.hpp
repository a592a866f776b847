// The files between a sweep and its tasks on a cluster (slurm.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/sweep/exploration.hpp"
#include "studies/sweep/order.hpp"

namespace heddle::studies::sweep {

struct SlurmTask {
  std::string build;    // of the program that planned it
  std::string results;  // folder
  RunLimits limits;
  struct Entry {
    std::string key;
    RunOrder order;
  };
  std::vector<Entry> runs;
};

[[nodiscard]] std::string task_path(const std::string& submission, std::uint64_t index);
[[nodiscard]] std::string task_text(const SlurmTask& task);
// PTX of kernels stands beside the tasks, once for all that run it.
[[nodiscard]] std::string kernel_path(const std::string& submission, const std::string& digest);
void write_kernels(const std::string& submission, const SlurmTask& task);
[[nodiscard]] SlurmTask read_task(const std::string& submission, std::uint64_t index);  // throws InputError
// The keys alone, which is quicker.
[[nodiscard]] std::vector<std::string> read_task_keys(const std::string& submission, std::uint64_t index);

// Every parameter of a machine as the text of a machine file.
[[nodiscard]] std::string machine_text(const hw::Machine& machine);

}  // namespace heddle::studies::sweep
