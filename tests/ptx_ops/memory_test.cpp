// Loads and stores (PTX ISA, sections 9.7.9.8 to 9.7.9.13): every element type as scalar and vector in every space, by
// its own address and by a generic one; sub-word extension; initialised variables and pointers to symbols.
#include <gtest/gtest.h>

#include "tests/ptx_ops/program.hpp"

namespace heddle::ptx_ops {
namespace {

struct Element {
  const char* name;
  unsigned bytes;
  bool is_signed;
};
constexpr Element kElements[] = {{"b8", 1, false},  {"u8", 1, false},  {"s8", 1, true},   {"b16", 2, false},
                                 {"u16", 2, false}, {"s16", 2, true},  {"b32", 4, false}, {"u32", 4, false},
                                 {"s32", 4, true},  {"f32", 4, false}, {"b64", 8, false}, {"u64", 8, false},
                                 {"s64", 8, true},  {"f64", 8, false}};

std::vector<u32> pattern(std::size_t words) {
  std::vector<u32> values;
  for (std::size_t i = 0; i < words; ++i) values.push_back(static_cast<u32>((i + 3) * 0x9e3779b97f4a7c15ULL >> 20U));
  return values;
}

// The 64-bit values of 16 bytes' elements as a load extends them.
std::vector<u64> elements_of(const u32* words, const Element& element, unsigned count) {
  std::vector<u64> values;
  for (unsigned i = 0; i < count; ++i) {
    u64 value = 0;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(words) + i * element.bytes, element.bytes);
    const unsigned shift = 64 - 8 * element.bytes;
    if (element.is_signed) value = static_cast<u64>(static_cast<s64>(value << shift) >> shift);
    values.push_back(value);
  }
  return values;
}

// Copies 16 bytes per thread from the input into the space, loads them as vectors of the type through the address
// `how`, and writes every element as 64 bits, and the vector once more with st of the same type.
struct Space {
  const char* name;
  const char* declaration;  // of the place, 16 bytes a thread
  bool shared;              // one place per thread inside one variable
};
constexpr Space kSpaces[] = {{"global", nullptr, false},
                             {"shared", ".shared .align 16 .b8 place[1024];", true},
                             {"local", ".local .align 16 .b8 place[32];", false}};
constexpr unsigned kThreadsHere = 40;

std::string registers(const Element& element, const char* stem, unsigned count) {
  // Integers of 8 bits live in registers of 16.
  const std::string type = element.bytes == 1 ? (element.is_signed ? "s16" : "b16") : element.name;
  return "  .reg ." + type + " " + stem + "<" + std::to_string(count) + ">;\n";
}
std::string vector_of(const char* stem, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::string(stem) + std::to_string(i);
  return count == 1 ? text : "{" + text + "}";
}

// The address of the thread's 16 bytes of a space in %at; with a generic address in the end.
std::string place(const Space& space, bool generic) {
  std::string text = "  .reg .u$p %at, %offset;\n  .reg .u32 %bytes;\n  shl.b32 %bytes, %tid0, 4;\n";
  text += "  cvt.u$p.u32 %offset, %bytes;\n";
  if (space.declaration == nullptr) {
    text += "  add.u$p %at, %out, %offset;\n  add.u$p %at, %at, " + std::to_string(kThreadsHere * 64) + ";\n";
  } else {
    text += "  mov.u$p %at, place;\n";
    if (space.shared) text += "  add.u$p %at, %at, %offset;\n";
  }
  if (generic) text += std::string("  cvta.") + space.name + ".u$p %at, %at;\n";
  return text;
}

Program program_for(const Space& space, const Element& element, unsigned count, bool generic) {
  const std::string where = generic ? "" : std::string(".") + space.name;
  const std::string vector = count == 1 ? "" : ".v" + std::to_string(count);
  Program program;
  program.block = kThreadsHere;
  program.input = pattern(kThreadsHere * 4);
  // Per thread: 4 elements of 64 bits and the 16 bytes stored again; behind all, the places of .global.
  program.output_words = kThreadsHere * 20;
  std::string& body = program.body;
  if (space.declaration != nullptr) body += std::string("  ") + space.declaration + "\n";
  body += place(space, generic);
  body += "  .reg .b32 %w<4>;\n  add.u$p %in, %in, %offset;\n  ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%in];\n";
  body += "  st" + where + ".v4.b32 [%at], {%w0, %w1, %w2, %w3};\n";
  body += registers(element, "%v", count) + "  .reg .b64 %x;\n  .reg .u$p %to;\n";
  body += "  shl.b$p %to, %offset, 1;\n  add.u$p %to, %to, %out;\n";
  body += "  ld" + where + vector + "." + element.name + " " + vector_of("%v", count) + ", [%at];\n";
  for (unsigned i = 0; i < count; ++i) {
    const std::string value = "%v" + std::to_string(i);
    std::string type = element.name;
    if (element.bytes == 8 || type[0] == 'f') {
      body += element.bytes == 8 ? "  mov.b64 %x, " + value + ";\n" : "  mov.b64 %x, {" + value + ", 0};\n";
    } else {
      if (type[0] == 'b') type[0] = 'u';
      // From 16-bit registers as a whole: the load has extended what is smaller.
      if (element.bytes == 1) type = element.is_signed ? "s16" : "u16";
      body += std::string("  cvt.") + (element.is_signed ? "s64." : "u64.") + type + " %x, " + value + ";\n";
    }
    body += "  st.global.b64 [%to+" + std::to_string(8 * i) + "], %x;\n";
  }
  // Back through the space, 8 bytes further or at its start, then as words to the output.
  body += "  st" + where + vector + "." + element.name + " [%at], " + vector_of("%v", count) + ";\n";
  body += "  ld" + where + ".v4.b32 {%w0, %w1, %w2, %w3}, [%at];\n";
  body += "  add.u$p %to, %out, %offset;\n  st.global.v4.b32 [%to+" + std::to_string(kThreadsHere * 32) +
          "], {%w0, %w1, %w2, %w3};";
  return program;
}

TEST(PtxMemory, EveryTypeAndVectorInEverySpace) {
  for (const Space& space : kSpaces) {
    for (const Element& element : kElements) {
      for (const unsigned count : {1U, 2U, 4U}) {
        if (count * element.bytes > 16) continue;
        for (const bool generic : {false, true}) {
          SCOPED_TRACE(std::string(space.name) + " " + element.name + " v" + std::to_string(count) +
                       (generic ? " generic" : ""));
          const Program program = program_for(space, element, count, generic);
          const std::vector<u32> output = run(program);
          for (unsigned thread = 0; thread < kThreadsHere && !testing::Test::HasFailure(); ++thread) {
            const u32* bytes = &program.input[thread * 4];
            const std::vector<u64> expected = elements_of(bytes, element, count);
            std::vector<u64> found(count);
            std::memcpy(found.data(), &output[thread * 8], count * 8);
            EXPECT_EQ(found, expected) << "thread " << thread;
            EXPECT_EQ(std::memcmp(&output[kThreadsHere * 8 + thread * 4], bytes, 16), 0) << "thread " << thread;
          }
        }
      }
    }
  }
}

// A load of fewer bits than the register extends to all of it, a store takes the low bits.
TEST(PtxMemory, SubWordsInWiderRegisters) {
  struct Wide {
    const char* load;
    const char* type;
    u64 (*extend)(u32);
  };
  const Wide kWides[] = {{"u8", "u32", [](u32 x) { return u64{x & 0xffU}; }},
                         {"s8", "s32", [](u32 x) { return u64{static_cast<u32>(static_cast<std::int8_t>(x))}; }},
                         {"u16", "u32", [](u32 x) { return u64{x & 0xffffU}; }},
                         {"s16", "s32", [](u32 x) { return u64{static_cast<u32>(static_cast<s16>(x))}; }},
                         {"u8", "u64", [](u32 x) { return u64{x & 0xffU}; }},
                         {"s8", "s64", [](u32 x) { return static_cast<u64>(static_cast<std::int8_t>(x)); }},
                         {"u16", "b64", [](u32 x) { return u64{x & 0xffffU}; }},
                         {"s16", "b64", [](u32 x) { return static_cast<u64>(static_cast<s16>(x)); }},
                         {"u32", "u64", [](u32 x) { return u64{x}; }},
                         {"s32", "s64", [](u32 x) { return static_cast<u64>(static_cast<s32>(x)); }}};
  for (const Wide& wide : kWides) {
    SCOPED_TRACE(std::string("ld.") + wide.load + " into " + wide.type);
    const bool pair = std::string(wide.type).substr(1) == "64";
    Program program;
    program.block = 32;
    program.input = pattern(32);
    program.output_words = 32 * 4;
    program.body = std::string("  .reg .u$p %o;\n  .reg .") + wide.type +
                   " %v;\n  cvt.u$p.u32 %o, %tid0;\n  shl.b$p %o, %o, 2;\n"
                   "  add.u$p %in, %in, %o;\n  shl.b$p %o, %o, 2;\n  add.u$p %out, %out, %o;\n  ld.global." +
                   wide.load + " %v, [%in];\n  st.global.b" + (pair ? "64" : "32") + " [%out], %v;\n  st.global." +
                   wide.load + " [%out+8], %v;";
    const std::vector<u32> output = run(program);
    const unsigned width = std::stoi(std::string(wide.load).substr(1));
    for (unsigned thread = 0; thread < 32; ++thread) {
      const u64 found = output[thread * 4] | u64{output[thread * 4 + 1]} << 32U;
      EXPECT_EQ(found, wide.extend(program.input[thread]));
      const u32 mask = width == 32 ? ~0U : (1U << width) - 1;
      EXPECT_EQ(output[thread * 4 + 2], program.input[thread] & mask);
    }
  }
}

// Forms that name ordering or caching are the same load and store.
TEST(PtxMemory, CacheOperatorsAndOrderings) {
  Program program;
  program.block = 1;
  program.input = pattern(16);
  program.output_words = 32;
  const std::vector<std::string> loads = {
      "ld.global.ca",       "ld.global.cg", "ld.global.cs",          "ld.global.lu",          "ld.global.cv",
      "ld.volatile.global", "ld.global.nc", "ld.relaxed.gpu.global", "ld.acquire.sys.global", "ld.weak.global",
      "ldu.global",         "ld.volatile",  "ld.global.L2::128B",    "ld.relaxed.cta"};
  const std::vector<std::string> stores = {
      "st.global.wb",          "st.global.cg",          "st.global.cs",   "st.global.wt", "st.volatile.global",
      "st.relaxed.gpu.global", "st.release.sys.global", "st.weak.global", "st.volatile",  "st.relaxed.cta"};
  program.body = "  .reg .b32 %v;\n";
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const std::string offset = std::to_string(4 * i);
    program.body += "  " + loads[i] + ".b32 %v, [%in+" + offset + "];\n  " + stores[i % stores.size()] + ".b32 [%out+" +
                    offset + "], %v;\n  prefetch.global.L1 [%in+" + offset + "];\n";
  }
  const std::vector<u32> output = run(program);
  for (std::size_t i = 0; i < loads.size(); ++i) EXPECT_EQ(output[i], program.input[i]) << loads[i];
}

