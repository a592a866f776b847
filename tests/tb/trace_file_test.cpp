// Recorded traces as files: the samples replay in the cycles that they were recorded with, and whatever is no whole and
// undamaged trace is refused with the place and the reason.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "isa/instruction.hpp"
#include "os/process/child_process.hpp"
#include "tb/measure/trace_subject.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "traces/module_record.hpp"
#include "traces/warp_trace.hpp"

HEDDLE_LONG_SANITIZED("TraceSamples.*")

namespace heddle::tb {
namespace {

using test::heddle;
using test::Ran;
using test::Scratch;

std::vector<std::string> samples() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_SOURCE_DIR "/traces/samples")) {
    if (entry.path().extension() == ".trace") {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string smallest_sample() {
  const std::vector<std::string> paths = samples();
  return *std::min_element(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
    return std::filesystem::file_size(a) < std::filesystem::file_size(b);
  });
}

// Why a file of these bytes is refused; empty: it is not.
std::string record_refusal(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    const TraceSubject subject(in, "file.trace");
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// The byte offset that a refusal names.
std::uint64_t offset_of(const std::string& text) {
  static const std::regex kForm(R"(^file\.trace: byte ([0-9]+): .+)");
  std::smatch found;
  EXPECT_TRUE(std::regex_match(text, found, kForm)) << text;
  return found.empty() ? ~std::uint64_t{0} : std::stoull(found[1]);
}

TEST(TraceSamples, ReplayInTheirCycles) {
  const std::vector<std::string> paths = samples();
  ASSERT_GE(paths.size(), 3U);
  std::uintmax_t bytes = 0;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    bytes += std::filesystem::file_size(path);
    const TraceSubject sample(path);
    const Scratch scratch;
    const Ran ran = test::heddle({"run", sample.recorded().machine, path, "--quiet", "--out", scratch.path("out")});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const boost::json::object summary =
        boost::json::parse(Scratch::read(scratch.path("out/stats.json"))).at("summary").as_object();
    EXPECT_EQ(static_cast<std::uint64_t>(summary.at("cycles").as_int64()), sample.recorded().cycles)
        << "if the model's timing was meant to change, record the samples again (docs/traces.md)";
    EXPECT_EQ(static_cast<std::uint64_t>(summary.at("warp_instructions").as_int64()),
              sample.recorded().warp_instructions);
    EXPECT_EQ(static_cast<std::uint64_t>(summary.at("thread_instructions").as_int64()),
              sample.recorded().thread_instructions);
    // On quite another machine: the same threads' instructions.
    const Ran other = test::heddle({"run", "two-level", path, "--quiet", "--out", scratch.path("other")});
    ASSERT_EQ(other.code, 0) << other.err;
    const boost::json::object there =
        boost::json::parse(Scratch::read(scratch.path("other/stats.json"))).at("summary").as_object();
    EXPECT_EQ(static_cast<std::uint64_t>(there.at("thread_instructions").as_int64()),
              sample.recorded().thread_instructions);
  }
  EXPECT_LT(bytes, 64U << 10U) << "samples are small";
}

TEST(TraceFile, IsRefusedWhereverItIsCutOff) {
  const std::string whole = Scratch::read(smallest_sample());
  ASSERT_EQ(record_refusal(whole), "");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string text = record_refusal(whole.substr(0, length));
    ASSERT_NE(text, "") << "cut to " << length << " bytes";
    ASSERT_EQ(offset_of(text), length) << text;
    ASSERT_NE(text.find("the file ends"), std::string::npos) << text;
  }
  EXPECT_EQ(offset_of(record_refusal(whole + "x")), whole.size());
}

TEST(TraceFile, IsRefusedWhicheverByteIsChanged) {
  std::string bytes = Scratch::read(smallest_sample());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const unsigned flip : {1U << (at % 8), 0xffU}) {
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ flip);
      const std::string text = record_refusal(bytes);
      ASSERT_NE(text, "") << "byte " << at;
      ASSERT_LE(offset_of(text), bytes.size()) << text;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ flip);
    }
  }
  EXPECT_EQ(record_refusal(bytes), "");
}

