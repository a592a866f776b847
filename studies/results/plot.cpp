// Plots for papers: lines, bars and maps, drawn with presentation attributes alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "studies/pages/report/charts.hpp"
#include "studies/pages/report/html.hpp"
#include "studies/pages/report/number_text.hpp"
#include "studies/pages/report/svg_parts.hpp"
#include "studies/results/results.hpp"

namespace heddle::studies::results {
namespace {

constexpr double kWidth = 560;
constexpr double kHeight = 340;
constexpr double kTop = 16;
constexpr double kBottom = 52;
constexpr double kLetter = 6.3;  // width of a letter of kFont
constexpr std::string_view kFont = "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\"";
// Apart for colour-blind readers and, by their lightness, in print.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#e69f00",
                                                      "#56b4e9", "#cc79a7", "#000000", "#999999"};

struct Data {
  std::vector<SqlValue> x;
  std::vector<SqlValue> series;             // one empty value without a second axis
  std::vector<std::vector<double>> values;  // by series and x; kNoValue: not measured
};

std::string label(const SqlValue& value) {
  const auto* real = std::get_if<double>(&value);
  return real == nullptr ? sql_text(value) : fmt::format("{:g}", *real);
}

Data gather(Database& database, const Sweep& sweep, const Plot& plot, const std::string& condition) {
  const std::string& second = plot.y.empty() ? plot.by : plot.y;
  std::vector<std::string> columns = {"status", plot.figure, plot.x};
  if (!second.empty()) {
    columns.push_back(second);
  }
  std::map<SqlValue, std::map<SqlValue, std::vector<double>>> found;  // by series and x
  std::map<SqlValue, bool> places;
  for (const std::vector<SqlValue>& row : select(database, sweep, columns, condition).rows) {
    const auto value = number(row[1]);
    if (sql_text(row[0]) == "done" && value) {
      found[second.empty() ? SqlValue() : row[3]][row[2]].push_back(*value);
      places[row[2]] = true;
    }
  }
  if (found.empty()) {
    throw InputError({"--plot"}, "no run that is done has this figure");
  }
  Data data;
  for (const auto& [place, unused] : places) {
    data.x.push_back(place);
  }
  for (const auto& [series, points] : found) {
    data.series.push_back(series);
    std::vector<double>& values = data.values.emplace_back();
    for (const SqlValue& place : data.x) {
      const auto point = points.find(place);
      values.push_back(point == points.end() ? pages::kNoValue : mean(point->second));
    }
  }
  return data;
}

std::string text(double x, double y, std::string_view anchor, std::string_view words, std::string_view more = "") {
  return pages::svg_text(fmt::format("text-anchor=\"{}\"{}{}", anchor, more.empty() ? "" : " ", more), x, y, words);
}

std::string line(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view more = "") {
  return pages::svg_line(fmt::format("stroke=\"{}\"{}", colour, more), x1, y1, x2, y2) + "\n";
}

pages::Extent extent_of(const Data& data) {
  pages::Extent extent;
  for (const std::vector<double>& values : data.values) {
    std::for_each(values.begin(), values.end(), [&](double value) { extent.add(value); });
  }
  return extent;
}

std::string document(const std::string& title, const std::string& body) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" {2} fill=\"#000000\">\n<title>{3}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{4}</svg>\n",
      kWidth, kHeight, kFont, pages::html_escaped(title), body);
}

// Series are told apart by the shape of their marks too.
std::string mark(std::size_t series, double x, double y) {
  const std::string_view colour = kColours[series % kColours.size()];
  const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
    std::string points;
    for (const auto& [dx, dy] : corners) {
      points += fmt::format("{:.1f},{:.1f} ", x + dx, y + dy);
    }
    return fmt::format("<polygon points=\"{}\" fill=\"{}\"/>\n", points, colour);
  };
  switch (series % 4) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x, y, colour);
    case 1:
      return polygon({{-3.2, -3.2}, {3.2, -3.2}, {3.2, 3.2}, {-3.2, 3.2}});
    case 2:
      return polygon({{0, -4.2}, {4, 3.2}, {-4, 3.2}});
    default:
      return polygon({{0, -4.5}, {4.5, 0}, {0, 4.5}, {-4.5, 0}});
  }
}

struct Frame {
  double left = 64;
  double right = kWidth - 16;
  double bottom = kHeight - kBottom;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - kTop; }
};

std::string place_labels(const std::vector<SqlValue>& places, const Frame& frame) {
  const double step = frame.width() / static_cast<double>(places.size());
  std::size_t longest = 0;
  for (const SqlValue& place : places) {
    longest = std::max(longest, label(place).size());
  }
  const bool slanted = static_cast<double>(longest) * kLetter > step - 4;
  std::string out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double x = frame.left + step * (static_cast<double>(i) + 0.5);
    out += slanted ? text(x, frame.bottom + 12, "end", label(places[i]),
                          fmt::format("transform=\"rotate(-30 {:.1f} {:.1f})\"", x, frame.bottom + 12))
                   : text(x, frame.bottom + 15, "middle", label(places[i]));
  }
  return out;
}