TEST(PtxMemory, InitialisedVariablesAndPointersToSymbols) {
  Program program;
  program.module = R"(
.global .align 8 .u16 halves[6] = {1, 0xffff, 3, 40000};
.const .align 8 .f64 reals[2] = {0d3ff8000000000000, -2.5};
.const .s8 bytes[4] = {-1, 127, -128, 5};
.const .align 8 .b32 table[2][3] = {{1, 2, 3}, {4, 5}};
.global .u$p to_halves = halves;
.global .u$p to_third[2] = {halves+4, generic(halves)+6};
.const .u$p to_const = generic(table)+8;
.global .f32 single = 0f40490fdb;
.global .v2 .u32 vector_zero;
)";
  program.block = 1;
  program.output_words = 20;
  program.body = R"(
  .reg .u$p %a, %b; .reg .b32 %v, %w; .reg .b16 %h; .reg .b64 %x; .reg .f64 %d; .reg .f32 %f;
  ld.global.u16 %v, [halves+2];           st.global.b32 [%out], %v;
  ld.global.u$p %a, [to_halves];
  ld.global.u16 %v, [%a+6];               st.global.b32 [%out+4], %v;
  ld.global.u16 %v, [%a+8];               st.global.b32 [%out+8], %v;
  mov.u$p %b, to_third;
  ld.global.u$p %a, [%b];
  ld.global.u16 %v, [%a];                 st.global.b32 [%out+12], %v;
  ld.global.u$p %a, [to_third+$w];
  ld.u16 %v, [%a];                        st.global.b32 [%out+16], %v;
  ld.const.f64 %d, [reals+8];             st.global.f64 [%out+24], %d;
  mov.u$p %a, reals;
  ld.const.f64 %d, [%a];                  st.global.f64 [%out+32], %d;
  ld.const.s8 %v, [bytes+2];              st.global.b32 [%out+40], %v;
  ld.const.u$p %a, [to_const];
  ld.b32 %v, [%a+4];                      st.global.b32 [%out+44], %v;
  ld.const.v2.b32 {%v, %w}, [table+16];   st.global.b32 [%out+48], %v; st.global.b32 [%out+52], %w;
  ld.global.f32 %f, [single];             st.global.f32 [%out+56], %f;
  cvta.const.u$p %a, table;
  ld.u32 %v, [%a];                        st.global.b32 [%out+60], %v;
  mov.u$p %a, table;
  cvta.const.u$p %a, %a;
  cvta.to.const.u$p %b, %a;
  ld.const.u32 %v, [%b+4];                st.global.b32 [%out+64], %v;
  ld.global.v2.u32 {%v, %w}, [vector_zero]; st.global.b32 [%out+68], %v;
)";
  // The size of a pointer, as an offset.
  const std::string body = program.body;
  for (const unsigned bits : {32U, 64U}) {
    Program sized = program;
    sized.body = body;
    const std::size_t at = sized.body.find("$w");
    sized.body.replace(at, 2, std::to_string(bits / 8));
    const std::vector<u32> found = run_with_address_bits(sized, bits);
    const auto word = [](double x, unsigned half) { return static_cast<u32>(std::bit_cast<u64>(x) >> (32 * half)); };
    const std::vector<u32> expected = {0xffff,
                                       40000,
                                       0,
                                       3,
                                       40000,
                                       0,
                                       word(-2.5, 0),
                                       word(-2.5, 1),
                                       word(1.5, 0),
                                       word(1.5, 1),
                                       0xffffff80U,
                                       4,
                                       5,
                                       0,
                                       0x40490fdb,
                                       1,
                                       2,
                                       0,
                                       0,
                                       0};
    EXPECT_EQ(found, expected) << bits;
  }
}

