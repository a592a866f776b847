#include "floors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace heddle::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

TEST(Floors, NoIncludeOfHeddleRunsUpward) {
  EXPECT_THAT(include_faults(HEDDLE_SOURCE_DIR), IsEmpty());
}

// A small tree of its own in which all is well.
class FloorsOf : public ::testing::Test {
 protected:
  FloorsOf() {
    write("CMakeLists.txt", "heddle_layer(base USES fmt::fmt)\nheddle_layer(front USES heddle::base)\n" +
                                std::string("heddle_layer(link USES heddle::base SystemC::systemc)\n") +
                                "heddle_layer(hw WHOLE\n             USES heddle::link)\n");
    document("| `low/` | what all need | no |\n| `left/`, `right/` | units | yes, but for `left/rule.hpp` |\n" +
             std::string("| `rules/` | policies | no |\n"));
    write("base/error.hpp", "#include <string>\n");
    write("front/parse.hpp", "#include \"base/error.hpp\"\n");
    write("link/cycle.hpp", "#include <cstdint>\n");
    write("link/clock.hpp", "#include <systemc>\n#include \"link/cycle.hpp\"\n");
    write("hw/low/state.hpp", "#include \"base/error.hpp\"\n#include \"link/cycle.hpp\"\n");
    write("hw/left/rule.hpp", "#include \"hw/low/state.hpp\"\n");
    write("hw/left/left.hpp", "#include \"hw/left/rule.hpp\"\n#include \"link/clock.hpp\"\n");
    write("hw/right/right.cpp", "#include \"hw/low/state.hpp\"\n#include <tlm>\n");
    write("hw/rules/rule.cpp", "#include \"hw/left/rule.hpp\"\n");
  }
  ~FloorsOf() override { fs::remove_all(root_); }
  FloorsOf(const FloorsOf&) = delete;
  FloorsOf& operator=(const FloorsOf&) = delete;

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void document(const std::string& floors, const std::string& hw_uses = "link") {
    write("docs/architecture.md",
          "# Architecture\n\n- [Layers](#layers)\n\n## Layers\n\n| folder | holds | uses |\n|---|---|---|\n"
          "| `base/` | errors | fmt |\n| `front/` | a front end | base |\n| `link/` | clock | base, SystemC |\n"
          "| `hw/` | modules | " +
              hw_uses + " |\n\n### Floors of hw/\n\n| folders | hold | SystemC |\n|---|---|---|\n" + floors +
              "\n## Other\n\n| `else/` | | |\n");
  }
  [[nodiscard]] std::vector<std::string> faults() const { return include_faults(root_); }
  [[nodiscard]] fs::path path(const std::string& name) const { return root_ / name; }

 private:
  fs::path root_ = fs::path(::testing::TempDir()) / ("floors_" + std::to_string(::getpid()));
};

