// The program that measures GPUs, with the simulator in a GPU's place: figures that docs/machine.md gives for the
// baseline, and what becomes of a campaign when something is in its way.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <filesystem>

#include "tests/support/program_runner.hpp"

namespace heddle::test {
namespace {

using ::testing::HasSubstr;

const std::string kHeader = ".version 7.0\n.target sm_70\n.address_size 64\n";

class MeasureGpu : public ::testing::Test {
 protected:
  Ran measure(std::vector<std::string> words) {
    words.insert(words.begin(), {"exec", "--quiet", "--keep-going", "--config", "baseline", "--", HEDDLE_MEASURE});
    words.insert(words.end(), {"--out", scratch_.path("out.json"), "--repetitions", "2", "--clock", "1000"});
    return heddle(words);
  }
  Ran alone(std::vector<std::string> words) {
    words.insert(words.begin(), HEDDLE_MEASURE);
    return spawn(words);
  }
  boost::json::object results() { return boost::json::parse(Scratch::read(scratch_.path("out.json"))).as_object(); }
  // The row of that name; the test fails where there is none.
  boost::json::object row(const std::string& name) {
    const boost::json::object file = results();
    for (const auto& value : file.at("rows").as_array()) {
      if (value.at("name").as_string() == name) return value.as_object();
    }
    ADD_FAILURE() << "no row " << name;
    return {};
  }
  double value(const std::string& name) {
    const boost::json::object found = row(name);
    return found.contains("value") ? found.at("value").to_number<double>() : -1;
  }
  std::string list(const std::string& items) { return scratch_.write("list.json", "{\"items\": [" + items + "]}"); }
  // A kernel that stores `value` behind its argument, as the item `name`.
  std::string storing(const std::string& name, const std::string& value, const std::string& more = "") {
    scratch_.write(name + ".ptx", kHeader +
                                      ".visible .entry k(.param .u64 out)\n{\n  .reg .u64 %a;\n  .reg .u32 %v;\n" +
                                      "  ld.param.u64 %a, [out];\n  mov.u32 %v, " + value +
                                      ";\n  st.global.u32 [%a+4], %v;\n  ret;\n}\n");
    return R"({"name": ")" + name + R"(", "group": "tried", "ptx": ")" + name + R"(.ptx", "entry": "k", "block": 1,
              "buffers": {"out": {"bytes": 8}}, "arguments": [{"buffer": "out"}])" +
           more + "}";
  }
  Scratch scratch_;
};

// A user's own figure, as hardware/README.md has it, beside a machine: its kernel is measured, and run once more for
// its counters, by which nothing is measured again.
TEST_F(MeasureGpu, StandsBesideAUsersOwnData) {
  const std::string text = Scratch::read(HEDDLE_SOURCE_DIR "/hardware/README.md");
  const std::size_t begin = text.find("```json\n") + 8;
  const std::string data = scratch_.write("own.json", text.substr(begin, text.find("```", begin) - begin));
  const auto correlate = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"correlate", "baseline", data, "--only", "latency/add.u32", "--keep",
                               scratch_.path("machine.json"), "--csv", scratch_.path("rows.csv")});
    return heddle(more);
  };
  const Ran ran = correlate({"--names", "nsight", "--html", scratch_.path("page.html")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("baseline beside my GPU, campaign micro\n"));
  EXPECT_THAT(ran.out, HasSubstr("idle for most of it\n"));
  EXPECT_THAT(ran.out, HasSubstr(" % pipeline"));
  EXPECT_THAT(ran.out, HasSubstr("published, not measured here: measured by hand\n"));
  const std::string rows = Scratch::read(scratch_.path("rows.csv"));
  EXPECT_THAT(rows, HasSubstr(",error,sm__cycles_elapsed.max,smsp__inst_executed.sum,"));
  EXPECT_THAT(Scratch::read(scratch_.path("page.html")), HasSubstr(" % pipeline"));
  const std::string kept = Scratch::read(scratch_.path("machine.json"));
  ASSERT_EQ(correlate({"--counters", "0"}).code, 0);
  EXPECT_EQ(Scratch::read(scratch_.path("rows.csv")).find("kernel,group,unit,hardware,machine,error\n"), 0U);
  EXPECT_EQ(Scratch::read(scratch_.path("machine.json")), kept);
  EXPECT_EQ(heddle({"correlate", scratch_.path("machine.json"), data, "--counters", "1"}).err,
            "heddle: " + scratch_.path("machine.json") +
                ": these are results, and nothing is measured; leave --only, --campaign, --set, --keep and --counters "
                "out, or name a machine\n");
}

