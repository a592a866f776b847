// Temporary files and locks: what dead processes have left is cleared by the next writer, what live ones have is not,
// and names may be as long as the file system takes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/file_lock.hpp"
#include "os/files/output_file.hpp"
#include "os/files/temporary_folder.hpp"
#include "os/files/temporary_name.hpp"
#include "os/process/child_process.hpp"
#include "os/process/converter.hpp"
#include "os/process/descriptor.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using test::heddle;
using test::RunSetup;
using test::Scratch;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// In a process that is killed while it runs `work`, which does not come back.
void killed_in(const std::function<void()>& work) {
  os::Pipe ready = os::make_pipe();
  os::ChildProcess child = os::ChildProcess::copy([&] {
    work();
    static_cast<void>(os::write_all(ready.writes.number(), "x"));
    return ::pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready.reads.number(), &byte, 1), 1);
  child.send(SIGKILL);
  EXPECT_EQ(child.wait().signal, SIGKILL);
}

TEST(LeftOver, ADeadProcessesTemporaryFilesGoWithTheNextWrite) {
  const Scratch scratch;
  const std::string path = scratch.path("x");
  killed_in([&] {
    auto* const file = new os::OutputFile(path);
    file->write("half");
  });
  ASSERT_EQ(names_in(scratch.path()).size(), 1U);  // or there is nothing to clear
  EXPECT_TRUE(names_in(scratch.path())[0].starts_with(".x."));
  os::write_file(scratch.path("another"), "whole");
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{"another"});
}

// Whose number it is says nothing: this process's own may have been a dead one's.
TEST(LeftOver, AProcesssNumberThatIsTakenAgainKeepsNothing) {
  const Scratch scratch;
  const std::string own = fs::path(os::temporary_beside(scratch.path("x"))).filename().string();
  const std::string number = "." + std::to_string(::getpid()) + "-";
  std::string init = own;
  scratch.write(own, "half");
  scratch.write(init.replace(own.find(number), number.size(), ".1-"), "half");  // always there
  ASSERT_EQ(names_in(scratch.path()).size(), 2U);
  os::write_file(scratch.path("z"), "whole");
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{"z"});
}

TEST(LeftOver, WhatALiveProcessWritesStays) {
  const Scratch scratch;
  os::Pipe there = os::make_pipe();
  os::Pipe back = os::make_pipe();
  os::ChildProcess child = os::ChildProcess::copy([&] {
    char byte = 0;
    os::OutputFile file(scratch.path("x"));
    file.write("all of ");
    static_cast<void>(os::write_all(there.writes.number(), "x"));
    static_cast<void>(::read(back.reads.number(), &byte, 1));
    file.write("it");
    file.commit();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(::read(there.reads.number(), &byte, 1), 1);
  os::write_file(scratch.path("y"), "beside it");  // clears what is left over
  EXPECT_EQ(names_in(scratch.path()).size(), 2U);
  ASSERT_TRUE(os::write_all(back.writes.number(), "x"));
  EXPECT_TRUE(child.wait().good());
  EXPECT_EQ(Scratch::read(scratch.path("x")), "all of it");
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{"x", "y"}));
}

TEST(LeftOver, FilesOfOthersStay) {
  const Scratch scratch;
  const std::string own = fs::path(os::temporary_beside(scratch.path("x"))).filename().string();
  // A program's like ours, another host's, one that is not hidden, one with something behind.
  for (const std::string& name :
       {std::string(".x.99.tmp"), std::string(".x.99-00000000.heddle.tmp"), own.substr(1), own + ".txt"}) {
    scratch.write(name, "not ours");
  }
  fs::create_directory(os::temporary_beside(scratch.path("folder")));
  fs::create_symlink("x", os::temporary_beside(scratch.path("link")));
  os::write_file(scratch.path("z"), "whole");
  EXPECT_EQ(names_in(scratch.path()).size(), 7U);
}

