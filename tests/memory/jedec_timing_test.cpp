// DRAM command timing alone, without a controller: each distance to the edge, where the next step may be taken and
// where it may not yet. The DRAM clock is the GPU's unless a test says otherwise, so that clocks are cycles.
// Long: one timing model, a test per distance.
#include "hw/dram/jedec_timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;
using Figures = JedecParameters;

// GDDR5 at 1 GHz: CL 12, CWL 4, tRCD = tRP = 12, tRAS 28, tRC 40, tRRD 6, tCCD 2 and 3, tRTP 2, tWR 12, tWTR 5, tRTW
// 12; bursts of 32 bytes take two clocks; banks with the same two lowest bits are a group.
DramParameters gddr5() {
  DramParameters parameters;
  parameters.timing = "jedec";
  parameters.preset = "gddr5";
  parameters.banks = 16;
  parameters.jedec.refresh = false;
  return parameters;
}
DramParameters with(unsigned Figures::*field, unsigned clocks) {
  DramParameters parameters = gddr5();
  parameters.jedec.*field = clocks;
  return parameters;
}

class Device : private DramObserver {
 public:
  explicit Device(const DramParameters& parameters = gddr5(), unsigned line_bytes = 32, double clock_period_ns = 1.0,
                  bool watched = true)
      : timing(parameters, line_bytes, clock_period_ns) {
    if (watched) {
      timing.set_observer(this);
    }
  }
  [[nodiscard]] static DramRequest read(unsigned bank, std::uint64_t row) {
    DramRequest out;
    out.location.bank = bank;
    out.location.row = row;
    return out;
  }
  [[nodiscard]] static DramRequest write(unsigned bank, std::uint64_t row) {
    DramRequest out = read(bank, row);
    out.write = true;
    return out;
  }
  [[nodiscard]] static DramRequest atomic(unsigned bank, std::uint64_t row) {
    DramRequest out = read(bank, row);
    out.atomic = true;
    out.slots = 2;
    return out;
  }
  // The request's next step may be taken in `at`, and not in the cycle before.
  void expect_from(const DramRequest& request, Cycle at) {
    EXPECT_EQ(timing.earliest_start(request, at - 1), at);
    EXPECT_EQ(timing.earliest_start(request, at), at);
  }
  // Takes it in a cycle in which it may be taken.
  DramStep take(DramRequest& request, Cycle now, bool close = false) {
    EXPECT_EQ(timing.earliest_start(request, now), now);
    return timing.start(request, now, close);
  }
  void take(DramRequest&& request, Cycle now) { take(request, now); }
  // Opens a row long before.
  void open(unsigned bank, std::uint64_t row, Cycle now) { take(read(bank, row), now); }

  std::vector<std::string> commands;  // "activate 3 @ 10", of the bank and at the clock
  JedecTiming timing;

 private:
  void command(const DramCommand& told) override {
    const char* const names[] = {"activate", "precharge", "precharge all", "read", "write", "refresh"};
    commands.push_back(std::string(names[static_cast<unsigned>(told.kind)]) +
                       (told.kind == DramCommand::Kind::precharge_all || told.kind == DramCommand::Kind::refresh
                            ? ""
                            : " " + std::to_string(told.bank)) +
                       (told.auto_precharge ? " and close" : "") + " @ " + std::to_string(told.clock));
  }
};

constexpr std::uint64_t bus_clocks(std::uint64_t clocks) {
  return clocks << DramStep::kFractionBits;
}

// ----------------------------------------------------------------------------------------------------------- steps

TEST(JedecTiming, AReadOfAClosedBankIsAnActivationAndAReadCommand) {
  Device device;
  DramRequest request = Device::read(5, 9);
  EXPECT_TRUE(device.timing.timed());
  EXPECT_EQ(device.timing.banks(), 16U);
  EXPECT_EQ(device.timing.firm_until(), kNever) << "no refresh";
  EXPECT_FALSE(device.timing.last_step(request));
  DramStep step = device.take(request, 10);
  EXPECT_FALSE(step.served);
  EXPECT_EQ(step.activations, 1U);
  EXPECT_EQ(step.bus, 0U);
  EXPECT_EQ(device.timing.open_row(5), 9U);
  EXPECT_TRUE(device.timing.row_hit(request));
  EXPECT_TRUE(device.timing.last_step(request));
  device.expect_from(request, 10 + 12);
  step = device.take(request, 22);
  EXPECT_TRUE(step.served);
  EXPECT_EQ(step.activations, 0U);
  EXPECT_EQ(step.bus, bus_clocks(2));
  EXPECT_EQ(request.data, 22 + 12 + 2U);
  EXPECT_EQ(step.bus_end, 36U);
  EXPECT_THAT(device.commands, ElementsAre("activate 5 @ 10", "read 5 @ 22"));
}

