// Energy tables: what is refused, with its place; sums by hand; the section of stats.json beside the modules' counters.
#include "tb/measure/energy/energy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <map>
#include <set>

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

// Modules of a kind are known by the counters that they declare, l1d, icache and l2 together.
TEST(Energy, KnowsHowManyUnitsAMachineHas) {
  hw::Machine machine;
  machine.gpu.cores = 3;
  machine.core.simd_width = 16;
  machine.gpu.coherence = "mesi";  // every kind of unit
  machine.core.divergence = "odgs";
  machine.core.warp_size = 16;
  machine.l2.enabled = machine.l2.inclusive = true;
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
    units[names] += unit_count(kind.name, machine);
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
// there, leakage by time; what nobody has brought about is left over.
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

// Parts without counters of their own go with those of others, or with time.
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

// 220 nJ for each access that the channels counted, and nothing else of stats.json changes.
TEST(Energy, OfARunIsASectionOfItsOwn) {
  const test::Scratch scratch;
  const std::vector<std::string> words = {"run", "baseline", "vecadd", "--scale", "0.001", "--set", "dram.channels=2"};
  const auto run = [&](const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--out", scratch.path(folder)});
    all.insert(all.end(), more.begin(), more.end());
    const test::Ran ran = test::heddle(all);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  EXPECT_EQ(run("without", {}).find("Energy"), std::string::npos);
  const std::string text = run("with", {"--energy", "dws-memory"});
  json::object with = json::parse(test::Scratch::read(scratch.path("with/stats.json"))).as_object();
  ASSERT_TRUE(with.contains("energy"));
  const json::object energy = with["energy"].as_object();
  with.erase("energy");
  EXPECT_EQ(json::value(with), json::parse(test::Scratch::read(scratch.path("without/stats.json"))));

  std::uint64_t accesses = 0;
  for (const char* const module : {"gpu.dram0", "gpu.dram1"}) {
    for (const char* const counter : {"reads", "writes", "atomics"}) {
      accesses += with["modules"].at(module).at(counter).to_number<std::uint64_t>();
    }
  }
  ASSERT_GT(accesses, 0U);
  const double pj = energy.at("pj").to_number<double>();
  EXPECT_EQ(pj, 220e3 * static_cast<double>(accesses));
  EXPECT_EQ(energy.at("kinds").at("dram").at("pj"), energy.at("pj"));
  EXPECT_EQ(energy.at("kinds").as_object().size(), 1U);
  const double cycles = with["summary"].at("cycles").to_number<double>();
  const double clock = with["machine"].at("parameters").at("gpu").at("clock_ghz").to_number<double>();
  EXPECT_DOUBLE_EQ(energy.at("average_mw").to_number<double>(), pj / (cycles / clock));
  EXPECT_NE(text.find("Energy by the table dws-memory\n  energy "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  mean power "), std::string::npos);
}

// Every part that the DWS report's table prices takes some of a run with floating point and misses, and no more than
// all.
TEST(Energy, ThePartsOfTheReportsTableAddUp) {
  const test::Scratch scratch;
  const test::Ran ran = test::heddle({"run", "baseline", "blackscholes", "--scale", "0.001", "--set", "l2.enabled=true",
                                      "--set", "l1d.write_policy=write-through", "--set", "gpu.cores=2", "--energy",
                                      "dws-65nm", "--out", scratch.path("out")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json::value stats = json::parse(test::Scratch::read(scratch.path("out/stats.json")));
  const json::object& energy = stats.at("energy").as_object();
  double sum = 0;
  std::size_t modules = 0;
  std::set<std::string> parts;
  for (const auto& kind : energy.at("kinds").as_object()) {
    double of_kind = 0;
    for (const auto& activity : kind.value().at("activities").as_object()) {
      of_kind += activity.value().at("pj").to_number<double>();
    }
    of_kind += kind.value().at("leakage_pj").to_number<double>();
    EXPECT_DOUBLE_EQ(of_kind, kind.value().at("pj").to_number<double>()) << kind.key();
    sum += of_kind;
    if (of_kind > 0) {
      parts.emplace(kind.key());
    }
    EXPECT_NE(ran.out.find("\n    " + std::string(kind.key())), std::string::npos) << ran.out;
    // The units of the kind, each by its own counters.
    double of_units = 0;
    double leakage = 0;
    for (const auto& module : energy.at("modules").as_object()) {
      if (module.value().at("kind").as_string() == kind.key()) {
        of_units += module.value().at("pj").to_number<double>();
        leakage += module.value().at("leakage_pj").to_number<double>();
        ++modules;
      }
    }
    EXPECT_NEAR(of_units, of_kind, 1e-9 * of_kind) << kind.key();
    EXPECT_NEAR(leakage, kind.value().at("leakage_pj").to_number<double>(), 1e-9 * of_kind) << kind.key();
  }
  EXPECT_EQ(modules, energy.at("modules").as_object().size());
  const json::object& bank = stats.at("modules").at("gpu.core1.registers.bank3").as_object();
  EXPECT_DOUBLE_EQ(energy.at("modules").at("gpu.core1.registers.bank3").at("pj").to_number<double>(),
                   2.05 * bank.at("reads").to_number<double>() + 2.09 * bank.at("writes").to_number<double>());
  EXPECT_DOUBLE_EQ(sum, energy.at("pj").to_number<double>());
  EXPECT_EQ(parts, (std::set<std::string>{"core", "icache", "l1d", "scratchpad", "registers", "noc", "l2", "dram",
                                          "decoder", "result_bus", "clock", "mechanisms"}));
  EXPECT_GT(stats.at("modules").at("gpu.core0").at("float_lane_instructions").as_int64(), 1000);
  EXPECT_DOUBLE_EQ(energy.at("delay_product").to_number<double>(), sum * energy.at("nanoseconds").to_number<double>());
}

// On the page, the energies of all instructions are the run's; without a table there are none.
TEST(Energy, OfTheLinesOfAPageAddsUp) {
  const test::Scratch scratch;
  const auto profile_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run",   "lwm",      "blackscholes",        "--scale",
                                      "0.001", "--report", scratch.path("p.html")};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(test::heddle(words).code, 0);
    const std::string page = test::Scratch::read(scratch.path("p.html"));
    const std::string mark = "id=\"data\">";
    const std::size_t begin = page.find(mark) + mark.size();
    return json::parse(page.substr(begin, page.find("</script>", begin) - begin)).as_object();
  };
  const auto place = [](const json::object& data, const char* name) {
    const json::array& names = data.at("profile").at("counters").as_array();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), json::value(name)) - names.begin());
  };
  const json::object priced = profile_of({"--energy", "dws-65nm"});
  const std::size_t activities = place(priced, "energy_activities");
  const std::size_t leakage = place(priced, "energy_leakage");
  ASSERT_EQ(leakage, activities + 1);
  double sums[2] = {0, 0};
  for (const json::value& kernel : priced.at("profile").at("kernels").as_array()) {
    for (const json::value& counters : kernel.at("counters").as_array()) {
      ASSERT_EQ(counters.as_array().size(), leakage + 1);
      sums[0] += counters.at(activities).to_number<double>();
      sums[1] += counters.at(leakage).to_number<double>();
    }
  }
  const json::object& energy = priced.at("stats").at("energy").as_object();
  double leaks = 0;
  for (const auto& kind : energy.at("kinds").as_object()) {
    leaks += kind.value().at("leakage_pj").to_number<double>();
  }
  const double all = energy.at("pj").to_number<double>();
  EXPECT_GT(leaks, 0.01 * all);
  EXPECT_NEAR(sums[1], leaks, 1e-9 * all);
  EXPECT_NEAR(sums[0] + sums[1], all, 1e-9 * all);
  const json::object bare = profile_of({});
  EXPECT_EQ(place(bare, "energy_activities"), bare.at("profile").at("counters").as_array().size());
}

TEST(Energy, ATableThatIsNotThereOrWouldBeOverwrittenIsRefused) {
  const test::Scratch scratch;
  const auto refused = [&](const std::string& table, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", "baseline", "vecadd", "--scale", "0.001", "--energy", table};
    words.insert(words.end(), more.begin(), more.end());
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_EQ(refused("dws-memry", {}),
            "heddle: --energy: there is no energy table called 'dws-memry'; did you mean 'dws-memory'?\n");
  EXPECT_NE(refused(scratch.path("no.toml"), {}).find("no.toml: the energy table cannot be read: "), std::string::npos);
  const std::string text = "[dram]\nsource = \"s\"\nreads = 1\n";
  const std::string table = scratch.write("table.toml", text);
  EXPECT_EQ(refused(table, {"--report", table}), "heddle: --report: '" + table +
                                                     "' is the energy table that this command reads; name another "
                                                     "file\n");
  EXPECT_EQ(test::Scratch::read(table), text);
}

}  // namespace
}  // namespace heddle::tb