// isspacep and the way from a space to generic addresses and back.
TEST(PtxMemory, SpacesOfGenericAddresses) {
  Program program;
  program.module = ".const .u32 constant = 9;\n.global .u32 variable = 7;";
  program.block = 1;
  program.output_words = 32;
  std::string& body = program.body;
  body =
      "  .shared .align 8 .b32 sh[2];\n  .local .align 8 .b32 lo[2];\n  .reg .u$p %g<4>, %n;\n  .reg .pred %p;\n"
      "  .reg .b32 %v;\n"
      "  cvta.shared.u$p %g0, sh;\n  cvta.local.u$p %g1, lo;\n  cvta.const.u$p %g2, constant;\n"
      "  cvta.global.u$p %g3, variable;\n  mov.b32 %v, 5;\n  st.b32 [%g0+4], %v;\n  mov.b32 %v, 6;\n"
      "  st.b32 [%g1+4], %v;\n  ld.shared.b32 %v, [sh+4];\n  st.global.b32 [%out+64], %v;\n"
      "  ld.local.b32 %v, [lo+4];\n  st.global.b32 [%out+68], %v;\n  ld.b32 %v, [%g2];\n"
      "  st.global.b32 [%out+72], %v;\n  ld.b32 %v, [%g3];\n  st.global.b32 [%out+76], %v;\n"
      "  cvta.to.shared.u$p %n, %g0;\n  ld.shared.b32 %v, [%n+4];\n  st.global.b32 [%out+80], %v;\n"
      "  cvta.to.local.u$p %n, %g1;\n  ld.local.b32 %v, [%n+4];\n  st.global.b32 [%out+84], %v;\n"
      "  cvta.to.global.u$p %n, %g3;\n  ld.global.b32 %v, [%n];\n  st.global.b32 [%out+88], %v;\n";
  const char* const names[] = {"shared", "local", "const", "global"};
  for (unsigned of = 0; of < 4; ++of) {
    for (unsigned asked = 0; asked < 4; ++asked) {
      body += std::string("  isspacep.") + names[asked] + " %p, %g" + std::to_string(of) +
              ";\n  selp.b32 %v, 1, 0, %p;\n  st.global.b32 [%out+" + std::to_string(4 * (of * 4 + asked)) + "], %v;\n";
    }
  }
  const std::vector<u32> output = run(program);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(output[i], i / 4 == i % 4 ? 1U : 0U) << i;
  const std::vector<u32> values(output.begin() + 16, output.begin() + 23);
  EXPECT_EQ(values, (std::vector<u32>{5, 6, 9, 7, 5, 6, 7}));
}

}  // namespace
}  // namespace heddle::ptx_ops
