#include "isa/print_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace heddle::isa {

namespace {

// Wider fields and more digits than this are cut, so that no format can ask for gigabytes of blanks.
constexpr int kWidest = 4096;

bool one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// Whether the argument takes 8 bytes, as the device's side of it decided (ptx/lower/library.cpp): l, z and t mean the
// size of a pointer, ll, j, q and L 8 bytes.
bool takes_pair(const Conversion& conversion, bool wide) {
  if (one_of(conversion.letter, "aAeEfFgG")) {
    return true;
  }
  if (conversion.letter == 'p') {
    return wide;
  }
  int longs = 0;
  for (const char c : conversion.length) {
    longs = one_of(c, "jqL") ? 2 : longs + (one_of(c, "lzt") ? 1 : 0);
  }
  return longs >= (wide ? 1 : 2);
}

// "%-8.3lld" with this length and letter.
std::string specification(const Conversion& conversion, std::string_view length, char letter) {
  std::string out = "%" + conversion.flags;
  if (conversion.width) out += std::to_string(std::min(*conversion.width, kWidest));
  if (conversion.precision) out += "." + std::to_string(std::min(*conversion.precision, kWidest));
  out += length;
  out += letter;
  return out;
}

template <class T>
std::string formatted(const std::string& specification, T value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(nullptr, 0, specification.c_str(), value);
  std::string out(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
  std::snprintf(out.data(), out.size(), specification.c_str(), value);
#pragma GCC diagnostic pop
  out.pop_back();
  return out;
}

}  // namespace

bool MessageReader::take(void* to, std::size_t count) {
  if (bytes_.size() - at_ < count) {
    return false;
  }
  std::memcpy(to, bytes_.data() + at_, count);
  at_ += count;
  return true;
}

bool MessageReader::take_string(std::string& to) {
  char there = 0;
  if (!take(&there, 1)) {
    return false;
  }
  if (there == 0) {
    to = "(null)";
    return true;
  }
  const std::size_t end = bytes_.find('\0', at_);
  if (end == std::string_view::npos) {
    return false;
  }
  to = bytes_.substr(at_, end - at_);
  at_ = end + 1;
  return true;
}

std::optional<Message> MessageReader::next() {
  std::uint8_t kind = 0;
  if (!take(&kind, 1)) {
    return std::nullopt;
  }
  Message message;
  message.kind = static_cast<MessageKind>(kind);
  bool complete = false;
  switch (message.kind) {
    case MessageKind::text32:
      complete = read_text(message, false);
      break;
    case MessageKind::text64:
      complete = read_text(message, true);
      break;
    case MessageKind::assertion:
      complete = read_assertion(message);
      break;
  }
  if (!complete) {
    at_ = bytes_.size();
    return std::nullopt;
  }
  return message;
}

bool MessageReader::read_assertion(Message& message) {
  std::string condition;
  std::string file;
  std::string function;
  std::uint32_t line = 0;
  if (!take_string(condition) || !take_string(file) || !take_string(function) || !take(&line, 4)) {
    return false;
  }
  message.assertion = fmt::format("'{}' in {}, {}:{}", condition, function, file, line);
  return true;
}

bool MessageReader::read_text(Message& message, bool wide) {
  for (char c = 0; take(&c, 1);) {
    Step step = Step::more;
    if (c == '\0') {
      return true;
    }
    if (c == '%') {
      step = read_conversion(message.text, wide);
    } else {
      message.text += c;
    }
    if (step != Step::more) {
      return step == Step::end;
    }
  }
  return false;
}

// From behind the %: flags, width, precision and length in any order, as the device's side reads them, then the letter.
MessageReader::Step MessageReader::read_conversion(std::string& out, bool wide) {
  Conversion conversion;
  conversion.raw = "%";
  bool point = false;
  for (char c = 0; take(&c, 1);) {
    if (c == '\0') {
      out += conversion.raw;
      return Step::end;
    }
    conversion.raw += c;
    std::optional<int>& number = point ? conversion.precision : conversion.width;
    if (c >= '0' && c <= '9' && (point || c != '0' || conversion.width)) {
      number = std::min(number.value_or(0) * 10 + (c - '0'), kWidest);
    } else if (c == '.') {
      point = true;
      conversion.precision = 0;
    } else if (c == '*') {
      std::int32_t value = 0;
      if (!take(&value, 4)) {
        return Step::cut;
      }
      if (value < 0 && !point) conversion.flags += '-';
      if (value < 0 && point) {
        number.reset();
      } else {
        number = std::min(value < 0 ? -std::max(value, -kWidest) : value, kWidest);
      }
    } else if (one_of(c, " #+-0'")) {
      conversion.flags += c == '\'' ? std::string() : std::string(1, c);
    } else if (one_of(c, "hljqLzt")) {
      conversion.length += c;
    } else {
      conversion.letter = c;
      return read_argument(conversion, out, wide);
    }
  }
  return Step::cut;
}

MessageReader::Step MessageReader::read_argument(const Conversion& conversion, std::string& out, bool wide) {
  const char letter = conversion.letter;
  if (letter == '%') {
    out += '%';
    return Step::more;
  }
  if (letter == 's') {
    std::string value;
    if (!take_string(value)) {
      return Step::cut;
    }
    Conversion text = conversion;
    std::erase_if(text.flags, [](char c) { return c != '-'; });
    out += formatted(specification(text, "", 's'), value.c_str());
    return Step::more;
  }
  if (!one_of(letter, "cdiouxXpaAeEfFgG")) {
    out += conversion.raw;  // no conversion of CUDA's: as it stands, without an argument
    return Step::more;
  }
  std::uint64_t bits = 0;
  const bool pair = takes_pair(conversion, wide);
  if (!take(&bits, pair ? 8 : 4)) {
    return Step::cut;
  }
  if (one_of(letter, "aAeEfFgG")) {
    out += formatted(specification(conversion, "", letter), std::bit_cast<double>(bits));
  } else if (letter == 'p') {
    out += formatted(specification(conversion, "", letter), reinterpret_cast<void*>(bits));
  } else if (letter == 'c') {
    const std::string character(1, static_cast<char>(bits));
    const std::size_t width = static_cast<std::size_t>(std::min(conversion.width.value_or(0), kWidest));
    const std::string blanks(std::max<std::size_t>(width, 1) - 1, ' ');
    out += conversion.flags.find('-') != std::string::npos ? character + blanks : blanks + character;
  } else if (pair) {
    out += formatted(specification(conversion, "ll", letter), static_cast<unsigned long long>(bits));
  } else {
    const bool small = conversion.length == "h" || conversion.length == "hh";
    out +=
        formatted(specification(conversion, small ? conversion.length : "", letter), static_cast<unsigned int>(bits));
  }
  return Step::more;
}

}  // namespace heddle::isa
