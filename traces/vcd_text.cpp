#include "traces/vcd_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/error.hpp"

namespace heddle::traces {

namespace {

// What tells the lines of changes apart: the wave, and this many bits of a value. A value of more bits, and waves from
// kNew on, have lines that count as like none.
constexpr unsigned kValueBits = 40;
constexpr std::uint32_t kNew = (1U << (LineSink::Line::kWhatBits - kValueBits)) - 2;
// A time is told as two lines. The first one, without the last digit, comes kTimesTogether times, as a wave kTimes.
constexpr std::uint64_t kTimes = kNew + 1;
constexpr std::uint64_t kTimesTogether = 10;

// The so many-th line of the text, which counts as like none.
inline LineSink::Line new_line(std::size_t number, std::size_t size) {
  return {std::uint64_t{kNew} << kValueBits | number, size};
}

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
  std::string text = fmt::format("$version {} $end\n", head.version);
  for (const std::string& comment : head.comments) {
    text += fmt::format("$comment {} $end\n", comment);
  }
  text += fmt::format("$timescale {} $end\n", time_scale(head.unit));
  scope(WaveScope::of(head.variables), head, text);
  out_.write(text + "$enddefinitions $end\n");
}

void VcdText::scope(const WaveScope& scope, const Head& head, std::string& text) const {
  for (const auto& [name, number] : scope.variables) {
    const Variable& variable = head.variables[number];
    const char* const type = variable.type == Type::real ? "real" : variable.type == Type::event ? "event" : "wire";
    text += fmt::format("$var {} {} {} {} $end\n", type, variable.width, ids_[number], name_with_bits(name, variable));
  }
  for (const auto& [name, inner] : scope.inner) {
    text += fmt::format("$scope module {} $end\n", name);
    this->scope(*inner, head, text);
    text += "$upscope $end\n";
  }
}

// Text that comes once, or seldom.
void VcdText::append(std::string_view text) {
  while (!text.empty()) {
    const std::size_t count = std::min({text.size(), most_ - text_.size, LineSink::Line::kLongest});
    std::memcpy(line(), text.data(), count);
    tell_new_line(count);
    end_line(line() + count);
    text.remove_prefix(count);
  }
}

inline void VcdText::tell_new_line(std::size_t size) {
  if (lines_of_ != nullptr) {
    make_room_for_lines(1);
    text_.lines[text_.lines_count] = new_line(text_.lines_count, size);
    ++text_.lines_count;
  }
}

void VcdText::flush() {
  if (lines_of_ != nullptr) {
    lines_of_->take_lines(text_);
    make_room(1);
  } else {
    out_.write({text_.bytes.data(), text_.size});
    text_.size = 0;
  }
}

void VcdText::time(std::uint64_t time) {
  if (time != time_) {
    time_ = time;
    char* const text = line();
    *text = '#';
    char* end = std::to_chars(text + 1, text + kLongestLine - 1, time).ptr;
    *end++ = '\n';
    auto size = static_cast<std::size_t>(end - text);
    const std::uint64_t of_several = time / kTimesTogether;
    if (lines_of_ != nullptr && of_several != 0 && of_several >> kValueBits == 0) {
      make_room_for_lines(1);
      text_.lines[text_.lines_count++] = {kTimes << kValueBits | of_several, size - 2};
      size = 2;
    }
    tell_new_line(size);
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
  make_room(changes.size());
  if (kTellsLines) {
    make_room_for_lines(changes.size());
  }
  // Where nothing that is written changes them.
  char* at = line();
  const Line* const lines = lines_.data();
  LineSink::Line* told = text_.lines.data() + text_.lines_count;
  for (const auto& [wave, new_value] : changes) {
    const char* const begin = at;
    const Line& of = lines[wave];
    const std::uint64_t value = new_value & of.mask;
    *at = 'b';  // written over where the line begins with the digit
    at = digits(at + of.before, value);
    std::memcpy(at, of.end.data(), of.end.size());
    at += of.length;
    if constexpr (kTellsLines) {
      const auto size = static_cast<std::size_t>(at - begin);
      if (wave < kNew && value >> kValueBits == 0) [[likely]] {
        *told = {std::uint64_t{wave} << kValueBits | value, size};
      } else {
        *told = new_line(static_cast<std::size_t>(told - text_.lines.data()), size);
      }
      ++told;
    }
  }
  text_.lines_count = static_cast<std::size_t>(told - text_.lines.data());
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
