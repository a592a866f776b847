// Which files' texts a report shows: files beside what the user has named, and no others, whatever a line table says.
#include "tb/measure/profile/source_text.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/program_runner.hpp"

namespace heddle::tb {
namespace {

namespace fs = std::filesystem;
using test::heddle;
using test::Ran;
using test::Scratch;

TEST(SourceFiles, AllowsWhatLiesBesideAndWhatIsListed) {
  const Scratch scratch;
  for (const char* const folder : {"beside", "beside/deep", "beside/.hidden", "other"}) {
    fs::create_directory(scratch.path(folder));
  }
  const std::string near = scratch.write("beside/a.cu", "near");
  const std::string deep = scratch.write("beside/deep/a.h", "deep");
  const std::string hidden = scratch.write("beside/.key", "secret");
  const std::string within = scratch.write("beside/.hidden/a.h", "secret");
  const std::string far = scratch.write("other/a.h", "far");
  const std::string text = scratch.write("a.txt", "far");
  fs::create_symlink("../other/a.h", scratch.path("beside/link.h"));
  fs::create_directory_symlink(scratch.path("beside"), scratch.path("linked"));
  SourceFiles sources;
  EXPECT_EQ(sources.text(near), std::nullopt);
  sources.allow_below(scratch.path("linked"));
  EXPECT_EQ(sources.text(near), "near");
  EXPECT_EQ(sources.text(scratch.path("linked/deep/../a.cu")), "near");
  EXPECT_EQ(sources.text(deep), "deep");
  for (const std::string& name : {hidden, within, far, text, scratch.path("beside/link.h"), scratch.path("beside"),
                                  scratch.path("beside/../other/a.h"), std::string("/etc/passwd"), std::string()}) {
    EXPECT_EQ(sources.text(name), std::nullopt) << name;
  }
  sources.allow({scratch.path("beside/../other/a.h"), scratch.path("none")});
  EXPECT_EQ(sources.text(far), "far");
  EXPECT_EQ(sources.text(text), std::nullopt);
  // A folder by no name is the present one.
  const fs::path here = fs::current_path();
  fs::current_path(scratch.path("other"));
  SourceFiles present;
  present.allow_below("");
  EXPECT_EQ(present.text("a.h"), "far");
  EXPECT_EQ(present.text(near), std::nullopt);
  fs::current_path(here);
}

TEST(SourceFiles, ALineTableBringsNoFileOfTheHostIntoAReport) {
  const Scratch scratch;
  fs::create_directory(scratch.path("in"));
  scratch.write("in/k.cu", "of the kernel\n");
  const std::string secret = scratch.write("secret.txt", "of the host\n");
  const auto report_of = [&](const std::string& file) {
    scratch.write("in/k.ptx", ".version 7.0\n.target sm_60\n.address_size 32\n.file 1 \"" + file +
                                  "\"\n.visible .entry k()\n{\n.loc 1 1 1\nret;\n}\n");
    scratch.write("in/l.toml", "ptx = \"k.ptx\"\n[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [1]\n");
    const Ran ran = test::heddle({"run", "baseline", scratch.path("in/l.toml"), "--quiet", "--report-data",
                                  scratch.path("r.json"), "--report", scratch.path("r.html")});
    EXPECT_EQ(ran.code, 0) << ran.err;
    return Scratch::read(scratch.path("r.json")) + Scratch::read(scratch.path("r.html"));
  };
  EXPECT_NE(report_of(scratch.path("in/k.cu")).find("of the kernel"), std::string::npos);
  const std::string named = report_of(secret);
  EXPECT_NE(named.find("secret.txt"), std::string::npos);
  EXPECT_EQ(named.find("of the host"), std::string::npos);
}

}  // namespace
}  // namespace heddle::tb
