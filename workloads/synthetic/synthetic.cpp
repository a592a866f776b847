// synthetic: two branches in sequence over the pixels of a picture of four colours (ODGS paper, section 3.6 and figure
// 9). The colour decides both branches; five pictures have colours that lie ever nearer together. From the paper are
// the 256 x 256 pixels, two colours in the first picture and four in the others; code and pictures are Heddle's own.
#include "base/registry.hpp"
#include "tb/device/picture.hpp"
#include "workloads/support.hpp"

namespace heddle::workloads {
namespace {

// Colours 0 to 3 of side x side pixels, row by row.
using Colours = std::vector<std::uint8_t>;

// A disc on a ground: colours 3 and 0, between which both branches differ.
Colours disc(std::uint32_t side) {
  Colours picture;
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      const auto from_middle = [side](std::uint32_t at) { return std::int64_t{2} * at + 1 - side; };  // half pixels
      const std::int64_t distance = from_middle(x) * from_middle(x) + from_middle(y) * from_middle(y);
      picture.push_back(4 * distance < std::int64_t{side} * side * 2 ? 3 : 0);
    }
  }
  return picture;
}

// Patches around seeds, one in each square of `cell` x `cell` pixels: a pixel has the colour of the nearest one.
Colours patches(std::uint32_t side, std::uint32_t cell, std::uint64_t seed) {
  struct Seed {
    std::int64_t x, y;
    std::uint8_t colour;
  };
  Random random(seed);
  const std::uint32_t cells = (side + cell - 1) / cell + 2;  // a frame of squares around the picture
  std::vector<Seed> seeds;
  for (std::uint32_t i = 0; i < cells * cells; ++i) {
    const std::int64_t left = (std::int64_t{i % cells} - 1) * cell;
    const std::int64_t top = (std::int64_t{i / cells} - 1) * cell;
    const std::uint32_t x = random.below(cell);
    const std::uint32_t y = random.below(cell);
    seeds.push_back({left + x, top + y, static_cast<std::uint8_t>(random.below(4))});
  }
  Colours picture;
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      std::int64_t least = std::int64_t{16} * cell * cell;
      std::uint8_t colour = 0;
      for (std::uint32_t i = 0; i < 9; ++i) {
        const Seed& near = seeds[(y / cell + i / 3) * cells + x / cell + i % 3];
        const std::int64_t distance = (near.x - x) * (near.x - x) + (near.y - y) * (near.y - y);
        if (distance < least) {
          least = distance;
          colour = near.colour;
        }
      }
      picture.push_back(colour);
    }
  }
  return picture;
}

class Synthetic final : public KernelWorkload {
 public:
  explicit Synthetic(const tb::WorkloadOptions& options)
      : KernelWorkload("synthetic", options, {{kImage, 1, 1, 5}, {kLength, 16, 1, 1000}}) {}
  [[nodiscard]] std::uint64_t threads() const override { return std::uint64_t{side()} * side(); }
  [[nodiscard]] double demo_scale() const override { return 1; }

  [[nodiscard]] tb::Verdict run(tb::Executor& executor) override {
    const std::uint32_t side = this->side();
    const Colours colours = picture(side);
    const std::uint64_t device_colours = upload(executor, "colours", colours);
    const std::uint64_t bytes = colours.size() * sizeof(std::uint32_t);
    const std::uint64_t mixed = allocate(executor, "mixed", bytes);
    const std::uint64_t shades = allocate(executor, "picture", bytes);
    const isa::Dim3 grid{side / kSide, side / kSide};
    executor.plan({1, grid.count()});
    launch(executor, "two_branches", grid, {kSide, kSide},
           tb::Arguments(executor.module(), "two_branches")
               .pointer(device_colours)
               .pointer(mixed)
               .pointer(shades)
               .value(rounds()));
    tb::show_picture(executor, "picture", shades, {side, side, tb::PixelFormat::rgba, isa::Type::u32});
    std::vector<std::uint32_t> greys;
    for (const std::uint8_t colour : colours) {
      greys.push_back(0xff000000U + 0x555555U * colour);
    }
    return both(judge(download<std::uint32_t>(executor, mixed, colours.size()), colours),
                compare("pixels of the picture", download<std::uint32_t>(executor, shades, greys.size()), greys));
  }

 private:
  static constexpr const char* kImage = "image";
  static constexpr const char* kLength = "length";
  static constexpr std::uint32_t kSide = 16;  // of a block: the paper does not say

  [[nodiscard]] std::uint32_t side() const {
    return kSide * std::max(2U, static_cast<std::uint32_t>(std::lround(256.0 / kSide * std::sqrt(scale()))));
  }
  [[nodiscard]] std::uint32_t rounds() const { return variants().number(kLength); }
  [[nodiscard]] Colours picture(std::uint32_t side) const {
    constexpr std::array<std::uint32_t, 4> kCells = {64, 16, 4, 1};
    const std::uint32_t image = variants().number(kImage);
    return image == 1 ? disc(side) : patches(side, kCells.at(image - 2), options().seed);
  }

  // Undoes the rounds of each pixel's path, the last first: what was mixed must be the pixel's number.
  [[nodiscard]] tb::Verdict judge(const std::vector<std::uint32_t>& mixed, const Colours& colours) const {
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      const bool a = (colours[i] & 1U) != 0;
      const bool b = (colours[i] & 2U) != 0;
      std::uint32_t x = undo(mixed[i], b ? 0x85ebca6bU : 0x297a2d39U, b ? 13 : 14);
      x ^= a ? 0xff555555U : 0xff000000U;
      x = undo(x, a ? 0x2c1b3c6dU : 0x7feb352dU, a ? 15 : 16);
      if (x != i) {
        return {false, fmt::format("the number of pixel {} was mixed from {} instead of {}", i, x, i)};
      }
    }
    return {true, fmt::format("{} numbers are those of their paths", mixed.size())};
  }
  [[nodiscard]] std::uint32_t undo(std::uint32_t x, std::uint32_t multiplier, unsigned shift) const {
    std::uint32_t inverse = multiplier;  // of an odd number, right in its lowest three bits; each step doubles them
    for (unsigned step = 0; step < 4; ++step) {
      inverse *= 2 - multiplier * inverse;
    }
    for (std::uint32_t i = rounds(); i-- > 0;) {
      x = unshift((x - i) * inverse, shift + 1);
      x = unshift(x * inverse, shift);
    }
    return x;
  }
  // The x of which x ^ (x >> shift) is y.
  static std::uint32_t unshift(std::uint32_t y, unsigned shift) {
    std::uint32_t x = y;
    for (unsigned known = shift; known < 32; known += shift) {
      x = y ^ (x >> shift);
    }
    return x;
  }
};

const Register<tb::Workload, Synthetic> synthetic_entry{
    "synthetic", "two branches decided by the colours of 256 x 256 pixels; variants image=N, length=N"};

}  // namespace
}  // namespace heddle::workloads
