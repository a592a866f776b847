// Deflate (RFC 1951) at several hundred megabytes a second, for text that repeats itself: dumps of waves, tables, JSON.
//
// Where zlib looks for the best of several matches at every byte, this takes the first that the latest place with the
// same beginning gives, and goes on behind it. Dumps become about as small as by zlib's quick levels, in a fifth of the
// time. Each stretch of tokens gets Huffman codes of its own. The bytes depend on the text alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::os {

class QuickDeflate {
 public:
  static constexpr std::size_t kWindow = std::size_t{1} << 15;  // as far as the format looks back

  // `text` from `begin` on, as blocks none of which is the last, up to a byte's end; what is before `begin`, at most
  // kWindow bytes of it, is a dictionary: the reader has it already. The result stays until the next call.
  [[nodiscard]] std::string_view pack(std::string_view text, std::size_t begin);

 private:
  static constexpr unsigned kLiterals = 286;  // with lengths and the end of a block
  static constexpr unsigned kDistances = 30;
  static constexpr std::size_t kTokens = std::size_t{1} << 15;  // of a block
  static constexpr unsigned kHashBits = 14;

  // A code of the alphabet: its bits in the order in which they are sent, the first one lowest.
  struct Code {
    std::uint16_t bits = 0;
    std::uint8_t length = 0;
  };
  void find_tokens(std::string_view text, std::size_t begin);
  void match(std::size_t distance, std::size_t length);
  void end_block();
  void send_codes(unsigned literals, unsigned distances);
  void send(std::uint64_t bits, unsigned count);
  void make_room(std::size_t bytes);
  static void make_codes(const std::uint32_t* counts, unsigned symbols, unsigned longest, Code* codes);

  std::vector<std::uint32_t> latest_;  // by hash: the latest place, or something else; text is compared
  std::vector<std::uint32_t> tokens_;  // a literal; or a match: kMatch, distance - 1, length - 3
  std::array<std::uint32_t, kLiterals> literal_counts_{};
  std::array<std::uint32_t, kDistances> distance_counts_{};
  std::array<Code, kLiterals> literal_codes_{};
  std::array<Code, kDistances> distance_codes_{};
  std::vector<char> packed_;
  std::size_t size_ = 0;  // of packed_, as far as it is written
  std::uint64_t pending_ = 0;
  unsigned pending_bits_ = 0;
};

}  // namespace heddle::os
