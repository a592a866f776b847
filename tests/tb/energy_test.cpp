// Energy tables: what is refused, with its place; sums by hand.
#include "tb/measure/energy/energy.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "base/error.hpp"
#include "tb/config/config.hpp"
#include "tb/device/device.hpp"
#include "tb/measure/energy/by_instruction.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

std::string table_refusal(const std::string& text) {
  try {
    (void)parse_energy_table(text, "e.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Energy, AddsUpByHand) {
  const EnergyTable table = parse_energy_table(
      "description = \"d\"\n"
      "[dram]\nsource = \"s\"\nreads = 100\nactivations = 2.5\n"
      "[registers]\nsource = \"t\"\nreads = 3\nleakage_mw = 0.25\n"
      "[l2]\nsource = \"u\"\nleakage_mw = 9\n"
      "[l1d]\nsource = \"v\"\nleakage_mw = 1\n",
      "folder/e.toml");
  hw::Machine machine;
  machine.gpu.clock_ghz = 0.5;
  machine.gpu.cores = 2;
  machine.core.simd_width = 8;
  hw::Totals totals;
  totals.cycles = 1000;  // 2000 ns
  totals.dram.reads = 7;
  totals.dram.writes = 1000;  // not in the table
  totals.dram.activations = 4;
  totals.registers.reads = 11;
  const Energy energy = energy_of(table, totals, machine);
  EXPECT_EQ(energy.table, "e");
  EXPECT_EQ(energy.description, "d");
  EXPECT_EQ(energy.nanoseconds, 2000);
  ASSERT_EQ(energy.kinds.size(), 4U);  // in the order of hw::Totals
  const Energy::Kind& l1d = energy.kinds[0];
  EXPECT_EQ(l1d.name, "l1d");
  EXPECT_EQ(l1d.units, 2U);
  EXPECT_EQ(l1d.pj, 2 * 2000);
  const Energy::Kind& registers = energy.kinds[1];
  EXPECT_EQ(registers.name, "registers");
  EXPECT_EQ(registers.source, "t");
  EXPECT_EQ(registers.units, 16U);
  EXPECT_EQ(registers.leakage_pj, 0.25 * 16 * 2000);
  EXPECT_EQ(registers.pj, 33 + 8000);
  EXPECT_EQ(energy.kinds[2].name, "l2");
  EXPECT_EQ(energy.kinds[2].pj, 0) << "the machine has none";
  const Energy::Kind& dram = energy.kinds[3];
  ASSERT_EQ(dram.activities.size(), 2U);
  EXPECT_EQ(dram.activities[0].name, "reads");
  EXPECT_EQ(dram.activities[0].count, 7U);
  EXPECT_EQ(dram.activities[0].pj_per_count, 100);
  EXPECT_EQ(dram.activities[0].pj, 700);
  EXPECT_EQ(dram.activities[1].pj, 10);
  EXPECT_EQ(dram.pj, 710);
  EXPECT_EQ(energy.pj, 4000 + 8033 + 710);
  EXPECT_EQ(energy.average_mw, 12743.0 / 2000);
  EXPECT_EQ(energy.delay_product, 12743.0 * 2000);

  machine.l1d.enabled = false;
  EXPECT_EQ(energy_of(table, totals, machine).kinds[0].pj, 0);
  totals.cycles = 0;
  EXPECT_EQ(energy_of(table, totals, machine).average_mw, 0);
}

// Four times the size costs twice as much at first, and the same beyond: powers 1/2 and 0.
TEST(Energy, FollowsTheSizeOfAUnit) {
  const EnergyTable table = parse_energy_table(
      "[l1d]\nsource = \"s\"\naccesses = [10, 20, 20]\nbytes = [1024, 4096, 8192]\nleakage_mw = [1, 4, 8]\nfills = 3\n",
      "e.toml");
  hw::Machine machine;
  machine.gpu.clock_ghz = 1;
  hw::Totals totals;
  totals.cycles = 1000;
  totals.l1d.accesses = 7;
  totals.l1d.fills = 1;
  const auto at = [&](unsigned bytes) {
    machine.l1d.bytes = bytes;
    return energy_of(table, totals, machine).kinds.at(0);
  };
  const std::map<unsigned, std::pair<double, double>> expected = {// pJ per access, mW
                                                                  {1024, {10, 1}},   {2048, {14.142135623730951, 2}},
                                                                  {4096, {20, 4}},   {8192, {20, 8}},
                                                                  {32768, {20, 32}}, {256, {5, 0.25}}};
  for (const auto& [bytes, figures] : expected) {
    const Energy::Kind kind = at(bytes);
    EXPECT_DOUBLE_EQ(kind.activities.at(0).pj_per_count, figures.first) << bytes;
    EXPECT_DOUBLE_EQ(kind.leakage_mw, figures.second) << bytes;
    EXPECT_EQ(kind.activities.at(1).pj, 3) << bytes;
    EXPECT_DOUBLE_EQ(kind.pj, 7 * figures.first + 3 + 1000 * figures.second) << bytes;
  }
}

TEST(Energy, RefusesSizesThatDoNotFit) {
  const auto refusal = [](const std::string& kind, const std::string& lines) {
    return table_refusal("[" + kind + "]\nsource = \"s\"\n" + lines);
  };
  EXPECT_EQ(
      refusal("l1d", "bytes = [1, 2]\naccesses = [1]\n"),
      "e.toml:4:12: l1d.accesses has 1 of 2 numbers; give one for each size in bytes, or a single number for all");
  EXPECT_EQ(refusal("l1d", "bytes = [1, 2]\naccesses = [1, 0]\n"),
            "e.toml:4:16: l1d.accesses must be above 0 where it depends on the size");
  EXPECT_EQ(refusal("l1d", "accesses = [1, 2]\n"),
            "e.toml:3:12: l1d.accesses must be a number from 0 to 1e+15 (pJ per count)");
  for (const std::string sizes : {"[1]", "[]", "3", "[2, 1]", "[0, 4]", "[4, 4]"}) {
    EXPECT_EQ(refusal("l1d", "bytes = " + sizes + "\naccesses = 1\n"),
              "e.toml:3:9: l1d.bytes must be a list of two sizes or more, each larger than the one before")
        << sizes;
  }
  EXPECT_EQ(refusal("l1d", "bytes = [1, \"2\"]\naccesses = 1\n"),
            "e.toml:3:13: l1d.bytes must be a number from 0 to 1e+12 (bytes)");
  EXPECT_EQ(refusal("noc", "bytes = [1, 2]\nrequests = [1, 2]\n"),
            "e.toml:3:9: noc.bytes: such a unit is no storage; give single numbers");
}

TEST(Energy, RefusalsSayWhereAndWhatIsMeant) {
  EXPECT_EQ(table_refusal("\n[drma]\nreads = 1\n"),
            "e.toml:2:2: there is no kind of unit 'drma'; did you mean 'dram'?");
  EXPECT_EQ(table_refusal("[dram]\nsource = \"s\"\nraeds = 1\n"),
            "e.toml:3:1: dram has no activity 'raeds'; did you mean 'reads'?");
  EXPECT_EQ(table_refusal("[scratchpad]\nsource = \"s\"\nzzzzzz = 1\n"),
            "e.toml:3:1: scratchpad has no activity 'zzzzzz'; known here: source, leakage_mw, bytes, accesses, "
            "bank_conflicts");
  EXPECT_EQ(table_refusal("[noc]\nsource = \"s\"\nleakage_mv = 1\n"),
            "e.toml:3:1: noc has no activity 'leakage_mv'; did you mean 'leakage_mw'?");
  for (const std::string other : {"queue_max", "bus_series"}) {
    EXPECT_EQ(
        table_refusal("[dram]\nsource = \"s\"\n" + other + " = 1\n")
            .find("e.toml:3:1: dram." + other + " is no activity: it is not one count that adds up; known here: "),
        0U);
  }
  EXPECT_NE(
      table_refusal("[core]\nsource = \"s\"\nfu_active_cycles = 1\n").find("core.fu_active_cycles is no activity"),
      std::string::npos);
  for (const std::string number : {"-1", "-0.5", "nan", "inf", "-inf", "1e16", "true", "\"1\"", "[1]", "1979-05-27"}) {
    EXPECT_EQ(table_refusal("[dram]\nsource = \"s\"\nreads = " + number + "\n"),
              "e.toml:3:9: dram.reads must be a number from 0 to 1e+15 (pJ per count)")
        << number;
  }
  EXPECT_EQ(table_refusal("[dram]\nsource = \"s\"\nleakage_mw = -2\n"),
            "e.toml:3:14: dram.leakage_mw must be a number from 0 to 1e+12 (mW per unit)");
  const std::string no_source = "[dram] names no source; say where its numbers come from: source = \"paper, section\"";
  EXPECT_EQ(table_refusal("[dram]\nreads = 1\n"), "e.toml:1:2: " + no_source);
  EXPECT_EQ(table_refusal("[dram]\nsource = \" \\t\"\nreads = 1\n"), "e.toml:1:2: " + no_source);
  EXPECT_EQ(table_refusal("[dram]\nsource = 3\nreads = 1\n"), "e.toml:2:10: dram.source must be a string");
  EXPECT_EQ(table_refusal("[scratchpad]\nsource = \"s\"\n"),
            "e.toml:1:2: [scratchpad] has no number; give it leakage_mw or an activity: accesses, bank_conflicts");
  EXPECT_EQ(table_refusal("dram = 3\n"), "e.toml:1:1: dram is a section, not a value; write [dram] and its keys below");
  EXPECT_EQ(table_refusal("description = 1\n"), "e.toml:1:15: description must be a string");
  EXPECT_EQ(table_refusal("description = \"d\"\n").find("e.toml: the energy table has no section"), 0U);
  for (const std::string twice : {"[dram]\nsource = \"s\"\nreads = 1\nreads = 1\n",
                                  "[dram]\nsource = \"s\"\nreads = 1\n[dram]\nsource = \"s\"\nreads = 1\n"}) {
    EXPECT_EQ(table_refusal(twice).find("e.toml:4:"), 0U) << table_refusal(twice);
  }
  EXPECT_EQ(table_refusal("[dram]\nsource = \"s\"\nreads = 0\nwrites = 1e15\nleakage_mw = 1e12\n"), "accepted");
}

// A kelvin more leaks a hundredth more by this table; activities cost what they cost.
TEST(Energy, LeakageFollowsTheTemperature) {
  const std::string text =
      "[leakage]\nsource = \"s\"\nat_celsius = 80\nper_kelvin = 0.01\n"
      "[dram]\nsource = \"t\"\nleakage_mw = 7\nreads = 5\n";
  hw::Totals totals;
  totals.cycles = 100;
  totals.dram.reads = 3;
  const auto pj = [&](const EnergyTable& table) { return energy_of(table, totals, {}).pj; };
  EnergyTable table = parse_energy_table(text, "e.toml");
  EXPECT_DOUBLE_EQ(pj(table), 700 + 15);
  set_temperature(table, 81, {});
  EXPECT_DOUBLE_EQ(pj(table), 700 * std::exp(0.01) + 15);
  set_temperature(table, -20, {});
  EXPECT_DOUBLE_EQ(pj(table), 700 * std::exp(-1) + 15);
  EXPECT_DOUBLE_EQ(pj(parse_energy_table(text.substr(0, 10) + "celsius = 180\n" + text.substr(10), "e.toml")),
                   700 * std::exp(1) + 15);
}

TEST(Energy, RefusesLeakageThatDoesNotSayHow) {
  const auto refusal = [](const std::string& keys) {
    return table_refusal("[leakage]\n" + keys + "[dram]\nsource = \"s\"\nreads = 1\n");
  };
  const std::string source = "source = \"s\"\n";
  EXPECT_EQ(refusal("at_celsius = 1\nper_kelvin = 0.1\n"),
            "e.toml:1:2: [leakage] names no source; say where its numbers come from: source = \"paper, section\"");
  EXPECT_EQ(refusal(source + "at_celsius = 1\n"),
            "e.toml:1:2: [leakage] has no per_kelvin; leakage goes by exp(per_kelvin * (celsius - at_celsius))");
  EXPECT_EQ(refusal(source + "per_kelvin = 0.1\n"),
            "e.toml:1:2: [leakage] has no at_celsius; leakage goes by exp(per_kelvin * (celsius - at_celsius))");
  EXPECT_EQ(refusal(source + "at_celcius = 1\n"),
            "e.toml:3:1: leakage has no key 'at_celcius'; did you mean 'at_celsius'?");
  EXPECT_EQ(refusal(source + "at_celsius = -274\n"),
            "e.toml:3:14: leakage.at_celsius must be a number from -273.15 to 500 (degrees Celsius)");
  EXPECT_EQ(refusal(source + "per_kelvin = 0.3\n"),
            "e.toml:3:14: leakage.per_kelvin must be a number from 0 to 0.2 (of the leakage, per kelvin)");
  EXPECT_EQ(table_refusal("leakage = 3\n"),
            "e.toml:1:1: leakage is a section, not a value; write [leakage] and its keys below");
}

// Modules of a kind are known by the counters that they declare, l1d, icache and l2 together.
TEST(Energy, KnowsHowManyUnitsAMachineHas) {
  hw::Machine machine;
  machine.gpu.cores = 3;
  machine.core.simd_width = 16;
  machine.gpu.coherence = "mesi";  // every kind of unit
  machine.core.divergence = "odgs";
  machine.core.warp_size = 16;
  machine.l2.enabled = machine.l2.inclusive = true;
  machine.l0i.enabled = true;
  machine.constant_cache.bytes = 1024;
  machine.constant_cache.l0_bytes = 128;
  machine.dram.channels = 2;
  Device device(machine);
  std::map<std::string, std::set<std::string>> counters;  // by module
  for (const StatisticsRegistry::Scalar& one : device.statistics().scalars()) {
    counters[one.declaration.module].insert(one.declaration.name);
  }
  for (const StatisticsRegistry::Histogram& one : device.statistics().histograms()) {
    counters[one.declaration.module].insert(one.declaration.name);
  }
  std::map<std::set<std::string>, std::uint64_t> modules;
  for (const auto& [module, names] : counters) {
    ++modules[names];
  }
  std::map<std::set<std::string>, std::uint64_t> units;
  for (const EnergyKind& kind : energy_kinds()) {
    if (!kind.counted) {
      continue;
    }
    std::set<std::string> names(kind.activities.begin(), kind.activities.end());
    names.insert(kind.others.begin(), kind.others.end());
    if (const std::uint64_t count = unit_count(kind.name, machine); count != 0) {
      units[names] += count;
    }
  }
  EXPECT_EQ(units, modules);
  EXPECT_THROW((void)unit_count("toaster", machine), InternalError);
}

// What is switched off leaks nothing, though its module is there and counts.
TEST(Energy, OfTheModulesOfAMachineWithoutL1) {
  const test::Scratch scratch;
  const std::string table = scratch.write("e.toml", "[l1d]\nsource = \"s\"\naccesses = 3\nleakage_mw = 5\n");
  const test::Ran ran = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--set", "l1d.enabled=false",
                                      "--energy", table, "--out", scratch.path("out")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json::value stats = json::parse(test::Scratch::read(scratch.path("out/stats.json")));
  const json::object& l1d = stats.at("energy").at("modules").at("gpu.core0.l1d").as_object();
  EXPECT_EQ(l1d.at("leakage_pj").to_number<double>(), 0);
  EXPECT_EQ(l1d.at("pj"), stats.at("energy").at("pj"));
}

// Lanes and register rows to the instructions that they belong to, what lies behind the L1 by lines that were not
// there, leakage by time; what no instruction has brought about is left over.
TEST(Energy, IsSharedOutAmongInstructions) {
  const EnergyTable table = parse_energy_table(
      "[core]\nsource = \"s\"\nlane_instructions = 2\nfloat_lane_instructions = 10\n"
      "[registers]\nsource = \"s\"\nreads = 1\nwrites = 3\n"
      "[l1d]\nsource = \"s\"\naccesses = 7\n"
      "[dram]\nsource = \"s\"\nreads = 100\nwrites = 50\nleakage_mw = 5\n",
      "e.toml");
  hw::Machine machine;
  machine.gpu.clock_ghz = 1;
  machine.dram.channels = 1;
  hw::Totals totals;
  totals.cycles = 40;
  totals.core.lane_instructions = 30;
  totals.core.float_lane_instructions = 20;
  totals.registers.reads = 50;
  totals.registers.writes = 20;
  totals.l1d.accesses = 9;
  totals.dram.reads = 6;
  totals.dram.writes = 2;
  const Energy energy = energy_of(table, totals, machine);
  std::vector<Profile::KernelProfile> kernels(2);
  kernels[0].counters.resize(3);
  kernels[1].counters.resize(1);
  InstructionCounters& add = kernels[0].counters[0];
  add.instructions = 2;
  add.lane_instructions = add.float_lane_instructions = 20;
  add.register_reads = 40;
  add.register_writes = 20;
  add.warp_cycles[static_cast<std::size_t>(hw::GroupState::in_flight)] = 10;
  InstructionCounters& load = kernels[0].counters[1];
  load.instructions = 1;
  load.lane_instructions = load.register_reads = 10;
  load.line_requests = 4;
  load.late_lines = 1;
  load.warp_cycles[static_cast<std::size_t>(hw::GroupState::memory)] = 20;
  kernels[0].counters[2].store_lines = 3;
  kernels[1].counters[0].line_requests = 8;  // of another kernel, and most of the misses
  kernels[1].counters[0].late_lines = 2;
  kernels[1].counters[0].warp_cycles[static_cast<std::size_t>(hw::GroupState::memory)] = 10;

  const EnergyByInstruction shared = energy_by_instruction(energy, kernels);
  EXPECT_EQ(shared.kernels[0][0].activities_pj, 20 * 2 + 20 * 10 + 40 * 1 + 20 * 3);
  EXPECT_EQ(shared.kernels[0][0].leakage_pj, 5 * 40 / 4);
  EXPECT_NEAR(shared.kernels[0][1].activities_pj, 10 * 2 + 10 * 1 + 9 * 7 / 3.0 + 600 / 3.0, 1e-9);
  EXPECT_EQ(shared.kernels[0][1].leakage_pj, 5 * 40 / 2);
  EXPECT_EQ(shared.kernels[0][2].activities_pj, 2 * 50);
  EXPECT_NEAR(shared.kernels[1][0].activities_pj, 9 * 7 * 2 / 3.0 + 600 * 2 / 3.0, 1e-9);
  EXPECT_EQ(shared.kernels[1][0].leakage_pj, 5 * 40 / 4);
  EXPECT_EQ(shared.rest_pj, 0);

  // All lines hit: who asked for lines shares what is behind the L1 (write-backs at the end, say).
  kernels[0].counters[1].late_lines = kernels[1].counters[0].late_lines = 0;
  EXPECT_NEAR(energy_by_instruction(energy, kernels).kernels[0][1].activities_pj, 30 + 9 * 7 / 3.0 + 600 / 3.0, 1e-9);
  EXPECT_DOUBLE_EQ(energy_by_instruction(energy, {}).rest_pj, energy.pj);
}

// The bits of the cost lines that say what accesses them, by hand: the baseline's stacks, and the warp-split table.
TEST(Energy, OfTheTablesOfMechanisms) {
  const EnergyTable table =
      parse_energy_table("[mechanisms]\nsource = \"s\"\naccessed_bits = 0.5\nleakage_mw = 2\n", "e.toml");
  hw::Machine machine;
  machine.gpu.clock_ghz = 1;
  machine.gpu.cores = 3;
  hw::Totals totals;
  totals.cycles = 10;
  totals.core.group_instructions = 100;
  totals.core.branches = 7;
  totals.core.divergent_branches = 2;
  const std::uint64_t entry = 2 * 32 + machine.core.warp_size;
  const Energy stacks = energy_of(table, totals, machine);
  ASSERT_EQ(stacks.kinds.size(), 1U);
  EXPECT_EQ(stacks.kinds[0].activities.at(0).count, 100 * 32 + 7 * entry + 2 * 2 * entry);
  EXPECT_EQ(stacks.kinds[0].leakage_pj, 2 * 3 * 10);
  EXPECT_EQ(stacks.pj, 0.5 * static_cast<double>(stacks.kinds[0].activities[0].count) + 60);
  EXPECT_EQ(unit_bytes(kMechanisms, machine), machine.core.threads / machine.core.warp_size * 16 * entry / 8.0);

  hw::Machine splits = read_machine(find_config("dws-revive-bypass"));
  totals.core.fetched = 50;
  totals.core.splits_memory = 3;
  const Energy split = energy_of(table, totals, splits);
  EXPECT_EQ(split.kinds.at(0).activities.at(0).count, (50 + 100 + 3) * 84U) << "DWS report 5.6: 84 bits";
  EXPECT_EQ(unit_bytes(kMechanisms, splits), 16 * 84 / 8.0);
  EXPECT_EQ(table_refusal("[mechanisms]\nsource = \"s\"\naccessed = 1\n").substr(0, 50),
            "e.toml:3:1: mechanisms has no activity 'accessed';");
}

// Parts without counters of their own go with counters of others, or with time.
TEST(Energy, OfPartsThatGoWithOtherUnits) {
  const EnergyTable table = parse_energy_table(
      "[clock]\nsource = \"s\"\ncycles = 5\n[decoder]\nsource = \"s\"\ninstructions = 7\nleakage_mw = 2\n"
      "[result_bus]\nsource = \"s\"\nresults = 3\n",
      "e.toml");
  hw::Machine machine;
  machine.gpu.clock_ghz = 2;
  machine.gpu.cores = 3;
  hw::Totals totals;
  totals.cycles = 10;
  totals.core.fetched = 100;
  totals.registers.writes = 40;
  const Energy energy = energy_of(table, totals, machine);
  ASSERT_EQ(energy.kinds.size(), 3U);
  EXPECT_EQ(energy.kinds[0].name, "decoder");
  EXPECT_EQ(energy.kinds[0].pj, 100 * 7 + 3 * 2 * 5.0);
  EXPECT_EQ(energy.kinds[1].name, "result_bus");
  EXPECT_EQ(energy.kinds[1].pj, 40 * 3.0);
  EXPECT_EQ(energy.kinds[1].units, 3 * machine.core.simd_width);
  EXPECT_EQ(energy.kinds[2].name, "clock");
  EXPECT_EQ(energy.kinds[2].pj, 10 * 3 * 5.0);
  EXPECT_EQ(energy.pj, 730 + 120 + 150.0);
  EXPECT_EQ(table_refusal("[clock]\nsource = \"s\"\nfetched = 1\n").substr(0, 43),
            "e.toml:3:1: clock has no activity 'fetched'");
}

// Whatever its mechanisms: their cost lines name counters that cores have, and the tables of a core are one of its
// parts.
TEST(Energy, OfTheTablesOfEveryMachinesMechanisms) {
  const EnergyTable table = parse_energy_table(
      "[mechanisms]\nsource = \"s\"\nbytes = [8192, 16384]\naccessed_bits = [1, 2]\nleakage_mw = [1, 2]\n", "e.toml");
  for (const char* const name :
       {"baseline", "lwm", "lwm-two-level", "tbc", "dwf-majority", "per-thread-pc", "slip-bypass"}) {
    const hw::Machine machine = read_machine(find_config(name));
    hw::Totals totals;
    totals.cycles = 10;
    totals.core.group_instructions = totals.core.warp_instructions = totals.core.branches = totals.core.fetched = 100;
    const Energy energy = energy_of(table, totals, machine);
    EXPECT_TRUE(std::isfinite(energy.pj)) << name;
    EXPECT_EQ(energy.pj > 0, unit_bytes(kMechanisms, machine) != 0.0) << name;
    EXPECT_EQ(unit_count(kMechanisms, machine), energy.pj > 0 ? machine.gpu.cores : 0) << name;
  }
}

// The table of a V100 prices every unit that it names, and comes to what the board may draw: above the 70 W that it
// leaks by the table, below the data sheet's 250 W.
TEST(Energy, OfAV100IsOfThatBoardsOrder) {
  const test::Scratch scratch;
  for (const char* const workload : {"matrixmult", "vecadd"}) {
    const std::string out = scratch.path(workload);
    const test::Ran ran =
        test::heddle({"run", "v100-8sm", workload, "--scale", "0.02", "-q", "--energy", "v100-12nm", "--out", out});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const json::value energy = json::parse(test::Scratch::read(out + "/stats.json")).at("energy");
    for (const auto& [kind, figures] : energy.at("kinds").as_object()) {
      const bool unused = kind == "texture" || (kind == "scratchpad" && std::string_view(workload) == "vecadd");
      EXPECT_EQ(figures.at("pj").to_number<double>() > 0, !unused) << workload << ": " << kind;
    }
    const double board = energy.at("average_mw").to_number<double>() / 1000 / 8 * 80;
    EXPECT_GT(board, 70) << workload;
    EXPECT_LT(board, 250) << workload;
  }
}

}  // namespace
}  // namespace heddle::tb
