// Pieces of self-contained HTML pages: no file, font or script from elsewhere; readable in light and dark schemes and
// on paper.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::pages {

[[nodiscard]] std::string html_escaped(std::string_view text);

// HTML in which the hyphens before numbers are minus signs, as wide as the plus; what is between <code> and <style>
// tags, and the tags themselves, stay.
[[nodiscard]] std::string html_minus_signs(std::string_view html);

// A whole page. `body` is HTML.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body);

// One horizontal bar per row, made of parts that add up to at most 1.
struct StackedBars {
  struct Part {
    std::string label;   // in the legend and in the tooltip
    std::string colour;  // class of the page's style sheet: "u0".."u5" (functional units), "of-KEY"
                         // (studies/pages/report/appearance.hpp)
  };
  struct Row {
    std::string label;
    std::vector<double> shares;  // one per part
  };
  std::vector<Part> parts;
  std::vector<Row> rows;
};
// With a legend, as wide as the page; names stand above their bars where it is narrow. `title` says what a screen
// reader reads out.
[[nodiscard]] std::string html_stacked_bars(const StackedBars& bars, std::string_view title);

// Sortable by a click on a heading. Columns listed in `left` are words, the others numbers.
[[nodiscard]] std::string html_table(const std::vector<std::string>& titles,
                                     const std::vector<std::vector<std::string>>& rows,
                                     const std::vector<std::size_t>& left);

}  // namespace heddle::pages
