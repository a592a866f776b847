// Design reviews: what the document holds, what is run and what is not, refusals; the readers of logs and dumps.
#include "studies/review/review.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <set>

#include "base/error.hpp"
#include "studies/review/kanata_log.hpp"
#include "studies/review/vcd_values.hpp"
#include "studies/review/work.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::studies {
namespace {

namespace json = boost::json;
using test::Scratch;

std::set<std::string> keys_of(const json::object& object) {
  std::set<std::string> keys;
  for (const auto& one : object) {
    keys.emplace(one.key());
  }
  return keys;
}

// One review with all sections: what differs, cycles that causes explain to the last, the window in which the machines
// part; then once more, without a run, and with some sections only.
TEST(Review, HoldsWhatTheMachinesDifferIn) {
  const Scratch scratch;
  const std::vector<std::string> words = {"review",
                                          "baseline",
                                          "lwm",
                                          "--workloads",
                                          "nqueens,vecadd",
                                          "--scale",
                                          "0.0005",
                                          "--seeds",
                                          "2",
                                          "--folder",
                                          scratch.path("r"),
                                          "--json",
                                          scratch.path("r.json"),
                                          "--parameters",
                                          "l1d.bytes"};
  const test::Ran ran = test::heddle(words);
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string text = Scratch::read(scratch.path("r.json"));
  const json::object data = json::parse(text).as_object();
  std::set<std::string> keys = {"kind",         "heddle",     "command",     "scale",       "sections",    "seeds",
                                "declarations", "placements", "machines",    "workloads",   "results",     "worst",
                                "failures",     "causes",     "differences", "storage",     "diagrams",    "closely",
                                "sensitivity",  "readings",   "notes",       "other_input", "launch_files"};
  EXPECT_EQ(keys_of(data), keys);
  // The two parameters of large warps, with what their values mean.
  ASSERT_EQ(data.at("differences").as_array().size(), 2U);
  const json::value& former = data.at("differences").at(1);
  EXPECT_EQ(former.at("key"), "core.former");
  EXPECT_EQ(former.at("values"), (json::array{"rows", "packed"}));
  EXPECT_EQ(former.at("about").at(1), "one thread per column and cycle, lowest row first (large warps)");
  // Beside it what the machines' files say of the two formers, after their papers.
  EXPECT_EQ(former.at("said"), (json::array{"section 2: a warp's threads stay in their lanes, no packing",
                                            "3.1.1: sub-warp logic over the two-dimensional active mask"}));
  EXPECT_EQ(data.at("storage").at(1).at("counted_bits"), 768);
  // Two machines, two workloads, two seeds; energies with their peaks.
  ASSERT_EQ(data.at("results").as_array().size(), 8U);
  double cycles[2] = {0, 0};
  for (const json::value& row : data.at("results").as_array()) {
    EXPECT_EQ(row.at("verdict"), "correct");
    EXPECT_GE(row.at("energy").at("peak_mw").to_number<double>(), row.at("energy").at("mean_mw").to_number<double>());
    EXPECT_LE(row.at("bank_use").to_number<double>(), 1);
    if (row.at("workload") == "nqueens" && row.at("seed") == 1) {
      cycles[row.at("machine").to_number<std::size_t>()] = row.at("cycles").to_number<double>();
    }
  }
  const json::value& why = data.at("causes").at(0).at("explanations").at(0);
  EXPECT_EQ(data.at("causes").at(0).at("workload"), "nqueens");
  double sum = 0;
  for (const json::value& cause : why.at("causes").as_array()) {
    sum += cause.at("cycles").to_number<double>();
  }
  EXPECT_NEAR(sum, cycles[1] - cycles[0], 0.5);
  // The pipelines are the same before the cycle in which they part, and are shown around it.
  const json::value& closely = data.at("closely");
  const auto from = closely.at("from").to_number<std::uint64_t>();
  const auto part = closely.at("cycle").to_number<std::uint64_t>();
  EXPECT_EQ(closely.at("workload"), data.at("worst").at("workload"));
  EXPECT_LE(from, part);
  EXPECT_GT(closely.at("to").to_number<std::uint64_t>(), part);
  EXPECT_NE(closely.at("pipelines").at(0), closely.at("pipelines").at(1));
  bool fetches = false;
  for (const json::value& signal : closely.at("signals").as_array()) {
    fetches = fetches || signal.at("name") == "gpu.core0.fetch.valid";
    ASSERT_EQ(signal.at("changes").as_array().size(), 2U);
  }
  EXPECT_TRUE(fetches);
  // Without another value, the runs of the review itself.
  const json::value& swept = data.at("sensitivity").at("swept").at(0);
  EXPECT_EQ(swept.at("key"), "l1d.bytes");
  EXPECT_EQ(swept.at("points").as_array().size(), 5U);
  EXPECT_EQ(swept.at("points").at(2).at("base"), data.at("sensitivity").at("base"));
  std::set<std::string> readings;
  for (const json::value& one : data.at("readings").as_array()) {
    readings.emplace(one.at("key").as_string());
  }
  EXPECT_EQ(readings, (std::set<std::string>{"dram.scheduler", "dram.row_bytes", "core.complex_queue"}));
  const std::string page = Scratch::read(scratch.path("r/review.html"));
  EXPECT_NE(page.find("<title>Heddle review: baseline / lwm</title>"), std::string::npos);
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org"));

  const test::Ran again = test::heddle(words);
  EXPECT_NE(again.out.find("0 runs now, "), std::string::npos) << again.out;
  EXPECT_EQ(Scratch::read(scratch.path("r.json")), text);
  EXPECT_EQ(Scratch::read(scratch.path("r/review.html")), page);

  std::vector<std::string> some = words;
  some.insert(some.end(), {"--only", "causes,use"});
  const test::Ran part_of = test::heddle(some);
  EXPECT_NE(part_of.out.find("0 runs now, 8 kept"), std::string::npos) << part_of.out << "those with energies do";
  const json::object less = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
  EXPECT_EQ(less.at("sections"), (json::array{"use", "causes"}));
  for (const char* const left_out : {"differences", "diagrams", "storage", "closely", "sensitivity", "readings"}) {
    EXPECT_FALSE(less.contains(left_out)) << left_out;
  }
}

// Ranges over places of the buffers: each seed with each of them; one run stands for all where one is looked at.
TEST(Review, RangesOverPlacementsOfBuffers) {
  const Scratch scratch;
  const test::Ran ran =
      test::heddle({"review", "baseline", "lwm", "--workloads", "vecadd", "--scale", "0.0005", "--seeds", "1",
                    "--placements", "2", "--only", "use,causes", "--folder", scratch.path("r"), "--set",
                    "allocation.gap=512", "--json", scratch.path("r.json")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("4 runs now, 0 kept"), std::string::npos) << ran.out;
  const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
  EXPECT_EQ(data.at("placements"), 2);
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  for (const json::value& row : data.at("results").as_array()) {
    seen.emplace_back(row.at("machine").to_number<std::int64_t>(), row.at("placement").to_number<std::int64_t>());
  }
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {0, 2}, {1, 1}, {1, 2}}));
  const json::value& why = data.at("causes").at(0).at("explanations").at(0);
  EXPECT_EQ(why.at("from"), data.at("results").at(0).at("cycles"));
  EXPECT_EQ(why.at("to"), data.at("results").at(2).at("cycles"));
  EXPECT_NE(Scratch::read(scratch.path("r/review.html")).find("--placements 2"), std::string::npos);
}

