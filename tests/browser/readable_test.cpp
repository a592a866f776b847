// Every page at the width of a telephone and on a desk: nothing sticks out, no text lies on another, and a cause has
// one name and one colour wherever it is shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <set>

#include "browser/browser.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::test {
namespace {

using ::testing::IsEmpty;
using Scheme = Browser::Scheme;

// The four pages, of runs that are short and wait for many things.
class ReadablePages : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto good = [](const std::vector<std::string>& words) {
      const Ran ran = heddle(words);
      ASSERT_EQ(ran.code, 0) << ran.err;
    };
    const std::vector<std::string> narrow = {"--set", "l1d.mshrs=4", "--set", "core.pending_accesses=8"};
    std::vector<std::string> words = {"run",      "baseline",
                                      "bfs",      "--scale",
                                      "0.01",     "-q",
                                      "-o",       scratch.path("a"),
                                      "--report", scratch.path("report.html")};
    words.insert(words.end(), narrow.begin(), narrow.end());
    good(words);
    good({"run", "lwm", "bfs", "--scale", "0.01", "-q", "-o", scratch.path("b")});
    good({"compare", scratch.path("a"), scratch.path("b"), "-q", "--html", scratch.path("compare.html")});
    const std::string file =
        scratch.write("made.toml",
                      "config = \"baseline\"\nscale = 0.001\n[axes]\n"
                      "workload = [\"vecadd\", \"nqueens\"]\n"
                      "core.warp_size = [32, 64, 128]\ncore.scheduler = [\"round-robin\", \"gto\"]\n");
    good({"sweep", file, "-d", scratch.path("x.db")});
    good({"results", scratch.path("x.db"), "--html", scratch.path("results.html")});
    words = {"demo", "bfs", "reduction", "--scale", "0.05", "-o", scratch.path("demo")};
    words.insert(words.end(), narrow.begin(), narrow.end());
    good(words);
  }
  [[nodiscard]] std::map<std::string, std::string> pages() const {
    return {{"report", scratch.path("report.html")},
            {"compare", scratch.path("compare.html")},
            {"results", scratch.path("results.html")},
            {"demo", scratch.path("demo/demo.html")}};
  }
  static void open(Browser& browser, const std::string& page) {
    if (page.ends_with("demo.html")) {
      browser.show(page);  // it draws nothing by script
    } else {
      browser.open(page);
    }
  }
  void expect_layout(Browser& browser) const;
  void expect_colours(Browser& browser) const;
  void expect_source(Browser& browser) const;
  void expect_commands(Browser& browser) const;
  void expect_numbers(Browser& browser) const;
  const Scratch scratch;
};

// Texts of a chart that lie on each other or outside of the window, and what makes the page wider than the window.
constexpr const char* kFaults = R"js(
  const faults = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) faults.push(`the page is ${wide} wide`);
  const shown = (one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(one).opacity !== "0" ? box : null;
  };
  for (const chart of document.querySelectorAll(".chart, .waterfall, .bars")) {
    const texts = [...chart.querySelectorAll("svg text, .name, .value, .scale-track span, .keys span, .row > span, "
      + ".scale span")].filter((one) => one.textContent.trim() !== "");
    const boxes = texts.map((one) => [one.textContent, shown(one)]).filter(([, box]) => box);
    boxes.forEach(([text, box], i) => {
      if (box.left < -1 || box.right > innerWidth + 1) faults.push(`'${text}' sticks out`);
      if (box.height < 9) faults.push(`'${text}' is ${box.height.toFixed(1)} high`);
      for (const [other, place] of boxes.slice(i + 1)) {
        const across = Math.min(box.right, place.right) - Math.max(box.left, place.left);
        const down = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
        if (across > 2 && down > 3) faults.push(`'${text}' lies on '${other}'`);
      }
    });
  }
  return faults.slice(0, 10).join("; ");
)js";

void ReadablePages::expect_layout(Browser& browser) const {
  for (const auto& [name, page] : pages()) {
    for (const unsigned width : {390U, 1280U}) {
      browser.resize(width, 844);
      open(browser, page);
      EXPECT_EQ(text(browser.run(kFaults)), "") << name << " at " << width;
      EXPECT_THAT(browser.errors(), IsEmpty()) << name;
    }
  }
}

// {name: colour} of the causes that a page shows in keys and legends.
constexpr const char* kColours = R"js(
  const found = {};
  for (const key of document.querySelectorAll(".keys span")) {
    const mark = key.querySelector("i");
    if (mark) found[key.textContent.trim().replace(/ [\d.,]+ %$/, "")] = getComputedStyle(mark).backgroundColor;
  }
  for (const entry of document.querySelectorAll("svg .role-legend-entry .role-scope > g, svg .role-legend-symbol")) {
    const symbol = entry.querySelector(".role-legend-symbol path");
    const label = entry.querySelector(".role-legend-label text");
    if (symbol && label) found[label.textContent] = getComputedStyle(symbol).fill;
  }
  return found;
)js";

