// Machines as TOML: every refusal names file, line, column, key and the nearest valid name.
#include "tb/config/config.hpp"
#include "hw/check/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "tb/config/toml_text.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;

std::string refusal(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    (void)parse_machine(text, "m.toml", settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// A folder of machine files that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "heddle-config-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

TEST(Config, AnEmptyFileIsTheDefaultMachine) {
  const hw::Machine machine = parse_machine("", "m.toml");
  EXPECT_EQ(machine.name, "m");
  EXPECT_EQ(machine.core.warp_size, 32U);
  EXPECT_EQ(machine.dram.row_conflict, 300U);
}

TEST(Config, SetsEveryType) {
  const hw::Machine machine = parse_machine(
      "description = \"mine\"\n[gpu]\nclock_ghz = 1.5\n[core]\nthreads = 512\ndivision_trap = true\n[dram]\n"
      "mapping = \"row-column-bank\"\nbandwidth_gbs = 64\n[watchdog]\ndeadlock_cycles = 5_000_000_000\n",
      "dir/mine.toml");
  EXPECT_EQ(machine.name, "mine");
  EXPECT_EQ(machine.description, "mine");
  EXPECT_EQ(machine.gpu.clock_ghz, 1.5);
  EXPECT_EQ(machine.core.threads, 512U);
  EXPECT_TRUE(machine.core.division_trap);
  EXPECT_EQ(machine.dram.mapping, "row-column-bank");
  EXPECT_EQ(machine.dram.bandwidth_gbs, 64.0);
  EXPECT_EQ(machine.watchdog.deadlock_cycles, 5'000'000'000U);
}

// What stands behind a value, on its line and on lines below with nothing else; of the last file that gives the value.
TEST(Config, FilesSayWhyValuesAreSo) {
  const Folder folder;
  folder.write(
      "base.toml",
      "[core]\nwarp_size = 64  # table 1\nthreads = 512 # of the base\nformer = \"rows\"  # \"by # rows\", it says\n"
      "scheduler = 'gto'\n# not of a value\nissue = \"strict\"  ## section 2:\n               # in turn\n\n"
      "  # alone\n");
  const std::string own =
      folder.write("own.toml", "extends = \"base.toml\"\n[core]\nthreads = 1024\nregisters = 32768#r\n");
  const std::map<std::string, std::string> said = value_comments(own, {"core.registers=16384"});
  EXPECT_EQ(said, (std::map<std::string, std::string>{{"core.warp_size", "table 1"},
                                                      {"core.former", "\"by # rows\", it says"},
                                                      {"core.issue", "section 2: in turn"}}));
  EXPECT_EQ(value_comments(own).at("core.registers"), "r");
}

TEST(Config, ShippedMachinesAreThoseOfThePapers) {
  const hw::Machine report = read_machine("baseline");
  EXPECT_EQ(report.name, "baseline");
  EXPECT_EQ(report.l1d.bytes, 32U * 1024);
  EXPECT_EQ(report.scratchpad.bytes, 128U * 1024);
  EXPECT_EQ(report.core.registers * 4, 64U * 1024);
  EXPECT_EQ(report.core.registers_per_thread, 16U);
  EXPECT_EQ(report.core.threads, 1024U);
  EXPECT_EQ(report.dram.bandwidth_gbs, 32.0);
  const hw::Machine thesis = read_machine("thesis-baseline");
  EXPECT_EQ(thesis.name, "thesis-baseline");
  EXPECT_EQ(thesis.l1d.bytes, 128U * 1024);
  EXPECT_EQ(thesis.core.registers_per_thread, 16U);
  EXPECT_FALSE(thesis.l2.enabled);
}

// What parameters.md calls the default is what everybody's machine starts from.
TEST(Config, TheBaselineHasTheDefaults) {
  hw::Machine baseline = read_machine("baseline");
  hw::Machine plain;
  const std::vector<ParameterReference> shipped = parameters_of(baseline);
  const std::vector<ParameterReference> defaults = parameters_of(plain);
  ASSERT_EQ(shipped.size(), defaults.size());
  for (std::size_t i = 0; i < shipped.size(); ++i) {
    EXPECT_EQ(shipped[i].value_text(), defaults[i].value_text()) << shipped[i].path();
  }
}

TEST(Config, TheDatabaseMachinesAreThoseOfThesisTable81) {
  for (const char* const name : {"database-baseline", "database-hints"}) {
    const hw::Machine machine = read_machine(name);
    EXPECT_TRUE(hw::check(machine).empty());
    EXPECT_EQ(machine.l1d.bytes, 32U * 1024);
    EXPECT_EQ(machine.l1d.ways, 4U);
    EXPECT_TRUE(machine.l2.enabled);
    EXPECT_EQ(machine.l2.bytes, 1024U * 1024);
    EXPECT_EQ(machine.scratchpad.bytes, 32U * 1024);
    EXPECT_EQ(machine.scratchpad.banks, 32U);
    EXPECT_EQ(machine.core.threads, 1024U);
    EXPECT_EQ(machine.core.scheduler, "round-robin");
    EXPECT_EQ(machine.dram.scheduler, "fr-fcfs");
    EXPECT_EQ(machine.dram.row_hit, 100U);
    EXPECT_EQ(machine.dram.row_conflict, 300U);
    EXPECT_EQ(machine.dram.hint_threshold, 0U);
    EXPECT_EQ(machine.dram.hints, std::string(name) == "database-hints");
  }
}

TEST(Config, UnknownKeysAndSections) {
  EXPECT_EQ(refusal("[core]\n  warp_sise = 64\n"),
            "m.toml:2:3: there is no parameter 'warp_sise' in section 'core'; did you mean 'warp_size'?");
  EXPECT_EQ(refusal("[cor]\nwarp_size = 64\n"), "m.toml:1:2: there is no section 'cor'; did you mean 'core'?");
  EXPECT_EQ(refusal("[core]\nrow_bytes = 2048\n"),
            "m.toml:2:1: there is no parameter 'row_bytes' in section 'core'; did you mean 'dram.row_bytes'?");
  EXPECT_EQ(refusal("warp_size = 64\n"),
            "m.toml:1:1: there is no section or key 'warp_size'; did you mean 'core.warp_size'?");
  EXPECT_EQ(refusal("warp_sise = 64\n"),
            "m.toml:1:1: there is no section or key 'warp_sise'; did you mean 'core.warp_size'?");
  EXPECT_EQ(refusal("extend = \"baseline\"\n"),
            "m.toml:1:1: there is no section or key 'extend'; did you mean 'extends'?");
  EXPECT_EQ(refusal("[gpu]\nxyzzyplugh = 1\n"),
            "m.toml:2:1: there is no parameter 'xyzzyplugh' in section 'gpu'; known here: cores, clock_ghz, coherence, "
            "perfect_memory, kernels, grid_barrier_latency, launch_latency, memory_gib, compute_capability");
}

TEST(Config, WrongTypes) {
  EXPECT_EQ(refusal("[core]\nwarp_size = \"64\"\n"), "m.toml:2:13: core.warp_size must be an integer, not a string");
  EXPECT_EQ(refusal("[core]\nwarp_size = 64.0\n"), "m.toml:2:13: core.warp_size must be an integer, not a number");
  EXPECT_EQ(refusal("[core]\nwarp_size = [64]\n"), "m.toml:2:13: core.warp_size must be an integer, not an array");
  EXPECT_EQ(refusal("[core]\nwarp_size = 2020-01-01\n"), "m.toml:2:13: core.warp_size must be an integer, not a date");
  EXPECT_EQ(refusal("[core.warp_size]\nx = 1\n"), "m.toml:1:1: core.warp_size must be an integer, not a section");
  EXPECT_EQ(refusal("core = 5\n"), "m.toml:1:1: core is a section, not a value; write [core] and its keys below");
  EXPECT_EQ(refusal("[[core]]\nthreads = 1\n").substr(0, 44), "m.toml:1:3: core is a section, not a value; ");
  EXPECT_EQ(refusal("extends = 5\n"), "m.toml:1:11: extends must be a string, not an integer");
  EXPECT_EQ(refusal("description = true\n"), "m.toml:1:15: description must be a string, not a boolean");
}

TEST(Config, ValuesOutOfRange) {
  EXPECT_EQ(refusal("[core]\nsimd_width = 33\n"),
            "m.toml:2:14: core.simd_width must be between 1 and 32 lanes, not 33");
  EXPECT_EQ(refusal("[dram]\nbanks = 6\n"),
            "m.toml:2:9: dram.banks must be a power of two between 1 and 1024 banks, not 6");
  EXPECT_EQ(refusal("[gpu]\nclock_ghz = nan\n"),
            "m.toml:2:13: gpu.clock_ghz must be between 0.001 and 10 GHz, not nan");
}

TEST(Config, UnknownPolicyNames) {
  EXPECT_EQ(
      refusal("[core]\nscheduler = \"round-robbin\"\n")
          .substr(
              0,
              std::string("m.toml:2:13: core.scheduler cannot be 'round-robbin'; did you mean 'round-robin'?").size()),
      "m.toml:2:13: core.scheduler cannot be 'round-robbin'; did you mean 'round-robin'?");
  EXPECT_EQ(refusal("[l1d]\nwrite_policy = \"write-bank\"\n"),
            "m.toml:2:16: l1d.write_policy cannot be 'write-bank'; did you mean 'write-back'? (known: write-back, "
            "write-through)");
}

TEST(Config, SyntaxErrorsKeepTheirPlace) {
  const std::string text = refusal("[core]\nwarp_size = = 3\n");
  EXPECT_EQ(text.substr(0, 12), "m.toml:2:13:") << text;
  EXPECT_EQ(refusal("[core]\nthreads = 1\nthreads = 2\n").substr(0, 9), "m.toml:3:");
  EXPECT_NE(refusal("\xff\xfe"), "accepted");
}

TEST(Config, TheFirstMistakeInTheFileIsNamed) {
  EXPECT_EQ(refusal("[core]\nzzz = 1\naaa = 2\n").substr(0, 11), "m.toml:2:1:");
}

TEST(Config, ContradictionsPointAtTheKey) {
  // 1000 threads are no multiple of a warp of 48.
  const std::string text = refusal("[gpu]\ncores = 1\n[core]\nwarp_size = 48\nthreads = 1000\n");
  EXPECT_NE(text, "accepted");
  EXPECT_TRUE(text.starts_with("m.toml:4:13: ") || text.starts_with("m.toml:5:11: ")) << text;
  // A wrong value by --set: that word is to blame.
  const std::string set = refusal("", {"core.warp_size=48"});
  EXPECT_TRUE(set.starts_with("--set core.warp_size=48: ")) << set;
  // A setting that contradicts the file is to blame, not the file, whichever key the rule points at.
  EXPECT_EQ(refusal("[core]\nthreads = 96\n", {"core.blocks=4", "core.warp_size=64"}),
            "--set core.warp_size=64: core.threads (96) is no multiple of core.warp_size (64)");
  EXPECT_EQ(refusal("[core]\nwarp_size = 64\n", {"core.threads=96"}).substr(0, 23), "--set core.threads=96: ");
  EXPECT_EQ(refusal("[l1d]\nwrite_policy = \"write-back\"\n", {"gpu.cores=2"}).substr(0, 19), "--set gpu.cores=2: ");
  EXPECT_EQ(refusal("[dram]\nrow_hit = 100\nrow_conflict = 100\n", {"dram.row_hit=101"}),
            "--set dram.row_hit=101: dram.row_conflict (100) is below dram.row_hit (101)");
  EXPECT_EQ(refusal("[l1d]\nways = 3\n", {"l1d.line_bytes=128", "icache.line_bytes=128"}).substr(0, 26),
            "--set l1d.line_bytes=128: ");
  // A setting that has nothing to do with it is not.
  EXPECT_EQ(refusal("[core]\nwarp_size = 64\nthreads = 96\n", {"core.blocks=4"}).substr(0, 13), "m.toml:3:11: ");
}

TEST(ConfigFiles, AreRegularFiles) {
  const auto refused = [](const std::string& path) {
    try {
      (void)read_machine(path);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused("/dev/zero"), "the machine file '/dev/zero' cannot be read: it is a device");
  EXPECT_EQ(refused("/dev/"), "the machine file '/dev/' cannot be read: it is a directory");
}

TEST(ConfigSettings, OverrideTheFileInOrder) {
  const hw::Machine machine = parse_machine("[core]\nthreads = 256\n", "m.toml",
                                            {"core.threads=512", "core.threads=2_048", "dram.mapping=row-column-bank",
                                             "core.division_trap=true", "gpu.clock_ghz=2", "dram.scheduler=\"fcfs\""});
  EXPECT_EQ(machine.core.threads, 2048U);
  EXPECT_EQ(machine.dram.mapping, "row-column-bank");
  EXPECT_TRUE(machine.core.division_trap);
  EXPECT_EQ(machine.gpu.clock_ghz, 2.0);
  EXPECT_EQ(machine.dram.scheduler, "fcfs");
}

TEST(ConfigSettings, AreCheckedLikeTheFile) {
  EXPECT_EQ(refusal("", {"core.warp_sise=64"}),
            "--set core.warp_sise=64: there is no parameter 'warp_sise' in section 'core'; did you mean 'warp_size'?");
  EXPECT_EQ(refusal("", {"cor.warp_size=64"}),
            "--set cor.warp_size=64: there is no section 'cor'; did you mean 'core'?");
  EXPECT_EQ(refusal("", {"warp_size=64"}),
            "--set warp_size=64: there is no section or key 'warp_size'; did you mean 'core.warp_size'?");
  EXPECT_EQ(refusal("", {"core=64"}), "--set core=64: 'core' is a section; name a parameter in it: section.key=value");
  EXPECT_EQ(refusal("", {"extends=lwm"}),
            "--set extends=lwm: 'extends' is no parameter; only a machine's file can have it");
  EXPECT_EQ(refusal("", {"core.warp_size"}),
            "--set core.warp_size: there is no '='; write section.key=value, as in core.warp_size=64");
  EXPECT_EQ(refusal("", {"core.warp_size=many"}),
            "--set core.warp_size=many: core.warp_size must be an integer, not a string");
  EXPECT_EQ(refusal("", {"core.warp_size="}), "--set core.warp_size=: core.warp_size must be an integer, not a string");
  EXPECT_EQ(refusal("", {"core.simd_width=33"}),
            "--set core.simd_width=33: core.simd_width must be between 1 and 32 lanes, not 33");
  EXPECT_EQ(refusal("", {"core.warp_size=1\nx = 2"}).substr(0, 6), "--set ");
}

// What hw::without_effect names is checked against runs in cli_run_test.cpp; here: whose word counts.
TEST(ConfigNotes, AreOfSettingsAndTheMachinesOwnFile) {
  const Folder folder;
  const auto notes = [](const std::string& machine, const std::vector<std::string>& settings = {}) {
    std::vector<std::string> out = {"from before"};
    (void)read_machine(machine, settings, out);
    return out;
  };
  using Notes = std::vector<std::string>;
  for (const ConfigEntry& shipped : list_configs()) {
    EXPECT_EQ(notes(shipped.path), Notes()) << shipped.name;
  }
  EXPECT_EQ(notes("baseline", {"dram.preset=hbm2"}),
            Notes{"dram.preset = hbm2 has no effect while dram.timing is not jedec"});
  EXPECT_EQ(notes("baseline", {"jedec.refresh=false", "jedec.cl=50", "l2.enabled=false"}),
            Notes{"jedec.cl = 50, jedec.refresh = false have no effect while dram.timing is not jedec"});
  EXPECT_EQ(notes("baseline",
                  {"l2.bytes=4096", "l2.enabled=true", "dram.timing=jedec", "dram.banks=16", "dram.write_high=9"}),
            Notes());
  EXPECT_EQ(notes("baseline", {"l1d.enabled=false", "gpu.cores=2", "l1d.write_policy=write-through"}), Notes());
  const std::string mine = folder.write("mine.toml", "extends = \"baseline\"\n[l2]\nbytes = 4096\n");
  EXPECT_EQ(notes(mine), Notes{"l2.bytes = 4096 has no effect while l2.enabled is false"});
  EXPECT_EQ(notes(mine, {"l2.enabled=true"}), Notes());
  EXPECT_EQ(notes(folder.write("upon.toml", "extends = \"mine.toml\"\n")), Notes());
  // The baseline says its latencies; that a setting puts them out of use is no mistake of its.
  EXPECT_EQ(notes("baseline", {"dram.timing=jedec", "dram.banks=16", "dram.write_high=0"}), Notes());
  EXPECT_EQ(notes("baseline", {"dram.timing=jedec", "dram.banks=16", "dram.row_hit=90", "dram.write_high=0"}),
            Notes{"dram.row_hit = 90 has no effect while dram.timing is jedec"});
}

TEST(ConfigNotes, TellThatAJedecMachineDoesNotDrainItsWrites) {
  const Folder folder;
  const auto tells = [](const std::string& machine, const std::vector<std::string>& settings = {}) {
    std::vector<std::string> notes;
    const hw::Machine read = read_machine(machine, settings, notes);
    EXPECT_LE(notes.size(), 1U);
    return !notes.empty() && notes[0].starts_with("the write drain is off (dram.write_high = 0)") &&
           notes[0].find("dram.write_high = " + std::to_string(read.dram.queue / 2)) != std::string::npos;
  };
  EXPECT_FALSE(tells("baseline"));
  EXPECT_TRUE(tells("baseline", {"dram.timing=jedec", "dram.banks=16"}));
  EXPECT_FALSE(tells("baseline", {"dram.timing=jedec", "dram.banks=16", "dram.write_high=8"}));
  EXPECT_FALSE(tells("baseline", {"dram.timing=jedec", "dram.banks=16", "dram.write_high=0"})) << "who says so knows";
  const std::string dram = "extends = \"baseline\"\n[dram]\nbanks = 16\n";
  const std::string silent = folder.write("silent.toml", dram + "timing = \"jedec\"\n");
  EXPECT_TRUE(tells(silent));
  EXPECT_FALSE(tells(silent, {"dram.write_high=0"}));
  EXPECT_FALSE(tells(folder.write("knows.toml", dram + "timing = \"jedec\"\nwrite_high = 0\n")));
  // A machine that another one extends may list every parameter: that is not said of this timing.
  const std::string lists = folder.write("lists.toml", dram + "write_high = 0\n");
  EXPECT_TRUE(tells(lists, {"dram.timing=jedec"}));
}

TEST(ConfigExtends, TakesOverAndOverrides) {
  const Folder folder;
  folder.write("base.toml", "description = \"below\"\n[core]\nthreads = 512\nblocks = 4\n");
  folder.write("sub/middle.toml", "extends = \"../base.toml\"\n[core]\nblocks = 2\n");
  const std::string top = folder.write("top.toml", "extends = \"sub/middle.toml\"\n[dram]\nbanks = 16\n");
  const hw::Machine machine = read_machine(top);
  EXPECT_EQ(machine.name, "top");
  EXPECT_EQ(machine.description, "");  // a description is the file's own
  EXPECT_EQ(machine.core.threads, 512U);
  EXPECT_EQ(machine.core.blocks, 2U);
  EXPECT_EQ(machine.dram.banks, 16U);
}

TEST(ConfigExtends, FindsNeighboursAndShippedMachinesByName) {
  const Folder folder;
  folder.write("near.toml", "extends = \"thesis-baseline\"\n[core]\nthreads = 512\n");
  const hw::Machine machine = read_machine(folder.write("top.toml", "extends = \"near\"\n"));
  EXPECT_EQ(machine.core.threads, 512U);
  EXPECT_EQ(machine.l1d.bytes, 128U * 1024);
}

TEST(ConfigExtends, RefusesCyclesMissingFilesAndMistakesBelow) {
  const Folder folder;
  const std::string a = folder.write("a.toml", "extends = \"b.toml\"\n");
  const std::string b = folder.write("b.toml", "# second\nextends = \"a.toml\"\n");
  try {
    (void)read_machine(a);
    FAIL() << "a cycle was accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.where().file, b);
    EXPECT_EQ(error.where().line, 2U);
    EXPECT_EQ(error.where().column, 11U);
    EXPECT_EQ(error.message(), "machines extend each other in a circle: a.toml -> b.toml -> a.toml");
  }
  const std::string c = folder.write("c.toml", "extends = \"nowhere.toml\"\n");
  EXPECT_THROW((void)read_machine(c), InputError);
  folder.write("d.toml", "[core]\nthreads = \"x\"\n");
  try {
    (void)read_machine(folder.write("e.toml", "extends = \"d.toml\"\n"));
    FAIL();
  } catch (const InputError& error) {  // the mistake is in the file that is extended
    EXPECT_EQ(fs::path(error.where().file).filename(), "d.toml");
    EXPECT_EQ(error.where().line, 2U);
  }
}

TEST(ConfigSearch, TheFoldersOfTheUserComeFirst) {
  const Folder first;
  const Folder second;
  second.write("baseline.toml", "description = \"second\"\n");
  second.write("mine.toml", "description = \"mine\"\n");
  ::setenv("HEDDLE_CONFIGS", (first.path() + "::" + second.path()).c_str(), 1);
  EXPECT_EQ(read_machine("baseline").description, "second");
  first.write("baseline.toml", "description = \"first\"\n");
  EXPECT_EQ(read_machine("baseline").description, "first");
  bool listed = false;
  for (const ConfigEntry& entry : list_configs()) {
    listed = listed || (entry.name == "mine" && entry.description == "mine");
    EXPECT_TRUE(entry.name != "baseline" || entry.description == "first");
  }
  EXPECT_TRUE(listed);
  ::unsetenv("HEDDLE_CONFIGS");
}

TEST(ConfigSearch, MissingMachinesAreSuggested) {
  try {
    (void)read_machine("basline");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), "there is no machine called 'basline'");
    EXPECT_EQ(error.hint().substr(0, 25), "did you mean 'baseline'? ");
  }
  EXPECT_THROW((void)read_machine(""), InputError);
  EXPECT_THROW((void)read_machine("/dev/zero"), InputError);  // endless
  EXPECT_THROW((void)read_machine("/"), InputError);
}

// Every text of the fuzzers' seed corpus, and every prefix of the larger ones, is read or refused in an orderly way.
TEST(ConfigRobustness, CorpusAndItsPrefixes) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(HEDDLE_SOURCE_DIR) / "tests/fuzz/corpus/config")) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ++files;
    for (std::size_t length = 0; length <= text.size(); length += text.size() > 200 ? 37 : 1) {
      EXPECT_NO_FATAL_FAILURE(refusal(text.substr(0, length)));
    }
    (void)refusal(text);
  }
  EXPECT_GE(files, 8U);
}

