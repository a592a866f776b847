#include "tests/random/ptx_statements.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "tests/random/ptx_forms.hpp"

namespace heddle::random_ptx {

namespace {

std::string hex(const char* format, unsigned long long value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), format, value);
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

void Statements::line(std::string_view text) {
  text_.append("  ").append(text).append("\n");
}
void Statements::label(std::string_view name) {
  text_.append(name).append(":\n");
}

unsigned& Statements::count(char kind) {
  return kind == 't' ? temporaries_ : kind == 'w' ? longs_ : kind == 'x' ? addresses_ : predicates_;
}

std::string Statements::declarations() const {
  const auto declare = [](const char* type, char kind, unsigned count) {
    return std::string("  .reg .") + type + " %" + kind + '<' + std::to_string(count) + ">;\n";
  };
  const std::string address = address_type();
  return declare("b32", 'r', kIntegers) + declare("f32", 'f', kFloats) + declare("b64", 'd', kLongs) +
         declare("f64", 'g', kDoubles) + declare("pred", 'q', kFlags) + declare("b32", 'u', kUniforms) +
         declare("b32", 't', temporaries_ + 1) + declare("b64", 'w', longs_ + 1) +
         declare(address.c_str(), 'x', addresses_ + 1) + declare("pred", 'p', predicates_ + 1) + "  .reg ." + address +
         " %in, %out, %own, %counters, %mine;\n  .reg .u32 %thread, %n;\n";
}

std::string Statements::pool(char kind) {
  const unsigned size = kind == 'r'   ? kIntegers
                        : kind == 'f' ? kFloats
                        : kind == 'd' ? kLongs
                        : kind == 'g' ? kDoubles
                        : kind == 'q' ? kFlags
                                      : kUniforms;
  return '%' + std::string(1, kind) + std::to_string(random_.below(size));
}

std::string Statements::marker(std::string_view name) {
  if (name == "R" || name == "F" || name == "D" || name == "G" || name == "Q" || name == "U") {
    return pool(static_cast<char>(name[0] - 'A' + 'a'));
  }
  if (name.size() == 1 && name != "s") {
    return pool(name[0]);
  }
  if (name == "guard") {
    return guard();
  }
  if (name == "ri") {
    return random_.chance(50) ? pool('r')
                              : random_.pick<std::string>({"0", "1", "-1", "31", "255", "0x80000000", "0x12345678"});
  }
  if (name == "di") {
    return random_.chance(50) ? pool('d') : random_.pick<std::string>({"1", "-1", "0x7fffffffffffffff", "4294967296"});
  }
  if (name == "fi") {
    // 1, -0.5, 0, -0, infinity, a NaN, a subnormal number
    return random_.chance(50) ? pool('f')
                              : random_.pick<std::string>({"0f3F800000", "0fBF000000", "0f00000000", "0f80000000",
                                                           "0f7F800000", "0f7FC00000", "0f00000123"});
  }
  if (name == "s") {
    return random_.chance(40) ? pool('r') : std::to_string(random_.below(70));
  }
  if (name == "nz") {
    const std::string value = fresh('t');
    setup_ += "  or.b32 " + value + ", " + pool('r') + ", 1;\n";
    return value;
  }
  if (name == "dz") {
    const std::string value = fresh('w');
    setup_ += "  or.b64 " + value + ", " + pool('d') + ", 1;\n";
    return value;
  }
  if (name == "lut") {
    return hex("0x%llx", random_.below(256));
  }
  if (name == "cmp") {
    return random_.pick<std::string>({"eq", "ne", "lt", "le", "gt", "ge"});
  }
  if (name == "fcmp") {
    return random_.pick<std::string>({"eq", "ne", "lt", "ge", "ltu", "geu", "num", "nan"});
  }
  return random_.pick<std::string>({"and", "or", "xor"});  // {bool}
}

// "{{" stands for the brace that opens a PTX vector; every other "{" starts a marker.
std::string Statements::fill(std::string_view form) {
  std::string out;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '{') {
      out += form[i];
    } else if (form.substr(i, 2) == "{{") {
      out += form[i++];
    } else {
      const std::size_t end = form.find('}', i);
      out += marker(form.substr(i + 1, end - i - 1));
      i = end;
    }
  }
  return out;
}