TEST(JedecTiming, AnotherRowIsPrechargedFirst) {
  Device device;
  device.open(5, 9, 0);
  DramRequest request = Device::read(5, 10);
  EXPECT_FALSE(device.timing.last_step(request));
  const DramStep step = device.take(request, 100);
  EXPECT_FALSE(step.served);
  EXPECT_EQ(step.activations, 0U);
  EXPECT_FALSE(device.timing.row_open(5));
  device.expect_from(request, 112);
  device.take(request, 112);
  device.expect_from(request, 124);
  EXPECT_TRUE(device.take(request, 124).served);
  EXPECT_EQ(request.data, 138U) << "tRP + tRCD + CL + burst after the start";
  EXPECT_EQ(device.timing.conflict_latency(), 38U);
  EXPECT_EQ(device.timing.conflict_penalty(), 24U);
  EXPECT_THAT(device.commands, ElementsAre("activate 5 @ 0", "precharge 5 @ 100", "activate 5 @ 112", "read 5 @ 124"));
}

TEST(JedecTiming, ALineTakesACommandPerBurst) {
  Device device(gddr5(), 128);
  DramRequest request = Device::read(0, 1);
  device.take(request, 0);
  for (unsigned burst = 0; burst != 4; ++burst) {
    const Cycle at = 12 + 3 * burst;  // tCCD_L: all are the bank's own
    EXPECT_EQ(device.timing.last_step(request), burst == 3);
    device.expect_from(request, at);
    const DramStep step = device.take(request, at);
    EXPECT_EQ(step.served, burst == 3);
    EXPECT_EQ(step.bus, bus_clocks(2));
    EXPECT_EQ(step.bus_end, at + 14);
  }
  EXPECT_EQ(request.data, 12 + 9 + 14U);
}

TEST(JedecTiming, AnAtomicReadsItsLineAndWritesItBack) {
  Device device(gddr5(), 64);
  DramRequest request = Device::atomic(0, 1);
  device.take(request, 0);
  device.take(request, 12);
  device.take(request, 15);
  EXPECT_FALSE(device.timing.last_step(request));
  device.expect_from(request, 15 + 12);  // tRTW
  EXPECT_FALSE(device.take(request, 27).served);
  EXPECT_TRUE(device.timing.last_step(request));
  device.expect_from(request, 30);
  EXPECT_TRUE(device.take(request, 30).served);
  EXPECT_EQ(request.data, 30 + 4 + 2U);
  EXPECT_THAT(device.commands,
              ElementsAre("activate 0 @ 0", "read 0 @ 12", "read 0 @ 15", "write 0 @ 27", "write 0 @ 30"));
}

TEST(JedecTiming, AnAccessThatClosesItsRowPrechargesItWhenThatIsAllowed) {
  Device device(gddr5(), 64);
  DramRequest request = Device::read(0, 1);
  device.take(request, 0, true);
  EXPECT_TRUE(device.timing.row_open(0)) << "an activation closes nothing";
  device.take(request, 12, true);
  EXPECT_TRUE(device.timing.row_open(0)) << "another burst is to come";
  device.take(request, 15, true);
  EXPECT_FALSE(device.timing.row_open(0));
  // tRAS ends in 28, tRTP in 17; tRP.
  DramRequest next = Device::read(0, 1);
  device.expect_from(next, 28 + 12);
  device.take(next, 100);
  device.take(next, 150);
  device.take(next, 153, true);
  device.expect_from(Device::read(0, 2), 153 + 2 + 12);
  DramRequest last = Device::write(0, 2);
  device.take(last, 200);
  device.take(last, 250);
  device.take(last, 253, true);
  device.expect_from(Device::read(0, 2), 253 + 4 + 2 + 12 + 12);  // tWR
  EXPECT_THAT(device.commands,
              ElementsAre("activate 0 @ 0", "read 0 @ 12", "read 0 and close @ 15", "activate 0 @ 100", "read 0 @ 150",
                          "read 0 and close @ 153", "activate 0 @ 200", "write 0 @ 250", "write 0 and close @ 253"));
}

