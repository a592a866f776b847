// Bank timelines: what a channel's observer makes of a trace, the file, and the picture.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.hpp"
#include "studies/pages/report/timeline_file.hpp"
#include "studies/pages/report/timeline_picture.hpp"
#include "tb/measure/dram/bank_timeline.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::studies {
namespace {

using test::heddle;
using test::Ran;
using test::Scratch;
using SpanKind = tb::BankTimeline::Kind;

bool same(const tb::BankTimeline::Span& a, const tb::BankTimeline::Span& b) {
  return a.kind == b.kind && a.bank == b.bank && a.begin == b.begin && a.end == b.end && a.row == b.row;
}

bool has(const tb::BankTimeline& timeline, const tb::BankTimeline::Span& wanted) {
  for (const tb::BankTimeline::Span& span : timeline.panels.front().spans) {
    if (same(span, wanted)) {
      return true;
    }
  }
  return false;
}

// Thesis figure 7.3, "beneficial", through the program: a hinted read, a conflict behind it, and the hit that is waited
// for, sent so that it waits in the queue 50 cycles after the hinted one's data.
constexpr const char* kScene = "0x0 RH 0\n0x8000 R 1\n0x80 R 350\n";

tb::BankTimeline watched(const Scratch& scratch, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"dram",    "database-hints", scratch.write("trace", kScene),
                                    "--timed", "--timeline",     scratch.path("t.json")};
  words.insert(words.end(), more.begin(), more.end());
  const Ran ran = test::heddle(words);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("written: " + scratch.path("t.json")), std::string::npos) << ran.out;
  return tb::read_timeline(scratch.path("t.json"));
}

TEST(Timeline, ShowsHitsConflictsHoldsAndTransfers) {
  const Scratch scratch;
  const tb::BankTimeline timeline = watched(scratch, {});
  EXPECT_EQ(timeline.begin, 0U);
  EXPECT_EQ(timeline.end, 3000U);
  ASSERT_EQ(timeline.panels.size(), 1U);
  EXPECT_EQ(timeline.panels[0].banks, 8U);
  EXPECT_EQ(timeline.panels[0].spans.size(), 7U);
  EXPECT_TRUE(has(timeline, {SpanKind::conflict, 0, 1, 301, 0}));
  EXPECT_TRUE(has(timeline, {SpanKind::hold, 0, 301, 351, 0}));
  EXPECT_TRUE(has(timeline, {SpanKind::hit, 0, 351, 451, 0}));
  EXPECT_TRUE(has(timeline, {SpanKind::conflict, 0, 451, 751, 1}));
  EXPECT_TRUE(has(timeline, {SpanKind::transfer, 0, 297, 301, 0}));  // 128 bytes at 32 bytes a cycle
  EXPECT_TRUE(has(timeline, {SpanKind::transfer, 0, 447, 451, 0}));
  EXPECT_TRUE(has(timeline, {SpanKind::transfer, 0, 747, 751, 0}));
}

TEST(Timeline, AWindowBehindTheEndIsWarnedOf) {
  const Scratch scratch;
  const std::string trace = scratch.write("trace", kScene);
  const auto said = [&](std::vector<std::string> words, const std::string& from) {
    words.insert(words.end(), {"--timeline", scratch.path("t.json"), "--timeline-from", from});
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(tb::read_timeline(scratch.path("t.json")).panels.front().spans.empty() == !ran.err.empty());
    return ran.err;
  };
  const std::string warning = "heddle: warning: --timeline-from 900000: the window begins after the run's last cycle, ";
  EXPECT_EQ(said({"dram", "database-hints", trace, "--timed"}, "900000").substr(0, warning.size()), warning);
  EXPECT_EQ(said({"dram", "database-hints", trace, "--timed"}, "100"), "");
  EXPECT_EQ(said({"run", "baseline", "vecadd", "--scale", "0.001"}, "900000").substr(0, warning.size()), warning);
  EXPECT_EQ(said({"run", "baseline", "vecadd", "--scale", "0.001"}, "100"), "");
}

TEST(Timeline, AHoldInVainIsShownAsSuch) {
  const Scratch scratch;
  const tb::BankTimeline timeline = watched(scratch, {"--set", "dram.hint_threshold=20"});
  EXPECT_TRUE(has(timeline, {SpanKind::lost, 0, 301, 321, 0}));
  EXPECT_TRUE(has(timeline, {SpanKind::conflict, 0, 321, 621, 1}));
  EXPECT_TRUE(has(timeline, {SpanKind::conflict, 0, 621, 921, 0}));
}

TEST(Timeline, KeepsWhatReachesIntoTheWindow) {
  const Scratch scratch;
  const tb::BankTimeline timeline = watched(scratch, {"--timeline-from", "351", "--timeline-cycles", "96"});
  EXPECT_EQ(timeline.end, 447U);
  ASSERT_EQ(timeline.panels[0].spans.size(), 1U);  // the hold ends at 351, the transfer begins at 447
  EXPECT_TRUE(has(timeline, {SpanKind::hit, 0, 351, 451, 0}));
}

