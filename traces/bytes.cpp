#include "traces/bytes.hpp"

#include <fmt/format.h>

namespace heddle::traces {

void ByteWriter::raw(std::span<const std::uint8_t> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void ByteWriter::fixed(std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

void ByteWriter::number(std::uint64_t value) {
  while (value >= 0x80) {
    byte(static_cast<std::uint8_t>(value | 0x80U));
    value >>= 7U;
  }
  byte(static_cast<std::uint8_t>(value));
}

void ByteReader::ends() const {
  throw Damaged(at(), "its contents end too early");
}

void ByteReader::turn_over() {
  if (left() == 0) {
    ends();
  }
  before_ += bytes_.size();
  at_ = 0;
  bytes_ = next_();
}

std::uint64_t ByteReader::fixed(unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    value |= std::uint64_t{byte()} << (8 * i);
  }
  return value;
}

std::uint64_t ByteReader::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t next = byte();
    if (shift == 63 && next > 1) {
      break;
    }
    value |= std::uint64_t{next & 0x7fU} << shift;
    if ((next & 0x80U) == 0) {
      return value;
    }
  }
  throw Damaged(at(), "a number has more than 64 bits");
}

std::size_t ByteReader::count(std::size_t least_bytes, std::size_t most) {
  const std::size_t begin = at();
  const std::uint64_t value = number();
  if (value > most) {
    throw Damaged(begin, fmt::format("a count of {}, the most is {}", value, most));
  }
  if (value > left() / least_bytes) {
    throw Damaged(begin, fmt::format("a count of {} is more than what follows can hold", value));
  }
  return static_cast<std::size_t>(value);
}

std::uint64_t ByteReader::number_to(std::uint64_t most, const char* what) {
  const std::size_t begin = at();
  const std::uint64_t value = number();
  if (value > most) {
    throw Damaged(begin, fmt::format("{} of {}, the most is {}", what, value, most));
  }
  return value;
}

std::span<const std::uint8_t> ByteReader::raw(std::size_t bytes) {
  if (bytes > left()) {
    ends();
  }
  const auto part = bytes_.subspan(at_, bytes);
  at_ += bytes;
  return part;
}

}  // namespace heddle::traces
