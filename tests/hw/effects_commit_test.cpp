// What threads keep of an instruction (hw/effects/commit.hpp), against each thread's own registers and hash; and the
// same of a row at once (hw/effects/own_row.hpp).
#include "hw/effects/commit.hpp"

#include <gtest/gtest.h>

#include "hw/effects/own_row.hpp"
#include "tests/hw/effects_bench.hpp"

namespace heddle::hw::test {
namespace {

using isa::Op;
using isa::test::Code;

struct CommitBench : EffectsBench {
  using EffectsBench::EffectsBench;

  link::SubWarp computed(Shape shape, LaneMask lanes, const link::DecodedInstruction& instruction) {
    link::SubWarp out = sub_warp(shape, lanes, instruction);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      for (isa::LaneWord& word : out.values.result) {
        word[lane] = random();
      }
      out.address_low[lane] = random();
    }
    out.values.p = random();
    out.values.q = random();
    return out;
  }
  // Every register, predicate and hash as it must be.
  struct Memory {
    std::vector<std::vector<isa::LaneWord>> words;
    std::vector<std::vector<LaneMask>> predicates;
    std::vector<std::uint32_t> hashes;
    friend bool operator==(const Memory&, const Memory&) = default;
  };
  [[nodiscard]] Memory memory() {
    Memory out{std::vector(kRows, std::vector<isa::LaneWord>(kRegisters)),
               std::vector(kRows, std::vector<LaneMask>(isa::kPredicates)), hashes};
    for (unsigned row = 0; row < kRows; ++row) {
      for (unsigned reg = 0; reg < kRegisters; ++reg) {
        out.words[row][reg] = registers.word(row, reg);
      }
      for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
        out.predicates[row][reg] = registers.predicate(row, reg);
      }
    }
    return out;
  }

  Retirement retirement{state};
};

struct Keeps {
  void (*emit)(Code&);
  std::vector<unsigned> words;
  std::vector<unsigned> predicates;  // p, q
  bool folds_address = false;
  unsigned stored = 0;
};

const std::vector<Keeps>& all_keeps() {
  static const std::vector<Keeps> all = {
      {[](Code& code) { code.rrr(Op::ADD, 5, 2, 3); }, {5}, {}},
      {[](Code& code) { code.rrr(Op::ADD, isa::kRZ, 2, 3); }, {}, {}},
      {[](Code& code) { code.rrr(Op::ADD64, 4, 2, 6); }, {4, 5}, {}},
      {[](Code& code) { code.setp(3, isa::Comparison::eq, 2, 7); }, {}, {3}},
      {[](Code& code) {
         isa::Instruction both;
         both.op = Op::SETP_U32;
         both.dst = isa::pred_pair(1, 4);
         both.a = 2;
         both.c = static_cast<std::uint8_t>(isa::Comparison::eq);
         both.immediate = true;
         code.add(both);
       },
       {},
       {1, 4}},
      {[](Code& code) { code.store(Op::ST_GLOBAL, 2, 4, 0, isa::Width::b32, 2); }, {}, {}, true, 2},
      {[](Code& code) { code.load(Op::LD_GLOBAL, 8, 2, 0, isa::Width::b32, 4); }, {8, 9, 10, 11}, {}},
  };
  return all;
}

