#include "studies/pages/report/timeline_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "studies/pages/report/chart_colours.hpp"
#include "studies/pages/report/html.hpp"
#include "studies/pages/report/svg_parts.hpp"

namespace heddle::pages {
namespace {

struct KindStyle {
  std::string_view text;  // in the legend
  std::size_t series;     // the colour that charts give to the series of this number
  [[nodiscard]] std::string fill() const { return fmt::format("s{}", series); }
};
constexpr std::array<KindStyle, tb::BankTimeline::kKinds> kStyles = {
    {{"row hit", 3}, {"row conflict", 6}, {"row held, hit came", 2}, {"row held in vain", 4}, {"transfer", 1}}};

constexpr double kWidth = 960;
constexpr double kLeft = 64;
constexpr double kRight = 28;
constexpr double kRow = 24;    // height of a bank's line
constexpr double kBox = 16;    // and of what is drawn in it
constexpr double kHead = 24;   // a panel's label
constexpr double kScale = 34;  // the axis below a panel
constexpr double kLegend = 30;
constexpr double kLegendEntry = 160;
constexpr int kTicks = 8;

const KindStyle& style_of(tb::BankTimeline::Kind kind) {
  return kStyles[static_cast<std::size_t>(kind)];
}

// Where the picture stands: in a page, whose style sheet says what the classes look like, or in a file of its own, with
// plain attributes, which every viewer knows, on a ground of its own.
enum class Surroundings { page, file };

class TimelineDrawing {
 public:
  TimelineDrawing(const tb::BankTimeline& timeline, Surroundings surroundings)
      : timeline_(timeline),
        surroundings_(surroundings),
        cycles_(static_cast<double>(std::max<std::uint64_t>(1, timeline.end - timeline.begin))) {}

  std::string svg() {
    double x = kLeft;
    for (const KindStyle& style : kStyles) {
      out_ += fmt::format(
          "<rect {} x=\"{:.1f}\" y=\"4\" width=\"14\" height=\"14\"/><text {}x=\"{:.1f}\" y=\"16\">{}</text>\n",
          look(style.fill()), x, ink(), x + 20, style.text);
      x += kLegendEntry;
    }
    top_ = kLegend;
    for (const tb::BankTimeline::Panel& one : timeline_.panels) {
      panel(one);
    }
    if (surroundings_ == Surroundings::page) {
      return fmt::format(
          "<svg class=\"chart\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n"
          "<title>{}</title>\n{}</svg>\n",
          kWidth, top_, html_escaped(timeline_.title), out_);
    }
    // A margin, and the title to be seen.
    constexpr double kMargin = 12;
    constexpr double kTitle = 26;
    const double width = kWidth + 2 * kMargin;
    const double height = top_ + 2 * kMargin + kTitle;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n"
        "<text {3}x=\"{4:.0f}\" y=\"{5:.0f}\" font-size=\"14\" font-weight=\"bold\">{2}</text>\n"
        "<g transform=\"translate({4:.0f} {6:.0f})\">\n{7}</g>\n</svg>\n",
        width, height, html_escaped(timeline_.title), ink(), kMargin, kMargin + 14, kMargin + kTitle, out_);
  }

 private:
  // What an element of this class of the style sheet looks like.
  [[nodiscard]] std::string look(std::string_view name) const {
    if (surroundings_ == Surroundings::page) {
      return fmt::format("class=\"{}\"", name);
    }
    const auto style =
        std::find_if(kStyles.begin(), kStyles.end(), [&](const KindStyle& one) { return one.fill() == name; });
    return style != kStyles.end() ? fmt::format("fill=\"{}\"", series_colour(style->series))
           : name == "soft"       ? std::string("fill=\"#59636e\"")
           : name == "grid"       ? std::string("stroke=\"#d4d9df\"")
                                  : std::string("stroke=\"#59636e\"");
  }
  [[nodiscard]] std::string_view ink() const { return surroundings_ == Surroundings::page ? "" : "fill=\"#1b1f24\" "; }
  [[nodiscard]] double x_of(std::uint64_t cycle) const {
    const std::uint64_t inside = std::clamp(cycle, timeline_.begin, timeline_.end);
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(inside - timeline_.begin) / cycles_;
  }

