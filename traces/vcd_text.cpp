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

// The binary digits of a value, none of its leading zeros: readers extend with zeros. Writes over what is behind them,
// up to the longest line. Of 32 digits without a branch on the value: lengths and values are hard to foresee.
inline char* digits(char* at, std::uint64_t value) {
  constexpr unsigned kUsual = 32;
  const auto leading = static_cast<unsigned>(std::countl_zero(value | 1U));
  const std::uint64_t first = value << leading;  // the first digit is the highest bit
  const unsigned count = 64 - leading;
  const auto eight = [&](unsigned from) {
    std::memcpy(at + from, kDigits[(first >> (56 - from)) & 0xffU].data(), kDigits[0].size());
  };
  eight(0);
  eight(8);
  eight(16);
  eight(24);
  if (count > kUsual) [[unlikely]] {
    eight(32);
    eight(40);
    eight(48);
    eight(56);
  }
  return at + count;
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
    const bool one_bit = head.variables[variable].width == 1;
    const std::string id = (one_bit ? "" : " ") + ids_[variable] + '\n';
    Line& line = lines_.emplace_back();
    if (id.size() > line.end.size()) {
      throw InternalError("too many signals are traced");
    }
    std::copy(id.begin(), id.end(), line.end.begin());
    line.length = static_cast<std::uint32_t>(id.size());
    if (one_bit) {
      line.before = 0;
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
    const std::size_t count = std::min(text.size(), most_ - text_.size);
    std::memcpy(line(), text.data(), count);
    end_line(line() + count);
    text.remove_prefix(count);
    others_ = others_ || !text.empty();
  }
}

void VcdText::flush() {
  if (lines_of_ != nullptr && !others_) {
    lines_of_->take_lines(text_);
    make_room();
  } else {
    out_.write({text_.bytes.data(), text_.size});
    text_.lines.clear();
    text_.size = 0;
  }
  others_ = false;
}

void VcdText::time(std::uint64_t time) {
  if (time != time_) {
    time_ = time;
    char* const text = line();
    *text = '#';
    char* end = std::to_chars(text + 1, text + kLongestLine - 1, time).ptr;
    *end++ = '\n';
    if (lines_of_ != nullptr) {
      text_.lines.push_back({static_cast<std::uint16_t>(end - text), 0});
    }
    end_line(end);
  }
}

void VcdText::changes(std::span<const link::WaveChange> changes) {
  if (lines_of_ != nullptr) {
    write_changes<true>(changes);
  } else {
    write_changes<false>(changes);
  }
}

template <bool kTellsLines>
inline void VcdText::write_changes(std::span<const link::WaveChange> changes) {
  char* at = line();
  for (const link::WaveChange& change : changes) {
    const char* const begin = at;
    const Line& of = lines_[change.wave];
    const std::uint64_t value = change.value & of.mask;
    *at = 'b';  // written over where the line begins with the digit
    at = digits(at + of.before, value);
    std::memcpy(at, of.end.data(), of.end.size());
    at += of.length;
    if constexpr (kTellsLines) {
      const std::uint64_t mixed = (value + change.wave * 0xC2B2AE3D27D4EB4FULL) * 0x9E3779B97F4A7C15ULL;
      text_.lines.push_back({static_cast<std::uint16_t>(at - begin), static_cast<std::uint16_t>(mixed >> 48U)});
    }
    if (at >= text_.bytes.data() + most_) [[unlikely]] {
      end_line(at);
      at = line();
    }
  }
  end_line(at);
}

void VcdText::unknown(std::uint32_t wave) {
  const Line& of = lines_[wave];
  append(of.before == 0 ? "x" : "bx");
  append({of.end.data(), of.length});
}

void VcdText::text(std::size_t variable, const std::string& value) {
  append(value + ids_[variable] + "\n");
}

}  // namespace heddle::traces