// Where no table is named: the one that the base machine's file, or one that it extends, says.
TEST(Review, PricesByTheBaseMachinesTable) {
  const Scratch scratch;
  scratch.write("own.toml", "extends = \"baseline\"\nenergy = \"dws-memory\"\n");
  scratch.write("mine.toml", "extends = \"own.toml\"\n[core]\nblocks = 4\n");
  const auto table = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "review");
    words.insert(words.end(), {"--workloads", "vecadd", "--scale", "0.0005", "--seeds", "1", "--only", "energy",
                               "--folder", scratch.path("r"), "--json", scratch.path("r.json")});
    const Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
    return std::string(data.at("results").at(0).at("energy").at("table").as_string());
  };
  EXPECT_EQ(table({scratch.path("mine.toml"), "lwm"}), "dws-memory");
  EXPECT_EQ(table({"lwm", scratch.path("mine.toml")}), "dws-65nm");
  EXPECT_EQ(table({scratch.path("mine.toml"), "lwm", "--energy", "dws-65nm"}), "dws-65nm");
  const auto pj = [&] {
    const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
    return data.at("results").at(0).at("energy").at("pj").to_number<double>();
  };
  const double usual = pj();  // at 86.85 degrees
  EXPECT_EQ(table({scratch.path("mine.toml"), "lwm", "--energy", "dws-65nm", "--temperature", "40"}), "dws-65nm");
  EXPECT_LT(pj(), 0.9 * usual);
}

