#include "studies/pages/report/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "studies/pages/report/chart_colours.hpp"
#include "studies/pages/report/html.hpp"
#include "studies/pages/report/image_panels.hpp"
#include "studies/pages/report/svg_parts.hpp"
#include "studies/pages/report/timeline_picture.hpp"

namespace heddle::pages {
namespace {

// Series colours that stay apart for colour-blind readers, on white and on dark pages.
constexpr std::size_t kColours = 8;
constexpr std::array<std::string_view, kColours> kLightColours = {"#8a939e", "#0072b2", "#e69f00", "#009e73",
                                                                  "#cc79a7", "#56b4e9", "#d55e00", "#b8a200"};
constexpr std::array<std::string_view, kColours> kDarkColours = {"#8f99a5", "#3d9bd9", "#f0b429", "#2fbf95",
                                                                 "#de9bc0", "#86ccf5", "#f07f3c", "#f0e442"};

constexpr std::string_view kChartStyle = R"css(
svg.chart text { font-size: 12px; } svg.chart .grid { stroke: var(--line); } svg.chart .axis { stroke: var(--soft); }
svg.chart .reference { stroke: var(--ink); stroke-dasharray: 4 3; }
svg.chart polyline { fill: none; stroke-width: 1.5; } svg.chart polyline.strong { stroke-width: 4; }
)css";

constexpr double kFigureWidth = 960;
constexpr double kAxisRoom = 56;  // room for the axis
constexpr double kEndRoom = 12;   // and for half a label
constexpr double kPlotHeight = 240;
constexpr double kPlotWidth = kFigureWidth - kAxisRoom - kEndRoom;
constexpr double kLabelRoom = 78;  // slanted labels below the plot
constexpr double kLabelLetterWidth = 6.8;
struct LegendEntry {
  std::string label;
  std::string colour;
};

std::string legend(const std::vector<LegendEntry>& entries, double& bottom) {
  std::string out;
  double x = kAxisRoom;
  double y = 4;
  for (const LegendEntry& entry : entries) {
    const double width = 24 + kLabelLetterWidth * static_cast<double>(entry.label.size()) + 12;
    if (x + width > kFigureWidth && x > kAxisRoom) {
      x = kAxisRoom;
      y += 22;
    }
    if (!entry.colour.empty()) {
      out += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="14" height="14"/>)", entry.colour, x, y);
    }
    out += svg_text("", x + (entry.colour.empty() ? 0 : 20), y + 12, entry.label);
    x += width;
  }
  bottom = y + 30;
  return out;
}

std::string axis(const Scale& scale, std::string_view unit, bool shares) {
  std::string out;
  for (int i = 0; i <= scale.steps(); ++i) {
    const double y = scale.y(scale.at(i));
    const std::string text = shares ? fmt::format("{:.0f} %", 100 * scale.at(i)) : scale.label(i);
    out += svg_line(scale.at(i) == 0 ? "class=\"axis\"" : "class=\"grid\"", kAxisRoom, y, kFigureWidth - kEndRoom, y);
    out += svg_text("class=\"soft\" text-anchor=\"end\"", kAxisRoom - 6, y + 4, text);
  }
  if (!unit.empty()) {
    out += fmt::format("<text class=\"soft\" x=\"0\" y=\"{:.1f}\">{}</text>\n", scale.top - 10, html_escaped(unit));
  }
  return out;
}

std::string slanted(std::string_view label, double x, double y) {
  return fmt::format("<text text-anchor=\"end\" transform=\"translate({:.1f} {:.1f}) rotate(-35)\">{}</text>\n", x, y,
                     html_escaped(label));
}

std::string wrapped_svg(std::string_view title, double height, const std::string& body) {
  return fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n"
      "<title>{}</title>\n{}</svg>\n",
      kFigureWidth, height, html_escaped(title), body);
}

std::string colour(char kind, std::size_t index) {
  return fmt::format("{}{}", kind, index % kColours);
}

