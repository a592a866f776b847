// No command writes over a file that it reads: headers that a kernel includes, programs, sources and objects of
// heddle nvcc, by whatever name or link.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/program_runner.hpp"

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;
using test::heddle;
using test::Ran;
using test::RunSetup;
using test::Scratch;

using Words = std::vector<std::string>;

// A kernel with headers, beside it and elsewhere, and what runs it.
class CommandInputs : public testing::Test {
 protected:
  CommandInputs() {
    fs::create_directory(scratch_.path("more"));
    write("x.h", "#define N 1\n#include <deep.h>\n");
    write("more/deep.h", "#define M 1\n");
    write("k.cu",
          "#include \"x.h\"\nextern \"C\" __global__ void k(unsigned* p) {\n"
          "  for (unsigned i = 0; i < N; i++) p[i] += M;\n}\n");
    write("l.toml",
          "cuda = \"k.cu\"\n[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = 64\n"
          "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\narguments = [{ buffer = \"x\" }]\n");
    write("e.toml", "config = \"baseline\"\nworkload = \"./l.toml\"\n[axes]\ncore.warp_size = [32]\n");
    setup_.folder = scratch_.path();
    setup_.environment = {"CPATH=" + scratch_.path("more")};
  }
  void write(const std::string& name, const std::string& text) {
    texts_.emplace_back(name, text);
    scratch_.write(name, text);
  }
  [[nodiscard]] Ran run(const Words& words) const { return test::heddle(words, setup_); }
  // The command is refused with this message, nothing it reads has changed, and nothing is left beside it.
  void refuses(const Words& words, const std::string& message) const {
    SCOPED_TRACE(message);
    const auto before = entries();
    const Ran ran = run(words);
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_EQ(ran.err, "heddle: " + message + "\n");
    EXPECT_EQ(entries(), before);
    for (const auto& [name, text] : texts_) {
      EXPECT_EQ(Scratch::read(scratch_.path(name)), text) << name;
    }
  }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::recursive_directory_iterator(scratch_.path()), fs::recursive_directory_iterator()));
  }

  Scratch scratch_;
  RunSetup setup_;
  std::vector<std::pair<std::string, std::string>> texts_;
};

const std::string kAnother = " that this command reads; name another file";

TEST_F(CommandInputs, HeadersThatAKernelIncludesStay) {
  const std::string header = " is a header of the kernel file";
  refuses({"run", "baseline", "l.toml", "--memory-trace", "x.h"}, "--memory-trace: 'x.h'" + header + kAnother);
  const std::string deep = scratch_.path("more/deep.h");
  refuses({"run", "baseline", "l.toml", "--memory-trace", deep}, "--memory-trace: '" + deep + "'" + header + kAnother);
  fs::create_hard_link(scratch_.path("x.h"), scratch_.path("page.html"));
  refuses({"run", "baseline", "l.toml", "--report", "page.html"},
          "--report: 'page.html'" + header + " 'x.h'" + kAnother);
  refuses({"sweep", "e.toml", "--database", "x.h"}, "--database: 'x.h'" + header + kAnother);
  refuses({"sweep", "e.toml", "--database", "l.toml"}, "--database: 'l.toml' is the launch file" + kAnother);
  refuses({"sweep", "e.toml", "--database", "k.cu"}, "--database: 'k.cu' is the kernel file" + kAnother);
}

