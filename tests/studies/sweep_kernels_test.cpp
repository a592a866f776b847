// Kernels that a sweep has compiled go to the tasks of a cluster as they are, once for all runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "os/files/atomic_file.hpp"
#include "studies/sweep/slurm_files.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::studies::sweep {
namespace {

namespace fs = std::filesystem;

TEST(SweepKernels, TasksHaveTheKernelsOfTheirPlan) {
  const test::Scratch scratch;
  SlurmTask task{"build", scratch.path("results"), {}, {}};
  task.runs.resize(3);
  task.runs[0].key = "a";
  task.runs[0].order.workload = "l.toml";
  task.runs[0].order.ptx = std::make_shared<const std::string>(".version 7.0\n\"quoted\"\n");
  task.runs[1].key = "b";
  task.runs[1].order = task.runs[0].order;
  task.runs[2].key = "c";
  task.runs[2].order.workload = "vecadd";
  task.runs[2].order.celsius = 50.5;
  write_kernels(scratch.path(), task);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()), 1);
  os::write_file(task_path(scratch.path(), 0), task_text(task));
  const SlurmTask back = read_task(scratch.path(), 0);
  ASSERT_EQ(back.runs.size(), 3U);
  ASSERT_NE(back.runs[0].order.ptx, nullptr);
  EXPECT_EQ(*back.runs[0].order.ptx, *task.runs[0].order.ptx);
  EXPECT_EQ(back.runs[1].order.ptx, back.runs[0].order.ptx);
  EXPECT_EQ(back.runs[2].order.ptx, nullptr);
  EXPECT_EQ(back.runs[1].order.celsius, std::nullopt);
  EXPECT_EQ(back.runs[2].order.celsius, 50.5);
}

}  // namespace
}  // namespace heddle::studies::sweep
