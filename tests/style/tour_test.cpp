// docs/tour.md names files, functions and tests in words, which no link checks: each must still be there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::test {
namespace {

using ::testing::Contains;

namespace fs = std::filesystem;

const fs::path kRoot = HEDDLE_SOURCE_DIR;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// All C++ below some folders.
std::string sources_of(const std::vector<std::string>& folders) {
  std::string out;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& one : fs::recursive_directory_iterator(kRoot / folder)) {
      if (one.path().extension() == ".cpp" || one.path().extension() == ".hpp" || one.path().extension() == ".inc") {
        out += content_of(one.path()) + "\n";
      }
    }
  }
  return out;
}

std::vector<std::string> all_of(const std::string& text, const char* expression) {
  const std::regex pattern(expression);
  std::vector<std::string> out;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    out.push_back((*it)[1]);
  }
  return out;
}

std::string tour() {
  return content_of(kRoot / "docs" / "tour.md");
}

TEST(Tour, NamesFilesThatAreThere) {
  std::size_t files = 0;
  std::istringstream lines(tour());
  for (std::string line; std::getline(lines, line);) {
    fs::path folder;  // of the file before it: "`hw/dram/policy.hpp`, `fr_fcfs.cpp`"
    for (const std::string& name : all_of(line, R"(`([\w./]+\.(?:hpp|cpp|inc|toml))`)")) {
      const fs::path path = name.find('/') == std::string::npos ? folder / name : fs::path(name);
      EXPECT_TRUE(fs::exists(kRoot / path)) << path;
      folder = path.parent_path();
      ++files;
    }
  }
  EXPECT_GT(files, 40U);
}

TEST(Tour, NamesFunctionsThatAreThere) {
  const std::string sources = sources_of({"ptx", "isa", "tlm", "hw", "tb"});
  const std::string text = tour();
  const std::size_t begin = text.find("\n1. ");
  const std::string steps = text.substr(begin, text.find("## Three habits") - begin);
  const std::vector<std::string> names = all_of(steps, R"(`((?:\w+::)*\w+)`)");
  EXPECT_THAT(names, Contains("take_step"));
  EXPECT_GT(names.size(), 20U);
  const std::set<std::string> no_names = {"baseline", "vecadd", "r0", "r1"};
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    if (no_names.count(name) == 0) {
      EXPECT_TRUE(std::regex_search(sources, std::regex("\\b" + name + "\\b"))) << name;
    }
  }
}

TEST(Tour, NamesTestsThatAreThere) {
  const std::vector<std::string> suites = all_of(tour(), R"(\| `(\w+\.\*?\w+)` \|\n)");
  EXPECT_GT(suites.size(), 12U);
  for (const std::string& name : suites) {
    const std::size_t dot = name.find('.');
    const std::string suite = name.substr(name.find_first_not_of('*', dot + 1));
    const std::string tests = sources_of({"tests/" + name.substr(0, dot)});
    EXPECT_TRUE(std::regex_search(tests, std::regex("TEST(?:_F|_P)?\\(" + suite))) << name;
  }
}

}  // namespace
}  // namespace heddle::test
