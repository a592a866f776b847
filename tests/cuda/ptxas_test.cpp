// What is read of NVIDIA's assembler, and how `heddle compile --ptxas` sets it beside our code; by a program that
// stands in for it, since a toolkit is not always there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cuda/compiler/ptxas.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::cuda {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

template <class Number>
void put(std::string& to, std::size_t at, Number number) {
  if (to.size() < at + sizeof number) to.resize(at + sizeof number);
  std::memcpy(to.data() + at, &number, sizeof number);
}

// An object file of 64 bits with sections of these names, whose instructions have these operations.
std::string object_file(const std::vector<std::pair<std::string, std::vector<unsigned>>>& sections) {
  std::string names(1, '\0'), body;
  std::vector<std::pair<std::size_t, std::size_t>> places;  // name, offset behind the header
  for (const auto& [name, operations] : sections) {
    places.emplace_back(names.size(), body.size());
    names += name + '\0';
    for (const unsigned operation : operations) {
      std::string instruction(16, '\0');
      put(instruction, 0, static_cast<std::uint16_t>(operation | 0x7000U));
      body += instruction;
    }
  }
  constexpr std::size_t kHeader = 64;
  const std::size_t names_at = kHeader + body.size(), headers = names_at + names.size();
  std::string file =
      "\x7f"
      "ELF\x02";
  file.resize(kHeader);
  put(file, 40, std::uint64_t{headers});
  put(file, 58, std::uint16_t{64});
  put(file, 60, static_cast<std::uint16_t>(sections.size() + 1));
  put(file, 62, static_cast<std::uint16_t>(sections.size()));
  file += body + names;
  for (std::size_t i = 0; i != sections.size(); ++i) {
    put(file, headers + 64 * i, static_cast<std::uint32_t>(places[i].first));
    put(file, headers + 64 * i + 24, std::uint64_t{kHeader + places[i].second});
    put(file, headers + 64 * i + 32, std::uint64_t{16 * sections[i].second.size()});
  }
  put(file, headers + 64 * sections.size(), std::uint32_t{0});
  put(file, headers + 64 * sections.size() + 24, std::uint64_t{names_at});
  put(file, headers + 64 * sections.size() + 32, std::uint64_t{names.size()});
  file.resize(headers + 64 * (sections.size() + 1));
  return file;
}

std::string refusal(const std::string& object) {
  try {
    static_cast<void>(count_instructions(std::as_bytes(std::span(object)), "k.ptx"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

constexpr unsigned kAdd = 0x210, kExit = 0x94d, kBranch = 0x947, kNop = 0x918;

TEST(Ptxas, CountsInstructionsUpToTheBranchBehindTheLast) {
  const std::string object = object_file({{".text.one", {kAdd, kBranch, kExit, kBranch, kNop, kNop}},
                                          {".nv.info", {kAdd}},
                                          {".text.two", {kAdd, kNop, kExit}},
                                          {".text.none", {}}});
  const auto counts = count_instructions(std::as_bytes(std::span(object)), "k.ptx");
  EXPECT_EQ(counts, (std::map<std::string, std::size_t>{{"one", 3}, {"two", 3}, {"none", 0}}));
}

TEST(Ptxas, AnObjectFileThatIsNoneOrCutOffIsRefused) {
  const std::string whole = object_file({{".text.one", {kAdd, kExit}}});
  EXPECT_EQ(refusal(whole), "accepted");
  EXPECT_EQ(refusal("no object"), "k.ptx: ptxas has written no object file of 64 bits");
  EXPECT_EQ(refusal(""), "k.ptx: ptxas has written no object file of 64 bits");
  for (std::size_t size = 5; size + 32 < whole.size(); size += 3) {
    EXPECT_EQ(refusal(whole.substr(0, size)), "k.ptx: the object file is cut off") << size;
  }
  std::string far = whole;
  put(far, 40, ~std::uint64_t{0} - 8);
  EXPECT_EQ(refusal(far), "k.ptx: the object file is cut off");
}

const char* const kReport =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'one' for 'sm_90'\n"
    "ptxas info    : Function properties for one\n"
    "    8 bytes stack frame, 36 bytes spill stores, 40 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 1 barriers, 24 bytes smem\n"
    "ptxas info    : Compiling entry function 'two' for 'sm_90'\n"
    "ptxas info    : Used 7 registers";

TEST(Ptxas, ReadsRegistersAndSpills) {
  const auto kernels = read_report(kReport);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels.at("one").registers, 40U);
  EXPECT_EQ(kernels.at("one").spilled_bytes, 36U);
  EXPECT_EQ(kernels.at("two").registers, 7U);
  EXPECT_EQ(kernels.at("two").spilled_bytes, 0U);
}

class CompileBesidePtxas : public ::testing::Test {
 protected:
  test::Ran ran(const std::string& script) {
    const std::string program = scratch_.write("ptxas", "#!/bin/sh\n" + script);
    fs::permissions(program, fs::perms::owner_all);
    test::RunSetup setup;
    setup.environment = {"HEDDLE_PTXAS=" + program};
    return test::heddle({"compile", text_, "--ptxas", "sm_75"}, setup);
  }
  test::Scratch scratch_;
  std::string text_ =
      scratch_.write("k.ptx",
                     ".version 7.0\n .target sm_60, debug\n.address_size 64\n.visible .entry one() { ret; "
                     "}\n.visible .entry two() { ret; }\n");
};

TEST_F(CompileBesidePtxas, ColumnsSayWhatItMakesOfTheText) {
  const std::string object =
      scratch_.write("object", object_file({{".text.one", {kAdd, kExit}}, {".text.two", {kExit}}}));
  const std::string report = scratch_.write("report", kReport);
  // -v -arch=sm_75 TEXT -o OBJECT; the text is for the oldest GPU that is known.
  const test::Ran shown =
      ran("test \"$2\" = -arch=sm_75 && grep -q '^ .target sm_75, debug$' \"$3\" || exit 9\n"
          "cat " +
          report + " >&2; cp " + object + " \"$5\"\n");
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("ptxas:"));
  EXPECT_THAT(shown.out, ::testing::ContainsRegex("one +1 .* 2 +40 +36\n"));
  EXPECT_THAT(shown.out, ::testing::ContainsRegex("two +1 .* 1 +7 +0\n"));
}

TEST_F(CompileBesidePtxas, ErrorsAreItsOwn) {
  const test::Ran refused =
      ran("echo \"ptxas $3, line 4; error   : Not a name of any known instruction: 'heed'\" >&2; exit 255\n");
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.err, "heddle: " + text_ + ":4: ptxas refuses it: Not a name of any known instruction: 'heed'\n");
  const test::Ran nothing = ran("exit 0\n");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(nothing.err, "heddle: " + text_ + ": ptxas has written no object file of 64 bits\n");
  test::RunSetup setup;
  setup.environment = {"HEDDLE_PTXAS=" + scratch_.path("none")};
  const test::Ran none = test::heddle({"compile", text_, "--ptxas", "sm_75"}, setup);
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("set HEDDLE_PTXAS to the program"));
}

}  // namespace
}  // namespace heddle::cuda
