// What QuickDeflate packs, zlib unpacks to the same text: of every kind of text, length, distance and code.
#include "os/files/quick_deflate.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <string>

namespace heddle::os {
namespace {

// As zlib reads it, which has the dictionary; what is wrong where it does not come to the stream's end.
std::string unpacked(std::string_view packed, std::string_view dictionary, std::size_t size) {
  const std::string stream = std::string(packed) + std::string("\x03\x00", 2);  // an empty last block
  std::string text(size + 100, '?');
  z_stream state{};
  ::inflateInit2(&state, -15);
  ::inflateSetDictionary(&state, reinterpret_cast<const Bytef*>(dictionary.data()),
                         static_cast<uInt>(dictionary.size()));
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
  state.avail_in = static_cast<uInt>(stream.size());
  state.next_out = reinterpret_cast<Bytef*>(text.data());
  state.avail_out = static_cast<uInt>(text.size());
  const int result = ::inflate(&state, Z_FINISH);
  text.resize(state.total_out);
  const std::string wrong = state.msg != nullptr ? state.msg : "no end";
  ::inflateEnd(&state);
  return result == Z_STREAM_END ? text : wrong;
}

// The bytes that it takes; 0: it does not come back.
std::size_t there_and_back(const std::string& text, std::size_t begin = 0) {
  QuickDeflate deflate;
  const std::string packed(deflate.pack(text, begin));
  EXPECT_EQ(std::string(deflate.pack(text, begin)), packed) << "another time other bytes";
  const std::size_t known = std::min(begin, QuickDeflate::kWindow);
  const bool good =
      unpacked(packed, std::string_view(text).substr(begin - known, known), text.size() - begin) == text.substr(begin);
  EXPECT_TRUE(good);
  return good ? packed.size() : 0;
}

TEST(QuickDeflate, ShortTexts) {
  std::string text;
  for (unsigned size = 0; size != 40; ++size) {
    there_and_back(text);
    there_and_back(std::string(size, '0'));
    there_and_back(std::string(size + 7, '\n'), 7);
    text += static_cast<char>('a' + size % 3);
  }
}

// Matches of each length up to beyond the longest, and one byte too far away to be any.
TEST(QuickDeflate, MatchesOfEachLengthAndDistance) {
  std::mt19937 random(1);
  const auto noise = [&](std::size_t size) {
    std::string text(size, ' ');
    for (char& byte : text) {
      byte = static_cast<char>(random());
    }
    return text;
  };
  for (std::size_t length = 3; length < 530; length += length < 270 ? 3 : 51) {
    const std::string once = noise(length);
    const std::string text = once + noise(40) + once + noise(3);
    const std::size_t packed = there_and_back(text);
    if (length > 60) {
      EXPECT_LT(packed, text.size() + 40 - length / 2) << length;
    }
  }
  const std::string once = noise(200);
  for (std::size_t distance = 201; distance < 70'000; distance += distance / 9) {
    there_and_back(once + noise(distance - once.size()) + once);
  }
  const std::string far = once + noise(QuickDeflate::kWindow - once.size()) + once;
  const std::string too_far = once + noise(QuickDeflate::kWindow + 1 - once.size()) + once;
  EXPECT_LT(there_and_back(far) + 150, there_and_back(too_far));
  EXPECT_LT(there_and_back(far, QuickDeflate::kWindow), 100U);  // all of it is in the dictionary
}

// Symbols as rare as Fibonacci's numbers make codes of more bits than the format has.
TEST(QuickDeflate, CodesAreNoLongerThanTheFormatHas) {
  std::string text;
  std::size_t count = 1;
  std::size_t before = 1;
  for (char symbol = 'a'; symbol != 'w'; ++symbol) {
    text.append(count, symbol);
    before = std::exchange(count, count + before);
  }
  std::shuffle(text.begin(), text.end(), std::mt19937(2));
  there_and_back(text);
}

TEST(QuickDeflate, MakesDumpsSmall) {
  std::string text;
  std::mt19937 random(3);
  for (unsigned i = 0; text.size() < 2'000'000; ++i) {
    text += "#" + std::to_string(i) + "\nb" + std::string(random() % 12, '1') + " !\nb1011010 \"#\n0%\n";
  }
  EXPECT_LT(there_and_back(text) * 5, text.size());
  EXPECT_LT(there_and_back(text, 1'000'000) * 5, text.size() / 2);
}

}  // namespace
}  // namespace heddle::os
