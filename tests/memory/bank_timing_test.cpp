// The papers' DRAM timing alone: from which cycle on an access may start, and when its data is complete. The papers'
// figures (thesis table 5.1): hits take 100 cycles, conflicts 300, and 32 GB/s at 1 GHz move 128 bytes in 4 cycles.
#include "hw/dram/bank_timing.hpp"

#include <gtest/gtest.h>

namespace heddle::hw {
namespace {

DramParameters papers(double bandwidth = 32.0) {
  DramParameters parameters;
  parameters.row_hit = 100;
  parameters.row_conflict = 300;
  parameters.bandwidth_gbs = bandwidth;
  return parameters;
}

constexpr double kWide = 512.0;  // GB/s: a line takes a quarter of a cycle, so that the bus is in nobody's way

// A bank timing with requests made on the fly.
struct Banks {
  explicit Banks(const DramParameters& parameters = papers(), unsigned line_bytes = 128, double clock_period_ns = 1.0)
      : timing(parameters, line_bytes, clock_period_ns) {}

  [[nodiscard]] DramRequest request(unsigned bank, std::uint64_t row, bool write = false, bool atomic = false) {
    DramRequest out;
    out.location.bank = bank;
    out.location.row = row;
    out.write = write;
    out.atomic = atomic;
    out.slots = atomic ? 2 : 1;
    out.serial = ++serial;
    return out;
  }
  [[nodiscard]] Cycle earliest(const DramRequest& request, Cycle now) { return timing.earliest_start(request, now); }
  [[nodiscard]] Cycle earliest(unsigned bank, std::uint64_t row, Cycle now, bool write = false) {
    return earliest(request(bank, row, write), now);
  }
  // Starts an access in a cycle in which it may start; the cycle in which its data is complete.
  Cycle start(DramRequest request, Cycle now, bool close = false) {
    EXPECT_EQ(earliest(request, now), now) << "bank " << request.location.bank << " row " << request.location.row;
    step = timing.start(request, now, close);
    EXPECT_TRUE(step.served);
    hit = request.row_hit;
    return request.data;
  }
  Cycle start(unsigned bank, std::uint64_t row, Cycle now, bool write = false) {
    return start(request(bank, row, write), now);
  }
  // Legal in `at` and refused in the cycle before.
  void expect_from(const DramRequest& request, Cycle at) {
    EXPECT_EQ(earliest(request, at - 1), at);
    EXPECT_EQ(earliest(request, at), at);
  }
  void expect_from(unsigned bank, std::uint64_t row, Cycle at, bool write = false) {
    expect_from(request(bank, row, write), at);
  }