TEST(Config, AnUnknownSectionIsLikenedToSections) {
  EXPECT_EQ(refusal("[cores]\nwarp_size = 4\n"), "m.toml:1:2: there is no section 'cores'; did you mean 'core'?");
  EXPECT_EQ(refusal("cores = 4\n"), "m.toml:1:1: there is no section or key 'cores'; did you mean 'gpu.cores'?");
}

TEST(Config, OverlongWordsAreCut) {
  const std::string shown(60, 'x');
  EXPECT_NE(refusal("[core]\n" + shown + " = 1\n").find("'" + shown + "'"), std::string::npos);
  EXPECT_NE(refusal("[core]\n" + shown + "x = 1\n").find("'" + shown + "...'"), std::string::npos);
  EXPECT_NE(refusal("[dram]\nscheduler = \"" + shown + "x\"\n").find("'" + shown + "...'"), std::string::npos);
  EXPECT_LT(refusal("", {"core.warp_size=" + std::string(5000, 'x')}).size(), 300U);
  EXPECT_EQ(excerpt(shown.substr(1) + "\xc3\xa9"), shown.substr(1) + "\xc3\xa9");
  EXPECT_EQ(excerpt(shown.substr(1) + "\xc3\xa9" + "e"), shown.substr(1) + "\xc3\xa9...");
}