TEST(Commit, WritesAndHashesWhereEachThreadIs) {
  for (const Keeps& keeps : all_keeps()) {
    for (const Shape shape : kShapes) {
      for (const LaneMask lanes : kSomeLanes) {
        CommitBench bench;
        link::SubWarp done = bench.computed(shape, lanes, bench.decoded(keeps.emit));
        done.executing = lanes & 0xfffe'7fffU;
        CommitBench::Memory expected = bench.memory();
        for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
          if (!has(done.executing, lane)) {
            continue;
          }
          const unsigned row = CommitBench::row(done, lane);
          const unsigned home = CommitBench::home(done, lane);
          std::uint32_t& hash = expected.hashes[row * isa::kLanes + home];
          hash = isa::retire_pc(hash, 40);
          if (keeps.folds_address) {
            hash = isa::retire_value(hash, done.address_low[lane]);
          }
          for (unsigned word = 0; word < keeps.words.size() + keeps.stored; ++word) {
            hash = isa::retire_value(hash, done.values.result[word][lane]);
          }
          for (unsigned word = 0; word < keeps.words.size(); ++word) {
            expected.words[row][keeps.words[word]][home] = done.values.result[word][lane];
          }
          std::uint32_t bits = 0;
          for (unsigned number = 0; number < keeps.predicates.size(); ++number) {
            const bool value = has(number == 0 ? done.values.p : done.values.q, lane);
            LaneMask& predicate = expected.predicates[row][keeps.predicates[number]];
            predicate = (predicate & ~(LaneMask{1} << home)) | (LaneMask{value} << home);
            bits |= std::uint32_t{value} << number;
          }
          hash = keeps.predicates.empty() ? hash : isa::retire_value(hash, bits);
        }
        EXPECT_EQ(has_results(*done.decoded), !keeps.words.empty() || !keeps.predicates.empty());
        bench.retirement.results(done, &bench.registers);
        EXPECT_EQ(bench.memory(), expected) << where(done, 0);
      }
    }
  }
}

TEST(Commit, LeavesRegistersThatAreThereAlready) {
  CommitBench bench;
  link::SubWarp done =
      bench.computed(Shape::own_row, 0xff, bench.decoded([](Code& code) { code.rrr(Op::ADD, 5, 2, 3); }));
  done.forwarded = true;
  const CommitBench::Memory before = bench.memory();
  bench.retirement.results(done, &bench.registers);
  EXPECT_EQ(bench.memory().words, before.words);
  EXPECT_NE(bench.memory().hashes, before.hashes);
}

// The last row of a block of 40 threads has 8 of them; nothing behind their hashes is touched.
TEST(Commit, HashesTheThreadsThatThereAre) {
  CommitBench bench({}, 40);
  const link::DecodedInstruction& nop = bench.decoded([](Code& code) { code.rrr(Op::ADD, isa::kRZ, 2, 3); });
  link::SubWarp done = bench.computed(Shape::own_row, 0xff, nop);
  done.first_row = 1;
  std::vector<std::uint32_t> expected = bench.hashes;
  for (unsigned thread = 32; thread < 40; ++thread) {
    expected[thread] = isa::retire_pc(expected[thread], 40);
  }
  bench.retirement.results(done, nullptr);
  EXPECT_EQ(bench.hashes, expected);
  bench.launch.hashes = nullptr;
  bench.retirement.results(done, nullptr);
  EXPECT_EQ(bench.hashes, expected) << "not wanted any more";
}

// A jump stands for every thread of its warp; those in flight with an earlier instruction retire it after that.
TEST(Commit, OfAJumpIsEveryThreadsInItsOrder) {
  Machine relaxed;
  relaxed.core.warp_size = 64;
  relaxed.core.issue = "relaxed";
  CommitBench bench(relaxed);
  Group& group = bench.state.groups[0];
  group.first_row = 2;
  group.active = {0x0000'ffffU, 0xffff'ffffU};
  group.busy = {0x0000'00f1U, 0};  // the jump's own lane 0 among them
  link::SubWarp jump = bench.computed(Shape::own_row, 1, bench.decoded([](Code& code) { code.bra(3); }));
  jump.whole = true;
  std::vector<std::uint32_t> expected = bench.hashes;
  const auto retires = [&](unsigned row, unsigned lane, std::uint32_t pc) {
    std::uint32_t& hash = expected[row * isa::kLanes + lane];
    hash = isa::retire_pc(hash, pc);
  };
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    if (lane < 16 && !has(0xf0, lane)) {
      retires(2, lane, 40);
    }
    retires(3, lane, 40);
  }
  bench.retirement.results(jump, nullptr);
  EXPECT_EQ(bench.hashes, expected);
  link::SubWarp earlier = bench.computed(Shape::own_row, 0x30, *jump.decoded);
  bench.retirement.completed(earlier);
  retires(2, 4, 40);
  retires(2, 5, 40);
  EXPECT_EQ(bench.hashes, expected);
  bench.retirement.completed(earlier);
  EXPECT_EQ(bench.hashes, expected) << "once";
  bench.retirement.reset();
  earlier.lanes = 0xc0;
  bench.retirement.completed(earlier);
  EXPECT_EQ(bench.hashes, expected) << "another launch";
}

