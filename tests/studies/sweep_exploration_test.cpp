// Explorations as files: constraints, axes, samples, and what is refused, with its place.
#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "hw/schedule/two_level.hpp"
#include "studies/sweep/exploration.hpp"
#include "studies/sweep/expression.hpp"
#include "studies/sweep/plan.hpp"
#include "studies/sweep/store.hpp"
#include "tests/support/launch_folder.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"

HEDDLE_LONG_SANITIZED("SweepPlan.AGridTooLarge*", "SweepPlan.ASampleIs*")

namespace heddle::studies::sweep {
namespace {

Expression expression(const std::string& text) {
  return Expression::parse(text, {"x.toml", 7, 11}, [](const std::string& name, const SourceLocation& where) -> Scalar {
    if (name == "core.width" || name == "n") {
      return 0.0;
    }
    if (name == "policy") {
      return std::string();
    }
    throw InputError(where, "unknown " + name);
  });
}

bool holds(const std::string& text) {
  return expression(text).holds([](const std::string& name) -> Scalar {
    if (name == "policy") {
      return std::string("two-level");
    }
    return name == "n" ? 3.0 : 32.0;
  });
}

std::string refused(const std::string& text) {
  try {
    static_cast<void>(expression(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SweepConstraint, BindsAsDocumented) {
  EXPECT_TRUE(holds("core.width == 32"));
  EXPECT_TRUE(holds("1 + 2 * n == 7"));
  EXPECT_TRUE(holds("(1 + 2) * n == 9"));
  EXPECT_TRUE(holds("2 - 1 - 1 == 0"));  // from the left
  EXPECT_TRUE(holds("16 / 4 / 2 == 2"));
  EXPECT_TRUE(holds("core.width % 5 == 2"));
  EXPECT_TRUE(holds("-n < -2"));
  EXPECT_TRUE(holds("true || true && false"));  // && first
  EXPECT_FALSE(holds("(true || true) && false"));
  EXPECT_TRUE(holds("!(n > 3) && n >= 3 && n <= 3 && !(n < 3) && n != 4"));
  EXPECT_TRUE(holds("policy == \"two-level\" && policy != 'gto' && 'a' < 'b'"));
  EXPECT_TRUE(holds("policy != 'two-level' || n == 3"));
  EXPECT_TRUE(holds("(n == 3) == true"));
  EXPECT_TRUE(holds(".5 + 1e-1 < 0.7"));
}

TEST(SweepConstraint, NamesOccurOnce) {
  EXPECT_EQ(expression("n > 1 && core.width > n").names(), (std::vector<std::string>{"n", "core.width"}));
}

TEST(SweepConstraint, MistakesHaveTheirPlace) {
  EXPECT_EQ(refused("n + "), "x.toml:7:15: the constraint ends where a value is expected");
  EXPECT_EQ(refused("n + 1"), "x.toml:7:11: this is a number, but a constraint is true or false");
  EXPECT_EQ(refused("n = 1"), "x.toml:7:13: '=' compares nothing; write ==");
  EXPECT_EQ(refused("n == 'a'"), "x.toml:7:13: a number is compared with a string");
  EXPECT_EQ(refused("1 < n < 3"), "x.toml:7:17: comparisons are not chained; join two of them with &&");
  EXPECT_EQ(refused("n > 1 && m > 1"), "x.toml:7:20: unknown m");
  EXPECT_EQ(refused("(n > 1"), "x.toml:7:17: a ')' is missing");
  EXPECT_EQ(refused("n > 1)"),
            "x.toml:7:16: ')' is not expected here; operators: || && == != < <= > >= + - * / % ! ( )");
  EXPECT_EQ(refused("n > 1 && n"), "x.toml:7:20: this is a number, but && joins booleans");
  EXPECT_EQ(refused("policy + 1 > 2"), "x.toml:7:11: this is a string, but '+' joins numbers");
  EXPECT_EQ(refused("!n"), "x.toml:7:12: this is a number, but '!' stands before booleans");
  EXPECT_EQ(refused("true < false"), "x.toml:7:16: booleans have no order; use == or !=");
  EXPECT_EQ(refused("policy == 'x"), "x.toml:7:21: a string has no end");
  EXPECT_EQ(refused("n > @"), "x.toml:7:15: '@' is no value; values are numbers, \"strings\", true, false and names");
  EXPECT_NE(refused(std::string(200, '(') + "n"), "");
  EXPECT_EQ(refused(std::string(101, '(') + "n > 1" + std::string(101, ')')),
            "x.toml:7:112: more than 100 levels within each other");
  EXPECT_EQ(refused(std::string(100, '(') + "n > 1" + std::string(100, ')')), "");
  EXPECT_THROW(static_cast<void>(holds("1 / (n - 3) > 0")), InputError);
  EXPECT_THROW(static_cast<void>(holds("1 % (n - 3) > 0")), InputError);
}

const std::string kHead = "config = \"baseline\"\nworkload = \"vecadd\"\n";

std::string exploration_refusal(const std::string& text) {
  try {
    const Exploration exploration = parse_exploration(text, "x.toml");
    static_cast<void>(Plan(exploration, "build"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SweepExploration, MistakesHaveTheirPlaceAndTheNearestName) {
  EXPECT_EQ(exploration_refusal(kHead), "");
  EXPECT_EQ(exploration_refusal("config = \"baseline\"\n"),
            "x.toml: the exploration has no workload; add workload = \"...\" at the top, or an axis of several");
  EXPECT_EQ(exploration_refusal(kHead + "axis = 1\n"),
            "x.toml:3:1: there is no key 'axis' in the exploration; did you mean 'axes'?");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\ncore.warp_sise = [1]\n"),
            "x.toml:4:6: there is no parameter 'core.warp_sise'; did you mean 'core.warp_size'?");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\nwarp_size = [32]\n"),
            "x.toml:4:1: there is no parameter 'warp_size'; did you mean 'core.warp_size'?");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\n\"core.warp_size\" = [32, 2048]\n"),
            "x.toml:4:25: core.warp_size must be between 1 and 1024 threads, not 2048");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\ncore.warp_size = [32, 64, 32]\n"),
            "x.toml:4:27: the axis core.warp_size has 32 twice");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\ncore.warp_size = []\n"),
            "x.toml:4:18: the axis core.warp_size has no values");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\ncore.warp_size = 32\n"),
            "x.toml:4:18: the axis core.warp_size must be an array of values or a range, not an integer; write "
            "core.warp_size = [A, B] or core.warp_size = { from = A, to = B, step = C }");
  EXPECT_NE(exploration_refusal(kHead + "[axes]\ncore.scheduler = [\"two-levl\"]\n")
                .find("x.toml:4:19: core.scheduler cannot be 'two-levl'; did you mean 'two-level'?"),
            std::string::npos);
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\ncore = [1]\n"),
            "x.toml:4:1: 'core' is a section of the machine; name one of its parameters: core.KEY = ...");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\nworkload = [\"vecadd\"]\n"),
            "x.toml:2:12: workload is an axis too; take it out of one of them");
  EXPECT_NE(exploration_refusal("config = \"baseline\"\nworkload = \"vecad\"\n").find("x.toml:2:12: "),
            std::string::npos);
  EXPECT_NE(exploration_refusal("config = \"baseline\"\nworkload = \"vecad\"\n").find("did you mean 'vecadd'?"),
            std::string::npos);
  EXPECT_NE(exploration_refusal("config = \"basline\"\nworkload = \"vecadd\"\n").find("x.toml:1:10: "),
            std::string::npos);
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\ncore.warp_size = { from = 32, to = 64 }\n"),
            "x.toml:4:18: the range of core.warp_size needs one of step, times and random");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\ncore.warp_size = { from = 64, to = 32, step = 1 }\n"),
            "x.toml:4:36: the range of core.warp_size ends below its beginning");
  EXPECT_NE(
      exploration_refusal(kHead + "[axes]\ncore.warp_size = { from = 1, to = 32, step = 0 }\n").find("must be above 0"),
      std::string::npos);
  EXPECT_NE(
      exploration_refusal(kHead + "[axes]\ncore.warp_size = { from = 0, to = 32, times = 2 }\n").find("x.toml:4:27: "),
      std::string::npos);
  EXPECT_EQ(exploration_refusal(kHead + "constraints = [\"core.warp_sise > 3\"]\n"),
            "x.toml:3:17: there is no parameter 'core.warp_sise'; did you mean 'core.warp_size'?");
  EXPECT_EQ(exploration_refusal(kHead + "constraints = [\"core.warp_size > 64\"]\n"),
            "x.toml: no point satisfies the constraints");
  EXPECT_EQ(exploration_refusal(kHead + "scale = \"1\"\n"), "x.toml:3:9: scale must be a number, not a string");
  EXPECT_EQ(exploration_refusal(kHead + "scale = 17\n"), "x.toml:3:9: scale must be between 1e-06 and 16, not 17");
  EXPECT_EQ(exploration_refusal(kHead + "address_bits = 48\n"), "x.toml:3:16: address_bits must be 32 or 64, not 48");
  EXPECT_EQ(exploration_refusal(kHead + "energy = \"dws-memry\"\n"),
            "x.toml:3:10: there is no energy table called 'dws-memry'; did you mean 'dws-memory'?");
  EXPECT_EQ(exploration_refusal(kHead + "energy = 3\n"), "x.toml:3:10: energy must be a string, not an integer");
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\nenergy = [\"dws-memory\", \"\"]\n"),
            "x.toml:4:25: the energy table's name is empty; name a table or its file");
  EXPECT_EQ(exploration_refusal(kHead + "[set]\nscale = 1\n"),
            "x.toml:4:9: 'scale' is no parameter of a machine; write it at the top of the file, outside [set]");
  EXPECT_EQ(exploration_refusal(kHead + "[limits]\nwall_secs = 1\n"),
            "x.toml:4:1: there is no key 'wall_secs' in [limits]; did you mean 'wall_seconds'?");
  EXPECT_NE(exploration_refusal(kHead + "[slurm]\noptions = [\"partition=x\"]\n").find("x.toml:4:12: "),
            std::string::npos);
  EXPECT_NE(exploration_refusal(kHead + "[axes\n").find("x.toml:3:"), std::string::npos);
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\nseed = { from = 1, to = 2000000, step = 1 }\n"),
            "x.toml:4:8: the range of seed has more than 100000 values");
  EXPECT_EQ(
      exploration_refusal(
          kHead + "[axes]\nseed = { from = 1, to = 2000, step = 1 }\nmax_cycles = { from = 1, to = 2000, step = 1 }\n"),
      "x.toml: 4000000 points are more than 1000000 runs; take a [sample]");
}

