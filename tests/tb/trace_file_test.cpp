// Recorded traces as files: the samples replay in the cycles that they were recorded with, and whatever is no whole and
// undamaged trace is refused with the place and the reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "isa/instruction.hpp"
#include "program_runner.hpp"
#include "tb/measure/trace/trace_subject.hpp"
#include "tests/support/marks.hpp"
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
    const Ran ran = heddle({"run", sample.recorded().machine, path, "--quiet", "--out", scratch.path("out")});
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
    const Ran other = heddle({"run", "two-level", path, "--quiet", "--out", scratch.path("other")});
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
  const Ran ran = heddle({"run", "baseline", path});
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.err.find("byte 0: this is no recorded trace"), std::string::npos) << ran.err;
  EXPECT_EQ(heddle({"run", "baseline", scratch.path("none.trace")}).code, 2);
  for (const char* const option : {"--scale", "--seed"}) {
    EXPECT_NE(heddle({"run", "baseline", smallest_sample(), option, "1"}).err.find("a trace has what was recorded"),
              std::string::npos);
  }
  EXPECT_EQ(heddle({"run", "baseline", smallest_sample(), "--check-reference"}).code, 2);
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
    contents.emplace_back(chunk.tag, chunks.read(chunk));
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

// ------------------------------------------------------------------------------------------------- threads

// A loop with a guarded load and a conditional accumulate's kin: a branch back with a bit, an address a round.
std::vector<std::uint64_t> loop_code() {
  std::vector<std::uint64_t> words;
  for (const char* const text :
       {"ld.global.b32 r1, [r2+0]", "@p0 st.global.b32 [r3+4], r1", "@p1 bra 0, reconverge 3", "exit"}) {
    words.push_back(isa::encode(isa::assemble(text)));
  }
  return words;
}

TEST(ThreadTrace, WhatIsPackedIsUnpacked) {
  const std::vector<std::uint64_t> words = loop_code();
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
  const std::vector<std::uint64_t> words = loop_code();
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
    std::vector<std::uint64_t> words;
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