  HitConflictTiming timing;
  DramStep step;
  bool hit = false;
  std::uint64_t serial = 0;
};

constexpr std::uint64_t bus_cycles(std::uint64_t cycles) {
  return cycles << DramStep::kFractionBits;
}

TEST(HitConflictTiming, TheFirstAccessToABankTakesAsLongAsAConflict) {
  Banks banks;
  EXPECT_EQ(banks.timing.conflict_latency(), 300U);
  EXPECT_EQ(banks.timing.conflict_penalty(), 200U);
  EXPECT_EQ(banks.timing.firm_until(), kNever);
  EXPECT_TRUE(banks.timing.timed());
  EXPECT_EQ(banks.timing.banks(), 8U);
  EXPECT_FALSE(banks.timing.row_open(3));
  EXPECT_TRUE(banks.timing.last_step(banks.request(3, 7)));
  EXPECT_EQ(banks.start(3, 7, 10), 310U);
  EXPECT_FALSE(banks.hit);
  EXPECT_EQ(banks.step.activations, 1U);
  EXPECT_EQ(banks.step.bus_end, 310U);
  EXPECT_EQ(banks.step.bus, bus_cycles(4));
  EXPECT_TRUE(banks.timing.row_open(3));
  EXPECT_EQ(banks.timing.open_row(3), 7U);
  EXPECT_TRUE(banks.timing.row_hit(banks.request(3, 7)));
  EXPECT_FALSE(banks.timing.row_hit(banks.request(3, 8)));
  EXPECT_FALSE(banks.timing.row_hit(banks.request(2, 7)));
}

TEST(HitConflictTiming, AHitTakesOneHundredCycles) {
  Banks banks;
  banks.start(0, 5, 0);
  EXPECT_EQ(banks.start(0, 5, 1000), 1100U);
  EXPECT_TRUE(banks.hit);
  EXPECT_EQ(banks.step.activations, 0U);
  EXPECT_EQ(banks.step.bus, bus_cycles(4));
  EXPECT_EQ(banks.step.bus_end, 1100U);
}

TEST(HitConflictTiming, ARowTakesHitsFromConflictLessHitCyclesAfterItsStartOn) {
  Banks banks(papers(kWide));
  banks.start(0, 5, 10);
  banks.expect_from(0, 5, 10 + 200);
  EXPECT_EQ(banks.start(0, 5, 210), 310U);
  EXPECT_TRUE(banks.hit);
  // Hits pipeline, one per cycle.
  banks.expect_from(0, 5, 211);
  EXPECT_EQ(banks.start(0, 5, 211), 311U);
}

TEST(HitConflictTiming, AConflictWaitsForTheDataOfEveryEarlierAccessToItsBank) {
  Banks banks(papers(kWide));
  EXPECT_EQ(banks.start(0, 5, 0), 300U);
  banks.expect_from(0, 6, 300);
  EXPECT_EQ(banks.start(0, 5, 250), 350U);  // a hit makes it wait for longer
  banks.expect_from(0, 6, 350);
  EXPECT_EQ(banks.start(0, 6, 350), 650U);
  EXPECT_FALSE(banks.hit);
  EXPECT_EQ(banks.step.activations, 1U);
  banks.expect_from(0, 5, 650);  // its row is closed now
  banks.expect_from(0, 6, 550);
  EXPECT_EQ(banks.earliest(1, 5, 351), 351U) << "another bank does not wait";
}

TEST(HitConflictTiming, OneAccessStartsPerCycle) {
  Banks banks(papers(kWide));
  banks.start(0, 5, 40);
  banks.expect_from(1, 5, 41);
  banks.start(1, 5, 41);
  banks.expect_from(2, 5, 42);
}

TEST(HitConflictTiming, TheBusIsOneAccesssAloneAndTheStartWaitsForIt) {
  Banks banks;
  EXPECT_EQ(banks.start(0, 5, 0), 300U);  // has [296, 300)
  banks.expect_from(1, 5, 4);
  EXPECT_EQ(banks.start(1, 5, 4), 304U);
  banks.expect_from(0, 5, 208);  // hits from 200 on, whose slots are given
  EXPECT_EQ(banks.start(0, 5, 208), 308U);
}

TEST(HitConflictTiming, ABankThatWaitsDoesNotDelayAnother) {
  Banks banks;
  banks.start(0, 5, 0);     // [296, 300)
  banks.start(1, 5, 1000);  // [1296, 1300)
  // A hit asked for later has its slot before.
  EXPECT_EQ(banks.start(0, 5, 1001), 1101U);
  // Its slot fits up to the reserved one to the cycle: [1292, 1296), but not [1293, 1297).
  EXPECT_EQ(banks.earliest(0, 5, 1197), 1204U);
  EXPECT_EQ(banks.start(0, 5, 1196), 1296U);
  banks.expect_from(0, 5, 1204);
  // An access that was asked about before another one started is looked at anew.
  Banks other;
  other.start(0, 5, 0);
  const DramRequest first = other.request(0, 5);
  EXPECT_EQ(other.earliest(first, 1000), 1000U);
  EXPECT_EQ(other.start(0, 5, 1000), 1100U);
  EXPECT_EQ(other.start(first, 1004), 1104U);
}

TEST(HitConflictTiming, TheBusRestsBetweenAReadAndAWriteEitherWayRound) {
  DramParameters parameters = papers();
  parameters.turnaround = 3;
  Banks banks(parameters);
  banks.start(0, 5, 0);  // a read has [296, 300)
  banks.expect_from(1, 5, 4, false);
  banks.expect_from(1, 5, 4 + 3, true);
  EXPECT_EQ(banks.start(1, 5, 7, true), 307U);  // a write has [303, 307)
  banks.expect_from(2, 5, 11, true);
  banks.expect_from(2, 5, 11 + 3, false);
  EXPECT_EQ(banks.start(2, 5, 14), 314U);
  // In front of a reserved read [1296, 1300): a write must be over three cycles before it, a read need not.
  banks.start(3, 5, 1000);
  EXPECT_EQ(banks.earliest(1, 5, 1193, true), 1193U);
  EXPECT_EQ(banks.earliest(1, 5, 1194, true), 1200U + 4 + 3);
  EXPECT_EQ(banks.earliest(2, 5, 1196), 1196U);
  EXPECT_EQ(banks.earliest(2, 5, 1197), 1204U);
}

TEST(HitConflictTiming, AnAtomicTakesASecondSlotForTheLinesWayBack) {
  Banks banks;
  EXPECT_EQ(banks.start(banks.request(0, 5, false, true), 0), 300U);  // [296, 304)
  EXPECT_EQ(banks.step.bus_end, 304U);
  EXPECT_EQ(banks.step.bus, bus_cycles(8));
  banks.expect_from(1, 5, 8);
  banks.expect_from(0, 6, 304);            // the bank is done with it then
  EXPECT_EQ(banks.start(1, 5, 20), 320U);  // [316, 320)
  // Both slots must be free: [308, 316) is, [309, 317) is not.
  EXPECT_EQ(banks.earliest(banks.request(0, 5, false, true), 212), 212U);
  EXPECT_EQ(banks.earliest(banks.request(0, 5, false, true), 213), 224U);
}

TEST(HitConflictTiming, AnAtomicTurnsTheBusRoundItself) {
  DramParameters parameters = papers();
  parameters.turnaround = 3;
  Banks banks(parameters);
  EXPECT_EQ(banks.start(banks.request(0, 5, false, true), 0), 300U);  // read [296, 300), write [303, 307)
  EXPECT_EQ(banks.step.bus_end, 307U);
  EXPECT_EQ(banks.step.bus, bus_cycles(8)) << "a rest is no use";
  banks.expect_from(1, 5, 11, true);       // [307, 311)
  banks.expect_from(1, 5, 11 + 3, false);  // behind a write
  banks.expect_from(0, 6, 307);
}

TEST(HitConflictTiming, AClosedRowTakesAConflictWhereTheMachineSaysNothingElse) {
  Banks banks(papers(kWide));
  banks.start(banks.request(0, 5), 0, true);
  EXPECT_FALSE(banks.timing.row_open(0));
  EXPECT_FALSE(banks.timing.row_hit(banks.request(0, 5)));
  banks.expect_from(0, 5, 300);
  EXPECT_EQ(banks.start(0, 5, 300), 600U);
  EXPECT_FALSE(banks.hit);
  EXPECT_EQ(banks.step.activations, 1U);
}

TEST(HitConflictTiming, AClosedRowIsPrechargedBehindTheLastDataAndThenFaster) {
  DramParameters parameters = papers(kWide);
  parameters.row_closed = 220;
  Banks banks(parameters);
  EXPECT_EQ(banks.timing.conflict_latency(), 300U);
  EXPECT_EQ(banks.start(0, 5, 0), 220U) << "no row is open at first";
  banks.expect_from(0, 5, 220 - 100);
  EXPECT_EQ(banks.start(banks.request(0, 5), 400, true), 500U);
  EXPECT_TRUE(banks.hit);
  banks.expect_from(0, 5, 500 + 80);  // the precharge: 300 - 220
  EXPECT_EQ(banks.start(0, 6, 580), 800U);
  banks.expect_from(0, 6, 800 - 100);
  banks.expect_from(0, 7, 800);  // an open row: a conflict again
  EXPECT_EQ(banks.start(0, 7, 800), 1100U);
}

TEST(HitConflictTiming, ASlotLongerThanTheLatencyStretchesTheLatency) {
  Banks banks(papers(1.0));  // 128 cycles
  EXPECT_EQ(banks.start(0, 5, 0), 300U);
  EXPECT_EQ(banks.start(0, 5, 1000), 1128U);
  EXPECT_TRUE(banks.hit);
  EXPECT_EQ(banks.timing.conflict_latency(), 300U);
}

TEST(HitConflictTiming, FractionsOfACycleAreKept) {
  Banks banks(papers(16.0), 120);  // 7.5 cycles
  banks.start(0, 5, 0);
  // Slots end in 1099, 1106.5, 1114... and a little: eight of them in 60 cycles.
  const Cycle starts[] = {1000, 1007, 1015, 1022, 1030, 1037, 1045, 1052, 1060};
  for (const Cycle at : starts) {
    if (at != 1000) {
      banks.expect_from(0, 5, at);
    }
    EXPECT_EQ(banks.start(0, 5, at), at + 100);
    EXPECT_EQ(banks.step.bus, bus_cycles(15) / 2);
  }
}

TEST(HitConflictTiming, ChannelsShareTheBandwidthAndCyclesAreTheGpusOwn) {
  DramParameters parameters = papers();
  parameters.channels = 2;
  Banks shared(parameters);
  shared.start(0, 5, 0);
  EXPECT_EQ(shared.step.bus, bus_cycles(8));
  shared.expect_from(1, 5, 8);
  Banks faster(papers(), 128, 0.5);  // 2 GHz
  faster.start(0, 5, 0);
  EXPECT_EQ(faster.step.bus, bus_cycles(8));
  faster.expect_from(1, 5, 8);
  Banks shorter(papers(), 32);
  shorter.start(0, 5, 0);
  EXPECT_EQ(shorter.step.bus, bus_cycles(1));
  shorter.expect_from(1, 5, 1);
}

}  // namespace
}  // namespace heddle::hw