TEST_F(CommandInputs, AProgramAndWhatItIsToldToReadStay) {
  write("p", "#!/bin/sh\n");
  fs::permissions(scratch_.path("p"), fs::perms::owner_all);
  write("data", "1 2 3\n");
  refuses({"exec", "--memory-trace", "p", "--", "./p", "data"}, "--memory-trace: 'p' is the program './p'" + kAnother);
  refuses({"exec", "--memory-trace", "data", "--", "./p", "data"},
          "--memory-trace: 'data' is an argument of the program" + kAnother);
  setup_.environment.push_back("PATH=" + scratch_.path() + ":/usr/bin:/bin");
  refuses({"exec", "--memory-trace", "p", "--", "p"},
          "--memory-trace: 'p' is the program '" + scratch_.path("p") + "'" + kAnother);
  fs::create_symlink(HEDDLE_PROGRAM, scratch_.path("heddle.json"));
  const Ran ran = run({"bench", "--quick", "--only", "lanes-add", "--json", "heddle.json"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err.find("heddle: --json: 'heddle.json' is the program itself, '"), 0U) << ran.err;
}

TEST_F(CommandInputs, NvccDoesNotWriteOverWhatItReads) {
  write("a.cu", "#include \"x.h\"\n__global__ void k(int* p) { *p = M; }\nint main() { return 0; }\n");
  write("b.cu", "__global__ void b(int* p) { *p = 1; }\n");
  write("a.o",
        "\x7f"
        "ELF, an object\n");
  write("libq.a", "!<arch>\n");
  write("options", "-DZ=1");
  fs::create_symlink("a.cu", scratch_.path("link"));
  fs::create_hard_link(scratch_.path("a.cu"), scratch_.path("hard"));
  const std::string source = "-o: 'a.cu' is a file" + kAnother;
  for (const Words& words : {Words{"a.cu"},
                             {"-c", "a.cu"},
                             {"-dc", "a.cu"},
                             {"-ptx", "a.cu"},
                             {"-E", "a.cu"},
                             {"-M", "a.cu"},
                             {"a.cu", "b.cu"},
                             {"-lib", "b.cu", "a.cu"},
                             {"-dlink", "a.cu"}}) {
    Words all = {"nvcc"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-o", "a.cu"});
    refuses(all, source);
  }
  refuses({"nvcc", "a.cu", "-o", "link"}, "-o: 'link' is a file 'a.cu'" + kAnother);
  refuses({"nvcc", "-c", "a.cu", "-o", "hard"}, "-o: 'hard' is a file 'a.cu'" + kAnother);
  refuses({"nvcc", "-c", "a.cu", "-o", "./more/../a.cu"}, "-o: './more/../a.cu' is a file 'a.cu'" + kAnother);
  refuses({"nvcc", "-MD", "-MF", "a.cu", "-c", "a.cu", "-o", "n.o"}, "-MF: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-M", "a.cu", "-MF", "a.cu"}, "-MF: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-Xcompiler", "-MD,-MF,a.cu", "-c", "a.cu"}, "-MF: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-Wp,-MMD,a.cu", "-c", "a.cu", "-o", "n.o"}, "-MF: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-Xcompiler", "-fPIC,-Wp,-MD,a.cu", "-c", "a.cu"}, "-MF: 'a.cu' is a file" + kAnother);
  // Words that go on to the compilers and the linker.
  refuses({"nvcc", "-Xcompiler", "-o,link", "-c", "a.cu"}, "-Xcompiler: 'link' is a file 'a.cu'" + kAnother);
  refuses({"nvcc", "-Xcompiler", "-oa.cu", "-c", "a.cu"}, "-Xcompiler: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-Xdevice", "-MD,-MF,a.cu", "-c", "a.cu"}, "-Xdevice: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-Xlinker", "-Map=a.cu", "a.cu", "-o", "n"}, "-Xlinker: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-Xcompiler", "-g,-Wl,-Map,a.cu", "a.cu", "-o", "n"}, "-Xlinker: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "-Wl,--dependency-file=a.cu", "a.cu", "-o", "n"}, "-Xlinker: 'a.cu' is a file" + kAnother);
  refuses({"nvcc", "a.o", "-o", "a.o"}, "-o: 'a.o' is a file" + kAnother);
  refuses({"nvcc", "b.cu", "-L.", "-lq", "-o", "libq.a"}, "-o: 'libq.a' is a library './libq.a'" + kAnother);
  refuses({"nvcc", "-optf", "options", "-c", "b.cu", "-o", "options"}, "-o: 'options' is a file of options" + kAnother);
  // What is named without -o.
  fs::create_directory(scratch_.path("objects"));
  fs::create_symlink("../a.cu", scratch_.path("objects/b.o"));
  refuses({"nvcc", "-c", "a.cu", "b.cu", "-odir", "objects"}, "nvcc: 'objects/b.o' is a file 'a.cu'" + kAnother);
  fs::create_symlink("a.cu", scratch_.path("a.out"));
  refuses({"nvcc", "a.cu"}, "nvcc: 'a.out' is a file 'a.cu'" + kAnother);
  fs::create_symlink("a.cu", scratch_.path("n.d"));
  refuses({"nvcc", "-MD", "-c", "a.cu", "-o", "n.o"}, "-MD: 'n.d' is a file 'a.cu'" + kAnother);
  // Two results in one place.
  fs::create_directory(scratch_.path("twice"));
  write("twice/b.cu", "\n");
  refuses({"nvcc", "-c", "b.cu", "twice/b.cu"}, "nvcc: 'b.o' is a file that nvcc writes, too; name another file");
}

// What the compilers of both sides say that they read; a device header of this program's own is none.
TEST_F(CommandInputs, NvccKeepsHeaders) {
  write("dev.h", "#define V 1\n");
  write("a.cu",
        "#include \"x.h\"\n#ifdef __CUDA_ARCH__\n#include \"dev.h\"\n#endif\n"
        "__global__ void k(int* p) { *p = M; }\nint main() { return 0; }\n");
  refuses({"nvcc", "-E", "a.cu", "-o", "x.h"}, "-o: 'x.h' is a file" + kAnother);
  refuses({"nvcc", "-MD", "-MF", "dev.h", "-c", "a.cu", "-o", "n.o"}, "-MF: 'dev.h' is a file" + kAnother);
  refuses({"nvcc", "a.cu", "-o", "more/deep.h"},
          "-o: 'more/deep.h' is a file '" + scratch_.path("more/deep.h") + "'" + kAnother);
  // A file that is there and that the command does not read is replaced.
  scratch_.write("n.ptx", "old");
  const Ran ran = run({"nvcc", "-ptx", "a.cu", "-o", "n.ptx"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(Scratch::read(scratch_.path("n.ptx")).find(".entry"), std::string::npos);
}

}  // namespace
}  // namespace heddle::cli
