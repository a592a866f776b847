#include "tb/device/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "tb/device/executor.hpp"
#include "tb/device/values.hpp"

namespace heddle::tb {
namespace {

using isa::Type;

bool is_byte(Type type) {
  return type == Type::u8 || type == Type::b8;
}
bool is_packed(const PictureShape& shape) {
  return shape.format == PixelFormat::rgba && (shape.type == Type::u32 || shape.type == Type::b32);
}
unsigned elements_per_pixel(const PictureShape& shape) {
  switch (shape.format) {
    case PixelFormat::rgb:
      return 3;
    case PixelFormat::rgba:
      return is_packed(shape) ? 1 : 4;
    case PixelFormat::grey:
    case PixelFormat::scaled:
      break;
  }
  return 1;
}

// `share`: 0 is black, 1 is the brightest.
std::uint8_t level(double share) {
  return std::isnan(share) ? 0 : static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)));
}

// The elements as shares of the range from their smallest to their largest; numbers that are not finite do not stretch
// it.
class Scale {
 public:
  void add(double value) {
    if (std::isfinite(value)) {
      low_ = std::min(low_, value);
      high_ = std::max(high_, value);
    }
  }
  [[nodiscard]] double share(double value) const {
    if (!std::isfinite(value)) {
      return value > 0 ? 1 : 0;
    }
    // Halves, so that the range of the largest doubles is a number too.
    return high_ > low_ ? (value / 2 - low_ / 2) / (high_ / 2 - low_ / 2) : 0;
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

std::uint64_t PictureShape::elements() const {
  return std::uint64_t{width} * height * elements_per_pixel(*this);
}

std::optional<std::string> PictureShape::objection() const {
  if (format == PixelFormat::scaled || is_byte(type) || launch::is_float(type) || is_packed(*this)) {
    return std::nullopt;
  }
  return fmt::format("pixels of format '{}' are elements of u8, b8, f16, f32 or f64{}, not of {}",
                     kPixelFormats[static_cast<std::size_t>(format)],
                     format == PixelFormat::rgba ? ", or one of u32 or b32" : "", isa::name_of(type));
}

Picture make_picture(std::string name, const PictureShape& shape, std::span<const std::byte> elements) {
  Picture picture{std::move(name), shape.width, shape.height, {}};
  picture.pixels.resize(std::size_t{shape.width} * shape.height * 3);
  const unsigned size = isa::size_of(shape.type);
  const unsigned per_pixel = elements_per_pixel(shape);
  const auto element = [&](std::size_t index) { return elements.subspan(index * size, size); };
  Scale scale;
  if (shape.format == PixelFormat::scaled) {
    for (std::size_t i = 0; i != shape.elements(); ++i) {
      scale.add(launch::decode(shape.type, element(i)).real);
    }
  }
  for (std::size_t pixel = 0; pixel != picture.pixels.size() / 3; ++pixel) {
    for (unsigned colour = 0; colour != 3; ++colour) {
      std::uint8_t& out = picture.pixels[3 * pixel + colour];
      if (is_packed(shape)) {
        out = static_cast<std::uint8_t>(elements[4 * pixel + colour]);
        continue;
      }
      const auto from = element(pixel * per_pixel + (per_pixel == 1 ? 0 : colour));
      const double value = launch::decode(shape.type, from).real;
      if (shape.format == PixelFormat::scaled) {
        out = level(scale.share(value));
      } else {
        out = is_byte(shape.type) ? static_cast<std::uint8_t>(from[0]) : level(value);
      }
    }
  }
  return picture;
}

void show_picture(Executor& executor, std::string name, std::uint64_t address, const PictureShape& shape) {
  if (const std::optional<std::string> wrong = shape.objection()) {
    throw InternalError(fmt::format("'{}' is no picture: {}", name, *wrong));
  }
  std::vector<std::byte> elements(shape.elements() * isa::size_of(shape.type));
  executor.memory().read(address, elements);
  executor.show(make_picture(std::move(name), shape, elements));
}

Picture reduced(const Picture& picture, unsigned longest) {
  const unsigned side = std::max(picture.width, picture.height);
  const unsigned step = std::max(1U, (side + longest - 1) / longest);
  if (step == 1) {
    return picture;
  }
  Picture out{picture.name, (picture.width + step - 1) / step, (picture.height + step - 1) / step, {}};
  out.pixels.reserve(std::size_t{out.width} * out.height * 3);
  for (unsigned y = 0; y != out.height; ++y) {
    for (unsigned x = 0; x != out.width; ++x) {
      // Squares at the right and lower edge may be cut short.
      const unsigned right = std::min(picture.width, (x + 1) * step);
      const unsigned bottom = std::min(picture.height, (y + 1) * step);
      const std::uint64_t count = std::uint64_t{right - x * step} * (bottom - y * step);
      for (unsigned colour = 0; colour != 3; ++colour) {
        std::uint64_t sum = 0;
        for (unsigned row = y * step; row != bottom; ++row) {
          for (unsigned column = x * step; column != right; ++column) {
            sum += picture.pixels[3 * (std::size_t{row} * picture.width + column) + colour];
          }
        }
        out.pixels.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
      }
    }
  }
  return out;
}

}  // namespace heddle::tb
