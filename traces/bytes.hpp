// Numbers and texts as bytes, little-endian; the contents of a trace file's chunks (traces/chunk_file.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::traces {

class ByteWriter {
 public:
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }

  void byte(std::uint8_t value) { bytes_.push_back(value); }
  void fixed(std::uint64_t value, unsigned bytes);  // `bytes` low bytes
  // Seven bits a byte, low ones first, the top bit set in all but the last.
  void number(std::uint64_t value);
  // A difference: small ones of either sign are short.
  void difference(std::int64_t value) {
    const auto raw = static_cast<std::uint64_t>(value);
    number((raw << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  void raw(std::span<const std::uint8_t> bytes);
  // Length, then the bytes.
  void block(std::span<const std::uint8_t> bytes) {
    number(bytes.size());
    raw(bytes);
  }
  void text(std::string_view text) { block({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); }

 private:
  std::vector<std::uint8_t> bytes_;
};

// The contents are not what they should be; `at` counts bytes from their beginning.
class Damaged : public std::runtime_error {
 public:
  Damaged(std::size_t at, const std::string& reason) : std::runtime_error(reason), at(at) {}
  std::size_t at;
};

// Every read throws Damaged where too little is left.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes), size_(bytes.size()) {}
  // `size` bytes that come in pieces: `next` makes the next one, which is not empty before all have come and lasts
  // until it is called again. Such a reader has no raw(), block() and text().
  using Source = std::function<std::span<const std::uint8_t>()>;
  ByteReader(std::size_t size, Source next) : next_(std::move(next)), size_(size) {}
  [[nodiscard]] std::size_t at() const { return before_ + at_; }
  [[nodiscard]] std::size_t left() const { return size_ - at(); }

  [[nodiscard]] std::uint8_t byte() {
    if (at_ == bytes_.size()) {
      turn_over();
    }
    return bytes_[at_++];
  }
  [[nodiscard]] std::uint64_t fixed(unsigned bytes);
  [[nodiscard]] std::uint64_t number();
  // A number that stands for so many things of at least `least_bytes` bytes each, all of which must follow; at most
  // `most` of them.
  [[nodiscard]] std::size_t count(std::size_t least_bytes = 1, std::size_t most = SIZE_MAX);
  // A number within [0, most].
  [[nodiscard]] std::uint64_t number_to(std::uint64_t most, const char* what);
  [[nodiscard]] std::int64_t difference() {
    const std::uint64_t raw = number();
    return static_cast<std::int64_t>((raw >> 1U) ^ (0 - (raw & 1U)));
  }
  [[nodiscard]] std::span<const std::uint8_t> raw(std::size_t bytes);
  [[nodiscard]] std::span<const std::uint8_t> block() { return raw(count()); }
  [[nodiscard]] std::string text() {
    const auto bytes = block();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  void expect_end() const {
    if (left() != 0) {
      throw Damaged(at(), "there are bytes behind the end of its contents");
    }
  }

 private:
  [[noreturn]] void ends() const;
  void turn_over();  // to the next piece
  Source next_;
  std::span<const std::uint8_t> bytes_;  // the present piece
  std::size_t at_ = 0;                   // in it
  std::size_t before_ = 0;               // bytes of the pieces before
  std::size_t size_ = 0;
};

}  // namespace heddle::traces
