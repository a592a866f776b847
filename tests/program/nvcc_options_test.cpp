// nvcc's command line.
#include "tb/host/cuda/nvcc_options.hpp"

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "program_runner.hpp"

namespace heddle::tb {
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
                                        "-std=c++14"));
  EXPECT_THAT(options.host, ElementsAre("-O3", "-Wall", "-fopenmp"));
  EXPECT_THAT(options.linking, ElementsAre("-fopenmp"));
  EXPECT_THAT(options.inputs, ElementsAre("in.cu"));
  EXPECT_EQ(options.output, "out.o");
  EXPECT_TRUE(options.relocatable);
  EXPECT_TRUE(options.has_standard);
  EXPECT_THAT(options.notes, IsEmpty());
}

TEST(NvccOptions, LibrariesKeepTheirPlaceAndTheRunTimesAreOurs) {
  const NvccOptions options = read_nvcc_options({"b.o", "-lm", "a.a", "-lcudart", "-lcudadevrt", "-Lfolder"});
  EXPECT_THAT(options.inputs, ElementsAre("b.o", "-lm", "a.a"));
  EXPECT_THAT(options.linking, ElementsAre("-Lfolder"));
  try {
    static_cast<void>(read_nvcc_options({"a.cu", "-lcublas"}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("-lcublas: there is no cuBLAS (matrix functions)"));
  }
}

TEST(NvccOptions, WhatHasNoEffectIsNotedAndWhatCannotBeIsRefused) {
  EXPECT_THAT(read_nvcc_options({"a.cu", "-use_fast_math", "--frobnicate"}).notes,
              ElementsAre("-use_fast_math has no effect: functions stay the accurate ones; call __expf and its kin",
                          "--frobnicate is not known and has no effect"));
  EXPECT_THROW(static_cast<void>(read_nvcc_options({"a.cu", "-m32"})), InputError);
  EXPECT_THROW(static_cast<void>(read_nvcc_options({"a.cu", "-o"})), InputError);
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
}  // namespace heddle::tb
