// Launches of which some blocks are simulated (FastForward::blocks): which blocks, whether blocks talk, what is
// estimated, and that nothing is left behind but what the whole launch leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "ptx/compile.hpp"
#include "tb/device/block_sample.hpp"
#include "tb/device/block_talk.hpp"
#include "tb/device/device.hpp"
#include "tb/device/kept_buffers.hpp"
#include "tests/model/machines.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("Machines/SomeBlocksOn.*")

namespace heddle::tb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::uint64_t> firsts_of_runs(const BlockSample& sample) {
  std::vector<std::uint64_t> firsts;
  for (std::size_t i = 0; i != sample.blocks().size(); ++i) {
    if (i == 0 || sample.blocks()[i] != sample.blocks()[i - 1] + 1) {
      firsts.push_back(sample.blocks()[i]);
    }
  }
  return firsts;
}

TEST(BlockSample, TakesRunsFromTheFirstBlockToTheLast) {
  // 250 of 1001 blocks: 7 runs of 8 waves of 4 blocks, each as many waves after the first as there are, and what is
  // left over of the last wave.
  const BlockSample sample(1001, 4, 4);
  EXPECT_EQ(sample.blocks().size(), 7 * 32 + 1U);
  EXPECT_THAT(firsts_of_runs(sample), ElementsAre(0, 160, 320, 484, 644, 804, 968));
  EXPECT_EQ(sample.blocks().back(), 1000U);
}

TEST(BlockSample, TakesOneRunOfAFewWaves) {
  const BlockSample sample(100, 2, 50);
  EXPECT_EQ(sample.blocks().size(), 12U) << "six waves are the fewest";
  EXPECT_THAT(firsts_of_runs(sample), ElementsAre(0));
  EXPECT_EQ(BlockSample(24, 2, 50).blocks().size(), 12U);
  EXPECT_THAT(BlockSample(22, 2, 50).blocks(), IsEmpty()) << "more than half";
  EXPECT_EQ(BlockSample(25, 2, 2).blocks().size(), 13U) << "half of them, rounded up";
  EXPECT_THAT(BlockSample(100, 2, 1).blocks(), IsEmpty()) << "all of them";
  EXPECT_FALSE(BlockSample(100, 0, 2).any()) << "the machine holds none";
}

TEST(BlockSample, AddsWhatWasLeftOutAtTheRateOfTheMiddle) {
  const BlockSample sample(20, 1, 20);  // blocks 0 to 5
  ASSERT_EQ(sample.blocks().size(), 6U);
  // From the end of the first to the beginning of the last, 40 cycles for 4 blocks. Before and after it 150 and 120.
  const std::vector<hw::SomeBlocks::Finished> finished = {{0, 1150}, {1, 1160}, {2, 1170},
                                                          {3, 1180}, {4, 1190}, {5, 1300}};
  EXPECT_EQ(sample.cycles_of_all(310, finished, std::vector<std::uint64_t>(20, 7)), 270 + 18 * 10);
  // A long block counts for more, wherever it is: here for eleven.
  std::vector<std::uint64_t> instructions(20, 7);
  instructions[15] = 77;
  EXPECT_EQ(sample.cycles_of_all(310, finished, instructions), 270 + 28 * 10);
  // No time passes in the middle: by the mean.
  EXPECT_EQ(
      sample.cycles_of_all(300, {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}, std::vector<std::uint64_t>(20, 7)),
      1000);
}

TEST(BlockSample, LeavesOutWhereRunsMeet) {
  const BlockSample sample(160, 1, 10);  // two runs of eight blocks
  ASSERT_THAT(firsts_of_runs(sample), ElementsAre(0, 152));
  std::vector<hw::SomeBlocks::Finished> finished;
  link::Cycle at = 0;
  for (std::size_t i = 0; i != 16; ++i) {
    at += i == 7 || i == 8 ? 1000 : 10;  // the last one of the first run and the first one of the second
    finished.push_back({sample.blocks()[i], at});
  }
  // 10 for the head and the tail each, and 158 blocks at 10 between them.
  EXPECT_EQ(sample.cycles_of_all(at, finished, std::vector<std::uint64_t>(160, 3)), 10 + 10 + 158 * 10);
}

// One act of a block: its number, L(oads), S(tores what is there), W(rites), A(dds) or T(akes and adds), the word.
std::string talk_of(const std::string& acts) {
  BlockTalk talk;
  for (std::size_t at = 0; at + 2 < acts.size() + 1; at += 4) {
    const std::uint64_t address = 0x10000000 + 4ULL * static_cast<std::uint64_t>(acts[at + 2] - 'a');
    talk.begins(static_cast<std::uint64_t>(acts[at] - '0'));
    switch (acts[at + 1]) {
      case 'L':
        talk.loads(address, 4);
        break;
      case 'S':
        talk.stores(address, 4, false);
        break;
      case 'W':
        talk.stores(address, 4, true);
        break;
      case 'F':
        talk.updates(address, isa::AtomicOp::add, isa::Type::f32, false);
        break;
      case 'M':
        talk.updates(address, isa::AtomicOp::max, isa::Type::u32, false);
        break;
      default:
        talk.updates(address, isa::AtomicOp::add, isa::Type::u32, acts[at + 1] == 'T');
        break;
    }
    if (talk.talk()) {
      const BlockTalk::Talk& found = *talk.talk();
      EXPECT_FALSE(talk.goes_on());
      return std::to_string(found.block) + (found.writes ? " writes " : " reads ") +
             static_cast<char>('a' + (found.address - 0x10000000) / 4) + " of " +
             (found.before ? std::to_string(*found.before) : "many") +
             (found.before_writes ? "'s writing" : "'s reading");
    }
  }
  return "";
}

