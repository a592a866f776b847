#include "studies/pages/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace heddle::pages {
namespace {

// u0..u5: functional units, from idle grey over a ramp of one hue to full.
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
.u0 { background: var(--u0); color: var(--u0t); } .u1 { background: var(--u1); color: var(--u1t); }
.u2 { background: var(--u2); color: var(--u2t); } .u3 { background: var(--u3); color: var(--u3t); }
.u4 { background: var(--u4); color: var(--u4t); } .u5 { background: var(--u5); color: var(--u5t); }
figure.bars { margin: .6rem 0; max-width: 62rem; font-size: .85rem; line-height: 1.4; }
.bars .keys { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .2rem 0 .5rem; max-width: none; }
.bars .keys i { display: inline-block; width: .85rem; height: .85rem; vertical-align: -.1rem; }
.bars .row { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: 0 .7rem; align-items: center;
  margin: .3rem 0; break-inside: avoid; }
.bars .row > span { text-align: right; overflow-wrap: anywhere; }
.bars .bar { display: flex; height: 1.6rem; background: linear-gradient(to right, var(--line) 1px, transparent 1px)
  0 0 / 25% 100%; box-shadow: 1px 0 var(--line); }
.bars .bar span { overflow: hidden; text-align: center; line-height: 1.6rem; font-variant-numeric: tabular-nums;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bars .keys i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.bars .scale div { position: relative; height: 1.3rem; color: var(--soft); }
.bars .scale div span { position: absolute; white-space: nowrap; transform: translateX(-50%); }
.bars .scale div span:first-child { transform: none; }
.bars .scale div span:last-child { transform: translateX(-100%); }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: 1rem .9rem; } .bars .row { grid-template-columns: 1fr; }
  .bars .row > span { text-align: left; } .bars .bar { height: 1.35rem; } .bars .bar span { line-height: 1.35rem; }
  .plot { overflow-x: auto; } .plot svg { min-width: 44rem; } }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; font-size: .92rem; }
dt { font-weight: 600; } dd { margin: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
)css";

// Sorts a table by the clicked column: by number where both cells start with one, a unit prefix counted in.
constexpr std::string_view kScript = R"js(
"use strict";
const scale = { k: 1e3, M: 1e6, G: 1e9, T: 1e12 };
const value = (text) => {
  const found = /^(-?[\d,.]+)\s*([kMGT]?)\b/.exec(text.replace("\u2212", "-"));
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

constexpr double kNumberedShare = 0.06;  // narrower parts have no room for their number

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

std::string html_minus_signs(std::string_view html) {
  std::string out;
  for (std::size_t i = 0; i < html.size();) {
    std::size_t end = i + 1;  // of what is copied as it is
    if (html[i] == '<') {
      end = html.find('>', i);
      for (const std::string_view whole : {"style", "code"}) {
        if (html.substr(i + 1).starts_with(whole)) {
          end = html.find(fmt::format("</{}>", whole), i);
        }
      }
      end = std::min(end, html.size());
    } else if (html[i] == '-' && i + 1 < html.size() && html[i + 1] >= '0' && html[i + 1] <= '9' &&
               (i == 0 || std::string_view(" (>\n").find(html[i - 1]) != std::string_view::npos)) {
      out += "\u2212";
      ++i;
      continue;
    }
    out += html.substr(i, end - i);
    i = end;
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
  std::string out =
      fmt::format("<figure class=\"bars\" role=\"img\" aria-label=\"{}\">\n<p class=\"keys\">", html_escaped(title));
  std::vector<bool> shown;  // a part that no row has needs no key
  for (std::size_t i = 0; i < bars.parts.size(); ++i) {
    shown.push_back(std::any_of(bars.rows.begin(), bars.rows.end(), [i](const StackedBars::Row& row) {
      return i < row.shares.size() && row.shares[i] > 0;
    }));
    if (shown.back()) {
      out +=
          fmt::format("<span><i class=\"{}\"></i> {}</span> ", bars.parts[i].colour, html_escaped(bars.parts[i].label));
    }
  }
  out += "</p>\n";
  for (const StackedBars::Row& row : bars.rows) {
    out += fmt::format("<div class=\"row\"><span>{}</span><div class=\"bar\">", html_escaped(row.label));
    for (std::size_t i = 0; i < bars.parts.size() && i < row.shares.size(); ++i) {
      const double share = std::clamp(row.shares[i], 0.0, 1.0);
      if (share <= 0) {
        continue;
      }
      out += fmt::format(
          "<span class=\"{}\" style=\"width:{:.2f}%\" title=\"{}\">{}</span>", bars.parts[i].colour, 100 * share,
          html_escaped(fmt::format("{}, {}: {}", row.label, bars.parts[i].label, percent(row.shares[i]))),
          share >= kNumberedShare ? fmt::format("{:.0f}", 100 * share) : "");
    }
    out += "</div></div>\n";
  }
  out += "<div class=\"row scale\"><span></span><div>";
  for (int tick = 0; tick <= 100; tick += 25) {
    out += fmt::format("<span style=\"left:{0}%\">{0} %</span>", tick);
  }
  return out + "</div></div>\n</figure>\n";
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

}  // namespace heddle::pages