// ------------------------------------------------------------------------------------------------------- distances

TEST(JedecTiming, ActivationToColumnCommand) {
  Device reads(with(&Figures::trcd_rd, 17));
  reads.open(0, 1, 10);
  reads.expect_from(Device::read(0, 1), 10 + 17);
  reads.expect_from(Device::write(0, 1), 10 + 12);
  Device writes(with(&Figures::trcd_wr, 9));
  writes.open(0, 1, 10);
  writes.expect_from(Device::write(0, 1), 10 + 9);
  writes.expect_from(Device::read(0, 1), 10 + 12);
}

TEST(JedecTiming, WriteDataComesAfterTheWriteLatency) {
  Device device;
  device.open(0, 1, 0);
  DramRequest request = Device::write(0, 1);
  device.take(request, 50);
  EXPECT_EQ(request.data, 50 + 4 + 2U);
}

TEST(JedecTiming, APrechargeWaitsForTheActivationTheReadAndTheWrittenData) {
  Device device;
  device.open(0, 1, 0);
  device.expect_from(Device::read(0, 2), 28);  // tRAS
  device.take(Device::read(0, 1), 26);
  device.expect_from(Device::read(0, 2), 28);
  device.take(Device::read(0, 1), 29);
  device.expect_from(Device::read(0, 2), 29 + 2);  // tRTP
  device.take(Device::write(0, 1), 41);
  device.expect_from(Device::read(0, 2), 41 + 4 + 2 + 12);  // tWR after the data
  device.expect_from(Device::write(0, 2), 59);
  device.open(1, 7, 50);
  EXPECT_EQ(device.timing.earliest_start(Device::read(1, 8), 51), 78U) << "another bank has its own";
}

TEST(JedecTiming, ActivationsOfOneBank) {
  Device device(with(&Figures::trc, 53));
  device.open(0, 1, 0);
  DramRequest other = Device::read(0, 2);
  device.take(other, 28);
  device.expect_from(other, 53);  // tRC, past tRP
  Device precharged(with(&Figures::trp, 31));
  precharged.open(0, 1, 0);
  DramRequest behind = Device::read(0, 2);
  precharged.take(behind, 28);
  precharged.expect_from(behind, 28 + 31);
}

TEST(JedecTiming, ActivationsOfOtherBanks) {
  DramParameters parameters = gddr5();
  parameters.jedec.trrd_s = 7;
  parameters.jedec.trrd_l = 10;
  Device device(parameters);
  device.open(2, 1, 20);
  device.expect_from(Device::read(3, 1), 27);
  device.expect_from(Device::read(6, 1), 30);  // group 2
  device.open(3, 1, 27);
  device.expect_from(Device::read(6, 1), 34);  // behind bank 3's: another group
  device.expect_from(Device::read(7, 1), 37);
}

TEST(JedecTiming, AWindowHoldsFourActivations) {
  Device device(with(&Figures::tfaw, 50));
  device.open(0, 1, 1);
  device.open(1, 1, 7);
  device.open(2, 1, 13);
  device.expect_from(Device::read(3, 1), 19);
  device.open(3, 1, 20);
  device.expect_from(Device::read(5, 1), 1 + 50);
  device.open(5, 1, 51);
  device.expect_from(Device::read(6, 1), 57);  // 7 + 50, and tRRD
  device.open(6, 1, 57);
  device.expect_from(Device::read(7, 1), 63);
  device.open(7, 1, 63);
  device.expect_from(Device::read(8, 1), 20 + 50);  // tRRD ends in 69
}

TEST(JedecTiming, ColumnCommandsOfAKind) {
  DramParameters parameters = gddr5();
  parameters.jedec.tccd_s = 4;
  parameters.jedec.tccd_l = 6;
  for (const auto make : {&Device::read, &Device::write}) {
    Device device(parameters);
    device.open(0, 1, 0);
    device.open(1, 1, 10);
    device.open(4, 1, 20);
    device.take(make(0, 1), 100);
    device.expect_from(make(1, 1), 104);
    device.expect_from(make(4, 1), 106);
    device.expect_from(make(0, 1), 106);
  }
}

