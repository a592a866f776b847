// The pages that the program writes, in a real browser.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "browser/browser.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG("Pages.AReportOfAHundred*", "Pages.EnergiesOfRuns*", "Pages.WarpSplits*")

namespace heddle::test {
namespace {

using ::testing::IsEmpty;
using Scheme = Browser::Scheme;

class Pages : public ::testing::Test {
 protected:
  std::string report(const std::vector<std::string>& words) {
    const std::string page = scratch.path("report.html");
    std::vector<std::string> all = {"run"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-q", "--report", page});
    const Ran ran = heddle(all);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return page;
  }
  // Every chart stands, with axes and something drawn in it.
  static void expect_charts(Browser& browser, std::int64_t least) {
    EXPECT_GE(browser.run("return document.querySelectorAll('.chart').length").as_int64(), least);
    EXPECT_EQ(text(browser.run(R"js(
      return [...document.querySelectorAll("figure")].filter((figure) => figure.querySelector(".chart") &&
        !(figure.querySelector("svg .role-axis text") && figure.querySelector("svg .role-mark path[d], svg image")))
        .map((figure) => figure.querySelector("figcaption").textContent).join("; ");
    )js")),
              "");
  }
  const Scratch scratch;
};

TEST_F(Pages, TheReportStandsAndItsSourceAnswersClicks) {
  const std::string page = report({"baseline", "bfs", "--scale", "0.01"});
  Browser browser;
  browser.open(page);
  EXPECT_THAT(browser.errors(), IsEmpty());
  expect_charts(browser, 15);
  EXPECT_EQ(text(browser.run("return document.querySelector('h1').textContent")), "bfs on baseline");

  // A source line marks its instructions, all of them and no others, and they come into view.
  const std::string line = "#source-side tr[data-line][tabindex]";
  const std::string key = text(browser.run("return document.querySelector('" + line + "').dataset.key"));
  EXPECT_EQ(browser.run("return document.querySelectorAll('tr.chosen').length").as_int64(), 0);
  browser.click(line);
  EXPECT_EQ(text(browser.run("return document.querySelector('#source-side tr.chosen').dataset.key")), key);
  EXPECT_GT(browser.run("return document.querySelectorAll('#code-side tr.chosen').length").as_int64(), 0);
  EXPECT_TRUE(browser
                  .run("return [...document.querySelectorAll('#code-side tr[data-pc]')].every((row) => "
                       "row.classList.contains('chosen') === (row.dataset.key === '" +
                       key + "'))")
                  .as_bool());
  EXPECT_TRUE(browser
                  .run(R"js(
    const box = document.getElementById("code-side").getBoundingClientRect();
    const row = document.querySelector("#code-side tr.chosen").getBoundingClientRect();
    return row.top >= box.top && row.bottom <= box.bottom;
  )js")
                  .as_bool());
  // The other way round, from another instruction; the earlier mark goes.
  const std::string other = "#code-side tr[data-pc]:not(.chosen)";
  const std::string from = text(
      browser.run("const row = document.querySelector('" + other + "'); row.id = 'other'; return row.dataset.key"));
  EXPECT_NE(from, key);
  browser.click("#other");
  EXPECT_EQ(text(browser.run("return [...document.querySelectorAll('#source-side tr.chosen')].map((row) => "
                             "row.dataset.key).join()")),
            from);
  // A second click takes the mark away.
  browser.click("#other");
  EXPECT_EQ(browser.run("return document.querySelectorAll('tr.chosen').length").as_int64(), 0);
  EXPECT_THAT(browser.errors(), IsEmpty());
}

TEST_F(Pages, TheLinesOfTheReportAddUp) {
  const std::string page = report({"lwm", "reduction", "--scale", "0.01"});
  Browser browser;
  browser.open(page);
  // What the tables show, line by line, in full in the page's data.
  EXPECT_TRUE(browser
                  .run(R"js(
    const { profile, stats } = heddle.data;
    const sum = (name) => profile.kernels.reduce((all, kernel) => kernel.counters.reduce((some, counters) =>
      some + counters[profile.counters.indexOf(name)], all), 0);
    return sum("instructions") === stats.summary.warp_instructions && stats.summary.warp_instructions > 0 &&
      sum("thread_instructions") === stats.summary.thread_instructions &&
      sum("line_requests") === stats.summary.line_requests;
  )js")
                  .as_bool());
  EXPECT_GT(browser.run("return heddle.data.profile.files[0].text.length").as_int64(), 100);
}

// Of warp-splits, the causes; of every core, a map of its threads' misses, whose sums the page has besides.
TEST_F(Pages, WarpSplitsAndMissesOfEachThreadAreDrawn) {
  const std::string page = report({"dws-revive-bypass", "merge", "--scale", "0.002"});
  Browser browser;
  for (const unsigned width : {1280U, 390U}) {
    browser.resize(width, 844);
    browser.open(page);
    EXPECT_EQ(browser
                  .run(R"js(
      return [...document.querySelectorAll("#memory figcaption")].filter((one) =>
        one.textContent.startsWith("Misses of each thread, gpu.core")).length
    )js")
                  .as_int64(),
              4);
    EXPECT_TRUE(browser.run("return document.querySelectorAll('#splits .bar > span').length >= 2").as_bool());
    EXPECT_TRUE(browser.run("return document.documentElement.scrollWidth <= window.innerWidth").as_bool()) << width;
  }
  EXPECT_TRUE(browser
                  .run(R"js(
    const { stats } = heddle.data;
    const sum = stats.modules["gpu.core0"].thread_misses.reduce((all, one) => all + one, 0);
    return sum >= stats.modules["gpu.core0"].missed_accesses && stats.modules["gpu.core0"].missed_accesses > 0;
  )js")
                  .as_bool());
  EXPECT_THAT(browser.errors(), IsEmpty());
}

// A run that was priced: cards, shares and tables of its energy, and of each line, at both widths and in both schemes.
TEST_F(Pages, EnergyIsShownByUnitModuleAndLine) {
  const std::string page = report({"lwm", "blackscholes", "--scale", "0.002", "--energy", "dws-65nm"});
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    Browser browser(scheme);
    for (const unsigned width : {1280U, 390U}) {
      browser.resize(width, 844);
      browser.open(page);
      EXPECT_EQ(browser.run("return document.querySelectorAll('#energy .card').length").as_int64(), 5);
      // Power over time adds up to the energy.
      EXPECT_TRUE(browser
                      .run("const { power, stats } = heddle.data; const step = power.interval_cycles; let pj = 0; "
                           "for (const row of Object.values(power.kinds)) row.forEach((mw, i) => { pj += mw * "
                           "(Math.min(stats.summary.cycles, (i + 1) * step) - i * step); }); return "
                           "Math.abs(pj / stats.machine.parameters.gpu.clock_ghz / stats.energy.pj - 1) < 1e-9 && "
                           "[...document.querySelectorAll('#energy figcaption')].some((one) => "
                           "one.textContent.startsWith('Power over time'))")
                      .as_bool());
      EXPECT_TRUE(browser.run("return document.documentElement.scrollWidth <= window.innerWidth").as_bool()) << width;
      // The shares of the bars, and of the table, add up to the whole.
      EXPECT_TRUE(browser
                      .run(R"js(
        return [...document.querySelectorAll("#energy .bar")].every((bar) => Math.abs([...bar.children].reduce(
          (sum, one) => sum + parseFloat(one.style.width), 0) - 100) < 0.01) &&
          document.querySelectorAll("#energy .bar").length === 2;
      )js")
                      .as_bool());
      EXPECT_EQ(browser.run("return document.querySelectorAll('#energy details:nth-of-type(1) tbody tr').length"),
                browser.run("return Object.keys(heddle.data.stats.energy.modules).length"));
    }
    browser.resize(1280, 844);
    browser.run(
        "document.getElementById('metric').value = 'energy, pJ'; "
        "document.getElementById('metric').dispatchEvent(new Event('change'));");
    EXPECT_EQ(text(browser.run("return document.querySelector('#source h3').textContent")),
              "Lines with the most energy, pJ");
    EXPECT_TRUE(browser
                    .run("return [...document.querySelectorAll('#source-side td.energy')].some((cell) => "
                         "/^[\\d.]+\\s[µnpm]J$/.test(cell.textContent))")
                    .as_bool());
    EXPECT_THAT(browser.errors(), IsEmpty());
  }
}

TEST_F(Pages, EnergiesOfRunsAreCompared) {
  for (const std::string name : {"a", "b"}) {
    ASSERT_EQ(heddle({"run", "baseline", "vecadd", "--scale", "0.002", "-q", "--energy", "dws-65nm", "--out",
                      scratch.path(name), "--set", name == "a" ? "dram.channels=1" : "dram.channels=2"})
                  .code,
              0);
  }
  const std::string page = scratch.path("compare.html");
  ASSERT_EQ(heddle({"compare", scratch.path("a"), scratch.path("b"), "--html", page}).code, 0);
  Browser browser;
  for (const unsigned width : {1280U, 390U}) {
    browser.resize(width, 844);
    browser.open(page);
    EXPECT_TRUE(browser.run("return document.querySelectorAll('#energy svg .role-mark path[d]').length > 4").as_bool());
    EXPECT_TRUE(browser.run("return document.documentElement.scrollWidth <= window.innerWidth").as_bool()) << width;
    // A part that only one of the runs has.
    EXPECT_TRUE(browser
                    .run(R"js(
      const row = [...document.querySelectorAll("#energy tr")].find((one) => one.textContent.startsWith("gpu.dram1"));
      return row.children[1].textContent === "0" && parseFloat(row.children[2].textContent) > 0;
    )js")
                    .as_bool());
  }
  EXPECT_THAT(browser.errors(), IsEmpty());
}

TEST_F(Pages, AStretchChosenInOneChartIsShownInAll) {
  const std::string page = report({"baseline", "bfs", "--scale", "0.01"});
  Browser browser;
  browser.open(page);
  const auto axes = [&] {
    return text(browser.run(R"js(
      return [...document.querySelectorAll("#time figure")].map((figure) =>
        [...figure.querySelector("svg .role-axis").querySelectorAll("text")].map((one) => one.textContent).sort()
          .join())
        .join("|");
    )js"));
  };
  const std::string whole = axes();
  const std::string drag = R"js(
    const chart = document.querySelector("#time .chart"), box = chart.getBoundingClientRect();
    const send = (kind, x) => chart.dispatchEvent(new MouseEvent(kind, { bubbles: true, cancelable: true,
      clientX: box.left + x * box.width, clientY: box.top + box.height / 2 }));
  )js";
  browser.run(drag + "send('mousedown', 0.4); send('mousemove', 0.5); send('mouseup', 0.6);");
  const std::string part = axes();
  EXPECT_NE(part, whole);
  browser.run(drag + "send('dblclick', 0.5);");
  EXPECT_EQ(axes(), whole);
  EXPECT_THAT(browser.errors(), IsEmpty());
}

// What a page takes to open is what it holds: 64 to 256 buckets, whatever their width. Memory that takes 100,000 cycles
// for an access makes a run long without work for the simulator. The seconds are printed, not judged: they depend on
// what else the machine does (docs/performance.md has the seconds of a quiet one).
TEST_F(Pages, AReportOfAHundredMillionCyclesHoldsNoMoreThanAShortOne) {
  struct Opened {
    double cycles, bytes, elements, buckets, seconds;
  };
  Browser browser;
  const auto opened = [&](std::vector<std::string> sets) {
    std::vector<std::string> words = {"baseline", "vecadd", "--scale", "0.02"};
    for (const std::string& set : sets) {
      words.insert(words.end(), {"--set", set});
    }
    const std::string page = report(words);
    const double seconds = browser.open(page);
    EXPECT_THAT(browser.errors(), IsEmpty());
    expect_charts(browser, 15);
    const auto number = [&](const std::string& script) { return browser.run("return " + script).to_number<double>(); };
    return Opened{.cycles = number("heddle.data.stats.summary.cycles"),
                  .bytes = static_cast<double>(std::filesystem::file_size(page)),
                  .elements = number("document.querySelectorAll('*').length"),
                  .buckets = number("heddle.data.profile.time.buckets"),
                  .seconds = seconds};
  };
  const Opened small = opened({});
  const Opened large = opened(
      {"dram.row_hit=100000", "dram.row_conflict=100000", "dram.banks=1", "watchdog.deadlock_cycles=1000000000"});
  EXPECT_LT(small.cycles, 1e6);
  EXPECT_GT(large.cycles, 1e8);
  EXPECT_GE(large.buckets, 64);
  EXPECT_LE(large.buckets, 256);
  EXPECT_LT(large.bytes, 1.1 * small.bytes);
  EXPECT_LT(large.elements, 1.1 * small.elements);
  fmt::print("opened with all charts after {:.2f} s, one of {:.0f} cycles after {:.2f} s\n", large.seconds,
             small.cycles, small.seconds);
}

TEST_F(Pages, ReadableInBothSchemesAndOnPaper) {
  const std::string page = report({"baseline", "bfs", "--scale", "0.01"});
  const std::string contrast = R"js(
    // Relative luminance and contrast as in WCAG 2.1.
    const luminance = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map((part) => {
      const c = part / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    }).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const page = luminance(getComputedStyle(document.body).backgroundColor);
    let least = 99;
    for (const one of document.querySelectorAll("p, h2, td, th, figcaption, svg text")) {
      const style = getComputedStyle(one), ink = luminance(one.tagName === "text" ? style.fill : style.color);
      least = Math.min(least, (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05));
    }
    return [page, least];
  )js";
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    Browser browser(scheme);
    browser.open(page);
    const boost::json::value measured = browser.run(contrast);
    const double background = measured.at(0).to_number<double>();
    EXPECT_EQ(background > 0.5, scheme == Scheme::light) << background;
    EXPECT_GE(measured.at(1).to_number<double>(), 4.5);
    const std::string paper = browser.print();
    EXPECT_EQ(paper.substr(0, 5), "%PDF-");
    EXPECT_GT(paper.size(), 20000U);
    EXPECT_THAT(browser.errors(), IsEmpty());
  }
}

TEST_F(Pages, RunsOfEveryKindHaveAPage) {
  // Nothing but a fault; several kernels; dynamic warps; several cores and channels; a limit.
  struct Case {
    std::vector<std::string> words;
    int code;
  };
  const Case cases[] = {
      {{"dwf-majority", "bfs", "--scale", "0.01"}, 0},
      {{"database-hints", "index_search", "--scale", "0.01"}, 0},
      {{"baseline", "nqueens", "--max-cycles", "2000"}, 3},
  };
  Browser browser;
  for (const Case& one : cases) {
    const std::string page = scratch.path("page.html");
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), one.words.begin(), one.words.end());
    words.insert(words.end(), {"-q", "--report", page});
    EXPECT_EQ(heddle(words).code, one.code) << one.words[0];
    browser.open(page);
    EXPECT_THAT(browser.errors(), IsEmpty()) << one.words[0];
    EXPECT_EQ(browser.run("return document.querySelectorAll('.bad').length").as_int64(), one.code == 0 ? 0 : 1);
    expect_charts(browser, 10);
  }
}

