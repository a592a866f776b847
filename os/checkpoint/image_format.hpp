// The file that holds a checkpoint: an image of a process.
//
//   Preamble
//   notes      Preamble::notes_bytes: what must be the same where the image is resumed, and the files to open
//              (notes.hpp)
//   mappings   Preamble::mappings_bytes: /proc/self/maps when it was taken (mappings.hpp)
//   blocks     a BlockHeader and its bytes each; one of no bytes is the last. Pages that are in no block are zero, or
//              as in the file that is mapped there
//   Trailer
//
// Numbers are as the machine has them: the file is read on the machine that wrote it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "os/checkpoint/context.hpp"

namespace heddle::checkpoint {

inline constexpr std::array<char, 8> kMagic = {'H', 'e', 'd', 'd', 'l', 'e', 'C', '\n'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kMostBlockBytes = 64 * kPageBytes;

struct Preamble {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t bytes = sizeof(Preamble);
  std::uint64_t notes_bytes = 0;
  std::uint64_t mappings_bytes = 0;
  Registers registers;
};

struct BlockHeader {
  std::uint64_t address = 0;  // of the first page
  std::uint32_t bytes = 0;    // of whole pages, at most kMostBlockBytes
  std::uint32_t stored = 0;   // bytes that follow: LZ4, or as they are when as many as `bytes`
};

struct Trailer {
  std::uint64_t file_bytes = 0;  // with the trailer
  std::uint64_t digest = 0;      // of all before the trailer
};

}  // namespace heddle::checkpoint
