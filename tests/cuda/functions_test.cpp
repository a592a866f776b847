// docs/cuda-functions.md, the headers and the library agree.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace heddle::cuda {
namespace {

std::string file(const std::string& path) {
  std::ifstream in(HEDDLE_SOURCE_DIR "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// What the header declares: names behind their result's type, at the beginning of a line.
std::set<std::string> declared(const std::string& header, const std::string& pattern) {
  const std::string text = file("cuda/include/runtime/" + header);
  const std::regex declaration("(?:^|\\n)[a-zA-Z_][a-zA-Z_ *]* \\*?(" + pattern + ")\\(");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

std::map<std::string, std::string> table() {
  const std::string text = file("docs/cuda-functions.md");
  const std::regex row("\\| `(cuda\\w+)` \\| (\\w+) \\| (.*) \\|");
  std::map<std::string, std::string> states;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
    EXPECT_TRUE(states.emplace((*at)[1], (*at)[2]).second) << (*at)[1] << " is there twice";
    EXPECT_TRUE((*at)[2] != "refused" || (*at)[3].length() != 0) << (*at)[1] << ": why?";
  }
  return states;
}

class Functions : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = std::filesystem::path(HEDDLE_PROGRAM).parent_path();
    library_ = ::dlopen((folder / "libheddle_cudart.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
  }
  [[nodiscard]] bool exported(const std::string& name) const { return ::dlsym(library_, name.c_str()) != nullptr; }
  void* library_ = nullptr;
};

TEST_F(Functions, OfTheTableAreThoseOfTheHeaderAndOfTheLibrary) {
  const std::map<std::string, std::string> states = table();
  std::set<std::string> header = declared("cuda_runtime_api.h", "cuda[A-Z]\\w*");
  header.merge(declared("heddle_graphs.h", "cuda[A-Z]\\w*"));
  EXPECT_GT(states.size(), 300U);
  EXPECT_GT(header.size(), 100U);
  for (const std::string& name : header) {
    EXPECT_EQ(states.count(name), 1U) << name << " is not in docs/cuda-functions.md";
    EXPECT_TRUE(exported(name)) << name << " is declared, and not in the library";
  }
  for (const auto& [name, state] : states) {
    EXPECT_TRUE(state == "done" || state == "accepted" || state == "unsupported" || state == "refused")
        << name << ": " << state;
    if (state != "refused") {
      EXPECT_EQ(header.count(name), 1U) << name << " is said to be there";
    }
    if (header.count(name) == 0) {
      EXPECT_FALSE(exported(name)) << name << " is said not to be there";
    }
  }
}

TEST_F(Functions, OfTheDriverApiAreAllInTheLibrary) {
  const std::set<std::string> header = declared("cuda.h", "cu[A-Z]\\w*");
  EXPECT_GT(header.size(), 80U);
  const std::string text = file("cuda/include/runtime/cuda.h");
  for (const std::string& name : header) {
    const bool second = text.find("#define " + name + " " + name + "_v2\n") != std::string::npos;
    EXPECT_TRUE(exported(second ? name + "_v2" : name)) << name;
  }
}

}  // namespace
}  // namespace heddle::cuda