struct Seen {
  std::vector<std::string> points;  // "warp_size fetch_group seed"
  explicit Seen(const std::string& text) {
    const Exploration exploration = parse_exploration(text, "x.toml");
    const Plan plan(exploration, "build");
    for (std::size_t i = 0; i < plan.entries().size(); ++i) {
      const Point point = plan.point(i);
      EXPECT_EQ(point.key, plan.entries()[i].key);
      EXPECT_EQ(point.refusal.empty(), !plan.entries()[i].refused);
      points.push_back(std::to_string(point.order.machine.core.warp_size) + " " +
                       std::to_string(point.order.machine.core.policies.of<hw::TwoLevelParameters>().fetch_group) +
                       " " + std::to_string(point.order.seed));
    }
  }
};

TEST(SweepPlan, TheGridVariesItsLastAxisFastestAndThenRepeats) {
  EXPECT_EQ(Seen(kHead + "repetitions = 2\n[axes]\ncore.warp_size = [64, 32]\ntwo_level.fetch_group = [1, 2]\n").points,
            (std::vector<std::string>{"64 1 1", "64 1 2", "64 2 1", "64 2 2", "32 1 1", "32 1 2", "32 2 1", "32 2 2"}));
}

TEST(SweepPlan, RangesHaveBothEnds) {
  EXPECT_EQ(Seen(kHead + "[axes]\ncore.warp_size = { from = 32, to = 128, step = 32 }\n").points,
            (std::vector<std::string>{"32 8 1", "64 8 1", "96 8 1", "128 8 1"}));
  EXPECT_EQ(Seen(kHead + "[axes]\ncore.warp_size = { from = 32, to = 255, times = 2 }\n").points,
            (std::vector<std::string>{"32 8 1", "64 8 1", "128 8 1"}));
  const Exploration tenths =
      parse_exploration(kHead + "[axes]\nscale = { from = 0.1, to = 0.3, step = 0.1 }\n", "x.toml");
  EXPECT_EQ(tenths.axes[0].values.size(), 3U);
}