TEST_F(MeasureGpu, FindsTheLatenciesOfTheBaseline) {
  const Ran ran = measure({"micro", "--only", "latency/add.u32", "--only", "latency/div.rn.f32", "--only",
                           "latency/rcp.approx.f32+add.f32", "--only", "chase/4096/128", "--only", "coalescing/lanes/*",
                           "--only", "shared/lanes/*", "--only", "barriers/bar.sync/32", "--only",
                           "throughput/fma.rn.f32/*", "--only", "divergence/if else/*"});
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("0 different from what is expected, 0 refused, 0 failed, 0 missing"));
  EXPECT_EQ(ran.code, 0);
  const boost::json::object file = results();
  EXPECT_EQ(file.at("device").at("name"), "Heddle baseline");
  EXPECT_EQ(file.at("device").at("multiprocessors"), 1);
  EXPECT_EQ(file.at("clock").at(0).at("mhz").at("median"), 1000);
  // A warp alone retires an instruction every 7 cycles; complex operations take 8 cycles instead of 2 to execute.
  EXPECT_EQ(value("latency/add.u32"), 7);
  EXPECT_EQ(value("latency/div.rn.f32"), 13);
  EXPECT_EQ(value("latency/rcp.approx.f32+add.f32"), 10);  // one of each
  EXPECT_EQ(value("barriers/bar.sync/32"), 7);
  // A hit takes the memory stage's own cycle, and each further line one more of the L1's port.
  EXPECT_EQ(value("chase/4096/128"), 7);
  EXPECT_EQ(value("coalescing/lanes/0"), 7);
  EXPECT_EQ(value("coalescing/lanes/8"), 7 + 1);
  EXPECT_EQ(value("coalescing/lanes/64"), 7 + 15);
  EXPECT_EQ(value("coalescing/lanes/512"), 7 + 31);
  // Two instructions, and a cycle for each further word of one of the 32 banks.
  EXPECT_EQ(value("shared/lanes/0"), 14);
  EXPECT_EQ(value("shared/lanes/4"), 14);
  EXPECT_EQ(value("shared/lanes/8"), 14 + 1);
  EXPECT_EQ(value("shared/lanes/128"), 14 + 31);
  EXPECT_EQ(value("shared/lanes/132"), 14);
  // 32 lanes; seven warps fill the pipeline.
  EXPECT_NEAR(value("throughput/fma.rn.f32/32"), 32.0 / 7, 1e-4);
  EXPECT_NEAR(value("throughput/fma.rn.f32/128"), 32.0 * 4 / 7, 1e-4);
  EXPECT_EQ(value("throughput/fma.rn.f32/1024"), 32);
  // Both sides of 12 operations when the warp splits; the side that falls through has a jump behind it.
  EXPECT_EQ(value("divergence/if else/0 lanes"), 7 * (1 + 12 + 1));
  EXPECT_EQ(value("divergence/if else/32 lanes"), 7 * (1 + 12));
  EXPECT_EQ(value("divergence/if else/16 lanes"), 7 * (1 + 12 + 1 + 12));
  const boost::json::object point = row("latency/add.u32").at("points").at(1).as_object();
  EXPECT_EQ(point.at("repeat"), 24);
  EXPECT_EQ(point.at("cycles").at("min"), point.at("cycles").at("max"));
}

