// heddle sweep as a user runs it: limits, failures, kills, and what is not run again.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "studies/database/sqlite.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/sweep_database.hpp"

HEDDLE_NOT_SANITIZED("CliSweep.ARunThatCrashes*", "CliSweep.ARunThatIsTooBig*")
HEDDLE_LONG_SANITIZED("CliSweep.KilledAt*", "CliSweep.WhatIsThere*", "CliSweep.OneDatabase*", "CliSweep.LimitsFaults*",
                      "CliSweep.NothingButRefusals*", "CliSweep.OtherFilesAreLeftAlone", "CliSweep.ARunThatTakes*",
                      "CliSweep.AnInterrupt*", "CliSweep.ALaunch*")

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
using test::wait_for_rows;

const std::string kHead = "config = \"baseline\"\nscale = 0.001\n";

pid_t first_child(pid_t process) {
  for (int i = 0; i < 6000; ++i) {
    std::ifstream in("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
    pid_t child = 0;
    if (in >> child) {
      return child;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return -1;
}

TEST(CliSweep, WhatIsThereIsNotRunAgain) {
  const Scratch scratch;
  const std::string file =
      scratch.write("x.toml", kHead + "workload = \"vecadd\"\n[axes]\ncore.warp_size = [32, 64, 48]\n");
  const std::string database = scratch.path("out/x.db");
  const Ran first = test::heddle({"sweep", file, "--database", database});
  ASSERT_EQ(first.code, 0) << first.err << first.out;
  EXPECT_NE(first.out.find("3 runs, 0 of them kept from earlier, 3 now"), std::string::npos) << first.out;
  EXPECT_EQ(test::column(database, "SELECT status FROM results ORDER BY point"),
            (std::vector<std::string>{"done", "done", "refused"}));
  EXPECT_NE(test::column(database, "SELECT message FROM results WHERE status = 'refused'")[0].find("no multiple of"),
            std::string::npos);
  EXPECT_EQ(test::column(database, "SELECT core_warp_size FROM results ORDER BY point"),
            (std::vector<std::string>{"32", "64", "48"}));
  EXPECT_FALSE(fs::exists(database + "-wal"));
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path("out")), fs::directory_iterator()), 1);  // and no lock
  const auto before = test::contents(database);
  const auto dates = test::column(database, "SELECT host_date || id FROM runs ORDER BY id");
  const Ran again = test::heddle({"sweep", file, "--database", database});
  EXPECT_NE(again.out.find("3 runs, 3 of them kept from earlier, 0 now"), std::string::npos) << again.out;
  EXPECT_EQ(test::contents(database), before);
  EXPECT_EQ(test::column(database, "SELECT host_date || id FROM runs ORDER BY id"), dates);
  // One value more: one run more, and only when it is asked for.
  scratch.write("x.toml", kHead + "workload = \"vecadd\"\n[axes]\ncore.warp_size = [32, 64, 48, 128]\n");
  const Ran other = test::heddle({"sweep", file, "--database", database});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("holds another exploration, or an earlier text of this one (x); --resume adds this sweep"),
            std::string::npos)
      << other.err;
  EXPECT_EQ(test::contents(database), before);
  const Ran more = test::heddle({"sweep", file, "--database", database, "--resume"});
  EXPECT_NE(more.out.find("4 runs, 3 of them kept from earlier, 1 now"), std::string::npos) << more.out << more.err;
  EXPECT_EQ(test::heddle({"sweep", file, "--database", database}).code, 0);  // it is known there now
}

