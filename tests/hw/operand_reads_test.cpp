// Ports of register banks and the cache in front of them (hw/registers/operand_reads.hpp), beside what MICRO 2025
// measured, and which operands are marked for reuse (hw/registers/reuse_marks.hpp): plain C++, cycle by cycle.
#include "hw/registers/operand_reads.hpp"

#include <gmock/gmock.h>

#include "hw/registers/reuse_marks.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw::test {
namespace {

using link::Cycle;
using ::testing::ElementsAre;

isa::OperandWords operands_of(std::initializer_list<isa::OperandWord> words) {
  isa::OperandWords out;
  for (const isa::OperandWord word : words) {
    out.add(word);
  }
  return out;
}
isa::OperandWords of_two(unsigned a, unsigned b) {
  return operands_of({{static_cast<std::uint8_t>(a), 0}, {static_cast<std::uint8_t>(b), 1}});
}
isa::OperandWords of_three(unsigned a, unsigned b, unsigned c) {
  isa::OperandWords out = of_two(a, b);
  out.add({static_cast<std::uint8_t>(c), 2});
  return out;
}

// Instructions behind each other, as a stage would have them go on: each in the first cycle in which it fits.
struct BankPorts {
  explicit BankPorts(unsigned ports = 1, unsigned cycles = 3, bool cache = false)
      : reads({2, ports, cycles, 0, cache}) {}
  // How long it has waited; it goes on.
  Cycle waits(const isa::OperandWords& operands, std::uint8_t reuse = 0, std::optional<unsigned> row = 0) {
    const OperandReads::Need need = reads.need(operands, row);
    cached = need.cached;
    const Cycle came = now;
    while (!reads.fits(need, now)) {
      ++now;
    }
    kept = reads.take(operands, reuse, row, need, now);
    return now++ - came;
  }
  std::vector<Cycle> waits_of(unsigned times, const isa::OperandWords& operands) {
    std::vector<Cycle> out;
    for (unsigned i = 0; i != times; ++i) {
      out.push_back(waits(operands));
    }
    return out;
  }
  OperandReads reads;
  Cycle now = 100;
  unsigned cached = 0;
  unsigned kept = 0;
};

// MICRO 2025, listing 1 and section 3: FFMA of R10, R12, R14, then of R16 and two more: 5, 6 and 7 cycles in all, as
// neither, one or both of them are even.
TEST(OperandPorts, TheSecondMultiplicationOfListingOneWaitsForNoneOneOrTwoCycles) {
  const auto bubbles = [](unsigned x, unsigned y) {
    BankPorts bench;
    EXPECT_EQ(bench.waits(of_three(10, 12, 14)), 0U);
    return bench.waits(of_three(16, x, y));
  };
  EXPECT_EQ(bubbles(19, 21), 0U);
  EXPECT_EQ(bubbles(18, 21), 1U);
  EXPECT_EQ(bubbles(19, 20), 1U);
  EXPECT_EQ(bubbles(18, 20), 2U);
}

// Section 5.3: FMUL with both sources in one bank has a bubble of a cycle, FFMA with all three one of two. The window
// gives the first ones the cycles that nobody has had before.
TEST(OperandPorts, OperandsOfOneBankMakeBubbles) {
  EXPECT_THAT(BankPorts().waits_of(6, of_two(2, 5)), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(BankPorts().waits_of(6, of_two(2, 4)), ElementsAre(0, 0, 1, 1, 1, 1));
  EXPECT_THAT(BankPorts().waits_of(6, of_three(3, 5, 7)), ElementsAre(0, 2, 2, 2, 2, 2));
  EXPECT_THAT(BankPorts().waits_of(6, of_three(3, 5, 8)), ElementsAre(0, 0, 1, 1, 1, 1));
}

TEST(OperandPorts, BanksAreApart) {
  BankPorts bench;
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 0U);
  EXPECT_EQ(bench.waits(of_three(3, 5, 7)), 0U);
  EXPECT_EQ(bench.waits(of_two(8, 9)), 0U);
  EXPECT_EQ(bench.waits(of_three(8, 9, 11)), 1U) << "bank 1 has promised cycles 101 to 104, bank 0 up to 103";
}

TEST(OperandPorts, APortIsFreeWhenItsCyclesHavePassed) {
  BankPorts bench;
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 0U);
  bench.now += 2;  // 103
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 0U);
}

TEST(OperandPorts, TwoPortsReadTwoRegistersInACycle) {
  EXPECT_THAT(BankPorts(2).waits_of(8, of_two(2, 4)), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0));
  // A hundred need 300 reads, two in a cycle: the last one begins when six of them are left, in cycle 147.
  BankPorts bench(2);
  Cycle waited = 0;
  for (unsigned i = 0; i != 100; ++i) {
    waited += bench.waits(of_three(2, 4, 6));
  }
  EXPECT_EQ(waited, 147U - 99U);
}