TEST(BlockTalk, IsWhatAnotherOrderWouldChange) {
  EXPECT_EQ(talk_of("0La 1La 0Wb 0Lb 1Wc 1Wc"), "") << "words of their own, and words that nobody writes";
  EXPECT_EQ(talk_of("0Wa 1La"), "1 reads a of 0's writing");
  EXPECT_EQ(talk_of("0La 1Wa"), "1 writes a of 0's reading");
  EXPECT_EQ(talk_of("0La 1La 2Wa"), "2 writes a of many's reading");
  EXPECT_EQ(talk_of("0Wa 1Wa"), "1 writes a of 0's writing");
  EXPECT_EQ(talk_of("0Wa 1Sa 2Sa"), "") << "a flag that each of them sets";
  EXPECT_EQ(talk_of("0La 0Wa 1Sa"), "1 writes a of 0's reading") << "who would have found it set";
  EXPECT_EQ(talk_of("0Sa 1La 2Sa"), "") << "nothing ever changes";
  EXPECT_EQ(talk_of("0Sa 1Wa"), "1 writes a of 0's writing") << "the other way round it would be what it was";
  EXPECT_EQ(talk_of("0Aa 1Aa 2Aa"), "") << "sums";
  EXPECT_EQ(talk_of("0Aa 1Aa 2La"), "2 reads a of many's writing");
  EXPECT_EQ(talk_of("0La 0Aa 1Aa"), "1 writes a of 0's reading");
  EXPECT_EQ(talk_of("0Aa 1Ma"), "1 writes a of 0's writing") << "a maximum and a sum";
  EXPECT_EQ(talk_of("0Ma 1Ma"), "");
  EXPECT_EQ(talk_of("0Ta 1Ta"), "1 reads a of 0's writing") << "numbers that are drawn";
  EXPECT_EQ(talk_of("0Fa 1Fa"), "1 writes a of 0's writing") << "rounded after each step";
  EXPECT_EQ(talk_of("0Ta 0La 0Wa"), "") << "all by itself";
}

TEST(BlockTalk, LooksAtBytesWhereBytesAreStored) {
  BlockTalk talk;
  talk.begins(0);
  talk.stores(0x10000000, 1, true);
  talk.begins(1);
  talk.stores(0x10000001, 1, true);
  EXPECT_FALSE(talk.talk());
  talk.loads(0x10000000, 4);
  ASSERT_TRUE(talk.talk());
  EXPECT_EQ(talk.talk()->before, 0U);
}