TEST(TraceFile, ForeignFilesAreRefusedWithTheReason) {
  EXPECT_EQ(offset_of(record_refusal("")), 0U);
  EXPECT_NE(record_refusal("0x10000080 R 1234\n").find("byte 0: this is no recorded trace"), std::string::npos);
  EXPECT_NE(record_refusal("HEDDLExx, but something else").find("byte 6: this is no recorded trace"),
            std::string::npos);
  std::string newer = Scratch::read(smallest_sample());
  newer[8] = 2;
  EXPECT_NE(record_refusal(newer).find("byte 8: a trace of version 2; this program reads version 1"),
            std::string::npos);

  const Scratch scratch;
  const std::string path = scratch.write("text.trace", "this is a text\n");
  const Ran ran = test::heddle({"run", "baseline", path});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("byte 0: this is no recorded trace"), std::string::npos) << ran.err;
  EXPECT_EQ(test::heddle({"run", "baseline", scratch.path("none.trace")}).code, 2);
  for (const char* const option : {"--scale", "--seed"}) {
    EXPECT_NE(
        test::heddle({"run", "baseline", smallest_sample(), option, "1"}).err.find("a trace has what was recorded"),
        std::string::npos);
  }
  EXPECT_EQ(test::heddle({"run", "baseline", smallest_sample(), "--check-reference"}).code, 2);
}

// Reads everything that a replay reads.
void read_record(const std::string& bytes) {
  std::istringstream in(bytes);
  traces::WarpTraceReader reader(in, "made.trace");
  for (const auto& launch : reader.launches()) {
    const traces::KernelEvents events(reader.kernel_of(launch).words);
    for (const auto& part : launch.parts) {
      static_cast<void>(reader.threads(launch, part, events));
    }
  }
}

// Files that a program of ill will has written: their checksums are right.
TEST(TraceFile, DamagedContentsBehindGoodChecksumsNeitherCrashNorHang) {
  const std::string whole = Scratch::read(smallest_sample());
  std::istringstream in(whole);
  traces::ChunkReader chunks(in, "sample");
  std::vector<std::pair<std::string, std::vector<std::uint8_t>>> contents;
  for (const auto& chunk : chunks.chunks()) {
    contents.emplace_back(chunk.tag, chunks.read(chunk, chunk.size));
  }
  std::mt19937_64 random(7);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  unsigned refused = 0;
  constexpr unsigned kFiles = 1500;
  for (unsigned file = 0; file < kFiles; ++file) {
    auto changed = contents;
    for (std::size_t changes = 1 + below(3); changes != 0; --changes) {
      auto& [tag, bytes] = changed[below(changed.size())];
      switch (below(4)) {
        case 0:
          bytes.resize(below(bytes.size() + 1));
          break;
        case 1:
          bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() + 1)), 1 + below(9),
                       static_cast<std::uint8_t>(random()));
          break;
        case 2:
          std::swap(tag, changed[below(changed.size())].first);
          break;
        default:
          if (!bytes.empty()) {
            bytes[below(bytes.size())] = static_cast<std::uint8_t>(random());
          }
          break;
      }
    }
    std::ostringstream out;
    traces::ChunkWriter writer(out);
    for (const auto& [tag, bytes] : changed) {
      writer.write(tag, bytes);
    }
    writer.finish();
    try {
      read_record(out.str());
    } catch (const InputError& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find("byte "), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, kFiles / 2);
}

using Chunks = std::vector<std::pair<std::string, std::vector<std::uint8_t>>>;

Chunks chunks_of(const std::string& file) {
  std::istringstream in(file);
  traces::ChunkReader reader(in, "sample");
  Chunks contents;
  for (const auto& chunk : reader.chunks()) {
    contents.emplace_back(chunk.tag, reader.read(chunk, chunk.size));
  }
  return contents;
}

std::string file_of(const Chunks& chunks) {
  std::ostringstream out;
  traces::ChunkWriter writer(out);
  for (const auto& [tag, bytes] : chunks) {
    writer.write(tag, bytes);
  }
  writer.finish();
  return out.str();
}

