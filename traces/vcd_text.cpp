#include "traces/vcd_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/error.hpp"

namespace heddle::traces {

namespace {

// The eight binary digits of every byte.
constexpr auto kDigits = [] {
  std::array<std::array<char, 8>, 256> digits{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      digits[byte][bit] = static_cast<char>('0' + ((byte >> (7 - bit)) & 1U));
    }
  }
  return digits;
}();

// What comes before the identifier of a wave's line, of values below kSmall: of several bits, then of one.
constexpr std::uint32_t kSmall = 256;
struct Start {
  std::array<char, 15> text;
  std::uint8_t length;
};
constexpr auto kStarts = [] {
  std::array<Start, kSmall + 2> starts{};
  for (std::uint32_t value = 0; value != kSmall; ++value) {
    Start& start = starts[value];
    const auto digits = static_cast<unsigned>(std::max<int>(static_cast<int>(std::bit_width(value)), 1));
    start.text[0] = 'b';
    for (unsigned digit = 0; digit != digits; ++digit) {
      start.text[1 + digit] = static_cast<char>('0' + ((value >> (digits - 1 - digit)) & 1U));
    }
    start.text[1 + digits] = ' ';
    start.length = static_cast<std::uint8_t>(digits + 2);
  }
  for (std::uint32_t bit = 0; bit != 2; ++bit) {
    starts[kSmall + bit] = {{static_cast<char>('0' + bit)}, 1};
  }
  return starts;
}();

// The start of a line of a value from kSmall on; behind it as many bytes as one more byte of digits has are written to.
char* long_start(char* at, std::uint64_t value) {
  // Whole bytes from the first one that is not zero, less its leading zeros: readers extend with zeros.
  const auto bits = static_cast<unsigned>(std::bit_width(value));
  unsigned bytes = (bits + 7) / 8;
  const unsigned leading = bytes * 8 - bits;
  *at++ = 'b';
  --bytes;
  std::uint64_t digits = 0;
  std::memcpy(&digits, kDigits[(value >> (8 * bytes)) & 0xffU].data(), sizeof digits);
  digits >>= 8 * leading;  // the first digit is in the lowest byte
  std::memcpy(at, &digits, sizeof digits);
  at += 8 - leading;
  while (bytes != 0) {
    --bytes;
    std::memcpy(at, kDigits[(value >> (8 * bytes)) & 0xffU].data(), 8);
    at += 8;
  }
  *at++ = ' ';
  return at;
}

// Identifiers are numbers in base 94, in printable characters.
std::string identifier(std::size_t number) {
  std::string id;
  do {
    id.push_back(static_cast<char>('!' + number % 94));
    number /= 94;
  } while (number != 0);
  return id;
}

// 1, 10 or 100 of a unit.
std::string time_scale(int power) {
  constexpr std::array<const char*, 6> kUnits = {"s", "ms", "us", "ns", "ps", "fs"};
  const auto unit = static_cast<std::size_t>(std::clamp((2 - power) / 3, 0, 5));
  const int tens = power + 3 * static_cast<int>(unit);
  return fmt::format("{} {}", tens == 2 ? 100 : tens == 1 ? 10 : 1, kUnits[unit]);
}

}  // namespace

void VcdText::begin(const Head& head) {
  for (std::size_t number = 0; number != head.variables.size(); ++number) {
    ids_.push_back(identifier(number));
  }
  for (const std::uint32_t variable : head.waves) {
    const std::string id = ids_[variable] + '\n';
    Line& line = lines_.emplace_back();
    if (id.size() > line.id.size()) {
      throw InternalError("too many signals are traced");
    }
    std::copy(id.begin(), id.end(), line.id.begin());
    line.length = static_cast<std::uint32_t>(id.size());
    if (head.variables[variable].width == 1) {
      line.first = kSmall;
      line.mask = 1;
    }
  }
  append(fmt::format("$version {} $end\n", head.version));
  for (const std::string& comment : head.comments) {
    append(fmt::format("$comment {} $end\n", comment));
  }
  append(fmt::format("$timescale {} $end\n", time_scale(head.unit)));
  scope(WaveScope::of(head.variables), head);
  append("$enddefinitions $end\n");
  flush();
}

void VcdText::scope(const WaveScope& scope, const Head& head) {
  for (const auto& [name, number] : scope.variables) {
    const Variable& variable = head.variables[number];
    const char* const type = variable.type == Type::real ? "real" : variable.type == Type::event ? "event" : "wire";
    append(fmt::format("$var {} {} {} {} $end\n", type, variable.width, ids_[number], name_with_bits(name, variable)));
  }
  for (const auto& [name, inner] : scope.inner) {
    append(fmt::format("$scope module {} $end\n", name));
    this->scope(*inner, head);
    append("$upscope $end\n");
  }
}

void VcdText::append(std::string_view text) {
  others_ = true;
  while (!text.empty()) {
    const std::size_t count = std::min(text.size(), kBytes - size_);
    std::memcpy(line(), text.data(), count);
    end_line(line() + count);
    text.remove_prefix(count);
    others_ = others_ || !text.empty();
  }
}

void VcdText::flush() {
  if (lines_of_ != nullptr && !others_) {
    lines_of_->write_lines({bytes_.get(), size_}, told_);
  } else {
    out_.write({bytes_.get(), size_});
  }
  told_.clear();
  others_ = false;
  size_ = 0;
}

void VcdText::time(std::uint64_t time) {
  if (time != time_) {
    time_ = time;
    char* const text = line();
    *text = '#';
    char* end = std::to_chars(text + 1, text + kLongestLine - 1, time).ptr;
    *end++ = '\n';
    if (lines_of_ != nullptr) {
      told_.push_back({static_cast<std::uint16_t>(end - text), 0});
    }
    end_line(end);
  }
}

void VcdText::changes(std::span<const link::WaveLog::Change> changes) {
  if (lines_of_ != nullptr) {
    write_changes<true>(changes);
  } else {
    write_changes<false>(changes);
  }
}

template <bool kTellsLines>
inline void VcdText::write_changes(std::span<const link::WaveLog::Change> changes) {
  char* at = line();
  for (const link::WaveLog::Change& change : changes) {
    const char* const begin = at;
    const Line& of = lines_[change.wave];
    const std::uint64_t value = change.value & of.mask;
    if (value < kSmall) {
      const Start& start = kStarts[of.first + value];
      std::memcpy(at, start.text.data(), start.text.size());  // what is too much is written over
      at += start.length;
    } else {
      at = long_start(at, value);
    }
    std::memcpy(at, of.id.data(), of.id.size());
    at += of.length;
    if constexpr (kTellsLines) {
      const std::uint64_t mixed = (value + change.wave * 0xC2B2AE3D27D4EB4FULL) * 0x9E3779B97F4A7C15ULL;
      told_.push_back({static_cast<std::uint16_t>(at - begin), static_cast<std::uint16_t>(mixed >> 48U)});
    }
    if (at >= bytes_.get() + kBytes) [[unlikely]] {
      end_line(at);
      at = line();
    }
  }
  end_line(at);
}

void VcdText::unknown(std::uint32_t wave) {
  const Line& of = lines_[wave];
  append(of.one_bit() ? "x" : "bx ");
  append({of.id.data(), of.length});
}

void VcdText::text(std::size_t variable, const std::string& value) {
  append(value + ids_[variable] + "\n");
}

}  // namespace heddle::traces
