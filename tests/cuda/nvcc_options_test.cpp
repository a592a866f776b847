// nvcc's command line.
#include "cuda/compiler/nvcc_options.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "tests/support/program_runner.hpp"

namespace heddle::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NvccOptions, AreKnownInAllTheirForms) {
  const NvccOptions options = read_nvcc_options(
      {"-c", "-Ifolder", "-I", "a,b", "--include-path=c", "-DN=3", "-D", "F(x,y)=x", "-O3", "-std=c++14", "-arch=sm_70",
       "-gencode", "arch=compute_60,code=sm_60", "-Xcompiler", "-Wall,-fopenmp", "-o", "out.o", "in.cu", "-rdc=true"});
  EXPECT_EQ(options.step, NvccOptions::Step::object);
  EXPECT_THAT(options.both, ElementsAre("-I", "folder", "-I", "a", "-I", "b", "-I", "c", "-D", "N=3", "-D", "F(x,y)=x",
                                        "-std=c++14", "-Wall"));
  EXPECT_THAT(options.host, ElementsAre("-O3", "-fopenmp"));
  EXPECT_THAT(options.linking, ElementsAre("-fopenmp"));
  EXPECT_THAT(options.inputs, ElementsAre("in.cu"));
  EXPECT_EQ(options.output, "out.o");
  EXPECT_TRUE(options.relocatable);
  EXPECT_THAT(options.architectures, ElementsAre(60, 70));
  EXPECT_TRUE(options.has_standard);
  EXPECT_THAT(options.notes, IsEmpty());
}

TEST(NvccOptions, ArchitecturesAreTheVirtualOnes) {
  const auto of = [](std::vector<std::string> words) {
    words.emplace_back("a.cu");
    return read_nvcc_options(words).architectures;
  };
  EXPECT_THAT(of({}), ElementsAre(60));
  EXPECT_THAT(of({"-arch=sm_35"}), ElementsAre(60));
  EXPECT_THAT(of({"-arch", "compute_90a", "-code", "sm_90a"}), ElementsAre(90));
  EXPECT_THAT(of({"--generate-code=arch=compute_86,code=[compute_86,sm_86]", "-gencode", "arch=compute_75,code=sm_80",
                  "-gencode=arch=compute_86,code=sm_86"}),
              ElementsAre(75, 86));
  EXPECT_THAT(of({"-arch=native"}), ElementsAre(60, 70, 80, 90));
  EXPECT_THAT(of({"-arch=all-major"}), ElementsAre(60, 70, 80, 90));
  EXPECT_THAT(of({"-arch=all"}), ElementsAre(60, 61, 70, 75, 80, 86, 89, 90));
  for (const char* const wrong : {"sm_", "sm", "80", "gfx_90", "sm_80x", "sm_99999", "arch=,code=sm_80", ""}) {
    EXPECT_THROW(static_cast<void>(of({"-arch", wrong})), InputError) << wrong;
  }
}