TEST(SweepPlan, WholeRangesAreExactHoweverLargeTheirNumbers) {
  const auto values = [](const std::string& range) {
    std::vector<std::int64_t> out;
    const Exploration read = parse_exploration(kHead + "[axes]\nmax_cycles = { " + range + " }\n", "x.toml");
    for (const ParameterValue& value : read.axes[0].values) {
      out.push_back(std::get<std::int64_t>(value));
    }
    return out;
  };
  EXPECT_EQ(values("from = 2000000000, to = 2000000003, step = 2"),
            (std::vector<std::int64_t>{2000000000, 2000000002}));
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;  // no double
  EXPECT_EQ(values("from = 9007199254740993, to = 9007199254740994, step = 1"),
            (std::vector<std::int64_t>{kOdd, kOdd + 1}));
  EXPECT_EQ(values("from = 9007199254740993, to = 9007199254740995, random = 3"),
            (std::vector<std::int64_t>{kOdd, kOdd + 1, kOdd + 2}));
  EXPECT_EQ(values("from = 3, to = 9223372036854775807, times = 4000000000000"),
            (std::vector<std::int64_t>{3, 12000000000000}));
  EXPECT_EQ(values("from = 0, to = 9223372036854775807, random = 5").size(), 5U);
  EXPECT_NE(exploration_refusal(kHead + "[axes]\nmax_cycles = { from = 1, to = \"9223372036854775808\", random = 2 }\n")
                .find("must be below 2^63"),
            std::string::npos);
}

