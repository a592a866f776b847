// What pictures in SVG are made of: a round axis of values, texts and lines. Charts of pages (charts.hpp) and plots of
// databases (studies/results) use all of it, timelines (timeline_picture.hpp) the steps of axes. `look` is how an
// element looks, as attributes: a class of the page's style sheet, or a colour in a file of its own.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

namespace heddle::pages {

// The step of a round axis (1, 2, 2.5 or 5 times a power of ten) that cuts `span` into at most `most` pieces.
[[nodiscard]] double round_step(double span, int most);

// The lowest and the highest of the finite values that were added.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value);
};

// A vertical axis in round steps.
struct Scale {
  double low = 0;
  double high = 1;
  double step = 0.25;
  double top = 0;  // y of `high`
  double height = 0;
  [[nodiscard]] double y(double value) const {
    return top + height * (high - std::clamp(value, low, high)) / (high - low);
  }
  [[nodiscard]] int steps() const;
  // The value at a step's end, and as text.
  [[nodiscard]] double at(int step_number) const;
  [[nodiscard]] std::string label(int step_number) const;
};
// Over the values and 0.
[[nodiscard]] Scale scale_of(const Extent& extent, double top, double height);

[[nodiscard]] std::string svg_text(std::string_view look, double x, double y, std::string_view words);
[[nodiscard]] std::string svg_line(std::string_view look, double x1, double y1, double x2, double y2);

}  // namespace heddle::pages
