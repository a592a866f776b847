#include "studies/pages/report/image_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/base64.hpp"
#include "studies/pages/report/html.hpp"
#include "studies/pages/report/png.hpp"

namespace heddle::pages {
namespace {

constexpr double kCaption = 20;   // room above a panel
constexpr double kGap = 10;       // between panels
constexpr double kRowHeight = 4;  // of a point in panels as wide as the figure
constexpr double kLeast = 40;     // of such a panel, however few rows it has
constexpr std::size_t kBeside = 4;

std::string panel_svg(const ImagePanels::Panel& panel, double x, double y, double width, double height) {
  std::string out = fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y + 13, html_escaped(panel.caption));
  if (panel.width != 0 && panel.height != 0) {
    out += fmt::format(
        "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" preserveAspectRatio=\"none\" "
        "style=\"image-rendering: pixelated\" href=\"data:image/png;base64,{}\"/>\n",
        x, y + kCaption, width, height, base64(png(panel.width, panel.height, panel.rgb)));
  }
  return out;
}

}  // namespace

ImagePanels::Panel grey_panel(std::string caption, const std::vector<std::vector<double>>& rows, double top) {
  ImagePanels::Panel panel;
  panel.caption = std::move(caption);
  panel.height = static_cast<unsigned>(rows.size());
  panel.width = rows.empty() ? 0 : static_cast<unsigned>(rows.front().size());
  for (const std::vector<double>& row : rows) {
    for (unsigned column = 0; column != panel.width; ++column) {
      const double value = column < row.size() && top > 0 ? std::clamp(row[column] / top, 0.0, 1.0) : 0;
      panel.rgb.insert(panel.rgb.end(), 3, static_cast<std::uint8_t>(std::lround(255 * value)));
    }
  }
  return panel;
}

std::string image_panels_svg(const ImagePanels& chart, double width, double& height) {
  std::string out;
  const std::size_t beside = chart.square ? std::clamp<std::size_t>(chart.panels.size(), 1, kBeside) : 1;
  const double each = (width - kGap * static_cast<double>(beside - 1)) / static_cast<double>(beside);
  double y = 0;
  for (std::size_t first = 0; first < chart.panels.size(); first += beside) {
    double tallest = 0;
    for (std::size_t i = first; i != std::min(chart.panels.size(), first + beside); ++i) {
      const ImagePanels::Panel& panel = chart.panels[i];
      const double high =
          chart.square ? each * panel.height / std::max(1U, panel.width) : std::max(kLeast, kRowHeight * panel.height);
      out += panel_svg(panel, static_cast<double>(i - first) * (each + kGap), y, each, high);
      tallest = std::max(tallest, high);
    }
    y += kCaption + tallest + kGap;
  }
  height = y;
  return out;
}

}  // namespace heddle::pages
