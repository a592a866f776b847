// Texture fetches and surface accesses on the model and in the reference interpreter, on every kind of machine: equal
// values, equal hashes, through the texture cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tests/model/machines.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("On/Textures.*")

namespace heddle::texture_test {
namespace {

// Each thread of a block of 128 adds up: a texel of linear memory, of its own and of a place scattered by its number;
// a filtered fetch, for odd threads on a path of their own; and puts its sum on a surface, two to the right.
constexpr const char* kText = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 linear, .param .u64 image, .param .u64 surface, .param .u64 out)
{
  .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %a<8>; .reg .pred %p<3>;
  ld.param.u64 %a0, [linear]; ld.param.u64 %a1, [image]; ld.param.u64 %a2, [surface]; ld.param.u64 %a3, [out];
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  tex.1d.v4.u32.s32 {%r4, _, _, _}, [%a0, {%r3}];
  mul.lo.u32 %r5, %r3, 97; and.b32 %r5, %r5, 1023;
  tex.1d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%a0, {%r5}];
  add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, %r9;
  and.b32 %r10, %r3, 1; setp.ne.u32 %p1, %r10, 0;
  cvt.rn.f32.u32 %f0, %r2; mul.f32 %f0, %f0, 0f3EBD70A4;
  cvt.rn.f32.u32 %f1, %r0; mul.f32 %f1, %f1, 0f3FA66666;
  mov.f32 %f2, 0f00000000; mov.f32 %f3, 0f00000000;
  @!%p1 bra JOIN;
  tex.2d.v4.f32.f32 {%f2, %f3, _, _}, [%a1, {%f0, %f1}];
JOIN:
  @!%p1 tex.2d.v4.f32.f32 {%f2, %f3, _, _}, [%a1, {%f1, %f0}];
  add.f32 %f2, %f2, %f3;
  mov.b32 %r11, %f2; add.u32 %r4, %r4, %r11;
  mul.wide.u32 %a4, %r3, 4; add.u64 %a4, %a3, %a4; st.global.u32 [%a4], %r4;
  shl.b32 %r12, %r2, 2; add.u32 %r12, %r12, 8;
  sust.b.2d.b32.zero [%a2, {%r12, %r0}], {%r4};
  setp.lt.u32 %p2, %r2, 120;
  @%p2 suld.b.2d.b32.clamp {%r13}, [%a2, {%r12, %r0}];
  @%p2 add.u32 %r4, %r4, %r13;
  st.global.u32 [%a4], %r4;
  ret;
}
)";

constexpr unsigned kBlock = 128;
constexpr unsigned kGrid = 6;
constexpr unsigned kWide = 40;
constexpr unsigned kHigh = 50;

isa::TextureDescriptor descriptor(std::uint64_t base, unsigned width, unsigned height, unsigned channels) {
  isa::TextureDescriptor out;
  out.base = base;
  out.width = width;
  out.height = height;
  out.channels = static_cast<std::uint8_t>(channels);
  out.row_bytes = out.pitch = width * channels * 4;
  return out;
}

struct Outcome {
  std::vector<std::uint32_t> sums, surface;
};