TEST(JedecTiming, AWriteToARead) {
  DramParameters parameters = gddr5();
  parameters.jedec.twtr_s = 5;
  parameters.jedec.twtr_l = 8;
  Device device(parameters);
  device.open(0, 1, 0);
  device.open(1, 1, 10);
  device.open(4, 1, 20);
  device.take(Device::write(0, 1), 100);  // its data ends in 106
  device.expect_from(Device::read(1, 1), 111);
  device.expect_from(Device::read(4, 1), 114);
  device.expect_from(Device::read(0, 1), 114);
}

TEST(JedecTiming, AReadToAWrite) {
  Device device;
  device.open(0, 1, 0);
  device.open(1, 1, 10);
  device.take(Device::read(0, 1), 100);
  device.expect_from(Device::write(0, 1), 112);
  device.expect_from(Device::write(1, 1), 112);
  Device tight(with(&Figures::trtw, 3));
  tight.open(1, 1, 10);
  tight.take(Device::read(1, 1), 100);
  tight.expect_from(Device::write(1, 1), 103);
}

// -------------------------------------------------------------------------------------------------- pseudo channels

// Banks 0, 2, 4... are one pseudo channel, 1, 3, 5... the other; within each two more bits are the group.
DramParameters two_pseudo_channels() {
  DramParameters parameters = gddr5();
  parameters.jedec.pseudo_channels = 2;
  parameters.preset = "hbm2";
  parameters.jedec.refresh = false;
  parameters.banks = 32;
  return parameters;
}

TEST(JedecTiming, PseudoChannelsHaveDataBusesAndBanksOfTheirOwn) {
  Device device(two_pseudo_channels());
  device.take(Device::read(0, 1), 100);
  device.expect_from(Device::read(2, 1), 104);  // tRRD_S, of bank group 1
  device.expect_from(Device::read(8, 1), 106);  // tRRD_L, of bank group 0
  device.expect_from(Device::read(1, 1), 102);  // of the other pseudo channel: the row bus, two clocks
  device.take(Device::read(1, 1), 102);
  device.take(Device::read(2, 1), 104);
  device.take(Device::read(3, 1), 106);
  device.take(Device::read(0, 1), 200);
  device.expect_from(Device::read(2, 1), 202);  // tCCD_S
  device.expect_from(Device::read(1, 1), 201);  // of the other: the column bus, one clock
  device.take(Device::read(1, 1), 201);
  device.expect_from(Device::read(3, 1), 203);
}

TEST(JedecTiming, AWindowOfFourActivationsIsAPseudoChannels) {
  DramParameters parameters = two_pseudo_channels();
  parameters.jedec.tfaw = 100;
  Device device(parameters);
  for (unsigned i = 0; i != 4; ++i) {
    device.take(Device::read(2 * i, 1), 100 + 6 * i);
  }
  device.expect_from(Device::read(8, 1), 200);
  device.expect_from(Device::read(1, 1), 120);
}

TEST(JedecTiming, ABurstIsHalfAChannelOfTwoPseudoChannels) {
  Device device(two_pseudo_channels());
  device.open(0, 1, 0);
  DramRequest request = Device::read(0, 1);
  EXPECT_EQ(device.take(request, 100).bus, bus_clocks(2) / 2);
}

TEST(JedecTiming, APartOfALineTakesItsBurstsOnly) {
  Device device(gddr5(), 128);
  device.open(0, 1, 0);
  DramRequest part = Device::read(0, 1);
  part.bytes = 64;
  EXPECT_FALSE(device.timing.last_step(part));
  EXPECT_FALSE(device.take(part, 100).served);
  EXPECT_TRUE(device.timing.last_step(part));
  EXPECT_TRUE(device.take(part, 103).served);
}

// ---------------------------------------------------------------------------------------------------- command buses

TEST(JedecTiming, OneCommandPerClock) {
  Device device;
  device.open(0, 1, 0);
  device.open(1, 1, 10);
  device.take(Device::read(0, 1), 100);
  device.expect_from(Device::read(1, 2), 101);  // a precharge
  device.expect_from(Device::read(2, 1), 101);  // an activation
  device.take(Device::read(2, 1), 101);
  device.expect_from(Device::read(1, 2), 102);
  device.expect_from(Device::read(1, 1), 102);  // tCCD_S
}

