// The claims that show a reading of a paper beside another one, and those about what the papers say beside their main
// figures, put to made-up results: each must hold where its expectation is met, and must not where it is missed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/registry.hpp"
#include "studies/reproduce/claim.hpp"

namespace heddle::studies {
namespace {

bool set_to(const studies::Run& run, const std::string& setting) {
  return std::find(run.settings.begin(), run.settings.end(), setting) != run.settings.end();
}
// The number that a setting sets its key to; `otherwise` where none does.
double value_of(const studies::Run& run, const std::string& key, double otherwise) {
  for (const std::string& setting : run.settings) {
    if (setting.starts_with(key + "=")) {
      return std::stod(setting.substr(key.size() + 1));
    }
  }
  return otherwise;
}

// A run of so many core cycles, a share of which waits for memory.
struct MadeRun {
  double cycles = 1e6;
  double waiting = 0.5;
  double misses = 1000;
  double drift = 10;
  double row_hits = 0.5;
  double requests = 1e6;
  double lanes = 0.5;
};
using MakeRun = std::function<MadeRun(const studies::Run&)>;

Finding finding_of(const char* id, const MakeRun& make) {
  const std::unique_ptr<Claim> claim = Registry<Claim>::instance().make(id, {});
  Results results;
  for (const studies::Run& run : claim->runs()) {
    const MadeRun made = make(run);
    tb::Summary summary;
    summary.cycles = static_cast<std::uint64_t>(made.cycles);
    summary.fu_active_cycles = {summary.cycles};
    summary.idle_cycles_by_cause.cycles[static_cast<std::size_t>(hw::IdleCause::memory)] =
        static_cast<std::uint64_t>(made.waiting * made.cycles);
    summary.ipc = 1e8 / made.cycles;
    summary.idle_share = made.waiting;
    summary.l1d_misses = static_cast<std::uint64_t>(made.misses);
    summary.warp_drift = made.drift;
    summary.dram_row_hit_rate = made.row_hits;
    summary.offcore_requests = static_cast<std::uint64_t>(made.requests);
    summary.simd_efficiency = made.lanes;
    results.add(run, summary, 1);
  }
  return claim->judge(results);
}
Shape shape_when(const char* id, const MakeRun& make) {
  return shape_of(finding_of(id, make).checks);
}

TEST(ReadingsClaims, WiderSimdMustEventuallyLose) {
  const auto with = [](double widest, double waiting) {
    return shape_when("dws-simd-width", [=](const studies::Run& run) {
      const double width = value_of(run, "core.simd_width", 16);
      return MadeRun{width == 16 ? widest : 1e6 / width, width == 16 ? waiting : 0.3 + width / 100};
    });
  };
  EXPECT_EQ(with(2e5, 0.76), Shape::holds);
  EXPECT_EQ(with(2e5, 0.36), Shape::partly);
  EXPECT_EQ(with(5e4, 0.36), Shape::does_not_hold);
}

TEST(ReadingsClaims, FullAssociativityMustLeaveWaiting) {
  const auto with = [](double full) {
    return shape_when("dws-full-assoc", [=](const studies::Run& run) {
      return MadeRun{1e6, set_to(run, "l1d.ways=256") ? full : 0.7};
    });
  };
  EXPECT_EQ(with(0.4), Shape::holds);
  EXPECT_EQ(with(0.8), Shape::partly);
  EXPECT_EQ(with(0.1), Shape::does_not_hold);
}

TEST(ReadingsClaims, AFewWarpsAreBestAndMoreWhereMissesTakeLong) {
  const auto best_at = [](const char* id, double best) {
    return shape_when(id, [=](const studies::Run& run) {
      const double warps = value_of(run, "core.blocks", 4);
      return MadeRun{warps == best ? 5e5 : 1e6, warps == best ? 0.4 : 0.6};
    });
  };
  EXPECT_EQ(best_at("dws-warps", 4), Shape::holds);
  EXPECT_EQ(best_at("dws-warps", 16), Shape::does_not_hold);
  EXPECT_EQ(best_at("dws-warps", 1), Shape::does_not_hold);
  EXPECT_EQ(best_at("dws-long-misses", 8), Shape::holds);
  EXPECT_EQ(best_at("dws-long-misses", 4), Shape::does_not_hold);
}

TEST(ReadingsClaims, SubdivisionIsJudgedUnderEachReading) {
  const auto with = [](double packed, double waiting) {
    return finding_of("dws-readings", [=](const studies::Run& run) {
      const bool revive = run.config.starts_with("dws-revive");
      return MadeRun{!revive ? 1e6 : run.config == "dws-revive-packed" ? 1e6 / packed : 1e6 / 1.7, waiting};
    });
  };
  const Finding all = with(1.7, 0.76);
  EXPECT_EQ(all.measured, 8U);
  EXPECT_EQ(shape_of(all.checks), Shape::holds);
  EXPECT_EQ(all.ours,
            "as it is 1.70, packed links 1.70, both ways together 1.70, stores waited 1.70, banks by word 1.70, PCs at "
            "accesses 1.70, stacks in memory 1.70, no loop branches 1.70");
  EXPECT_EQ(shape_of(with(1.06, 0.76).checks), Shape::partly);
  EXPECT_EQ(shape_of(with(1.7, 0.4).checks), Shape::partly);
}

TEST(ReadingsClaims, LargeAssociativeCachesMustLeaveSubdivisionNothing) {
  const auto with = [](double large, double slip) {
    return shape_when("dws-caches", [=](const studies::Run& run) {
      const double gain = run.config == "slip-bypass"         ? slip
                          : run.config != "dws-revive-bypass" ? 1
                          : set_to(run, "l1d.ways=1024")      ? large
                                                              : 1.4;
      return MadeRun{1e6 / gain};
    });
  };
  EXPECT_EQ(with(1.01, 1.1), Shape::holds);
  EXPECT_EQ(with(1.01, 1.5), Shape::partly);
  EXPECT_EQ(with(1.5, 1.1), Shape::does_not_hold);
}

TEST(ReadingsClaims, SmallWarpsWinWithCachesThatWriteBack) {
  const auto with = [](double of8, double requests) {
    return shape_when("ws-write-back", [=](const studies::Run& run) {
      EXPECT_TRUE(set_to(run, "l1d.write_policy=write-back"));
      const bool plus = run.config == "sw-plus";
      return MadeRun{
          plus ? 1e6 : run.config == "ws-8" ? 1e6 * of8 : 1.1e6, plus ? 0.3 : 0.5, 0, 0, 0, plus ? 1e6 : requests};
    });
  };
  EXPECT_EQ(with(1.16, 1.2e6), Shape::holds);
  EXPECT_EQ(with(0.9, 1.2e6), Shape::partly);
  EXPECT_EQ(shape_when("ws-write-back", [](const studies::Run&) { return MadeRun{}; }), Shape::does_not_hold);
}

TEST(ReadingsClaims, LongerLinesMustBeSlower) {
  const auto with = [](double longer) {
    return shape_when(
        "ws-line", [=](const studies::Run& run) { return MadeRun{set_to(run, "l1d.line_bytes=128") ? longer : 1e6}; });
  };
  EXPECT_EQ(with(1.1e6), Shape::holds);
  EXPECT_EQ(with(0.9e6), Shape::does_not_hold);
}

TEST(ReadingsClaims, TheActivityFactorMustStay) {
  const auto with = [](double of64) {
    return shape_when("ws-activity", [=](const studies::Run& run) {
      return MadeRun{1e6, 0.5, 0, 0, 0, 1e6, run.config == "ws-64" ? of64 : 0.8};
    });
  };
  EXPECT_EQ(with(0.795), Shape::holds);
  EXPECT_EQ(with(0.7), Shape::does_not_hold);
}

TEST(ReadingsClaims, LimitedLoadsMustGainWithEitherBandwidth) {
  const auto with = [](double narrow, double misses) {
    return shape_when("ccws-32", [=](const studies::Run& run) {
      const bool limited = run.config == "ccws";
      const double gain = set_to(run, "dram.bandwidth_gbs=8") ? narrow : 1.24;
      return MadeRun{limited ? 1e6 / gain : 1e6, 0.5, limited ? misses : 1000};
    });
  };
  EXPECT_EQ(with(1.24, 750), Shape::holds);
  EXPECT_EQ(with(1.05, 750), Shape::partly);
  EXPECT_EQ(with(0.9, 750), Shape::partly);
  EXPECT_EQ(with(1.24, 1100), Shape::partly);
  EXPECT_EQ(shape_when("ccws-32", [](const studies::Run&) { return MadeRun{}; }), Shape::does_not_hold);
}

TEST(ReadingsClaims, ABoundMustKeepFetchGroupsTogether) {
  const auto with = [](double drift, double gain) {
    return shape_when("2lev-drift", [=](const studies::Run& run) {
      const bool tight = set_to(run, "two_level.fetch_group_timeout=1024");
      return MadeRun{tight ? 1e6 / gain : 1e6, 0.5, 0, tight ? drift : 10};
    });
  };
  EXPECT_EQ(with(2, 1.1), Shape::holds);
  EXPECT_EQ(with(2, 0.9), Shape::partly);
  EXPECT_EQ(with(20, 0.9), Shape::does_not_hold);
}

TEST(ReadingsClaims, WhatWasNotMeasuredHasNoVerdict) {
  for (const char* const id : {"dws-simd-width", "dws-warps", "dws-readings", "dws-caches", "ws-write-back", "ws-line",
                               "ws-activity", "ccws-32", "2lev-drift"}) {
    const Finding finding = Registry<Claim>::instance().make(id, {})->judge(Results());
    EXPECT_EQ(shape_of(finding.checks), Shape::not_measured) << id;
  }
}

}  // namespace
}  // namespace heddle::studies
