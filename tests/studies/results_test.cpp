// heddle results: golden CSV, queries that may only read, Pareto fronts, plots, on a database with made-up figures.
#include "studies/results/results.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "studies/sweep/store.hpp"
#include "tb/measure/summary.hpp"
#include "tests/support/marks.hpp"
#include "tests/support/program_runner.hpp"
#include "tests/support/sweep_database.hpp"

HEDDLE_SAMPLED("Explorations/Shipped.*")
HEDDLE_LONG_SANITIZED("Explorations/Shipped.*")

namespace heddle::studies::results {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test::heddle;
using test::Ran;
using test::Scratch;

// As stats.json has it, all figures 0 but the given ones.
std::string stats(std::uint64_t cycles, double ipc) {
  json::object summary;
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    summary[declaration.name] = 0;
  }
  summary["idle_cycles_by_cause"] = json::object{{"memory", 7}};
  summary["cycles"] = cycles;
  summary["ipc"] = ipc;
  return json::serialize(json::object{
      {"threads", 64}, {"summary", summary}, {"warp_sizes", json::object()}, {"modules", json::object{{"gpu", 1}}}});
}

// Warp sizes 32, 64 and 48 (refused) over two workloads; the last run of 128 faulted.
class Results : public ::testing::Test {
 protected:
  Results() {
    const sweep::Exploration exploration = sweep::parse_exploration(
        "description = \"made up\"\nconfig = \"baseline\"\n[axes]\nworkload = [\"vecadd\", \"nqueens\"]\n"
        "core.warp_size = [32, 64, 48, 128]\n",
        scratch.path("made.toml"));
    const sweep::Plan plan(exploration, "build");
    sweep::Store store(path);
    store.begin(exploration, plan);
    const std::uint64_t cycles[] = {1000, 500, 0, 100, 4000, 500, 0, 100};
    const double ipc[] = {2, 1.5, 0, 1, 8, 6, 0, 1};
    for (std::size_t i = 0; i < plan.entries().size(); ++i) {
      const sweep::Point point = plan.point(i);
      sweep::RunReport report;
      report.status = "done";
      if (!point.refusal.empty()) {
        report.status = "refused";
        report.message = "no, \"48\"";
      } else {
        report.stats = stats(cycles[i], ipc[i]);
        if (i == 7) {
          report.status = "fault";
          report.message = "line 1\nline 2";
        }
      }
      store.put(point, report);
    }
    store.end();
  }
  Ran results(std::vector<std::string> words) const {
    words.insert(words.begin(), {"results", path});
    return test::heddle(words);
  }
  const Scratch scratch;
  const std::string path = scratch.path("made.db");
};

