// Every workload on the reference interpreter: right results are accepted, wrong ones are found.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/registry.hpp"
#include "tb/device/executor.hpp"
#include "tb/device/workload.hpp"
#include "tests/support/marks.hpp"
#include "workloads/decrypt/aes.hpp"
#include "workloads/support.hpp"

HEDDLE_LONG_SANITIZED("PthreadsForm.HasATeam*", "All/WorkloadRun.*_64bit_*", "PthreadsWide/*", "PthreadsNarrow/*",
                      "All/WorkloadRun.*16registers", "Pthreads/WrongResult.*", "Workloads.TwoRuns*")

namespace heddle::workloads {
namespace {

std::unique_ptr<tb::Workload> make(const std::string& name, const tb::WorkloadOptions& options) {
  return tb::make_workload(name, options);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, entry] : Registry<tb::Workload>::instance().entries()) {
    all.push_back(name);
  }
  return all;
}

const std::vector<std::string> kPthreadsForms = {"bfs:pthreads",       "blackjack:pthreads",  "blackscholes:pthreads",
                                                 "decrypt:pthreads",   "histogram:pthreads",  "hotspot:pthreads",
                                                 "kmeans:pthreads",    "matrixmult:pthreads", "needleman:pthreads",
                                                 "reduction:pthreads", "sort:pthreads",       "viterbi:pthreads"};

// Of the DWS report's benchmarks, the ones that are forms of other workloads; and all with the tasks of their loops
// dealt the other way.
const std::vector<std::string> kDwsForms = {"hotspot:dws", "kmeans:dws"};
const std::vector<std::string> kInterleaved = {
    "fft:interleaved",        "filter:interleaved", "hotspot:dws,interleaved",
    "kmeans:dws,interleaved", "lu:interleaved",     "merge:interleaved",
    "short:interleaved",      "svm:interleaved",    "fft:padded",
    "short:padded",           "fft:six_step",       "fft:six_step,padded"};

// In the launches of the programs of the warp-size study and of the ODGS paper, and other pictures of its own.
const std::vector<std::string> kStudyShapes = {
    "bfs:thread_per_node", "matrixmult:rectangles",    "nqueens:small_blocks", "needleman:tile_blocks",
    "bfs:large_blocks",    "suffix_tree:small_blocks", "suffix_tree:textures", "synthetic:image=2,length=5",
    "synthetic:image=5",   "neural:by_places"};

// What GoogleTest takes as a name.
std::string case_of(std::string workload) {
  std::replace_if(
      workload.begin(), workload.end(), [](char c) { return c == ':' || c == ',' || c == '='; }, '_');
  return workload;
}

tb::WorkloadOptions small() {
  tb::WorkloadOptions options;
  options.scale = tb::Workload::test_scale();
  return options;
}

// Does what `fault` says to the memory after each launch.
class FaultyExecutor final : public tb::Executor {
 public:
  enum class Fault { skips_launches, spoils_result };
  FaultyExecutor(Fault fault, std::string buffer) : fault_(fault), buffer_(std::move(buffer)) {}
  [[nodiscard]] isa::DeviceMemory& memory() override { return good_.memory(); }
  void load(isa::Module module) override { good_.load(std::move(module)); }
  [[nodiscard]] const isa::Module& module() const override { return good_.module(); }
  void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) override {
    good_.set_constants(offset, bytes);
  }
  void launch(const isa::LaunchRequest& request) override {
    if (fault_ == Fault::skips_launches) {
      return;
    }
    good_.launch(request);
    for (const auto& [address, allocation] : memory().allocations()) {
      if (allocation.name == buffer_) {
        memory().put<std::uint32_t>(address + allocation.size - 4, 0x7eadbeefU);
        ++spoiled_;
      }
    }
  }
  [[nodiscard]] const isa::RetirementHash& retirement() const override { return good_.retirement(); }
  [[nodiscard]] int spoiled() const { return spoiled_; }

 private:
  tb::ReferenceExecutor good_;
  Fault fault_;
  std::string buffer_;
  int spoiled_ = 0;
};

