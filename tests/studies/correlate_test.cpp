// A machine beside a GPU, by results written here: errors, means and correlations by hand.
#include "studies/correlate/correlation.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::studies {
namespace {

// `rows` without their brackets.
std::string results_file(const std::string& campaign, const std::string& device, double mhz, const std::string& rows) {
  return R"({"format": 1, "campaign": ")" + campaign + R"(", "device": {"name": ")" + device +
         R"("}, "clock": [{"cycles": 1, "mhz": {"median": )" + std::to_string(mhz) + R"(}}], "rows": [)" + rows + "]}";
}

std::string figure(const std::string& name, const std::string& group, double value, const std::string& more = "",
                   const std::string& of = "cycles") {
  return R"({"name": ")" + name + R"(", "group": ")" + group + R"(", "key": "k", "status": "measured", "value": )" +
         std::to_string(value) + R"(, "unit": "u", "of": ")" + of + "\"" + more + "}";
}

class Correlate : public ::testing::Test {
 protected:
  Measurements read(const std::string& name, const std::string& text) {
    return read_measurements(scratch_.write(name, text));
  }
  std::string refusal(const std::string& name, const std::string& text) {
    try {
      (void)read(name, text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  test::Scratch scratch_;
};

TEST_F(Correlate, ErrorsAreRelativeToTheHardware) {
  const Measurements hardware =
      read("gpu.json", results_file("micro", "GPU", 2000,
                                    figure("a", "x", 10) + "," + figure("b", "x", 100) + "," + figure("c", "y", 4) +
                                        "," + figure("time", "y", 50, "", "ns") + "," +
                                        figure("rate", "y", 8, R"(, "rate": true)", "ns")));
  const Measurements machine =
      read("machine.json", results_file("micro", "Machine", 1000,
                                        figure("c", "y", 4) + "," + figure("b", "x", 50) + "," + figure("a", "x", 20) +
                                            "," + figure("time", "y", 100, "", "ns") + "," +
                                            figure("rate", "y", 3, R"(, "rate": true)", "ns")));
  const Correlation found = correlate(hardware, machine);
  ASSERT_EQ(found.kernels.size(), 5U);
  EXPECT_EQ(found.kernels[0].name, "a");  // 100 % too long: worst
  EXPECT_DOUBLE_EQ(found.kernels[0].error(), 1);
  EXPECT_EQ(found.kernels[1].name, "b");
  EXPECT_DOUBLE_EQ(found.kernels[1].error(), -0.5);
  // 50 ns at 2 GHz and 100 ns at 1 GHz are 100 cycles both; 8 per ns are 4 per cycle there, 3 per ns here 3.
  EXPECT_EQ(found.kernels[2].name, "rate");
  EXPECT_DOUBLE_EQ(found.kernels[2].hardware, 4);
  EXPECT_DOUBLE_EQ(found.kernels[2].error(), -0.25);
  EXPECT_EQ(found.kernels[4].name, "time");
  EXPECT_DOUBLE_EQ(found.kernels[4].hardware, 100);
  EXPECT_DOUBLE_EQ(found.kernels[4].error(), 0);
  EXPECT_EQ(found.kernels[4].unit, "u, in cycles");
  ASSERT_EQ(found.groups.size(), 3U);
  const Deviation& x = found.groups[0];
  EXPECT_EQ(x.of, "x");
  EXPECT_EQ(x.kernels, 2U);
  EXPECT_DOUBLE_EQ(x.mean_error, 0.75);
  EXPECT_DOUBLE_EQ(x.worst_error, 1);
  EXPECT_NEAR(x.ratio, 1, 1e-12);        // twice and half
  EXPECT_NEAR(x.correlation, 1, 1e-12);  // two points
  const Deviation& all = found.groups[2];
  EXPECT_EQ(all.of, "all");
  EXPECT_DOUBLE_EQ(all.mean_error, (1 + 0.5 + 0.25) / 5);
  EXPECT_NEAR(all.ratio, std::pow(0.75, 0.2), 1e-12);
  EXPECT_EQ(correlation_csv(found),
            "kernel,group,unit,hardware,machine,error\n"
            "\"a\",\"x\",\"u\",10,20,1\n"
            "\"b\",\"x\",\"u\",100,50,-0.5\n"
            "\"rate\",\"y\",\"u, in cycles\",4,3,-0.25\n"
            "\"c\",\"y\",\"u\",4,4,0\n"
            "\"time\",\"y\",\"u, in cycles\",100,100,0\n");
}

TEST_F(Correlate, SaysWhatIsLeftOut) {
  const std::string changed = R"({"name": "changed", "group": "x", "key": "other", "status": "measured", "value": 1,
                                  "unit": "u", "of": "cycles"})";
  const std::string refused = R"({"name": "refused", "group": "x", "key": "k", "status": "refused"})";
  const Measurements hardware = read(
      "gpu.json", results_file("micro", "GPU", 1000,
                               figure("a", "x", 1) + "," + figure("refused", "x", 1) + "," + figure("changed", "x", 1) +
                                   "," + figure("absent", "x", 1) + "," + figure("host", "x", 1, "", "host_ns")));
  const Measurements machine =
      read("machine.json", results_file("micro", "Machine", 1000, figure("a", "x", 1) + "," + refused + "," + changed));
  const Correlation found = correlate(hardware, machine);
  EXPECT_EQ(found.missing, (std::vector<std::string>{"refused: the machine has no figure (refused)",
                                                     "changed: the item has changed between both measurements",
                                                     "absent: the machine was not measured",
                                                     "host: the hardware has no figure (measured)"}));
  EXPECT_EQ(correlation_text(found, hardware, machine),
            "Machine beside GPU, campaign micro\n\n"
            "group  kernels  mean error  worst  machine / hardware  correlation\n"
            "-----  -------  ----------  -----  ------------------  -----------\n"
            "x            1       0.0 %  0.0 %               1.000            -\n"
            "all          1       0.0 %  0.0 %               1.000            -\n\n"
            "kernel  hardware  machine   error  unit\n"
            "------  --------  -------  ------  ----\n"
            "a              1        1  +0.0 %  u\n\n"
            "left out: 4 kernels\n"
            "  refused: the machine has no figure (refused)\n"
            "  changed: the item has changed between both measurements\n"
            "  absent: the machine was not measured\n"
            "  host: the hardware has no figure (measured)\n");
}

TEST_F(Correlate, KernelsThatDifferInANumberHaveAnExponentOverIt) {
  const auto rows = [](double slope) {
    std::string out;
    for (const double size : {1.0, 2.0, 8.0}) {
      out += (out.empty() ? "" : ",") +
             figure("grows/" + std::to_string(static_cast<int>(size)), "x", 5 * std::pow(size, slope));
    }
    return out + "," + figure("alone/7", "x", 1) + "," + figure("grows/more", "x", 1);
  };
  const Measurements hardware = read("gpu.json", results_file("micro", "GPU", 1000, rows(1)));
  const Measurements machine = read("machine.json", results_file("micro", "Machine", 1000, rows(2)));
  const Correlation found = correlate(hardware, machine);
  ASSERT_EQ(found.series.size(), 1U);
  EXPECT_EQ(found.series[0].name, "grows");
  EXPECT_EQ(found.series[0].points.size(), 3U);
  EXPECT_NEAR(found.series[0].hardware_slope, 1, 1e-9);
  EXPECT_NEAR(found.series[0].machine_slope, 2, 1e-9);
}

TEST_F(Correlate, AThirdIsHeldOutByASeed) {
  std::string rows, twice;
  for (unsigned i = 0; i != 300; ++i) {
    rows += (i == 0 ? "" : ",") + figure("kernel " + std::to_string(i), "x", 100);
    twice += (i == 0 ? "" : ",") + figure("kernel " + std::to_string(i), "x", 200);
  }
  const Measurements hardware = read("gpu.json", results_file("micro", "GPU", 1000, rows));
  const Measurements machine = read("machine.json", results_file("micro", "Machine", 1000, twice));
  const Correlation found = correlate(hardware, machine, 1);
  const auto held_out = [](const Correlation& of) {
    std::vector<std::string> names;
    for (const Compared& one : of.kernels) {
      if (one.held_out) names.push_back(one.name);
    }
    return names;
  };
  const std::vector<std::string> first = held_out(found);
  EXPECT_GT(first.size(), 70U);
  EXPECT_LT(first.size(), 130U);
  EXPECT_NE(first, held_out(correlate(hardware, machine, 2)));
  EXPECT_TRUE(held_out(correlate(hardware, machine)).empty());
  ASSERT_EQ(found.groups.size(), 4U);
  EXPECT_EQ(found.groups[2].of, "looked at");
  EXPECT_EQ(found.groups[3].of, "held out");
  EXPECT_EQ(found.groups[3].kernels, first.size());
  EXPECT_DOUBLE_EQ(found.groups[3].mean_error, 1);
  const std::string text = correlation_text(found, hardware, machine);
  const std::string page = correlation_page(found, hardware, machine, "heddle correlate");
  for (const std::string& name : first) {
    EXPECT_EQ(text.find(name + " "), std::string::npos) << name;
    EXPECT_EQ(page.find('"' + name + '"'), std::string::npos) << name;
    EXPECT_EQ(correlation_csv(found).find('"' + name + '"'), std::string::npos) << name;
  }
}

TEST_F(Correlate, PublishedFiguresNeedNoKeyAndAreToldApart) {
  const std::string published =
      R"({"name": "a", "group": "x", "status": "published", "value": 4, "unit": "u", "of": "cycles",
          "source": "A paper"})";
  const Measurements hardware = read("gpu.json", results_file("micro", "GPU", 1000, published));
  const Measurements machine = read("machine.json", results_file("micro", "Machine", 1000, figure("a", "x", 5)));
  const Correlation found = correlate(hardware, machine);
  ASSERT_EQ(found.kernels.size(), 1U);
  EXPECT_DOUBLE_EQ(found.kernels[0].error(), 0.25);
  EXPECT_NE(correlation_text(found, hardware, machine).find("published, not measured here: A paper\n"),
            std::string::npos);
  EXPECT_NE(correlation_page(found, hardware, machine, "").find(R"("sources":["A paper"])"), std::string::npos);
}

