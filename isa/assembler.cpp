// Text to instructions: reads what the disassembler writes, with suffixes in any order and numbers in any base.
// Long: one class, which reads an instruction slot by slot.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "isa/instruction_fields.hpp"
#include "isa/instruction_text.hpp"

namespace heddle::isa {

namespace {

[[noreturn]] void fail(std::size_t offset, std::string message, std::string hint = {}) {
  throw InputError(SourceLocation{{}, 1, static_cast<unsigned>(offset) + 1}, std::move(message), std::move(hint));
}

constexpr bool is_space(char c) {
  return c == ' ' || c == '\t';
}
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

struct Word {
  std::string_view text;
  std::size_t offset;
};

// The text still to be read.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t offset() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
    return position_;
  }
  [[nodiscard]] bool at_end() { return offset() == text_.size(); }
  [[nodiscard]] char peek() { return at_end() ? '\0' : text_[position_]; }
  bool take(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(position_, fmt::format("expected '{}' {}", c, found()));
  }
  Word word() {
    const std::size_t begin = offset();
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    return {text_.substr(begin, position_ - begin), begin};
  }
  // From the bracket that is next to the one that closes it, or to the end.
  std::string_view bracketed() {
    const std::size_t begin = offset();
    position_ = std::min(text_.find(']', begin), text_.size() - 1) + 1;
    return text_.substr(begin, position_ - begin);
  }
  std::string found() {
    const std::size_t before = offset();
    const std::string_view next = at_end() ? std::string_view{} : word().text;
    position_ = before;
    if (at_end()) return "but the text ends";
    return fmt::format("instead of '{}'", next.empty() ? text_.substr(before, 1) : next);
  }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

// A word's parts between dots.
std::vector<Word> parts_of(Word word) {
  std::vector<Word> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t dot = std::min(word.text.find('.', begin), word.text.size());
    parts.push_back({word.text.substr(begin, dot - begin), word.offset + begin});
    if (dot == word.text.size()) return parts;
    begin = dot + 1;
  }
}

bool is_prefix(std::span<const Word> mnemonic, std::span<const Word> parts) {
  return mnemonic.size() <= parts.size() && std::equal(mnemonic.begin(), mnemonic.end(), parts.begin(),
                                                       [](const Word& x, const Word& y) { return x.text == y.text; });
}

// The parts that are suffixes if the parts name op, else nothing. `matched` is set to the mnemonic's length.
std::optional<std::vector<Word>> suffixes_if(Op op, std::span<const Word> parts, std::size_t& matched) {
  const std::vector<Word> mnemonic = parts_of({info(op).mnemonic, 0});
  matched = mnemonic.size();
  if (suffixes_before_type(op)) {
    const std::size_t head = mnemonic.size() - 1;
    if (parts.size() < mnemonic.size() || parts.back().text != mnemonic.back().text ||
        !is_prefix(std::span(mnemonic).first(head), parts)) {
      return std::nullopt;
    }
    return std::vector<Word>(parts.begin() + static_cast<std::ptrdiff_t>(head), parts.end() - 1);
  }
  if (!is_prefix(mnemonic, parts)) return std::nullopt;
  std::vector<Word> rest(parts.begin() + static_cast<std::ptrdiff_t>(mnemonic.size()), parts.end());
  const SubForm sub = sub_form(op);
  const ModifierForm form = modifier_form(op);
  const bool has_suffixes = sub == SubForm::memory || sub == SubForm::space || form == ModifierForm::cvt ||
                            form == ModifierForm::atomic || form == ModifierForm::prmt ||
                            form == ModifierForm::element || form == ModifierForm::texture ||
                            form == ModifierForm::half || form == ModifierForm::matrix || op == Op::SETP_H;
  if (!rest.empty() && !has_suffixes) return std::nullopt;
  return rest;
}

std::optional<unsigned> index_in(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (name.empty() || found == names.end()) return std::nullopt;
  return static_cast<unsigned>(found - names.begin());
}