TEST_F(Results, GoldenCsv) {
  const Ran ran = results(
      {"--csv", "-", "--columns", "point,workload,core.warp_size,status,message,cycles,ipc,idle_cycles_memory"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "point,workload,core_warp_size,status,message,cycles,ipc,idle_cycles_memory\n"
            "1,vecadd,32,done,,1000,2,7\n"
            "2,vecadd,64,done,,500,1.5,7\n"
            "3,vecadd,48,refused,\"no, \"\"48\"\"\",,,\n"
            "4,vecadd,128,done,,100,1,7\n"
            "5,nqueens,32,done,,4000,8,7\n"
            "6,nqueens,64,done,,500,6,7\n"
            "7,nqueens,48,refused,\"no, \"\"48\"\"\",,,\n"
            "8,nqueens,128,fault,\"line 1\nline 2\",100,1,7\n");
  // The whole row, and a file.
  EXPECT_EQ(results({"--csv", scratch.path("all.csv")}).out, "written: " + scratch.path("all.csv") + "\n");
  const std::string all = Scratch::read(scratch.path("all.csv"));
  EXPECT_EQ(all.substr(0, 40), "sweep,point,repetition,id,key,status,mes");
  EXPECT_NE(all.find(",modules,"), std::string::npos);
}

TEST_F(Results, StatisticsGoByNsightsNames) {
  const Ran ran = results({"--csv", "-", "--names", "nsight", "--where", "point = 2", "--columns",
                           "core.warp_size,cycles,smsp__inst_executed.sum,ipc,idle_cycles_memory"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "core_warp_size,sm__cycles_elapsed.max,smsp__inst_executed.sum,"
            "smsp__thread_inst_executed_pred_on.sum.per_cycle_elapsed,idle_cycles_memory\n64,500,0,1.5,7\n");
  const Ran table = results({"--names", "nsight"});
  EXPECT_NE(table.out.find("  sm__cycles_elapsed.max  smsp__inst_executed.sum  "), std::string::npos) << table.out;
  EXPECT_EQ(table.out.find("l1d_hit_rate"), std::string::npos) << table.out;
  EXPECT_EQ(results({"--names", "ncu"}).err, "heddle: --names: there are no names 'ncu'; known: own, nsight\n");
  EXPECT_EQ(results({"--names", "nsight", "--sql", "SELECT 1"}).err,
            "heddle: --names: contradicts --sql; it names the columns of tables\n");
}

TEST_F(Results, TheSummaryShowsAxesStatesAndFigures) {
  const Ran ran = results({});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out.find("made: made up\n8 of 8 runs: 5 done, 1 fault, 2 refused; complete since "), 0U) << ran.out;
  EXPECT_NE(ran.out.find("\nworkload  core_warp_size  status "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("line 1 line 2"), std::string::npos) << ran.out;
  const Ran where = results({"--where", "workload = 'nqueens' AND cycles < 4000", "--columns", "cycles"});
  EXPECT_NE(where.out.find("nqueens "), std::string::npos);
  EXPECT_EQ(where.out.find("vecadd "), std::string::npos) << where.out;
}

TEST_F(Results, QueriesOnlyRead) {
  EXPECT_EQ(results({"--sql", "SELECT count(*) AS n, max(ipc) AS best FROM results WHERE status = 'done'"}).out,
            "n  best\n-  ----\n5     8\n");
  EXPECT_EQ(results({"--sql", "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 3) SELECT i FROM n",
                     "--csv", "-"})
                .out,
            "i\n1\n2\n3\n");
  const auto before = test::contents(path);
  for (const char* statement :
       {"DELETE FROM runs", "UPDATE runs SET ipc = 9", "INSERT INTO axes VALUES (9, 9, 'a', 'b')", "DROP TABLE runs",
        "CREATE TABLE t (x)", "ATTACH '/nowhere/x.db' AS y", "PRAGMA user_version = 7", "VACUUM INTO 'copy.db'",
        "WITH n AS (SELECT 1) DELETE FROM runs", "BEGIN", "REINDEX", "ALTER TABLE runs ADD COLUMN x",
        "SELECT 1; DELETE FROM runs", "SELECT load_extension('x')", "DETACH main", ""}) {
    const Ran ran = results({"--sql", statement});
    EXPECT_EQ(ran.code, 2) << statement << ran.out;
    EXPECT_EQ(ran.err.find("heddle: --sql: "), 0U) << ran.err;
  }
  EXPECT_EQ(results({"--sql", "DELETE FROM runs"}).err,
            "heddle: --sql: this statement does more than read; queries only read\n");
  for (const char* condition : {"1) OR (1", "1); DELETE FROM runs; --", "1 ORDER BY (SELECT 1", "ipcc > 1", "1 --"}) {
    const Ran ran = results({"--where", condition});
    EXPECT_EQ(ran.code, std::string(condition) == "1 --" ? 0 : 2) << condition << ran.out;
  }
  EXPECT_EQ(test::contents(path), before);
  EXPECT_FALSE(fs::exists("copy.db"));
  EXPECT_NE(results({"--sql", "SELECT \"ipcc\" FROM runs"}).err.find("no such column: ipcc"), std::string::npos);
}

TEST(ParetoFront, KeepsWhatNothingBeats) {
  const std::vector<Goal> goals = {{"ipc", true}, {"cycles", false}};
  using Points = std::vector<std::vector<double>>;
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(pareto_indices(Points{{1, 1}, {2, 2}, {1, 2}, {3, 3}, {2, 4}}, goals), (Indices{3, 1, 0}));
  EXPECT_EQ(pareto_indices(Points{{1, 1}, {1, 1}}, goals), (Indices{0, 1}));  // equals do not beat each other
  EXPECT_EQ(pareto_indices(Points{{1, 1}, {1, 2}, {2, 1}}, goals), (Indices{2}));
  EXPECT_EQ(pareto_indices(Points{{1, 5}, {9, 7}, {3, 6}}, {{"ipc", true}}), (Indices{1}));
  const std::vector<Goal> three = {{"a", true}, {"b", true}, {"c", true}};
  EXPECT_EQ(pareto_indices(Points{{3, 1, 1}, {2, 2, 1}, {2, 1, 2}, {2, 1, 1}}, three), (Indices{0, 1, 2}));
}

TEST_F(Results, ParetoFrontsCompareDesignsOverAllWorkloads) {
  // 32: ipc sqrt(2 * 8) = 4, cycles 2000; 64: 3, 500. 128 lacks a workload and does not count.
  EXPECT_EQ(results({"--pareto", "ipc:max,cycles:min", "--csv", "-"}).out,
            "core_warp_size,ipc,cycles,runs\n32,4,2000,2\n64,3,500,2\n");
  EXPECT_EQ(results({"--pareto", "cycles:min", "--csv", "-"}).out, "core_warp_size,cycles,runs\n64,500,2\n");
  EXPECT_EQ(results({"--pareto", "cycles:min,ipc:max", "--where", "workload = 'vecadd'", "--csv", "-"}).out,
            "core_warp_size,cycles,ipc,runs\n128,100,1,1\n64,500,1.5,1\n32,1000,2,1\n");
  EXPECT_EQ(results({"--pareto", "ipc"}).err,
            "heddle: --pareto: 'ipc' says neither :min nor :max; write STAT:min or STAT:max, separated by commas\n");
  EXPECT_EQ(results({"--pareto", "ipx:max"}).err,
            "heddle: --pareto: there is no statistic or parameter 'ipx'; did you mean 'ipc'?\n");
  EXPECT_EQ(results({"--pareto", "config:max"}).err, "heddle: --pareto: 'config' is no number\n");
  EXPECT_EQ(results({"--pareto", "ipc:max,ipc:min"}).err, "heddle: --pareto: 'ipc' is there twice\n");
  EXPECT_NE(results({"--pareto", "ipc:max", "--where", "0"}).err.find("no design has done"), std::string::npos);
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

// Where the text of a label on the axis stands.
double place_of(const std::string& svg, const std::string& label) {
  const std::size_t end = svg.find(">" + label + "</text>");
  const std::size_t begin = end == std::string::npos ? end : svg.rfind(" x=\"", end);
  return begin == std::string::npos ? -1 : std::stod(svg.substr(begin + 4));
}

TEST_F(Results, NumbersStandAtTheirPlaces) {
  const std::string file = scratch.path("p.svg");
  const auto plot = [&](const std::string& x) {
    EXPECT_EQ(results({"--plot", "ipc", "--x", x, "--where", "workload = 'vecadd'", "--svg", file}).code, 0);
    return Scratch::read(file);
  };
  // 100, 500, 1000: spaced more evenly as they are than by their logarithms.
  const std::string linear = plot("cycles");
  EXPECT_NEAR(
      (place_of(linear, "500") - place_of(linear, "100")) / (place_of(linear, "1000") - place_of(linear, "100")),
      400.0 / 900, 0.002);
  EXPECT_EQ(linear.find("logarithmic"), std::string::npos);
  // 32, 64, 128: by their logarithms.
  const std::string geometric = plot("core.warp_size");
  EXPECT_NEAR(place_of(geometric, "64") - place_of(geometric, "32"),
              place_of(geometric, "128") - place_of(geometric, "64"), 0.2);
  EXPECT_NE(geometric.find(">core.warp_size (threads), logarithmic</text>"), std::string::npos);
}

TEST_F(Results, PlotsStandAlone) {
  const std::string file = scratch.path("p.svg");
  ASSERT_EQ(results({"--plot", "ipc", "--x", "core.warp_size", "--by", "workload", "--svg", file}).code, 0);
  const std::string lines = Scratch::read(file);
  EXPECT_EQ(count(lines, "<circle"), 2U + 1U);   // nqueens, without the faulted run, and in the legend
  EXPECT_EQ(count(lines, "<polygon"), 3U + 1U);  // vecadd
  EXPECT_NE(lines.find(">core.warp_size (threads), logarithmic</text>"), std::string::npos);
  EXPECT_NE(lines.find(">IPC (thread instructions per cycle)</text>"), std::string::npos);
  for (const char* other : {"class=", "style", "script", "var(", "href"}) {
    EXPECT_EQ(lines.find(other), std::string::npos) << other;
  }
  ASSERT_EQ(results({"--plot", "ipc", "--x", "workload", "--svg", file}).code, 0);
  EXPECT_EQ(count(Scratch::read(file), "<rect"), 1U + 2U);  // page and bars
  ASSERT_EQ(results({"--plot", "cycles", "--x", "core.warp_size", "--y", "workload", "--svg", file}).code, 0);
  const std::string map = Scratch::read(file);
  EXPECT_NE(map.find(">4,000</text>"), std::string::npos) << map;
  EXPECT_NE(map.find(">cycles</text>"), std::string::npos);
  ASSERT_EQ(results({"--plot", "ipc", "--x", "workload", "--png", scratch.path("p.png"), "--width", "300"}).code, 0);
  EXPECT_EQ(Scratch::read(scratch.path("p.png")).substr(1, 3), "PNG");
  test::RunSetup bare;
  bare.environment = {"PATH=/nowhere"};
  EXPECT_EQ(
      test::heddle({"results", path, "--plot", "ipc", "--png", scratch.path("q.png")}, bare).err,
      "heddle: " + scratch.path("q.png") +
          ": a PNG picture is made by rsvg-convert, which is not installed; install Debian's package librsvg2-bin, "
          "or write an SVG picture with --svg\n");
  EXPECT_EQ(results({"--plot", "ipc"}).err, "heddle: --plot: needs a file; add --svg FILE or --png FILE\n");
  EXPECT_EQ(results({"--plot", "ipc", "--x", "core.warp_sise", "--svg", file}).err,
            "heddle: --x: there is no statistic or parameter 'core.warp_sise'; did you mean 'core_warp_size'?\n");
  EXPECT_EQ(results({"--plot", "ipc", "--by", "workload", "--y", "workload", "--svg", file}).err,
            "heddle: --y: contradicts --by; --by draws a line for each value, --y a map over two axes\n");
  EXPECT_EQ(results({"--svg", file}).err, "heddle: --svg: belongs to --plot\n");
  EXPECT_EQ(results({"--sql", "SELECT 1", "--html", file}).err,
            "heddle: --html: contradicts --sql; give one of them\n");
}

TEST_F(Results, ThePageHoldsEveryRow) {
  ASSERT_EQ(results({"--html", scratch.path("p.html")}).code, 0);
  const std::string page = Scratch::read(scratch.path("p.html"));
  const std::string mark = "id=\"data\">";
  const std::size_t begin = page.find(mark) + mark.size();
  const json::object data = json::parse(page.substr(begin, page.find("</script>", begin) - begin)).as_object();
  EXPECT_EQ(data.at("rows").as_array().size(), 8U);
  EXPECT_EQ(data.at("axes").as_array().size(), 2U);
  EXPECT_EQ(data.at("columns").as_array().size(), data.at("rows").as_array()[0].as_array().size());
  EXPECT_EQ(page.find("<script src"), std::string::npos);
}

TEST_F(Results, OtherSweepsAndOtherFiles) {
  EXPECT_EQ(results({"--sweep", "made", "--columns", "ipc"}).code, 0);
  EXPECT_EQ(results({"--sweep", "1", "--columns", "ipc"}).code, 0);
  EXPECT_EQ(results({"--sweep", "mode"}).err, "heddle: " + path + ": holds no sweep 'mode'; did you mean 'made'?\n");
  EXPECT_EQ(test::heddle({"results", "/nowhere.db"}).err,
            "heddle: /nowhere.db: the database cannot be read: No such file or directory\n");
  const std::string text = scratch.write("t.db", std::string(3000, 'x'));
  EXPECT_NE(test::heddle({"results", text}).err.find("this is no database"), std::string::npos);
  {
    Database foreign(scratch.path("f.db"), Database::Mode::write);
    foreign.run("CREATE TABLE runs (id INTEGER)");
  }
  EXPECT_EQ(test::heddle({"results", scratch.path("f.db")}).err,
            "heddle: " + scratch.path("f.db") + ": is no database of explorations; heddle sweep writes one\n");
  {
    Database later(path, Database::Mode::write);
    later.run("PRAGMA user_version = 2");
  }
  EXPECT_EQ(results({}).err, "heddle: " + path + ": is of schema 2; this program reads schema 1\n");
}

// The explorations that come with Heddle, a few points of each, small.
struct ShippedShape {
  const char* name;
  std::size_t workloads;
  std::size_t points;
  const char* x;
};
class Shipped : public ::testing::TestWithParam<ShippedShape> {};

TEST_P(Shipped, RunsAndPlots) {
  const Scratch scratch;
  const std::string name = GetParam().name;
  const std::string source = std::string(HEDDLE_SOURCE_DIR) + "/explorations/" + name + ".toml";
  const sweep::Exploration whole = sweep::read_exploration(source);
  const sweep::Plan plan(whole, "build");
  for (const sweep::Plan::Entry& entry : plan.entries()) {
    ASSERT_FALSE(entry.refused) << entry.number;
  }
  const ShippedShape& shape = GetParam();
  EXPECT_EQ(plan.workloads().size(), shape.workloads);
  EXPECT_EQ(plan.entries().size(), shape.points);
  const std::string file = scratch.write(name + ".toml", Scratch::read(source) + "\n[sample]\npoints = 24\nseed = 5\n");
  const std::string database = scratch.path("x.db");
  const Ran ran = test::heddle({"sweep", file, "-d", database, "--scale", "0.02"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("\n24 done\n"), std::string::npos) << ran.out;
  EXPECT_EQ(test::column(database, "SELECT count(DISTINCT cycles) > 10 FROM results"), std::vector<std::string>{"1"});
  EXPECT_EQ(
      test::heddle({"results", database, "--plot", "ipc", "--x", GetParam().x, "--svg", scratch.path("p.svg")}).code,
      0);
}

INSTANTIATE_TEST_SUITE_P(Explorations, Shipped,
                         ::testing::Values(ShippedShape{"warp-scheduling", 12, 12 * 21, "core.warp_size"},
                                           ShippedShape{"warp-size", 4, 4 * 3 * 12, "core.warp_size"},
                                           ShippedShape{"dram-hints", 2, 108, "dram.hint_threshold"}));

TEST(ShippedExplorations, AreAllTested) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(HEDDLE_SOURCE_DIR "/explorations")) {
    files += entry.path().extension() == ".toml" ? 1 : 0;
  }
  EXPECT_EQ(files, 3U);
}

}  // namespace
}  // namespace heddle::studies::results