// "a.a.a" with that many parts.
std::string dotted(std::size_t parts) {
  std::string key = "a";
  for (std::size_t i = 1; i < parts; ++i) {
    key += ".a";
  }
  return key;
}

TEST(ConfigRobustness, KeysOfManyPartsAreRefusedBeforeTheyAreParsed) {
  const std::string said = "a key or a table's name has more than 32 parts; name a section and a key: section.key";
  const std::string unknown = "m.toml:1:1: there is no section or key 'a'";
  EXPECT_EQ(refusal(dotted(kMostKeyParts) + " = 1\n").substr(0, unknown.size()), unknown);
  EXPECT_EQ(refusal(dotted(kMostKeyParts + 1) + " = 1\n"), "m.toml:1:64: " + said);
  EXPECT_EQ(refusal("# \xc3\xa9.\n[" + dotted(kMostKeyParts) + "]\n").find(said), std::string::npos);
  EXPECT_EQ(refusal("# \xc3\xa9.\n[" + dotted(kMostKeyParts + 1) + "]\n"), "m.toml:2:65: " + said);
  EXPECT_EQ(refusal("core = { " + dotted(50000) + " = 1 }\n"), "m.toml:1:73: " + said);
  EXPECT_EQ(refusal(dotted(50000) + "=1"), "m.toml:1:64: " + said);
  EXPECT_EQ(refusal("[[" + dotted(50000) + "]]"), "m.toml:1:66: " + said);
  EXPECT_EQ(refusal("'it.s' . \"\\\"..\" ." + dotted(kMostKeyParts - 1) + " = 1").substr(0, 7), "m.toml:");
  EXPECT_NE(refusal("'it.s' . \"\\\"..\" ." + dotted(kMostKeyParts - 1) + " = 1").find(said), std::string::npos);
  EXPECT_EQ(refusal("'it.s' . \"\\\"..\" ." + dotted(kMostKeyParts - 2) + " = 1").find(said), std::string::npos);
  EXPECT_NE(refusal("", {"core.warp_size=1\n" + dotted(50000) + "=1"}), "accepted");
}

