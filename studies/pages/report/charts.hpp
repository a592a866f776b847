// Charts as the papers draw them, as inline SVG: grouped bars, groups of stacked bars, lines of a sweep, memory banks
// over time, and pictures whose points are measurements. They carry their own style sheet (chart_style), readable in
// light and dark schemes and on paper.
//
// Every kind of picture is drawn in one place. What stands still is drawn here and needs no script, in pages, documents
// and files: figures of claims and of databases. What a reader zooms into, sorts or points at is drawn in the browser
// by Vega (studies/pages/page/charts.js): reports, comparisons, explorations, reviews.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tb/measure/dram/bank_timeline.hpp"

namespace heddle::pages {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();  // a bar or point that was not measured

// A group (a workload) holds one bar per series (a machine).
struct GroupedBars {
  std::string title;  // what a screen reader reads out
  std::string unit;   // of the vertical axis
  std::vector<std::string> groups;
  struct Series {
    std::string label;
    std::vector<double> values;  // one per group; kNoValue draws nothing
  };
  std::vector<Series> series;
  double reference = kNoValue;  // a dashed horizontal line, such as 1 for a speedup
};

// A group holds one bar per member, each made of parts that add up to at most 1.
struct StackedGroups {
  std::string title;
  std::vector<std::string> parts;    // legend, bottom up; at most six, drawn from grey (idle) to dark (full)
  std::vector<std::string> members;  // what bar 1, 2... of every group is
  struct Group {
    std::string label;
    std::vector<std::vector<double>> bars;  // one per member, each with one share per part; empty: not measured
  };
  std::vector<Group> groups;
};

// One line per series over equally spaced places.
struct LineChart {
  std::string title;
  std::string unit;
  std::vector<std::string> places;
  struct Series {
    std::string label;
    std::vector<double> values;  // one per place; kNoValue leaves a gap
    bool emphasised = false;     // drawn thick: the mean
  };
  std::vector<Series> series;
};

// Pictures, each below its caption: one below the other, as wide as the figure; or square ones side by side.
struct ImagePanels {
  std::string title;
  struct Panel {
    std::string caption;
    unsigned width = 0, height = 0;  // points; 0: nothing is drawn
    std::vector<std::uint8_t> rgb;   // red, green, blue of each, row by row from the top
  };
  std::vector<Panel> panels;
  bool square = false;
};
// Rows of values of one length as grey points: 0 is black, `top` white, what is beyond it too.
[[nodiscard]] ImagePanels::Panel grey_panel(std::string caption, const std::vector<std::vector<double>>& rows,
                                            double top);

using Chart = std::variant<GroupedBars, StackedGroups, LineChart, tb::BankTimeline, ImagePanels>;

[[nodiscard]] std::string chart_svg(const Chart& chart);
// As a file of its own, with its style sheet: an image of a document.
[[nodiscard]] std::string chart_file(const Chart& chart);
[[nodiscard]] std::string chart_title(const Chart& chart);

// The style sheet's rules, for a <style> element of the page.
[[nodiscard]] std::string_view chart_style();

}  // namespace heddle::pages