TEST(NvccOptions, LibrariesKeepTheirPlaceAndTheRunTimesAreOurs) {
  const NvccOptions options = read_nvcc_options({"b.o", "-lm", "a.a", "-lcudart", "-lcudadevrt", "-Lfolder"});
  EXPECT_THAT(options.inputs, ElementsAre("b.o", "-lm", "a.a"));
  EXPECT_THAT(options.linking, ElementsAre("-Lfolder"));
  try {
    static_cast<void>(read_nvcc_options({"a.cu", "-lcufft"}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("-lcufft: there is no cuFFT (Fourier transforms)"));
  }
}

TEST(NvccOptions, WhatHasNoEffectIsNotedAndWhatCannotBeIsRefused) {
  EXPECT_THAT(read_nvcc_options({"a.cu", "-use_fast_math", "--frobnicate"}).notes,
              ElementsAre("-use_fast_math has no effect: functions stay the accurate ones; call __expf and its kin",
                          "--frobnicate is not known and has no effect"));
  EXPECT_THROW(static_cast<void>(read_nvcc_options({"a.cu", "-m32"})), InputError);
  EXPECT_THROW(static_cast<void>(read_nvcc_options({"a.cu", "-o"})), InputError);
}

TEST(NvccOptions, WarningsReachBothCompilationsAndTheDevicesHasWordsOfItsOwn) {
  const NvccOptions options = read_nvcc_options(
      {"a.cu", "-Wno-narrowing", "-Xcompiler", "-Wextra -O1,-Wl,-rpath,/a -DN=1", "-Wl,--as-needed", "-Xdevice",
       "-fno-inline,-g", "-Wmissing-launch-bounds", "-Xlinker", "-z,now", "-fPIC", "-pthread", "-MF", "a,b.d"});
  EXPECT_THAT(options.both, ElementsAre("-Wno-narrowing", "-Wextra", "-D", "N=1"));
  EXPECT_THAT(options.host, ElementsAre("-O1", "-fPIC", "-pthread", "-MF", "a,b.d"));
  EXPECT_THAT(options.device, ElementsAre("-fno-inline", "-g"));
  EXPECT_THAT(options.linking, ElementsAre("-Wl,-rpath,/a", "-Wl,--as-needed", "-Wl,-z", "-Wl,now", "-pthread"));
  EXPECT_THAT(options.notes, IsEmpty());
  EXPECT_THAT(options.inputs, ElementsAre("a.cu"));
}

TEST(NvccOptions, ErrorsOutOfWarningsAreNvccsKindsOrTheHostsWord) {
  const auto of = [](const std::vector<std::string>& words) {
    const NvccOptions options = read_nvcc_options(words);
    EXPECT_THAT(options.inputs, ElementsAre("a.cu"));
    return options.both;
  };
  EXPECT_THAT(of({"-Werror", "all-warnings", "a.cu"}), ElementsAre("-Werror"));
  EXPECT_THAT(of({"-Werror=all-warnings", "a.cu"}), ElementsAre("-Werror"));
  EXPECT_THAT(of({"--Werror", "cross-execution-space-call,reorder", "a.cu"}), ElementsAre("-Werror=reorder"));
  EXPECT_THAT(of({"-Werror", "a.cu"}), ElementsAre("-Werror"));
  EXPECT_THAT(of({"-Werror=format", "a.cu"}), ElementsAre("-Werror=format"));
}

TEST(NvccOptions, OfTheUsualMakefilesAreTakenInSilenceOrWithANote) {
  const NvccOptions options = read_nvcc_options({"-m64",
                                                 "--threads",
                                                 "0",
                                                 "--std=c++11",
                                                 "-gencode",
                                                 "arch=compute_50,code=sm_50",
                                                 "-gencode=arch=compute_90,code=sm_90",
                                                 "--keep-dir",
                                                 "k",
                                                 "--diag-error",
                                                 "20012",
                                                 "-diag-warn=1",
                                                 "--split-compile",
                                                 "0",
                                                 "-extended-lambda",
                                                 "--expt-relaxed-constexpr",
                                                 "-lineinfo",
                                                 "a.cu",
                                                 "-Xcompiler",
                                                 "-fpermissive",
                                                 "-ccbin",
                                                 "g++",
                                                 "-Xfatbin",
                                                 "-compress-all"});
  EXPECT_THAT(options.inputs, ElementsAre("a.cu"));
  EXPECT_THAT(options.both,
              ElementsAre("-std=c++11", "-D", "__CUDACC_EXTENDED_LAMBDA__", "-D", "__CUDACC_RELAXED_CONSTEXPR__"));
  EXPECT_THAT(options.notes, ElementsAre("-fpermissive has no effect: clang has no such mode",
                                         "-ccbin has no effect: clang compiles the host code too",
                                         "-Xfatbin has no effect: PTX is what runs here"));
}

TEST(NvccOptions, TheDefaultStreamIsTheLegacyOneOrEachThreadsOwn) {
  EXPECT_THAT(read_nvcc_options({"a.cu", "--default-stream", "legacy"}).both, IsEmpty());
  EXPECT_THAT(read_nvcc_options({"a.cu", "-default-stream=per-thread"}).both,
              ElementsAre("-D", "CUDA_API_PER_THREAD_DEFAULT_STREAM=1"));
  try {
    static_cast<void>(read_nvcc_options({"a.cu", "-default-stream", "mine"}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'mine' is no default stream"));
  }
}

TEST(NvccOptions, ComeFromFilesTooAsBuildToolsWriteThem) {
  const test::Scratch scratch;
  const std::string file = scratch.write("words.rsp", "-DA=1 \"-Ione two\"\n-D 'B=\"x\"' a\\ b.cu\n");
  const NvccOptions options =
      read_nvcc_options({"-forward-unknown-to-host-compiler", "--options-file", file, "-c", "c.cu"});
  EXPECT_THAT(options.both, ElementsAre("-D", "A=1", "-I", "one two", "-D", "B=\"x\""));
  EXPECT_THAT(options.inputs, ElementsAre("a b.cu", "c.cu"));
  EXPECT_THAT(options.notes, IsEmpty());
  const std::string itself = scratch.path("itself.rsp");
  scratch.write("itself.rsp", "-optf " + itself);
  EXPECT_THROW(static_cast<void>(read_nvcc_options({"-optf", itself})), InputError);
  EXPECT_THROW(static_cast<void>(read_nvcc_options({"-optf", scratch.path("none")})), InputError);
}

}  // namespace
}  // namespace heddle::cuda
