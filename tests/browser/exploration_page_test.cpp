// The page of an exploration, in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "browser/browser.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::test {
namespace {

using ::testing::IsEmpty;

// Chooses a value of a select element, as a user does, and waits until the page stands again.
void choose(Browser& browser, const std::string& id, const std::string& value) {
  browser.run("const one = document.getElementById('" + id + "'); one.value = '" + value +
              "'; one.dispatchEvent(new Event('change'));");
  for (int i = 0; i < 200 && !browser.run("return document.documentElement.dataset.ready === 'true'").as_bool(); ++i) {
  }
}

std::string captions(Browser& browser) {
  return text(
      browser.run("return [...document.querySelectorAll('figcaption')].map((one) => "
                  "one.firstChild.textContent).join('; ')"));
}

// Figures without axes or without anything drawn in them.
std::string empty_charts(Browser& browser) {
  return text(browser.run(R"js(
    return [...document.querySelectorAll("figure")].filter((figure) =>
      !(figure.querySelector("svg .role-axis text") && figure.querySelector("svg .role-mark path[d]")))
      .map((figure) => figure.querySelector("figcaption").textContent).join("; ");
  )js"));
}

// The texts of a column of the table.
std::string column(Browser& browser, const std::string& title) {
  return text(
      browser.run("const heads = [...document.querySelectorAll('#rows th')].map((one) => one.textContent);"
                  "const at = heads.indexOf('" +
                  title +
                  "');"
                  "return [...document.querySelectorAll('#rows tbody tr')].map((row) => "
                  "row.children[at].textContent).join()"));
}

TEST(ExplorationPage, DrawsItsChartsAndFollowsChoices) {
  const Scratch scratch;
  const std::string file =
      scratch.write("made.toml",
                    "description = \"a <b>bold</b> one\"\nconfig = \"baseline\"\nscale = 0.001\n"
                    "[axes]\nworkload = [\"vecadd\", \"nqueens\"]\n"
                    "core.warp_size = [32, 64, 48]\ncore.scheduler = [\"round-robin\", \"gto\"]\n");
  ASSERT_EQ(heddle({"sweep", file, "-d", scratch.path("x.db")}).code, 0);
  ASSERT_EQ(heddle({"results", scratch.path("x.db"), "--html", scratch.path("x.html")}).code, 0);
  Browser browser;
  browser.open(scratch.path("x.html"));
  EXPECT_THAT(browser.errors(), IsEmpty());
  EXPECT_EQ(captions(browser),
            "ipc over core.warp_size; ipc over core.warp_size and workload; Parallel coordinates; ipc against cycles");
  EXPECT_EQ(empty_charts(browser), "");
  EXPECT_EQ(text(browser.run("return document.querySelector('main p').textContent")), "a <b>bold</b> one");
  // One line per run that is done.
  EXPECT_EQ(browser.run("return document.querySelectorAll('#parallel .mark-line path').length").as_int64(), 8);
  EXPECT_EQ(column(browser, "point"), "1,2,3,4,5,6,7,8,9,10,11,12");

  // A click on a heading sorts, another the other way round.
  browser.run(
      "[...document.querySelectorAll('#rows th')].find((one) => one.textContent === 'core.warp_size').id = 'w'");
  browser.click("#w");
  EXPECT_EQ(column(browser, "core.warp_size"), "64,64,64,64,48,48,48,48,32,32,32,32");
  browser.click("#w");
  EXPECT_EQ(column(browser, "core.warp_size"), "32,32,32,32,48,48,48,48,64,64,64,64");

  // A choice of an axis' value narrows all of it.
  choose(browser, "choose-workload", "nqueens");
  EXPECT_EQ(column(browser, "point"), "7,8,9,10,11,12");
  EXPECT_EQ(browser.run("return document.querySelectorAll('#parallel .mark-line path').length").as_int64(), 4);
  choose(browser, "choose-core_warp_size", "48");  // refused: nothing to draw, rows all the same
  EXPECT_EQ(captions(browser), "");
  EXPECT_EQ(column(browser, "status"), "refused,refused");
  choose(browser, "choose-core_warp_size", "");

  // Other figures and axes: bars over words.
  choose(browser, "one-figure", "idle_share");
  choose(browser, "one-x", "core_scheduler");
  choose(browser, "two-y", "core_scheduler");
  EXPECT_EQ(captions(browser),
            "idle share over core.scheduler; ipc over core.warp_size and core.scheduler; Parallel coordinates; "
            "ipc against cycles");
  EXPECT_EQ(empty_charts(browser), "");
  EXPECT_THAT(browser.errors(), IsEmpty());
}

}  // namespace
}  // namespace heddle::test