  void panel(const tb::BankTimeline::Panel& one) {
    out_ +=
        fmt::format("<text {}x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", ink(), kLeft, top_ + 15, html_escaped(one.label));
    top_ += kHead;
    for (unsigned line = 0; line <= one.banks; ++line) {
      const double y = top_ + kRow * line + kBox / 2;
      out_ += fmt::format(
          "<line {6} x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
          "<text {7}text-anchor=\"end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
          kLeft, kWidth - kRight, y, kLeft - 8, y + 4, line == one.banks ? "bus" : fmt::format("bank {}", line),
          look("grid"), ink());
    }
    std::vector<std::uint64_t> drawn(one.banks, 0);  // per bank: until when an access is drawn
    for (const tb::BankTimeline::Span& span : one.spans) {
      const bool transfer = span.kind == tb::BankTimeline::Kind::transfer;
      if (span.bank >= one.banks || span.end <= timeline_.begin || span.begin >= timeline_.end) {
        continue;
      }
      std::uint64_t begin = span.begin;
      if (!transfer) {  // hits of a bank overlap: each shows what it adds
        begin = std::max(begin, drawn[span.bank]);
        drawn[span.bank] = std::max(drawn[span.bank], span.end);
      }
      if (begin < span.end) {
        box(span, begin, top_ + kRow * (transfer ? one.banks : span.bank));
      }
    }
    top_ += kRow * (one.banks + 1);
    axis();
    top_ += kScale;
  }

  void box(const tb::BankTimeline::Span& span, std::uint64_t begin, double y) {
    const KindStyle& style = style_of(span.kind);
    const bool access = span.kind == tb::BankTimeline::Kind::hit || span.kind == tb::BankTimeline::Kind::conflict;
    std::string what(style.text);
    if (span.kind != tb::BankTimeline::Kind::transfer) {
      what += fmt::format(", bank {}", span.bank);
    }
    if (access) {
      what += fmt::format(", row {}", span.row);
    }
    const double from = x_of(begin);
    // A gap between neighbours, where there is room for one.
    const double width = std::max(0.6, x_of(span.end) - from - 0.6);
    out_ += fmt::format(
        "<rect {} x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"><title>{}: cycles {} to "
        "{}</title></rect>\n",
        look(style.fill()), from, y, width, kBox, what, span.begin, span.end);
  }

  void axis() {
    const double step = std::max(1.0, round_step(cycles_, kTicks));
    const double y = top_ + 2;
    for (double at = std::ceil(static_cast<double>(timeline_.begin) / step) * step;
         at <= static_cast<double>(timeline_.end); at += step) {
      const double x = x_of(static_cast<std::uint64_t>(at));
      out_ += fmt::format(
          "<line {5} x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>"
          "<text {6} text-anchor=\"middle\" x=\"{0:.1f}\" y=\"{3:.1f}\">{4}</text>\n",
          x, y, y + 4, y + 17, grouped(static_cast<std::uint64_t>(at)), look("axis"), look("soft"));
    }
    out_ += fmt::format("<text {} x=\"0\" y=\"{:.1f}\">cycle</text>\n", look("soft"), y + 17);
  }

  const tb::BankTimeline& timeline_;
  const Surroundings surroundings_;
  const double cycles_;
  double top_ = 0;
  std::string out_;
};

}  // namespace

std::string_view kind_text(tb::BankTimeline::Kind kind) {
  return style_of(kind).text;
}

std::string timeline_svg(const tb::BankTimeline& timeline) {
  return TimelineDrawing(timeline, Surroundings::page).svg();
}

std::string timeline_file(const tb::BankTimeline& timeline) {
  return TimelineDrawing(timeline, Surroundings::file).svg();
}

}  // namespace heddle::pages