TEST(KeptBuffers, ArePutBackAndForth) {
  isa::DeviceMemory memory;
  const std::uint64_t a = memory.allocate("a", 8);
  const std::uint64_t b = memory.allocate("b", 100'000);
  memory.put<std::uint32_t>(a, 1);
  memory.put<std::uint32_t>(b + 99'000, 2);
  KeptBuffers kept(memory);
  kept.about_to_write(b + 99'000);
  memory.put<std::uint32_t>(b + 99'000, 3);
  kept.about_to_write(b + 4);
  memory.put<std::uint32_t>(b + 4, 4);
  memory.put<std::uint32_t>(a, 5);
  kept.about_to_write(0);  // in no buffer
  kept.exchange();
  EXPECT_EQ(memory.get<std::uint32_t>(b + 99'000), 2U);
  EXPECT_EQ(memory.get<std::uint32_t>(b + 4), 0U);
  EXPECT_EQ(memory.get<std::uint32_t>(a), 5U) << "nobody said that it would be written";
  kept.exchange();
  EXPECT_EQ(memory.get<std::uint32_t>(b + 99'000), 3U);
  EXPECT_EQ(memory.get<std::uint32_t>(b + 4), 4U);
}

// Each thread adds its block's number to its own word, as often as its block's number says, and one to a sum of all.
constexpr const char* kAlone = R"(.version 6.0
.target sm_50
.address_size 32
.entry alone(.param .u32 words, .param .u32 sum)
{
  .reg .u32 %block, %thread, %size, %at, %value, %left, %sum;
  .reg .pred %more;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %size, %ntid.x;
  mad.lo.u32 %at, %block, %size, %thread;
  shl.b32 %at, %at, 2;
  ld.param.u32 %left, [words];
  add.u32 %at, %at, %left;
  and.b32 %left, %block, 15;
  add.u32 %left, %left, 1;
again:
  ld.global.u32 %value, [%at];
  add.u32 %value, %value, %block;
  st.global.u32 [%at], %value;
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra again;
  ld.param.u32 %sum, [sum];
  red.global.add.u32 [%sum], 1;
  ret;
}
.entry chain(.param .u32 words, .param .u32 sum)
{
  .reg .u32 %block, %thread, %size, %at, %value, %first;
  mov.u32 %block, %ctaid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %size, %ntid.x;
  mad.lo.u32 %at, %block, %size, %thread;
  shl.b32 %at, %at, 2;
  ld.param.u32 %first, [words];
  add.u32 %at, %at, %first;
  ld.param.u32 %first, [sum];
  atom.global.add.u32 %value, [%first], 1;
  shr.u32 %value, %value, 31;
  st.global.u32 [%at], %value;
  ret;
}
)";

constexpr unsigned kSampleBlocks = 400;
constexpr unsigned kSampleThreads = 96;

std::vector<std::uint32_t> result_of(Executor& executor, const char* kernel, unsigned launches = 2) {
  executor.load(ptx::compile(kAlone, "alone.ptx"));
  isa::DeviceMemory& memory = executor.memory();
  const std::uint64_t words = memory.allocate("words", 4ULL * kSampleBlocks * kSampleThreads);
  const std::uint64_t sum = memory.allocate("sum", 4);
  isa::LaunchRequest request;
  request.kernel = kernel;
  request.grid = {kSampleBlocks, 1, 1};
  request.block = {kSampleThreads, 1, 1};
  for (const std::uint64_t address : {words, sum}) {
    const auto low = static_cast<std::uint32_t>(address);
    request.parameters.resize(request.parameters.size() + 4);
    std::memcpy(request.parameters.data() + request.parameters.size() - 4, &low, 4);
  }
  for (unsigned i = 0; i != launches; ++i) {
    executor.launch(request);
  }
  std::vector<std::uint32_t> values(kSampleBlocks * kSampleThreads);
  memory.read(words, std::as_writable_bytes(std::span(values)));
  values.push_back(memory.get<std::uint32_t>(sum));
  return values;
}

class SomeBlocksOn : public ::testing::TestWithParam<hw::Machine> {};

TEST_P(SomeBlocksOn, LeaveWhatAllLeave) {
  ReferenceExecutor reference;
  const std::vector<std::uint32_t> expected = result_of(reference, "alone");
  ASSERT_EQ(expected[kSampleThreads * 5], 2 * 5 * 6U) << "twice, five, six times";
  ASSERT_EQ(expected.back(), 2 * kSampleBlocks * kSampleThreads);
  DeviceOptions options;
  options.fast_forward.blocks = 4;
  Device device(GetParam(), options);
  EXPECT_EQ(result_of(device, "alone"), expected);
  EXPECT_EQ(device.retirement().total(), reference.retirement().total());
  const KernelLaunches& launches = device.selection().kernels().at("alone");
  EXPECT_EQ(launches.simulated, 2U);
  EXPECT_EQ(launches.in_part, 2U) << launches.whole_because;
  EXPECT_EQ(launches.blocks, 2 * kSampleBlocks);
  EXPECT_LE(launches.blocks_simulated, kSampleBlocks);
  EXPECT_EQ(launches.blocks_differing, 0U);
  EXPECT_EQ(launches.cycles, device.totals().cycles);
  // The interpreter counts threads whatever their guards say: each has left its loop once.
  EXPECT_EQ(launches.thread_instructions + launches.instructions_left_out,
            reference.thread_instructions() - 2 * kSampleBlocks * kSampleThreads);
}

std::vector<hw::Machine> some_machines() {
  std::vector<hw::Machine> some;
  for (const hw::Machine& machine : test::make_machines()) {
    for (const char* const name :
         {"baseline", "simd8", "warp256", "throughcores2", "mesitight", "dwfanylane", "tbcparts", "splits", "odgs"}) {
      if (machine.name == name) {
        some.push_back(machine);
      }
    }
  }
  return some;
}

INSTANTIATE_TEST_SUITE_P(Machines, SomeBlocksOn, ::testing::ValuesIn(some_machines()),
                         [](const auto& machine) { return machine.param.name; });

TEST(SomeBlocks, AreAllWhereBlocksTalk) {
  ReferenceExecutor reference;
  const std::vector<std::uint32_t> expected = result_of(reference, "chain");
  DeviceOptions options;
  options.fast_forward.blocks = 4;
  Device device(hw::Machine{}, options);
  EXPECT_EQ(result_of(device, "chain"), expected) << "drawn by each thread once";
  const KernelLaunches& launches = device.selection().kernels().at("chain");
  EXPECT_EQ(launches.simulated, 2U);
  EXPECT_EQ(launches.in_part, 0U);
  EXPECT_THAT(launches.whole_because, HasSubstr("block 1 reads what block 0 has written, at offset 0 of buffer 'sum'"));
  EXPECT_EQ(launches.estimated_cycles(), static_cast<double>(device.totals().cycles));
}

}  // namespace
}  // namespace heddle::tb