TEST(JedecTiming, Hbm2HasABusForRowsAndOneForColumns) {
  DramParameters parameters = gddr5();
  parameters.preset = "hbm2";
  Device device(parameters);
  device.open(0, 1, 0);
  device.open(1, 1, 10);
  device.open(3, 1, 20);
  device.take(Device::read(2, 1), 100);  // an activation takes two clocks of the row bus
  device.expect_from(Device::read(1, 2), 102);
  device.take(Device::read(0, 1), 100);  // and none of the column bus
  EXPECT_EQ(device.timing.earliest_start(Device::read(1, 1), 100), 102U) << "tCCD_S";
  device.take(Device::read(1, 2), 102);  // a precharge takes one
  device.expect_from(Device::read(3, 2), 103);
  device.take(Device::read(0, 1), 103);
  device.take(Device::read(3, 2), 103);
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 0", "activate 1 @ 10", "activate 3 @ 20", "activate 2 @ 100",
                                           "read 0 @ 100", "precharge 1 @ 102", "read 0 @ 103", "precharge 3 @ 103"));
}

// --------------------------------------------------------------------------------------------------------- two clocks

TEST(JedecTiming, AFasterDramClockHasSeveralEdgesInACycle) {
  DramParameters parameters = with(&Figures::tck_ps, 400);
  parameters.jedec.trrd_s = 1;
  Device device(parameters);
  DramRequest request = Device::read(0, 1);
  device.take(request, 1);                    // edge 3, at 1.2 ns
  device.open(1, 1, 1);                       // edge 4, at 1.6 ns: the same cycle
  device.expect_from(Device::read(2, 1), 2);  // edge 5, at 2.0 ns
  device.expect_from(request, 6);             // edge 15, at 6.0 ns
  const DramStep step = device.take(request, 6);
  EXPECT_EQ(request.data, 12U) << "edge 29, at 11.6 ns";
  EXPECT_EQ(step.bus, bus_clocks(2) * 400 / 1000);
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 3", "activate 1 @ 4", "read 0 @ 15"));
  EXPECT_EQ(device.timing.conflict_latency(), 16U);  // 38 clocks: 15.2 ns
  EXPECT_EQ(device.timing.conflict_penalty(), 10U);  // 24: 9.6 ns
}

TEST(JedecTiming, ASlowerDramClockHasAnEdgeInSomeCycles) {
  Device device(with(&Figures::tck_ps, 3000));
  DramRequest request = Device::read(0, 1);
  EXPECT_EQ(device.timing.earliest_start(request, 0), 0U);
  EXPECT_EQ(device.timing.earliest_start(request, 1), 3U);
  EXPECT_EQ(device.timing.earliest_start(request, 2), 3U);
  device.take(request, 3);  // edge 1
  device.expect_from(request, 39);
  device.take(request, 39);
  EXPECT_EQ(request.data, (1 + 12 + 14) * 3U);
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 1", "read 0 @ 13"));
  EXPECT_EQ(device.timing.conflict_latency(), 38 * 3U);
}

TEST(JedecTiming, AnEdgeAtTheEndOfACycleIsTheNextCycles) {
  // 1.5 ns against 2 ns: edges 0 and 1 in cycle 0, 2 in cycle 1 (3.0 ns), 3 in 2 (4.5 ns), 4 in 3 (6.0 ns).
  DramParameters parameters = with(&Figures::tck_ps, 1500);
  parameters.jedec.trrd_s = 1;
  Device device(parameters, 32, 2.0);
  device.open(0, 1, 0);
  device.open(1, 1, 0);
  device.expect_from(Device::read(2, 1), 1);
  device.open(2, 1, 1);
  device.expect_from(Device::read(3, 1), 2);
  device.open(3, 1, 3);  // edge 4: the first one in the cycle
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 0", "activate 1 @ 1", "activate 2 @ 2", "activate 3 @ 4"));
}

TEST(JedecTiming, DividerDividesWhateverIsAsked) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t by : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{571},
                                 std::uint64_t{833}, std::uint64_t{1000}, std::uint64_t{1} << 63U, kMost - 1, kMost}) {
    const Divider divide(by);
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1}, by - 1, by, by + 1, kMost / by * by - 1,
                                       kMost / by * by, kMost - 1, kMost}) {
      EXPECT_EQ(divide(number), number / by) << number << " / " << by;
    }
  }
}

// ----------------------------------------------------------------------------------------------------------- refresh

DramParameters refreshed() {
  DramParameters parameters = gddr5();
  parameters.jedec.refresh = true;
  parameters.jedec.trefi = 1000;
  parameters.jedec.trfc = 65;
  return parameters;
}