TEST_F(Pages, TheComparisonStands) {
  std::vector<std::string> words = {"compare", "--html", scratch.path("compare.html")};
  for (const char* const machine : {"baseline", "lwm", "two-level"}) {
    const std::string folder = scratch.path(machine);
    ASSERT_EQ(heddle({"run", machine, "bfs", "--scale", "0.01", "-q", "-o", folder}).code, 0);
    words.push_back(folder);
  }
  const Ran ran = heddle(words);
  ASSERT_EQ(ran.code, 0) << ran.err;
  Browser browser;
  browser.open(scratch.path("compare.html"));
  EXPECT_THAT(browser.errors(), IsEmpty());
  expect_charts(browser, 3);
  // A waterfall for each run but the first, with a bar for every cause and one for the cycles of each side.
  EXPECT_TRUE(browser
                  .run("const falls = [...document.querySelectorAll('.waterfall')]; return falls.length === 2 && "
                       "falls.every((one) => one.querySelectorAll('.track b.total').length === 2 && "
                       "one.querySelectorAll('.track b').length > 4)")
                  .as_bool());
  // A heading sorts its table.
  const auto second = [&] {
    return text(browser.run("return document.querySelector('#figures tbody tr td:nth-child(1)').textContent"));
  };
  const std::string before = second();
  browser.click("#figures th:nth-child(1)");
  EXPECT_NE(second(), before);
  EXPECT_TRUE(browser
                  .run(R"js(
    return heddle.data.explanations.every((why, i) => {
      const runs = heddle.data.runs, difference = runs[i + 1].stats.summary.cycles - runs[0].stats.summary.cycles;
      return Math.abs(why.causes.reduce((sum, cause) => sum + cause.cycles, 0) - difference) < 0.5;
    });
  )js")
                  .as_bool());
}

TEST_F(Pages, AFileThatCannotBeWrittenIsRefusedBeforeTheRun) {
  const Ran ran = heddle({"run", "baseline", "nqueens", "--report", scratch.path("no/such/folder/page.html")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, ::testing::HasSubstr("cannot be written"));
  EXPECT_EQ(heddle({"run", "baseline", "nqueens", "--report", scratch.path()}).code, 2);
}

}  // namespace
}  // namespace heddle::test