// Numbers on an axis, each at its place: by their logarithms where these are spaced more evenly than the numbers.
class NumberAxis {
 public:
  NumberAxis(const std::vector<SqlValue>& places, const Frame& frame) {
    for (const SqlValue& place : places) {
      values_.push_back(*number(place));
    }
    logarithmic_ = values_.front() > 0 && unevenness([](double value) { return std::log(value); }) <
                                              unevenness([](double value) { return value; }) - 1e-9;
    const double low = at(values_.front());
    const double high = at(values_.back());
    // The last number stays within the picture, however long it is.
    const double outside = kLetter * static_cast<double>(label(places.back()).size()) / 2 + 3 - (kWidth - frame.right);
    const double margin = std::max(std::min(20.0, frame.width() / 12), outside);
    for (const double value : values_) {
      const double share = high > low ? (at(value) - low) / (high - low) : 0.5;
      x_.push_back(frame.left + margin + (frame.width() - 2 * margin) * share);
    }
  }
  [[nodiscard]] double x(std::size_t place) const { return x_[place]; }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  // A tick for each place, and labels as far as they have room: the outermost first.
  [[nodiscard]] std::string ticks(const std::vector<SqlValue>& places, const Frame& frame) const {
    std::vector<std::size_t> order = {0};
    if (x_.size() > 1) {
      order.push_back(x_.size() - 1);
    }
    for (std::size_t i = 1; i + 1 < x_.size(); ++i) {
      order.push_back(i);
    }
    std::vector<std::pair<double, double>> taken;
    std::string out;
    for (const std::size_t i : order) {
      const double half = kLetter * static_cast<double>(label(places[i]).size()) / 2 + 3;
      const bool free = std::none_of(taken.begin(), taken.end(), [&](const std::pair<double, double>& other) {
        return x_[i] - half < other.second && x_[i] + half > other.first;
      });
      out += line(x_[i], frame.bottom, x_[i], frame.bottom + (free ? 5 : 3), "#000000");
      if (free) {
        taken.emplace_back(x_[i] - half, x_[i] + half);
        out += text(x_[i], frame.bottom + 17, "middle", label(places[i]));
      }
    }
    return out;
  }

 private:
  [[nodiscard]] double at(double value) const { return logarithmic_ ? std::log(value) : value; }
  // The widest gap between neighbours over the narrowest.
  template <class Map>
  [[nodiscard]] double unevenness(Map map) const {
    double narrow = std::numeric_limits<double>::infinity();
    double wide = 0;
    for (std::size_t i = 1; i < values_.size(); ++i) {
      const double gap = map(values_[i]) - map(values_[i - 1]);
      narrow = std::min(narrow, gap);
      wide = std::max(wide, gap);
    }
    return values_.size() < 3 ? 1 : wide / narrow;
  }
  std::vector<double> values_;
  std::vector<double> x_;
  bool logarithmic_ = false;
};

std::string titles(std::string_view x, std::string_view y, const Frame& frame) {
  const double middle = kTop + frame.height() / 2;
  return text(frame.left + frame.width() / 2, kHeight - 8, "middle", x) +
         text(14, middle, "middle", y, fmt::format("transform=\"rotate(-90 14 {:.1f})\"", middle));
}

std::string legend(const Data& data, const std::string& title, const Frame& frame) {
  if (data.series.size() < 2 && title.empty()) {
    return {};
  }
  std::string out = text(frame.right + 14, kTop + 8, "start", title, "font-weight=\"bold\"");
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const double y = kTop + 26 + 16 * static_cast<double>(i);
    out += mark(i, frame.right + 19, y - 4) + text(frame.right + 29, y, "start", label(data.series[i]));
  }
  return out;
}

double legend_width(const Data& data, const std::string& title) {
  if (title.empty()) {
    return 0;
  }
  std::size_t longest = title.size();
  for (const SqlValue& series : data.series) {
    longest = std::max(longest, label(series).size() + 3);
  }
  return std::min(200.0, static_cast<double>(longest) * kLetter + 20);
}