// A cause has one name and one colour on every page.
void ReadablePages::expect_colours(Browser& browser) const {
  std::map<std::string, std::string> colour_of;
  std::map<std::string, std::set<std::string>> seen;  // the pages by cause
  browser.open(scratch.path("report.html"));
  const boost::json::value titles = browser.run("return heddle.data.declarations.appearance.titles");
  std::set<std::string> names;
  for (const auto& [key, title] : titles.as_object()) {
    names.insert(text(title));
  }
  for (const auto& [name, page] : pages()) {
    open(browser, page);
    const boost::json::value found = browser.run(kColours);
    for (const auto& [label, colour] : found.as_object()) {
      if (names.count(std::string(label)) != 0) {
        const auto [known, is_new] = colour_of.emplace(label, text(colour));
        EXPECT_EQ(known->second, text(colour)) << label << " on " << name;
        seen[std::string(label)].insert(name);
      }
    }
  }
  std::set<std::string> colours;
  for (const auto& [label, colour] : colour_of) {
    EXPECT_TRUE(colours.insert(colour).second) << label << " has the colour of another: " << colour;
  }
  for (const char* const usual : {"memory", "MSHRs full"}) {
    EXPECT_EQ(seen[usual].size(), 3U) << usual << ": on the report, the comparison and the demonstration";
  }
}

// The source leads with what the kernel waited for.
void ReadablePages::expect_source(Browser& browser) const {
  browser.open(scratch.path("report.html"));
  ASSERT_GT(browser.run("return heddle.data.stats.summary.idle_share").to_number<double>(), 0.5);
  EXPECT_EQ(text(browser.run("return document.getElementById('metric').value")), "warp cycles stalled");
  EXPECT_EQ(text(browser.run("return document.querySelectorAll('#source-side th')[2].textContent")), "stalled");
  // What was full, line by line.
  EXPECT_THAT(text(browser.run("return [...document.querySelectorAll('#source-side td.held')].map((one) => "
                               "one.textContent).join(' ')")),
              ::testing::HasSubstr("MSHRs full"));
  // Whole lines, at any width.
  for (const unsigned width : {390U, 1280U}) {
    browser.resize(width, 844);
    EXPECT_TRUE(browser
                    .run("return [...document.querySelectorAll('.listing td.code')].every((one) => "
                         "one.scrollWidth <= one.clientWidth + 1)")
                    .as_bool())
        << width;
  }
}

void ReadablePages::expect_commands(Browser& browser) const {
  const std::map<std::string, std::string> commands = {
      {"report", "heddle run baseline bfs --set l1d.mshrs=4 --set core.pending_accesses=8 --scale 0.01"},
      {"compare", "heddle compare " + scratch.path("a") + " " + scratch.path("b")},
      {"results", "heddle results " + scratch.path("x.db")},
      {"demo", "heddle demo bfs reduction --set l1d.mshrs=4 --set core.pending_accesses=8 --scale 0.05"}};
  for (const auto& [name, page] : pages()) {
    open(browser, page);
    EXPECT_EQ(text(browser.run("return document.querySelector('code').textContent")), commands.at(name));
  }
}

void ReadablePages::expect_numbers(Browser& browser) const {
  browser.open(scratch.path("compare.html"));
  EXPECT_EQ(
      text(browser.run("const { number, percent, signed, short, tick } = heddle; return [number(-1234567), "
                       "number(0.25), percent(-0.32), percent(-0.0001), signed(1500), signed(-0.2), short(15284567), "
                       "tick(-20000), tick(1500)].join('; ')")),
      "\u22121,234,567; 0.25; \u221232 %; 0.0 %; +1,500; 0; 15.3\u00a0M; \u221220\u00a0k; 1,500");
  // No hyphen stands for a minus sign anywhere on the page.
  EXPECT_EQ(text(browser.run("return [...document.querySelectorAll('td, .value, svg text')].map((one) => "
                             "one.textContent.trim()).filter((one) => /^-[\\d.]/.test(one)).join('; ')")),
            "");
  // The chart of the functional units begins with one lane: idle cycles would dwarf the rest.
  EXPECT_THAT(text(browser.run("return document.getElementById('cycles').textContent")),
              ::testing::HasSubstr("idle ones are left out"));
}

TEST_F(ReadablePages, AtAnyWidthAndInBothSchemes) {
  Browser dark(Scheme::dark);
  expect_colours(dark);
  Browser browser;
  expect_colours(browser);
  expect_layout(browser);
  expect_source(browser);
  expect_commands(browser);
  expect_numbers(browser);
}

}  // namespace
}  // namespace heddle::test