Outcome outcome_of(tb::Executor& executor, const isa::Module& module) {
  executor.load(module);
  isa::DeviceMemory& memory = executor.memory();
  std::vector<std::uint32_t> words(4096);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761U);
  std::vector<float> pixels(std::size_t{kWide} * kHigh * 2);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(words[i] % 1000) / 7.0F;
  const std::uint64_t linear = memory.allocate("linear", words.size() * 4);
  const std::uint64_t image = memory.allocate("image", pixels.size() * 4);
  const std::uint64_t rows = memory.allocate("rows", std::size_t{kBlock} * kGrid * 4);
  const std::uint64_t out = memory.allocate("out", std::size_t{kBlock} * kGrid * 4);
  memory.write(linear, std::as_bytes(std::span(words)));
  memory.write(image, std::as_bytes(std::span(pixels)));
  isa::TextureDescriptor of_linear = descriptor(linear, 1000, 1, 4);
  of_linear.kind = isa::TexelKind::unsigned_integer;
  of_linear.zero_outside = true;
  isa::TextureDescriptor of_image = descriptor(image, kWide, kHigh, 2);
  of_image.linear = true;
  of_image.address = {isa::AddressMode::border, isa::AddressMode::clamp};
  const std::uint64_t arguments[] = {memory.add_texture("linear texture", of_linear),
                                     memory.add_texture("image texture", of_image),
                                     memory.add_texture("surface", descriptor(rows, kBlock, kGrid, 1)), out};
  isa::LaunchRequest request;
  request.kernel = "k";
  request.block = {kBlock, 1, 1};
  request.grid = {kGrid, 1, 1};
  request.parameters.resize(sizeof arguments);
  std::memcpy(request.parameters.data(), arguments, sizeof arguments);
  executor.launch(request);
  Outcome outcome{std::vector<std::uint32_t>(kBlock * kGrid), std::vector<std::uint32_t>(kBlock * kGrid)};
  memory.read(out, std::as_writable_bytes(std::span(outcome.sums)));
  memory.read(rows, std::as_writable_bytes(std::span(outcome.surface)));
  return outcome;
}

class Textures : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Textures, ComeToTheSameAsInTheInterpreter) {
  const hw::Machine machine = test::machines()[GetParam()];
  const isa::Module module = ptx::compile(kText, "k.ptx", ptx::CompileOptions(tb::code_options(machine)));
  tb::Device device(machine);
  tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
  const Outcome actual = outcome_of(device, module);
  const Outcome expected = outcome_of(reference, module);
  EXPECT_EQ(actual.sums, expected.sums);
  EXPECT_EQ(actual.surface, expected.surface);
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
  // What the host knows without sampling: the surface has each thread's first sum two to the right of its place.
  EXPECT_EQ(expected.surface[0], 0U);
  EXPECT_EQ(expected.surface[2] * 2, expected.sums[0]);
  // Lines through the texture cache, none by the L1: all that is read of the textures comes in at least once.
  const hw::Totals totals = device.totals();
  EXPECT_EQ(totals.texture.accesses, totals.texture.hits + totals.texture.misses);
  EXPECT_EQ(totals.texture.loads, totals.texture.accesses);
  EXPECT_GT(totals.texture.accesses, 3U * kBlock * kGrid / 32);
}

INSTANTIATE_TEST_SUITE_P(On, Textures, ::testing::Range<std::size_t>(0, test::machines().size()),
                         [](const auto& info) { return test::machines()[info.param].name; });

// One warp, one line: a fetch counts each line once however many texels lie in it.
TEST(TextureCache, CountsLinesOfAllTexels) {
  const char* const text = R"(
.version 7.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 image)
{
  .reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %a<2>;
  ld.param.u64 %a0, [image];
  mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; mov.f32 %f1, 0f3F800000;
  tex.2d.v4.f32.f32 {%f2, _, _, _}, [%a0, {%f0, %f1}];
  tex.2d.v4.f32.f32 {%f3, _, _, _}, [%a0, {%f0, %f1}];
  add.f32 %f2, %f2, %f3;
  mov.b32 %r1, %f2; st.shared.u32 [place], %r1;
  ret;
}
)";
  std::string with_place = text;
  with_place.insert(with_place.find(".visible"), ".shared .align 4 .b8 place[4];\n");
  hw::Machine machine;
  tb::Device device(machine);
  const isa::Module module = ptx::compile(with_place, "k.ptx", ptx::CompileOptions(tb::code_options(machine)));
  device.load(module);
  const std::uint64_t image = device.memory().allocate("image", 128 * 4);  // four rows of one line each
  isa::TextureDescriptor of = descriptor(image, 32, 4, 1);
  of.linear = true;
  const std::uint64_t handle = device.memory().add_texture("image texture", of);
  isa::LaunchRequest request;
  request.kernel = "k";
  request.block = {32, 1, 1};
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &handle, 8);
  device.launch(request);
  // y = 1 lies between rows 0 and 1: two lines, absent the first time and there the second.
  hw::Totals totals = device.totals();
  EXPECT_EQ(totals.texture.accesses, 4U);
  EXPECT_EQ(totals.texture.misses, 2U);
  EXPECT_EQ(totals.texture.fills, 2U);
  EXPECT_EQ(totals.core.memory_instructions, 2U);
  EXPECT_EQ(totals.l1d.accesses, 0U);
  device.launch(request);  // begins with an empty cache
  totals = device.totals();
  EXPECT_EQ(totals.texture.misses, 4U);
}