template <class Series>
std::vector<LegendEntry> entries_of(const std::vector<Series>& series) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < series.size(); ++i) {
    entries.push_back({series[i].label, colour('s', i)});
  }
  return entries;
}

template <class Series>
Extent extent_of(const std::vector<Series>& series) {
  Extent extent;
  for (const Series& one : series) {
    std::for_each(one.values.begin(), one.values.end(), [&](double value) { extent.add(value); });
  }
  return extent;
}

std::string svg(const GroupedBars& chart) {
  double top = 0;
  std::string out = legend(entries_of(chart.series), top);
  top += 10;
  const Scale scale = scale_of(extent_of(chart.series), top, kPlotHeight);
  out += axis(scale, chart.unit, false);
  const double group_width = kPlotWidth / static_cast<double>(std::max<std::size_t>(1, chart.groups.size()));
  const double bar_width = 0.82 * group_width / static_cast<double>(std::max<std::size_t>(1, chart.series.size()));
  for (std::size_t group = 0; group < chart.groups.size(); ++group) {
    const double x = kAxisRoom + group_width * (static_cast<double>(group) + 0.09);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
      const double value = group < chart.series[i].values.size() ? chart.series[i].values[group] : kNoValue;
      if (!std::isfinite(value)) {
        continue;
      }
      const double from = std::min(scale.y(value), scale.y(0));
      out += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}</title></rect>\n",
          colour('s', i), x + bar_width * static_cast<double>(i), from, std::max(0.5, bar_width - 0.8),
          std::abs(scale.y(value) - scale.y(0)),
          html_escaped(fmt::format("{}, {}: {:.4g}", chart.groups[group], chart.series[i].label, value)));
    }
    out += slanted(chart.groups[group], x + 0.5 * group_width, top + kPlotHeight + 16);
  }
  if (std::isfinite(chart.reference)) {
    const double y = scale.y(chart.reference);
    out += svg_line("class=\"reference\"", kAxisRoom, y, kFigureWidth - kEndRoom, y) + "\n";
  }
  return wrapped_svg(chart.title, top + kPlotHeight + kLabelRoom, out);
}

std::string svg(const StackedGroups& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.parts.size(); ++i) {
    // The ramp ends in its darkest step, however few parts there are.
    entries.push_back({chart.parts[i], fmt::format("u{}", i == 0 ? 0 : 6 - chart.parts.size() + i)});
  }
  const std::vector<LegendEntry> colours = entries;
  if (chart.members.size() > 1) {
    std::string order = "bars, left to right:";
    for (std::size_t i = 0; i < chart.members.size(); ++i) {
      order += (i == 0 ? " " : ", ") + chart.members[i];
    }
    entries.push_back({order, ""});
  }
  double top = 0;
  std::string out = legend(entries, top);
  const Scale scale{0, 1, 0.25, top, kPlotHeight};
  out += axis(scale, "", true);
  const double group_width = kPlotWidth / static_cast<double>(std::max<std::size_t>(1, chart.groups.size()));
  const double bar_width = 0.82 * group_width / static_cast<double>(std::max<std::size_t>(1, chart.members.size()));
  for (std::size_t group = 0; group < chart.groups.size(); ++group) {
    const StackedGroups::Group& shown = chart.groups[group];
    const double x = kAxisRoom + group_width * (static_cast<double>(group) + 0.09);
    for (std::size_t bar = 0; bar < shown.bars.size(); ++bar) {
      double bottom = 0;
      for (std::size_t part = 0; part < shown.bars[bar].size() && part < colours.size(); ++part) {
        const double share = shown.bars[bar][part];
        const std::string member = bar < chart.members.size() ? chart.members[bar] : std::string();
        out += fmt::format(
            "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
            "height=\"{:.2f}\"><title>{}</title></rect>\n",
            colours[part].colour, x + bar_width * static_cast<double>(bar), scale.y(bottom + share),
            std::max(0.5, bar_width - 0.8), scale.y(bottom) - scale.y(bottom + share),
            html_escaped(fmt::format("{}{}{}, {}: {:.1f} %", shown.label, member.empty() ? "" : ", ", member,
                                     chart.parts[part], 100 * share)));
        bottom += share;
      }
    }
    out += slanted(shown.label, x + 0.5 * group_width, top + kPlotHeight + 16);
  }
  return wrapped_svg(chart.title, top + kPlotHeight + kLabelRoom, out);
}

