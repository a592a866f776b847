// Sweeps on a cluster: runs as tasks of Slurm's job arrays. What the sweep and its tasks know of each other are files
// in a folder that all machines of the cluster see:
//
//   submission-N/task-K.jsonl   what task K of the N-th array does: a line about the task, then one line per run
//   submission-N/log-K.txt      what the task printed
//   results/KEY                 a run's report; whole or absent, taken away when the database has it
//
// The array of submission N has a name that is unique to the folder, so that a sweep that was killed finds its tasks
// again: what is still queued or running is waited for, the rest is submitted anew.
#pragma once

#include <memory>
#include <string>

#include "studies/sweep/launcher.hpp"

namespace heddle::studies::sweep {

struct SlurmOptions {
  std::string folder;        // shared by all machines
  std::string program;       // path of this program there
  double poll_seconds = 1;   // between two looks at the results
  double queue_seconds = 5;  // between two questions to Slurm
};

// Throws InputError when Slurm's commands are missing or refuse.
[[nodiscard]] std::unique_ptr<Launcher> slurm_launcher(const SlurmOptions& options);

// What a task of an array does: the runs of task-INDEX.jsonl in `submission`, one after the other, each limited and in
// a process of its own; runs whose results are there already are left out. Throws InputError.
void do_slurm_task(const std::string& submission, std::uint64_t index);

}  // namespace heddle::studies::sweep