// Counts what is launched, and keeps what was planned before.
class PlanChecker final : public tb::Executor {
 public:
  explicit PlanChecker(tb::Executor& executor) : executor_(executor) {}
  [[nodiscard]] isa::DeviceMemory& memory() override { return executor_.memory(); }
  void load(isa::Module module) override { executor_.load(std::move(module)); }
  [[nodiscard]] const isa::Module& module() const override { return executor_.module(); }
  void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) override {
    executor_.set_constants(offset, bytes);
  }
  void launch(const isa::LaunchRequest& request) override {
    executor_.launch(request);
    ++launched.launches;
    launched.blocks += request.grid.count();
  }
  [[nodiscard]] const isa::RetirementHash& retirement() const override { return executor_.retirement(); }
  void plan(const Plan& plan) override {
    EXPECT_EQ(launched.launches, 0U) << "a plan comes before the first launch";
    planned = plan;
  }
  Plan planned;
  Plan launched;

 private:
  tb::Executor& executor_;
};

class WorkloadRun : public ::testing::TestWithParam<std::tuple<std::string, unsigned, unsigned>> {};

TEST_P(WorkloadRun, IsVerified) {
  const auto& [name, address_bits, max_registers] = GetParam();
  tb::WorkloadOptions options = small();
  options.address_bits = address_bits;
  options.code.max_registers = max_registers;
  const auto workload = make(name, options);
  tb::ReferenceExecutor executor;
  executor.load(workload->compile());
  for (const isa::Kernel& kernel : executor.module().kernels) {
    EXPECT_EQ(kernel.address_bits, address_bits);
    EXPECT_LE(kernel.registers, max_registers);
  }
  PlanChecker checker(executor);
  const tb::Verdict verdict = workload->run(checker);
  EXPECT_TRUE(verdict.correct) << verdict.detail;
  EXPECT_EQ(checker.planned.launches, checker.launched.launches);
  EXPECT_EQ(checker.planned.blocks, checker.launched.blocks);
  // The anti-diagonals of needleman's matrix are as long as its sequences, and weather has long columns: a small input
  // has few threads.
  EXPECT_GE(workload->threads(), name.starts_with("needleman") ? 208U : name == "weather" ? 256U : 1024U);
  EXPECT_GT(executor.thread_instructions(), 100'000U);
}

std::string run_case(const ::testing::TestParamInfo<std::tuple<std::string, unsigned, unsigned>>& info) {
  return case_of(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param)) + "bit_" +
         std::to_string(std::get<2>(info.param)) + "registers";
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadRun,
                         ::testing::Combine(::testing::ValuesIn(names()), ::testing::Values(32U, 64U),
                                            ::testing::Values(63U, 16U)),
                         run_case);
INSTANTIATE_TEST_SUITE_P(PthreadsNarrow, WorkloadRun,
                         ::testing::Combine(::testing::ValuesIn(kPthreadsForms), ::testing::Values(32U),
                                            ::testing::Values(16U)),
                         run_case);
INSTANTIATE_TEST_SUITE_P(PthreadsWide, WorkloadRun,
                         ::testing::Combine(::testing::ValuesIn(kPthreadsForms), ::testing::Values(64U),
                                            ::testing::Values(63U)),
                         run_case);

INSTANTIATE_TEST_SUITE_P(Dws, WorkloadRun,
                         ::testing::Combine(::testing::ValuesIn(kDwsForms), ::testing::Values(32U, 64U),
                                            ::testing::Values(16U)),
                         run_case);
INSTANTIATE_TEST_SUITE_P(Interleaved, WorkloadRun,
                         ::testing::Combine(::testing::ValuesIn(kInterleaved), ::testing::Values(32U),
                                            ::testing::Values(63U)),
                         run_case);

INSTANTIATE_TEST_SUITE_P(StudyShapes, WorkloadRun,
                         ::testing::Combine(::testing::ValuesIn(kStudyShapes), ::testing::Values(32U, 64U),
                                            ::testing::Values(63U, 16U)),
                         run_case);

