// What files of the form FST are made of: numbers and blocks (traces/fst_form.hpp).
#pragma once

#include <zlib.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace heddle::traces::fst {

enum Kind : unsigned char { kHeader = 0, kGeometry = 3, kHierarchy = 6, kChanges = 8 };

constexpr std::size_t kMostVarying = 10;  // bytes
constexpr std::uint64_t kUnknown = 1;     // 'x' is state 0 of those that are neither 0 nor 1

inline void fixed(std::string& out, std::uint64_t number) {
  for (unsigned byte = 8; byte-- != 0;) {
    out += static_cast<char>(number >> (8 * byte));
  }
}

inline char* varying(char* at, std::uint64_t number) {
  for (; number > 0x7f; number >>= 7U) {
    *at++ = static_cast<char>(number | 0x80U);
  }
  *at++ = static_cast<char>(number);
  return at;
}

inline void varying(std::string& out, std::uint64_t number) {
  std::array<char, kMostVarying> bytes{};
  out.append(bytes.data(), static_cast<std::size_t>(varying(bytes.data(), number) - bytes.data()));
}

// Two's complement: the last byte's bit 6 is the sign.
inline void varying_signed(std::string& out, std::int64_t number) {
  for (;; number >>= 7) {
    const auto bits = static_cast<unsigned char>(number & 0x7f);
    const bool last = number >> 6 == 0 || number >> 6 == -1;
    out += static_cast<char>(bits | (last ? 0U : 0x80U));
    if (last) {
      return;
    }
  }
}

// The first bit is the first byte's highest. Writes over what is behind them, to eight bytes in all.
inline char* bits(char* at, std::uint64_t value, unsigned width) {
  std::uint64_t left = value << (64 - width);
  if constexpr (std::endian::native == std::endian::little) {
    left = __builtin_bswap64(left);
  }
  std::memcpy(at, &left, sizeof left);
  return at + (width + 7) / 8;
}

// What stands before a block of so many bytes.
inline std::string head(Kind kind, std::size_t size) {
  std::string out(1, static_cast<char>(kind));
  fixed(out, size + 8);
  return out;
}
inline std::string block(Kind kind, const std::string& bytes) {
  return head(kind, bytes.size()) + bytes;
}

// By zlib; as it is where that is no larger, which readers see by its size.
inline std::string packed(const std::string& bytes) {
  constexpr int kQuick = 4;  // zlib's level, of what is small
  uLongf size = ::compressBound(bytes.size());
  std::string out(size, '\0');
  if (::compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  bytes.size(), kQuick) != Z_OK) {
    throw InternalError("a block could not be compressed");
  }
  out.resize(size);
  return size < bytes.size() ? out : bytes;
}

}  // namespace heddle::traces::fst