TEST(SweepPlan, ListedPointsAndConstraintsOverWhatTheBaseSets) {
  EXPECT_EQ(
      Seen(kHead + "[[points]]\ncore.warp_size = 64\n[[points]]\n[axes]\ntwo_level.fetch_group = [1, 2]\n").points,
      (std::vector<std::string>{"64 1 1", "64 2 1", "32 1 1", "32 2 1"}));
  EXPECT_EQ(Seen("constraints = [\"core.warp_size * two_level.fetch_group <= 64\", \"core.simd_width == 32\"]\n" +
                 kHead + "[axes]\ncore.warp_size = [32, 64, 128]\ntwo_level.fetch_group = [1, 2, 4]\n")
                .points,
            (std::vector<std::string>{"32 1 1", "32 2 1", "64 1 1"}));
}

TEST(SweepPlan, ASampleIsDrawnBySeedWithinTheConstraints) {
  const auto sample = [](int seed, int points) {
    return Seen("constraints = [\"two_level.fetch_group % 2 == 0\"]\n" + kHead +
                "[axes]\ncore.warp_size = [32, 64, 128]\ntwo_level.fetch_group = { from = 1, to = 400, step = 1 }\n"
                "[sample]\npoints = " +
                std::to_string(points) + "\nseed = " + std::to_string(seed) + "\n")
        .points;
  };
  const auto one = sample(1, 40);
  EXPECT_EQ(one.size(), 40U);
  EXPECT_EQ(std::set<std::string>(one.begin(), one.end()).size(), 40U);
  EXPECT_EQ(one, sample(1, 40));
  EXPECT_NE(one, sample(2, 40));
  EXPECT_EQ(sample(1, 100000).size(), 600U);  // there are no more
  for (const std::string& point : one) {
    EXPECT_EQ(std::stoi(point.substr(point.find(' '))) % 2, 0) << point;
  }
}