// Parallel loops take any machine: cores of few threads, of threads that are no power of two, several or one; and
// inputs that blocks and runs do not divide.
TEST(ParallelLoops, AreRightOnAnyNumberOfThreads) {
  struct Threads {
    unsigned core, resident, blocks_of;
  };
  for (const Threads& threads : {Threads{1, 3, 1}, {8, 40, 8}, {48, 144, 32}, {64, 64, 64}, {100, 700, 64}}) {
    for (const std::string name : {"fft", "filter", "lu", "merge", "short", "svm", "kmeans:dws", "hotspot:dws"}) {
      for (const std::string dealt : {"", "interleaved", "padded", "six_step", "six_step,padded,interleaved"}) {
        if ((dealt == "padded" && name != "fft" && name != "short") ||
            (dealt.starts_with("six_step") && name != "fft")) {
          continue;
        }
        const std::string variant = dealt.empty() ? "" : (name.find(':') == std::string::npos ? ":" : ",");
        tb::WorkloadOptions options = small();
        options.scale = 0.0011;
        options.core_threads = threads.core;
        options.resident_threads = threads.resident;
        const auto workload = make(name + variant + dealt, options);
        EXPECT_EQ(workload->threads(), threads.resident / threads.blocks_of * threads.blocks_of) << name;
        tb::ReferenceExecutor executor;
        executor.load(workload->compile());
        const tb::Verdict verdict = workload->run(executor);
        EXPECT_TRUE(verdict.correct) << name << variant << dealt << ": " << verdict.detail;
      }
    }
  }
}

// Runs of 147 words of 4 bytes: five lines each, behind which the next run begins. An even number gets one line more.
TEST(ParallelLoops, PaddedRunsLieAnOddNumberOfLinesApart) {
  struct Gaps : workloads::KernelWorkload {
    using KernelWorkload::gap_behind;
  };
  EXPECT_EQ(Gaps::gap_behind(147, 4), 160U - 147);
  EXPECT_EQ(Gaps::gap_behind(160, 4), 0U);
  EXPECT_EQ(Gaps::gap_behind(161, 4), 224U - 161);
  EXPECT_EQ(Gaps::gap_behind(64, 16), 8U);
  EXPECT_EQ(Gaps::gap_behind(1, 16), 7U);
}

TEST(ParallelLoops, OfOtherFormsAreRefused) {
  const auto refused = [](const std::string& name) {
    try {
      static_cast<void>(make(name, small()));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return name + " is not refused";
  };
  EXPECT_NE(refused("vecadd:dws").find("workload 'vecadd' has no variant 'dws'"), std::string::npos);
  EXPECT_NE(refused("hotspot:dws,pthreads").find("has no form that is both pthreads and dws"), std::string::npos);
  EXPECT_NE(refused("kmeans:progress,dws").find("has no form that is both progress and dws"), std::string::npos);
  EXPECT_NE(refused("hotspot:interleaved").find("variant 'interleaved' of workload 'hotspot' without 'dws'"),
            std::string::npos);
}

// A core of fewer threads has a smaller team.
TEST(PthreadsForm, HasATeamOfTheCoresThreads) {
  for (const auto& [threads, team] : {std::pair{64U, 64U}, {768U, 512U}, {1024U, 1024U}, {2048U, 1024U}}) {
    for (const std::string& name : kPthreadsForms) {
      tb::WorkloadOptions options = small();
      options.core_threads = threads;
      const auto workload = make(name, options);
      EXPECT_EQ(workload->threads(), team) << name;
      if (team == 1024) {
        continue;
      }
      tb::ReferenceExecutor executor;
      executor.load(workload->compile());
      const tb::Verdict verdict = workload->run(executor);
      EXPECT_TRUE(verdict.correct) << name << ": " << verdict.detail;
    }
  }
}

// The calls of progress() change no result, and are in the kernels.
TEST(ProgressForm, IsRightAndCalls) {
  for (const char* const name : {"histogram", "kmeans", "matrixmult", "reduction"}) {
    const auto workload = make(std::string(name) + ":progress", small());
    tb::ReferenceExecutor executor;
    executor.load(workload->compile());
    bool calls = false;
    for (const isa::Kernel& kernel : executor.module().kernels) {
      calls = calls || std::any_of(kernel.words.begin(), kernel.words.end(), [](const isa::InstructionWord& word) {
                const auto instruction = isa::decode(word);
                return instruction && instruction->op == isa::Op::PROGRESS;
              });
    }
    EXPECT_TRUE(calls) << name;
    const tb::Verdict verdict = workload->run(executor);
    EXPECT_TRUE(verdict.correct) << name << ": " << verdict.detail;
  }
}

TEST(ProgressForm, IsNoneOfThePthreadsForm) {
  try {
    static_cast<void>(make("reduction:progress,pthreads", small()));
    ADD_FAILURE() << "there is no such form";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("workload 'reduction' has no form that is both pthreads and progress"),
              std::string::npos)
        << error.what();
  }
}