std::optional<Type> type_named(std::string_view name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(Type::pred); ++i) {
    if (name_of(static_cast<Type>(i)) == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

class Assembler {
 public:
  explicit Assembler(std::string_view text) : scan_(text) {}

  Instruction run() {
    if (scan_.peek() == '[') read_control();
    while (scan_.take('{')) {
      const Word mark = scan_.word();
      if (mark.text == "uniform") {
        i_.uniform = true;
      } else if (mark.text == "subdivides") {
        i_.subdivides = true;
      } else if (mark.text == "past_scratchpad") {
        i_.past_scratchpad = true;
      } else if (mark.text == "yields") {
        i_.yields = true;
      } else {
        fail(mark.offset, "the marks are {uniform}, {subdivides}, {past_scratchpad} and {yields}");
      }
      scan_.expect('}');
    }
    if (scan_.take('@')) i_.guard = predicate();
    const Word name = scan_.word();
    if (name.text.empty()) fail(name.offset, "expected an operation " + scan_.found());
    read_operation(name);
    bool first = true;
    for (const Slot slot : operand_slots(i_)) {
      if (slot == Slot::d && i_.immediate) continue;
      if (slot == Slot::combine && scan_.peek() != ',') continue;
      if (!first) scan_.expect(',');
      first = false;
      read(slot);
    }
    scan_.take(';');
    if (!scan_.at_end()) fail(scan_.offset(), "unexpected text behind the last operand");
    if (side_predicate_ && i_.immediate) fail(*side_predicate_, "the immediate form has no predicate result");
    i_ = canonical(i_);
    if (const std::string_view reason = why_malformed(i_); !reason.empty()) {
      fail(immediate_at_.value_or(name.offset), std::string(reason));
    }
    return i_;
  }

 private:
  void read_operation(Word name) {
    const std::vector<Word> parts = parts_of(name);
    std::optional<std::vector<Word>> best;
    std::size_t best_length = 0;
    for (unsigned number = 0; number < kOperations; ++number) {
      std::size_t length = 0;
      auto rest = suffixes_if(static_cast<Op>(number), parts, length);
      if (rest && length > best_length) {
        best = std::move(rest);
        best_length = length;
        i_.op = static_cast<Op>(number);
      }
    }
    if (!best) fail(name.offset, fmt::format("unknown operation '{}'", name.text));
    set_defaults();
    unsigned groups = 0;
    for (const Word& suffix : *best) {
      const unsigned group = apply(suffix.text, groups);
      if (group == 0) fail(suffix.offset, fmt::format("'{}' is no suffix of {}", suffix.text, info(i_.op).mnemonic));
      if ((groups & group) != 0) fail(suffix.offset, fmt::format("'{}' contradicts an earlier suffix", suffix.text));
      groups |= group;
    }
    if (i_.op == Op::MMA && !set_matrix_size(i_, matrix_size_)) fail(name.offset, "mma needs a size that there is");
    if (i_.op == Op::CVT && (groups & kSecondType) == 0) fail(name.offset, "cvt needs a target and a source type");
    if (is_atomic(i_.op) && (groups & (kName | kFirstType)) != (kName | kFirstType)) {
      fail(name.offset, "an atomic needs an operation and a type", "write for example atom.global.add.u32");
    }
    if (is_accumulate(i_.op) && (groups & kName) == 0) {
      fail(name.offset, "cond_acc needs an element size", "write for example cond_acc.shared.b32");
    }
    if (is_texture(i_.op) && (groups & kName) == 0) {
      fail(name.offset, "a fetch needs the type of its coordinates", "write for example tex.2d.f32");
    }
  }

  void set_defaults() {
    if (sub_form(i_.op) == SubForm::memory) i_.c = memory_sub(Width::b32, 1);
    switch (modifier_form(i_.op)) {
      case ModifierForm::setp:
        i_.mods = setp_mods(BoolOp::none, {}, false);
        break;
      case ModifierForm::predicate_out:
        i_.mods = kPT;
        break;
      case ModifierForm::carry:
        i_.mods = carry_mods({}, kPT);
        break;
      default:
        break;
    }
  }

  // Groups of suffixes that exclude each other.
  static constexpr unsigned kName = 1;  // comparison, test, space, atomic operation, width, prmt mode
  static constexpr unsigned kRound = 2;
  static constexpr unsigned kFlush = 4;
  static constexpr unsigned kClamp = 8;
  static constexpr unsigned kApprox = 16;
  static constexpr unsigned kNanForm = 32;
  static constexpr unsigned kVector = 64;
  static constexpr unsigned kHint = 128;
  static constexpr unsigned kFirstType = 256;
  static constexpr unsigned kSecondType = 512;
  static constexpr unsigned kMagnitude = 1024;

  unsigned name_sub(std::span<const std::string_view> names, std::string_view suffix) {
    const auto index = index_in(names, suffix);
    if (!index) return 0;
    i_.c = static_cast<std::uint8_t>(*index);
    return kName;
  }

  unsigned flag(std::uint32_t bit, unsigned group) {
    i_.mods |= bit;
    return group;
  }

  // Applies a suffix and returns its group, 0 when the operation has no such suffix.
  unsigned apply(std::string_view suffix, unsigned seen) {
    switch (sub_form(i_.op)) {
      case SubForm::comparison:
        if (const unsigned group = name_sub(comparison_names(), suffix)) return group;
        break;
      case SubForm::test:
        return name_sub(test_names(), suffix);
      case SubForm::space:
        return name_sub(space_names(), suffix);
      case SubForm::memory:
        return apply_memory(suffix);
      default:
        break;
    }
    switch (modifier_form(i_.op)) {
      case ModifierForm::element:
        if (const auto size = index_in(element_names(), suffix)) return flag(*size, kName);
        return 0;
      case ModifierForm::floating:
        return apply_floating(suffix);
      case ModifierForm::setp:
        if (i_.op == Op::SETP_H && suffix != "ftz") return apply_half(suffix);
        return suffix == "ftz" ? flag(64, kFlush) : 0;
      case ModifierForm::half:
        return apply_half(suffix);
      case ModifierForm::bfind:
        return suffix == "shiftamt" ? flag(1, kName) : 0;
      case ModifierForm::prmt:
        if (const auto mode = index_in(prmt_names(), suffix)) return flag(*mode, kName);
        return 0;
      case ModifierForm::texture:
        if (suffix == "v2" || suffix == "v4") return flag(suffix == "v2" ? 2 : 4, kVector);
        return suffix == "f32" ? flag(1, kName) : suffix == "s32" ? kName : 0;
      case ModifierForm::matrix:
        return apply_matrix(suffix, seen);
      case ModifierForm::cvt:
        return apply_cvt(suffix, seen);
      case ModifierForm::atomic:
        if (const auto op = index_in(atomic_names(), suffix)) return flag(*op, kName);
        if (const auto type = type_named(suffix)) return flag(static_cast<unsigned>(*type) << 4U, kFirstType);
        return 0;
      default:
        return 0;
    }
  }

  unsigned apply_matrix(std::string_view suffix, unsigned seen) {
    if (suffix == "sat") return flag(512, kClamp);
    if (suffix == "sum16") return flag(256, kRound);
    if (const auto factor = index_in(factor_names(), suffix)) {
      return (seen & kFirstType) == 0 ? flag(*factor, kFirstType) : flag(*factor << 3U, kSecondType);
    }
    matrix_size_ = suffix;
    return suffix.starts_with("m") ? kName : 0;
  }
  unsigned apply_matrices(std::string_view suffix) {
    const bool trans = suffix == "trans";
    if (!trans && suffix != "x1" && suffix != "x2" && suffix != "x4") return 0;
    i_.c = ldmatrix_sub(trans ? i_.matrices() : static_cast<unsigned>(suffix[1] - '0'), trans || i_.transposed());
    return trans ? kHint : kVector;
  }

  unsigned apply_memory(std::string_view suffix) {
    if (i_.op == Op::LD_MATRIX) return apply_matrices(suffix);
    if (suffix == "v2" || suffix == "v4") {
      i_.c = static_cast<std::uint8_t>(i_.c | (suffix == "v2" ? 8U : 16U));
      return kVector;
    }
    if (suffix == (is_copy(i_.op) ? "past_l1" : "hint")) {
      i_.c = static_cast<std::uint8_t>(i_.c | 32U);
      return kHint;
    }
    const auto width = index_in(width_names(), suffix);
    if (!width) return 0;
    i_.c = static_cast<std::uint8_t>((i_.c & ~7U) | *width);
    return kName;
  }

  unsigned apply_floating(std::string_view suffix) {
    if (const auto rounding = index_in(rounding_names(), suffix)) {
      if (*rounding > static_cast<unsigned>(Rounding::rp)) return 0;
      return flag(*rounding - 1U, kRound);
    }
    if (suffix == "ftz") return flag(kFtzBit, kFlush);
    if (suffix == "sat") return flag(kSaturateBit, kClamp);
    if (suffix == "approx") return flag(kApproximateBit, kApprox);
    if (suffix == "nan") return flag(kNanBit, kNanForm);
    return 0;
  }

  unsigned apply_half(std::string_view suffix) {
    if (suffix == "bf16") return flag(kBfloatBit, kFirstType);
    if (suffix == "x2") return flag(kPackedBit, kVector);
    if (suffix == "relu") return flag(kReluBit, kClamp);
    if (suffix == "xorsign") return flag(kMagnitudesBit, kMagnitude);
    return i_.op == Op::SETP_H ? 0 : apply_floating(suffix);
  }

  unsigned apply_cvt(std::string_view suffix, unsigned seen) {
    if (const auto rounding = index_in(rounding_names(), suffix)) return flag(*rounding << 8U, kRound);
    if (suffix == "ftz") return flag(1U << 12U, kFlush);
    if (suffix == "sat") return flag(1U << 13U, kClamp);
    const auto type = type_named(suffix);
    if (!type) return 0;
    const auto number = static_cast<unsigned>(*type);
    return (seen & kFirstType) == 0 ? flag(number, kFirstType) : flag(number << 4U, kSecondType);
  }

  // ---- operands

  // A register or predicate: the letter and a number below the limit, or the letter and the name of the last one.
  static std::optional<unsigned> numbered(std::string_view text, char letter, char last, unsigned limit) {
    if (text.size() < 2 || text[0] != letter) return std::nullopt;
    if (text.size() == 2 && text[1] == last) return limit;
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number >= limit) return std::nullopt;
    return number;
  }

  std::uint8_t reg(unsigned registers, bool vector = false) {
    const std::string found = scan_.found();
    const Word word = scan_.word();
    const auto number = numbered(word.text, 'r', 'z', kRZ);
    if (!number) fail(word.offset, fmt::format("expected a register r0 to r{} or rz {}", kRZ - 1, found));
    if (!register_fits(*number, registers, vector)) {
      fail(word.offset, fmt::format("{} cannot start a value of {} registers", word.text, registers),
           fmt::format("take a multiple of {}, at most r{}", registers, (kRegisters / registers - 1) * registers));
    }
    return static_cast<std::uint8_t>(*number);
  }

  unsigned predicate_register() {
    const std::string found = scan_.found();
    const Word word = scan_.word();
    const auto number = numbered(word.text, 'p', 't', kPT);
    if (!number) fail(word.offset, fmt::format("expected a predicate p0 to p{} or pt {}", kPT - 1, found));
    return *number;
  }

  Pred predicate() {
    const bool negated = scan_.take('!');
    return {static_cast<std::uint8_t>(predicate_register()), negated};
  }

  // An integer, decimal or hexadecimal, with an optional sign, that lies in [low, high].
  std::int64_t number(std::int64_t low, std::int64_t high) {
    const std::size_t begin = scan_.offset();
    const std::string found = scan_.found();
    const bool negative = scan_.take('-');
    if (!negative) scan_.take('+');
    std::string_view digits = scan_.word().text;
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      digits.remove_prefix(2);
      base = 16;
    }
    std::uint64_t magnitude = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, magnitude, base);
    if (digits.empty() || error == std::errc::invalid_argument || end != last) {
      fail(begin, "expected a number " + found);
    }
    const bool representable = error == std::errc{} && magnitude <= (std::uint64_t{1} << 40U);
    const std::int64_t value = representable ? static_cast<std::int64_t>(magnitude) * (negative ? -1 : 1) : high + 1;
    if (value < low || value > high) fail(begin, fmt::format("number out of range {} to {}", low, high));
    return value;
  }

  std::uint32_t immediate() {
    immediate_at_ = scan_.offset();
    return static_cast<std::uint32_t>(
        number(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::uint32_t>::max()));
  }

  BoolOp bool_op() {
    const std::string found = scan_.found();
    const Word word = scan_.word();
    const auto index = index_in(combine_names(), word.text);
    if (!index) fail(word.offset, "expected and, or, xor " + found);
    return static_cast<BoolOp>(*index);
  }

  void read(Slot slot);
  void read_control();
  void read_destination();
  void read_address();

  Scanner scan_;
  Instruction i_;
  std::optional<std::size_t> side_predicate_;  // where a predicate result beside a register stands
  std::optional<std::size_t> immediate_at_;
  std::string_view matrix_size_;  // counts once the elements, which come later, are known
};