std::string curves(const Data& data, const Plot& plot) {
  Frame frame;
  frame.right -= legend_width(data, plot.by_title);
  const pages::Scale scale = pages::scale_of(extent_of(data), kTop, frame.height());
  std::string out;
  for (int i = 0; i <= scale.steps(); ++i) {
    const double y = scale.y(scale.at(i));
    out += line(frame.left, y, frame.right, y, i == 0 ? "#000000" : "#d0d0d0");
    out += text(frame.left - 6, y + 4, "end", scale.label(i));
  }
  const double room = frame.width() / static_cast<double>(data.x.size());
  const bool numbers =
      std::all_of(data.x.begin(), data.x.end(), [](const SqlValue& x) { return number(x).has_value(); });
  std::optional<NumberAxis> axis;
  if (numbers) {
    axis.emplace(data.x, frame);
  }
  for (std::size_t series = 0; series < data.series.size(); ++series) {
    const std::string_view colour = kColours[series % kColours.size()];
    std::string marks;
    double before_x = 0;
    double before_y = pages::kNoValue;
    for (std::size_t i = 0; i < data.x.size(); ++i) {
      const double value = data.values[series][i];
      if (!std::isfinite(value)) {
        before_y = pages::kNoValue;
        continue;
      }
      if (!numbers) {  // bars: words have no order that a line could follow
        const double bar = 0.8 * room / static_cast<double>(data.series.size());
        out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                           frame.left + room * (static_cast<double>(i) + 0.1) + bar * static_cast<double>(series),
                           std::min(scale.y(value), scale.y(0)), std::max(0.5, bar - 1),
                           std::abs(scale.y(value) - scale.y(0)), colour);
        continue;
      }
      const double x = axis->x(i);
      if (std::isfinite(before_y)) {
        out += line(before_x, before_y, x, scale.y(value), colour, " stroke-width=\"1.6\"");
      }
      before_x = x;
      before_y = scale.y(value);
      marks += mark(series, x, before_y);
    }
    out += marks;
  }
  const std::string x_title = plot.x_title + (axis && axis->logarithmic() ? ", logarithmic" : "");
  return out + (axis ? axis->ticks(data.x, frame) : place_labels(data.x, frame)) +
         titles(x_title, plot.figure_title, frame) + legend(data, plot.by_title, frame);
}

// From white to dark blue, even in lightness; the text on it is black or white.
std::string shade(double share) {
  const auto part = [&](double from, double to) { return static_cast<int>(std::lround(from + (to - from) * share)); };
  return fmt::format("#{:02x}{:02x}{:02x}", part(247, 8), part(251, 64), part(255, 129));
}

std::string fields(const Data& data, const Plot& plot) {
  Frame frame;
  frame.right -= 70;  // the scale
  std::size_t longest = 0;
  for (const SqlValue& series : data.series) {
    longest = std::max(longest, label(series).size());
  }
  frame.left = 34 + kLetter * static_cast<double>(std::min<std::size_t>(longest, 30));
  const auto [low, high] = extent_of(data);
  const auto share = [low = low, high = high](double value) { return high > low ? (value - low) / (high - low) : 0.5; };
  const double width = frame.width() / static_cast<double>(data.x.size());
  const double height = frame.height() / static_cast<double>(data.series.size());
  const bool written = width >= 34 && height >= 14;
  std::string out;
  for (std::size_t row = 0; row < data.series.size(); ++row) {
    const double y = frame.bottom - height * static_cast<double>(row + 1);  // upwards, as an axis goes
    out += text(frame.left - 6, y + height / 2 + 4, "end", label(data.series[row]));
    for (std::size_t i = 0; i < data.x.size(); ++i) {
      const double value = data.values[row][i];
      const double x = frame.left + width * static_cast<double>(i);
      if (!std::isfinite(value)) {
        continue;
      }
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                         width - 1, height - 1, shade(share(value)));
      if (written) {
        out += text(x + width / 2, y + height / 2 + 4, "middle", pages::number_text(value),
                    share(value) > 0.55 ? "fill=\"#ffffff\"" : "");
      }
    }
  }
  constexpr int kSteps = 32;
  for (int i = 0; i < kSteps; ++i) {
    const double y = frame.bottom - frame.height() * (i + 1) / kSteps;
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                       frame.right + 12, y, frame.height() / kSteps + 0.3, shade((i + 0.5) / kSteps));
  }
  out += text(frame.right + 28, frame.bottom, "start", pages::number_text(low));
  out += text(frame.right + 28, kTop + 8, "start", pages::number_text(high));
  const double middle = kTop + frame.height() / 2;
  out += text(frame.right + 38, middle, "middle", plot.figure_title,
              fmt::format("transform=\"rotate(-90 {:.1f} {:.1f})\"", frame.right + 38, middle));
  return out + place_labels(data.x, frame) + titles(plot.x_title, plot.y_title, frame);
}

}  // namespace

std::string plot_svg(Database& database, const Sweep& sweep, const Plot& plot, const std::string& condition) {
  const Data data = gather(database, sweep, plot, condition);
  const std::string title = fmt::format("{}: {} over {}", sweep.name, plot.figure_title, plot.x_title);
  return document(title, plot.y.empty() ? curves(data, plot) : fields(data, plot));
}

}  // namespace heddle::studies::results