// Draws happen in separate statements or, within one template, from left to right: the order in which C++ evaluates the
// operands of + is the compiler's choice, and a seed must mean one program.
std::string Statements::guard() {
  if (random_.chance(85)) {
    return {};
  }
  const std::string negation = random_.chance(50) ? "@" : "@!";
  return negation + pool('q') + ' ';
}

void Statements::emit(std::string_view form) {
  const std::string text = fill(form);
  text_ += std::exchange(setup_, {});
  line(text);
}

void Statements::arithmetic() {
  emit("{guard}" + std::string(kForms[random_.below(kForms.size())]) + ';');
}

void Statements::predicated() {
  emit("{guard}" + std::string(kPredicateForms[random_.below(kPredicateForms.size())]) + ';');
}

// Uniform values come from uniform values: no guard, and only in code that the whole block executes.
void Statements::uniform_arithmetic() {
  const std::string op = random_.pick({"add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "min.u32", "max.s32"});
  const std::string b = random_.chance(50) ? "{u}" : std::to_string(random_.below(100));
  emit(op + " {U}, {u}, " + b + ';');
}

void Statements::carry() {
  const bool add = random_.chance(50);
  emit(add ? "add.cc.u32 {R}, {r}, {ri};" : "sub.cc.u32 {R}, {r}, {r};");
  emit(add ? "addc.u32 {R}, {r}, {r};" : "subc.u32 {R}, {r}, {r};");
}

std::string Statements::element(const std::string& base, const std::string& index) {
  const std::string address = fresh('x');
  line((shape_.address_bits == 64 ? "mad.wide.u32 " : "mad.lo.u32 ") + address + ", " + index + ", 4, " + base + ';');
  return address;
}

void Statements::read_input() {
  const unsigned vector = random_.pick({1U, 1U, 1U, 2U, 4U});
  const std::string index = fresh('t');
  line("and.b32 " + index + ", " + pool('r') + ", " + std::to_string((shape_.input_words - 1) & ~(vector - 1)) + ';');
  const std::string address = element("%in", index);
  if (vector > 1) {
    const unsigned first = random_.below(kIntegers);  // different destinations
    std::string registers;
    for (unsigned i = 0; i < vector; ++i) {
      registers += (i == 0 ? "%r" : ", %r") + std::to_string((first + i) % kIntegers);
    }
    line(guard() + "ld.global.v" + std::to_string(vector) + ".u32 {" + registers + "}, [" + address + "];");
    return;
  }
  struct Load {
    const char* form;
    const char* offset;
  };
  const Load load = random_.pick<Load>(
      {{"f32 {F}", ""}, {"s8 {R}", "+3"}, {"u16 {R}", "+2"}, {"u8 {R}", "+1"}, {"u32 {R}", ""}, {"u32 {R}", ""}});
  emit(std::string("{guard}ld.global.") + load.form + ", [" + address + load.offset + "];");
}

void Statements::own_slots() {
  struct Access {
    const char* type;
    unsigned bytes;
    const char* value;
  };
  const Access access = random_.pick<Access>({{"u8", 1, "{r}"},
                                              {"s16", 2, "{r}"},
                                              {"b64", 8, "{d}"},
                                              {"f32", 4, "{f}"},
                                              {"u32", 4, "{r}"},
                                              {"v2.u32", 8, "{{%r0, %r5}"},
                                              {"v4.f32", 16, "{{%f2, %f0, %f3, %f1}"}});
  const std::string space = random_.chance(20) ? ".volatile.global." : ".global.";
  const std::string offset = std::to_string(random_.below(kSlotBytes / access.bytes) * access.bytes);
  const std::string operation = space + access.type;
  emit(random_.chance(60) ? "{guard}st" + operation + " [%own+" + offset + "], " + access.value + ';'
                          : "{guard}ld" + operation + ' ' + access.value + ", [%own+" + offset + "];");
}

void Statements::local_memory() {
  const std::string index = fresh('t');
  const std::string base = fresh('x');
  line("and.b32 " + index + ", " + pool('r') + ", " + std::to_string(kLocalBytes / 4 - 1) + ';');
  line("mov." + address_type() + ' ' + base + ", loc;");
  const std::string address = element(base, index);
  emit(random_.chance(50) ? "{guard}st.local.u32 [" + address + "], {r};"
                          : "{guard}ld.local.u32 {R}, [" + address + "];");
}

// The thread's own word in the scratchpad's second half.
void Statements::own_scratchpad() {
  const std::string address = "[%mine+" + std::to_string(4 * shape_.block) + ']';
  emit(random_.chance(50) ? "{guard}st.shared.u32 " + address + ", {r};"
                          : "{guard}ld.shared.u32 {R}, " + address + ';');
}

// One kind of reduction per counter, so that they commute.
void Statements::count_up() {
  const std::array<const char*, kCounters> ops = {"add.u32", "xor.b32", "max.s32", "or.b32"};
  const unsigned counter = random_.below(kCounters);
  emit(std::string("{guard}red.global.") + ops[counter] + " [%counters+" + std::to_string(4 * counter) + "], {r};");
}

void Statements::any(bool uniform) {
  if (shape_.copied && scratchpad_ && random_.chance(8)) {
    copy();
    return;
  }
  const unsigned kind = random_.below(100);
  if (uniform && kind < 8) {
    uniform_arithmetic();
  } else if (kind < 16) {
    read_input();
  } else if (kind < 24) {
    own_slots();
  } else if (kind < 28 && scratchpad_) {
    own_scratchpad();
  } else if (kind < 32 && shape_.local) {
    local_memory();
  } else if (kind < 35) {
    count_up();
  } else if (kind < 38) {
    carry();
  } else if (kind < 48) {
    predicated();
  } else {
    arithmetic();
  }
}

void Statements::exchange() {
  if (!shape_.standard) line("progress;");
  if (scratchpad_) {
    line("st.shared.u32 [%mine], " + pool('r') + ';');
  }
  if (random_.chance(20)) {
    line("membar.cta;");
  }
  if (shape_.block % 32 == 0 && random_.chance(30)) {
    line("bar.sync " + std::to_string(1 + random_.below(15)) + ", " + std::to_string(shape_.block) + ';');
  } else {
    line("bar.sync 0;");
  }
  if (!scratchpad_) {
    return;
  }
  const std::string other = fresh('t');
  const std::string base = fresh('x');
  line("add.u32 " + other + ", %thread, " + std::to_string(1 + random_.below(200)) + ';');
  line("rem.u32 " + other + ", " + other + ", " + std::to_string(shape_.block) + ';');
  line("mov." + address_type() + ' ' + base + ", shared_words;");
  const std::string address = element(base, other);
  emit("ld.shared.u32 {R}, [" + address + "];");
  line("bar.sync 0;");
}

void Statements::reduce() {
  emit(random_.pick<std::string_view>(
      {"bar.red.popc.u32 {R}, 0, {q};", "bar.red.and.pred {Q}, 0, {q};", "bar.red.or.pred {Q}, 0, !{q};"}));
}

std::string Statements::condition(bool uniform) {
  const std::string predicate = fresh('p');
  if (uniform) {
    const std::string value = fresh('t');
    line("and.b32 " + value + ", " + pool('u') + ", 7;");
    line("setp.lt.u32 " + predicate + ", " + value + ", " + std::to_string(1 + random_.below(7)) + ';');
  } else if (random_.chance(50)) {  // about evenly true
    const std::string value = fresh('t');
    const std::string shift = std::to_string(random_.below(8));
    emit("shr.u32 " + value + ", {r}, " + shift + ';');
    line("and.b32 " + value + ", " + value + ", 3;");
    line("setp.lt.u32 " + predicate + ", " + value + ", " + std::to_string(1 + random_.below(3)) + ';');
  } else {
    const std::string type = random_.chance(50) ? "s32 " : "u32 ";
    emit("setp.{cmp}." + type + predicate + ", {r}, {r};");
  }
  return predicate;
}

std::string Statements::never() {
  const std::string predicate = fresh('p');
  line("setp.gt.u32 " + predicate + ", %thread, " + std::to_string(1024 + random_.below(1000)) + ';');
  return predicate;
}

void Statements::initialise() {
  const std::string address = address_type();
  line("ld.param." + address + " %in, [in];");
  line("ld.param." + address + " %out, [out];");
  line("ld.param.u32 %n, [n];");
  line("mov.u32 %thread, %tid.x;");
  line("mov.u32 %u0, %n;");
  line("mov.u32 %u1, %ctaid.x;");
  line("mov.u32 %u2, %ntid.x;");
  line("mov.u32 %u3, " + std::to_string(random_.below(1000)) + ';');
  line("mad.lo.u32 %r0, %u1, %u2, %thread;");  // the thread's number in the grid
  const std::string wide = shape_.address_bits == 64 ? "mad.wide.u32 " : "mad.lo.u32 ";
  line(wide + "%own, %r0, " + std::to_string(kOutputBytes) + ", %out;");
  line("add." + address + " %counters, %out, " +
       std::to_string(std::uint64_t{kOutputBytes} * shape_.block * shape_.grid) + ';');
  if (shape_.scratchpad) {
    const std::string shared = fresh('x');
    line("mov." + address + ' ' + shared + ", shared_words;");
    line(wide + "%mine, %thread, 4, " + shared + ';');
  }
  for (unsigned i = 1; i < kIntegers; ++i) {
    const std::string index = fresh('t');
    const std::string factor = std::to_string(2 * random_.below(50) + 1);
    line("mad.lo.u32 " + index + ", %r0, " + factor + ", " + std::to_string(random_.below(1000)) + ';');
    line("and.b32 " + index + ", " + index + ", " + std::to_string(shape_.input_words - 1) + ';');
    line("ld.global.u32 %r" + std::to_string(i) + ", [" + element("%in", index) + "];");
  }
  for (unsigned i = 0; i < kFloats; ++i) {
    line("cvt.rn.f32.s32 %f" + std::to_string(i) + ", " + pool('r') + ';');
  }
  for (unsigned i = 0; i < kLongs; ++i) {
    emit("mov.b64 %d" + std::to_string(i) + ", {{{r}, {r}};");
  }
  for (unsigned i = 0; i < kDoubles; ++i) {
    line("cvt.rn.f64.u32 %g" + std::to_string(i) + ", " + pool('r') + ';');
  }
  for (unsigned i = 0; i < kFlags; ++i) {
    emit("setp.lt.s32 %q" + std::to_string(i) + ", {r}, {r};");
  }
  if (shape_.local) {
    const std::string base = fresh('x');
    line("mov." + address + ' ' + base + ", loc;");
    for (unsigned byte = 0; byte < kLocalBytes; byte += 4) {
      line("st.local.u32 [" + base + '+' + std::to_string(byte) + "], " + pool('r') + ';');
    }
  }
  if (shape_.copied) {
    const std::string place = row();
    line("st.shared.v4.u32 [" + place + "], {%r1, %r3, %r5, %r7};");
  }
  if (shape_.scratchpad) {
    line("st.shared.u32 [%mine], %r1;");
    line("st.shared.u32 [%mine+" + std::to_string(4 * shape_.block) + "], %r2;");
  }
}

void Statements::finish() {
  unsigned offset = kSlotBytes;
  const auto store = [&](const char* type, char kind, unsigned count, unsigned bytes) {
    for (unsigned i = 0; i < count; ++i, offset += bytes) {
      line(std::string("st.global.") + type + " [%own+" + std::to_string(offset) + "], %" + kind + std::to_string(i) +
           ';');
    }
  };
  store("u32", 'r', kIntegers, 4);
  store("f32", 'f', kFloats, 4);
  store("b64", 'd', kLongs, 8);
  store("f64", 'g', kDoubles, 8);
  store("u32", 'u', kUniforms, 4);
  for (unsigned i = 0; i < kFlags; ++i, offset += 4) {
    const std::string flag = fresh('t');
    line("selp.u32 " + flag + ", 1, 0, %q" + std::to_string(i) + ';');
    line("st.global.u32 [%own+" + std::to_string(offset) + "], " + flag + ';');
  }
}

}  // namespace heddle::random_ptx