// [B0-2---:R1:W-:-:S04]
void Assembler::read_control() {
  const std::size_t begin = scan_.offset();
  const std::string_view text = scan_.bracketed();
  const auto wrong = [&](std::size_t at) {
    fail(begin + at, "control bits are written as [B0-2---:R1:W-:-:S04]",
         "counters to wait for, counter of operands, of results, yield (Y), stall count");
  };
  constexpr std::string_view kForm = "[B------:R-:W-:-:S00]";
  if (text.size() != kForm.size()) wrong(0);
  i_.control.there = true;
  for (std::size_t at = 0; at != kForm.size(); ++at) {
    const char c = text[at];
    const auto digit = static_cast<unsigned>(c - '0');
    if (kForm[at] == '-' && c == '-') continue;
    if (at >= 2 && at < 2 + ControlBits::kCounters) {
      if (digit != at - 2) wrong(at);
      i_.control.wait = static_cast<std::uint8_t>(i_.control.wait | 1U << digit);
    } else if (at == kForm.find('-', 8) || at == kForm.find('-', 11)) {
      if (digit >= ControlBits::kCounters) wrong(at);
      (at == kForm.find('-', 8) ? i_.control.read : i_.control.write) = static_cast<std::uint8_t>(digit);
    } else if (kForm[at] == '-') {
      if (c != 'Y') wrong(at);
      i_.control.yield = true;
    } else if (kForm[at] == '0') {
      if (digit > 9) wrong(at);
      i_.control.stall = static_cast<std::uint8_t>(10 * i_.control.stall + digit);
    } else if (c != kForm[at]) {
      wrong(at);
    }
  }
  if (i_.control.stall > ControlBits::kMostStall) wrong(kForm.size() - 3);
}

