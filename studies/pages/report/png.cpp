#include "studies/pages/report/png.hpp"

#include <zlib.h>

#include <string_view>

#include "base/error.hpp"

namespace heddle::pages {
namespace {

using Bytes = std::vector<std::uint8_t>;

void put_word(Bytes& out, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(word >> shift));
  }
}

// Length, name, content, and the checksum of the last two.
void put_chunk(Bytes& out, std::string_view name, const Bytes& content) {
  put_word(out, static_cast<std::uint32_t>(content.size()));
  const std::size_t begin = out.size();
  out.insert(out.end(), name.begin(), name.end());
  out.insert(out.end(), content.begin(), content.end());
  put_word(out, static_cast<std::uint32_t>(crc32(0, out.data() + begin, static_cast<uInt>(out.size() - begin))));
}

}  // namespace

std::vector<std::uint8_t> png(unsigned width, unsigned height, std::span<const std::uint8_t> rgb) {
  const std::size_t row = std::size_t{3} * width;
  if (width == 0 || height == 0 || rgb.size() != row * height) {
    throw InternalError("a picture has not as many bytes as its sides say");
  }
  Bytes lines;  // each behind the number of its filter: none
  for (unsigned y = 0; y != height; ++y) {
    lines.push_back(0);
    const auto begin = rgb.begin() + static_cast<std::ptrdiff_t>(y * row);
    lines.insert(lines.end(), begin, begin + static_cast<std::ptrdiff_t>(row));
  }
  uLongf size = compressBound(static_cast<uLong>(lines.size()));
  Bytes packed(size);
  if (compress2(packed.data(), &size, lines.data(), static_cast<uLong>(lines.size()), Z_BEST_COMPRESSION) != Z_OK) {
    throw InternalError("a picture could not be compressed");
  }
  packed.resize(size);
  Bytes out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  Bytes header;
  put_word(header, width);
  put_word(header, height);
  header.insert(header.end(), {8, 2, 0, 0, 0});  // eight bits each of red, green and blue
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", packed);
  put_chunk(out, "IEND", {});
  return out;
}

}  // namespace heddle::pages
