// Power over time: intervals by hand and of runs, which add up to the run's energy; the files; refusals.
#include "tb/measure/energy/power.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

namespace json = boost::json;

const EnergyTable& two_kinds() {
  static const EnergyTable table = parse_energy_table(
      "[dram]\nsource = \"s\"\nreads = 10\nleakage_mw = 2\n[clock]\nsource = \"t\"\ncycles = 3\n", "e");
  return table;
}

// A channel and a core of which the test counts.
struct CountedMachine {
  hw::Machine machine;
  hw::DramStatistics dram;
  hw::CoreStatistics core;
  StatisticsRegistry counters;
  explicit CountedMachine(PowerSampler& sampler) {
    machine.gpu.clock_ghz = 0.5;
    counters.add("gpu.core0", core);
    counters.add("gpu.dram0", dram);
    sampler.attached(machine, counters, {{"gpu.core0", "core"}, {"gpu.dram0", "dram"}});
  }
};

TEST(Power, OfIntervalsByHand) {
  PowerSampler sampler(two_kinds(), {100});
  CountedMachine counted(sampler);
  EXPECT_EQ(sampler.every(), 100U);
  sampler.launching(0, "first", 0);
  counted.dram.reads = 7;
  sampler.sampled(100);
  counted.dram.reads = 8;
  sampler.launching(1, "second", 150);  // beside the first from here on
  counted.dram.reads = 12;
  sampler.launched(0, 180);
  sampler.sampled(200);
  counted.dram.reads = 13;
  sampler.launched(1, 240);
  const Power power = sampler.take(240);
  EXPECT_EQ(power.intervals(), 3U);
  EXPECT_EQ(power.cycles_of(1), 100U);
  EXPECT_EQ(power.cycles_of(2), 40U);
  ASSERT_EQ(power.modules.size(), 2U);
  EXPECT_EQ(power.modules[0].name, "gpu.core0.clock");
  EXPECT_EQ(power.modules[1].name, "gpu.dram0");
  EXPECT_EQ(power.modules[1].leakage_mw, 2);
  EXPECT_EQ(power.rows, (std::vector<double>{300, 70 + 400, 300, 50 + 400, 120, 10 + 160}));  // 200 ns, 80 the last
  EXPECT_EQ(power.pj(), 770 + 750 + 290);
  EXPECT_EQ(power.peak_mw(), 770.0 / 200);  // the last, 290 pJ in 80 ns, is none of the whole ones
  ASSERT_EQ(power.kernels.size(), 2U);
  EXPECT_EQ(power.kernels[0].name, "first");
  EXPECT_EQ(power.kernels[0].cycles, 180U);
  // Until 150 alone, then for 30 cycles half of: 4 reads, 90 pJ of clock, 120 pJ of leakage.
  EXPECT_DOUBLE_EQ(power.kernels[0].pj, 770 + (10 + 150 + 200) + 250.0 / 2);
  EXPECT_EQ(power.kernels[1].cycles, 90U);
  EXPECT_DOUBLE_EQ(power.kernels[0].pj + power.kernels[1].pj, power.pj());
}

TEST(Power, JoinsNeighboursOfALongRun) {
  PowerSampler sampler(two_kinds(), {1, true});
  CountedMachine counted(sampler);
  std::uint64_t cycle = 0;
  const std::uint64_t last = 3 * PowerSteps::kMostJoined + 1;
  while (cycle < last) {
    cycle += sampler.every() - cycle % sampler.every();
    counted.dram.reads = cycle;
    sampler.sampled(cycle);
  }
  const Power power = sampler.take(cycle);
  EXPECT_EQ(power.interval, 4U);
  EXPECT_EQ(power.cycles, last + 3);
  EXPECT_EQ(power.intervals(), power.cycles / 4);
  for (std::size_t at = 0; at != power.intervals(); ++at) {
    EXPECT_EQ(power.row(at)[1], 4 * 10 + 8 * 2);
  }
}

TEST(Power, OfNoIntervalIsRefused) {
  try {
    const PowerSampler sampler(two_kinds(), {0});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "--power-interval: power in intervals of 0 cycles never comes to an end; give a whole number of cycles, "
        "1 at least");
  }
}

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::vector<std::string>> cells(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string>& row = lines.emplace_back();
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, '\t');) {
      row.push_back(word);
    }
  }
  return lines;
}