// The fault in model and interpreter, with kernel, line and thread.
std::string fault_of(tb::Executor& executor, std::uint64_t handle, bool gone) {
  const isa::Module module = ptx::compile(
      ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 t)\n{\n.reg .b32 %r<3>; .reg .b64 "
      "%a<2>;\nld.param.u64 %a0, [t];\nmov.u32 %r0, %tid.x;\ntex.1d.v4.u32.s32 {%r1, _, _, _}, [%a0, {%r0}];\n"
      "st.global.u32 [%a0], %r1;\nret;\n}\n",
      "k.ptx", {});
  executor.load(module);
  const std::uint64_t buffer = executor.memory().allocate("buffer", 256);
  const std::uint64_t texture = executor.memory().add_texture("texture", descriptor(buffer, 64, 1, 1));
  if (gone) executor.memory().release(buffer);
  handle = handle == 1 ? texture : handle;
  isa::LaunchRequest request;
  request.kernel = "k";
  request.block = {8, 1, 1};
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &handle, 8);
  try {
    executor.launch(request);
  } catch (const SimulatedFault& fault) {
    return fault.what();
  }
  return "";
}

TEST(TextureFaults, NameKernelLineAndThread) {
  const auto both = [](std::uint64_t handle, bool gone) {
    tb::Device device{hw::Machine{}};
    tb::ReferenceExecutor reference{isa::InterpreterOptions{}};
    const std::string of_model = fault_of(device, handle, gone);
    EXPECT_EQ(of_model, fault_of(reference, handle, gone));
    return of_model;
  };
  EXPECT_THAT(both(0, false), ::testing::AllOf(::testing::StartsWith("fetch without a texture in kernel 'k' at PC "),
                                               ::testing::HasSubstr("k.ptx:9, block (0, 0, 0), thread (0, 0, 0)"),
                                               ::testing::HasSubstr("the handle is 0: a texture reference")));
}

TEST(TextureFaults, StrayHandlesAreNoTextures) {
  tb::Device device{hw::Machine{}};
  EXPECT_THAT(fault_of(device, 0x1234, false), ::testing::HasSubstr("0x1234 is the handle of no texture"));
}

TEST(TextureFaults, TexelsOfReleasedMemoryAreOutOfBounds) {
  tb::Device device{hw::Machine{}};
  EXPECT_THAT(fault_of(device, 1, true),
              ::testing::AllOf(::testing::StartsWith("out-of-bounds access in kernel 'k'"),
                               ::testing::HasSubstr("4 bytes at address"), ::testing::HasSubstr("texture fetch, ")));
}

TEST(TextureFaults, DescriptorsAreReadOnly) {
  tb::Device device{hw::Machine{}};
  EXPECT_THAT(fault_of(device, 1, false),
              ::testing::AllOf(::testing::StartsWith("out-of-bounds access in kernel 'k'"),
                               ::testing::HasSubstr("k.ptx:10"), ::testing::HasSubstr("store, ")));
}

}  // namespace
}  // namespace heddle::texture_test
