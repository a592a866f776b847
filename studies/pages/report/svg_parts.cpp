#include "studies/pages/report/svg_parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "studies/pages/report/html.hpp"
#include "studies/pages/report/number_text.hpp"

namespace heddle::pages {
namespace {

std::string element(std::string_view name, std::string_view look) {
  return fmt::format("<{}{}{}", name, look.empty() ? "" : " ", look);
}

}  // namespace

double round_step(double span, int most) {
  const double least = span / std::max(1, most);
  if (!(least > 0) || !std::isfinite(least)) {
    return 1;
  }
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

int Scale::steps() const {
  return static_cast<int>(std::lround((high - low) / step));
}

double Scale::at(int step_number) const {
  const double value = low + step * step_number;
  return std::abs(value) < step / 2 ? 0 : value;
}

std::string Scale::label(int step_number) const {
  return number_text(at(step_number), 6);
}

Scale scale_of(const Extent& extent, double top, double height) {
  constexpr int kMostSteps = 6;
  const double low = std::min(extent.low, 0.0);
  const double most = std::max(extent.high, 0.0);
  const double high = most > low ? most : low + 1;
  const double step = round_step(high - low, kMostSteps);
  return {std::floor(low / step) * step, std::ceil(high / step - 1e-9) * step, step, top, height};
}

void Extent::add(double value) {
  if (std::isfinite(value)) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
}

std::string svg_text(std::string_view look, double x, double y, std::string_view words) {
  return element("text", look) + fmt::format(" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, html_escaped(words));
}

std::string svg_line(std::string_view look, double x1, double y1, double x2, double y2) {
  return element("line", look) +
         fmt::format(" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x1, y1, x2, y2);
}

}  // namespace heddle::pages
