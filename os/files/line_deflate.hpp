// Compresses text whose lines come again and again, such as a dump of waves, into members of a gzip file (RFC 1952,
// RFC 1951). It looks for lines alone that are told to be the same, and reads no bytes to find them: general
// compressors take several times as long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/line_sink.hpp"
#include "os/files/prefix_code.hpp"

namespace heddle::os {

class LineDeflate {
 public:
  static constexpr std::size_t kLongestMatch = 258;

  // The text, of less than 4 GB, as one member, in place of what `out` has been. The bytes depend on the text and its
  // lines alone.
  void pack(const LineSink::Text& text, std::string& out);

 private:
  static constexpr unsigned kLiterals = 286;  // bytes, the end of a block, lengths of matches
  static constexpr unsigned kDistances = 30;
  static constexpr unsigned kHashBits = 15;
  // Lines that stand one behind the other, and so elsewhere before, or not: then they are written byte for byte.
  struct Run {
    std::uint32_t length = 0;    // in bytes
    std::uint32_t distance = 0;  // how far back they are; 0: bytes as they are
  };
  // Where a line has come the last time.
  struct Place {
    std::uint32_t line = 0;  // of the text
    std::uint32_t at = 0;    // byte of the text
  };
  // Bits on their way into bytes, the lowest first. There is room for eight more bytes than are written.
  struct BitWriter {
    char* at = nullptr;
    std::uint64_t waiting = 0;   // that are no byte yet
    unsigned waiting_count = 0;  // less than 8 between calls

    void put(std::uint64_t bits, unsigned count);  // at most 57 bits
  };

  [[nodiscard]] std::span<const Run> find_runs(std::span<const LineSink::Line> lines);
  // Runs of the text, which begin at `at`, as a block; where they end.
  const char* write_block(const char* at, std::span<const Run> runs, bool last);
  void make_codes(const char* at, std::span<const Run> runs);
  static void write_codes(BitWriter& out, const std::vector<std::uint8_t>& lengths);

  std::vector<Run> runs_;
  std::array<Place, std::size_t{1} << kHashBits> latest_{};  // by a hash of the line's number

  // Of the block.
  std::vector<std::uint8_t> code_;    // lengths of both codes
  std::vector<PrefixBits> literals_;  // and lengths
  std::vector<PrefixBits> distances_;
  std::array<PrefixBits, kLongestMatch + 1> lengths_{};  // with what is written behind them

  std::vector<char> room_;  // for the member
  BitWriter out_;
};

}  // namespace heddle::os
