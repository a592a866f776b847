// Device code in a program: the container that nvcc's programs carry in their section .nv_fatbin, which `heddle nvcc`
// writes with one entry for each architecture, its PTX, uncompressed. A header, then entries of a header and their data
// each. The layout is known from reading such sections (github.com/n-eiling/cuda-fatbin-decompression describes it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace heddle::cudart {

inline constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
inline constexpr std::uint32_t kWrapperMagic = 0x466243b1;  // of what __cudaRegisterFatBinary gets

struct FatBinaryHeader {
  std::uint32_t magic = kFatBinaryMagic;
  std::uint16_t version = 1;
  std::uint16_t header_bytes = 16;
  std::uint64_t bytes = 0;  // of all entries
};

struct FatBinaryEntry {
  static constexpr std::uint16_t kPtx = 1;
  static constexpr std::uint64_t kWide = 1;                              // 64-bit addresses
  static constexpr std::uint64_t kCompressed = 0x2000;                   // LZ4
  static constexpr std::uint64_t kCompressedZ = 0x8000;                  // Zstandard
  static constexpr std::uint64_t kRelocatable = std::uint64_t{1} << 40;  // our own mark

  std::uint16_t kind = kPtx;
  std::uint16_t version = 0x101;
  std::uint32_t header_bytes = 64;
  std::uint64_t bytes = 0;  // of the data as it lies there
  std::uint32_t compressed_bytes = 0;
  std::uint32_t reserved = 0;
  std::uint16_t minor = 0, major = 0;
  std::uint32_t architecture = 0;
  std::uint32_t name_offset = 0, name_bytes = 0;
  std::uint64_t flags = kWide;
  std::uint64_t zero = 0;
  std::uint64_t whole_bytes = 0;  // of compressed data
};
static_assert(sizeof(FatBinaryHeader) == 16 && sizeof(FatBinaryEntry) == 64);

// PTX for one architecture, as a fat binary has it.
[[nodiscard]] inline std::string fat_binary_entry(std::string_view ptx, std::uint32_t architecture, bool relocatable) {
  std::string data(ptx);
  if (data.empty() || data.back() != '\n') data += '\n';
  data.resize((data.size() + 7) / 8 * 8, '\n');
  FatBinaryEntry entry;
  entry.bytes = data.size();
  entry.architecture = architecture;
  if (relocatable) entry.flags |= FatBinaryEntry::kRelocatable;
  std::string out(sizeof entry, '\0');
  std::memcpy(out.data(), &entry, sizeof entry);
  return out + data;
}

// A fat binary of such entries, one behind the other.
[[nodiscard]] inline std::string fat_binary(std::string_view entries) {
  FatBinaryHeader header;
  header.bytes = entries.size();
  std::string out(sizeof header, '\0');
  std::memcpy(out.data(), &header, sizeof header);
  return out.append(entries);
}

}  // namespace heddle::cudart
