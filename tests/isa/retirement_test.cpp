#include "isa/retirement.hpp"

#include <gtest/gtest.h>

#include "isa/retire.hpp"

namespace heddle::isa {
namespace {

std::uint64_t total_of(std::initializer_list<std::uint32_t> hashes) {
  RetirementHash hash;
  hash.begin_launch(hashes.size());
  std::copy(hashes.begin(), hashes.end(), hash.threads().begin());
  hash.end_launch();
  return hash.total();
}

TEST(RetirementHash, DependsOnEveryThreadItsIndexAndTheirNumber) {
  EXPECT_EQ(total_of({1, 2, 3}), total_of({1, 2, 3}));
  EXPECT_NE(total_of({1, 2, 3}), total_of({2, 1, 3}));
  EXPECT_NE(total_of({1, 2, 3}), total_of({1, 2, 4}));
  EXPECT_NE(total_of({0}), total_of({0, 0}));
}

TEST(RetirementHash, ChainsLaunchesInTheirOrder) {
  const auto two = [](std::uint32_t first, std::uint32_t second) {
    RetirementHash hash;
    for (const std::uint32_t value : {first, second}) {
      hash.begin_launch(1);
      EXPECT_EQ(hash.threads()[0], 0U);
      hash.threads()[0] = value;
      hash.end_launch();
    }
    EXPECT_EQ(hash.launches(), 2U);
    return hash.total();
  };
  EXPECT_EQ(two(1, 2), two(1, 2));
  EXPECT_NE(two(1, 2), two(2, 1));
  EXPECT_NE(two(1, 1), two(2, 2));
}

// What a lane's hash must be, from the scalar functions.
std::uint32_t fold(std::uint32_t hash, std::uint32_t pc, std::initializer_list<std::uint32_t> values) {
  hash = retire_pc(hash, pc);
  for (const std::uint32_t value : values) {
    hash = retire_value(hash, value);
  }
  return hash;
}

class Retire : public ::testing::Test {
 protected:
  Retire() {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      hash_[lane] = 77 * lane;
      address_[lane] = 1000 + lane;
      for (unsigned word = 0; word < 4; ++word) {
        values_.result[word][lane] = 100 * (word + 1) + lane;
      }
    }
    values_.p = 0x0000'0002;
    values_.q = 0x0000'0001;
  }
  // Folds on lanes 0 and 1 and expects lane 2 unchanged; returns whether lanes 0, 1 got what the scalar fold says.
  void expect(const Instruction& instruction, std::initializer_list<std::uint32_t> lane0,
              std::initializer_list<std::uint32_t> lane1) {
    const LaneWord before = hash_;
    retire(instruction, 9, 3, values_, address_, hash_);
    EXPECT_EQ(hash_[0], fold(before[0], 9, lane0));
    EXPECT_EQ(hash_[1], fold(before[1], 9, lane1));
    for (unsigned lane = 2; lane < kLanes; ++lane) {
      EXPECT_EQ(hash_[lane], before[lane]);
    }
  }

  LaneValues values_{};
  LaneWord address_{};
  LaneWord hash_{};
};

Instruction make(Op op, unsigned dst) {
  Instruction out;
  out.op = op;
  out.dst = static_cast<std::uint8_t>(dst);
  return out;
}

// Every lane by itself, in and out of the mask.
TEST_F(Retire, FoldsEachLaneOfTheMask) {
  values_.p = 0x9e37'79b9;
  values_.q = 0x85eb'ca6b;
  const ResultForm form{.dst = 4, .words = 2, .p = 1, .q = 2, .stored = 0, .address = true};
  for (const LaneMask mask : {0U, ~0U, 1U, 0x8000'0000U, 0x0f0f'00ffU, 0xa5a5'5a5aU}) {
    LaneWord after = hash_;
    retire(form, 31, mask, values_, address_, after);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t predicates = ((values_.p >> lane) & 1U) | (((values_.q >> lane) & 1U) << 1U);
      const std::uint32_t folded =
          fold(hash_[lane], 31, {address_[lane], values_.result[0][lane], values_.result[1][lane], predicates});
      EXPECT_EQ(after[lane], ((mask >> lane) & 1U) != 0 ? folded : hash_[lane]) << lane;
    }
  }
}

TEST_F(Retire, RegisterResultsFoldEachWord) {
  expect(make(Op::ADD, 4), {100}, {101});
  expect(make(Op::ADD64, 4), {100, 200}, {101, 201});
  expect(make(Op::ADD, kRZ), {}, {});
  expect(make(Op::BRA, kRZ), {}, {});
  expect(make(Op::EXIT, kRZ), {}, {});
}

TEST_F(Retire, PredicateResultsFoldOneValue) {
  expect(make(Op::SETP_U32, pred_pair(1, 2)), {2}, {1});
  expect(make(Op::SETP_U32, pred_pair(1)), {0}, {1});
  expect(make(Op::SETP_U32, pred_pair(kPT, 2)), {2}, {0});
  expect(make(Op::SETP_U32, pred_pair(kPT)), {}, {});
  expect(make(Op::VOTE_ANY, pred_pair(1)), {0}, {1});
}

TEST_F(Retire, CarryAndShuffleFoldRegisterThenPredicate) {
  Instruction add = make(Op::ADDC, 4);
  add.mods = carry_mods(Pred{}, 3);
  expect(add, {100, 0}, {101, 1});
  add.mods = carry_mods(Pred{}, kPT);
  expect(add, {100}, {101});
  Instruction shuffle = make(Op::SHFL_IDX, 4);
  shuffle.mods = 2;
  expect(shuffle, {100, 0}, {101, 1});
  shuffle.mods = kPT;
  expect(shuffle, {100}, {101});
}

TEST_F(Retire, MemoryFoldsAddressesOfStoresAndAtomicsOnly) {
  Instruction store = make(Op::ST_GLOBAL, 4);
  store.c = memory_sub(Width::b32, 2);
  expect(store, {1000, 100, 200}, {1001, 101, 201});
  store.c = memory_sub(Width::b64, 2);
  expect(store, {1000, 100, 200, 300, 400}, {1001, 101, 201, 301, 401});
  store.c = memory_sub(Width::u8, 1);
  store.dst = kRZ;
  expect(store, {1000, 100}, {1001, 101});
  Instruction load = make(Op::LD_SHARED, 4);
  load.c = memory_sub(Width::b64, 1);
  expect(load, {100, 200}, {101, 201});
  Instruction atomic = make(Op::ATOM_SHARED, 4);
  atomic.mods = atomic_mods(AtomicOp::add, Type::u32);
  expect(atomic, {1000, 100}, {1001, 101});
  atomic.dst = kRZ;
  expect(atomic, {1000}, {1001});
}

}  // namespace
}  // namespace heddle::isa