TEST(ConfigRobustness, DotsInStringsAndCommentsAreNoParts) {
  const std::string dots(100, '.');
  const std::string basic = "\"\"\"";
  const std::string literal = "'''";
  for (const std::string& text : {'"' + dots + '"', "'" + dots + "'", basic + "\n" + dots + basic,
                                  literal + dots + literal, basic + dots + basic + "\"\""}) {
    EXPECT_EQ(refusal("description = " + text + " # " + dots + "\n"), "accepted") << text;
  }
}

TEST(ConfigRobustness, DeepBracketsAreRefused) {
  const auto nested = [](std::size_t depth) {
    return "x = " + std::string(depth, '[') + std::string(depth, ']') + "\n";
  };
  EXPECT_EQ(refusal(nested(kMostBrackets)).find("brackets"), std::string::npos);
  EXPECT_EQ(refusal(nested(kMostBrackets + 1)),
            "m.toml:1:37: more than 32 brackets within each other; close some of them");
  EXPECT_EQ(refusal(std::string(50000, '[')).substr(0, 10), "m.toml:1:3");
}

TEST(Config, AFileThatSaysNothingIsRefused) {
  const test::Scratch scratch;
  for (const char* text : {"", "\n# a comment\n"}) {
    const std::string path = scratch.write("m.toml", text);
    try {
      static_cast<void>(read_machine(path));
      ADD_FAILURE() << "not refused";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find(path + ": the machine file says nothing; extends = \"baseline\""), 0U)
          << error.what();
    }
  }
  scratch.write("empty.toml", "");
  EXPECT_THROW(static_cast<void>(read_machine(scratch.write("n.toml", "extends = \"empty\"\n"))), InputError);
  EXPECT_EQ(read_machine(scratch.write("o.toml", "extends = \"baseline\"\n")).name, "o");
}

}  // namespace
}  // namespace heddle::tb
