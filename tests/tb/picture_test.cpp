// Buffers as pictures.
#include "tb/device/picture.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "studies/pages/report/png.hpp"
#include "tests/support/launch_folder.hpp"

namespace heddle::tb {
namespace {

using isa::Type;
using Pixels = std::vector<std::uint8_t>;

template <class T>
Pixels pixels_of(unsigned width, unsigned height, PixelFormat format, Type type, const std::vector<T>& elements) {
  const PictureShape shape{width, height, format, type};
  EXPECT_EQ(shape.objection(), std::nullopt);
  EXPECT_EQ(shape.elements(), elements.size());
  const Picture made = make_picture("p", shape, std::as_bytes(std::span(elements)));
  EXPECT_EQ(made.width, width);
  EXPECT_EQ(made.height, height);
  return made.pixels;
}

TEST(Picture, HasThePixelsThatItsFormatSays) {
  using enum PixelFormat;
  EXPECT_EQ(pixels_of<std::uint8_t>(2, 1, grey, Type::u8, {0, 200}), (Pixels{0, 0, 0, 200, 200, 200}));
  EXPECT_EQ(pixels_of<std::uint8_t>(1, 2, rgb, Type::b8, {1, 2, 3, 253, 254, 255}), (Pixels{1, 2, 3, 253, 254, 255}));
  EXPECT_EQ(pixels_of<std::uint8_t>(1, 1, rgba, Type::u8, {1, 2, 3, 9}), (Pixels{1, 2, 3}));
  EXPECT_EQ(pixels_of<std::uint32_t>(1, 2, rgba, Type::u32, {0xff030201U, 0x000c0b0aU}), (Pixels{1, 2, 3, 10, 11, 12}));
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(pixels_of<float>(2, 1, rgb, Type::f32, {0, 0.5F, 1, -3, 7, kNaN}), (Pixels{0, 128, 255, 0, 255, 0}));
  EXPECT_EQ(pixels_of<double>(1, 1, rgba, Type::f64, {0.2, 0.4, 0.6, 0}), (Pixels{51, 102, 153}));
  EXPECT_EQ(pixels_of<std::uint16_t>(1, 1, grey, Type::f16, {0x3800}), (Pixels{128, 128, 128}));  // 0.5
}

TEST(Picture, IsScaledFromItsSmallestToItsLargestElement) {
  using enum PixelFormat;
  EXPECT_EQ(pixels_of<std::int32_t>(3, 1, scaled, Type::s32, {-10, 0, 40}),
            (Pixels{0, 0, 0, 51, 51, 51, 255, 255, 255}));
  EXPECT_EQ(pixels_of<std::uint64_t>(2, 1, scaled, Type::u64, {7, 7}), (Pixels{0, 0, 0, 0, 0, 0}));
  constexpr double kMost = std::numeric_limits<double>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(pixels_of<double>(5, 1, scaled, Type::f64, {-kMost, 0, kMost, kInfinity, -kInfinity}),
            (Pixels{0, 0, 0, 128, 128, 128, 255, 255, 255, 255, 255, 255, 0, 0, 0}));
}

TEST(Picture, FormatsHaveTheirTypes) {
  using enum PixelFormat;
  const auto fits = [](PixelFormat format, Type type) { return !PictureShape{1, 1, format, type}.objection(); };
  EXPECT_TRUE(fits(grey, Type::f32));
  EXPECT_FALSE(fits(grey, Type::u32));
  EXPECT_FALSE(fits(grey, Type::s8));
  EXPECT_FALSE(fits(rgb, Type::u32));
  EXPECT_TRUE(fits(rgba, Type::b32));
  EXPECT_FALSE(fits(rgba, Type::s32));
  EXPECT_TRUE(fits(scaled, Type::s16));
}

TEST(Picture, IsReducedToMeansOfSquares) {
  const Picture picture{"p", 3, 2, {10, 0, 0, 20, 0, 0, 100, 7, 8, 30, 0, 0, 41, 0, 0, 201, 9, 8}};
  EXPECT_EQ(reduced(picture, 3).pixels, picture.pixels);
  const Picture half = reduced(picture, 2);
  EXPECT_EQ(half.width, 2U);
  EXPECT_EQ(half.height, 1U);
  EXPECT_EQ(half.pixels, (Pixels{25, 0, 0, 151, 8, 8}));  // 25.25; the second is of the two pixels that are left
}

TEST(Base64, AsTheStandardHasIt) {
  const auto encoded = [](std::string_view text) {
    return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encoded("\xff\xef\xbe"), "/+++");
  for (const char* const text : {"", "f", "fo", "foo", "foobar", "\xff\xef\xbe"}) {
    const std::optional<Pixels> again = from_base64(encoded(text));
    ASSERT_TRUE(again);
    EXPECT_EQ(std::string(again->begin(), again->end()), text);
  }
  for (const char* const wrong : {"Z", "Zg=", "Zg", "Zh==", "Z===", "====", "Zm9v!m9v", "Zg==Zg=="}) {
    EXPECT_FALSE(from_base64(wrong)) << wrong;
  }
}

// The header says the sides and how a pixel is made; the pixels are a stream that zlib unpacks to lines, each behind
// its filter's number.
TEST(Png, HasThePixels) {
  const Pixels pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Pixels file = pages::png(2, 2, pixels);
  const Pixels begin = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D',
                        'R',  0,   0,   0,   2,    0,    0,    0,    2, 8, 2, 0,  0,   0};
  ASSERT_GT(file.size(), begin.size());
  EXPECT_TRUE(std::equal(begin.begin(), begin.end(), file.begin()));
  const std::size_t data = begin.size() + 4;  // behind the header's checksum
  const std::size_t packed = std::size_t{file[data + 2]} << 8U | file[data + 3];
  Pixels lines(64);
  uLongf size = lines.size();
  ASSERT_EQ(uncompress(lines.data(), &size, &file[data + 8], packed), Z_OK);
  lines.resize(size);
  EXPECT_EQ(lines, (Pixels{0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 9, 10, 11, 12}));
  EXPECT_THROW((void)pages::png(2, 3, pixels), InternalError);
  EXPECT_THROW((void)pages::png(0, 0, {}), InternalError);
}

// Keeps what is shown, and when.
class Shown final : public Executor {
 public:
  [[nodiscard]] isa::DeviceMemory& memory() override { return inner_.memory(); }
  void load(isa::Module module) override { inner_.load(std::move(module)); }
  [[nodiscard]] const isa::Module& module() const override { return inner_.module(); }
  void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) override {
    inner_.set_constants(offset, bytes);
  }
  void launch(const isa::LaunchRequest& request) override {
    EXPECT_TRUE(pictures.empty());
    inner_.launch(request);
  }
  [[nodiscard]] const isa::RetirementHash& retirement() const override { return inner_.retirement(); }
  void show(const Picture& picture) override { pictures.push_back(picture); }
  std::vector<Picture> pictures;

