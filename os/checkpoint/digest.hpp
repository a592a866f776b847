// A 64-bit digest by which damage and other builds are told. Any change within eight bytes in a row changes it for
// certain; it is no protection against intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle::checkpoint {

class Digest {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* next = static_cast<const unsigned char*>(bytes);
    length_ += count;
    while (count != 0 && pending_ != 0) {
      take(*next++);
      --count;
    }
    for (; count >= sizeof(std::uint64_t); count -= sizeof(std::uint64_t), next += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, next, sizeof word);
      mix(word);
    }
    for (; count != 0; --count) {
      take(*next++);
    }
  }
  [[nodiscard]] std::uint64_t value() const {
    Digest end = *this;
    end.mix(partial_);
    end.mix(length_);
    return end.state_;
  }

 private:
  void take(unsigned char byte) {
    partial_ |= std::uint64_t{byte} << (8 * pending_);
    if (++pending_ == sizeof partial_) {
      mix(partial_);
      partial_ = 0;
      pending_ = 0;
    }
  }
  // Both steps can be undone, so that what differs stays different. The factor is that of Knuth's generator.
  void mix(std::uint64_t word) {
    state_ = (state_ ^ word) * 6364136223846793005U;
    state_ ^= state_ >> 29U;
  }

  std::uint64_t state_ = 0x9e3779b97f4a7c15U;
  std::uint64_t length_ = 0;
  std::uint64_t partial_ = 0;
  unsigned pending_ = 0;
};

}  // namespace heddle::checkpoint
