#include "ptx/lower/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "isa/print.hpp"
#include "ptx/lower/handlers.hpp"
#include "ptx/lower/selector.hpp"

namespace heddle::ptx {
namespace {

// In the texts below @A stands for the bits of an address, @B for its bytes.

// A string and its terminating zero, or one byte 0 for a null pointer. At most `most` characters unless that is
// negative.
constexpr std::string_view kString = R"(
.func __heddle_string(.reg .b@A text, .reg .b32 most)
{
  .reg .pred p;
  .reg .b32 c;
  setp.ne.u@A p, text, 0;
  @p bra THERE;
  print.b8 0;
  bra END;
THERE:
  print.b8 1;
NEXT:
  mov.u32 c, 0;
  setp.ne.s32 p, most, 0;
  @p ld.u8 c, [text];
  print.b8 c;
  add.u@A text, text, 1;
  sub.s32 most, most, 1;
  setp.ne.u32 p, c, 0;
  @p bra NEXT;
END:
  ret;
}
)";

// Sends the format character by character, and each argument where its conversion ends. `longs` counts what makes an
// integer 8 bytes: l, z and t where addresses have 64 bits, ll, j, q and L always. The 64-bit masks have bit i for
// character 64 + i.
constexpr std::string_view kPrintf = R"(
.func (.reg .b32 count) vprintf(.reg .b@A format, .reg .b@A at)
{
  .reg .pred p;
  .reg .b32 c, i, longs, most, value, high;
  .reg .b64 mask;
  .reg .b@A text;
  mov.u32 count, -1;
  setp.eq.u@A p, format, 0;
  @p bra END;
  mov.u32 count, 0;
  print.begin @K;
LITERAL:
  ld.u8 c, [format];
  add.u@A format, format, 1;
  print.b8 c;
  setp.eq.u32 p, c, 0;
  @p bra END;
  setp.ne.u32 p, c, 37;
  @p bra LITERAL;
  mov.u32 longs, 0;
  mov.u32 most, -1;
NEXT:
  ld.u8 c, [format];
  add.u@A format, format, 1;
  print.b8 c;
  setp.gt.u32 p, c, 127;
  @p bra LITERAL;
  setp.gt.u32 p, c, 63;
  @p bra LETTER;
  setp.eq.u32 p, c, 0;
  @p bra END;
  setp.eq.u32 p, c, 42;
  @p bra STAR;
  setp.eq.u32 p, c, 46;
  @p bra POINT;
  sub.u32 i, c, 48;
  setp.lt.u32 p, i, 10;
  @p bra DIGIT;
  sub.u32 i, c, 32;
  shr.u32 i, @FLAGS, i;
  and.b32 i, i, 1;
  setp.ne.u32 p, i, 0;
  @p bra NEXT;
  bra LITERAL;
POINT:
  mov.u32 most, 0;
  bra NEXT;
DIGIT:
  setp.lt.s32 p, most, 0;
  @p bra NEXT;
  mad.lo.s32 most, most, 10, i;
  min.s32 most, most, 4096;
  bra NEXT;
STAR:
  ld.u32 value, [at];
  add.u@A at, at, 4;
  add.u32 count, count, 1;
  print.b32 value;
  setp.ge.s32 p, most, 0;
  selp.b32 most, value, most, p;
  bra NEXT;
LETTER:
  sub.u32 i, c, 64;
  mov.u64 mask, @PAIR_LENGTHS;
  shr.u64 mask, mask, i;
  cvt.u32.u64 value, mask;
  and.b32 value, value, 1;
  shl.b32 value, value, 1;
  add.u32 longs, longs, value;
  mov.u64 mask, @POINTER_LENGTHS;
  shr.u64 mask, mask, i;
  cvt.u32.u64 high, mask;
  and.b32 high, high, 1;
  add.u32 longs, longs, high;
  mov.u64 mask, @LENGTHS;
  shr.u64 mask, mask, i;
  cvt.u32.u64 value, mask;
  and.b32 value, value, 1;
  setp.ne.u32 p, value, 0;
  @p bra NEXT;
  mov.u64 mask, @REALS;
  shr.u64 mask, mask, i;
  cvt.u32.u64 value, mask;
  and.b32 value, value, 1;
  setp.ne.u32 p, value, 0;
  @p bra PAIR;
  setp.eq.u32 p, c, 115;
  @p bra STRING;
  setp.eq.u32 p, c, 112;
  @p bra @POINTER;
  mov.u64 mask, @INTEGERS;
  shr.u64 mask, mask, i;
  cvt.u32.u64 value, mask;
  and.b32 value, value, 1;
  setp.eq.u32 p, value, 0;
  @p bra LITERAL;
  setp.ge.u32 p, longs, @LONGS;
  @p bra PAIR;
WORD:
  ld.u32 value, [at];
  add.u@A at, at, 4;
  add.u32 count, count, 1;
  print.b32 value;
  bra LITERAL;
PAIR:
  add.u@A at, at, 7;
  and.b@A at, at, -8;
  ld.u32 value, [at];
  ld.u32 high, [at+4];
  add.u@A at, at, 8;
  add.u32 count, count, 1;
  print.b32 value;
  print.b32 high;
  bra LITERAL;
STRING:
  add.u@A at, at, @B-1;
  and.b@A at, at, -@B;
  ld.u@A text, [at];
  add.u@A at, at, @B;
  add.u32 count, count, 1;
  call.uni __heddle_string, (text, most);
  bra LITERAL;
END:
  ret;
}
)";

constexpr std::string_view kAssertFail = R"(
.func __assertfail(.reg .b@A condition, .reg .b@A file, .reg .b32 line, .reg .b@A function, .reg .b@A size)
{
  print.begin @ASSERTION;
  call.uni __heddle_string, (condition, -1);
  call.uni __heddle_string, (file, -1);
  call.uni __heddle_string, (function, -1);
  print.b32 line;
  trap;
}
)";