// Of several launches on two cores, with other statistics the same: the intervals, the kinds, the modules and the
// kernels each add up to the run's energy. Host threads make no difference.
TEST(PowerOfRuns, AddsUpToTheEnergy) {
  const test::Scratch scratch;
  const Words words = {"run",         "baseline",        "bfs",
                       "--scale",     "0.002",           "--set",
                       "gpu.cores=2", "--set",           "l1d.write_policy=write-through",
                       "--set",       "l2.enabled=true", "--energy",
                       "dws-65nm"};
  const auto run = [&](const std::string& folder, const Words& more) {
    const test::Ran ran = test::heddle(joined(joined(words, {"--out", scratch.path(folder)}), more));
    EXPECT_EQ(ran.code, 0) << ran.err;
    return json::parse(test::Scratch::read(scratch.path(folder + "/stats.json")));
  };
  const json::value without = run("a", {"--threads", "1"});
  const std::string file = scratch.path("p.json");
  json::value with = run("b", {"--threads", "1", "--power", file, "--power-interval", "777"});
  const std::string text = test::Scratch::read(file);
  (void)run("c", {"--threads", "2", "--power", file, "--power-interval", "777"});
  EXPECT_EQ(test::Scratch::read(file), text);
  const json::value summary = with.at("energy").at("power");
  with.at("energy").as_object().erase("power");
  EXPECT_EQ(with, without);

  const json::value power = json::parse(text);
  const double pj = without.at("energy").at("pj").to_number<double>();
  const double clock = power.at("clock_ghz").to_number<double>();
  const auto cycles = power.at("cycles").to_number<std::uint64_t>();
  EXPECT_EQ(power.at("unit"), "W");
  EXPECT_EQ(power.at("pj").to_number<double>(), pj);
  EXPECT_EQ(power.at("interval_cycles"), 777);
  EXPECT_DOUBLE_EQ(power.at("interval_seconds").to_number<double>(), 777e-9 / clock);
  EXPECT_EQ(power.at("power").as_array().size(), (cycles + 776) / 777);
  EXPECT_EQ(summary.at("interval_cycles"), 777);
  EXPECT_DOUBLE_EQ(summary.at("peak_mw").to_number<double>(), 1e3 * power.at("peak").to_number<double>());
  EXPECT_GT(power.at("peak").to_number<double>(), 1.2 * power.at("mean").to_number<double>());
  EXPECT_EQ(summary.at("kernels"), power.at("kernels"));
  const auto energy = [&](const json::value& watts) {
    double sum = 0;
    std::uint64_t at = 0;
    for (const json::value& one : watts.as_array()) {
      sum += 1e3 * one.to_number<double>() * static_cast<double>(std::min(cycles, at + 777) - at) / clock;
      at += 777;
    }
    return sum;
  };
  EXPECT_NEAR(energy(power.at("power")), pj, 1e-10 * pj);
  double of_kinds = 0;
  for (const auto& kind : power.at("kinds").as_object()) {
    const double of_kind = without.at("energy").at("kinds").at(kind.key()).at("pj").to_number<double>();
    EXPECT_NEAR(energy(kind.value()), of_kind, 1e-10 * pj) << kind.key();
    of_kinds += of_kind;
  }
  EXPECT_NEAR(of_kinds, pj, 1e-10 * pj);
  const json::object& modules = without.at("energy").at("modules").as_object();
  EXPECT_EQ(power.at("modules").as_object().size(), modules.size());
  for (const auto& module : power.at("modules").as_object()) {
    EXPECT_NEAR(energy(module.value().at("power")), modules.at(module.key()).at("pj").to_number<double>(), 1e-10 * pj);
  }
  double of_kernels = 0;
  std::uint64_t launches = 0;
  for (const json::value& kernel : power.at("kernels").as_array()) {
    of_kernels += kernel.at("pj").to_number<double>();
    launches += kernel.at("launches").to_number<std::uint64_t>();
  }
  EXPECT_NEAR(of_kernels, pj, 1e-10 * pj);
  EXPECT_GT(launches, power.at("kernels").as_array().size());

  // HotSpot's form: names, then watts of each, with tabs between.
  (void)run("d", {"--power", scratch.path("p.ptrace"), "--power-interval", "777"});
  const std::vector<Words> lines = cells(test::Scratch::read(scratch.path("p.ptrace")));
  ASSERT_EQ(lines.size(), power.at("power").as_array().size() + 1);
  for (std::size_t column = 0; column != lines[0].size(); ++column) {
    const json::value& module = power.at("modules").at(lines[0][column]);
    for (std::size_t line = 1; line != lines.size(); ++line) {
      ASSERT_EQ(lines[line].size(), modules.size());
      ASSERT_DOUBLE_EQ(std::strtod(lines[line][column].c_str(), nullptr),
                       module.at("power").at(line - 1).to_number<double>());
    }
  }
}

