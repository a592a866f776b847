// Decompression of what nvcc packs its PTX with: LZ4 blocks up to CUDA 12, Zstandard frames since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace heddle::cudart {

// `size`: bytes of the result. Nothing: the data is damaged, makes another number of bytes, or would make more than a
// gibibyte.
[[nodiscard]] std::optional<std::string> unpack_lz4(std::span<const std::uint8_t> data, std::size_t size);
[[nodiscard]] std::optional<std::string> unpack_zstandard(std::span<const std::uint8_t> data, std::size_t size);

}  // namespace heddle::cudart
