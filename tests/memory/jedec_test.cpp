// DRAM command timing: every constraint to the clock, the checker's own sharpness, and random traffic under its eyes.
#include <random>

#include "channel.hpp"
#include "command_checker.hpp"
#include "hw/check/dram.hpp"
#include "hw/dram/jedec.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("Jedec.RandomTraffic*")

namespace heddle::hw::test {
namespace {

using CommandKind = DramCommand::Kind;

constexpr std::uint64_t kBank = 2048;
constexpr std::uint64_t kNextRow = 16 * kBank;  // next row of the same bank
constexpr unsigned kBurst = 32;                 // one burst

DramParameters device(const char* preset = "gddr5") {
  DramParameters parameters;
  parameters.timing = "jedec";
  parameters.preset = preset;
  parameters.scheduler = "fr-fcfs";
  parameters.banks = 16;
  parameters.row_bytes = 2048;
  parameters.jedec.refresh = false;
  return parameters;
}

std::string violations(const DramParameters& parameters, const std::vector<DramCommand>& trace) {
  std::string text;
  for (const std::string& line :
       CommandChecker(resolve_jedec(parameters), parameters.banks, command_buses(parameters)).check(trace)) {
    text += line + "\n";
  }
  return text;
}

// A constraint made so long that it alone decides, a script that it governs, and the two commands whose distance it is:
// the last one of `after`, and the `back`-th one of `before` counted from there.
struct Constraint {
  const char* name;
  unsigned JedecParameters::*field;
  unsigned value;
  std::vector<DramAccess> script;
  CommandKind before;
  CommandKind after;
  unsigned extra = 0;  // what comes on top: the write latency and burst (GDDR5: 4 + 2)
  unsigned back = 1;
};

std::vector<Constraint> constraints() {
  using J = JedecParameters;
  const auto read = [](Cycle at, std::uint64_t address) { return DramAccess{at, address}; };
  const auto write = [](Cycle at, std::uint64_t address) { return DramAccess{at, address, true}; };
  const std::vector<DramAccess> conflict = {read(0, 0), read(0, kNextRow)};
  return {
      {"trcd_rd", &J::trcd_rd, 60, {read(0, 0)}, CommandKind::activate, CommandKind::read},
      {"trcd_wr", &J::trcd_wr, 61, {write(0, 0)}, CommandKind::activate, CommandKind::write},
      {"trp", &J::trp, 70, conflict, CommandKind::precharge, CommandKind::activate},
      {"tras", &J::tras, 90, conflict, CommandKind::activate, CommandKind::precharge},
      {"trc", &J::trc, 200, conflict, CommandKind::activate, CommandKind::activate},
      {"trtp", &J::trtp, 95, conflict, CommandKind::read, CommandKind::precharge},
      {"trrd_s", &J::trrd_s, 50, {read(0, 0), read(0, kBank)}, CommandKind::activate, CommandKind::activate},
      {"trrd_l", &J::trrd_l, 55, {read(0, 0), read(0, 4 * kBank)}, CommandKind::activate, CommandKind::activate},
      {"tfaw",
       &J::tfaw,
       300,
       {read(0, 0), read(0, kBank), read(0, 2 * kBank), read(0, 3 * kBank), read(0, 5 * kBank)},
       CommandKind::activate,
       CommandKind::activate,
       0,
       4},
      {"tccd_s",
       &J::tccd_s,
       20,
       {read(0, 0), read(0, kBank), read(500, 32), read(500, kBank + 32)},
       CommandKind::read,
       CommandKind::read},
      {"tccd_l", &J::tccd_l, 25, {read(0, 0), read(500, 32), read(500, 64)}, CommandKind::read, CommandKind::read},
      {"tccd_l", &J::tccd_l, 26, {write(0, 0), write(500, 32), write(500, 64)}, CommandKind::write, CommandKind::write},
      {"twr", &J::twr, 80, {write(0, 0), read(0, kNextRow)}, CommandKind::write, CommandKind::precharge, 6},
      {"twtr_s",
       &J::twtr_s,
       40,
       {read(0, 0), read(0, kBank), write(500, 0), read(500, kBank)},
       CommandKind::write,
       CommandKind::read,
       6},
      {"twtr_l",
       &J::twtr_l,
       45,
       {read(0, 0), read(0, 4 * kBank), write(500, 0), read(500, 4 * kBank)},
       CommandKind::write,
       CommandKind::read,
       6},
      {"trtw",
       &J::trtw,
       65,
       {read(0, 0), read(0, kBank), read(500, 0), write(500, kBank)},
       CommandKind::read,
       CommandKind::write},
  };
}

TEST(Jedec, EveryConstraintHoldsToTheClock) {
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<DramParameters> devices;
  for (const Constraint& constraint : constraints()) {
    DramParameters parameters = device();
    parameters.jedec.*constraint.field = constraint.value;
    devices.push_back(parameters);
    channels.push_back(std::make_unique<Channel>(parameters, kBurst, 1.0,
                                                 (constraint.name + std::to_string(channels.size())).c_str()));
    for (const DramAccess& access : constraint.script) {
      channels.back()->add(access);
    }
  }
  std::size_t next = 0;
  for (const Constraint& constraint : constraints()) {
    SCOPED_TRACE(constraint.name);
    Channel& channel = *channels[next];
    const DramParameters parameters = devices[next++];
    channel.run();
    EXPECT_EQ(violations(parameters, channel.commands), "");
    std::size_t after = channel.commands.size();
    while (after != 0 && channel.commands[after - 1].kind != constraint.after) {
      --after;
    }
    ASSERT_NE(after, 0U);
    std::size_t before = --after;
    for (unsigned left = constraint.back; left != 0;) {
      ASSERT_NE(before, 0U);
      --before;
      left -= channel.commands[before].kind == constraint.before ? 1 : 0;
    }
    // Legal at N, and that is where it goes out...
    EXPECT_EQ(channel.commands[after].clock - channel.commands[before].clock, constraint.value + constraint.extra);
    // ... and illegal at N - 1, as the checker knows by itself.
    std::vector<DramCommand> early(channel.commands.begin(),
                                   channel.commands.begin() + static_cast<std::ptrdiff_t>(after) + 1);
    --early.back().clock;
    EXPECT_NE(violations(parameters, early), "");
  }
}

// Whether the trace is wrong once its last command goes out a clock earlier.
bool illegal_before(const DramParameters& parameters, std::vector<DramCommand> trace) {
  --trace.back().clock;
  return !violations(parameters, trace).empty();
}

TEST(Jedec, RowAndColumnCommandsHaveABusEachWhereTheDeviceHasTwo) {
  const DramParameters one_bus = device("gddr5");
  const DramParameters two_buses = device("hbm2");
  Channel one(one_bus, kBurst, 1.0, "one");
  Channel two(two_buses, kBurst, 1.0, "two");
  for (Channel* channel : {&one, &two}) {
    channel->read(0, 0);
    channel->read(500, 32);     // a hit: goes out first
    channel->read(500, kBank);  // an activation in another bank
  }
  one.run();
  two.run();
  for (Channel* channel : {&one, &two}) {
    ASSERT_EQ(channel->commands.size(), 5U);
    EXPECT_EQ(channel->commands[2].kind, CommandKind::read);
    EXPECT_EQ(channel->commands[3].kind, CommandKind::activate);
    EXPECT_EQ(channel->commands[2].clock, 501U);
    channel->commands.pop_back();
  }
  EXPECT_EQ(one.commands[3].clock, 502U);
  EXPECT_TRUE(illegal_before(one_bus, one.commands));
  EXPECT_EQ(two.commands[3].clock, 501U);
  EXPECT_EQ(violations(two_buses, two.commands), "");
  // Taken for a device with one bus, the same commands are wrong.
  EXPECT_FALSE(CommandChecker(resolve_jedec(two_buses), two_buses.banks).check(two.commands).empty());
}

TEST(Jedec, AnActivationTakesTwoClocksOfTheRowBusOfHbm2) {
  const DramParameters one_bus = device("gddr5");
  const DramParameters two_buses = device("hbm2");
  Channel one(one_bus, kBurst, 1.0, "one");
  Channel two(two_buses, kBurst, 1.0, "two");
  for (Channel* channel : {&one, &two}) {
    channel->read(0, 0);
    channel->read(500, kBank);     // an activation
    channel->read(500, kNextRow);  // a precharge in another bank
  }
  one.run();
  two.run();
  const auto check = [](const DramParameters& parameters, Channel& channel, unsigned clocks) {
    channel.commands.resize(4);
    EXPECT_EQ(channel.commands[2].kind, CommandKind::activate);
    EXPECT_EQ(channel.commands[3].kind, CommandKind::precharge);
    EXPECT_EQ(channel.commands[3].clock - channel.commands[2].clock, clocks);
    EXPECT_EQ(violations(parameters, channel.commands), "");
    EXPECT_TRUE(illegal_before(parameters, channel.commands));
  };
  check(one_bus, one, 1);
  check(two_buses, two, 2);
}

TEST(Jedec, EmptyRowsAreToldFromConflicts) {
  DramParameters parameters = device();
  Channel channel(parameters, kBurst, 1.0, "open");
  parameters.row_policy = "closed";
  Channel closed(parameters, kBurst, 1.0, "closed");
  parameters = device();
  parameters.jedec.refresh = true;
  Channel refreshed(parameters, kBurst, 1.0, "refreshed");
  for (Channel* each : {&channel, &closed, &refreshed}) {
    each->read(0, 0);            // nothing is open yet
    each->read(500, 32);         // a hit, unless it was closed
    each->read(1000, kNextRow);  // a conflict, likewise
    each->read(3000, kNextRow);  // a hit, unless a refresh came between
  }
  channel.run();
  closed.run();
  refreshed.run();
  const auto counts = [](Channel& each) {
    const DramStatistics& statistics = each.statistics();
    return std::vector<std::uint64_t>{statistics.row_hits, statistics.row_empty,
                                      statistics.row_conflicts - statistics.row_empty};
  };
  EXPECT_EQ(counts(channel), (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(counts(closed), (std::vector<std::uint64_t>{0, 4, 0}));
  EXPECT_EQ(counts(refreshed), (std::vector<std::uint64_t>{1, 2, 1}));
}

TEST(Jedec, LatencyIsActivationReadAndBurst) {
  const DramParameters parameters = device();
  Channel channel(parameters, kBurst);
  const DramAccess& first = channel.read(0, 0);
  const DramAccess& hit = channel.read(500, 32);
  const DramAccess& write = channel.write(600, 64);
  const DramAccess& conflict = channel.read(1000, kNextRow);
  channel.run();
  EXPECT_EQ(first.data, 1 + 12 + 12 + 2U);  // in the queue in 1: tRCD, CL, burst
  EXPECT_EQ(hit.data, 501 + 12 + 2U);
  EXPECT_EQ(write.data, 601 + 4 + 2U);
  EXPECT_EQ(conflict.data, 1001 + 12 + 12 + 12 + 2U);
  EXPECT_TRUE(hit.row_hit);
  EXPECT_FALSE(conflict.row_hit);
}

TEST(Jedec, ALineOfSeveralBurstsTakesSeveralCommands) {
  const DramParameters parameters = device();
  Channel channel(parameters, 128);
  const DramAccess& read = channel.read(0, 0);
  channel.run();
  EXPECT_EQ(channel.commands.size(), 1 + 4U);
  EXPECT_EQ(read.data, 1 + 12 + 3 * 3 + 12 + 2U);  // one bank: tCCD_L between its bursts
  EXPECT_EQ(channel.statistics().bus_busy_cycles, 8U);
  EXPECT_EQ(violations(parameters, channel.commands), "");
}

TEST(Jedec, CommandsGoOutAtEdgesOfTheDramClock) {
  DramParameters parameters = device();
  parameters.jedec.tck_ps = 400;  // two or three edges per cycle
  Channel fast(parameters, kBurst, 1.0, "fast");
  parameters.jedec.tck_ps = 3000;
  Channel slow(parameters, kBurst, 1.0, "slow");
  for (Channel* channel : {&fast, &slow}) {
    channel->read(0, 0);
    channel->read(0, kBank);
  }
  fast.run();
  slow.run();
  // In the queue in cycle 1: edge 3 at 1.2 ns; its data ends with edge 3 + 26 at 11.6 ns: complete in cycle 12.
  EXPECT_EQ(fast.commands.front().clock, 3U);
  EXPECT_EQ(fast.script()[0].data, 12U);
  EXPECT_EQ(slow.commands.front().clock, 1U);
  EXPECT_EQ(slow.script()[0].data, (1 + 26) * 3U);
  EXPECT_EQ(slow.script()[0].started, (1 + 12) * 3U);  // nothing is decided before the cycle of its edge
}

TEST(Jedec, RefreshComesOnTimeAndClosesEveryRow) {
  DramParameters parameters = device();
  parameters.jedec.refresh = true;
  Channel channel(parameters, kBurst);
  channel.read(1900, 0);
  const DramAccess& after = channel.read(1951, 32);  // in the queue in 1952: one edge before the refresh is due
  const DramAccess& during = channel.read(1960, 64);
  const DramAccess& later = channel.read(20000, 96);  // after nine refreshes for which the controller did not wake
  channel.run();
  EXPECT_EQ(violations(parameters, channel.commands), "");
  EXPECT_TRUE(after.row_hit);
  EXPECT_EQ(after.started, 1952U);
  std::vector<std::uint64_t> refreshes;
  for (const DramCommand& command : channel.commands) {
    if (command.kind == CommandKind::refresh) {
      refreshes.push_back(command.clock);
    }
  }
  ASSERT_EQ(refreshes.size(), 10U);
  // Due in 1953; the read of 1952 allows a precharge two clocks later, and the refresh comes tRP after that.
  EXPECT_EQ(refreshes[0], 1954 + 12U);
  EXPECT_EQ(during.data, 1966 + 65 + 12 + 12 + 2U);
  for (std::size_t i = 2; i != refreshes.size(); ++i) {
    EXPECT_EQ(refreshes[i], 1953 * (i + 1)) << i;
  }
  EXPECT_FALSE(later.row_hit);
  EXPECT_EQ(later.data, 20001 + 26U);
  EXPECT_EQ(channel.statistics().refreshes, 10U);
}

// Without an observer, refreshes of idle time are counted, not played; nothing else differs.
TEST(Jedec, SkippedRefreshesChangeNothing) {
  DramParameters parameters = device();
  parameters.jedec.refresh = true;
  Channel watched(parameters, kBurst, 1.0, "watched");
  Channel unwatched(parameters, kBurst, 1.0, "unwatched");
  unwatched.controller().observe(nullptr);
  for (Channel* channel : {&watched, &unwatched}) {
    for (const Cycle at : {0, 1940, 70000, 70010, 300'000, 301'999}) {
      channel->read(at, 64 * at % 8192);
    }
  }
  watched.run();
  unwatched.run();
  for (std::size_t i = 0; i != watched.script().size(); ++i) {
    EXPECT_EQ(watched.script()[i].answered, unwatched.script()[i].answered) << i;
  }
  EXPECT_EQ(watched.statistics().refreshes, unwatched.statistics().refreshes);
  EXPECT_EQ(watched.statistics().refreshes, 302'000U / 1953);
}

TEST(Jedec, AHintHoldsTheRowForPrechargeAndActivation) {
  const DramParameters parameters = device();
  Channel hit_comes(parameters, kBurst, 1.0, "hit_comes");
  Channel none_comes(parameters, kBurst, 1.0, "none_comes");
  for (Channel* channel : {&hit_comes, &none_comes}) {
    channel->hinted(0, 0);  // data in 27
    channel->read(1, kNextRow);
  }
  hit_comes.read(40, 32);
  hit_comes.run();
  none_comes.run();
  EXPECT_TRUE(hit_comes.script()[2].row_hit);
  EXPECT_EQ(hit_comes.script()[2].started, 41U);
  EXPECT_EQ(hit_comes.statistics().hints.hits, 1U);
  // Held until tRP + tRCD = 24 cycles after the data: the precharge goes out in 51, in no cycle before.
  const auto precharge =
      std::find_if(none_comes.commands.begin(), none_comes.commands.end(),
                   [](const DramCommand& command) { return command.kind == CommandKind::precharge; });
  ASSERT_NE(precharge, none_comes.commands.end());
  EXPECT_EQ(precharge->clock, 27 + 24U);
  EXPECT_EQ(none_comes.statistics().hints.expiries, 1U);
}

TEST(Jedec, PresetsMakeSenseAndSingleFiguresCanBeReplaced) {
  for (const std::string& preset : jedec_presets()) {
    DramParameters parameters = device(preset.c_str());
    parameters.jedec.refresh = true;
    std::vector<Contradiction> found;
    check_dram(parameters, 128, found);
    EXPECT_TRUE(found.empty()) << preset << ": " << (found.empty() ? "" : found.front().message);
  }
  DramParameters parameters = device("ddr4-2400");
  parameters.jedec.cl = 99;
  EXPECT_EQ(resolve_jedec(parameters).cl, 99U);
  EXPECT_EQ(resolve_jedec(parameters).cwl, 12U);
  EXPECT_EQ(resolve_jedec(parameters).tck_ps, 833U);
}

TEST(Jedec, ContradictionsAreRefused) {
  const auto message = [](auto&& change) {
    DramParameters parameters = device();
    parameters.jedec.refresh = true;
    change(parameters);
    std::vector<Contradiction> found;
    check_dram(parameters, 128, found);
    return found.empty() ? std::string() : found.front().key;
  };
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.bank_groups = 32; }), "jedec.bank_groups");
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.bank_groups = 3; }), "jedec.bank_groups");
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.burst_bytes = 48; }), "jedec.burst_bytes");
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.burst = 3; }), "jedec.tccd_s");
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.tccd_s = 4; }), "jedec.tccd_l");
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.trefi = 100; }), "jedec.trefi");
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.trtw = 3; }), "jedec.trtw");
  EXPECT_EQ(message([](DramParameters& p) { p.turnaround = 3; }), "dram.turnaround");
  EXPECT_EQ(message([](DramParameters& p) { p.jedec.cl = 13; }), "");
}

