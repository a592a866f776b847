// Child processes: what they get, how they end, what is said when they cannot be started.
#include "os/process/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/error.hpp"
#include "os/process/children.hpp"
#include "os/process/descriptor.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::os {
namespace {

using test::Scratch;

std::string start_error(const std::vector<std::string>& words, const ProcessSetup& setup = {}) {
  try {
    ChildProcess::start(words, setup).wait();
  } catch (const StartError& error) {
    return error.what();
  }
  return "started";
}

Finished shell(const std::string& script, const ProcessSetup& setup = {}) {
  return run_program({"sh", "-c", script}, setup);
}

ProcessSetup limited(const ProcessLimits& limits) {
  ProcessSetup setup;
  setup.limits = limits;
  setup.limits.core_dumps = false;
  return setup;
}

// Whether a process that is not ours comes to its end. A process that is not waited for keeps its number, but does no
// more.
bool ends(pid_t process) {
  for (int i = 0; i < 2000; ++i) {
    const std::string state = Scratch::read("/proc/" + std::to_string(process) + "/stat");
    if (state.empty() || state.find(") Z") != std::string::npos) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(ChildProcess, TheErrorNamesTheProgramAndTheReason) {
  const Scratch scratch;
  EXPECT_EQ(start_error({"no-such-program", "x"}), "cannot start no-such-program: No such file or directory");
  EXPECT_EQ(start_error({"/no/such/program"}), "cannot start /no/such/program: No such file or directory");
  EXPECT_EQ(start_error({scratch.path()}), "cannot start " + scratch.path() + ": Permission denied");
  ProcessSetup setup;
  setup.folder = scratch.path("nowhere");
  EXPECT_EQ(start_error({"true"}, setup), "cannot start true: " + setup.folder + ": No such file or directory");
  setup = {};
  setup.out = Redirection::file(scratch.path("nowhere/log"));
  EXPECT_EQ(start_error({"true"}, setup),
            "cannot start true: " + scratch.path("nowhere/log") + ": No such file or directory");
  setup.out = Redirection::descriptor(987654);
  EXPECT_EQ(start_error({"true"}, setup), "cannot start true: descriptor 987654: Bad file descriptor");
}

TEST(ChildProcess, SaysHowItEnded) {
  EXPECT_TRUE(shell("exit 0").end.good());
  const ProcessEnd code = shell("exit 3").end;
  EXPECT_FALSE(code.good());
  EXPECT_EQ(code.text(), "exit code 3");
  EXPECT_EQ(code.shell_code(), 3);
  const ProcessEnd killed = shell("kill -9 $$").end;
  EXPECT_FALSE(killed.good());
  EXPECT_EQ(killed.text(), "signal 9 (Killed)");
  EXPECT_EQ(killed.shell_code(), 137);
  EXPECT_GT(killed.peak_memory_bytes, 0U);
}

TEST(ChildProcess, CatchesWhatItPrints) {
  const Finished apart = shell("echo out; echo err >&2; cat");  // nothing comes in
  EXPECT_EQ(apart.out, "out\n");
  EXPECT_EQ(apart.err, "err\n");
  ProcessSetup setup;
  setup.err = Redirection::output();
  const Finished joined = shell("echo out; echo err >&2; echo more", setup);
  EXPECT_EQ(joined.out, "out\nerr\nmore\n");
  EXPECT_EQ(joined.err, "");
}

TEST(ChildProcess, HasItsFolderItsEnvironmentAndItsFiles) {
  const Scratch scratch;
  ::setenv("HEDDLE_TEST_KEPT", "kept", 1);
  ::setenv("HEDDLE_TEST_CHANGED", "before", 1);
  ProcessSetup setup;
  setup.folder = scratch.path();
  setup.environment = {"HEDDLE_TEST_CHANGED=after", "HEDDLE_TEST_NEW=new"};
  setup.in = Redirection::file(scratch.write("in", "read\n"));
  setup.out = Redirection::file(scratch.write("log", "something longer that was there before\n"));
  ChildProcess child = ChildProcess::start(
      {"sh", "-c", "cat; echo $HEDDLE_TEST_KEPT $HEDDLE_TEST_CHANGED $HEDDLE_TEST_NEW; pwd"}, setup);
  EXPECT_TRUE(child.wait().good());
  EXPECT_EQ(Scratch::read(scratch.path("log")),
            "read\nkept after new\n" + std::filesystem::canonical(scratch.path()).string() + "\n");
}

TEST(ChildProcess, IsLookedForOnItsOwnPath) {
  const Scratch scratch;
  ::chmod(scratch.write("heddle-test-program", "#!/bin/sh\necho found\n").c_str(), 0755);
  ProcessSetup setup;
  setup.environment = {"PATH=/nowhere:" + scratch.path()};
  EXPECT_EQ(run_program({"heddle-test-program"}, setup).out, "found\n");
  EXPECT_EQ(find_program("heddle-test-program"), "");
  EXPECT_NE(find_program("sh"), "");
}

TEST(ChildProcess, ATimeOutEndsIt) {
  ProcessLimits limits;
  limits.wall_seconds = 0.05;
  EXPECT_EQ(run_program({"sleep", "60"}, limited(limits)).end.signal, SIGALRM);  // the timer outlives the exec
}

TEST(ChildProcess, MemoryCoresAndProcessorTimeAreLimited) {
  ProcessLimits limits;
  limits.memory_bytes = std::uint64_t{64} << 20U;
  EXPECT_EQ(shell("ulimit -v", limited(limits)).out, "65536\n");
  EXPECT_EQ(shell("ulimit -c", limited(limits)).out, "0\n");
  limits.cpu_seconds = 1.5;
  EXPECT_EQ(shell("ulimit -S -t; ulimit -H -t", limited(limits)).out, "2\n7\n");  // whole seconds
}

TEST(ChildProcess, WithoutAFreeDescriptorTheLimitIsNamed) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = static_cast<rlim_t>(Descriptor(::dup(0)).number());  // the lowest that is free
  const auto said = [](const auto& work) {
    try {
      work();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string advice = "Too many open files; raise the limit on open files: ulimit -n 1024";
  const rlim_t first = limit.rlim_cur;
  for (; limit.rlim_cur < first + 3; ++limit.rlim_cur) {  // no end of a pipe, one, both
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(said([] { ChildProcess::start({"true"}).wait(); }), "cannot make a pipe: " + advice) << limit.rlim_cur;
  }
  limit.rlim_cur = first;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(said([] { static_cast<void>(memory_file("m")); }), "cannot make a file in memory: " + advice);
}

TEST(ChildProcess, ASignalReachesItsWholeGroup) {
  const Pipe pipe = make_pipe();
  ProcessSetup setup;
  setup.own_group = true;
  setup.out = Redirection::descriptor(pipe.writes.number());
  ChildProcess child = ChildProcess::start({"sh", "-c", "sleep 60 & echo $!; wait"}, setup);
  std::string number(16, '\0');
  const ssize_t got = ::read(pipe.reads.number(), number.data(), number.size());
  ASSERT_GT(got, 1);
  const auto grandchild = static_cast<pid_t>(std::stol(number));
  child.send(SIGTERM);
  EXPECT_EQ(child.wait().signal, SIGTERM);
  EXPECT_TRUE(ends(grandchild));
}

TEST(ChildProcess, IsKilledWhenNobodyWaitsForIt) {
  pid_t number = 0;
  {
    const ChildProcess child = ChildProcess::start({"sleep", "60"});
    number = child.id();
    EXPECT_EQ(::kill(number, 0), 0);
  }
  EXPECT_NE(::kill(number, 0), 0);
}

TEST(ChildProcess, IsAskedWhetherItHasEnded) {
  const Pipe pipe = make_pipe();
  ProcessSetup setup;
  setup.in = Redirection::descriptor(pipe.reads.number());
  ChildProcess child = ChildProcess::start({"head", "-c", "1"}, setup);
  EXPECT_FALSE(child.poll());
  ASSERT_TRUE(write_all(pipe.writes.number(), "x"));
  EXPECT_TRUE(child.wait().good());
  EXPECT_THROW(child.wait(), InternalError);
}

TEST(ChildProcess, ACopyDoesAPieceOfWork) {
  EXPECT_EQ(ChildProcess::copy([] { return 7; }).wait().exit_code, 7);
  EXPECT_EQ(ChildProcess::copy([]() -> int { throw std::runtime_error("no"); }).wait().exit_code, 4);
  ProcessSetup setup;
  setup.folder = "/nowhere";
  EXPECT_EQ(ChildProcess::copy([] { return 0; }, setup).wait().exit_code, 4);
}

// Nor does a copy have the handlers of this process, which would only set a flag that the copy does not look at.
TEST(ChildProcess, ACopyDoesNotHandleSignalsAsThisProcessDoes) {
  const auto before = ::signal(SIGTERM, [](int) {});
  ChildProcess child = ChildProcess::copy([] {
    ::raise(SIGTERM);
    return 0;
  });
  EXPECT_EQ(child.wait().signal, SIGTERM);
  ::signal(SIGTERM, before);
}

TEST(ChildProcess, DiesWithItsParent) {
  const Pipe pipe = make_pipe();
  ChildProcess parent = ChildProcess::copy([&] {
    ProcessSetup setup;
    setup.dies_with_parent = true;
    const ChildProcess child = ChildProcess::start({"sleep", "60"}, setup);
    static_cast<void>(write_all(pipe.writes.number(), std::to_string(child.id())));
    return ::pause();
  });
  std::string number(16, '\0');
  ASSERT_GT(::read(pipe.reads.number(), number.data(), number.size()), 0);
  const auto grandchild = static_cast<pid_t>(std::stol(number));
  EXPECT_EQ(::kill(grandchild, 0), 0);
  parent.send(SIGKILL);
  parent.wait();
  EXPECT_TRUE(ends(grandchild));
}

TEST(Children, OneThatCannotBeStartedDoesNotHoldTheOthers) {
  const Scratch scratch;
  const std::vector<ChildResult> results = run_children({{{"sh", "-c", "echo a; echo; exit 2"}, scratch.path("1")},
                                                         {{"no-such-program"}, scratch.path("2")},
                                                         {{"sh", "-c", "kill -15 $$"}, scratch.path("3")},
                                                         {{"true"}, scratch.path("4")}},
                                                        2);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].exit_code, 2);
  EXPECT_EQ(results[0].output, "a");
  EXPECT_EQ(results[1].exit_code, 4);
  EXPECT_EQ(results[1].output, "cannot start no-such-program: No such file or directory");
  EXPECT_EQ(results[2].exit_code, 4);
  EXPECT_EQ(results[2].output, "ended by signal 15");
  EXPECT_EQ(results[3].exit_code, 0);
}

}  // namespace
}  // namespace heddle::os
