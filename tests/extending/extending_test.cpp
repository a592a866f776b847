// docs/extending.md is true to the letter: this program holds every file that the page shows
// (tests/extending/extract.sh takes them out of it) and the examples beside this one, with their own tests. Here:
// excerpts stand where the page says, every kind of policy has an example that the page names, and each command of the
// page runs, equal to the reference interpreter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "hw/check/machine.hpp"
#include "ptx/compile.hpp"
#include "tb/config/config.hpp"
#include "tb/device/code_options.hpp"
#include "tb/device/device.hpp"
#include "tb/device/workload.hpp"
#include "tb/measure/cost/cost.hpp"
#include "tb/measure/energy/energy.hpp"
#include "tb/measure/summary.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

const fs::path kSources = HEDDLE_SOURCE_DIR;
const fs::path kExamples = HEDDLE_EXAMPLES;
// The page's tables are found by name, as they would be in the source tree.
const bool kNamed = ::setenv("HEDDLE_CONFIGS", (kExamples / "files" / "configs").c_str(), 1) == 0;
const fs::path kKernels = kExamples.parent_path() / "kernels";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// Words apart by one space.
std::string normal(const std::string& text) {
  return fmt::format("{}", fmt::join(words_of(text), " "));
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  return files;
}

std::vector<std::string> commands() {
  std::vector<std::string> all;
  std::ifstream file(kExamples / "commands");
  for (std::string line; std::getline(file, line);) {
    all.push_back(line);
  }
  return all;
}

TEST(Extending, ExcerptsStandInAFileThatTheirSectionNames) {
  for (const fs::path& excerpt : files_below(kExamples / "excerpts")) {
    const std::string text = text_of(excerpt);
    const std::size_t end = text.find('\n');
    const std::string wanted = normal(text.substr(end));
    bool found = false;
    for (const std::string& name : words_of(text.substr(0, end))) {
      const fs::path shown = kExamples / "files" / name;
      found = found || normal(text_of(fs::exists(shown) ? shown : kSources / name)).find(wanted) != std::string::npos;
    }
    EXPECT_TRUE(found) << "docs/extending.md:" << excerpt.filename().string()
                       << ": this block names no file that it makes, and stands in none that its section names";
  }
}

TEST(Extending, EveryKindOfTheTableHasAnExample) {
  std::string shown;
  for (const fs::path& file : files_below(kExamples / "files")) {
    shown += text_of(file);
  }
  const std::string link = "](../tests/extending/";
  std::ifstream page(kSources / "docs/extending.md");
  std::size_t rows = 0;
  for (std::string line; std::getline(page, line) && rows < 100;) {
    const std::size_t name = line.find(" | `hw::");
    const std::size_t workload = line.find(" | `tb::Workload`");
    if (line.rfind("| a", 0) != 0 || (name == std::string::npos && workload == std::string::npos)) {
      continue;
    }
    ++rows;
    const std::size_t begin = line.find("::", line.find(" | `")) + 2;
    const std::string interface =
        workload != std::string::npos ? "KernelWorkload" : line.substr(begin, line.find('`', begin) - begin);
    const std::size_t linked = line.find(link);
    const std::size_t file = linked + link.size();
    const std::string example =
        linked == std::string::npos
            ? shown
            : text_of(kSources / "tests/extending" / line.substr(file, line.find(')', file) - file));
    EXPECT_NE(example.find(" : public " + interface + " {"), std::string::npos) << line;
  }
  EXPECT_GE(rows, 10U);
}

TEST(Extending, ALineMakesAFigureOfTheSummary) {
  hw::Totals totals;
  totals.l1d.fills = 7;
  struct Lines : tb::Summary {
#define HEDDLE_FIGURE(Type, name, unit, definition, ...) Type name{};
#include "lines/summary.inc"
#undef HEDDLE_FIGURE
  };
  Lines lines;
#define HEDDLE_FIGURE(Type, name, unit, definition, ...) \
  EXPECT_NE((lines.name = __VA_ARGS__), decltype(lines.name){}) << #name << ", " << (unit) << ": " << (definition);
#include "lines/summary.inc"
#undef HEDDLE_FIGURE
}

hw::Totals run(const hw::Machine& machine, const std::string& name) {
  tb::WorkloadOptions options;
  options.scale = tb::Workload::test_scale();
  options.code = tb::code_options(machine);
  options.resident_threads = machine.core.threads;
  const auto workload = Registry<tb::Workload>::instance().make(name, options);
  const fs::path shown = kKernels / (name + ".ptx");  // of a workload of the page, which is in no library
  const isa::Module module = fs::exists(shown) ? ptx::compile_file(shown.string()) : workload->compile();
  tb::Device device(machine);
  device.load(module);
  const tb::Verdict verdict = workload->run(device);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
  tb::ReferenceExecutor reference;
  reference.load(module);
  EXPECT_TRUE(workload->run(reference).correct);
  EXPECT_FALSE(workload->order_dependent());
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
  return device.totals();
}

class ExtendingCommand : public ::testing::TestWithParam<std::size_t> {};

// "CONFIG WORKLOAD --scale S --set KEY=VALUE... --energy TABLE", at the scale of tests.
TEST_P(ExtendingCommand, EqualsTheReference) {
  const std::string command = commands()[GetParam()];
  SCOPED_TRACE("./heddle run " + command);
  const std::vector<std::string> words = words_of(command);
  ASSERT_GE(words.size(), 2U);
  std::vector<std::string> settings;
  std::vector<tb::EnergyTable> tables;
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    ASSERT_TRUE(words[i] == "--set" || words[i] == "--scale" || words[i] == "--energy") << words[i];
    if (words[i] == "--set") {
      settings.push_back(words[i + 1]);
    } else if (words[i] == "--energy") {
      tables.push_back(tb::read_energy_table(words[i + 1]));
    }
  }
  const hw::Machine machine = tb::read_machine((kSources / "configs" / (words[0] + ".toml")).string(), settings);
  const hw::Totals totals = run(machine, words[1]);
  for (const tb::EnergyTable& table : tables) {
    for (const tb::Energy::Kind& kind : tb::energy_of(table, totals, machine).kinds) {
      EXPECT_GT(kind.pj, kind.leakage_pj) << kind.name << ": nothing of what the table names happens";
    }
  }
  EXPECT_FALSE(tb::cost_text(tb::storage_cost(machine)).empty());
}

INSTANTIATE_TEST_SUITE_P(Page, ExtendingCommand, ::testing::Range<std::size_t>(0, commands().size()));

TEST(Extending, LinesOfTheListMakeMachines) {
  std::vector<hw::Machine> machines;
  const auto add = [&](const char* name, auto change) {
    hw::Machine machine;
    machine.name = name;
    change(machine);
    machines.push_back(machine);
  };
#include "lines/machines.inc"
  ASSERT_FALSE(machines.empty());
  for (const hw::Machine& machine : machines) {
    EXPECT_TRUE(hw::check(machine).empty()) << machine.name;
  }
}

}  // namespace
}  // namespace heddle