TEST(Commit, OfAScalarInstructionIsEveryThreads) {
  Machine large;
  large.core.warp_size = 64;
  CommitBench bench(large);
  Group& group = bench.state.groups[0];
  group.first_row = 2;
  group.active = {0x00ff'0ff0U, 0xf000'000fU};
  link::SubWarp one =
      bench.computed(Shape::own_row, 0x10, bench.decoded([](Code& code) { code.rrr(Op::ADD, 5, 2, 3); }));
  one.whole = one.scalar = true;
  const std::uint32_t value = one.values.result[0][4];
  CommitBench::Memory expected = bench.memory();
  for (unsigned row = 0; row < 2; ++row) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      if (has(group.active[row], lane)) {
        expected.words[2 + row][5][lane] = value;
        std::uint32_t& hash = expected.hashes[(2 + row) * isa::kLanes + lane];
        hash = isa::retire_value(isa::retire_pc(hash, 40), value);
      }
    }
  }
  bench.retirement.results_for_warp(one, bench.registers);
  EXPECT_EQ(bench.memory(), expected);
  EXPECT_EQ(one.first_row, 2U);
}

TEST(Commit, CountsWhatRetires) {
  CommitBench bench;
  bench.state.now = 99;
  link::SubWarp add =
      bench.sub_warp(Shape::displaced, 0xff, bench.decoded([](Code& code) { code.rrr(Op::ADD, 5, 2, 3); }));
  add.executing = 0x7;
  bench.retirement.count(add);
  EXPECT_EQ(bench.state.statistics.warp_instructions, 1U);
  EXPECT_EQ(bench.state.statistics.lane_instructions, 3U);
  EXPECT_EQ(bench.state.statistics.thread_instructions, 3U);
  EXPECT_EQ(bench.state.statistics.float_lane_instructions, 0U);
  EXPECT_EQ(bench.state.last_retirement, 99U);
  link::SubWarp branch = bench.sub_warp(Shape::own_row, 0xff, bench.decoded([](Code& code) { code.when(1).bra(3); }));
  branch.executing = 0x7;
  bench.retirement.count(branch);
  EXPECT_EQ(bench.state.statistics.lane_instructions, 3U + 8U) << "every thread evaluates a branch";
  bench.state.groups[0].active = {0xffff'0000U};
  branch.whole = true;
  bench.retirement.count(branch);
  EXPECT_EQ(bench.state.statistics.thread_instructions, 3U + 8U + 16U) << "it stands for all of them";
}

// Products of matrices take a tensor core as long as so many multiply-adds of f16: m16n8k16 of f16 and m16n8k32 of
// 8-bit integers, m16n8k8 of tf32, m8n8k4 of f64.
TEST(Commit, CountsMultiplyAddsOfProductsInThoseOfHalves) {
  struct Case {
    isa::Factor factor;
    unsigned parts;
    std::uint64_t multiply_adds;
  };
  for (const Case& one : {Case{isa::Factor::f16, 4, 16 * 8 * 16}, Case{isa::Factor::bf16, 2, 16 * 8 * 8},
                          Case{isa::Factor::s8, 4, 16 * 8 * 32 / 2}, Case{isa::Factor::tf32, 4, 16 * 8 * 8 * 2},
                          Case{isa::Factor::f64, 1, 8 * 8 * 4 * 16}}) {
    CommitBench bench;
    link::SubWarp product = bench.sub_warp(Shape::own_row, 0xffff'ffffU, bench.decoded([&](Code& code) {
      isa::Instruction mma;
      mma.op = Op::MMA;
      mma.a = 8;
      mma.b = 16;
      mma.dst = 4;
      mma.c = 4;
      mma.mods = isa::mma_mods(one.factor, one.factor, one.parts, false, false);
      code.add(mma);
    }));
    bench.retirement.count(product);
    EXPECT_EQ(bench.state.statistics.tensor_multiply_adds, one.multiply_adds) << one.multiply_adds;
    product.executing = 0;  // its guard was false
    bench.retirement.count(product);
    EXPECT_EQ(bench.state.statistics.tensor_multiply_adds, one.multiply_adds);
  }
}