constexpr std::string_view kAllocate = R"(
.func (.reg .b@A pointer) @NAME(.reg .b@A size)
{
  heap.alloc.b@A pointer, size;
  ret;
}
)";

constexpr std::string_view kFree = R"(
.func @NAME(.reg .b@A pointer@MORE)
{
  heap.free.b@A pointer;
  ret;
}
)";

void replace(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// Bits of the characters from 64 (or `first`) on.
std::string mask_of(std::string_view characters, unsigned first = 64) {
  std::uint64_t mask = 0;
  for (const char c : characters) {
    mask |= std::uint64_t{1} << (static_cast<unsigned>(c) - first);
  }
  return fmt::format("{:#x}U", mask);
}

// With new and delete as C++ mangles them, for size_t of 32 (j) and 64 (m) bits; delete may be told the size.
constexpr std::array<std::string_view, 2> kPrinting = {"vprintf", "__assertfail"};
constexpr std::array<std::string_view, 5> kAllocating = {"malloc", "_Znwj", "_Znwm", "_Znaj", "_Znam"};
constexpr std::array<std::string_view, 3> kFreeing = {"free", "_ZdlPv", "_ZdaPv"};
constexpr std::array<std::string_view, 4> kFreeingSized = {"_ZdlPvj", "_ZdlPvm", "_ZdaPvj", "_ZdaPvm"};

bool is_ours(std::string_view function) {
  const auto in = [function](const auto& names) {
    return std::find(names.begin(), names.end(), function) != names.end();
  };
  return in(kPrinting) || in(kAllocating) || in(kFreeing) || in(kFreeingSized);
}

std::string heap_functions() {
  std::string text;
  const auto add = [&text](std::string_view function, std::string_view name, const std::string& more) {
    std::string one(function);
    replace(one, "@NAME", std::string(name));
    replace(one, "@MORE", more);
    text += one;
  };
  for (const std::string_view name : kAllocating) add(kAllocate, name, "");
  for (const std::string_view name : kFreeing) add(kFree, name, "");
  for (const std::string_view name : kFreeingSized) add(kFree, name, ", .reg .b@A size");
  return text;
}

File library(unsigned address_bits) {
  std::string text = fmt::format(".version 6.4\n.target sm_60\n.address_size {}\n", address_bits);
  text += kString;
  text += kPrintf;
  text += kAssertFail;
  text += heap_functions();
  const bool wide = address_bits == 64;
  using isa::MessageKind;
  const std::array<std::pair<std::string_view, std::string>, 12> words = {{
      {"@ASSERTION", std::to_string(static_cast<int>(MessageKind::assertion))},
      {"@FLAGS", mask_of(" #+-0'", 32)},
      {"@PAIR_LENGTHS", mask_of("jqL")},
      {"@POINTER_LENGTHS", mask_of("lzt")},
      {"@LENGTHS", mask_of("jqLlzth")},
      {"@REALS", mask_of("aAeEfFgG")},
      {"@INTEGERS", mask_of("cdiouxX")},
      {"@POINTER", wide ? "PAIR" : "WORD"},
      {"@LONGS", wide ? "1" : "2"},
      {"@K", std::to_string(static_cast<int>(wide ? MessageKind::text64 : MessageKind::text32))},
      {"@A", std::to_string(address_bits)},
      {"@B", std::to_string(address_bits / 8)},
  }};
  for (const auto& [what, by] : words) {
    replace(text, what, by);
  }
  return parse(text, "Heddle's device library");
}

const File& library_of(unsigned address_bits) {
  static const File narrow = library(32);
  static const File wide = library(64);
  return address_bits == 64 ? wide : narrow;
}

void lower_print(Selector& s) {
  Modifiers m = s.modifiers();
  const unsigned bytes = m.require<unsigned>("what is printed", {{"begin", 0}, {"b8", 1}, {"b32", 4}});
  m.finish();
  s.expect_operands(1);
  s.emit(isa::Op::PRINT, kNone, s.source(s.operand(0), Type::b32), Value::imm(bytes, Type::u32));
}

void lower_heap(Selector& s) {
  Modifiers m = s.modifiers();
  const bool frees = m.require<bool>("what is to be done on the heap", {{"alloc", false}, {"free", true}});
  const Type type = m.type({Type::b32, Type::b64});
  m.finish();
  const bool wide = type == Type::b64;
  s.expect_operands(frees ? 1 : 2);
  if (frees) {
    s.emit(wide ? isa::Op::HEAP_FREE_E : isa::Op::HEAP_FREE, kNone, s.source(s.operand(0), type));
    return;
  }
  const Value size = s.source(s.operand(1), type);
  s.emit(wide ? isa::Op::HEAP_ALLOC_E : isa::Op::HEAP_ALLOC, s.destination(s.operand(0), type), size);
}

constexpr std::array kLibraryHandlers = {Handler{"print", lower_print}, Handler{"heap", lower_heap}};

}  // namespace

std::span<const Handler> library_handlers() {
  return kLibraryHandlers;
}

void add_library(File& file) {
  bool wanted = false;
  std::erase_if(file.functions, [&](const Function& function) {
    const bool ours = !function.has_body && is_ours(function.name);
    wanted = wanted || ours;
    return ours;
  });
  if (!wanted) {
    return;
  }
  for (Function function : library_of(file.address_size).functions) {
    const bool there = std::any_of(file.functions.begin(), file.functions.end(),
                                   [&](const Function& other) { return other.name == function.name; });
    if (!there) {
      function.is_library = true;
      file.functions.push_back(std::move(function));
    }
  }
}

}  // namespace heddle::ptx
