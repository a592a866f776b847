// The claims of the ODGS paper, put to made-up results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"
#include "studies/reproduce/figures/odgs_study.hpp"

namespace heddle::studies::odgs {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct Made {
  double ipc = 100;
  std::uint64_t cycles = 1'000'000;
  std::uint64_t divergences = 1000;
  double bus = 0.4;
  std::uint64_t context_bytes = 0;
  std::uint64_t diverged = 0;
};
using Making = std::function<Made(const studies::Run&)>;

// Two cores of which one stops half-way, four bands, one channel, and a grid of 4 x 2 threads.
RunSeries made_series(const studies::Run& run) {
  RunSeries series;
  series.cycles = 100;
  series.core_ipc = {{32, 16}, {32, 0}};
  const bool has_blocks = run.config != "odgs";
  series.core_blocks = {{has_blocks ? 3.0 : 0.0, has_blocks ? 1.0 : 0.0}, {has_blocks ? 3.0 : 0.0, 0}};
  series.threads_per_band = 8;
  series.bands = {{0, 0.5}, {0, 0}, {0, 0}, {1, 0.5}};
  series.channel_bus = {{0.5, 0.25}};
  series.maps = {{"kernel", 4, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 0, 1, 1, 2, 2, 4, 4}}};
  series.pictures = {{"picture", 1, 1, {10, 20, 30}}};
  return series;
}

Finding judge(const char* id, const Making& make, bool with_series = true) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    const Made made = make(run);
    tb::Summary summary;
    summary.ipc = made.ipc;
    summary.cycles = made.cycles;
    summary.divergent_branches = made.divergences;
    summary.dram_bus_utilisation = made.bus;
    summary.context_bytes = made.context_bytes;
    summary.diverged_warps = made.diverged;
    results.add(run, summary, 1, {}, {}, run.series && with_series ? std::optional(made_series(run)) : std::nullopt);
  }
  return claim->judge(results);
}

bool has(const studies::Run& run, const std::string& setting) {
  return std::any_of(run.settings.begin(), run.settings.end(),
                     [&](const std::string& one) { return one.starts_with(setting); });
}

std::size_t number_of(const studies::Run& run) {
  constexpr const char* kNames[] = {"suffix_tree", "bfs", "raytrace", "neural", "weather"};
  return static_cast<std::size_t>(std::find_if(std::begin(kNames), std::end(kNames),
                                               [&](const char* name) { return run.workload.starts_with(name); }) -
                                  std::begin(kNames));
}

// What the paper reports.
Made of_table3(const studies::Run& run) {
  static const std::map<std::string, std::array<double, 5>> kTable = {{"odgs-pod", {1, 1, 1, 1, 1}},
                                                                      {"odgs-mimd", {2.71, 1.92, 1.05, 1.52, 1.02}},
                                                                      {"odgs-dwf", {1.95, 1.64, 0.76, 0.98, 0.24}},
                                                                      {"odgs", {4.4, 2.6, 1.10, 10.6, 0.4}}};
  return {.ipc = 100 * kTable.at(run.config).at(number_of(run))};
}

Made of_latency(const studies::Run& run) {
  const auto latency = std::find_if(run.settings.begin(), run.settings.end(), [](const std::string& setting) {
    return setting.starts_with("odgs.handling_latency=");
  });
  const double cycles = latency == run.settings.end() ? 0 : std::stod(latency->substr(latency->find('=') + 1));
  const bool sensitive = number_of(run) < 2;
  return {.ipc = sensitive && cycles > 128 ? 100 - 0.1 * cycles : 99.0};
}

// Lanes of any thread have the paper's figures, or those of the lanes that they began in have.
TEST(OdgsClaims, MimdIsJudgedByLanesOfAnyThread) {
  const auto lanes = [](bool any_is_the_papers) {
    return judge("odgs-mimd", [=](const studies::Run& run) {
      return run.config == "odgs-pod" || has(run, "mimd.lanes=any") == any_is_the_papers ? of_table3(run)
                                                                                         : Made{.ipc = 100};
    });
  };
  const Finding found = lanes(true);
  EXPECT_EQ(shape_of(found.checks), Shape::holds);
  EXPECT_EQ(found.ours, "MUM 1.00 and 2.71, BFS 1.00 and 1.92, RAY 1.00 and 1.05, NN 1.00 and 1.52, WP 1.00 and 1.02");
  EXPECT_EQ(shape_of(lanes(false).checks), Shape::does_not_hold);
}