TEST(OperandPorts, WhatNeedsMoreThanAWindowWaitsUntilItsBankIsFree) {
  BankPorts bench(1, 2);
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 0U);
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 2U) << "in 103, when the first three have been read";
  EXPECT_EQ(bench.waits(of_two(3, 5)), 0U);
}

TEST(OperandPorts, ARegisterIsReadOnceForAllItsOperands) {
  EXPECT_THAT(BankPorts().waits_of(4, of_three(2, 2, 2)), ElementsAre(0, 0, 0, 0));
}

TEST(OperandPorts, NothingIsPromisedAfterAReset) {
  BankPorts bench;
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 0U);
  bench.reads.reset();
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 0U);
}

// ---- MICRO 2025, listing 4. The first operand, R2, is marked where a 1 stands.

constexpr std::uint8_t kFirstOperand = 1;

struct CachedBankPorts : BankPorts {
  CachedBankPorts() : BankPorts(1, 3, true) {}
  // Words that the cache has.
  unsigned hits(const isa::OperandWords& operands, std::uint8_t reuse = 0, std::optional<unsigned> row = 0) {
    static_cast<void>(waits(operands, reuse, row));
    return cached;
  }
};

TEST(OperandCache, AValueIsGoneWhenItHasBeenRead) {  // example 1
  CachedBankPorts bench;
  EXPECT_EQ(bench.hits(of_three(2, 3, 4), kFirstOperand), 0U);
  EXPECT_EQ(bench.kept, 1U);
  EXPECT_EQ(bench.hits(of_three(2, 7, 8)), 1U);
  EXPECT_EQ(bench.kept, 0U);
  EXPECT_EQ(bench.hits(of_three(2, 12, 13)), 0U);
}

TEST(OperandCache, AMarkKeepsIt) {  // example 2
  CachedBankPorts bench;
  EXPECT_EQ(bench.hits(of_three(2, 3, 4), kFirstOperand), 0U);
  EXPECT_EQ(bench.hits(of_three(2, 7, 8), kFirstOperand), 1U);
  EXPECT_EQ(bench.hits(of_three(2, 12, 13)), 1U);
}

TEST(OperandCache, AnotherPlaceMissesAndAnotherBankLeavesItThere) {  // example 3
  CachedBankPorts bench;
  EXPECT_EQ(bench.hits(of_three(2, 3, 4), kFirstOperand), 0U);
  EXPECT_EQ(bench.hits(of_three(7, 2, 8)), 0U);
  EXPECT_EQ(bench.hits(of_three(2, 12, 13)), 1U);
}

TEST(OperandCache, AReadOfItsBankAndPlaceDrivesItOut) {  // example 4
  CachedBankPorts bench;
  EXPECT_EQ(bench.hits(of_three(2, 3, 4), kFirstOperand), 0U);
  EXPECT_EQ(bench.hits(of_three(4, 7, 8)), 0U);
  EXPECT_EQ(bench.hits(of_three(2, 12, 13)), 0U);
}

TEST(OperandCache, AValueIsItsRowsAlone) {
  CachedBankPorts bench;
  EXPECT_EQ(bench.hits(of_two(2, 3), kFirstOperand, 5), 0U);
  EXPECT_EQ(bench.hits(of_two(2, 3), 0, 6), 0U) << "another warp's";
  EXPECT_EQ(bench.hits(of_two(2, 3), kFirstOperand, 5), 0U) << "and that one has driven it out";
  EXPECT_EQ(bench.hits(of_two(2, 3), kFirstOperand, std::nullopt), 0U) << "threads of several rows";
  EXPECT_EQ(bench.kept, 0U);
}

TEST(OperandCache, WhatItHasNeedsNoPort) {
  CachedBankPorts bench;
  EXPECT_EQ(bench.waits(of_three(2, 4, 6), 7), 0U);
  EXPECT_EQ(bench.kept, 3U);
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 0U);
  EXPECT_EQ(bench.cached, 3U);
  EXPECT_EQ(bench.waits(of_three(2, 4, 6)), 1U) << "all three by the port, from 103 on";
}

TEST(OperandCache, IsEmptyAfterAReset) {
  CachedBankPorts bench;
  EXPECT_EQ(bench.hits(of_two(2, 3), kFirstOperand), 0U);
  bench.reads.reset();
  EXPECT_EQ(bench.hits(of_two(2, 3)), 0U);
}

// ---- operands and marks

