// The document of a design review, in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "browser/browser.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::test {
namespace {

using ::testing::IsEmpty;
using Scheme = Browser::Scheme;

// Every chart has something drawn in it.
constexpr const char* kAllDrawn =
    "return [...document.querySelectorAll('.chart')].every((one) => one.querySelector('svg .role-mark path[d]'))";

// All sections stand, at both widths and in both schemes: nothing is wider than the window, the window of the worst
// workload has a row for each sub-warp and signal, and diagrams have marked modules.
TEST(ReviewPage, StandsAtEveryWidth) {
  const Scratch scratch;
  const Ran ran = heddle({"review", "baseline", "lwm", "--workloads", "nqueens,vecadd", "--scale", "0.0005", "--seeds",
                          "2", "--folder", scratch.path("r"), "--parameters", "l1d.bytes", "-q"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    Browser browser(scheme);
    for (const unsigned width : {1280U, 390U}) {
      browser.resize(width, 844);
      browser.open(scratch.path("r/review.html"));
      EXPECT_THAT(browser.errors(), IsEmpty());
      EXPECT_TRUE(browser.run("return document.documentElement.scrollWidth <= window.innerWidth").as_bool()) << width;
      EXPECT_EQ(text(browser.run("return [...document.querySelectorAll('section')].map((one) => one.id).join(' ')")),
                "summary differences diagrams storage energy use causes closely sensitivity readings");
      EXPECT_TRUE(browser.run(kAllDrawn).as_bool());
      EXPECT_TRUE(browser
                      .run("const { pipelines, signals } = heddle.data.closely; const rows = "
                           "[...document.querySelectorAll('svg.window')].map((one) => "
                           "one.querySelectorAll('.label').length); return JSON.stringify(rows) === "
                           "JSON.stringify([...pipelines.map((one) => one.length), signals.length, signals.length])")
                      .as_bool());
      EXPECT_TRUE(browser
                      .run("return heddle.data.diagrams.length === 2 && "
                           "[...document.querySelectorAll('.diagram')].every((one) => "
                           "one.innerHTML.includes('#c2410c') && one.getBoundingClientRect().width <= innerWidth)")
                      .as_bool());
      // The causes of each comparison add up to its cycles.
      EXPECT_EQ(browser.run("return document.querySelectorAll('#causes .waterfall').length").as_int64(), 2);
    }
  }
  // Printed at once, before all charts stand, it is whole.
  Browser browser(Scheme::light);
  browser.show(scratch.path("r/review.html"));
  EXPECT_TRUE(browser.run(std::string("dispatchEvent(new Event('beforeprint')); ") + kAllDrawn).as_bool());
}

}  // namespace
}  // namespace heddle::test