TEST(JedecTiming, ARefreshThatIsDueComesBeforeEveryOtherCommand) {
  Device device(refreshed());
  EXPECT_EQ(device.timing.firm_until(), 1000U);
  device.open(0, 1, 900);
  EXPECT_EQ(device.timing.earliest_start(Device::read(0, 1), 999), 999U);
  // Precharge-all in 1000, tRP, refresh in 1012, tRFC.
  EXPECT_EQ(device.timing.earliest_start(Device::read(0, 1), 1000), 1077U);
  EXPECT_EQ(device.timing.earliest_start(Device::read(3, 1), 1000), 1077U);
  device.timing.settle(999);
  EXPECT_EQ(device.timing.refreshes(), 0U);
  device.timing.settle(1000);
  EXPECT_EQ(device.timing.refreshes(), 1U);
  EXPECT_FALSE(device.timing.row_open(0));
  EXPECT_EQ(device.timing.firm_until(), 2000U);
  device.expect_from(Device::read(0, 1), 1077);
  device.expect_from(Device::read(3, 1), 1077);
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 900", "precharge all @ 1000", "refresh @ 1012"));
}

TEST(JedecTiming, TheRefreshWaitsForRowsThatMustStayOpen) {
  Device device(refreshed());
  device.open(0, 1, 990);  // tRAS until 1018
  EXPECT_EQ(device.timing.earliest_start(Device::read(1, 1), 1000), 1018 + 12 + 65U);
  device.timing.settle(1000);
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 990", "precharge all @ 1018", "refresh @ 1030"));
  device.expect_from(Device::read(1, 1), 1095);
}

TEST(JedecTiming, TheRefreshWaitsForAnAutoPrecharge) {
  Device device(refreshed());
  DramRequest request = Device::read(0, 1);
  device.take(request, 980);
  device.take(request, 992, true);
  // tRAS ends in 1008: closed by itself then, precharged in 1020, and nothing is open.
  device.timing.settle(1000);
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 980", "read 0 and close @ 992", "refresh @ 1020"));
  device.expect_from(Device::read(0, 1), 1085);
}

TEST(JedecTiming, RefreshesOfIdleTimeAreMadeUpForAtTheirOwnTimes) {
  Device device(refreshed());
  device.open(0, 1, 100);
  device.timing.settle(3500);
  EXPECT_THAT(device.commands, ElementsAre("activate 0 @ 100", "precharge all @ 1000", "refresh @ 1012",
                                           "refresh @ 2000", "refresh @ 3000"));
  EXPECT_EQ(device.timing.firm_until(), 4000U);
  EXPECT_EQ(device.timing.earliest_start(Device::read(0, 1), 3500), 3500U);
  // Without an observer commands are counted alone; nothing else differs.
  for (const bool watched : {true, false}) {
    Device idle(refreshed(), 32, 1.0, watched);
    idle.open(0, 1, 100);
    idle.timing.settle(9999);
    EXPECT_EQ(idle.timing.refreshes(), 9U);
    EXPECT_EQ(idle.timing.firm_until(), 10000U);
    EXPECT_EQ(idle.timing.earliest_start(Device::read(0, 1), 9999), 9999U);
    idle.timing.settle(10030);
    EXPECT_EQ(idle.timing.refreshes(), 10U);
    idle.expect_from(Device::read(0, 1), 10065);
    idle.open(0, 1, 10065);
    // Of those that are only counted the last one takes its time.
    Device long_idle(refreshed(), 32, 1.0, watched);
    long_idle.timing.settle(10030);
    EXPECT_EQ(long_idle.timing.refreshes(), 10U);
    EXPECT_EQ(long_idle.timing.firm_until(), 11000U);
    long_idle.expect_from(Device::read(0, 1), 10065);
  }
}

// tRFC longer than tREFI: each refresh waits for the one before, and none is left out.
TEST(JedecTiming, RefreshesThatOverlapFollowEachOther) {
  for (const bool watched : {true, false}) {
    DramParameters parameters = refreshed();
    parameters.jedec.trfc = 1500;
    Device device(parameters, 32, 1.0, watched);
    device.timing.settle(3000);
    EXPECT_EQ(device.timing.refreshes(), 3U);
    if (watched) {
      EXPECT_THAT(device.commands, ElementsAre("refresh @ 1000", "refresh @ 2500", "refresh @ 4000"));
    }
  }
}

}  // namespace
}  // namespace heddle::hw