// A folder of runs is a machine of whole programs: each kernel's mean cycles, of launches that were simulated.
TEST_F(Correlate, RunsOfProgramsAreMeasurements) {
  // What heddle exec writes: a run's figures, with launches.
  const auto run_of = [this](const std::string& machine, const std::string& program, const std::string& launches) {
    const std::string folder = scratch_.path("runs/" + program);
    ASSERT_EQ(test::heddle({"run", machine, "vecadd", "--scale", "0.002", "-q", "--out", folder}).code, 0);
    boost::json::value stats = boost::json::parse(test::Scratch::read(folder + "/stats.json"));
    stats.as_object()["launches"] = boost::json::parse(launches);
    std::ofstream(folder + "/stats.json") << stats;
  };
  const std::string ends = R"(, "complete": true})";
  run_of("baseline", "one",
         R"([{"kernel": "k", "cycles": 10)" + ends + R"(, {"kernel": "k", "cycles": 30)" + ends +
             R"(, {"kernel": "k", "cycles": 0)" + ends + R"(, {"kernel": "k", "cycles": 99, "complete": false}])");
  run_of("baseline", "two",
         R"([{"kernel": "k", "cycles": 7)" + ends + R"(, {"kernel": "_ZL1lv", "cycles": 5)" + ends + "]");
  const Measurements machine = read_runs(scratch_.path("runs"));
  EXPECT_EQ(machine.device, "baseline");
  EXPECT_EQ(machine.campaign, kPrograms);
  EXPECT_EQ(machine.clock_mhz, 1000);
  ASSERT_EQ(machine.rows.size(), 3U);
  const std::pair<const char*, double> wanted[] = {{"one/k", 20}, {"two/_Z1lv", 5}, {"two/k", 7}};
  for (std::size_t i = 0; i != 3; ++i) {
    EXPECT_EQ(machine.rows[i].name, wanted[i].first);
    EXPECT_EQ(machine.rows[i].value, wanted[i].second);
    EXPECT_EQ(machine.rows[i].counters.empty(), i != 0) << "a run's counters are those of its only kernel";
  }
  const std::string row = R"({"name": "one/k", "group": "x", "unit": "u", "of": "cycles", "value": 10, "source": "s"})";
  const Measurements hardware = read("gpu.json", results_file("programs", "GPU", 1000, row));
  const Correlation found = correlate(hardware, machine);
  ASSERT_EQ(found.kernels.size(), 1U);
  EXPECT_DOUBLE_EQ(found.kernels[0].error(), 1);
  EXPECT_NE(found.kernels[0].idle_causes(), "");
  const test::Ran ran = test::heddle({"correlate", scratch_.path("runs"), scratch_.path("gpu.json")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("one/k"), std::string::npos) << ran.out;

  const auto refused = [this](const std::string& folder) {
    try {
      (void)read_runs(scratch_.path(folder));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused("nowhere").find("no folder in it has a run of a program"), std::string::npos);
  run_of("baseline", "three", R"([{"kernel": "k", "complete": true}])");
  EXPECT_NE(refused("runs").find("three/stats.json"), std::string::npos) << refused("runs");
  EXPECT_NE(refused("runs").find("cycles"), std::string::npos) << refused("runs");
  run_of("lwm", "three", "[]");
  EXPECT_NE(refused("runs").find("keep runs of different machines in different folders"), std::string::npos);
}

// Published figures of programs say where they are from.
TEST_F(Correlate, ThePublishedProgramsAreRead) {
  const Measurements programs = read_measurements(HEDDLE_SOURCE_DIR "/hardware/programs/v100.json");
  EXPECT_EQ(programs.campaign, kPrograms);
  EXPECT_GE(programs.rows.size(), 20U);
  for (const Measurements::Row& row : programs.rows) {
    EXPECT_TRUE(row.has_value) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
    EXPECT_NE(row.name.find('/'), std::string::npos) << row.name;
  }
}

// Kernels that were run once more have counters: causes of idle cycles beside them, columns in the CSV.
TEST_F(Correlate, CountersOfKernelsAreColumns) {
  const Measurements hardware =
      read("gpu.json", results_file("micro", "GPU", 1000, figure("a", "x", 10) + "," + figure("b", "x", 10)));
  const Measurements machine =
      read("machine.json", results_file("micro", "Machine", 1000, figure("a", "x", 30) + "," + figure("b", "x", 20)));
  Correlation found = correlate(hardware, machine);
  EXPECT_EQ(correlation_csv(found, true),
            "kernel,group,unit,hardware,machine,error\n\"a\",\"x\",\"u\",10,30,2\n"
            "\"b\",\"x\",\"u\",10,20,1\n");
  found.kernels[0].counters = boost::json::parse(R"({"cycles": 200, "ipc": 1.5, "blocks": 3, "l1d_hit_rate": 0.5,
      "idle_cycles": 120, "idle_share": 0.6, "idle_cycles_by_cause": {"memory": 80, "icache": 0, "pipeline": 40}})")
                                  .as_object();
  EXPECT_EQ(found.kernels[0].idle_causes(), "40.0 % memory, 20.0 % pipeline");
  EXPECT_EQ(found.kernels[1].idle_causes(), "");
  EXPECT_NE(correlation_text(found, hardware, machine)
                .find("kernel  hardware  machine     error  unit  idle for most of it\n"
                      "------  --------  -------  --------  ----  ------------------------------\n"
                      "a             10       30  +200.0 %  u     40.0 % memory, 20.0 % pipeline\n"),
            std::string::npos)
      << correlation_text(found, hardware, machine);
  EXPECT_EQ(correlation_csv(found, true),
            "kernel,group,unit,hardware,machine,error,sm__cycles_elapsed.max,smsp__inst_executed.sum,"
            "smsp__thread_inst_executed_pred_on.sum,smsp__thread_inst_executed_pred_on.sum.per_cycle_elapsed,"
            "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio,"
            "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,sm__ctas_launched.sum,lts__t_requests.sum\n"
            "\"a\",\"x\",\"u\",10,30,2,200,,,1.5,,,3,\n\"b\",\"x\",\"u\",10,20,1,,,,,,,,\n");
  const std::string own = correlation_csv(found);
  EXPECT_EQ(own.find("kernel,group,unit,hardware,machine,error,cycles,warp_instructions,"), 0U) << own;
  EXPECT_NE(own.find(",idle_cycles,idle_cycles_no_work,idle_cycles_memory,"), std::string::npos) << own;
  EXPECT_NE(own.find("\n\"a\",\"x\",\"u\",10,30,2,200,,,1.5,"), std::string::npos) << own;
  EXPECT_NE(correlation_page(found, hardware, machine, "").find(R"("idle":"40.0 % memory, 20.0 % pipeline")"),
            std::string::npos);
}

// The names of a campaign's items that have "each" alone.
std::set<std::string> names_of(const std::string& list) {
  std::ifstream file(list);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::set<std::string> names;
  const boost::json::value campaign = boost::json::parse(text);
  for (const boost::json::value& item : campaign.at("items").as_array()) {
    const boost::json::value* const each = item.as_object().if_contains("each");
    if (each == nullptr || item.as_object().contains("for")) continue;
    for (const boost::json::value& words : each->as_array()) {
      std::string name(item.at("name").as_string());
      for (const auto& [key, value] : words.as_object()) {
        const std::string place = "${" + std::string(key) + "}";
        const std::string word = value.is_string() ? std::string(value.as_string()) : boost::json::serialize(value);
        if (const std::size_t at = name.find(place); at != std::string::npos) name.replace(at, place.size(), word);
      }
      names.insert(name);
    }
  }
  return names;
}

// Each name is an item of the campaign, and each figure says where it is from.
TEST_F(Correlate, ThePublishedFilesFitTheCampaign) {
  const std::string folder = HEDDLE_SOURCE_DIR "/hardware/";
  const std::set<std::string> names = names_of(folder + "campaigns/micro.json");
  unsigned files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "published")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Measurements of = read_measurements(entry.path().string());
    EXPECT_EQ(of.campaign, "micro") << of.path;
    EXPECT_TRUE(std::filesystem::exists(HEDDLE_SOURCE_DIR "/configs/" + entry.path().stem().string() + ".toml"))
        << of.path;
    for (const Measurements::Row& row : of.rows) {
      EXPECT_TRUE(names.contains(row.name)) << of.path << ": " << row.name;
      EXPECT_FALSE(row.source.empty()) << of.path << ": " << row.name;
      EXPECT_TRUE(row.has_value) << of.path << ": " << row.name;
    }
  }
  EXPECT_GE(files, 5U);
}

TEST_F(Correlate, RefusesOtherFiles) {
  const std::string wrong =
      ": this is no file of results of hardware/measure; give what measure writes (hardware/README.md)";
  for (const char* const text :
       {"", "[]", "{}", R"({"format": 2, "rows": [], "device": {}})", R"({"format": 1, "rows": 1, "device": {}})",
        R"({"format": 1, "rows": [1], "device": {}})"}) {
    EXPECT_EQ(refusal("x.json", text), scratch_.path("x.json") + wrong) << text;
  }
  const Measurements a = read("a.json", results_file("micro", "GPU", 1, figure("a", "x", 1)));
  const Measurements b = read("b.json", results_file("other", "GPU", 1, figure("a", "x", 1)));
  const Measurements c = read("c.json", results_file("micro", "GPU", 1, figure("c", "x", 1)));
  const auto refused = [&](const Measurements& machine) -> std::string {
    try {
      (void)correlate(a, machine);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refused(b), b.path + ": these are results of the campaign 'other', those of " + a.path +
                            " of 'micro'; measure both by one campaign");
  EXPECT_EQ(refused(c), c.path + ": no kernel has a figure here and in " + a.path + "; measure both by the same items");
}

}  // namespace
}  // namespace heddle::studies