TEST(PthreadsForm, IsRefusedWithoutOne) {
  try {
    static_cast<void>(make("vecadd:pthreads", small()));
    ADD_FAILURE() << "vecadd has a Pthreads form";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("workload 'vecadd' has no variant 'pthreads'"), std::string::npos)
        << error.what();
  }
}

struct Result {
  const char* workload;
  const char* buffer;
};
void PrintTo(const Result& result, std::ostream* out) {
  *out << result.workload;
}

class WrongResult : public ::testing::TestWithParam<Result> {};

TEST_P(WrongResult, IsFound) {
  const auto workload = make(GetParam().workload, small());
  FaultyExecutor executor(FaultyExecutor::Fault::spoils_result, GetParam().buffer);
  executor.load(workload->compile());
  const tb::Verdict verdict = workload->run(executor);
  EXPECT_GT(executor.spoiled(), 0);
  EXPECT_FALSE(verdict.correct) << verdict.detail;
  EXPECT_NE(verdict.detail.find("instead of"), std::string::npos) << verdict.detail;
}

TEST_P(WrongResult, OfNoLaunchAtAllIsFound) {
  const auto workload = make(GetParam().workload, small());
  FaultyExecutor executor(FaultyExecutor::Fault::skips_launches, "");
  executor.load(workload->compile());
  EXPECT_FALSE(workload->run(executor).correct);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongResult,
    ::testing::Values(Result{"vecadd", "c"}, Result{"reduction", "total"}, Result{"matrixmult", "c"},
                      Result{"decrypt", "plain"}, Result{"blackjack", "winnings"}, Result{"bfs", "cost"},
                      Result{"nqueens", "solutions"}, Result{"sort", "sorted"}, Result{"viterbi", "decoded"},
                      Result{"kmeans", "members"}, Result{"blackscholes", "call"}, Result{"needleman", "scores"},
                      Result{"hotspot", "temperature_between"}, Result{"histogram", "counts"},
                      Result{"backprop", "weights"}, Result{"pathfinder", "ways_between"}, Result{"gaussian", "matrix"},
                      Result{"nearest", "distances"}, Result{"scan", "prefixes"}, Result{"walsh", "numbers"},
                      Result{"srad", "image"}, Result{"srad_lists", "image"}, Result{"srad_lists", "sums"},
                      Result{"streamcluster", "savings"}, Result{"streamcluster", "goes"},
                      Result{"suffix_tree", "matched"}, Result{"suffix_array", "matched"},
                      Result{"needleman:tile_blocks", "scores"}, Result{"raytrace", "picture"},
                      Result{"neural", "second"}, Result{"neural", "fourth"}, Result{"weather", "temperature"},
                      Result{"weather", "snow"}, Result{"weather", "ground"}, Result{"weather", "falls"},
                      Result{"synthetic", "mixed"}, Result{"synthetic", "picture"}),
    [](const auto& info) { return case_of(info.param.workload) + std::string("_") + info.param.buffer; });
