// heddle sweep on a cluster: a real Slurm of one node, killed and resumed, and what becomes of lost tasks.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/slurm_cluster.hpp"
#include "tests/support/sweep_database.hpp"

HEDDLE_LONG("CliSweepSlurm.LostTasks*")
HEDDLE_NOT_SANITIZED("CliSweepSlurm.*")

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using test::column;
using test::contents;
using test::heddle;
using test::Ran;
using test::rows;
using test::RunSetup;
using test::Scratch;
using test::SlurmCluster;
using test::wait_for_rows;

std::string submission(const std::string& database, int number) {
  return database + ".slurm/submission-" + std::to_string(number);
}

TEST(CliSweepSlurm, KilledAndResumedItHasTheRowsOfALocalRun) {
  const Scratch scratch;
  const SlurmCluster cluster(20);  // 52 tasks are three arrays
  const std::string file =
      scratch.write("x.toml",
                    "config = \"baseline\"\nscale = 0.001\nenergy = \"dws-65nm\"\n[axes]\nworkload = [\"vecadd\", "
                    "\"nqueens\"]\ncore.warp_size = [32, 64, 48]\n"
                    "two_level.fetch_group = { from = 1, to = 13, step = 1 }\n"
                    "[slurm]\nruns_per_task = 1\noptions = [\"--time=5\"]\n");
  const std::string local = scratch.path("local.db");
  ASSERT_EQ(test::heddle({"sweep", file, "-d", local}).code, 0);
  const std::string database = scratch.path("slurm.db");
  const std::vector<std::string> words = {"sweep", file, "-d", database, "--launcher", "slurm"};
  RunSetup setup;
  setup.environment = {cluster.environment()};
  setup.while_running = [&](pid_t process) {
    test::wait_for_rows(database, 26 + 2);  // the refused ones are there at once
    EXPECT_TRUE(fs::exists(submission(database, 3) + "/task-11.jsonl"));
    EXPECT_FALSE(fs::exists(submission(database, 3) + "/task-12.jsonl"));
    EXPECT_FALSE(fs::exists(submission(database, 1) + "/task-20.jsonl"));
    ::kill(process, SIGKILL);
  };
  ASSERT_EQ(test::heddle(words, setup).code, 128 + SIGKILL) << cluster.logs();
  const std::uint64_t kept = test::rows(database);
  EXPECT_LT(kept, 78U);
  setup.while_running = {};
  const Ran resumed = test::heddle(words, setup);
  EXPECT_EQ(resumed.code, 0) << resumed.err << resumed.out << cluster.logs();
  EXPECT_NE(resumed.out.find("78 runs, " + std::to_string(kept) + " of them kept"), std::string::npos) << resumed.out;
  EXPECT_EQ(test::contents(database), test::contents(local));
  EXPECT_EQ(test::contents(database).size(), 78U);
  EXPECT_FALSE(fs::exists(database + ".slurm"));  // nothing is left behind
  EXPECT_FALSE(fs::exists(submission(database, 4)));
}

TEST(CliSweepSlurm, PythonHasTheSameRows) {
  const Scratch scratch;
  const SlurmCluster cluster(20);
  const std::string code =
      "import sys; sys.path.insert(0, '" HEDDLE_SOURCE_DIR
      "/python'); import heddle\n"
      "sweep = heddle.Sweep('baseline', 'vecadd', scale=0.001, axes={'core.warp_size': [32, 64, 48]},\n"
      "                     slurm={'options': ['--time=5']})\n"
      "for name, launcher in (('slurm', 'slurm'), ('local', None)):\n"
      "    print([row.cycles for row in sweep.run(name + '.db', launcher=launcher)])\n";
  const Ran ran = test::spawn({"python3", "-B", "-c", code},
                              {{cluster.environment(), "HEDDLE=" HEDDLE_PROGRAM}, scratch.path(), false, {}});
  EXPECT_EQ(ran.code, 0) << ran.err << cluster.logs();
  const std::size_t half = ran.out.size() / 2;
  EXPECT_EQ(ran.out.substr(0, half), ran.out.substr(half));
  EXPECT_EQ(test::contents(scratch.path("slurm.db")), test::contents(scratch.path("local.db")));
  EXPECT_EQ(test::contents(scratch.path("slurm.db")).size(), 3U);
}

TEST(CliSweepSlurm, LostTasksAndLimitsMarkTheirRunsAndAnInterruptCancels) {
  const Scratch scratch;
  const SlurmCluster cluster(100);
  const std::string file =
      scratch.write("x.toml",
                    "config = \"baseline\"\n[[points]]\nworkload = \"sort\"\nscale = 16\n"  // minutes
                    "[[points]]\nworkload = \"vecadd\"\nscale = 0.001\n");
  const std::vector<std::string> words = {"sweep", file, "-d", scratch.path("x.db"), "--launcher", "slurm"};
  RunSetup setup;
  setup.environment = {cluster.environment()};
  setup.while_running = [&](pid_t) {
    test::wait_for_rows(scratch.path("x.db"), 1);
    EXPECT_EQ(cluster.ask({"scancel", "--state=RUNNING"}).code, 0);  // the task of the long run
  };
  EXPECT_EQ(test::heddle(words, setup).code, 1) << cluster.logs();
  const auto said = test::column(scratch.path("x.db"), "SELECT status || ': ' || message FROM results ORDER BY point");
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].find("crashed: the cluster's task ended without a result"), 0U) << said[0];
  EXPECT_EQ(said[1], "done: ");
  EXPECT_TRUE(fs::exists(submission(scratch.path("x.db"), 1) + "/log-0.txt"));
  // Again, and interrupted: its job does not stay.
  std::vector<std::string> retry = words;
  retry.emplace_back("--retry");
  setup.while_running = [&](pid_t process) {
    for (int i = 0; i < 200 && cluster.ask({"squeue", "--noheader"}).out.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ::kill(process, SIGTERM);
  };
  EXPECT_EQ(test::heddle(retry, setup).code, 128 + SIGTERM);
  std::string left;
  for (int i = 0; i < 100 && !(left = cluster.ask({"squeue", "--noheader", "--states=PD,R"}).out).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(left, "");
}

TEST(CliSweepSlurm, WithoutACluster) {
  const Scratch scratch;
  const std::string file = scratch.write("x.toml", "config = \"baseline\"\nscale = 0.001\nworkload = \"vecadd\"\n");
  RunSetup setup;
  setup.environment = {"PATH=/nowhere"};
  const Ran ran = test::heddle({"sweep", file, "-d", scratch.path("x.db"), "--launcher", "slurm"}, setup);
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("cannot be started: No such file or directory; --launcher slurm needs Slurm's commands"),
            std::string::npos)
      << ran.err;
  EXPECT_EQ(test::heddle({"sweep", file, "--launcher", "slurn"}).err,
            "heddle: --launcher: there is no launcher 'slurn'; did you mean 'slurm'?\n");
  EXPECT_EQ(test::heddle({"sweep", file, "--launcher", "slurm", "-j", "2"}).err,
            "heddle: --jobs: applies to this machine only; [slurm] at_a_time limits the tasks of a cluster\n");
  EXPECT_EQ(test::heddle({"sweep", "--slurm-task", scratch.path()}).err,
            "heddle: --slurm-task: SLURM_ARRAY_TASK_ID says no task; Slurm's job arrays call this\n");
}

}  // namespace
}  // namespace heddle::cli
