#include "studies/pages/report/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"

namespace heddle::pages {

std::string number_text(double number, int digits) {
  const std::string sign = number < 0 ? "\u2212" : "";
  const double size = std::abs(number);
  if (!std::isfinite(size)) {
    return sign + fmt::format("{}", size);
  }
  constexpr std::array<std::pair<double, const char*>, 4> kPrefixes = {
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (size >= 1e4) {
    for (const auto& [unit, prefix] : kPrefixes) {
      if (size >= 0.9995 * unit) {
        return sign + fmt::format("{:.{}g} {}", size / unit, std::max(digits, 3), prefix);
      }
    }
  }
  if (size >= 1000 || size == std::floor(size)) {
    return sign + grouped(static_cast<std::uint64_t>(std::llround(size)));
  }
  return sign + fmt::format("{:.{}g}", size, digits);
}

}  // namespace heddle::pages