TEST(Timeline, ACommandTimedChannelIsShownToo) {
  const Scratch scratch;
  const tb::BankTimeline timeline =
      watched(scratch, {"--set", "dram.timing=jedec", "--set", "dram.preset=ddr4-2400", "--set", "dram.banks=16"});
  std::uint64_t moved = 0;
  for (const tb::BankTimeline::Span& span : timeline.panels[0].spans) {
    moved += span.kind == SpanKind::transfer ? 1 : 0;
    EXPECT_LT(span.begin, span.end);
  }
  EXPECT_EQ(moved, 6U);  // two bursts of 64 bytes for each line
}

TEST(Timeline, OfARunIsWrittenForEveryChannel) {
  const Scratch scratch;
  const std::string path = scratch.path("run.svg");
  const Ran ran =
      test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--set", "dram.channels=2", "--timeline", path});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const std::string svg = Scratch::read(path);
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  // Every viewer shows it: plain colours, on a ground of its own for dark pages.
  for (const char* const other : {"<style", "class=", "var(", "@media"}) {
    EXPECT_EQ(svg.find(other), std::string::npos) << other;
  }
  EXPECT_NE(svg.find("fill=\"#ffffff\"/>"), std::string::npos);
  EXPECT_NE(svg.find(">dram1<"), std::string::npos);
  EXPECT_NE(svg.find("<title>transfer: cycles"), std::string::npos);
}

TEST(Timeline, WrongWordsAreNamed) {
  EXPECT_EQ(test::heddle({"run", "baseline", "vecadd", "--timeline", "t.png"}).err,
            "heddle: t.png: a timeline is FILE.svg, a picture, or FILE.json, its figures\n");
  EXPECT_EQ(test::heddle({"run", "baseline", "vecadd", "--timeline-from", "3"}).err,
            "heddle: --timeline-from: needs --timeline FILE.svg\n");
  EXPECT_EQ(test::heddle({"run", "baseline", "vecadd", "--timeline", "t.svg", "--timeline-cycles", "0"}).err,
            "heddle: --timeline-cycles: '0' is no whole number from 1 to 1000000\n");
}

TEST(Timeline, ReadsWhatItWrites) {
  tb::BankTimeline timeline{"a <title>", 10, 50, {{"one", 2, {}}}};
  timeline.panels[0].spans = {
      {SpanKind::hit, 0, 12, 20, 7}, {SpanKind::lost, 1, 20, 60, 0}, {SpanKind::transfer, 1, 5, 11, 0}};
  const Scratch scratch;
  const tb::BankTimeline read = tb::read_timeline(scratch.write("t.json", tb::timeline_json(timeline)));
  EXPECT_EQ(read.title, timeline.title);
  EXPECT_EQ(read.begin, 10U);
  EXPECT_EQ(read.end, 50U);
  ASSERT_EQ(read.panels.size(), 1U);
  ASSERT_EQ(read.panels[0].spans.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(same(read.panels[0].spans[i], timeline.panels[0].spans[i])) << i;
  }
  EXPECT_THROW((void)tb::read_timeline(scratch.path("none.json")), InputError);
  EXPECT_THROW((void)tb::read_timeline(scratch.write("bad.json", "{\"title\": 3}")), InputError);
}

TEST(Timeline, IsRefusedWhereThereAreNoBanks) {
  const Scratch scratch;
  const std::string picture = scratch.path("t.svg");
  const std::vector<std::string> rest = {"--timeline", picture, "--set", "dram.timing=none"};
  for (std::vector<std::string> words : {std::vector<std::string>{"dram", "baseline", scratch.write("trace", kScene)},
                                         std::vector<std::string>{"run", "baseline", "vecadd", "--scale", "0.001"}}) {
    words.insert(words.end(), rest.begin(), rest.end());
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2);
    EXPECT_NE(ran.err.find("--timeline: with dram.timing = \"none\" there are no banks"), std::string::npos) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(picture));
  }
}

TEST(Timeline, DrawsInsideItsWindow) {
  tb::BankTimeline timeline{"a <title>", 0, 100, {{"one", 1, {}}}};
  timeline.panels[0].spans = {{SpanKind::conflict, 0, 0, 50, 3},
                              {SpanKind::hit, 0, 20, 60, 3},     // overlaps: only what it adds is drawn
                              {SpanKind::hit, 0, 30, 55, 3},     // adds nothing
                              {SpanKind::hit, 0, 100, 120, 3}};  // behind the window
  const std::string svg = pages::timeline_svg(timeline);
  EXPECT_NE(svg.find("<title>a &lt;title&gt;</title>"), std::string::npos);
  EXPECT_NE(svg.find("row conflict, bank 0, row 3: cycles 0 to 50"), std::string::npos);
  EXPECT_NE(svg.find("row hit, bank 0, row 3: cycles 20 to 60"), std::string::npos);
  EXPECT_EQ(svg.find("cycles 30 to 55"), std::string::npos);
  EXPECT_EQ(svg.find("cycles 100 to 120"), std::string::npos);
}

}  // namespace
}  // namespace heddle::studies
