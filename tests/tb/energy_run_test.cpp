// The energy of runs: the section of stats.json beside the modules' counters, the lines of a page, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "tests/support/program_runner.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;

// 220 nJ for each access that the channels counted, and nothing else of stats.json changes.
TEST(EnergyOfRuns, OfARunIsASectionOfItsOwn) {
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
TEST(EnergyOfRuns, ThePartsOfTheReportsTableAddUp) {
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
TEST(EnergyOfRuns, OfTheLinesOfAPageAddsUp) {
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

TEST(EnergyOfRuns, ATableThatIsNotThereOrWouldBeOverwrittenIsRefused) {
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
}  // namespace heddle::studies
