// Compresses text whose lines come again and again, such as a dump of waves, into members of a gzip file (RFC 1952,
// RFC 1951). It looks for lines alone, not for every string: general compressors take two to three times as long, and
// pack such text less. Other text is packed, but not well.
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
  // Bytes behind the text that pack() needs, of any value.
  static constexpr std::size_t kBehind = 16;
  static constexpr std::size_t kLongestMatch = 258;
  // Of a text's bytes, at the most.
  static constexpr std::size_t kMostText = std::size_t{1} << 28;

  LineDeflate();
  // The text as one member, in place of what `out` has been: `lines` are those of it, in their order. The bytes depend
  // on these alone. `text` has kBehind bytes more than `size`.
  void pack(const char* text, std::size_t size, std::span<const LineSink::Line> lines, std::string& out);
  // The lines of a text whose writer has not told them. It, too, has kBehind bytes more. Parts of very long ones count
  // as lines.
  [[nodiscard]] static std::vector<LineSink::Line> lines_of(const char* text, std::size_t size);

 private:
  static constexpr unsigned kLiterals = 286;  // bytes, the end of a block, lengths of matches
  static constexpr unsigned kDistances = 30;
  static constexpr unsigned kHashBits = 14;
  static constexpr unsigned kEndBits = 10;
  // Bytes as they are, and then a match.
  struct Sequence {
    std::uint32_t literals = 0;
    std::uint16_t length = 0;    // of the match; 0: none
    std::uint16_t distance = 0;  // less 1
  };
  // Bits on their way into bytes, the lowest first. There is room for eight more bytes than are written.
  struct BitWriter {
    char* at = nullptr;
    std::uint64_t waiting = 0;   // that are no byte yet
    unsigned waiting_count = 0;  // less than 8 between calls

    void put(std::uint64_t bits, unsigned count);  // at most 57 bits
  };

  static void write_codes(BitWriter& out, const std::vector<std::uint8_t>& lengths);

  void find_lines(const char* text, std::span<const LineSink::Line> lines);
  void like_before(const char* text, std::size_t at, std::size_t size);
  // A match of bytes up to `end`; before it, what no other one has had.
  void match(const char* end, std::size_t length, std::size_t distance);
  void write(BitWriter& out, const char* at, const Sequence& sequence) const;
  // Makes codes from the sample, and writes it. `whole`: no more of the block comes.
  void begin_block(bool whole);
  // What has come up to `end` is a block.
  void end_block(const char* end, bool last);
  // For so many bytes as they are, and for whatever else is written at once.
  void make_room(std::size_t literals);
  void more_room(std::size_t needed);

  // Of the block. Its first sequences wait until there are enough of them to make codes from, which serve the others.
  const char* begin_ = nullptr;
  const char* told_ = nullptr;  // the end of its last match
  std::size_t sequences_count_ = 0;
  bool has_codes_ = false;
  std::vector<Sequence> sample_;
  std::vector<PrefixBits> literals_;  // and lengths
  std::vector<PrefixBits> distances_;
  std::array<PrefixBits, kLongestMatch + 1> lengths_{};  // with what is written behind them

  std::array<std::uint32_t, std::size_t{1} << kHashBits> latest_{};  // place of a line by its hash, from 1; 0: none

  // Of lines that were not found whole, by their last bytes and by their first one, likewise.
  std::array<std::uint32_t, std::size_t{1} << kEndBits> by_end_{};
  std::array<std::uint32_t, 256> by_start_{};

  std::vector<char> room_;  // for the member
  const char* room_end_ = nullptr;
  BitWriter out_;
};

}  // namespace heddle::os