// The intervals up to a cycle hold what a run has taken that ends there: nothing is put off into later ones.
TEST(PowerOfRuns, HoldsWhatHasHappenedUntilThen) {
  const test::Scratch scratch;
  const Words words = {"run", "lwm", "nqueens", "--scale", "0.002", "--energy", "dws-65nm", "--power-interval", "500"};
  const auto pj_until = [&](const Words& more, std::size_t intervals) {
    const std::string file = scratch.path("p.json");
    (void)test::heddle(joined(joined(words, {"--power", file}), more));
    const json::value power = json::parse(test::Scratch::read(file));
    double pj = 0;
    for (std::size_t i = 0; i != intervals; ++i) {
      pj += power.at("power").at(i).to_number<double>();
    }
    return std::pair(pj * 500e3, power.at("pj").to_number<double>());
  };
  for (const std::size_t intervals : {3, 8}) {
    const auto [of_all, all] = pj_until({}, intervals);
    const auto [of_part, part] = pj_until({"--max-cycles", std::to_string(500 * intervals)}, intervals);
    EXPECT_DOUBLE_EQ(of_all, of_part);
    EXPECT_NEAR(of_part, part, 1e-10 * part);
    EXPECT_GT(all, part);
  }
}

// Leakage follows the temperature.
TEST(PowerOfRuns, AtOtherTemperatures) {
  const test::Scratch scratch;
  const auto leakage_at = [&](const char* celsius) {
    const std::string file = scratch.path("p.json");
    const test::Ran ran = test::heddle({"run", "baseline", "vecadd", "--scale", "0.001", "--energy", "dws-65nm",
                                        "--power", file, "--temperature", celsius});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const json::value power = json::parse(test::Scratch::read(file));
    EXPECT_EQ(power.at("celsius").to_number<double>(), std::strtod(celsius, nullptr));
    return power.at("modules").at("gpu.noc").at("leakage").to_number<double>();
  };
  EXPECT_DOUBLE_EQ(leakage_at("86.85"), 0.82);
  EXPECT_DOUBLE_EQ(leakage_at("61.85"), 0.82 * std::exp(-0.9));
}

TEST(PowerOfRuns, RefusesWhatCannotBe) {
  const test::Scratch scratch;
  const auto refused = [&](const Words& more) {
    const test::Ran ran = test::heddle(joined({"run", "baseline", "vecadd", "--scale", "0.001"}, more));
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  const std::string file = scratch.path("p.csv");
  const Words priced = {"--energy", "dws-65nm", "--power", file};
  EXPECT_EQ(
      refused({"--power", file}),
      "heddle: --power: power needs the energies of what happens, and no energy table is given; name one: --energy "
      "TABLE\n");
  EXPECT_EQ(refused(joined(priced, {"--power-interval", "0"})),
            "heddle: --power-interval: '0' is no whole number from 1 to 9223372036854775807\n");
  EXPECT_EQ(
      refused({"--energy", "dws-65nm", "--power-interval", "5"}),
      "heddle: --power-interval: says how often --power FILE, or a page with --energy, looks at power; neither is "
      "given\n");
  EXPECT_EQ(refused({"--energy", "dws-65nm", "--power", "p.txt"}),
            "heddle: --power: 'p.txt' does not say which form power shall have: it does not end in .csv, .ptrace or "
            ".json; FILE.csv and FILE.ptrace are lines of watts as HotSpot reads them, FILE.json has all figures\n");
  EXPECT_EQ(refused({"--temperature", "60"}),
            "heddle: --temperature: leakage goes by an energy table, and none is given; name one: --energy TABLE\n");
  EXPECT_EQ(
      refused({"--energy", "dws-memory", "--temperature", "60"}),
      "heddle: --temperature: the energy table dws-memory does not say how leakage goes with the temperature; give "
      "it a section [leakage] with at_celsius, per_kelvin and source\n");
  EXPECT_EQ(refused({"--energy", "dws-65nm", "--temperature=-300"}),
            "heddle: --temperature: -300 is not from -273.15 to 500 degrees Celsius\n");
  const std::string table = scratch.write("table.csv", "[dram]\nsource = \"s\"\nreads = 1\n");
  EXPECT_EQ(refused({"--energy", table, "--power", table}),
            "heddle: --power: '" + table + "' is the energy table that this command reads; name another file\n");
  const Words both = {
      "--energy", "dws-65nm", "--power", scratch.path("p.json"), "--report-data", scratch.path("p.json")};
  EXPECT_NE(refused(both).find("p.json"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace heddle::tb
