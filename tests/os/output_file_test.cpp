// Where outputs go: files that are replaced whole, links, pipes, devices, and what cannot be written; and which files
// of a command may be which.
#include "os/files/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <future>
#include <istream>
#include <iterator>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/command_files.hpp"
#include "os/files/gzip_blocks.hpp"
#include "os/files/output_stream.hpp"
#include "os/process/converter.hpp"
#include "tests/os/told_lines.hpp"
#include "tests/support/program_runner.hpp"
#include "traces/gzip_stream.hpp"

namespace heddle::os {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

// What an InputError says; "" when there is none.
std::string objection_to(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

std::size_t entries_of(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Makes a pipe and reads it to its end, beside the caller.
std::future<std::string> read_pipe(const std::string& path) {
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  return std::async(std::launch::async, [path] { return Scratch::read(path); });
}

TEST(OutputFile, ASymbolicLinkStaysAndWhatItLeadsToIsReplaced) {
  const Scratch scratch;
  fs::create_directory(scratch.path("kept"));
  const std::string target = scratch.write("kept/target", "old, and longer");
  fs::create_symlink("kept/target", scratch.path("first"));
  fs::create_symlink(scratch.path("first"), scratch.path("second"));
  write_file(scratch.path("second"), "new");
  EXPECT_EQ(Scratch::read(target), "new");
  EXPECT_FALSE(fs::is_symlink(target));
  EXPECT_EQ(fs::read_symlink(scratch.path("first")), "kept/target");
  EXPECT_EQ(fs::read_symlink(scratch.path("second")), scratch.path("first"));
  EXPECT_EQ(entries_of(scratch.path("kept")), 1U);
  // To a file that is not there yet.
  fs::create_symlink("kept/later", scratch.path("third"));
  check_writable(scratch.path("third"));
  EXPECT_FALSE(fs::exists(scratch.path("kept/later")));
  write_file(scratch.path("third"), "made");
  EXPECT_TRUE(fs::is_symlink(scratch.path("third")));
  EXPECT_EQ(Scratch::read(scratch.path("kept/later")), "made");
}

TEST(OutputFile, WithoutCommitTheOldFileStays) {
  const Scratch scratch;
  const std::string path = scratch.write("x", "old");
  {
    OutputFile file(path);
    file.write("new");
  }
  check_writable(path);
  EXPECT_EQ(Scratch::read(path), "old");
  EXPECT_EQ(entries_of(scratch.path()), 1U);
}

TEST(OutputFile, APipeIsWrittenIntoAndStays) {
  const Scratch scratch;
  const std::string path = scratch.path("pipe");
  std::future<std::string> read = read_pipe(path);
  check_writable(path);  // would end the reader, were it opened
  const std::string text(100'000, 'x');
  write_file(path, text);
  EXPECT_EQ(read.get(), text);
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(entries_of(scratch.path()), 1U);
}

TEST(OutputFile, AReaderThatHasGoneIsAnError) {
  const Scratch scratch;
  const std::string path = scratch.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  OutputFile file(path);
  ::close(reader);
  EXPECT_EQ(objection_to([&] { file.write("x"); }), path + ": cannot be written: Broken pipe");
}

TEST(OutputFile, ADeviceIsWrittenIntoAndStays) {
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  check_writable("/dev/full");
  EXPECT_EQ(objection_to([] { write_file("/dev/full", "x"); }),
            "/dev/full: cannot be written: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(OutputFile, ADescriptorOfTheProcessGoesOnWhereItIs) {
  const Scratch scratch;
  const std::string path = scratch.path("log");
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  const std::string name = "/dev/fd/" + std::to_string(file);
  EXPECT_EQ(::write(file, "one ", 4), 4);
  check_writable(name);
  write_file(name, "two ");
  EXPECT_EQ(::write(file, "three", 5), 5);
  ::close(file);
  EXPECT_EQ(Scratch::read(path), "one two three");
  EXPECT_EQ(entries_of(scratch.path()), 1U);
  const int read_only = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(read_only, 0);
  const std::string other = "/proc/self/fd/" + std::to_string(read_only);
  EXPECT_EQ(objection_to([&] { check_writable(other); }), other + ": cannot be written: Bad file descriptor");
  ::close(read_only);
}

TEST(OutputFile, WhatCannotBeWrittenIsRefusedWithTheReason) {
  const Scratch scratch;
  fs::create_directory(scratch.path("folder"));
  fs::create_symlink("folder", scratch.path("link"));
  fs::create_symlink("loop", scratch.path("loop"));
  scratch.write("file", "kept");
  const std::vector<std::pair<std::string, std::string>> cases = {{"folder", "Is a directory"},
                                                                  {"link", "Is a directory"},
                                                                  {"none/x", "No such file or directory"},
                                                                  {"none/", "No such file or directory"},
                                                                  {"file/x", "Not a directory"},
                                                                  {"loop", "Too many levels of symbolic links"}};
  for (const auto& [name, reason] : cases) {
    const std::string path = scratch.path(name);
    const std::string expected = path + ": cannot be written: " + reason;
    EXPECT_EQ(objection_to([&] { check_writable(path); }), expected);
    EXPECT_EQ(objection_to([&] { write_file(path, "x"); }), expected);
    EXPECT_EQ(objection_to([&] { const OutputStream stream(path); }), expected);
  }
  EXPECT_EQ(entries_of(scratch.path()), 4U);
  EXPECT_EQ(Scratch::read(scratch.path("file")), "kept");
  EXPECT_NE(objection_to([] { check_writable(""); }), "");
}

TEST(OutputStream, AppearsWithCommitPlainOrCompressed) {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += std::to_string(i) + "\n";
  }
  for (const char* const name : {"plain", "packed.gz"}) {
    OutputStream file(scratch.path(name));
    for (int i = 0; i < 20'000; ++i) {
      file.stream() << i << '\n';
    }
    file.stream().flush();
    EXPECT_FALSE(fs::exists(scratch.path(name)));
    file.commit();
    traces::GunzipBuffer unpacked(scratch.path(name));
    std::istream in(&unpacked);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text) << name;
  }
  EXPECT_EQ(Scratch::read(scratch.path("plain")), text);
  EXPECT_LT(fs::file_size(scratch.path("packed.gz")), text.size() / 2);
  EXPECT_EQ(entries_of(scratch.path()), 2U);
}

TEST(OutputStream, AFailureMakesTheStreamBadAndCommitSaysWhy) {
  OutputStream file("/dev/full");
  file.stream() << std::string(1'000'000, 'x');
  EXPECT_TRUE(file.stream().bad());
  file.stream() << "more";
  EXPECT_EQ(objection_to([&] { file.commit(); }), "/dev/full: cannot be written: No space left on device");
  OutputStream held_back("/dev/full");
  held_back.stream() << "x";
  EXPECT_EQ(objection_to([&] { held_back.commit(); }), "/dev/full: cannot be written: No space left on device");
}

TEST(Converter, ItsFileGoesIntoAPipeToo) {
  if (find_program("dot").empty()) {
    GTEST_SKIP() << "Graphviz is not installed";
  }
  const Scratch scratch;
  const std::string path = scratch.path("pipe.svg");
  std::future<std::string> read = read_pipe(path);
  Converter converter(path, svg_converter());
  converter.write("digraph { a -> b }");
  converter.commit();
  EXPECT_NE(read.get().find("</svg>"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(entries_of(scratch.path()), 1U);
}

TEST(Converter, AFolderIsRefusedAndNothingIsLeft) {
  if (find_program("dot").empty()) {
    GTEST_SKIP() << "Graphviz is not installed";
  }
  const Scratch scratch;
  fs::create_directory(scratch.path("a.svg"));
  EXPECT_EQ(objection_to([&] { const Converter converter(scratch.path("a.svg"), svg_converter()); }),
            scratch.path("a.svg") + ": cannot be written: Is a directory");
  EXPECT_EQ(entries_of(scratch.path()), 1U);
}

TEST(CommandFiles, AnOutputIsNoInputByWhateverName) {
  const Scratch scratch;
  const std::string input = scratch.write("launch.toml", "text");
  fs::create_symlink("launch.toml", scratch.path("link"));
  fs::create_hard_link(input, scratch.path("hard"));
  fs::create_directory(scratch.path("folder"));
  CommandFiles files;
  files.reads("the launch file", input);
  EXPECT_EQ(objection_to([&] { files.writes("--report", input); }),
            "--report: '" + input + "' is the launch file that this command reads; name another file");
  for (const char* const name : {"link", "hard", "./launch.toml", "folder/../launch.toml"}) {
    const std::string path = scratch.path(name);
    EXPECT_EQ(objection_to([&] { files.writes("--vcd", path); }),
              "--vcd: '" + path + "' is the launch file '" + input + "' that this command reads; name another file");
  }
  files.writes("--report", scratch.path("other"));
  // An input that is missing counts as an input.
  CommandFiles missing;
  missing.reads_all("a machine file", {input, scratch.path("none.toml")});
  EXPECT_EQ(objection_to([&] { missing.writes("--dot", scratch.path("none.toml")); }),
            "--dot: '" + scratch.path("none.toml") + "' is a machine file that this command reads; name another file");
}

TEST(CommandFiles, NoTwoOutputsAreOneFile) {
  const Scratch scratch;
  fs::create_directory(scratch.path("real"));
  fs::create_directory_symlink("real", scratch.path("linked"));
  fs::create_symlink("real/later", scratch.path("later"));
  CommandFiles files;
  files.writes_in("--out", scratch.path("real"), {"stats.json", "later"});
  for (const char* const name : {"real/later", "linked/later", "linked/../real/./later", "later"}) {
    const std::string path = scratch.path(name);
    EXPECT_EQ(objection_to([&] { files.writes("--report", path); }),
              "--report: '" + path + "' is a file that --out writes, too; name another file");
  }
  files.writes("--report", scratch.path("real/other"));
  files.writes("--vcd", scratch.path("none/later"));
  EXPECT_TRUE(fs::is_empty(scratch.path("real")));
}

TEST(CommandFiles, WhatTakesTimeToListIsListedForTextsThatAreThere) {
  const Scratch scratch;
  const std::string header = scratch.write("header.h", "#define N 1\n");
  const std::string object = scratch.write("a.o",
                                           "\x7f"
                                           "ELF and more");
  unsigned listed = 0;
  CommandFiles files;
  files.reads_texts("a file that it includes,", [&] {
    ++listed;
    return std::vector<std::string>{scratch.path("./header.h")};
  });
  files.writes("--record", scratch.path("new"));
  files.writes("-o", object);
  EXPECT_EQ(listed, 0U);
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(objection_to([&] { files.writes("--vcd", header); }),
              "--vcd: '" + header + "' is a file that it includes, '" + scratch.path("./header.h") +
                  "' that this command reads; name another file");
  }
  EXPECT_EQ(listed, 1U);
}

TEST(CommandFiles, TheProgramItselfIsRead) {
  CommandFiles files;
  EXPECT_EQ(objection_to([&] { files.writes("-o", own_program()); }),
            "-o: '" + own_program() + "' is the program itself, that this command reads; name another file");
}

TEST(CommandFiles, PipesAndDevicesTakeSeveral) {
  CommandFiles files;
  files.reads("the trace", "/dev/null");
  files.writes("--report", "/dev/null");
  files.writes("--memory-trace", "/dev/null");
  files.check_writable();
}

TEST(CommandFiles, NamesMustBeThereAndWritable) {
  const Scratch scratch;
  CommandFiles files;
  EXPECT_EQ(objection_to([&] { files.writes("--csv", ""); }), "--csv: the file's name is empty; name a file");
  EXPECT_EQ(objection_to([&] { files.writes_in("--out", "", {"x"}); }),
            "--out: the folder's name is empty; name a folder");
  files.writes("--csv", scratch.path("good"));
  files.check_writable();
  EXPECT_TRUE(fs::is_empty(scratch.path()));
  files.writes("--html", scratch.path("no/page.html"));
  EXPECT_EQ(objection_to([&] { files.check_writable(); }),
            scratch.path("no/page.html") + ": cannot be written: No such file or directory");
}

// Whoever compresses its blocks, and however often the threads pause between them: the same bytes, of one gzip file
// that holds the text.
TEST(GzipBlocks, MakeTheSameBytesWithAnyNumberOfThreads) {
  const Scratch scratch;
  std::string text;
  for (unsigned i = 0; text.size() < 5 * GzipBlocks::kBlock + 12'345; ++i) {
    text += std::to_string(i * 2654435761U) + (i % 7 == 0 ? " the same\n" : "\n");
  }
  const auto expect_text = [&](const std::string& bytes) {
    EXPECT_LT(bytes.size() * 2, text.size());
    traces::GunzipBuffer unpacked(scratch.write("packed.gz", bytes));
    std::istream in(&unpacked);
    EXPECT_TRUE(std::string(std::istreambuf_iterator<char>(in), {}) == text);
  };
  const auto packed = [&](unsigned helpers, std::size_t piece, bool pauses) {
    std::string out;
    GzipBlocks blocks([&](std::string_view bytes) { out += bytes; }, helpers);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      blocks.write(std::string_view(text).substr(at, piece));
      if (pauses) {
        GzipBlocks::pause_all();
      }
    }
    blocks.finish();
    return out;
  };
  const std::string alone = packed(0, 1000, false);
  EXPECT_TRUE(packed(3, 77'777, false) == alone);
  EXPECT_TRUE(packed(2, 400'000, true) == alone);
  expect_text(alone);
  // Lines that are told, beside text of which they are not.
  std::string out;
  GzipBlocks blocks([&](std::string_view bytes) { out += bytes; });
  LineSink::Text told;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', std::min(at + 77'777, text.size() - 1)) + 1, text.size());
    const std::string piece = text.substr(at, end - at);
    at = end;
    if (end % 5 == 0) {
      blocks.write(piece);
    } else {
      const LineSink::Text lines = test::with_lines(piece);
      told.bytes.replace(0, piece.size(), piece);  // it may have been longer
      told.size = piece.size();
      told.lines.insert(told.lines.begin(), lines.lines.begin(), lines.lines.end());
      told.lines_count = lines.lines_count;
      blocks.take_lines(told);
      EXPECT_EQ(told.size, 0U);
      EXPECT_EQ(told.lines_count, 0U);
    }
  }
  blocks.finish();
  expect_text(out);
}

TEST(GzipBlocks, OfNothingAreAFileOfNothing) {
  const Scratch scratch;
  std::string out;
  GzipBlocks blocks([&](std::string_view bytes) { out += bytes; });
  blocks.finish();
  traces::GunzipBuffer unpacked(scratch.write("empty.gz", out));
  std::istream in(&unpacked);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "");
  EXPECT_FALSE(in.bad());
}

TEST(GzipBlocks, WhatCannotBeWrittenReachesWhoWrites) {
  GzipBlocks blocks([](std::string_view) { throw InputError({"file"}, "is full"); });
  EXPECT_EQ(objection_to([&] {
              for (unsigned i = 0; i != 100; ++i) {
                blocks.write(std::string(GzipBlocks::kBlock, 'x'));
              }
              blocks.finish();
            }),
            "file: is full");
}

}  // namespace
}  // namespace heddle::os