TEST_F(MeasureGpu, MeasuresWhatIsMissing) {
  const std::string path = list(storing("a", "1") + "," + storing("b", "2"));
  ASSERT_EQ(measure({path, "--only", "b"}).code, 0);
  boost::json::object file = results();
  file["rows"].as_array()[0].as_object()["repetitions"] = 77;  // tells the row from another measurement
  scratch_.write("out.json", boost::json::serialize(file));
  ASSERT_EQ(measure({path}).code, 0);
  EXPECT_EQ(row("b").at("repetitions"), 77);
  EXPECT_EQ(row("a").at("repetitions"), 2);
  EXPECT_EQ(results().at("rows").at(0).at("name"), "a") << "in the order of the list";
  EXPECT_EQ(alone({path, "--out", scratch_.path("out.json")}).code, 0) << "nothing is missing, no device is needed";
  storing("b", "4");  // its file has changed
  EXPECT_EQ(alone({path, "--out", scratch_.path("out.json"), "--list"}).out, "has     a\nmissing b\n");
  ASSERT_EQ(measure({path}).code, 0);
  EXPECT_EQ(row("b").at("repetitions"), 2);
  const Ran other = measure({"micro"});
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(other.err, "measure: " + scratch_.path("out.json") +
                           ": these are results of the campaign 'list'; name another file with --out\n");
  file = results();
  file["device"].as_object()["name"] = "another";
  file["rows"].as_array().clear();
  scratch_.write("out.json", boost::json::serialize(file));
  const std::string before = Scratch::read(scratch_.path("out.json"));
  EXPECT_EQ(measure({path}).err, "measure: " + scratch_.path("out.json") +
                                     ": these are results of another, driver 11050; here is Heddle baseline, driver "
                                     "11050: name another file with --out\n");
  EXPECT_EQ(Scratch::read(scratch_.path("out.json")), before);
}

TEST_F(MeasureGpu, KernelsThatAreRefusedOrFaultAreRows) {
  scratch_.write("refused.ptx", kHeader + ".visible .entry k()\n{\n  add.u32 %r1, %r2, 1;\n}\n");
  scratch_.write("fault.ptx", kHeader +
                                  ".visible .entry k()\n{\n  .reg .u64 %a;\n  mov.u64 %a, 64;\n"
                                  "  st.global.u32 [%a], 1;\n  ret;\n}\n");
  const auto item = [](const std::string& name) {
    return R"({"name": ")" + name + R"(", "group": "tried", "ptx": ")" + name + R"(.ptx", "entry": "k", "block": 1})";
  };
  const std::string path =
      list(item("refused") + "," + storing("right", "1") + "," + item("fault") + "," + storing("behind", "1"));
  const Ran ran = measure({path});
  EXPECT_EQ(ran.code, 3) << ran.err;  // a fault spoils the driver's state; a simulated device takes no second process
  EXPECT_EQ(ran.out, "list: 1 measured, 0 different from what is expected, 1 refused, 1 failed, 1 missing: " +
                         scratch_.path("out.json") + "\n");
  EXPECT_EQ(row("refused").at("status"), "refused");
  EXPECT_EQ(
      row("refused").at("reason"),
      "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX, a PTX JIT compilation failed: device code 2:6:11: the register "
      "'%r1' is not declared; declare it with .reg");
  EXPECT_EQ(row("right").at("status"), "measured");
  EXPECT_EQ(row("fault").at("status"), "fault");
  EXPECT_THAT(std::string(row("fault").at("reason").as_string()), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_EQ(results().at("rows").as_array().size(), 3U);
  EXPECT_EQ(measure({path}).code, 0);  // the rest
  EXPECT_EQ(row("behind").at("status"), "measured");
}

TEST_F(MeasureGpu, ComparesMemory) {
  scratch_.write("right.bin", std::string("\0\0\0\0\x01\0\x80\x3f", 8));  // 0x3f800001
  const auto expecting = [](const std::string& parts) {
    return R"(, "expect": [{"buffer": "out", "file": "right.bin")" + parts + "}]";
  };
  const std::string approximate =
      R"(, "parts": [{"name": "sum", "offset": 4, "count": 1, "stride": 8, "type": "f32", "ulps": 2}])";
  const std::string path =
      list(storing("equal", "0x3f800001", expecting("")) + "," + storing("different", "0x3f800003", expecting("")) +
           "," + storing("near", "0x3f800003", expecting(approximate)) + "," +
           storing("far", "0x3f800004", expecting(approximate)));
  const Ran ran = measure({path});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 measured, 2 different"));
  EXPECT_EQ(row("equal").at("different"), 0);
  EXPECT_EQ(row("equal").at("compared"), 2);
  EXPECT_EQ(row("near").at("status"), "measured");
  EXPECT_EQ(row("different").at("status"), "differs");
  EXPECT_EQ(boost::json::serialize(row("different").at("differences")),
            R"([{"part":"word","element":1,"found":"0x3f800003","expected":"0x3f800001","in_all":1}])");
  EXPECT_EQ(boost::json::serialize(row("far").at("differences")),
            R"([{"part":"sum","element":0,"found":"0x3f800004","expected":"0x3f800001","in_all":1}])");
}

TEST_F(MeasureGpu, WithoutADriverNothingIsWritten) {
  if (::dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "this host has a driver";
  const Ran ran = alone({"micro", "--out", scratch_.path("out.json")});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err,
            "measure: no CUDA driver: libcuda.so.1: cannot open shared object file: No such file or directory\n");
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("out.json")));
}

