#include "cuda/cudart/decompress.hpp"

#include <lz4.h>
#include <zstd.h>

#include <limits>
#include <utility>

namespace heddle::cudart {

namespace {

// Far above any program's PTX: a damaged file may tell any size.
constexpr std::size_t kMost = std::size_t{1} << 30U;
static_assert(kMost <= std::numeric_limits<int>::max());

}  // namespace

std::optional<std::string> unpack_lz4(std::span<const std::uint8_t> data, std::size_t size) {
  if (data.size() > kMost || size > kMost) {
    return std::nullopt;
  }
  std::string out(size, '\0');
  const int bytes = LZ4_decompress_safe(reinterpret_cast<const char*>(data.data()), out.data(),
                                        static_cast<int>(data.size()), static_cast<int>(size));
  return bytes >= 0 && static_cast<std::size_t>(bytes) == size ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::string> unpack_zstandard(std::span<const std::uint8_t> data, std::size_t size) {
  if (size > kMost) {
    return std::nullopt;
  }
  std::string out(size, '\0');
  const std::size_t bytes = ZSTD_decompress(out.data(), size, data.data(), data.size());
  return ZSTD_isError(bytes) == 0 && bytes == size ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace heddle::cudart