void Assembler::read_destination() {
  i_.dst = reg(destination_registers(i_), sub_form(i_.op) == SubForm::memory && i_.vector() > 1);
  const ModifierForm form = modifier_form(i_.op);
  if ((form != ModifierForm::carry && form != ModifierForm::predicate_out) || scan_.peek() != '|') return;
  scan_.take('|');
  side_predicate_ = scan_.offset();
  const unsigned number = predicate_register();
  i_.mods = form == ModifierForm::carry ? carry_mods(i_.carry_in(), number) : number;
}

void Assembler::read_address() {
  scan_.expect('[');
  i_.a = reg(a_registers(i_));
  i_.immediate = true;
  if (scan_.peek() == '+' || scan_.peek() == '-') {
    i_.imm = static_cast<std::uint32_t>(
        number(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }
  scan_.expect(']');
}

void Assembler::read(Slot slot) {
  switch (slot) {
    case Slot::destination:
      read_destination();
      break;
    case Slot::predicates: {
      const unsigned p = predicate_register();
      const bool second = has_second_predicate(i_.op) && scan_.take('|');
      i_.dst = pred_pair(p, second ? predicate_register() : kPT);
      break;
    }
    case Slot::value:
      i_.dst = reg(stored_registers(i_), i_.vector() > 1 && !is_copy(i_.op));
      break;
    case Slot::a:
      i_.a = reg(a_registers(i_));
      break;
    case Slot::b: {
      const char next = scan_.peek();
      if (next == '-' || next == '+' || (next >= '0' && next <= '9')) {
        i_.immediate = true;
        i_.imm = immediate();
      } else {
        i_.b = reg(b_registers(i_));
      }
      break;
    }
    case Slot::c:
      i_.c = reg(c_registers(i_));
      break;
    case Slot::d:
      i_.d = reg(d_registers(i_));
      break;
    case Slot::address:
      read_address();
      break;
    case Slot::atomic_address:
      scan_.expect('[');
      i_.a = reg(a_registers(i_));
      scan_.expect(']');
      break;
    case Slot::special: {
      scan_.expect('%');
      const Word word = scan_.word();
      const auto index = index_in(special_names(), word.text);
      if (!index) fail(word.offset, fmt::format("unknown special register '%{}'", word.text));
      i_.immediate = true;
      i_.imm = *index;
      break;
    }
    case Slot::sub_predicate:
      i_.c = static_cast<std::uint8_t>(predicate().bits());
      break;
    case Slot::combine: {
      const BoolOp op = bool_op();
      scan_.expect(',');
      const std::uint32_t format = i_.op == Op::SETP_H ? i_.mods & kHalfFormat : 0;
      i_.mods = setp_mods(op, predicate(), i_.setp_ftz()) | format;
      break;
    }
    case Slot::plop: {
      const Pred first = predicate();
      if (!scan_.take(',')) {
        i_.mods = plop_mods(first, BoolOp::none, {});
        break;
      }
      const BoolOp op = bool_op();
      scan_.expect(',');
      i_.mods = plop_mods(first, op, predicate());
      break;
    }
    case Slot::carry_in:
      i_.mods = carry_mods(predicate(), i_.carry_out());
      break;
    case Slot::table:
      i_.mods = static_cast<std::uint32_t>(number(0, 255));
      break;
    case Slot::target:
      i_.target = static_cast<std::uint32_t>(number(0, kMaxPc));
      if (scan_.take(',')) {
        const Word word = scan_.word();
        if (word.text != "reconverge") fail(word.offset, "expected reconverge and a PC");
        i_.reconvergence = static_cast<std::uint32_t>(number(0, kMaxPc));
      }
      break;
    case Slot::meeting:
      i_.immediate = true;
      i_.imm = static_cast<std::uint32_t>(number(0, kMaxPc));
      break;
  }
}

}  // namespace

Instruction assemble(std::string_view text) {
  return Assembler(text).run();
}

}  // namespace heddle::isa