TEST(OdgsClaims, LayersAreTheCauseWhereTheyBringTheGain) {
  const auto layers = [](double by_places) {
    return judge("odgs-layers", [=](const studies::Run& run) {
      const bool oracle = run.config == "odgs" && has(run, "l1d.ports=32");
      return Made{.ipc = !oracle ? 100.0 : run.workload == "neural:by_places" ? 100 * by_places : 500.0};
    });
  };
  EXPECT_EQ(shape_of(layers(10.6).checks), Shape::holds);
  EXPECT_EQ(layers(10.6).ours, "by maps 1.00 and 5.00, by places 1.00 and 10.60");
  EXPECT_EQ(shape_of(layers(4).checks), Shape::does_not_hold);
}

TEST(OdgsClaims, ThePapersOwnFiguresHold) {
  EXPECT_EQ(shape_of(judge("odgs-ipc", of_table3).checks), Shape::holds);
  EXPECT_EQ(judge("odgs-ipc", of_table3).ours, "4.40, 2.60, 1.10, 10.60, 0.40");
  EXPECT_EQ(shape_of(judge("odgs-pm",
                           [](const studies::Run& run) {
                             return Made{.cycles = run.config == "odgs-pod" ? 400'000U : 900'000U};
                           })
                         .checks),
            Shape::holds);
  EXPECT_EQ(shape_of(judge("odgs-synthetic",
                           [](const studies::Run& run) {
                             const bool oracle = run.config == "odgs";
                             return Made{.ipc = oracle ? 130.0 : 100.0, .divergences = oracle ? 500U : 1000U};
                           })
                         .checks),
            Shape::holds);
  EXPECT_EQ(shape_of(judge("odgs-latency", of_latency).checks), Shape::holds);
  EXPECT_EQ(shape_of(judge("odgs-context",
                           [](const studies::Run& run) {
                             return Made{.context_bytes = number_of(run) == 0 ? 8'400'000'000U : 28'000'000U,
                                         .diverged = number_of(run) < 2 ? 1000U : 100U};
                           })
                         .checks),
            Shape::holds);
  EXPECT_EQ(shape_of(judge("odgs-beyond",
                           [](const studies::Run& run) {
                             const bool plain = run.config == "odgs" && !has(run, "odgs.");
                             return Made{.ipc = plain ? 40.0 : 100.0, .context_bytes = plain ? 20U : 10U};
                           })
                         .checks),
            Shape::holds);
}

TEST(OdgsClaims, TheirContraryDoesNot) {
  EXPECT_EQ(
      shape_of(judge("odgs-ipc", [](const studies::Run& run) { return Made{.ipc = 1e4 / of_table3(run).ipc}; }).checks),
      Shape::does_not_hold);
  EXPECT_EQ(shape_of(judge("odgs-pm", [](const studies::Run&) { return Made{}; }).checks), Shape::does_not_hold);
  EXPECT_EQ(shape_of(judge("odgs-synthetic", [](const studies::Run&) { return Made{}; }).checks), Shape::does_not_hold);
  EXPECT_EQ(
      shape_of(
          judge("odgs-context", [](const studies::Run&) { return Made{.context_bytes = 28U * 2'000'000U}; }).checks),
      Shape::does_not_hold);
  EXPECT_EQ(shape_of(judge("odgs-beyond", [](const studies::Run&) { return Made{.context_bytes = 10}; }).checks),
            Shape::does_not_hold);
  // Workloads lose that should not, and the others do not.
  EXPECT_EQ(shape_of(judge("odgs-latency",
                           [](const studies::Run& run) {
                             return Made{.ipc = number_of(run) < 2 || !has(run, "odgs.handling") ? 100.0 : 50.0};
                           })
                         .checks),
            Shape::does_not_hold);
}