TEST(SweepPlan, AGridTooLargeToLookAtIsSampled) {
  const std::string axes =
      "[axes]\nseed = { from = 1, to = 90000, step = 1 }\nmax_cycles = { from = 1, to = 90000, step = 1 }\n";
  const Exploration exploration =
      parse_exploration("constraints = [\"seed > max_cycles\"]\n" + kHead + axes + "[sample]\npoints = 50\n", "x.toml");
  const Plan plan(exploration, "build");
  ASSERT_EQ(plan.entries().size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_GT(plan.point(i).order.seed, plan.point(i).order.max_cycles);
  }
  EXPECT_NE(exploration_refusal("constraints = [\"seed == max_cycles\"]\n" + kHead + axes + "[sample]\npoints = 100\n")
                .find("satisfy the constraints"),
            std::string::npos);
}

TEST(SweepPlan, RandomValuesStayWithinTheirRange) {
  const Exploration exploration = parse_exploration(kHead +
                                                        "[axes]\nseed = { random = 20, from = 5, to = 100, seed = 3 }\n"
                                                        "scale = { random = 5, from = 0.5, to = 0.6 }\n",
                                                    "x.toml");
  ASSERT_EQ(exploration.axes[0].values.size(), 20U);
  for (const ParameterValue& value : exploration.axes[0].values) {
    EXPECT_GE(std::get<std::int64_t>(value), 5);
    EXPECT_LE(std::get<std::int64_t>(value), 100);
  }
  for (const ParameterValue& value : exploration.axes[1].values) {
    EXPECT_GE(std::get<double>(value), 0.5);
    EXPECT_LE(std::get<double>(value), 0.6);
  }
  EXPECT_NE(
      exploration_refusal(kHead + "[axes]\nseed = { random = 20, from = 1, to = 19 }\n").find("fewer than 20 values"),
      std::string::npos);
  EXPECT_EQ(exploration_refusal(kHead + "[axes]\nseed = { random = 19, from = 1, to = 19 }\n"), "");
  for (const char* to : {"0.5", "0.5000000000000002"}) {  // few fractions between the two, or one
    EXPECT_NE(exploration_refusal(kHead + "[axes]\nscale = { random = 9, from = 0.5, to = " + to + " }\n")
                  .find("fewer than 9 values"),
              std::string::npos);
  }
}

TEST(SweepPlan, AContradictoryMachineIsRefusedAndTheOthersStay) {
  const Exploration exploration = parse_exploration(kHead + "[axes]\ncore.warp_size = [32, 48]\n", "x.toml");
  const Plan plan(exploration, "build");
  EXPECT_FALSE(plan.entries()[0].refused);
  EXPECT_TRUE(plan.entries()[1].refused);
  EXPECT_NE(plan.point(1).refusal.find("core.warp_size (48) is no multiple of core.simd_width (32)"),
            std::string::npos);
  EXPECT_EQ(plan.point(1).order.machine.core.warp_size, 48U);
}