INSTANTIATE_TEST_SUITE_P(Dws, WrongResult,
                         ::testing::Values(Result{"fft", "numbers"}, Result{"filter", "edges"}, Result{"lu", "matrix"},
                                           Result{"merge", "keys"}, Result{"short", "scores"}, Result{"short", "moves"},
                                           Result{"fft:padded", "numbers"}, Result{"short:padded", "moves"},
                                           Result{"fft:six_step", "transposed"}, Result{"svm", "margins"},
                                           Result{"svm", "supports"}, Result{"kmeans:dws", "members"},
                                           Result{"kmeans:dws", "centres"}, Result{"hotspot:dws", "temperature"}),
                         [](const auto& info) {
                           return case_of(info.param.workload) + std::string("_") + info.param.buffer;
                         });
INSTANTIATE_TEST_SUITE_P(StudyShapes, WrongResult,
                         ::testing::Values(Result{"bfs:thread_per_node", "cost"}, Result{"matrixmult:rectangles", "c"},
                                           Result{"nqueens:small_blocks", "solutions"},
                                           Result{"bfs:large_blocks", "cost"},
                                           Result{"suffix_tree:small_blocks", "matched"},
                                           Result{"suffix_tree:textures", "matched"},
                                           Result{"neural:by_places", "second"}),
                         [](const auto& info) { return case_of(info.param.workload); });
INSTANTIATE_TEST_SUITE_P(
    Pthreads, WrongResult,
    ::testing::Values(Result{"reduction:pthreads", "total"}, Result{"matrixmult:pthreads", "c"},
                      Result{"decrypt:pthreads", "plain"}, Result{"blackjack:pthreads", "winnings"},
                      Result{"bfs:pthreads", "cost"}, Result{"sort:pthreads", "sorted"},
                      Result{"viterbi:pthreads", "decoded"}, Result{"kmeans:pthreads", "members"},
                      Result{"blackscholes:pthreads", "call"}, Result{"needleman:pthreads", "scores"},
                      Result{"hotspot:pthreads", "temperature"}, Result{"histogram:pthreads", "counts"}),
    [](const auto& info) { return case_of(info.param.workload); });

TEST(StudyShapes, OfOtherFormsAreRefused) {
  for (const char* const name :
       {"bfs:pthreads,thread_per_node", "bfs:pthreads,large_blocks", "synthetic:image=6", "synthetic:image=0",
        "synthetic:length=0", "matrixmult:pthreads,rectangles", "matrixmult:progress,rectangles"}) {
    EXPECT_THROW(static_cast<void>(make(name, small())), InputError) << name;
  }
}

TEST(Workloads, RefuseAScaleThatMakesNoSense) {
  for (const double scale : {0.0, -1.0, 17.0}) {
    tb::WorkloadOptions options;
    options.scale = scale;
    EXPECT_THROW(static_cast<void>(make("vecadd", options)), InputError) << scale;
  }
  tb::WorkloadOptions options;
  options.resident_threads = 100;
  EXPECT_THROW(static_cast<void>(make("vecadd", options)), InputError);
}

TEST(Workloads, TwoRunsRetireTheSame) {
  for (const char* name : {"blackjack", "bfs", "nqueens", "sort"}) {
    std::uint64_t hashes[2];
    for (std::uint64_t& hash : hashes) {
      const auto workload = make(name, small());
      tb::ReferenceExecutor executor;
      executor.load(workload->compile());
      EXPECT_TRUE(workload->run(executor).correct);
      hash = executor.retirement().total();
    }
    EXPECT_EQ(hashes[0], hashes[1]) << name;
  }
}

TEST(Aes, MeetsTheVectorsOfFips197) {
  // Appendix B.
  const aes::Key key = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
  const aes::Block plain = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                            0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
  const aes::Block cipher = {0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb,
                             0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a, 0x0b, 0x32};
  const aes::RoundKeys keys = aes::expand(key);
  EXPECT_EQ(keys[172], 0xb6);  // appendix A.1: w43 = b6630ca6
  EXPECT_EQ(aes::encrypt(plain, keys), cipher);
  EXPECT_EQ(aes::decrypt(cipher, keys), plain);
}

TEST(Random, IsSplitmix64) {
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317ULL);
  EXPECT_EQ(random.next(), 3203168211198807973ULL);
}

}  // namespace
}  // namespace heddle::workloads