TEST(OdgsClaims, TexturesAndPortsAreReadingsOfTheirOwn) {
  const auto longer = [](std::uint64_t cycles) {
    return shape_of(judge("odgs-textures", [=](const studies::Run& run) {
                      return Made{.cycles = run.config == "odgs-pod-textures" ? cycles : 1'000'000};
                    }).checks);
  };
  EXPECT_EQ(longer(2'250'000), Shape::holds);
  EXPECT_EQ(longer(5'500'000), Shape::does_not_hold);
  const auto with_few = [](double share) {
    return judge("odgs-ports", [=](const studies::Run& run) {
      Made made = of_table3(run);
      made.ipc *= run.config == "odgs" && !has(run, "l1d.ports") ? share : 1;
      return made;
    });
  };
  EXPECT_EQ(shape_of(with_few(1).checks), Shape::holds);
  EXPECT_EQ(shape_of(with_few(0.45).checks), Shape::partly);
  EXPECT_EQ(with_few(1).ours, "BFS 2.60 and 2.60, NN 10.60 and 10.60");
}

TEST(OdgsClaims, WhatWasNotMeasuredHasNoVerdict) {
  for (const char* const id : {"odgs-ipc", "odgs-pm", "odgs-textures", "odgs-ports", "odgs-synthetic", "odgs-latency",
                               "odgs-context", "odgs-beyond"}) {
    const Finding finding = Registry<Claim>::instance().make(id, {})->judge(Results());
    EXPECT_EQ(shape_of(finding.checks), Shape::not_measured) << id;
  }
}

// One benchmark of five on all machines: the others have neither checks nor numbers.
TEST(OdgsClaims, OfWhatRanInPartOnlyThatIsJudged) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make("odgs-ipc", {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    if (number_of(run) == 3) {
      tb::Summary summary;
      summary.ipc = of_table3(run).ipc;
      results.add(run, summary, 1);
    }
  }
  const Finding finding = claim->judge(results);
  EXPECT_EQ(finding.measured, 1U);
  EXPECT_EQ(finding.wanted, 5U);
  EXPECT_EQ(finding.ours, "-, -, -, 10.60, -");
  EXPECT_EQ(finding.checks.size(), 3U);
}

std::vector<std::string> captions(const Finding& finding) {
  std::vector<std::string> all;
  for (const pages::Chart& chart : finding.charts) {
    if (const auto* const pictures = std::get_if<pages::ImagePanels>(&chart)) {
      for (const pages::ImagePanels::Panel& panel : pictures->panels) {
        all.push_back(panel.caption);
      }
    }
  }
  return all;
}

TEST(OdgsClaims, HaveThePapersPictures) {
  const std::vector<std::string> all = captions(judge("odgs-ipc", of_table3));
  for (const char* const figure5 : {"MUM, POD: instructions per cycle", "MUM, MIMD: instructions per cycle",
                                    "MUM, DWF: instructions per cycle", "MUM, ODGS: instructions per cycle"}) {
    EXPECT_THAT(all, Contains(HasSubstr(figure5)));
  }
  EXPECT_THAT(all, Contains(HasSubstr("MUM, POD: blocks of each core")));
  EXPECT_THAT(all, ::testing::Not(Contains(HasSubstr("ODGS: blocks"))));
  EXPECT_THAT(all, Contains(HasSubstr("MUM, POD: share of instructions by active threads")));
  EXPECT_THAT(all, Contains("path lengths"));
  EXPECT_THAT(all, Contains("output"));
  EXPECT_THAT(all, Contains("divergences, ODGS (white 4)"));
  EXPECT_THAT(captions(judge("odgs-pm", [](const studies::Run&) { return Made{}; })),
              Contains(HasSubstr("MUM, DRAM: use of each memory channel's bus over 100 cycles, black 0 to white 0.5")));
  EXPECT_THAT(captions(judge("odgs-ipc", of_table3, false)), ::testing::IsEmpty());
}

TEST(ImagePanels, HaveAGreyPointPerValue) {
  const pages::ImagePanels::Panel panel = pages::grey_panel("some", {{0, 1}, {2, 4}}, 2);
  EXPECT_EQ(panel.width, 2U);
  EXPECT_EQ(panel.height, 2U);
  EXPECT_THAT(panel.rgb, ::testing::ElementsAre(0, 0, 0, 128, 128, 128, 255, 255, 255, 255, 255, 255));
  pages::ImagePanels pictures;
  pictures.title = "a & b";
  pictures.panels = {panel, {"nothing", 0, 0, {}}};
  const std::string drawn = pages::chart_svg(pictures);
  EXPECT_THAT(drawn, HasSubstr("a &amp; b"));
  EXPECT_THAT(drawn, HasSubstr("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_THAT(drawn, HasSubstr(">nothing<"));
}

}  // namespace
}  // namespace heddle::studies::odgs
