// The parts of a checkpoint: lists of mappings, notes, digests, and what is compared of builds and hosts.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "base/error.hpp"
#include "os/checkpoint/checkpoint.hpp"
#include "os/checkpoint/context.hpp"
#include "os/checkpoint/digest.hpp"
#include "os/checkpoint/identity.hpp"
#include "os/checkpoint/mappings.hpp"
#include "os/checkpoint/notes.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG_SANITIZED("*Identity*")

namespace heddle::checkpoint {
namespace {

TEST(CheckpointMappings, AreTakenApart) {
  const std::vector<Mapping> found = mappings_of(
      "00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a program\n"
      "7ffd72d26000-7ffd72d47000 rw-p 00000000 00:00 0                          [stack]\n"
      "7f43fbeb1000-7f43fbeb8000 r--s 00000000 fe:00 332280                     /usr/lib/cache\n"
      "7f43fbea1000-7f43fbeae000 ---p 00000000 00:00 0 \n");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].begin, 0x400000U);
  EXPECT_EQ(found[0].bytes(), 0x52000U);
  EXPECT_EQ(found[0].offset, 0x1000U);
  EXPECT_EQ(found[0].name, "/usr/bin/a program");
  EXPECT_TRUE(found[0].reads && !found[0].writes && found[0].executes && !found[0].shared);
  EXPECT_TRUE(found[1].reads && found[1].writes && !found[1].executes);
  EXPECT_EQ(found[1].name, "[stack]");
  EXPECT_TRUE(found[2].shared);
  EXPECT_TRUE(!found[3].reads && found[3].name.empty());
}

TEST(CheckpointMappings, AreOfAKind) {
  using Kind = Mapping::Kind;
  const auto kind = [](std::string_view rights, std::string_view name) {
    const std::string line = "1000-2000 " + std::string(rights) + " 0 00:00 0 " + std::string(name) + "\n";
    return mappings_of(line).front().kind();
  };
  EXPECT_EQ(kind("rw-p", ""), Kind::memory);
  EXPECT_EQ(kind("rw-p", "[heap]"), Kind::memory);
  EXPECT_EQ(kind("rw-p", "[anon:malloc]"), Kind::memory);
  EXPECT_EQ(kind("rw-p", "/lib/libc.so.6"), Kind::file);
  EXPECT_EQ(kind("r--s", "/lib/cache"), Kind::file);
  EXPECT_EQ(kind("rw-s", "/tmp/shared"), Kind::other);
  EXPECT_EQ(kind("rw-s", ""), Kind::other);
  EXPECT_EQ(kind("r-xp", "/usr/bin/heddle (deleted)"), Kind::other);
  EXPECT_EQ(kind("rw-p", "/dev/dri/card0"), Kind::other);
  EXPECT_EQ(kind("rw-p", "anon_inode:[io_uring]"), Kind::other);
  EXPECT_EQ(kind("r-xp", "[vdso]"), Kind::system);
  EXPECT_EQ(kind("r--p", "[vvar_vclock]"), Kind::system);
  EXPECT_EQ(kind("--xp", "[vsyscall]"), Kind::fixed);
}

TEST(CheckpointMappings, OtherTextsAreErrors) {
  for (const char* text :
       {"x\n", "1000-1000 rw-p 0 00:00 0 \n", "2000-1000 rw-p 0 00:00 0 \n", "1000-2000 rw 0 0 0\n"}) {
    EXPECT_THROW(static_cast<void>(mappings_of(text)), InternalError) << text;
  }
}

TEST(CheckpointDigest, ChangesWithAnyBitAndNotWithThePieces) {
  std::string text = "what a checkpoint holds, in more bytes than one word has";
  const auto digest = [](std::string_view bytes, std::size_t piece) {
    Digest sum;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      sum.add(bytes.data(), std::min(piece, bytes.size()));
    }
    return sum.value();
  };
  const std::uint64_t whole = digest(text, text.size());
  for (const std::size_t piece : {1U, 3U, 7U, 8U, 9U, 13U}) {
    EXPECT_EQ(digest(text, piece), whole) << piece;
  }
  for (std::size_t bit = 0; bit != 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(digest(text, 8), whole) << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  }
  EXPECT_NE(digest(text + '\0', 8), whole);
  EXPECT_NE(digest(text.substr(1), 8), whole);
}