TEST(LeftOver, TheProgramClearsWhatAKilledRunLeft) {
  const Scratch scratch;
  RunSetup setup;
  setup.while_running = [&](pid_t process) {
    for (int i = 0; i < 3000 && fs::is_empty(scratch.path()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(process, SIGKILL);
  };
  ASSERT_EQ(
      test::heddle({"run", "baseline", "blackjack", "--scale", "16", "--memory-trace", scratch.path("trace")}, setup)
          .code,
      128 + SIGKILL);
  ASSERT_EQ(names_in(scratch.path()).size(), 1U);
  ASSERT_EQ(test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--out", scratch.path()}).code, 0);
  EXPECT_EQ(names_in(scratch.path()), (std::vector<std::string>{"host.json", "stats.json"}));
}

TEST(LeftOver, TemporaryFoldersGoWithTheNextOne) {
  const Scratch scratch;
  ASSERT_EQ(::setenv("TMPDIR", scratch.path().c_str(), 1), 0);
  killed_in([] {
    const auto* const folder = new os::TemporaryFolder;
    static_cast<void>(folder->write("deep/x", "left"));
  });
  ASSERT_EQ(names_in(scratch.path()).size(), 1U);
  fs::create_directory(scratch.path("heddle-other"));
  {
    const os::TemporaryFolder folder;
    const os::TemporaryFolder second;  // the first one's process lives
    EXPECT_TRUE(fs::is_directory(folder.path()));
    EXPECT_EQ(names_in(scratch.path()).size(), 3U);
  }
  EXPECT_EQ(names_in(scratch.path()), std::vector<std::string>{"heddle-other"});
}

TEST(OutputFile, ANameMayBeAsLongAsTheFileSystemTakes) {
  const Scratch scratch;
  const std::string first(255, 'a');
  const std::string second = std::string(254, 'a') + 'b';
  os::OutputFile one(scratch.path(first));
  os::OutputFile two(scratch.path(second));  // whose temporary file is another
  one.write("1");
  two.write("2");
  one.commit();
  two.commit();
  EXPECT_EQ(Scratch::read(scratch.path(first)), "1");
  EXPECT_EQ(Scratch::read(scratch.path(second)), "2");
  EXPECT_THROW(os::check_writable(scratch.path(std::string(256, 'a'))), InputError);
  EXPECT_EQ(names_in(scratch.path()).size(), 2U);
}

// What others may have put in a name's place is neither written nor emptied.
TEST(TemporaryName, CannotBeForetoldAndLinksAreRefused) {
  const Scratch scratch;
  const std::string victim = scratch.write("victim", "precious");
  const std::string target = scratch.path("x");
  EXPECT_NE(os::temporary_of_process(target), os::temporary_of_process(target));
  const std::string link = os::temporary_of_process(target);
  for (const bool to_something : {true, false}) {
    fs::remove(link);
    fs::create_symlink(to_something ? victim : scratch.path("none"), link);
    EXPECT_EQ(os::create_locked(link), -1);
    EXPECT_EQ(errno, EEXIST);
  }
  EXPECT_EQ(Scratch::read(victim), "precious");
  EXPECT_FALSE(fs::exists(scratch.path("none")));
  // Nor is a file that is there taken over.
  const std::string there = scratch.write("there", "precious");
  EXPECT_EQ(os::create_locked(there), -1);
  EXPECT_EQ(Scratch::read(there), "precious");
}

TEST(TemporaryName, KeptOnesAreTakenUpWhereTheyAreThisUsersFiles) {
  const Scratch scratch;
  const std::string victim = scratch.write("victim", "precious");
  os::keep_temporary_names("key");
  const std::string path = scratch.path("x");
  const std::string kept = os::temporary_beside(path);
  EXPECT_EQ(os::temporary_beside(path), kept);
  const auto refusal = [&] {
    try {
      os::write_file(path, "new");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string expected = path + ": cannot be written: '" + kept +
                               "', its temporary file, is there already and is not this user's own file; remove it";
  fs::create_symlink(victim, kept);
  EXPECT_EQ(refusal(), expected);
  fs::remove(kept);
  fs::create_hard_link(victim, kept);
  EXPECT_EQ(refusal(), expected);
  EXPECT_EQ(Scratch::read(victim), "precious");
  fs::remove(kept);
  std::ofstream(kept) << "half of an ended run";
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(Scratch::read(path), "new");
}

TEST(FileLock, IsNotPutBehindALink) {
  const Scratch scratch;
  fs::create_symlink(scratch.path("none"), scratch.path("lock"));
  try {
    const os::FileLock lock(scratch.path("lock"), "it", "is busy", "wait");
    ADD_FAILURE() << "locked";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(),
              scratch.path("lock") + ": is no file but a symbolic link, and a lock is not put behind it; remove it");
  }
  EXPECT_FALSE(fs::exists(scratch.path("none")));
  ASSERT_EQ(::mkfifo(scratch.path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(os::FileLock(scratch.path("pipe"), "it", "is busy", "wait"), InputError);
}

TEST(FileLock, GoesWithItsFile) {
  const Scratch scratch;
  const std::string path = scratch.path("lock");
  const auto lock = [&] { return std::make_unique<os::FileLock>(path, "it", "is busy", "wait"); };
  {
    const auto held = lock();
    EXPECT_TRUE(fs::exists(path));
    try {
      static_cast<void>(lock());
      ADD_FAILURE() << "locked twice";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), "it: is busy; wait");
    }
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
  killed_in([&] { static_cast<void>(lock().release()); });
  EXPECT_TRUE(fs::exists(path));
  static_cast<void>(lock());
  EXPECT_FALSE(fs::exists(path));
  try {
    static_cast<void>(os::FileLock(scratch.path("none/lock"), "it", "is busy", "wait"));
    ADD_FAILURE() << "locked";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), scratch.path("none/lock") + ": cannot be written: No such file or directory");
  }
}

TEST(MakeFolder, SaysWhyItCannotBe) {
  const Scratch scratch;
  scratch.write("file", "x");
  const auto why = [&](const std::string& name) {
    try {
      os::make_folder(scratch.path(name));
    } catch (const InputError& error) {
      return std::string(error.what()).substr(scratch.path(name).size());
    }
    return std::string();
  };
  EXPECT_EQ(why("file"), ": is no folder and cannot be made into one: Not a directory");
  EXPECT_EQ(why("file/below"), ": is no folder and cannot be made into one: Not a directory");
  EXPECT_EQ(why(std::string(256, 'a')), ": is no folder and cannot be made into one: File name too long");
  EXPECT_EQ(why("new/deep"), "");
}

}  // namespace
}  // namespace heddle::cli
