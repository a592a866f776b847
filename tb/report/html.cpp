#include "tb/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::tb {
namespace {

// u0..u5: functional units, from idle grey over a ramp of one hue to full; c0..c8: causes, a palette that stays apart
// for colour-blind readers.
constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --soft: #59636e; --line: #d4d9df; --head: #f3f5f7;
  --bad: #b3261e;
  --u0: #d9dde2; --u1: #cfe3f7; --u2: #9dc6ec; --u3: #5fa2da; --u4: #2f78b7; --u5: #0f4a80;
  --u0t: #1b1f24; --u1t: #1b1f24; --u2t: #1b1f24; --u3t: #10151a; --u4t: #ffffff; --u5t: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --page: #14181d; --ink: #e6e9ed; --soft: #a0a9b4; --line: #39414b;
  --head: #1d232a; --bad: #ff8a80;
  --u0: #343b44; --u1: #1c3d5c; --u2: #255b8a; --u3: #3580bd; --u4: #68abe2; --u5: #b5d9f8;
  --u0t: #e6e9ed; --u1t: #e6e9ed; --u2t: #ffffff; --u3t: #ffffff; --u4t: #10151a; --u5t: #10151a; } }
@media print { :root { --page: #ffffff; --ink: #000000; --soft: #333333; --line: #999999; --head: #eeeeee;
  --u0: #d9dde2; --u1: #cfe3f7; --u2: #9dc6ec; --u3: #5fa2da; --u4: #2f78b7; --u5: #0f4a80;
  --u0t: #1b1f24; --u1t: #1b1f24; --u2t: #1b1f24; --u3t: #10151a; --u4t: #ffffff; --u5t: #ffffff; }
  section { break-inside: avoid; } rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 76rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
p { margin: .3rem 0 .8rem; max-width: 60rem; } .soft { color: var(--soft); } .bad { color: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { background: var(--head); vertical-align: bottom; white-space: pre-line; cursor: pointer; }
th.left, td.left { text-align: left; }
line.axis { stroke: var(--line); }
svg { display: block; width: 100%; height: auto; max-width: 62rem; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); } svg text.soft { fill: var(--soft); }
rect.u0 { fill: var(--u0); } rect.u1 { fill: var(--u1); } rect.u2 { fill: var(--u2); } rect.u3 { fill: var(--u3); }
rect.u4 { fill: var(--u4); } rect.u5 { fill: var(--u5); }
svg text.u0 { fill: var(--u0t); } svg text.u1 { fill: var(--u1t); } svg text.u2 { fill: var(--u2t); }
svg text.u3 { fill: var(--u3t); } svg text.u4 { fill: var(--u4t); } svg text.u5 { fill: var(--u5t); }
rect.c0 { fill: #8a939e; } rect.c1 { fill: #0072b2; } rect.c2 { fill: #e69f00; } rect.c3 { fill: #56b4e9; }
rect.c4 { fill: #cc79a7; } rect.c5 { fill: #009e73; } rect.c6 { fill: #f0e442; } rect.c7 { fill: #d55e00; }
rect.c8 { fill: #7a5c3e; } rect.c9 { fill: #6a51a3; } rect.c10 { fill: #3b4a5a; }
svg text.c0, svg text.c2, svg text.c3, svg text.c4, svg text.c5, svg text.c6, svg text.c7 { fill: #10151a; }
svg text.c1, svg text.c8, svg text.c9, svg text.c10 { fill: #ffffff; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; font-size: .92rem; }
dt { font-weight: 600; } dd { margin: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
)css";

// Sorts a table by the clicked column: by number where both cells start with one, a unit prefix counted in.
constexpr std::string_view kScript = R"js(
"use strict";
const scale = { k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const value = (text) => {
  const found = /^(-?[\d,.]+)\s*([kMGT]?)\b/.exec(text);
  return found ? parseFloat(found[1].replaceAll(",", "")) * (scale[found[2]] || 1) : NaN;
};
for (const head of document.querySelectorAll("th")) {
  head.addEventListener("click", () => {
    const body = head.closest("table").tBodies[0], column = head.cellIndex;
    const down = head.dataset.order !== "down";
    for (const other of head.parentNode.cells) delete other.dataset.order;
    head.dataset.order = down ? "down" : "up";
    const rows = [...body.rows].sort((a, b) => {
      const s = a.cells[column].textContent, t = b.cells[column].textContent, x = value(s), y = value(t);
      const order = isNaN(x) || isNaN(y) ? s.localeCompare(t) : x - y;
      return down ? -order : order;
    });
    body.append(...rows);
  });
}
)js";

constexpr double kBarsWidth = 960;
constexpr double kLabelWidth = 130;
constexpr double kBarWidth = kBarsWidth - kLabelWidth - 10;
constexpr double kBarHeight = 24;
constexpr double kRowHeight = 34;
constexpr double kLegendStep = 24;
constexpr double kLegendLetterWidth = 7.2;  // of the 13-pixel font, on average

std::string legend(const StackedBars& bars, double top, double& bottom) {
  std::string out;
  double x = kLabelWidth;
  double y = top;
  for (const StackedBars::Part& part : bars.parts) {
    const double width = 26 + kLegendLetterWidth * static_cast<double>(part.label.size()) + 14;
    if (x + width > kBarsWidth) {
      x = kLabelWidth;
      y += kLegendStep;
    }
    out += fmt::format(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="16" height="16"/>)", part.colour, x, y);
    out += fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", x + 22, y + 13, html_escaped(part.label));
    out += '\n';
    x += width;
  }
  bottom = y + kLegendStep;
  return out;
}

std::string axis(double top, double height) {
  std::string out;
  for (int tick = 0; tick <= 100; tick += 25) {
    const double x = kLabelWidth + kBarWidth * tick / 100;
    out += fmt::format(R"(<line class="axis" x1="{0:.1f}" y1="{1:.1f}" x2="{0:.1f}" y2="{2:.1f}"/>)", x, top,
                       top + height);
    out += fmt::format("<text class=\"soft\" text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{} %</text>\n",
                       tick == 100 ? "end" : "middle", x, top + height + 16, tick);
  }
  return out;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(letter) >= 0x20 || letter == '\n' || letter == '\t') {
          out += letter;
        }
    }
  }
  return out;
}

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n{}<script>{}</script>\n</body>\n</html>\n",
      html_escaped(title), kStyle, body, kScript);
}

std::string html_stacked_bars(const StackedBars& bars, std::string_view title) {
  std::string out;
  double y = 0;
  out += legend(bars, 4, y);
  y += 6;
  const double height = kRowHeight * static_cast<double>(bars.rows.size());
  out += axis(y, height);
  for (const StackedBars::Row& row : bars.rows) {
    out += fmt::format("<text text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", kLabelWidth - 10, y + 21,
                       html_escaped(row.label));
    double x = kLabelWidth;
    for (std::size_t i = 0; i < bars.parts.size() && i < row.shares.size(); ++i) {
      const double width = kBarWidth * std::clamp(row.shares[i], 0.0, 1.0);
      if (width <= 0) {
        continue;
      }
      const std::string tip = fmt::format("{}, {}: {:.1f} %", row.label, bars.parts[i].label, 100 * row.shares[i]);
      out +=
          fmt::format(R"(<rect class="{}" x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{}"><title>{}</title></rect>)",
                      bars.parts[i].colour, x, y + 5, width, kBarHeight, html_escaped(tip));
      if (row.shares[i] >= 0.06) {
        out += fmt::format(
            R"(<text class="{}" text-anchor="middle" pointer-events="none" x="{:.2f}" y="{:.1f}">{:.0f}</text>)",
            bars.parts[i].colour, x + width / 2, y + 21, 100 * row.shares[i]);
      }
      out += '\n';
      x += width;
    }
    y += kRowHeight;
  }
  y += 24;
  return fmt::format(
      "<svg viewBox=\"0 0 {} {:.0f}\" role=\"img\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n{}</svg>\n",
      kBarsWidth, y, html_escaped(title), out);
}

std::string html_table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows,
                       const std::vector<std::size_t>& left) {
  const auto kind = [&](std::size_t column) {
    return std::find(left.begin(), left.end(), column) != left.end() ? " class=\"left\"" : "";
  };
  std::string out = "<div class=\"wide\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < titles.size(); ++i) {
    out += fmt::format("<th{}>{}</th>", kind(i), html_escaped(titles[i]));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += fmt::format("<td{}>{}</td>", kind(i), html_escaped(row[i]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table></div>\n";
}

}  // namespace heddle::tb