std::string svg(const LineChart& chart) {
  double top = 0;
  std::string out = legend(entries_of(chart.series), top);
  top += 10;
  const Scale scale = scale_of(extent_of(chart.series), top, kPlotHeight);
  out += axis(scale, chart.unit, false);
  const double step = kPlotWidth / static_cast<double>(std::max<std::size_t>(1, chart.places.size()));
  const auto x_of = [&](std::size_t place) { return kAxisRoom + step * (static_cast<double>(place) + 0.5); };
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const LineChart::Series& series = chart.series[i];
    std::string points;
    std::string marks;
    const auto draw = [&] {
      if (!points.empty()) {
        out += fmt::format("<polyline class=\"{}{}\" points=\"{}\"/>\n", colour('t', i),
                           series.emphasised ? " strong" : "", points);
        points.clear();
      }
    };
    for (std::size_t place = 0; place < chart.places.size() && place < series.values.size(); ++place) {
      const double value = series.values[place];
      if (!std::isfinite(value)) {
        draw();
        continue;
      }
      points += fmt::format("{:.1f},{:.2f} ", x_of(place), scale.y(value));
      marks += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.2f}\" r=\"{}\"><title>{}</title></circle>\n",
                           colour('s', i), x_of(place), scale.y(value), series.emphasised ? 5 : 3,
                           html_escaped(fmt::format("{}, {}: {:.4g}", series.label, chart.places[place], value)));
    }
    draw();
    out += marks;
  }
  for (std::size_t place = 0; place < chart.places.size(); ++place) {
    out += svg_text("text-anchor=\"middle\"", x_of(place), top + kPlotHeight + 18, chart.places[place]);
  }
  return wrapped_svg(chart.title, top + kPlotHeight + 30, out);
}

std::string svg(const ImagePanels& chart) {
  double height = 0;
  const std::string body = image_panels_svg(chart, kFigureWidth, height);
  return wrapped_svg(chart.title, height, body);
}

std::string svg(const tb::BankTimeline& timeline) {
  return timeline_svg(timeline);
}

}  // namespace

std::string chart_svg(const Chart& chart) {
  return std::visit([](const auto& drawn) { return svg(drawn); }, chart);
}

std::string chart_title(const Chart& chart) {
  return std::visit([](const auto& drawn) { return drawn.title; }, chart);
}

std::string chart_file(const Chart& chart) {
  constexpr std::string_view kOfItsOwn = R"css(
:root { --page: #ffffff; --ink: #1b1f24; --soft: #59636e; --line: #d4d9df; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --ink: #e6e9ed; --soft: #a0a9b4; --line: #39414b; } }
svg.chart { background: var(--page); font-family: system-ui, sans-serif; }
svg.chart text { fill: var(--ink); } svg.chart text.soft { fill: var(--soft); }
)css";
  std::string out = chart_svg(chart);
  const std::size_t title = out.find("<title>");
  return out.insert(title, fmt::format("<style>\n{}{}</style>\n", chart_style(), kOfItsOwn));
}

std::string_view chart_style() {
  static const std::string style = [] {
    std::string light;
    std::string dark;
    std::string classes;
    for (std::size_t i = 0; i != kColours; ++i) {
      light += fmt::format("--s{}: {}; ", i, kLightColours[i]);
      dark += fmt::format("--s{}: {}; ", i, kDarkColours[i]);
      classes += fmt::format(".s{0} {{ fill: var(--s{0}); }} .t{0} {{ stroke: var(--s{0}); }}\n", i);
    }
    return fmt::format(":root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n{}{}", light, dark,
                       kChartStyle, classes);
  }();
  return style;
}

std::string_view series_colour(std::size_t series) {
  return kLightColours[series % kColours];
}

}  // namespace heddle::pages
