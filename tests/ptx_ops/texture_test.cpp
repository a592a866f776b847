// Textures and surfaces in PTX (sections 9.7.10 and 9.7.11): handles in registers and in variables, predicated fetches,
// surface accesses of all sizes and what becomes of accesses outside; against what the host knows of the texels.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "isa/interpreter.hpp"
#include "ptx/compile.hpp"
#include "tests/ptx_ops/kernel_text.hpp"

namespace heddle::ptx_ops {
namespace {

// A kernel of 32 threads with a texture of 40 words (word i is 1000 + i), linear memory, and a surface of 4 rows of 48
// bytes, 64 bytes apart (byte x of row y is 16 y + x); its output is 4 words a thread.
struct TextureRun {
  std::vector<std::uint32_t> output;
  std::vector<std::uint8_t> surface;
  std::string fault;
};

constexpr unsigned kSurfacePitch = 64;
constexpr unsigned kSurfaceRow = 48;
constexpr unsigned kSurfaceRows = 4;

TextureRun run_textures(const std::string& body, unsigned registers) {
  TextureRun result;
  const std::string text = header(64) +
                           ".global .texref named;\n"
                           ".visible .entry main(.param .u64 texture, .param .u64 surface, .param .u64 output)\n{\n"
                           "  .reg .b32 %r<20>; .reg .b16 %h<4>; .reg .b64 %t, %s, %out, %a<8>; .reg .pred %p<3>;\n"
                           "  ld.param.u64 %t, [texture]; ld.param.u64 %s, [surface]; ld.param.u64 %out, [output];\n"
                           "  mov.u32 %r0, %tid.x; mad.wide.u32 %out, %r0, 16, %out;\n"
                           "  and.b32 %r1, %r0, 1; setp.ne.u32 %p1, %r1, 0;\n" +
                           body + "\n  ret;\n}\n";
  isa::Module module;
  try {
    ptx::CompileOptions options;
    options.max_registers = registers;
    module = ptx::compile(text, "t.ptx", options);
  } catch (const InputError& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
    return result;
  }
  isa::DeviceMemory memory;
  load_module(module, memory);
  const std::uint64_t words = memory.allocate("words", 160);
  for (std::uint32_t i = 0; i < 40; ++i) memory.put(words + 4 * i, 1000 + i);
  const std::uint64_t bytes = memory.allocate("bytes", kSurfacePitch * kSurfaceRows);
  for (unsigned y = 0; y < kSurfaceRows; ++y) {
    for (unsigned x = 0; x < kSurfacePitch; ++x) memory.put(bytes + y * kSurfacePitch + x, std::uint8_t(16 * y + x));
  }
  const std::uint64_t output = memory.allocate("output", 32 * 16);
  isa::TextureDescriptor of;
  of.base = words;
  of.width = 40;
  of.row_bytes = of.pitch = 160;
  of.kind = isa::TexelKind::unsigned_integer;
  of.zero_outside = true;
  const std::uint64_t texture = memory.add_texture("texture", of);
  isa::TextureDescriptor plane;
  plane.base = bytes;
  plane.width = plane.row_bytes = kSurfaceRow;
  plane.height = kSurfaceRows;
  plane.pitch = kSurfacePitch;
  plane.channel_bytes = 1;
  plane.kind = isa::TexelKind::unsigned_integer;
  const std::uint64_t arguments[] = {texture, memory.add_texture("surface", plane), output};
  memory.put(module.variables.at(0).address, texture);  // the reference is bound
  isa::LaunchRequest request{"main", {}, {32, 1, 1}, 0, std::vector<std::uint8_t>(sizeof arguments)};
  std::memcpy(request.parameters.data(), arguments, sizeof arguments);
  isa::RetirementHash hash;
  const isa::InterpreterResult run = interpret(module, request, memory, hash);
  if (run.fault) result.fault = describe(*run.fault, module);
  result.output.resize(128);
  memory.read(output, std::as_writable_bytes(std::span(result.output)));
  result.surface.resize(kSurfacePitch * kSurfaceRows);
  memory.read(bytes, std::as_writable_bytes(std::span(result.surface)));
  return result;
}

// With many registers and with few.
TextureRun run_both(const std::string& body) {
  TextureRun many = run_textures(body, 63);
  const TextureRun few = run_textures(body, 14);
  EXPECT_EQ(many.output, few.output);
  EXPECT_EQ(many.surface, few.surface);
  EXPECT_EQ(many.fault.empty(), few.fault.empty());
  return many;
}

TEST(PtxTexture, FetchesByEveryKindOfHandle) {
  for (const char* const handle : {"[%t, {%r2}]", "[%t, %r2]", "[named, {%r2}]", "[%a0, {%r2}]"}) {
    const TextureRun run = run_both(std::string("  mov.u64 %a0, named;\n  add.u32 %r2, %r0, 20;\n") +
                                    "  tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, " + handle +
                                    ";\n  st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};\n");
    ASSERT_EQ(run.fault, "");
    for (unsigned i = 0; i < 32; ++i) {
      ASSERT_EQ(run.output[4 * i], i < 20 ? 1020 + i : 0) << handle << " of thread " << i;
      ASSERT_EQ(run.output[4 * i + 1] | run.output[4 * i + 2] | run.output[4 * i + 3], 0U);
    }
  }
}

TEST(PtxTexture, PredicatedFetchesKeepWhatWasThere) {
  for (const char* const handle : {"%t", "named"}) {
    const TextureRun run = run_both(std::string("  mov.u32 %r3, 7;\n  @%p1 tex.1d.v4.u32.s32 {%r3, _, _, _}, [") +
                                    handle + ", {%r0}];\n  st.global.u32 [%out], %r3;\n");
    for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(run.output[4 * i], i % 2 == 1 ? 1000 + i : 7U);
  }
}

TEST(PtxTexture, DestinationsMayBeSources) {
  const TextureRun run = run_both(
      "  mov.u32 %r3, %r0;\n  tex.1d.v4.u32.s32 {%r3, %r0, _, _}, [%t, {%r3}];\n  st.global.v2.u32 [%out], {%r3, "
      "%r0};\n");
  for (unsigned i = 0; i < 32; ++i) {
    ASSERT_EQ(run.output[4 * i], 1000 + i);
    ASSERT_EQ(run.output[4 * i + 1], 0U);
  }
}

TEST(PtxTexture, AnswersQueries) {
  const TextureRun run = run_both(
      "  txq.width.b32 %r3, [%t];\n  txq.height.b32 %r4, [named];\n  suq.width.b32 %r5, [%s];\n  suq.height.b32 %r6, "
      "[%s];\n  st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};\n");
  EXPECT_EQ(std::vector<std::uint32_t>(run.output.begin(), run.output.begin() + 4),
            (std::vector<std::uint32_t>{40, 1, kSurfaceRow, kSurfaceRows}));
}

// What a load of so many bytes at byte x of row y yields, as bytes.
std::vector<std::uint8_t> surface_bytes(int x, int y, unsigned size, bool clamp) {
  std::vector<std::uint8_t> bytes(size);
  if (clamp) {
    x = std::clamp(x, 0, static_cast<int>(kSurfaceRow - size));
    y = std::clamp(y, 0, static_cast<int>(kSurfaceRows) - 1);
  }
  const bool inside = x >= 0 && x + static_cast<int>(size) <= static_cast<int>(kSurfaceRow) && y >= 0 &&
                      y < static_cast<int>(kSurfaceRows);
  for (unsigned i = 0; i < size && inside; ++i) bytes[i] = static_cast<std::uint8_t>(16 * y + x + static_cast<int>(i));
  return bytes;
}

TEST(PtxSurface, LoadsOfAllSizesInsideAndOutside) {
  struct Form {
    const char* type;
    unsigned size;
    const char* values;
    const char* after;  // puts the value into %r3..%r6
  };
  const Form forms[] = {{"b8", 1, "%h0", "  cvt.u32.u16 %r3, %h0; and.b32 %r3, %r3, 255;\n"},
                        {"b16", 2, "{%h0}", "  cvt.u32.u16 %r3, %h0;\n"},
                        {"b32", 4, "%r3", ""},
                        {"v2.b32", 8, "{%r3, %r4}", ""},
                        {"b64", 8, "%a1", "  mov.b64 {%r3, %r4}, %a1;\n"},
                        {"v4.b32", 16, "{%r3, %r4, %r5, %r6}", ""},
                        {"v4.b8", 4, "{%h0, %h1, %h2, %h3}",
                         "  cvt.u32.u16 %r3, %h0; cvt.u32.u16 %r7, %h1; cvt.u32.u16 %r8, %h2; cvt.u32.u16 %r9, %h3;\n"
                         "  shl.b32 %r7, %r7, 8; shl.b32 %r8, %r8, 16; shl.b32 %r9, %r9, 24;\n"
                         "  or.b32 %r3, %r3, %r7; or.b32 %r3, %r3, %r8; or.b32 %r3, %r3, %r9;\n"}};
  for (const Form& form : forms) {
    for (const bool clamp : {false, true}) {
      for (const bool two : {false, true}) {
        // x = size (thread % 8 - 2), y = thread / 8 - 1 (thread 31 below the last row by one more).
        const std::string at = two ? "{%r10, %r11}" : "{%r10}";
        const TextureRun run = run_both(
            "  mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0;\n  and.b32 %r10, %r0, 7; "
            "sub.u32 %r10, %r10, 2; mul.lo.u32 %r10, %r10, " +
            std::to_string(form.size) + ";\n  shr.u32 %r11, %r0, 3; mul.lo.u32 %r11, %r11, 2; sub.u32 %r11, " +
            "%r11, 1;\n  suld.b." + (two ? "2d." : "1d.") + form.type + (clamp ? ".clamp " : ".zero ") + form.values +
            ", [%s, " + at + "];\n" + form.after + "  st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6};\n");
        ASSERT_EQ(run.fault, "") << form.type;
        for (unsigned i = 0; i < 32; ++i) {
          const int x = (static_cast<int>(i % 8) - 2) * static_cast<int>(form.size);
          const int y = two ? static_cast<int>(i / 8) * 2 - 1 : 0;
          std::uint8_t actual[16];
          std::memcpy(actual, &run.output[4 * i], 16);
          ASSERT_EQ(std::vector<std::uint8_t>(actual, actual + form.size), surface_bytes(x, y, form.size, clamp))
              << form.type << (two ? " 2d" : " 1d") << (clamp ? " clamp" : " zero") << " of thread " << i;
        }
      }
    }
  }
}

TEST(PtxSurface, StoresWhatIsInside) {
  // Threads 0..31 store at x = 24 + 4 (thread % 8), y = thread / 8 - 1: of twelve words a row, rows -1 to 2.
  const TextureRun run = run_both(
      "  and.b32 %r10, %r0, 7; shl.b32 %r10, %r10, 2; add.u32 %r10, %r10, 24; shr.u32 %r11, %r0, 3; sub.u32 %r11, "
      "%r11, 1;\n  add.u32 %r3, "
      "%r0, 0xABCD0000;\n  sust.b.2d.b32.zero [%s, {%r10, %r11}], {%r3};\n  @%p1 sust.b.2d.b8.zero [%s, {3, 3}], "
      "77;\n");
  ASSERT_EQ(run.fault, "");
  for (unsigned y = 0; y < kSurfaceRows; ++y) {
    for (unsigned x = 0; x < kSurfacePitch; ++x) {
      const std::uint32_t word = 0xABCD0000U + (y + 1) * 8 + x / 4 - 6;
      std::uint8_t expected = y < 3 && x >= 24 && x < kSurfaceRow ? static_cast<std::uint8_t>(word >> (8 * (x % 4)))
                                                                  : static_cast<std::uint8_t>(16 * y + x);
      expected = x == 3 && y == 3 ? 77 : expected;
      ASSERT_EQ(run.surface[y * kSurfacePitch + x], expected) << x << ", " << y;
    }
  }
}

TEST(PtxSurface, TrapsOutside) {
  EXPECT_EQ(run_both("  suld.b.2d.b32.trap %r3, [%s, {44, 3}];\n").fault, "");
  EXPECT_EQ(run_both("  suld.b.2d.b32.trap %r3, [%s, {48, 3}];\n").fault.substr(0, 24), "trap in kernel 'main' at");
  EXPECT_EQ(run_both("  suld.b.2d.b32.trap %r3, [%s, {44, 4}];\n").fault.substr(0, 24), "trap in kernel 'main' at");
  EXPECT_EQ(run_both("  suld.b.1d.b32.trap %r3, [%s, {-4}];\n").fault.substr(0, 24), "trap in kernel 'main' at");
  EXPECT_EQ(run_both("  suld.b.1d.b32.trap %r3, [%s, {2}];\n  st.global.u32 [%out], %r3;\n").fault.substr(0, 17),
            "misaligned access");
  EXPECT_EQ(run_both("  sust.b.1d.v4.b32.trap [%s, {48}], {%r0, %r0, %r0, %r0};\n").fault.substr(0, 24),
            "trap in kernel 'main' at");
  EXPECT_EQ(run_both("  mov.u64 %a0, 16;\n  tex.1d.v4.u32.s32 {%r3, _, _, _}, [%a0, {%r0}];\n  st.global.u32 [%out], "
                     "%r3;\n")
                .fault.substr(0, 40),
            "fetch without a texture in kernel 'main'");
}

}  // namespace
}  // namespace heddle::ptx_ops
