// Text whose lines come again and again, packed: zlib must get it back.
#include "os/files/line_deflate.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "tests/os/told_lines.hpp"

namespace heddle::os {
namespace {

std::string line_packed(LineDeflate& deflate, const std::string& text) {
  std::string out;
  deflate.pack(test::with_lines(text), out);
  return out;
}

// One member, to its end, with its check sum and size.
std::string unpacked_by_zlib(const std::string& packed, std::size_t size) {
  z_stream stream{};
  if (::inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) {
    throw InternalError("zlib does not begin");
  }
  std::string text(size + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int end = ::inflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  const bool all = stream.avail_in == 0;
  ::inflateEnd(&stream);
  return end == Z_STREAM_END && all ? text : "damaged: " + text;
}

void expect_packs(const std::string& text, const char* what) {
  LineDeflate deflate;
  const std::string packed = line_packed(deflate, text);
  EXPECT_TRUE(unpacked_by_zlib(packed, text.size()) == text) << what;
  EXPECT_TRUE(line_packed(deflate, text) == packed) << what << ": the bytes depend on what came before";
}

TEST(LineDeflate, ZlibReadsWhatItPacks) {
  std::mt19937 random(11);
  const auto line = [&](std::size_t most) {
    std::string text(random() % most, ' ');
    for (char& byte : text) {
      byte = static_cast<char>('0' + random() % 2);
    }
    return text + '\n';
  };
  expect_packs("", "nothing");
  expect_packs("x", "a byte");
  expect_packs("\n\n\n\n", "empty lines");
  expect_packs("the same\nthe same\nthe same", "no line feed at the end");
  expect_packs(std::string(3000, 'y'), "a long line");
  std::string text;
  for (const std::size_t size : {255U, 256U, 257U, 258U, 259U, 600U}) {  // with its line feed one more
    const std::string one(size, 'z');
    text += one + '\n' + one + "\nbetween\n" + one + '\n';
  }
  expect_packs(text, "lines about as long as the longest match");
  std::vector<std::string> changes(200);
  for (std::string& change : changes) {
    change = 'b' + line(random() % 5 == 0 ? 64 : 8);
  }
  text.clear();
  for (unsigned i = 0; i != 40'000; ++i) {
    text += '#' + std::to_string(i) + '\n';
    for (unsigned change = random() % 6; change != 0; --change) {
      text += random() % 20 == 0 ? 'b' + line(64) : changes[random() % changes.size()];
    }
  }
  expect_packs(text, "a dump");
  LineDeflate deflate;
  EXPECT_LT(line_packed(deflate, text).size() * 4, text.size());
  // A block's codes are made from its first runs: what has not come there has to be told all the same.
  for (unsigned i = 0; i != 300'000; ++i) {
    text += static_cast<char>('A' + random() % 60);
    text += random() % 7 == 0 ? "\n" : random() % 50 == 0 ? changes[random() % changes.size()] : "";
  }
  for (unsigned i = 0; i != 2'000; ++i) {
    text += line(300);
  }
  expect_packs(text, "a dump, then what is not like it");
  text.clear();
  for (unsigned i = 0; i != 500'000; ++i) {
    text += static_cast<char>(random());
  }
  expect_packs(text, "any bytes");
}

// The farthest match is 32768 bytes back; a line that is farther has to be told again.
TEST(LineDeflate, MatchesReachTheWholeWindow) {
  for (const std::size_t distance : {32767U, 32768U, 32769U}) {
    const std::string line = "a line that comes twice\n";
    std::string between(distance - line.size(), ' ');
    for (std::size_t at = 0; at != between.size(); ++at) {
      between[at] = static_cast<char>('A' + at % 41);
    }
    between.back() = '\n';
    expect_packs(line + between + line, "far apart");
  }
}

// Counts like Fibonacci's numbers make the deepest trees: codes have at most 15 bits.
TEST(LineDeflate, NoCodeIsTooLong) {
  std::string text;
  for (unsigned symbols : {16U, 20U, 26U}) {
    text.clear();
    std::size_t count = 1;
    std::size_t before = 1;
    for (unsigned symbol = 0; symbol != symbols; ++symbol) {
      text += std::string(count, static_cast<char>('A' + symbol));
      count += std::exchange(before, count);
    }
    expect_packs(text, "a deep tree");
  }
}

}  // namespace
}  // namespace heddle::os