// Machines of other clocks, with sub-cores, and with values of their own of what is swept: speed-ups are in time, both
// are looked at closely, and each point of a sweep is a run with that value, whatever --set says.
TEST(Review, SetsAGpuBesideAMachineOfThePapers) {
  const Scratch scratch;
  const test::Ran ran = test::heddle({"review", "baseline", "h100-8sm", "--workloads", "matrixmult", "--scale", "0.002",
                                      "--seeds", "1", "--only", "use,closely,sensitivity", "--folder",
                                      scratch.path("r"), "--json", scratch.path("r.json"), "--parameters",
                                      "core.threads,l1d.hit_latency", "--set", "l1d.hit_latency=20"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
  const auto cycles = [&](std::size_t machine) {
    return data.at("results").at(machine).at("cycles").to_number<double>();
  };
  EXPECT_NE(ran.out.find(fmt::format("{:.3f}", cycles(0) / (cycles(1) / 1.755))), std::string::npos) << ran.out;
  const json::value& closely = data.at("closely");
  for (const json::value& pipeline : closely.at("pipelines").as_array()) {
    EXPECT_GE(pipeline.as_array().size(), 2U);
  }
  bool fetches = false;
  for (const json::value& signal : closely.at("signals").as_array()) {
    if (signal.at("name") == "gpu.core0.fetch.valid") {
      fetches = true;
      for (const json::value& changes : signal.at("changes").as_array()) {
        ASSERT_TRUE(changes.is_array());
        const auto last = changes.as_array().back().at(0).to_number<std::uint64_t>();
        EXPECT_GE(last, closely.at("from").to_number<std::uint64_t>());
        EXPECT_LE(last, closely.at("to").to_number<std::uint64_t>());
      }
    }
  }
  EXPECT_TRUE(fetches);
  const json::array& swept = data.at("sensitivity").at("swept").as_array();
  ASSERT_EQ(swept.size(), 2U);
  EXPECT_GE(swept.at(1).at("points").as_array().size(), 3U) << "l1d.hit_latency, which --set names too";
  bool looked = false;
  for (const json::value& point : swept.at(0).at("points").as_array()) {
    const std::string value(point.at("value").as_string());
    EXPECT_EQ(point.at("own"), "2048");
    if (value == "1024") {  // the base's, which the design has not
      looked = true;
      const test::Ran alone =
          test::heddle({"run", "h100-8sm", "matrixmult", "--scale", "0.002", "--set", "l1d.hit_latency=20", "--set",
                        "core.threads=" + value, "--quiet", "--out", scratch.path("alone")});
      ASSERT_EQ(alone.code, 0) << alone.err;
      const json::value stats = json::parse(Scratch::read(scratch.path("alone/stats.json")));
      EXPECT_EQ(point.at("design").to_number<double>(), stats.at("summary").at("cycles").to_number<double>());
    }
  }
  EXPECT_TRUE(looked);
}

TEST(Review, KnowsAnotherInputByTheVerdictsWords) {
  const ReviewWork one{"64 counts per thread equal the host's; 1 total for 9 queens equals the host's", 1000};
  EXPECT_TRUE(one.same_input({one.detail, 9000})) << "compiled otherwise";
  EXPECT_TRUE(one.same_input({"32 counts per thread equal the host's; 1 total for 9 queens equals the host's", 2000}));
  EXPECT_FALSE(one.same_input({"64 counts per thread equal the host's; 1 total for 8 queens equals the host's", 1000}));
  EXPECT_TRUE(one.same_input({})) << "it has not run";
}

// What is drawn in orange: the modules of a section, whatever they are numbered, the stage that a parameter of the core
// is of, and nothing for what has no effect, which is said.
TEST(Review, MarksWhatParametersShape) {
  const Scratch scratch;
  const auto marked = [&](const std::string& changes) {
    const std::string design = scratch.write("design.toml", "extends = \"h100-8sm\"\n" + changes);
    const test::Ran ran = test::heddle({"review", "h100-8sm", design, "--workloads", "vecadd", "--scale", "0.0005",
                                        "--seeds", "1", "--only", "differences,diagrams", "--folder", scratch.path("r"),
                                        "--json", scratch.path("r.json")});
    EXPECT_EQ(ran.code, 0) << ran.err;
    const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
    std::string names;
    for (const json::value& one : data.at("diagrams").at(1).at("marked").as_array()) {
      EXPECT_EQ(one.at("why"), "other parameters");
      const std::string module(one.at("module").as_string());
      names += (names.empty() ? "" : " ") + module;
    }
    for (const json::value& note : data.at("notes").as_array()) {
      names += std::string(" | ") + note.as_string().c_str();
    }
    return names + (data.at("differences").at(0).at("in_vain").as_bool() ? " | in vain" : "");
  };
  EXPECT_EQ(marked("[l2]\nhit_latency = 90\n"), "gpu.l2_0");
  EXPECT_EQ(marked("[core]\ncomplex_latency = 30\n"), "gpu.core0.sub0.execute");
  EXPECT_EQ(marked("[constant_cache]\nmshrs = 9\n"), "gpu.core0.constant_cache");
  EXPECT_EQ(marked("[dram]\nbandwidth_gbs = 100\n"),
            " | design: dram.bandwidth_gbs = 100.0 has no effect while dram.timing is jedec | in vain");
}

// A design of another clock: causes are of cycles, speed-ups in time, and the document says both.
TEST(Review, ExplainsCyclesAndSpeedUpsInTime) {
  const Scratch scratch;
  const std::string slow = scratch.write("slow.toml", "extends = \"baseline\"\n[gpu]\nclock_ghz = 0.5\n");
  const test::Ran ran =
      test::heddle({"review", "baseline", slow, "--workloads", "bfs", "--scale", "0.0005", "--seeds", "1", "--only",
                    "causes", "--folder", scratch.path("r"), "--json", scratch.path("r.json")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
  const json::value& why = data.at("causes").at(0).at("explanations").at(0);
  EXPECT_LT(why.at("to").to_number<double>(), why.at("from").to_number<double>());
  EXPECT_LT(why.at("speed_up").to_number<double>(), 1);
  EXPECT_DOUBLE_EQ(why.at("speed_up").to_number<double>(), data.at("worst").at("speed_up").to_number<double>());
  EXPECT_EQ(why.at("clocks_ghz"), (json::array{1.0, 0.5}));
}

// A workload whose input follows a parameter is not sensitive to it.
TEST(Review, LeavesOutWhatChangesTheWork) {
  const Scratch scratch;
  const test::Ran ran = test::heddle({"review", "baseline", "lwm", "--workloads", "blackjack", "--scale", "0.0005",
                                      "--seeds", "1", "--only", "sensitivity", "--folder", scratch.path("r"), "--json",
                                      scratch.path("r.json"), "--parameters", "core.threads"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.err;
  const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
  EXPECT_EQ(data.at("sensitivity").at("swept").at(0).at("points").as_array().size(), 1U) << "its own";
  EXPECT_EQ(data.at("notes"), (json::array{"blackjack has another input with another core.threads: that is no "
                                           "sensitivity, and left out"}));
  EXPECT_NE(ran.out.find("note: blackjack has another input"), std::string::npos) << ran.out;
}

TEST(Review, RefusesWhatItCannotReview) {
  const Scratch scratch;
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"review", "baseline", "lwm", "--folder", scratch.path("r")};
    words.insert(words.end(), more.begin(), more.end());
    const test::Ran ran = test::heddle(words);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_EQ(ran.out, "");
    return ran.err;
  };
  EXPECT_EQ(refused({}),
            "heddle: --workloads: is missing: a review is of some workloads; name them: --workloads bfs,nqueens "
            "(heddle list workloads)\n");
  EXPECT_EQ(refused({"--workloads", "bfss"}).find("heddle: there is no workload 'bfss'; did you mean 'bfs'? (known: "),
            0U);
  EXPECT_EQ(refused({"--workloads", "bfs,bfs"}), "heddle: --workloads: bfs is named twice\n");
  EXPECT_EQ(refused({"--workloads", "k.toml"}).find("heddle: k.toml: the launch file cannot be read: "), 0U);
  EXPECT_EQ(refused({"--workloads", "r.trace"}),
            "heddle: --workloads: 'r.trace' is a recorded trace: a review runs workloads and launch files; heddle "
            "compare sets replays beside each other\n");
  EXPECT_EQ(refused({"--workloads", "bfs", "--without", "storge"}),
            "heddle: --without: a review has no section 'storge'; did you mean 'storage'?\n");
  EXPECT_EQ(refused({"--workloads", "bfs", "--without", "storage", "--only", "use"}),
            "heddle: --without: says what to leave out, and --only what to leave in; give one of them\n");
  EXPECT_EQ(refused({"--workloads", "bfs", "--parameters", "l1d.byte"}),
            "heddle: --parameters: there is no parameter 'l1d.byte'; did you mean 'l1d.bytes'?\n");
  EXPECT_EQ(refused({"--workloads", "bfs", "--parameters", "core.former"}),
            "heddle: --parameters: core.former is no number, which could be halved and doubled\n");
  EXPECT_EQ(refused({"--workloads", "bfs", "--energy", "dws-memory", "--temperature", "40"})
                .find("heddle: --temperature: the energy table dws-memory does not say how leakage goes"),
            0U);
  EXPECT_EQ(refused({"--workloads", "bfs", "--seeds", "0"}), "heddle: --seeds: '0' is no whole number from 1 to 100\n");
  EXPECT_EQ(refused({"--workloads", "bfs", "--out", scratch.path("r.txt")}),
            "heddle: --out: writes a page, and '" + scratch.path("r.txt") +
                "' does not end in .html or .htm; name the file so\n");
  const std::string table = scratch.write("table.json", "[dram]\nsource = \"s\"\nreads = 1\n");
  EXPECT_EQ(refused({"--workloads", "bfs", "--energy", table, "--json", table}),
            "heddle: --json: '" + table + "' is the energy table that this command reads; name another file\n");
  EXPECT_EQ(Scratch::read(table), "[dram]\nsource = \"s\"\nreads = 1\n");
}

// A kernel by its launch file beside a workload: it has one input, run anew when the kernel changes, and not for
// another scale or other seeds.
TEST(Review, TakesLaunchFiles) {
  const Scratch scratch;
  const auto write_kernel = [&](const char* operation) {
    static_cast<void>(scratch.write("k.ptx", fmt::format(".version 7.0\n.target sm_60\n.address_size 32\n"
                                                         ".visible .entry k(.param .u32 b) {{\n.reg .b32 %r<3>;\n"
                                                         "ld.param.u32 %r1, [b];\n{}.u32 %r2, %r1, %r1;\n"
                                                         "st.global.u32 [%r1], %r2;\nret;\n}}\n",
                                                         operation)));
  };
  const std::string launch = scratch.write("k.toml",
                                           "ptx = \"k.ptx\"\n[[buffer]]\nname = \"b\"\ntype = \"u32\"\ncount = "
                                           "1\nvalue = 0\n[[launch]]\nentry = \"k\"\ngrid = [4]\nblock = [64]\n"
                                           "arguments = [{ buffer = \"b\" }]\n");
  const auto review = [&](const char* scale, const char* seeds) {
    return test::heddle({"review", "baseline", "lwm", "--workloads", "vecadd," + launch, "--scale", scale, "--seeds",
                         seeds, "--only", "use,causes,sensitivity", "--parameters", "icache.bytes", "--folder",
                         scratch.path("r"), "--json", scratch.path("r.json")});
  };
  write_kernel("add");
  const test::Ran ran = review("0.0005", "2");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
  EXPECT_EQ(data.at("workloads"), (json::array{"vecadd", json::string(launch)}));
  EXPECT_EQ(data.at("launch_files"), (json::array{json::string(launch)}));
  std::size_t of_launch_file = 0;
  for (const json::value& row : data.at("results").as_array()) {
    of_launch_file += row.at("workload") == json::string(launch) ? 1 : 0;
  }
  EXPECT_EQ(of_launch_file, 2U);
  EXPECT_EQ(data.at("results").as_array().size(), 6U);
  EXPECT_EQ(data.at("causes").as_array().size(), 2U);
  EXPECT_EQ(data.at("failures"), json::array());
  const auto only_new_runs = [](const test::Ran& again) {
    return std::stoul(again.out.substr(again.out.rfind('\n', again.out.find(" runs now, ")) + 1));
  };
  const std::size_t all = only_new_runs(ran);
  EXPECT_EQ(only_new_runs(review("0.0005", "2")), 0U);
  EXPECT_EQ(only_new_runs(review("0.001", "1")), data.at("worst").at("workload") == "vecadd" ? all - 4U : 2U);
  write_kernel("mul.lo");
  const test::Ran other = review("0.0005", "2");
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_GE(only_new_runs(other), 2U);
  write_kernel("@@");
  const test::Ran wrong = review("0.0005", "2");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err.find("heddle: " + scratch.path("k.ptx") + ":7:"), 0U) << wrong.err;
}

// A run that leaves no result is told, and the others are shown.
TEST(Review, ShowsWhatThereIsWhereARunFails) {
  const Scratch scratch;
  const test::Ran ran = test::heddle({"review", "baseline", "lwm", "--workloads", "vecadd,nqueens", "--scale", "0.0005",
                                      "--seeds", "1", "--only", "causes", "--folder", scratch.path("r"), "--set",
                                      "scratchpad.bytes=128", "--json", scratch.path("r.json")});
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  const json::object data = json::parse(Scratch::read(scratch.path("r.json"))).as_object();
  const std::string why =
      "nqueens on lwm, seed 1: heddle: resources exceeded in kernel 'nqueens': a block needs 16384 bytes of "
      "scratchpad, a core has 128 (scratchpad.bytes)";
  EXPECT_EQ(data.at("failures").at(1), json::value(why));
  EXPECT_NE(ran.out.find("no result: " + why), std::string::npos) << ran.out;
  EXPECT_EQ(data.at("results").as_array().size(), 2U);
}

TEST(ReviewLogs, FindWherePipelinesPart) {
  const Scratch scratch;
  const auto log = [&](const std::string& name, const std::string& more) {
    return read_kanata(
        scratch.write(name,
                      "Kanata\t0004\nC=\t10\nI\t0\t0\t65537\nL\t0\t0\tc1 g1    0: add\nS\t0\t0\tF\nC\t1\nE\t0\t0\tF\n"
                      "S\t0\t0\tD\nS\t0\t1\tmemory\nC\t2\nE\t0\t0\tD\n" +
                          more));
  };
  const auto one = log("one", "S\t0\t0\tX\nC\t1\nR\t0\t0\t0\n");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].warp, 65537U);
  EXPECT_EQ(one[0].label, "c1 g1    0: add");
  EXPECT_EQ(one[0].waits, "memory");
  ASSERT_EQ(one[0].stages.size(), 3U);
  EXPECT_EQ(one[0].stages[1].name, "D");
  EXPECT_EQ(one[0].stages[1].begin, 11U);
  EXPECT_EQ(one[0].stages[1].end, 13U);
  EXPECT_FALSE(one[0].flushed);
  EXPECT_EQ(first_difference(one, one), std::nullopt);
  EXPECT_EQ(first_difference(one, log("two", "S\t0\t0\tM\nC\t1\nR\t0\t0\t0\n")), 13U);
  EXPECT_EQ(first_difference(one, log("three", "S\t0\t0\tX\nC\t3\nR\t0\t0\t1\n")), 14U);
  EXPECT_EQ(first_difference(one, log("four", "S\t0\t0\tX\nI\t1\t1\t0\nS\t1\t0\tF\nC\t1\nR\t0\t0\t0\n")), 13U);
  try {
    (void)read_kanata(scratch.write("bad", "Kanata\t0004\nC\tx\n"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), scratch.path("bad") + ":2: 'x' is no number");
  }
  EXPECT_THROW((void)read_kanata(scratch.write("empty", "")), InputError);
}

TEST(ReviewLogs, ReadsDumps) {
  const Scratch scratch;
  const VcdValues values = read_vcd(scratch.write("w.vcd",
                                                  "$timescale 1 ns $end\n$scope module gpu $end\n$scope module core0 "
                                                  "$end\n$var wire 1 ! valid $end\n$upscope $end\n"
                                                  "$var wire 8 \" count [7:0] $end\n$upscope $end\n$enddefinitions "
                                                  "$end\n#5\n$dumpvars\nx!\nb101 \"\n$end\n#7\n1!\n#9\n"));
  ASSERT_EQ(values.signals.size(), 2U);
  EXPECT_EQ(values.signals[0].path, "gpu.core0.valid");
  EXPECT_EQ(values.signals[1].path, "gpu.count");
  EXPECT_EQ(values.signals[1].width, 8U);
  EXPECT_EQ(values.unit, 1'000'000U) << "fs";
  EXPECT_EQ(values.first, 5U);
  EXPECT_EQ(values.last, 9U);
  using Changes = std::vector<std::pair<std::uint64_t, std::string>>;
  EXPECT_EQ(values.signals[0].changes, (Changes{{5, "x"}, {7, "1"}}));
  EXPECT_EQ(values.signals[1].changes, (Changes{{5, "101"}}));
  EXPECT_THROW((void)read_vcd(scratch.write("bad.vcd", "hello\n")), InputError);
}

}  // namespace
}  // namespace heddle::studies