// A result is of what the compiler made, whatever that depends on: a header, the folders of headers, the compiler.
TEST(CliSweep, AKernelThatCompilesToOtherCodeIsRunAgain) {
  const Scratch scratch;
  fs::create_directory(scratch.path("one"));
  fs::create_directory(scratch.path("two"));
  scratch.write("one/n.h", "#define N 1\n");
  scratch.write("two/n.h", "#define N 40\n");
  scratch.write("beside.h", "#define M 1\n");
  scratch.write("k.cu",
                "#include <n.h>\n#include \"beside.h\"\nextern \"C\" __global__ void k(unsigned* p) {\n"
                "  for (unsigned i = 0; i < N * M + STEPS; i++) p[i * 64] += 1;\n}\n");
  scratch.write("l.toml",
                "cuda = \"k.cu\"\n[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = 64000\n"
                "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\narguments = [{ buffer = \"x\" }]\n");
  const std::string file =
      scratch.write("e.toml", "config = \"baseline\"\nworkload = \"l.toml\"\n[axes]\ncore.warp_size = [32]\n");
  const std::string database = scratch.path("x.db");
  const std::string compiler = scratch.write("compiler", "#!/bin/sh\nexec clang++ -DSTEPS=0 \"$@\"\n");
  const std::string other = scratch.write("other", "#!/bin/sh\nexec clang++ -DSTEPS=9 \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  fs::permissions(other, fs::perms::owner_all);
  const auto sweep = [&](const std::string& folder, const std::string& clang) {
    RunSetup setup;
    setup.environment = {"CPATH=" + scratch.path(folder), "HEDDLE_CLANG=" + clang};
    const Ran ran = test::heddle({"sweep", file, "-d", database, "--resume"}, setup);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out.find("1 of them kept") == std::string::npos;
  };
  EXPECT_TRUE(sweep("one", compiler));
  EXPECT_FALSE(sweep("one", compiler));
  scratch.write("k.cu", Scratch::read(scratch.path("k.cu")) + "// of no account\n");
  EXPECT_FALSE(sweep("one", compiler));
  EXPECT_TRUE(sweep("two", compiler));
  EXPECT_TRUE(sweep("one", other));
  scratch.write("beside.h", "#define M 30\n");
  EXPECT_TRUE(sweep("one", compiler));
  const std::vector<std::string> cycles = test::column(database, "SELECT cycles FROM runs ORDER BY id");
  EXPECT_EQ(std::set<std::string>(cycles.begin(), cycles.end()).size(), 4U);
  EXPECT_EQ(cycles.size(), 4U);
}

// What the sweep writes is lost then: it says so, does no more, and harms nothing that is there now.
TEST(CliSweep, ADatabaseThatVanishesEndsIt) {
  for (const char* const how : {"removed", "moved", "replaced"}) {
    SCOPED_TRACE(how);
    const Scratch scratch;
    const std::string file =
        scratch.write("e.toml", kHead + "workload = \"vecadd\"\n[axes]\nseed = { from = 1, to = 400, step = 1 }\n");
    const std::string database = scratch.path("x.db");
    RunSetup setup;
    setup.while_running = [&](pid_t) {
      test::wait_for_rows(database, 1);
      if (how == std::string("removed")) {
        fs::remove(database);
      } else if (how == std::string("moved")) {
        fs::rename(database, scratch.path("y.db"));
      } else {  // at once: the sweep may look at any time
        fs::rename(scratch.write("y.db", "precious"), database);
      }
    };
    const Ran ran = test::heddle({"sweep", file, "-d", database, "-j", "1"}, setup);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_EQ(ran.err, "heddle: " + database + ": the database has been " +
                           (how == std::string("replaced") ? "replaced by another file" : "removed or moved") +
                           " while the sweep wrote to it, and what came since is lost; the same command does what is "
                           "missing\n");
    EXPECT_EQ(ran.out.find("Look at them"), std::string::npos) << ran.out;
    EXPECT_EQ(Scratch::read(database), how == std::string("replaced") ? "precious" : "");
  }
}

TEST(CliSweep, NothingButRefusalsIsNoSuccess) {
  const Scratch scratch;
  const std::string file =
      scratch.write("x.toml", kHead + "workload = \"vecadd\"\n[axes]\ncore.warp_size = [48, 50]\n");
  for (int time = 0; time < 2; ++time) {  // also when it is all there
    const Ran ran = test::heddle({"sweep", file, "-d", scratch.path("x.db")});
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_NE(ran.out.find("2 refused"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.err.find("heddle: " + file + ": every point was refused, the first one: "), 0U) << ran.err;
    EXPECT_NE(ran.err.find("48"), std::string::npos) << ran.err;
  }
  EXPECT_EQ(test::rows(scratch.path("x.db")), 2U);
}

TEST(CliSweep, TheRowSaysWhatRunSays) {
  const Scratch scratch;
  const std::string file = scratch.write("x.toml", kHead + "workload = \"nqueens\"\n[set]\ncore.warp_size = 64\n");
  ASSERT_EQ(test::heddle({"sweep", file, "-d", scratch.path("x.db")}).code, 0);
  ASSERT_EQ(test::heddle({"run", "baseline", "nqueens", "--set", "core.warp_size=64", "--scale", "0.001", "-o",
                          scratch.path("run")})
                .code,
            0);
  const std::string stats = Scratch::read(scratch.path("run/stats.json"));
  for (const char* name : {"cycles", "ipc", "retirement_hash", "idle_share", "branches", "l1d_misses"}) {
    const std::string value = test::column(scratch.path("x.db"), std::string("SELECT ") + name + " FROM runs")[0];
    const std::string quote = name == std::string("retirement_hash") ? "\"" : "";
    EXPECT_NE(stats.find("\"" + std::string(name) + "\": " + quote + value), std::string::npos) << name << value;
  }
  EXPECT_NE(test::column(scratch.path("x.db"), "SELECT modules FROM runs")[0].find("\"warp_instructions\""),
            std::string::npos);
}

// 220 nJ for each access to memory, 1 pJ for each in the second table; a run that is not priced has no energy, and a
// trade-off of energy and cycles takes it like any figure.
TEST(CliSweep, AnEnergyTablePricesTheRuns) {
  const Scratch scratch;
  scratch.write("own.toml", "[dram]\nsource = \"s\"\nreads = 1\nwrites = 1\natomics = 1\n");
  const std::string database = scratch.path("x.db");
  const std::string axes =
      "[axes]\nl1d.bytes = [2048, 32768]\nl1d.write_policy = [\"write-through\", \"write-back\"]\n";
  const std::string head = kHead + "workload = \"matrixmult\"\n";
  const std::string file = scratch.write("x.toml", head + "energy = \"dws-memory\"\n" + axes);
  ASSERT_EQ(test::heddle({"sweep", file, "-d", database}).code, 0);
  const auto off_by = [&](const char* pj) {
    return test::column(database,
                        std::string("SELECT energy_total - ") + pj +
                            " * ((modules ->> '$.\"gpu.dram0\".reads') + (modules ->> '$.\"gpu.dram0\".writes') + "
                            "(modules ->> '$.\"gpu.dram0\".atomics')) FROM results WHERE sweep = (SELECT max(id) "
                            "FROM sweeps) ORDER BY point");
  };
  const std::vector<std::string> nothing(4, "0");
  const std::vector<std::string> yes(4, "1");
  EXPECT_EQ(off_by("220e3"), nothing);
  EXPECT_EQ(test::column(database, "SELECT energy_dram - energy_total FROM runs"), nothing);
  EXPECT_EQ(test::column(database, "SELECT energy_core IS NULL AND energy = 'dws-memory' FROM runs"), yes);
  EXPECT_EQ(test::column(database,
                         "SELECT abs(mean_power * cycles / gpu_clock_ghz / energy_total - 1) < 1e-9 AND "
                         "abs(energy_delay_product / energy_total / cycles * gpu_clock_ghz - 1) < 1e-9 FROM runs"),
            yes);
  // The largest interval is no smaller than the mean, and one that holds the run is the mean; kernels add up.
  EXPECT_EQ(test::column(database, "SELECT peak_power >= mean_power AND power_interval = 10000 FROM runs"), yes);
  EXPECT_EQ(test::column(database,
                         "SELECT abs((SELECT sum(value) FROM json_each(energy_by_kernel)) / energy_total - 1) < 1e-9 "
                         "FROM runs"),
            yes);
  const std::string whole = scratch.write("w.toml", head + "energy = \"dws-memory\"\npower_interval = 1000000000\n");
  ASSERT_EQ(test::heddle({"sweep", whole, "-d", scratch.path("w.db")}).code, 0);
  EXPECT_EQ(test::column(scratch.path("w.db"), "SELECT abs(peak_power / mean_power - 1) < 1e-9 FROM runs"),
            (std::vector<std::string>{"1"}));
  const Ran table = test::heddle({"results", database});
  EXPECT_NE(table.out.find(" energy_total  energy_delay_product"), std::string::npos) << table.out;
  // Of the larger cache, write-back spares accesses to memory and takes some cycles more.
  const Ran front = test::heddle({"results", database, "--pareto", "energy_total:min,cycles:min", "--csv", "-"});
  const auto design = [&](const std::string& policy) {
    return "32768," + policy + "," +
           test::column(database,
                        "SELECT CAST(energy_total AS INTEGER) || ',' || cycles FROM runs WHERE l1d_bytes = 32768 "
                        "AND l1d_write_policy = '" +
                            policy + "'")[0] +
           ",1\n";
  };
  EXPECT_EQ(front.out,
            "l1d_bytes,l1d_write_policy,energy_total,cycles,runs\n" + design("write-back") + design("write-through"));
  // Another table's runs are others.
  scratch.write("x.toml", head + "energy = \"own.toml\"\n" + axes);
  const Ran other = test::heddle({"sweep", file, "-d", database, "--resume"});
  EXPECT_NE(other.out.find("4 runs, 0 of them kept from earlier, 4 now"), std::string::npos) << other.out << other.err;
  EXPECT_EQ(off_by("1"), nothing);
  scratch.write("x.toml", head);
  ASSERT_EQ(test::heddle({"sweep", file, "-d", database, "--resume"}).code, 0);
  EXPECT_EQ(test::column(database, "SELECT count(*) FROM runs WHERE energy IS NULL AND energy_total IS NULL"),
            (std::vector<std::string>{"1"}));
  EXPECT_EQ(test::heddle({"results", database}).out.find("energy_total"), std::string::npos);
}

// The hotter, the more leaks; what is switched does not change. A table that does not know how refuses its points.
TEST(CliSweep, LeakageGoesByTheTemperature) {
  const Scratch scratch;
  const std::string file =
      scratch.write("x.toml", kHead +
                                  "workload = \"vecadd\"\n[axes]\n"
                                  "energy = [\"dws-65nm\", \"dws-memory\"]\ntemperature = [40, 90]\n");
  const std::string database = scratch.path("x.db");
  const Ran ran = test::heddle({"sweep", file, "-d", database, "-q"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out + ran.err, "");
  EXPECT_EQ(test::column(database, "SELECT temperature || ' ' || status FROM results ORDER BY point"),
            (std::vector<std::string>{"40.0 done", "90.0 done", "40.0 refused", "90.0 refused"}));
  EXPECT_EQ(test::column(database,
                         "SELECT b.energy_total > 1.1 * a.energy_total AND a.cycles = b.cycles FROM runs a, runs b "
                         "WHERE a.temperature = 40 AND b.temperature = 90 AND a.status = 'done' AND b.status = 'done'"),
            (std::vector<std::string>{"1"}));
  EXPECT_EQ(test::column(database, "SELECT DISTINCT message FROM results WHERE status = 'refused'")[0].find(
                "temperature: the energy table dws-memory does not say how leakage goes with the temperature"),
            0U);
}

TEST(CliSweep, LimitsFaultsAndWrongResultsMarkTheRunAndTheSweepGoesOn) {
  const Scratch scratch;
  scratch.write("k.ptx",
                ".version 7.0\n.target sm_50\n.address_size 32\n"
                ".visible .entry store() { .reg .b32 %r; mov.u32 %r, 12345676; st.global.u32 [%r], %r; ret; }\n"
                ".visible .entry forever() { L: bra L; }\n");
  const auto launch = [&](const std::string& entry) {
    scratch.write(entry + ".toml",
                  "ptx = \"k.ptx\"\n[[buffer]]\nname = \"b\"\ntype = \"u32\"\ncount = 64\nvalue = 1\n"
                  "[[launch]]\nentry = \"" +
                      entry + "\"\ngrid = [1]\nblock = [32]\n");
  };
  launch("store");
  launch("forever");
  const std::string file = scratch.write("x.toml",
                                         "config = \"baseline\"\n[limits]\ncpu_seconds = 2\n"
                                         "[[points]]\nworkload = \"store.toml\"\n"
                                         "[[points]]\nworkload = \"forever.toml\"\nmax_cycles = 1000\n"
                                         "[[points]]\nworkload = \"bfs\"\n"  // minutes
                                         "[[points]]\nworkload = \"vecadd\"\nscale = 0.001\n");
  const Ran ran = test::heddle({"sweep", file, "-d", scratch.path("x.db"), "-j", "1"});
  EXPECT_EQ(ran.code, 1) << ran.err << ran.out;
  EXPECT_NE(ran.out.find("1 done, 1 fault, 1 stopped, 1 timeout"), std::string::npos) << ran.out;
  EXPECT_EQ(test::column(scratch.path("x.db"), "SELECT status FROM results ORDER BY point"),
            (std::vector<std::string>{"fault", "stopped", "timeout", "done"}));
  const auto messages = test::column(scratch.path("x.db"), "SELECT message FROM results ORDER BY point");
  EXPECT_NE(messages[0].find("0x"), std::string::npos) << messages[0];
  EXPECT_NE(messages[1].find("1000"), std::string::npos) << messages[1];
  EXPECT_EQ(test::column(scratch.path("x.db"), "SELECT cycles FROM results WHERE point = 2"),
            (std::vector<std::string>{"1000"}));  // as far as it came
  EXPECT_NE(messages[2].find("of the limits"), std::string::npos) << messages[2];
  // A timeout is kept, and run again when asked.
  EXPECT_NE(test::heddle({"sweep", file, "-d", scratch.path("x.db")}).out.find("4 of them kept"), std::string::npos);
  const Ran retried = test::heddle({"sweep", file, "-d", scratch.path("x.db"), "--retry"});
  EXPECT_NE(retried.out.find("3 of them kept from earlier, 1 now"), std::string::npos) << retried.out;
}

TEST(CliSweep, ALaunchFilesRowSaysWhatItDid) {
  const Scratch scratch;
  scratch.write("k.ptx", ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n");
  scratch.write("l.toml", "ptx = \"k.ptx\"\n[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\n");
  const std::string file = scratch.write("x.toml",
                                         "config = \"baseline\"\n[[points]]\nworkload = \"l.toml\"\n"
                                         "[[points]]\nworkload = \"vecadd\"\nscale = 0.001\n");
  ASSERT_EQ(test::heddle({"sweep", file, "-d", scratch.path("x.db")}).code, 0);
  EXPECT_EQ(
      test::column(scratch.path("x.db"),
                   "SELECT coalesce(scale, '-') || ' ' || coalesce(seed, '-') || ' ' || address_bits FROM results "
                   "ORDER BY point"),
      (std::vector<std::string>{"- - 64", "0.001 1 32"}));
  const Ran ran = test::heddle({"sweep", file, "-d", scratch.path("y.db"), "--scale", "0.5"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err.find("heddle: --scale: applies to workloads; 'l.toml'"), 0U) << ran.err;
}

TEST(CliSweep, ARunThatTakesTooLongIsMarked) {
  const Scratch scratch;
  const std::string file = scratch.write(  // minutes
      "x.toml", "config = \"baseline\"\nworkload = \"bfs\"\n[limits]\nwall_seconds = 1\n");
  EXPECT_EQ(test::heddle({"sweep", file, "-d", scratch.path("x.db")}).code, 1);
  EXPECT_EQ(test::column(scratch.path("x.db"), "SELECT status || ': ' || message FROM results"),
            (std::vector<std::string>{"timeout: took longer than the 1 s of the limits"}));
}

TEST(CliSweep, ARunThatIsTooBigIsMarked) {
  const Scratch scratch;
  const std::string file = scratch.write("x.toml", kHead + "workload = \"vecadd\"\n[limits]\nmemory_mib = 8\n");
  EXPECT_EQ(test::heddle({"sweep", file, "-d", scratch.path("x.db")}).code, 1);
  EXPECT_EQ(test::column(scratch.path("x.db"), "SELECT message FROM runs WHERE status = 'memory'"),
            (std::vector<std::string>{"took more memory than the 8 MiB of the limits"}));
}

TEST(CliSweep, ARunThatCrashesIsMarkedAndTheSweepGoesOn) {
  const Scratch scratch;
  const std::string file = scratch.write("x.toml",
                                         "config = \"baseline\"\n[[points]]\nworkload = "
                                         "\"matrixmult\"\n[[points]]\nworkload = \"vecadd\"\nscale = 0.001\n");
  RunSetup setup;
  setup.while_running = [&](pid_t process) {
    const pid_t child = first_child(process);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_GT(child, 0);
    ::kill(child, SIGSEGV);
  };
  EXPECT_EQ(test::heddle({"sweep", file, "-d", scratch.path("x.db"), "-j", "1"}, setup).code, 1);
  EXPECT_EQ(test::column(scratch.path("x.db"), "SELECT status || ': ' || message FROM results ORDER BY point"),
            (std::vector<std::string>{"crashed: ended by signal 11 (Segmentation fault)", "done: "}));
}

std::vector<std::string> many(const Scratch& scratch, const std::string& database) {
  const std::string file = scratch.write(
      "many.toml", kHead + "workload = \"vecadd\"\nrepetitions = 30\n[axes]\ntwo_level.fetch_group = [1, 2, 4]\n");
  return {"sweep", file, "-d", database, "-j", "2"};
}

TEST(CliSweep, KilledAtAnyMomentItGoesOnToTheSameRows) {
  const Scratch scratch;
  ASSERT_EQ(test::heddle(many(scratch, scratch.path("whole.db"))).code, 0);
  const std::string database = scratch.path("killed.db");
  for (const std::uint64_t enough : {1U, 20U, 45U}) {
    RunSetup setup;
    setup.while_running = [&](pid_t process) {
      test::wait_for_rows(database, enough);
      ::kill(process, SIGKILL);
    };
    ASSERT_EQ(test::heddle(many(scratch, database), setup).code, 128 + SIGKILL);
    const std::uint64_t now = test::rows(database);
    EXPECT_GE(now, enough);
    EXPECT_LT(now, 90U);
    EXPECT_EQ(test::column(database, "PRAGMA integrity_check"), (std::vector<std::string>{"ok"}));
  }
  const std::uint64_t kept = test::rows(database);
  const Ran resumed = test::heddle(many(scratch, database));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("90 runs, " + std::to_string(kept) + " of them kept"), std::string::npos) << resumed.out;
  EXPECT_EQ(test::contents(database), test::contents(scratch.path("whole.db")));
  EXPECT_EQ(test::contents(database).size(), 90U);
}

TEST(CliSweep, AnInterruptEndsItOrderlyAndMarksNoRun) {
  const Scratch scratch;
  const std::string database = scratch.path("x.db");
  RunSetup setup;
  setup.while_running = [&](pid_t process) {
    test::wait_for_rows(database, 3);
    ::kill(process, SIGTERM);
  };
  const Ran ran = test::heddle(many(scratch, database), setup);
  EXPECT_EQ(ran.code, 128 + SIGTERM) << ran.err;
  EXPECT_NE(ran.out.find("missing; the same command goes on from here."), std::string::npos) << ran.out;
  EXPECT_EQ(test::column(database, "SELECT DISTINCT status FROM runs"), (std::vector<std::string>{"done"}));
}

TEST(CliSweep, OneDatabaseHasOneWriter) {
  const Scratch scratch;
  const std::string database = scratch.path("x.db");
  RunSetup setup;
  setup.while_running = [&](pid_t process) {
    test::wait_for_rows(database, 1);
    ::kill(process, SIGSTOP);  // or it might be through before the second one looks
    const Ran second = test::heddle(many(scratch, database));
    EXPECT_EQ(second.code, 2);
    EXPECT_NE(second.err.find("another sweep is writing to this database"), std::string::npos) << second.err;
    ::kill(process, SIGCONT);
  };
  EXPECT_EQ(test::heddle(many(scratch, database), setup).code, 0);
}

TEST(CliSweep, OtherFilesAreLeftAlone) {
  const Scratch scratch;
  const std::string file = scratch.write("x.toml", kHead + "workload = \"vecadd\"\n");
  const std::string text = scratch.write("text.db", std::string(5000, 'x'));
  const Ran ran = test::heddle({"sweep", file, "-d", text});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("this is no database"), std::string::npos) << ran.err;
  {
    studies::Database foreign(scratch.path("foreign.db"), studies::Database::Mode::write);
    foreign.run("CREATE TABLE runs (id INTEGER)");
  }
  const Ran other = test::heddle({"sweep", file, "-d", scratch.path("foreign.db")});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("is no database of explorations"), std::string::npos) << other.err;
  EXPECT_EQ(test::column(scratch.path("foreign.db"), "SELECT count(*) FROM pragma_table_info('runs')")[0], "1");
}

TEST(CliSweep, BadWordsAreNamed) {
  const auto error = [](const std::vector<std::string>& words) {
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2);
    return ran.err;
  };
  EXPECT_EQ(error({"sweep"}),
            "heddle: sweep: needs EXPLORATION.toml; words given: 0; usage: heddle sweep EXPLORATION.toml\n");
  EXPECT_EQ(error({"sweep", "/nowhere/x.toml"}),
            "heddle: /nowhere/x.toml: the exploration cannot be read: No such file or directory; check its name and "
            "permissions\n");
}

}  // namespace
}  // namespace heddle::cli