TEST(SweepPlan, KeysFollowWhatTheResultDependsOn) {
  const auto key = [](const std::string& text, const std::string& build) {
    const Exploration exploration = parse_exploration(text, "x.toml");
    return Plan(exploration, build).entries()[0].key;
  };
  const std::string usual = key(kHead, "build");
  EXPECT_EQ(key(kHead + "description = \"other words\"\n[limits]\nwall_seconds = 3\n", "build"), usual);
  EXPECT_EQ(key(kHead + "[set]\ncore.warp_size = 32\n", "build"), usual);  // what it is anyway
  std::set<std::string> keys = {usual, key(kHead, "other")};
  for (const char* change :
       {"scale = 0.5", "seed = 2", "max_cycles = 5", "address_bits = 64", "energy = \"dws-memory\"",
        "energy = \"dws-65nm\"", "energy = \"dws-65nm\"\npower_interval = 5", "energy = \"dws-65nm\"\ntemperature = 50",
        "energy = \"dws-65nm\"\ntemperature = 0", "[set]\ncore.warp_size = 64", "[set]\ndram.banks = 16"}) {
    keys.insert(key(kHead + change + "\n", "build"));
  }
  EXPECT_EQ(keys.size(), 13U);
  EXPECT_EQ(key(kHead + "power_interval = 5\n", "build"), usual);  // of nothing
}

TEST(SweepExploration, ATemperatureIsOfAnEnergyTable) {
  const std::string table = "energy = \"dws-65nm\"\n";
  const std::string asked = "constraints = [\"temperature < 60\"]\n";
  EXPECT_EQ(exploration_refusal(kHead + table + "temperature = 50\n" + asked), "");
  EXPECT_EQ(exploration_refusal(kHead + table + asked + "[axes]\ntemperature = [50, 85.5]\n"), "");
  EXPECT_EQ(exploration_refusal(kHead + "temperature = 50\n"),
            "x.toml:3:15: leakage goes by an energy table, and none is given; name one: energy = \"TABLE\"");
  EXPECT_EQ(exploration_refusal(kHead + table + asked),
            "x.toml:4:17: the constraint asks for a temperature, which not every point has; give one: temperature = "
            "CELSIUS");
  EXPECT_EQ(exploration_refusal(kHead + table + "temperature = 501\n"),
            "x.toml:4:15: temperature must be between -273.15 and 500, not 501");
}

// The table's text counts, not what it is called.
TEST(SweepPlan, AnEnergyTablesKeyFollowsItsText) {
  const test::Scratch scratch;
  const auto key = [&](const std::string& name, const std::string& table) {
    scratch.write(name + ".toml", table);
    const Exploration exploration =
        parse_exploration(kHead + "energy = \"" + name + ".toml\"\n", scratch.path("x.toml"));
    const Plan plan(exploration, "build");
    EXPECT_EQ(plan.point(0).energy, name + ".toml");
    EXPECT_EQ(plan.point(0).order.energy_text, table);
    return plan.entries()[0].key;
  };
  const std::string table = "[dram]\nsource = \"s\"\nreads = 1\n";
  const std::string usual = key("a", table);
  EXPECT_EQ(key("b", table), usual);
  EXPECT_NE(key("a", table + "writes = 1\n"), usual);
}

