// Texts, tables and the HTML page.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>
#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hw/state/idle_cause.hpp"
#include "studies/demo/demo.hpp"
#include "studies/demo/page.hpp"
#include "studies/pages/report/appearance.hpp"
#include "studies/pages/report/fu_classes.hpp"
#include "studies/pages/report/html.hpp"
#include "studies/pages/report/module_groups.hpp"
#include "studies/pages/report/number_text.hpp"
#include "studies/pages/report/reference.hpp"
#include "studies/pages/report/run_text.hpp"

namespace heddle::studies {
namespace {

TEST(Text, NumbersInPictures) {
  EXPECT_EQ(pages::number_text(0), "0");
  EXPECT_EQ(pages::number_text(-4000), "\u22124,000");
  EXPECT_EQ(pages::number_text(0.25), "0.25");
  EXPECT_EQ(pages::number_text(8.3456), "8.35");
  EXPECT_EQ(pages::number_text(9999), "9,999");
  EXPECT_EQ(pages::number_text(10000), "10 k");
  EXPECT_EQ(pages::number_text(15'284'567), "15.3 M");
  EXPECT_EQ(pages::number_text(999'999), "1 M");
}

TEST(Text, MinusSignsInPages) {
  EXPECT_EQ(pages::html_minus_signs("-5.6 to -5 % (-1), lwm-2, 5-6, -x"),
            "\u22125.6 to \u22125 % (\u22121), lwm-2, 5-6, -x");
  EXPECT_EQ(pages::html_minus_signs("<td x=\" -1\">-1</td><code>a -1</code> -2"),
            "<td x=\" -1\">\u22121</td><code>a -1</code> \u22122");
  EXPECT_EQ(pages::html_minus_signs("<style>p { margin: -1px; }</style>-1"),
            "<style>p { margin: -1px; }</style>\u22121");
  EXPECT_EQ(pages::html_minus_signs("<"), "<");
}

TEST(Text, Numbers) {
  EXPECT_EQ(counted(0, "block"), "0 blocks");
  EXPECT_EQ(counted(1, "block"), "1 block");
  EXPECT_EQ(counted(2, "block"), "2 blocks");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(percent(0.6234), "62.3 %");
  EXPECT_EQ(scaled(0), "0.00");
  EXPECT_EQ(scaled(12.34), "12.3");
  EXPECT_EQ(scaled(999.4), "999");
  EXPECT_EQ(scaled(999.6), "1.00 k");
  EXPECT_EQ(scaled(1234567), "1.23 M");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(32768), "32.0 KiB");
  EXPECT_EQ(bar(0.5, 4), "##--");
  EXPECT_EQ(bar(2, 4), "####");
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
}

TEST(Text, TableAlignsAndStacksHeaders) {
  TextTable table({{"name"}, {"long\nnumber", TextTable::Align::right}});
  table.add({"a", "1"});
  table.add({"bcdefg", "1000"});
  EXPECT_EQ(table.text(),
            "          long\n"
            "name    number\n"
            "------  ------\n"
            "a            1\n"
            "bcdefg    1000\n");
  EXPECT_THROW(table.add({"too few"}), InternalError);
}

TEST(Text, MarkdownEscapesPipes) {
  EXPECT_EQ(markdown_table({"a", "b"}, {{"x|y", "z"}}), "| a | b |\n| --- | --- |\n| x\\|y | z |\n");
}

std::vector<std::string> labels(const std::vector<pages::FuClass>& classes) {
  std::vector<std::string> out;
  for (const pages::FuClass& part : classes) {
    out.push_back(part.label);
  }
  return out;
}

TEST(FuClasses, AreThoseOfTheReportAt32Lanes) {
  std::vector<std::uint64_t> cycles(33);
  for (std::size_t n = 0; n < cycles.size(); ++n) {
    cycles[n] = n;
  }
  const auto classes = pages::fu_classes(cycles);
  EXPECT_EQ(labels(classes), (std::vector<std::string>{"0", "1-8", "9-16", "17-24", "25-31", "32"}));
  EXPECT_EQ(classes[1].cycles, 36U);   // 1 + ... + 8
  EXPECT_EQ(classes[4].cycles, 196U);  // 25 + ... + 31
  EXPECT_EQ(classes[5].cycles, 32U);
}

TEST(FuClasses, CoverEveryWidthExactlyOnce) {
  for (std::size_t width = 1; width <= 32; ++width) {
    std::uint64_t sum = 0;
    std::size_t next = 0;
    for (const pages::FuClass& part : pages::fu_classes(std::vector<std::uint64_t>(width + 1, 1))) {
      EXPECT_EQ(part.first, next) << width;
      next = part.last + 1;
      sum += part.cycles;
    }
    EXPECT_EQ(next, width + 1);
    EXPECT_EQ(sum, width + 1);
  }
  EXPECT_EQ(labels(pages::fu_classes(std::vector<std::uint64_t>(9))),
            (std::vector<std::string>{"0", "1-2", "3-4", "5-6", "7", "8"}));
  EXPECT_EQ(labels(pages::fu_classes(std::vector<std::uint64_t>(2))), (std::vector<std::string>{"0", "1"}));
}

TEST(Reference, ModulePatterns) {
  EXPECT_EQ(pages::module_pattern("gpu.core0.lane31"), "gpu.core<n>.lane<n>");
  EXPECT_EQ(pages::module_pattern("gpu.core12.l1d"), "gpu.core<n>.l1d");
  EXPECT_EQ(pages::module_pattern("gpu.l2"), "gpu.l2");
  EXPECT_EQ(pages::module_pattern("gpu"), "gpu");
}

TEST(Reference, EveryParameterIsListedWithItsRange) {
  const std::string text = pages::parameters_text({});
  EXPECT_NE(text.find("[core] one SIMT core\n"), std::string::npos);
  EXPECT_NE(text.find("  simd_width = 32 lanes   [1 to 32]\n      SIMD lanes, of each sub-core\n"), std::string::npos)
      << text;
  EXPECT_NE(pages::parameters_markdown({}).find(
                "| `row_hit` | `100` | 1 to 100000 | cycles | latency of an access to the open row |"),
            std::string::npos);
}

// A checker for the pages that Heddle writes: every element is closed in order, attributes are quoted, '&' and '<'
// occur as references and tags only. Void elements close themselves ("<meta ... />"); style and script hold raw text.
std::string why_malformed(const std::string& page) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while (at < page.size()) {
    if (page[at] == '&') {
      const std::size_t end = page.find(';', at);
      const std::string name = end == std::string::npos ? "" : page.substr(at, end - at + 1);
      if (name != "&amp;" && name != "&lt;" && name != "&gt;" && name != "&quot;") {
        return "a bare '&' at " + page.substr(at, 20);
      }
    }
    if (page[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) {
      return "an unclosed tag";
    }
    std::string tag = page.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.starts_with("!DOCTYPE")) {
      continue;
    }
    if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) {
      return "an odd number of quotes in <" + tag + ">";
    }
    const bool closing = tag.front() == '/';
    const bool empty = tag.back() == '/';
    const std::size_t start = closing ? 1 : 0;
    const std::string name = tag.substr(start, tag.find_first_of(" /", start) - start);
    if (name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) == 0) {
      return "a bare '<' before " + tag.substr(0, 20);
    }
    if (closing) {
      if (open.empty() || open.back() != name) {
        return "</" + name + "> closes nothing";
      }
      open.pop_back();
    } else if (!empty) {
      open.push_back(name);
      if (name == "style" || name == "script") {
        at = page.find("</" + name + ">", at);
      }
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

DemoResult sample_result() {
  DemoResult result;
  DemoRow good;
  good.workload = "a<b>&\"c\"";  // hostile on purpose
  good.description = "adds & multiplies <things>";
  good.scale = 0.1;
  tb::RunFiles files;
  hw::Totals totals;
  totals.cycles = 200;
  totals.core.warp_instructions = 100;
  totals.core.thread_instructions = totals.core.lane_instructions = 2400;
  totals.core.fu_active.assign(33, 0);
  totals.core.fu_active[0] = 100;
  totals.core.fu_active[24] = 100;
  totals.core.idle[static_cast<std::size_t>(hw::IdleCause::memory)] = 62;
  totals.core.idle[static_cast<std::size_t>(hw::IdleCause::barrier)] = 38;
  totals.dram.row_hits = 3;
  totals.dram.row_conflicts = 1;
  files.summary = tb::summarise(totals, result.machine, 1);
  files.threads = 1024;
  files.verdict = tb::Verdict{true, "all <1024> equal"};
  files.cost.simulation_cpu_seconds = 0.0001;
  good.files = files;
  DemoRow bad;
  bad.workload = "broken";
  bad.exit_code = 3;
  bad.message = "heddle: out of bounds <here> & there";
  result.rows = {good, bad};
  return result;
}

TEST(DemoReport, CellsHoldTheFigures) {
  const DemoResult result = sample_result();
  const std::vector<std::string> cells = demo_cells(result.rows[0]);
  ASSERT_EQ(cells.size(), demo_titles().size());
  EXPECT_EQ(cells[1], "0.1");
  EXPECT_EQ(cells[2], "1,024");
  EXPECT_EQ(cells[4], "200");
  EXPECT_EQ(cells[5], "12.00");
  EXPECT_EQ(cells[6], "24.00");
  EXPECT_EQ(cells[7], "50.0 %");
  EXPECT_EQ(cells[8], "62 % memory");
  EXPECT_EQ(cells[9], "75.0 %");
  EXPECT_EQ(cells[11], "2.00 M");
  EXPECT_EQ(cells[13], "correct");
  EXPECT_EQ(demo_cells(result.rows[1]).back(), "FAULT");
  EXPECT_EQ(result.exit_code(), 3);
  EXPECT_NE(demo_table(result).find("broken: heddle: out of bounds <here> & there"), std::string::npos);
}

TEST(DemoReport, TheMainCauseNeedsOnePercentOfIdleness) {
  DemoRow row = sample_result().rows[0];
  row.files->summary.idle_share = 0.01;
  EXPECT_EQ(demo_cells(row)[8], "62 % memory");
  row.files->summary.idle_share = 0.00999;
  EXPECT_EQ(demo_cells(row)[8], "-");
}

TEST(DemoReport, ThePageIsWellFormedAndSelfContained) {
  const std::string page = demo_page(sample_result());
  EXPECT_EQ(why_malformed(page), "");
  for (const char* outside : {" src=", "href=", "url(", "@import", "<link", "<iframe", "fetch(", "https://"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org/2000/svg"));  // the name of SVG's vocabulary only
  EXPECT_NE(page.find("a&lt;b&gt;&amp;&quot;c&quot;"), std::string::npos);
  EXPECT_EQ(page.find("a<b>"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_NE(page.find("@media print"), std::string::npos);
  EXPECT_NE(page.find("out of bounds &lt;here&gt; &amp; there"), std::string::npos);
}

TEST(DemoReport, SaysHowItWasCalled) {
  DemoResult result = sample_result();
  result.command = "heddle demo 'a<b>'";
  EXPECT_NE(demo_page(result).find("<code>heddle demo 'a&lt;b&gt;'</code>"), std::string::npos);
}

// "#rrggbb" as three numbers.
std::array<int, 3> parts_of(std::string_view colour) {
  std::array<int, 3> out{};
  for (std::size_t i = 0; i != 3; ++i) {
    out[i] = std::stoi(std::string(colour.substr(1 + 2 * i, 2)), nullptr, 16);
  }
  return out;
}

TEST(LooksOfCauses, EachHasANameAndAColourOfItsOwn) {
  std::vector<pages::Appearance> all = {pages::appearance_of_activity(), pages::appearance_of(hw::GroupState::ready)};
  for (std::size_t cause = 0; cause < hw::kIdleCauseCount; ++cause) {
    all.push_back(pages::appearance_of(static_cast<hw::IdleCause>(cause)));
    EXPECT_EQ(all.back().key, hw::kIdleCauses[cause].name);
  }
  const std::string style = pages::appearance_style();
  for (const pages::Appearance& one : all) {
    EXPECT_NE(style.find(fmt::format("--of-{}: {};", one.key, one.light)), std::string::npos) << one.key;
    EXPECT_NE(style.find(fmt::format("--of-{}: {};", one.key, one.dark)), std::string::npos) << one.key;
    EXPECT_NE(style.find(fmt::format(".of-{} {{", one.key)), std::string::npos) << one.key;
    for (const pages::Appearance& other : all) {
      if (one.key == other.key) {
        continue;
      }
      EXPECT_NE(one.title, other.title);
      for (const auto& [a, b] : {std::pair(one.light, other.light), std::pair(one.dark, other.dark)}) {
        int apart = 0;
        for (std::size_t i = 0; i != 3; ++i) {
          apart += std::abs(parts_of(a)[i] - parts_of(b)[i]);
        }
        EXPECT_GE(apart, 48) << one.key << " " << a << ", " << other.key << " " << b;
      }
    }
  }
}

TEST(LooksOfCauses, AWarpThatWaitsLooksLikeTheCause) {
  EXPECT_EQ(pages::appearance_of(hw::GroupState::memory).key, "memory");
  EXPECT_EQ(pages::appearance_of(hw::GroupState::fetching).key, "icache");
  EXPECT_EQ(pages::appearance_of(hw::GroupState::parked).key, "reconvergence");
  const boost::json::object json = pages::appearance_json();
  EXPECT_EQ(json.at("warp_states").at("parked"), "reconvergence");
  EXPECT_EQ(json.at("titles").at("mshrs_full"), "MSHRs full");
}

TEST(DemoReport, TheCheckerOfThePageHasTeeth) {
  EXPECT_NE(why_malformed("<p>a & b</p>"), "");
  EXPECT_NE(why_malformed("<p><b></p></b>"), "");
  EXPECT_NE(why_malformed("<p>"), "");
  EXPECT_NE(why_malformed("<p class=\"x>a</p>"), "");
  EXPECT_EQ(why_malformed("<p class=\"x\">a &amp; b<br/></p>"), "");
}

TEST(DemoReport, BarsAddUpToTheirShares) {
  pages::StackedBars bars;
  bars.parts = {{"idle", "u0"}, {"full", "u5"}};
  bars.rows = {{"w", {0.25, 0.75}}};
  const std::string html = pages::html_stacked_bars(bars, "t");
  EXPECT_NE(html.find("<span class=\"u0\" style=\"width:25.00%\" title=\"w, idle: 25.0 %\">25</span>"),
            std::string::npos)
      << html;
  EXPECT_NE(html.find("<span class=\"u5\" style=\"width:75.00%\" title=\"w, full: 75.0 %\">75</span>"),
            std::string::npos)
      << html;
}

TEST(RunText, SaysWhatMattersAndHidesNoFailure) {
  tb::RunRecord record;
  record.workload = "sample";
  record.complete = true;
  record.verdict = tb::Verdict{false, "element 3 differs"};
  record.summary = sample_result().rows[0].files->summary;
  std::string text = pages::run_text(record, {});
  EXPECT_EQ(text.substr(0, text.find('\n')), "sample on baseline: RESULT WRONG (element 3 differs)");
  EXPECT_NE(text.find("Idle cycles by cause: 100 (50.0 % of all)"), std::string::npos);
  EXPECT_LT(text.find("memory            ###"), text.find("barrier           ###"));  // largest first
  EXPECT_EQ(text.find("seed"), std::string::npos);
  record.scale = 0.25;
  record.seed = 7;
  text = pages::run_text(record, {});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "sample on baseline: RESULT WRONG (element 3 differs)\n  scale 0.25, seed 7");
  record.scale.reset();
  record.complete = false;
  record.verdict.reset();
  record.stop_reason = "interrupted";
  text = pages::run_text(record, {});
  EXPECT_EQ(text.substr(0, text.find("\n\n")), "sample on baseline: INCOMPLETE\n  stopped: interrupted");
}

}  // namespace
}  // namespace heddle::studies
