// The report's pictures of many cores and of grids, in a real browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "browser/browser.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG("ManyCores.ALegendEnds*", "ManyCores.SayInWhich*")

namespace heddle::test {
namespace {

using ::testing::IsEmpty;
using Scheme = Browser::Scheme;

class ManyCores : public ::testing::Test {
 protected:
  std::string report(const std::vector<std::string>& words) const {
    const std::string page = scratch.path("report.html");
    std::vector<std::string> all = {"run"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-q", "--report", page});
    const Ran ran = heddle(all);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return page;
  }
  // The captions of the figures that stand, below an element; "EMPTY" where nothing is drawn.
  static std::string captions(Browser& browser, const std::string& within) {
    return text(browser.run("return [...document.querySelectorAll('" + within + R"js( figure')].map((one) =>
      !one.querySelector("svg .role-mark path[d], svg image, img") ? "EMPTY" :
        one.querySelector("figcaption").firstChild.textContent).join("; "))js"));
  }
  const Scratch scratch;
};

TEST_F(ManyCores, HaveARowAndALineEach) {
  for (const char* const cores : {"1", "3", "28"}) {
    const std::string page =
        report({"baseline", "matrixmult", "--scale", "0.02", "--set", std::string("gpu.cores=") + cores, "--set",
                "l1d.write_policy=write-through", "--set", "dram.channels=4"});
    const bool many = cores != std::string("1");
    Browser browser(many ? Scheme::dark : Scheme::light);
    for (const unsigned width : {1280U, 390U}) {
      browser.resize(width, 844);
      browser.open(page);
      EXPECT_EQ(
          captions(browser, "#where"),
          std::string(many ? "Instructions per cycle of each core; Instructions per cycle of each core; Blocks of "
                             "each core; Blocks of each core; "
                           : "") +
              "Cores; Warps; Lanes; Warps of each core; Lanes of each core");
      EXPECT_THAT(captions(browser, "#time"), ::testing::HasSubstr("Warps by active threads"));
      EXPECT_THAT(captions(browser, "#dram"), ::testing::HasSubstr("Bus of each channel; Bus of each channel"));
      EXPECT_TRUE(browser.run("return document.documentElement.scrollWidth <= window.innerWidth").as_bool()) << width;
      EXPECT_THAT(browser.errors(), IsEmpty());
    }
  }
}

// Where threads can move to other cores, and when; and that perfect memory leaves nothing to draw of the DRAM.
TEST_F(ManyCores, SayInWhichLaunchesThreadsMove) {
  const struct {
    const char* workload;
    const char* scratchpad;
    const char* says;
    bool blocks;
  } cases[] = {
      {"vecadd", "off", "No core has blocks: they are the global scheduler's, and their warps go to any core.", false},
      {"matrixmult", "off", "In 1 launch the kernel uses the scratchpad, and threads stay in their cores.", true},
      {"matrixmult", "after-last-access",
       "In 1 launch a block is bound to a core up to its last access to the scratchpad; then its warps go to any.",
       false},
  };
  for (const auto& one : cases) {
    const std::string page = report({"odgs", one.workload, "--scale", "0.02", "--set", "gpu.cores=3", "--set",
                                     std::string("odgs.scratchpad=") + one.scratchpad});
    Browser browser(Scheme::light);
    browser.resize(390, 844);
    browser.open(page);
    EXPECT_EQ(text(browser.run("return document.querySelector('#where > .hint').textContent")), one.says);
    EXPECT_EQ(captions(browser, "#where").find("Blocks of each core") != std::string::npos, one.blocks);
    EXPECT_EQ(captions(browser, "#dram"), "");
    EXPECT_EQ(text(browser.run("return document.querySelector('#dram .hint').textContent")),
              "No access: with gpu.perfect_memory every one is a hit of the L1 or I-cache.");
    EXPECT_THAT(browser.errors(), IsEmpty());
  }
}

// The full colour of a heat map, as it is painted and filtered, is that of its legend.
TEST_F(ManyCores, ALegendEndsInTheColourOfItsHeatMap) {
  const std::string page = report(
      {"baseline", "vecadd", "--scale", "0.001", "--set", "gpu.cores=2", "--set", "l1d.write_policy=write-through"});
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    Browser browser(scheme);
    browser.open(page);
    EXPECT_LE(browser
                  .run(R"js(
      const style = getComputedStyle(document.querySelector("figure svg image"));
      const heat = getComputedStyle(document.documentElement).getPropertyValue("--heat").trim();
      const context = document.createElement("canvas").getContext("2d");
      context.filter = style.filter;
      context.fillStyle = "rgb(31, 111, 181)";
      context.fillRect(0, 0, 9, 9);
      const shown = context.getImageData(4, 4, 1, 1).data;
      return Math.max(...[1, 3, 5].map((at, i) => Math.abs(parseInt(heat.slice(at, at + 2), 16) - shown[i])));)js")
                  .to_number<int>(),
              3);
  }
}

// What is drawn are the pixels that the kernel has written.
TEST_F(ManyCores, PicturesHaveTheirPixels) {
  scratch.write("k.ptx", ".version 6.0\n.target sm_60\n.address_size 32\n.visible .entry nothing() { ret; }\n");
  const std::string launch = scratch.write("launch.toml", R"(ptx = "k.ptx"
[[buffer]]
name = "<b>colours</b>"
type = "u8"
values = [255, 0, 0,  0, 128, 0,  1, 2, 3,  250, 251, 252,  0, 0, 0,  9, 9, 9]
image = { width = 3, height = 2, format = "rgb" }
[[launch]]
entry = "nothing"
grid = [2, 3]
block = [4, 2]
)");
  const std::string page = report({"baseline", launch});
  for (const Scheme scheme : {Scheme::light, Scheme::dark}) {
    Browser browser(scheme);
    browser.resize(390, 844);
    browser.open(page);
    EXPECT_EQ(captions(browser, "#pictures"), "<b>colours</b>");
    EXPECT_EQ(text(browser.run(R"js(
      const image = document.querySelector("#pictures img"), canvas = document.createElement("canvas");
      canvas.width = image.naturalWidth;
      canvas.height = image.naturalHeight;
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return [canvas.width, canvas.height, ...context.getImageData(0, 0, canvas.width, canvas.height).data].join();
    )js")),
              "3,2,255,0,0,255,0,128,0,255,1,2,3,255,250,251,252,255,0,0,0,255,9,9,9,255");
    EXPECT_EQ(captions(browser, "#grid"), "Path length; Divergences");
    EXPECT_THAT(text(browser.run("return document.querySelector('#grid h3').textContent")),
                ::testing::HasSubstr("nothing, 8 \u00d7 6 threads"));
    EXPECT_TRUE(browser.run("return document.documentElement.scrollWidth <= window.innerWidth").as_bool());
    EXPECT_THAT(browser.errors(), IsEmpty());
  }
}

// Threads lie in the map where they are in the grid: as many rows and columns, as high as wide.
TEST_F(ManyCores, MapsOfThreadsAreAsTheGridIs) {
  const std::string page = report({"baseline", HEDDLE_SOURCE_DIR "/docs/examples/picture/launch.toml"});
  Browser browser;
  for (const unsigned width : {1280U, 390U}) {
    browser.resize(width, 844);
    browser.open(page);
    EXPECT_EQ(captions(browser, "#grid"), "Path length; Divergences");
    EXPECT_EQ(captions(browser, "#pictures"), "colours; steps");
    const boost::json::value ratio = browser.run(R"js(
      return [...document.querySelectorAll("#grid svg image")].map((one) => {
        const box = one.getBoundingClientRect();
        return box.width / box.height;
      });
    )js");
    ASSERT_EQ(ratio.as_array().size(), 2U);
    for (const boost::json::value& one : ratio.as_array()) {
      EXPECT_NEAR(one.to_number<double>(), 1, 0.05) << width;
    }
    EXPECT_TRUE(browser
                    .run(R"js(
      const { profile, stats } = heddle.data;
      return profile.thread_maps[0].instructions.reduce((a, b) => a + b, 0) === stats.summary.thread_instructions;
    )js")
                    .as_bool());
  }
  EXPECT_THAT(browser.errors(), IsEmpty());
}

}  // namespace
}  // namespace heddle::test