 private:
  ReferenceExecutor inner_;
};

TEST(Picture, OfALaunchFileIsWhatItsKernelsHaveLeft) {
  const test::LaunchFolder folder;
  folder.write("k.ptx", R"(.version 6.0
.target sm_60
.address_size 32
.visible .entry paint(.param .u32 data) {
  .reg .u32 %r<3>;
  ld.param.u32 %r1, [data];
  mov.u32 %r2, 0x00102030;
  st.global.u32 [%r1+4], %r2;
  ret;
}
)");
  folder.write("launch.toml", R"(ptx = "k.ptx"
[[buffer]]
name = "pixels"
type = "u32"
count = 2
value = 5
image = { width = 2, height = 1, format = "rgba" }
[[buffer]]
name = "other"
type = "u32"
count = 2
[[launch]]
entry = "paint"
grid = [1]
block = [1]
arguments = [{ buffer = "pixels" }]
)");
  const LaunchFile file = LaunchFile::read(folder.path("launch.toml"));
  Shown executor;
  executor.load(file.compile(ptx::CodeOptions{}));
  EXPECT_FALSE(file.run(executor, std::nullopt).checked);
  ASSERT_EQ(executor.pictures.size(), 1U);
  EXPECT_EQ(executor.pictures[0].name, "pixels");
  EXPECT_EQ(executor.pictures[0].pixels, (Pixels{5, 0, 0, 0x30, 0x20, 0x10}));
}

TEST(Picture, IsShownFromDeviceMemory) {
  Shown executor;
  const std::uint64_t address = executor.memory().allocate("buffer", 4);
  executor.memory().put<std::uint32_t>(address, 0x44332211U);
  show_picture(executor, "mine", address, {1, 1, PixelFormat::rgba, Type::u8});
  ASSERT_EQ(executor.pictures.size(), 1U);
  EXPECT_EQ(executor.pictures[0].name, "mine");
  EXPECT_EQ(executor.pictures[0].pixels, (Pixels{0x11, 0x22, 0x33}));
  EXPECT_THROW(show_picture(executor, "mine", address, {1, 1, PixelFormat::grey, Type::u32}), InternalError);
}

}  // namespace
}  // namespace heddle::tb
