// A buffer of device memory as a picture: what its elements are as pixels. A launch file's buffer says so by `image`
// (docs/launch-files.md), a workload calls show_picture() when its last launch has ended; what watches the run gets the
// pixels (RunObserver::shown), and nothing else of the run changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::tb {

class Executor;

// What a pixel is. Elements of u8 and b8 are 0 to 255, elements of f16, f32 and f64 are 0 (black) to 1, what is beyond
// either end counting as the end and NaN as 0.
enum class PixelFormat : std::uint8_t {
  grey,    // one element
  rgb,     // three elements: red, green, blue
  rgba,    // four elements, the last of which is not shown; or one of u32 or b32, red being its lowest byte
  scaled,  // one element of any type: the smallest in the buffer is black, the largest white
};
inline constexpr std::string_view kPixelFormats[] = {"grey", "rgb", "rgba", "scaled"};

// How a buffer is a picture: rows from the top, pixels of a row from the left, without gaps.
struct PictureShape {
  static constexpr unsigned kLongestSide = 4096;  // pixels
  unsigned width = 0, height = 0;                 // pixels, 1 to kLongestSide
  PixelFormat format = PixelFormat::rgb;
  isa::Type type = isa::Type::u8;  // of the buffer's elements

  // Elements that it takes. Meaningful where there is no objection.
  [[nodiscard]] std::uint64_t elements() const;
  // Why elements of `type` are no pixels of `format`; nothing when they are.
  [[nodiscard]] std::optional<std::string> objection() const;
};

struct Picture {
  std::string name;
  unsigned width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  // red, green, blue of each, row by row from the top
};

// `elements`: little-endian, as many as the shape takes.
[[nodiscard]] Picture make_picture(std::string name, const PictureShape& shape, std::span<const std::byte> elements);

// Shows the buffer at `address`, as it is now. Throws InternalError for a shape with an objection.
void show_picture(Executor& executor, std::string name, std::uint64_t address, const PictureShape& shape);

// `picture` with sides of at most `longest` pixels: each of its pixels is the mean of a square of n x n, n the
// least that does it.
[[nodiscard]] Picture reduced(const Picture& picture, unsigned longest);

}  // namespace heddle::tb