// The short cut leaves what the sub-warp of the row would.
TEST(OwnRow, KeepsWhatItsSubWarpWould) {
  const auto add = [](bool negated) {
    return [negated](Code& code) { code.when(2, negated).rrr(Op::ADD64, 4, 2, 6); };
  };
  for (const bool negated : {false, true}) {
    for (const LaneMask lanes : kSomeLanes) {
      CommitBench bench;
      CommitBench other;
      const link::DecodedInstruction& decoded = bench.decoded(add(negated));
      link::SubWarp whole = other.sub_warp(Shape::own_row, lanes, decoded);
      read_operands(other.registers, whole);
      decoded.function(decoded.instruction, whole.values);
      other.retirement.results(whole, &other.registers);

      count_units(other.state, static_cast<unsigned>(std::popcount(whole.executing)));
      other.retirement.count(whole);

      Group group;
      group.first_row = 2;
      group.active = {lanes};
      link::SubWarp token;
      token.decoded = &decoded;
      token.pc = 40;
      OwnRow row(bench.state);
      BankCounters banks;
      const ThreadHome* const home = row.home_of(group);
      ASSERT_NE(home, nullptr);
      const Formation::Row threads = row.compute(bench.registers, banks, token, group, 7);
      EXPECT_EQ(threads.lanes, lanes);
      EXPECT_EQ(threads.executing, whole.executing);
      EXPECT_TRUE(group.flight().all_formed);
      EXPECT_EQ(group.flight().completed, 0U);
      row.commit(bench.registers, banks, token, group, *home, threads, bench.retirement);
      EXPECT_EQ(group.flight().formed, 1U);
      EXPECT_EQ(group.flight().completed, 1U);
      EXPECT_TRUE(group.flight().released);
      for (unsigned lane = 0; lane != isa::kLanes; ++lane) {
        const bool here = ((lanes >> lane) & 1U) != 0;
        EXPECT_EQ(banks.reads.of(lane), here ? 4U : 0U) << "two operands of 64 bits";
        EXPECT_EQ(banks.writes.of(lane), here && whole.executing != 0 ? 2U : 0U);
      }
      EXPECT_EQ(bench.state.statistics.fu_active, other.state.statistics.fu_active);
      EXPECT_EQ(bench.state.statistics.idle, other.state.statistics.idle);
      EXPECT_EQ(bench.state.statistics.lane_instructions, other.state.statistics.lane_instructions);
      EXPECT_EQ(bench.memory(), other.memory()) << lanes;
    }
  }
}

TEST(OwnRow, IsOfThreadsLaneForLaneOnly) {
  CommitBench bench;
  EXPECT_TRUE(OwnRow::has(bench.decoded([](Code& code) { code.rrr(Op::ADD, 5, 2, 3); })));
  EXPECT_TRUE(OwnRow::has(bench.decoded([](Code& code) { code.bra(3); })));
  EXPECT_FALSE(OwnRow::has(bench.decoded([](Code& code) { code.exit(); })));
  EXPECT_FALSE(OwnRow::has(bench.decoded([](Code& code) { code.barrier(Op::BAR_SYNC, 1); })));
  const OwnRow row(bench.state);
  Group group;
  group.first_row = 3;
  group.active = {0xff};
  EXPECT_EQ(row.home_of(group), &bench.state.homes[0].threads[3]);
  group.dynamic = true;
  EXPECT_EQ(row.home_of(group), nullptr) << "each lane has a place of its own";
  group.aligned = true;
  EXPECT_NE(row.home_of(group), nullptr);
  bench.state.rows[3].take(5);
  EXPECT_EQ(row.home_of(group), nullptr) << "a thread is elsewhere";
}

}  // namespace
}  // namespace heddle::hw::test