TEST_F(MeasureGpu, SaysWhatIsWrongWithAList) {
  struct Case {
    std::string list, error;
  };
  const std::string item = R"("name": "a", "group": "g", "ptx": "a.ptx")";
  scratch_.write("a.ptx", "${BODY}\n//@repeat\n");
  const std::string path = scratch_.path("list.json");
  for (const Case& one : std::vector<Case>{
           {"{\"items\": [\n{]}", path + ":2: expected a name in quotes"},
           {"{\"items\": 1}", path + ": 'items' must be a list"},
           {"{\"items\": [{\"names\": 1}]}", path + ": item 1: there is no key 'names'"},
           {"{\"items\": [{\"group\": \"g\"}]}", path + ": item 1: 'name' must be a text"},
           {R"({"items": [{"name": "a", "group": "g", "ptx": "b.ptx"}]})", scratch_.path("b.ptx") + ": cannot be read"},
           {"{\"items\": [{" + item + "}, {" + item + "}]}", path + ": two items have the name 'a'"},
           {"{\"items\": [{" + item + "}]}", scratch_.path("a.ptx") + ": //@repeat without //@end"},
           {"{\"items\": [{" + item + ", \"repeat\": [3, 2]}]}",
            "a: 'repeat' is one number, or two of which the second is larger"}}) {
    scratch_.write("list.json", one.list);
    const Ran ran = alone({path, "--out", scratch_.path("out.json")});
    EXPECT_EQ(ran.code, 1) << one.list;
    EXPECT_EQ(ran.err, "measure: " + one.error + "\n");
  }
  scratch_.write("a.ptx", "${BODY}\n");
  EXPECT_EQ(alone({path, "--out", scratch_.path("out.json")}).code, 1);
  scratch_.write("list.json", "{\"items\": [{" + item + "}]}");
  EXPECT_EQ(alone({path, "--out", scratch_.path("out.json")}).err,
            "measure: a: " + scratch_.path("a.ptx") + " wants a definition of ${BODY}\n");
  EXPECT_EQ(alone({path, "--out", scratch_.path("list.json")}).code, 1);
  EXPECT_EQ(Scratch::read(path), "{\"items\": [{" + item + "}]}") << "a file that is none of results stays";
}

}  // namespace
}  // namespace heddle::test