TEST_F(FloorsOf, ATreeInOrderHasNoFaults) {
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(FloorsOf, AnArrowUpwardIsNamed) {
  write("hw/low/state.hpp", "#pragma once\n\n#  include \"hw/rules/rule.hpp\"\n");
  write("hw/rules/rule.hpp", "");
  EXPECT_THAT(faults(),
              ElementsAre("hw/low/state.hpp:3: includes hw/rules/rule.hpp, but hw/rules stands above hw/low"));
}

TEST_F(FloorsOf, AFloorsFoldersKnowNothingOfEachOther) {
  write("hw/right/right.cpp", "#include \"hw/left/left.hpp\"\n");
  EXPECT_THAT(faults(), ElementsAre("hw/right/right.cpp:1: includes hw/left/left.hpp, but hw/left stands on the same "
                                    "floor as hw/right"));
}

TEST_F(FloorsOf, WhatIsCommentedOutDoesNotCount) {
  write("hw/low/state.hpp", "// #include \"hw/rules/rule.hpp\"\n");
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(FloorsOf, AFolderNeedsAFloorAndAFloorFiles) {
  write("hw/cellar/x.hpp", "");
  write("hw/lonely.hpp", "");
  document("| `low/`, `left/`, `right/`, `attic/` | | yes |\n| `rules/` | | yes, but for `rules/none.hpp` |\n");
  EXPECT_THAT(faults(), ElementsAre("hw/cellar/x.hpp: hw/cellar is on no floor (docs/architecture.md)",
                                    "hw/lonely.hpp: hw/ is on no floor (docs/architecture.md)",
                                    "hw/left/rule.hpp:1: includes hw/low/state.hpp, but hw/low stands on the same "
                                    "floor as hw/left",
                                    "hw/right/right.cpp:1: includes hw/low/state.hpp, but hw/low stands on the same "
                                    "floor as hw/right",
                                    "docs/architecture.md: hw/attic has a floor and no files",
                                    "docs/architecture.md: there is no hw/rules/none.hpp"));
}

TEST_F(FloorsOf, AnIncludedFileMustExist) {
  write("hw/low/state.hpp", "#include \"hw/low/other.hpp\"\n#include \"other.hpp\"\n");
  write("base/error.hpp", "#include \"base/none.hpp\"\n");
  EXPECT_THAT(faults(), ElementsAre("base/error.hpp:1: includes base/none.hpp, which does not exist",
                                    "hw/low/state.hpp:1: includes hw/low/other.hpp, which does not exist",
                                    "hw/low/state.hpp:2: includes other.hpp, which does not exist"));
}

TEST_F(FloorsOf, LayersKeepToWhatTheyUse) {
  write("hw/low/state.hpp", "#include \"front/parse.hpp\"\n");
  write("base/error.hpp", "#include \"front/parse.hpp\"\n");
  write("tests/x.hpp", "");
  write("front/parse.hpp", "#include \"tests/x.hpp\"\n");
  EXPECT_THAT(faults(), ElementsAre("base/error.hpp:1: includes front/parse.hpp, but base/ does not use front/",
                                    "front/parse.hpp:1: includes tests/x.hpp, which belongs to no layer",
                                    "hw/low/state.hpp:1: includes front/parse.hpp, but hw/ does not use front/"));
}

TEST_F(FloorsOf, SystemCIsFoundByWayOfOtherHeaders) {
  write("link/cycle.hpp", "#include <cstdint>\n#include <tlm_utils/simple_target_socket.h>\n");
  write("front/parse.hpp", "#include <sysc/kernel/sc_time.h>\n");
  EXPECT_THAT(faults(), ElementsAre("front/parse.hpp: must do without SystemC and includes it: front/parse.hpp:1",
                                    "hw/left/rule.hpp: must do without SystemC and includes it: hw/left/rule.hpp:1 > "
                                    "hw/low/state.hpp:2 > link/cycle.hpp:2",
                                    "hw/low/state.hpp: must do without SystemC and includes it: hw/low/state.hpp:2 > "
                                    "link/cycle.hpp:2",
                                    "hw/rules/rule.cpp: must do without SystemC and includes it: hw/rules/rule.cpp:1 > "
                                    "hw/left/rule.hpp:1 > hw/low/state.hpp:2 > link/cycle.hpp:2"));
}

// Layers of a folder that is none itself, and a program above them.
class LayersWithin : public FloorsOf {
 protected:
  LayersWithin() {
    const std::string rows =
        "| `top/low/` | files | base |\n| `top/high/` | pages | low |\n| `top/main/` | a program | high |\n";
    write("docs/architecture.md",
          "## Layers\n\n| folder | holds | uses |\n|---|---|---|\n| `base/` | errors | |\n" + rows);
    libraries("top/high");
    fs::remove_all(path("hw"));
    fs::remove_all(path("link"));
    fs::remove_all(path("front"));
    write("top/main/CMakeLists.txt", "add_executable(main x.cpp)\ntarget_link_libraries(main PRIVATE heddle::high)\n");
    write("top/low/file.hpp", "#include \"base/error.hpp\"\n");
    write("top/high/page.hpp", "#include \"top/low/file.hpp\"\n");
    write("top/main/x.cpp", "#include \"base/error.hpp\"\n#include \"top/high/page.hpp\"\n");
  }
  void libraries(const std::string& high) {
    write("CMakeLists.txt",
          "heddle_layer(base USES fmt::fmt)\nheddle_layer(low FOLDER top/low USES heddle::base)\n"
          "heddle_layer(high FOLDER " +
              high + " WHOLE USES heddle::low)\n");
  }
};

TEST_F(LayersWithin, AreLayersLikeOthers) {
  EXPECT_THAT(faults(), IsEmpty());
  write("top/low/file.hpp", "\n#include \"top/high/page.hpp\"\n");
  EXPECT_THAT(faults(),
              ElementsAre("top/low/file.hpp:2: includes top/high/page.hpp, but top/low/ does not use top/high/"));
}

TEST_F(LayersWithin, AFileBesideThemBelongsToNone) {
  write("top/stray.hpp", "");
  write("top/high/page.hpp", "#include \"top/stray.hpp\"\n");
  EXPECT_THAT(faults(), ElementsAre("top/stray.hpp: belongs to no layer (docs/architecture.md)",
                                    "top/high/page.hpp:1: includes top/stray.hpp, which belongs to no layer"));
}

TEST_F(LayersWithin, ALibraryIsBuiltFromItsOwnFolder) {
  libraries("top/other");
  EXPECT_THAT(faults(), ElementsAre("docs/architecture.md: layer high lies in top/high/; CMakeLists.txt builds it from "
                                    "top/other/"));
}

TEST_F(LayersWithin, AProgramKeepsToWhatItLinks) {
  write("top/main/CMakeLists.txt", "target_link_libraries(main PRIVATE heddle::low)\n");
  EXPECT_THAT(faults(), ElementsAre("docs/architecture.md: main uses base, high, low; in CMakeLists.txt it links base, "
                                    "low"));
}

TEST_F(FloorsOf, TheTableOfLayersAgreesWithTheLibraries) {
  document("| `low/` | | no |\n| `left/`, `right/` | | yes |\n| `rules/` | | no |\n", "link, front");
  EXPECT_THAT(faults(), ElementsAre("docs/architecture.md: hw uses SystemC, base, front, link; in CMakeLists.txt it "
                                    "links SystemC, base, link"));
}

TEST_F(FloorsOf, WithoutTablesNothingPasses) {
  write("docs/architecture.md", "# Architecture\n");
  EXPECT_THAT(faults(), ElementsAre("docs/architecture.md: no table of layers"));
  document("");
  EXPECT_EQ(faults().at(0), "docs/architecture.md: no table of floors of hw/");
  document("| `low/` | | no |\n| `left/`, `right/` | | yes |\n| `rules/` | | no |\n");
  write("CMakeLists.txt", "");
  EXPECT_EQ(faults().at(0), "base/error.hpp: base/ has sources and no heddle_layer() in CMakeLists.txt");
}

}  // namespace
}  // namespace heddle::test