// A folder with l.toml, which reads in.bin and runs a kernel of 64-bit pointers.
struct KernelFolder : test::LaunchFolder {
  KernelFolder() {
    write("k.ptx", ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n");
    write("in.bin", "abcd");
    write("l.toml",
          "ptx = \"k.ptx\"\n[[buffer]]\nname = \"b\"\ntype = \"u32\"\nfile = \"in.bin\"\n"
          "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\n");
  }
};

TEST(SweepPlan, ALaunchFilesKeyFollowsItsFiles) {
  const KernelFolder folder;
  const auto digest = [&] { return read_launch_facts(folder.path("l.toml")).digest; };
  const std::string before = digest();
  EXPECT_EQ(digest(), before);
  folder.write("in.bin", "abce");
  const std::string data = digest();
  folder.write("k.ptx", folder.read("k.ptx") + "\n");
  EXPECT_EQ((std::set<std::string>{before, data, digest()}.size()), 3U);
}

// What no machine can run is told before the first run, with the innermost place.
TEST(SweepPlan, KernelsThatDoNotCompileAreTold) {
  const KernelFolder folder;
  const auto refusal = [&] {
    return folder.refusal([&] {
      const Exploration exploration =
          parse_exploration("config = \"baseline\"\nworkload = \"l.toml\"\n", folder.path("x.toml"));
      static_cast<void>(Plan(exploration, "build"));
    });
  };
  EXPECT_EQ(refusal(), "");
  folder.write("k.ptx", "\nno ptx\n");
  EXPECT_EQ(refusal().find("k.ptx:2:1: "), 0U) << refusal();
  folder.write("l.toml", "ptx = \"k.ptx\"\nbufer = 1\n");
  EXPECT_EQ(refusal().find("l.toml:2:1: there is no key 'bufer' in the launch file (the workload of x.toml:2:12); "),
            0U)
      << refusal();
}

TEST(SweepPlan, ALaunchFileSaysItsPointersItself) {
  const KernelFolder folder;
  const Exploration exploration =
      parse_exploration("config = \"baseline\"\n[axes]\nworkload = [\"vecadd\", \"l.toml\"]\n", folder.path("x.toml"));
  const Plan plan(exploration, "build");
  EXPECT_EQ(plan.point(0).order.address_bits, 32U);
  EXPECT_EQ(plan.point(1).order.address_bits, 64U);
}

TEST(SweepExploration, WhatALaunchFileSaysItselfIsRefusedBesideIt) {
  const KernelFolder folder;
  const auto refusal = [&](const std::string& text, double factor = 1) {
    return folder.refusal([&] {
      Exploration exploration = parse_exploration("config = \"baseline\"\n" + text, folder.path("x.toml"));
      if (factor != 1) {
        scale_all(exploration, factor);
      }
    });
  };
  const std::string launch = "workload = \"l.toml\"\n";
  const std::string rest =
      "; the LAUNCH.toml 'l.toml', which points here run, says this itself; leave it out, or make two explorations: "
      "one of workloads, one of launch files";
  EXPECT_EQ(refusal(launch + "max_cycles = 5\n"), "");
  EXPECT_EQ(refusal(launch + "scale = 1\n"), "x.toml:3:9: scale applies to workloads" + rest);
  EXPECT_EQ(refusal(launch + "seed = 1\n"), "x.toml:3:8: seed applies to workloads" + rest);
  EXPECT_EQ(refusal(launch + "address_bits = 64\n"), "x.toml:3:16: address_bits applies to workloads" + rest);
  EXPECT_EQ(refusal(launch + "repetitions = 3\n"), "x.toml:3:15: repetitions differ in the seed of a workload" + rest);
  EXPECT_EQ(refusal(launch + "[axes]\nseed = [1, 2]\n"), "x.toml:4:8: seed applies to workloads" + rest);
  EXPECT_EQ(refusal("scale = 0.5\n[axes]\nworkload = [\"vecadd\", \"l.toml\"]\n"),
            "x.toml:2:9: scale applies to workloads" + rest);
  // Each listed point for itself.
  EXPECT_EQ(refusal("[[points]]\nworkload = \"vecadd\"\nscale = 0.5\n[[points]]\nworkload = \"l.toml\"\n"), "");
  EXPECT_EQ(refusal("[[points]]\nworkload = \"l.toml\"\nscale = 0.5\n"),
            "x.toml:4:9: scale applies to workloads" + rest);
  EXPECT_EQ(refusal(launch + "scale = 0.5\n[[points]]\nworkload = \"vecadd\"\n"), "");  // no point runs it
  EXPECT_EQ(refusal(launch, 0.5),
            "--scale: applies to workloads; 'l.toml' says its size itself; leave it out, or make an exploration of the "
            "workloads alone");
}

TEST(SweepStore, ColumnsAreDistinctAndNamedAsTheStatistics) {
  std::set<std::string> names;
  for (const Column& column : run_columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
  }
  for (const char* name :
       {"ipc", "cycles", "idle_cycles", "fu_active_cycles", "core_warp_size", "dram_hint_threshold"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
  EXPECT_EQ(column_name("core.warp_size"), "core_warp_size");
}

}  // namespace
}  // namespace heddle::studies::sweep
