// What an instruction reads and writes, as sets.
#include <gtest/gtest.h>

#include "isa/register_use.hpp"
#include "kernel_builder.hpp"

namespace heddle::isa {
namespace {

using test::Code;

template <class Emit>
RegisterUse use_of(Emit emit) {
  Code code;
  emit(code);
  return register_use(decode(code.module().kernels[0].words.back()).value());
}

RegisterSet set_of(std::initializer_list<unsigned> registers) {
  RegisterSet set;
  for (const unsigned reg : registers) {
    set |= RegisterSet::from(reg, 1);
  }
  return set;
}

TEST(RegisterSet, HasWhatWasPutIn) {
  const RegisterSet set = set_of({0, 63, 64, 200, 254});
  std::vector<unsigned> found;
  set.each([&](unsigned reg) { found.push_back(reg); });
  EXPECT_EQ(found, (std::vector<unsigned>{0, 63, 64, 200, 254}));
  EXPECT_EQ(set.count(), 5U);
  EXPECT_EQ(set.end(), 255U);
  EXPECT_TRUE(set.has(64));
  EXPECT_FALSE(set.has(65));
  EXPECT_EQ(RegisterSet::from(62, 4), set_of({62, 63, 64, 65}));
  EXPECT_TRUE(RegisterSet::from(kRZ, 2).empty());
  EXPECT_TRUE(set.meets(set_of({200})));
  EXPECT_FALSE(set.meets(~set));
  EXPECT_EQ((set & ~set_of({254})).end(), 201U);
  EXPECT_EQ(RegisterSet().end(), 0U);
}

TEST(RegisterUse, OperandsAndResult) {
  const RegisterUse add = use_of([](Code& code) { code.rrr(Op::ADD, 162, 0, 5); });
  EXPECT_EQ(add.read, set_of({0, 5}));
  EXPECT_EQ(add.written, set_of({162}));
  EXPECT_EQ(add.predicates_read, 0U);
  EXPECT_EQ(add.predicates_written, 0U);
  const RegisterUse immediate = use_of([](Code& code) { code.rri(Op::ADD, 1, 2, 3); });
  EXPECT_EQ(immediate.read, set_of({2}));
}

TEST(RegisterUse, TheZeroRegisterAndTheTruePredicateAreNobodys) {
  const RegisterUse move = use_of([](Code& code) { code.rri(Op::ADD, kRZ, kRZ, 3); });
  EXPECT_TRUE(move.read.empty());
  EXPECT_TRUE(move.written.empty());
  const RegisterUse compare = use_of([](Code& code) { code.setp(kPT, Comparison::ne, 4, 0); });
  EXPECT_EQ(compare.predicates_written, 0U);
}

TEST(RegisterUse, WideValuesAndVectorsAreSeveralRegisters) {
  EXPECT_EQ(use_of([](Code& code) { code.rrr(Op::ADD64, 4, 8, 10); }).read, set_of({8, 9, 10, 11}));
  EXPECT_EQ(use_of([](Code& code) { code.rrr(Op::ADD64, 4, 8, 10); }).written, set_of({4, 5}));
  const RegisterUse load = use_of([](Code& code) { code.load(Op::LD_GLOBAL, 8, 3, 0, Width::b32, 4); });
  EXPECT_EQ(load.read, set_of({3}));
  EXPECT_EQ(load.written, set_of({8, 9, 10, 11}));
}

TEST(RegisterUse, AStoreReadsWhatItStores) {
  const RegisterUse store = use_of([](Code& code) { code.store(Op::ST_GLOBAL, 3, 8, 0, Width::b32, 2); });
  EXPECT_EQ(store.read, set_of({3, 8, 9}));
  EXPECT_TRUE(store.written.empty());
}

TEST(RegisterUse, GuardSourceAndResultPredicates) {
  const RegisterUse compare = use_of([](Code& code) { code.when(2, true).setp(6, Comparison::ne, 4, 0); });
  EXPECT_EQ(compare.predicates_read, 1U << 2);
  EXPECT_EQ(compare.predicates_written, 1U << 6);
  EXPECT_EQ(compare.read, set_of({4}));
  const RegisterUse tree = use_of([](Code& code) { code.tree_traverse(1, 2, Pred{3, false}, 4); });
  EXPECT_EQ(tree.predicates_read, 1U << 3);
}

}  // namespace
}  // namespace heddle::isa