// Each byte of each kind of chunk has other values, one at a time, with sizes and checksums put right: the file is
// refused with the byte before anything runs, or it is a record like any other.
TEST(TraceFile, EveryFieldThatIsWrongIsRefusedBeforeTheRun) {
  const Scratch scratch;
  scratch.write("k.ptx",
                ".version 7.0\n.target sm_60\n.address_size 32\n.visible .entry k(.param .u32 x)\n{\n.reg .b32 %r<5>;\n"
                ".reg .pred %p;\n.shared .b32 s[32];\nld.param.u32 %r1, [x];\nmov.u32 %r2, %tid.x;\n"
                "setp.gt.u32 %p, %r2, 1;\n@%p bra L;\nld.global.u32 %r3, [%r1];\nst.shared.u32 [s], %r3;\nL:\n"
                "bar.sync 0;\natom.global.add.u32 %r4, [%r1], 1;\nret;\n}\n");
  scratch.write("l.toml",
                "ptx = \"k.ptx\"\n[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = 64\n[[launch]]\nentry = \"k\"\n"
                "grid = [2]\nblock = [3]\narguments = [{ buffer = \"x\" }]\n");
  const std::string path = scratch.path("small.trace");
  const Ran recorded = test::heddle({"run", "baseline", scratch.path("l.toml"), "--quiet", "--record", path});
  ASSERT_EQ(recorded.code, 0) << recorded.err;
  const Chunks good = chunks_of(Scratch::read(path));
  unsigned refused = 0;
  unsigned ran = 0;
  for (std::size_t chunk = 0; chunk != good.size(); ++chunk) {
    const std::vector<std::uint8_t>& bytes = good[chunk].second;
    // A module is long, and most of its bytes are instructions and lines of one form.
    const std::size_t step = good[chunk].first == "MODU" ? 3 : 1;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      for (const unsigned other : {0U, 0x7fU, 0xffU, bytes[at] + 1U, bytes[at] ^ 0x10U}) {
        if (static_cast<std::uint8_t>(other) == bytes[at]) {
          continue;
        }
        Chunks changed = good;
        changed[chunk].second[at] = static_cast<std::uint8_t>(other);
        const std::string file = file_of(changed);
        if (const std::string refusal = record_refusal(file); !refusal.empty()) {
          static_cast<void>(offset_of(refusal));
          ++refused;
        } else if (++ran % 5 == 0) {
          const Ran replayed = test::heddle(
              {"run", "baseline", scratch.write("changed.trace", file), "--quiet", "--max-cycles", "100000"});
          // Refused by the machine, a fault of the program that the trace now holds, or a good replay.
          EXPECT_TRUE(replayed.code == 0 || replayed.code == 2 || replayed.code == 3)
              << good[chunk].first << " byte " << at << " made " << other << ": " << replayed.err;
        }
      }
    }
  }
  EXPECT_GT(refused, 200U);
  EXPECT_GT(ran, 50U);
}

// What a chunk claims to hold costs neither memory nor time before it is seen to be so.
TEST(TraceFile, ChunksThatUnpackToTooMuchAreRefusedAtOnce) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
  const Chunks good = chunks_of(Scratch::read(smallest_sample()));
  const auto refusal_with = [&](const std::string& tag, std::size_t bytes) {
    Chunks changed = good;
    for (auto& [name, contents] : changed) {
      if (name == tag) {
        contents.assign(bytes, 0);
      }
    }
    const std::string file = file_of(changed);
    changed.clear();
    const std::string text = record_refusal(file);
    return text.substr(std::min(text.find(": ", text.find(": ") + 2), text.size()));
  };
  EXPECT_EQ(refusal_with("MODU", 65 * kMebibyte),
            ": the chunk 'MODU' claims 68157440 bytes of contents, the most for it are 67108864; the file is damaged");
  EXPECT_EQ(refusal_with("LNCH", kMebibyte),
            ": the chunk 'LNCH' claims 1048576 bytes of contents, the most for it are 65536; the file is damaged");
  EXPECT_EQ(refusal_with("LEND", kMebibyte),
            ": the chunk 'LEND' claims 1048576 bytes of contents, the most for it are 20; the file is damaged");
  EXPECT_EQ(refusal_with("RUN ", kMebibyte),
            ": the chunk 'RUN ' claims 1048576 bytes of contents, the most for it are 65536; the file is damaged");
  EXPECT_EQ(refusal_with("BLKS", 64 * kMebibyte),
            ": in the chunk 'BLKS' that begins here, at byte 2 of its 67108864 bytes of contents: it has other blocks "
            "than its launch's end says");
}

// Blocks are looked at as they are unpacked, piece by piece.
TEST(TraceFile, LongContentsOfBlocksTakeNoMemory) {
  const Scratch scratch;
  const std::string path = scratch.path("long.trace");
  // Another process makes it, so that this one's memory shows what reading takes.
  os::ChildProcess maker = os::ChildProcess::copy([&] {
    Chunks chunks = chunks_of(Scratch::read(smallest_sample()));
    for (auto& [name, contents] : chunks) {
      if (name == "BLKS") {
        contents.resize(contents.size() + (std::size_t{96} << 20U));
      }
    }
    scratch.write("long.trace", file_of(chunks));
    return 0;
  });
  ASSERT_TRUE(maker.wait().good());
  const std::string file = Scratch::read(path);
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  EXPECT_NE(record_refusal(file).find("there are bytes behind the end of its contents"), std::string::npos);
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 32 * 1024) << "KiB";
}

