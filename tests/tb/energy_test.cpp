// Energy tables: what is refused, with its place; sums by hand; the section of stats.json beside the modules' counters.
#include "tb/measure/energy/energy.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/error.hpp"
#include "program_runner.hpp"
#include "tb/host/device.hpp"

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
    std::set<std::string> names(kind.activities.begin(), kind.activities.end());
    names.insert(kind.others.begin(), kind.others.end());
    units[names] += unit_count(kind.name, machine);
  }
  EXPECT_EQ(units, modules);
  EXPECT_THROW((void)unit_count("toaster", machine), InternalError);
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
  const test::Ran ran =
      test::heddle({"run", "baseline", "blackscholes", "--scale", "0.001", "--set", "l2.enabled=true", "--set",
                    "l1d.write_policy=write-through", "--energy", "dws-65nm", "--out", scratch.path("out")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json::value stats = json::parse(test::Scratch::read(scratch.path("out/stats.json")));
  const json::object& energy = stats.at("energy").as_object();
  double sum = 0;
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
  }
  EXPECT_DOUBLE_EQ(sum, energy.at("pj").to_number<double>());
  EXPECT_EQ(parts, (std::set<std::string>{"core", "icache", "l1d", "scratchpad", "registers", "noc", "l2", "dram"}));
  EXPECT_GT(stats.at("modules").at("gpu.core0").at("float_lane_instructions").as_int64(), 1000);
  EXPECT_DOUBLE_EQ(energy.at("delay_product").to_number<double>(), sum * energy.at("nanoseconds").to_number<double>());
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