// Instructions decoded in an order of the test's.
class ReuseMarks : public ::testing::Test {
 protected:
  template <class Emit>
  std::uint32_t has(Emit emit) {
    ready_.push_back(decoded(emit));
    link::DecodedInstruction& added = *ready_.back();
    added.use = isa::register_use(added.instruction);
    added.operands = isa::operand_words(added.instruction);
    return static_cast<std::uint32_t>(ready_.size() - 1);
  }
  void fma(unsigned dst, unsigned a, unsigned b, unsigned c) {
    has([&](Code& code) {
      isa::Instruction out;
      out.op = isa::Op::FFMA;
      out.dst = static_cast<std::uint8_t>(dst);
      out.a = static_cast<std::uint8_t>(a);
      out.b = static_cast<std::uint8_t>(b);
      out.c = static_cast<std::uint8_t>(c);
      code.add(out);
    });
  }
  void decode(std::uint32_t pc) {
    code_.resize(ready_.size());
    code_[pc] = std::move(ready_[pc]);
    mark_reuse(code_, pc, 2);
  }
  std::vector<unsigned> marks() {
    for (std::uint32_t pc = 0; pc != ready_.size(); ++pc) {
      if (code_.size() <= pc || code_[pc] == nullptr) {
        decode(pc);
      }
    }
    std::vector<unsigned> out;
    for (const auto& decoded : code_) {
      out.push_back(decoded->reuse);
    }
    return out;
  }

 private:
  std::vector<std::unique_ptr<link::DecodedInstruction>> ready_, code_;
};

TEST_F(ReuseMarks, AnOperandThatTheNextInstructionReadsInItsPlaceIsMarked) {
  fma(20, 2, 3, 4);
  fma(21, 2, 5, 4);
  fma(22, 6, 5, 7);
  EXPECT_THAT(marks(), ElementsAre(1 | 4, 2, 0));
}

TEST_F(ReuseMarks, InstructionsBetweenMustLeaveItsPlaceAndBankAlone) {
  fma(20, 2, 3, 4);
  fma(21, 7, 9, 11);  // place 0 of the other bank, place 1 of the bank of r3
  fma(22, 2, 3, 8);
  EXPECT_THAT(marks(), ElementsAre(1, 0, 0));
}

TEST_F(ReuseMarks, WhatIsWrittenInBetweenIsNot) {
  fma(2, 2, 3, 4);  // writes what it has read
  fma(3, 2, 3, 4);
  fma(20, 6, 3, 4);
  EXPECT_THAT(marks(), ElementsAre(2 | 4, 4, 0));
}

TEST_F(ReuseMarks, NothingIsMarkedAcrossABranchOrABarrier) {
  fma(20, 2, 3, 4);
  has([](Code& code) { code.when(1).bra(7); });
  fma(21, 2, 3, 4);
  has([](Code& code) { code.barrier(isa::Op::BAR_SYNC, isa::kRZ); });
  fma(22, 2, 3, 4);
  EXPECT_THAT(marks(), ElementsAre(0, 0, 0, 0, 0));
}

TEST_F(ReuseMarks, TheOrderInWhichCodeIsDecodedDoesNotMatter) {
  fma(20, 2, 3, 4);
  fma(21, 2, 5, 4);
  fma(22, 6, 5, 4);
  decode(2);
  decode(0);
  decode(1);
  EXPECT_THAT(marks(), ElementsAre(1 | 4, 2 | 4, 0));
}

TEST(OperandWords, AreInTheirPlaces) {
  const auto words = [](auto emit) {
    const auto instruction = decoded(emit);
    const isa::OperandWords all = isa::operand_words(instruction->instruction);
    return std::vector<isa::OperandWord>(all.all().begin(), all.all().end());
  };
  using Word = isa::OperandWord;
  EXPECT_THAT(words([](Code& code) { code.rrr(isa::Op::SUB, 1, 2, isa::kRZ); }), ElementsAre(Word{2, 0}));
  EXPECT_THAT(words([](Code& code) { code.rri(isa::Op::SUB, 1, 2, 3); }), ElementsAre(Word{2, 0}));
  EXPECT_THAT(words([](Code& code) { code.rrr(isa::Op::DADD, 2, 4, 6); }),
              ElementsAre(Word{4, 0}, Word{5, 0}, Word{6, 1}, Word{7, 1}));
  EXPECT_THAT(words([](Code& code) { code.store(isa::Op::ST_GLOBAL, 3, 4, 0, isa::Width::b32, 4); }),
              ElementsAre(Word{3, 0}, Word{4, 1}, Word{5, 1}, Word{6, 1}, Word{7, 1}));
  EXPECT_THAT(words([](Code& code) { code.load(isa::Op::LD_GLOBAL, 3, 4); }), ElementsAre(Word{4, 0}));
  EXPECT_THAT(
      words([](Code& code) { code.atomic(isa::Op::ATOM_GLOBAL, isa::AtomicOp::cas, isa::Type::u32, 1, 2, 3, 4); }),
      ElementsAre(Word{2, 0}, Word{3, 1}, Word{4, 2}));
  EXPECT_THAT(words([](Code& code) { code.mov(1, 7); }), ElementsAre());
}

}  // namespace
}  // namespace heddle::hw::test