Notes some_notes() {
  Notes notes;
  notes.program = "/bin/heddle";
  notes.folder = "/a folder\nwith a line";
  notes.kernel = {{"page size", 4096}};
  notes.processor = {{"CPUID 1.0 eax", 5}, {"CPUID 1.0 ecx", 6}};
  notes.mapped = {{"/bin/heddle", 10, 11}, {"/lib/libc.so.6", 12, 13}};
  notes.open = {{3, "/tmp/x", 1, 2, 3, 1, 4, 5}};
  return notes;
}

TEST(CheckpointNotes, ComeBackAsTheyWere) {
  const std::string bytes = bytes_of(some_notes());
  EXPECT_EQ(bytes_of(notes_of(bytes)), bytes);
  const Notes notes = notes_of(bytes);
  EXPECT_EQ(notes.folder, "/a folder\nwith a line");
  EXPECT_EQ(notes.mapped.at(1).path, "/lib/libc.so.6");
  EXPECT_EQ(notes.open.at(0).digest_bytes, 5U);
  for (std::size_t cut = 0; cut != bytes.size(); ++cut) {
    EXPECT_THROW(static_cast<void>(notes_of(std::string_view(bytes).substr(0, cut))), InternalError) << cut;
  }
  EXPECT_THROW(static_cast<void>(notes_of(bytes + "x")), InternalError);
}

TEST(CheckpointIdentity, SaysWhatDiffers) {
  const Notes taken = some_notes();
  EXPECT_EQ(difference(taken, taken), std::nullopt);
  Notes here = taken;
  here.program = "/elsewhere/heddle";
  here.mapped = {{"/elsewhere/heddle", 10, 11}};
  EXPECT_EQ(difference(taken, here), std::nullopt) << "the same build at another place";
  here.mapped[0].digest = 12;
  EXPECT_EQ(difference(taken, here), "it was taken by another build of heddle, /bin/heddle");
  here = taken;
  here.processor[1].value = 0x16;
  EXPECT_EQ(difference(taken, here), "it was taken on another kind of processor (CPUID 1.0 ecx: 0x6, here 0x16)");
  here = taken;
  here.kernel.push_back({"contents of [vdso]", 7});
  EXPECT_EQ(difference(taken, here), "it was taken on another kernel of the system (contents of [vdso])");
}

TEST(CheckpointContext, ACallThatIsNotResumedReturnsNothing) {
  int calls = 0;
  Registers registers;
  EXPECT_EQ(call_resumable([](void* count) { ++*static_cast<int*>(count); }, &calls, &registers), nullptr);
  EXPECT_EQ(calls, 1);
}

// The exit code of a process that does `work`.
template <class Work>
int in_a_process(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// So deep that the stack must have grown by as many KiB.
// NOLINTNEXTLINE(misc-no-recursion)
int deep(int kib) {
  std::array<volatile char, 1024> room;
  room[static_cast<std::size_t>(kib) % room.size()] = 1;
  return kib == 0 ? room[0] : deep(kib - 1) + room[static_cast<std::size_t>(kib) % room.size()];
}

// What a process may do that has come from an image: grow heap and stack, throw, start threads, ask for the time, take
// the next image.
int whatever_a_process_does() {
  std::vector<std::string> texts;
  for (int i = 0; i != 50'000; ++i) {
    texts.emplace_back(1000, 'x');
  }
  int caught = 0;
  try {
    throw InputError({"here"}, "thrown");
  } catch (const InputError&) {
    caught = 1;
  }
  std::thread([&] { caught += 1; }).join();
  const bool later = std::chrono::steady_clock::now().time_since_epoch().count() > 0;
  return deep(4000) == 4001 && caught == 2 && later && texts.size() == 50'000 ? 1 : 0;
}

TEST(CheckpointOfAProcess, GoesOnInAnotherAndInTheNext) {
  if (unsupported()) {
    GTEST_SKIP() << *unsupported();
  }
  const test::Scratch scratch;
  const std::string path = scratch.path("image");
  constexpr int kEnd = 40;
  // Ends with the number of images that its memory has been in, and kEnd more when all went well.
  const auto life = [&] {
    Checkpoint checkpoint(path);
    int images = 0;
    while (checkpoint.take() == Checkpoint::Result::resumed) {
      ++images;
      if (whatever_a_process_does() == 0) {
        return 1;
      }
    }
    return kEnd + images;
  };
  EXPECT_EQ(in_a_process(life), kEnd);
  const auto resumption = [&]() -> int { resume(path); };
  EXPECT_EQ(in_a_process(resumption), kEnd + 1);
  EXPECT_EQ(in_a_process(resumption), kEnd + 2);
  EXPECT_EQ(in_a_process(resumption), kEnd + 3);
}

}  // namespace
}  // namespace heddle::checkpoint