// Rows that were opened and closed again (by a precharge of their own, not for a refresh) without an access between.
unsigned useless_activations(const std::vector<DramCommand>& trace) {
  unsigned found = 0;
  std::map<unsigned, bool> used;  // open banks
  for (const DramCommand& command : trace) {
    switch (command.kind) {
      case CommandKind::activate:
        used[command.bank] = false;
        break;
      case CommandKind::read:
      case CommandKind::write:
        used[command.bank] = true;
        break;
      case CommandKind::precharge:
        found += used[command.bank] ? 0U : 1U;
        break;
      case CommandKind::precharge_all:
      case CommandKind::refresh:
        break;
    }
  }
  return found;
}

// Random traffic on every device, scheduler and row policy, at GPU clocks slower and faster than the DRAM's.
TEST(Jedec, RandomTrafficNeverBreaksAConstraint) {
  std::mt19937 engine(11);
  const auto pick = [&](unsigned low, unsigned high) { return low + engine() % (high - low + 1); };
  struct Round {
    DramParameters parameters;
    std::unique_ptr<Channel> channel;
  };
  std::vector<Round> rounds;
  const char* const schedulers[] = {"fcfs", "fcfs-per-bank", "fr-fcfs"};
  const char* const policies[] = {"open", "closed", "closed-always"};
  for (unsigned i = 0; i != 72; ++i) {
    const std::string preset = jedec_presets()[i % 8];
    DramParameters parameters = device(preset.c_str());
    parameters.jedec.refresh = true;
    parameters.scheduler = schedulers[i / 8 % 3];
    parameters.row_policy = policies[i / 24 % 3];
    parameters.queue = pick(1, 40);
    parameters.bank_xor = pick(0, 1) != 0;
    parameters.mapping = pick(0, 1) != 0 ? "row-bank-column" : "row-column-bank";
    parameters.starvation_bound = pick(0, 1) * pick(50, 2000);
    parameters.write_high = pick(0, 1) * std::min(parameters.queue, 8U);
    parameters.write_low = parameters.write_high / 2;
    const double periods[] = {0.3, 0.7, 1.0, 2.5};
    const unsigned line = preset == "ddr4-2400" ? 64U << pick(0, 1) : 32U << pick(0, 2);
    auto channel =
        std::make_unique<Channel>(parameters, line, periods[pick(0, 3)], ("random" + std::to_string(i)).c_str());
    Cycle at = 0;
    const unsigned rows = pick(1, 6);
    for (unsigned n = 0; n != 600; ++n) {
      at += pick(0, 9) == 0 ? pick(0, n % 100 == 0 ? 30000 : 200) : 0;
      channel->add({at, std::uint64_t{pick(0, rows)} * kNextRow + pick(0, 16 * 2048 / line - 1) * std::uint64_t{line},
                    pick(0, 2) == 0, pick(0, 3) == 0});
    }
    rounds.push_back({parameters, std::move(channel)});
  }
  for (Round& round : rounds) {
    round.channel->run(10'000'000);
    EXPECT_EQ(round.channel->starts, 600U) << round.channel->name();
    EXPECT_EQ(violations(round.parameters, round.channel->commands), "") << round.channel->name();
    // Who starves may close any row. Where nothing keeps a request's row, one that a hint held back may be older.
    if (round.parameters.starvation_bound == 0 &&
        (round.parameters.write_high != 0 || round.parameters.scheduler == "fr-fcfs")) {
      EXPECT_EQ(useless_activations(round.channel->commands), 0U) << round.channel->name();
    }
    EXPECT_EQ(round.channel->statistics().row_hits + round.channel->statistics().row_conflicts, 600U);
    EXPECT_LE(round.channel->statistics().row_empty, round.channel->statistics().row_conflicts);
    std::map<std::uint64_t, unsigned> last;
    for (const DramAccess& access : round.channel->script()) {
      const auto [place, first] = last.emplace(access.address, access.order);
      EXPECT_TRUE(first || place->second < access.order) << round.channel->name();
      place->second = access.order;
    }
  }
}

}  // namespace
}  // namespace heddle::hw::test