// Instructions of 16 bytes: with what stands in the second 8, and nothing else there.
TEST(ModuleRecord, HoldsWordsOfEitherLength) {
  isa::Module module;
  isa::Kernel& kernel = module.kernels.emplace_back();
  kernel.name = "k";
  kernel.registers = 201;
  kernel.predicates = 1;
  for (const char* const text : {"add r200, r63, rz", "@p0 add r1, r2, r3", "ld.global.v2.b32 r126, [r2+0]", "exit"}) {
    kernel.words.push_back(isa::encode(isa::assemble(text)));
  }
  traces::ByteWriter out;
  traces::write_module(module, out);
  const std::vector<std::uint8_t> bytes(out.bytes().begin(), out.bytes().end());
  traces::ByteReader in(bytes);
  const isa::Module back = traces::read_module(in);
  EXPECT_EQ(back.kernels.at(0).words, kernel.words);
  EXPECT_TRUE(isa::is_wide(back.kernels.at(0)));
  module.kernels.front().registers = 200;
  traces::ByteWriter few;
  traces::write_module(module, few);
  const std::vector<std::uint8_t> wrong(few.bytes().begin(), few.bytes().end());
  traces::ByteReader again(wrong);
  EXPECT_THROW((void)traces::read_module(again), traces::Damaged) << "r200 is beyond its registers";
}

// ------------------------------------------------------------------------------------------------- threads

// A loop with a guarded load and a conditional accumulate's kin: a branch back with a bit, an address a round.
std::vector<isa::InstructionWord> loop_code() {
  std::vector<isa::InstructionWord> words;
  for (const char* const text :
       {"ld.global.b32 r1, [r2+0]", "@p0 st.global.b32 [r3+4], r1", "@p1 bra 0, reconverge 3", "exit"}) {
    words.push_back(isa::encode(isa::assemble(text)));
  }
  return words;
}

TEST(ThreadTrace, WhatIsPackedIsUnpacked) {
  const std::vector<isa::InstructionWord> words = loop_code();
  const traces::KernelEvents events(words);
  EXPECT_EQ(events.slots(), 2U);
  std::mt19937_64 random(3);
  std::vector<traces::ThreadEvents> threads(200);
  for (traces::ThreadEvents& thread : threads) {
    for (std::uint64_t rounds = 1 + random() % 150; rounds != 0; --rounds) {
      thread.values.push_back(random() >> (random() % 64));
      const bool stores = random() % 2 != 0;
      thread.add_bit(stores);
      if (stores) {
        thread.values.push_back(random());
      }
      thread.add_bit(rounds != 1);
    }
  }
  traces::ByteWriter out;
  traces::ThreadPacker packer(events);
  for (const traces::ThreadEvents& thread : threads) {
    packer.pack(thread, out);
  }
  traces::ByteReader in(out.bytes());
  traces::ThreadUnpacker unpacker(events);
  traces::ThreadEvents back;
  for (const traces::ThreadEvents& thread : threads) {
    unpacker.unpack(in, back);
    EXPECT_EQ(back.bit_count, thread.bit_count);
    EXPECT_EQ(back.bits, thread.bits);
    EXPECT_EQ(back.values, thread.values);
  }
  EXPECT_EQ(in.left(), 0U);
}

TEST(ThreadTrace, RegularThreadsTakeAlmostNothing) {
  const std::vector<isa::InstructionWord> words = loop_code();
  const traces::KernelEvents events(words);
  traces::ByteWriter out;
  traces::ThreadPacker packer(events);
  std::size_t after_two = 0;
  for (unsigned id = 0; id < 64; ++id) {
    traces::ThreadEvents thread;
    for (unsigned round = 0; round < 100; ++round) {
      thread.values.push_back(0x1000'0000 + 4 * id + 256 * round);
      thread.add_bit(false);
      thread.add_bit(round != 99);
    }
    packer.pack(thread, out);
    if (id == 1) {
      after_two = out.size();
    }
  }
  // From the third thread on everything is as predicted: zeros only.
  EXPECT_TRUE(std::all_of(out.bytes().begin() + static_cast<std::ptrdiff_t>(after_two), out.bytes().end(),
                          [](std::uint8_t byte) { return byte == 0; }));
}

TEST(ThreadTrace, PathsThatLeadNowhereAreRefused) {
  // Round and round without an event, and past the end.
  for (const std::vector<const char*>& code :
       {std::vector<const char*>{"bra 0"}, std::vector<const char*>{"nop", "nop"},
        std::vector<const char*>{"bra 2", "exit", "bra 0"}}) {
    std::vector<isa::InstructionWord> words;
    words.reserve(code.size());
    for (const char* const text : code) {
      words.push_back(isa::encode(isa::assemble(text)));
    }
    const traces::KernelEvents events(words);
    EXPECT_EQ(events.first_from(0), traces::KernelEvents::kNowhere);
    const std::vector<std::uint8_t> bytes(4);
    traces::ByteReader in(bytes);
    traces::ThreadUnpacker unpacker(events);
    traces::ThreadEvents thread;
    EXPECT_THROW(unpacker.unpack(in, thread), traces::Damaged);
  }
}

}  // namespace
}  // namespace heddle::tb
