// The database workloads' variants on the reference interpreter, the tree that index_search searches, variants that are
// refused, and buffers that take host memory only where they are touched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "tb/device/executor.hpp"
#include "tb/device/workload.hpp"
#include "tb/launch/fill.hpp"
#include "tests/support/marks.hpp"
#include "workloads/index_search/index_tree.hpp"

HEDDLE_LONG_SANITIZED("All/DatabaseVariant.*/table_scan_columns_?", "All/DatabaseVariant.*duplicates_64",
                      "All/DatabaseVariant.*/table_scan_s*", "All/DatabaseVariant.*hints")

namespace heddle::workloads {
namespace {

using ::testing::HasSubstr;

tb::WorkloadOptions small_of(unsigned address_bits = 32) {
  tb::WorkloadOptions options;
  options.scale = tb::Workload::test_scale();
  options.address_bits = address_bits;
  return options;
}

class DatabaseVariant : public ::testing::TestWithParam<std::string> {};

TEST_P(DatabaseVariant, IsRight) {
  for (const unsigned bits : {32U, 64U}) {
    const auto workload = tb::make_workload(GetParam(), small_of(bits));
    tb::ReferenceExecutor executor;
    executor.load(workload->compile());
    const tb::Verdict verdict = workload->run(executor);
    EXPECT_TRUE(verdict.correct) << verdict.detail;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DatabaseVariant,
    ::testing::Values("table_scan:cond_acc", "table_scan:selectivity=1", "table_scan:selectivity=1,cond_acc",
                      "table_scan:selectivity=1024", "table_scan:cond_acc,selectivity=1024",
                      "table_scan:columns=2,selectivity=8", "table_scan:columns=3", "table_scan:columns=8",
                      "table_scan:columns=8,cond_acc", "index_search:levels=1", "index_search:levels=2,tree_traverse",
                      "index_search:levels=2,row_hints", "index_search:levels=3,tree_traverse,row_hints",
                      "aggregates:groups=1", "aggregates:groups=8", "aggregates:groups=2,progress",
                      "table_scan:pthreads", "table_scan:pthreads,cond_acc,columns=2", "index_search:pthreads,levels=2",
                      "index_search:pthreads,levels=1,tree_traverse,row_hints", "scan_join:selectivity=0",
                      "scan_join:selectivity=1", "scan_join:selectivity=1,cond_acc", "scan_join:cond_acc",
                      "hash_join:matches=0", "hash_join:matches=100,cond_acc", "hash_join:duplicates=64",
                      "hash_join:load=64,duplicates=3", "index_join:levels=1,matches=100",
                      "index_join:matches=0,levels=1", "index_join:levels=3,tree_traverse,row_hints",
                      "index_update:levels=1", "index_update:levels=2,tree_traverse,row_hints", "index_insert:levels=1",
                      "index_insert:levels=2,slack=0", "index_insert:levels=1,slack=0",
                      "index_insert:levels=2,slack=1,tree_traverse", "index_insert:levels=2,row_hints"),
    [](const auto& info) {
      std::string name = info.param;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == ':' || c == ',' || c == '='; }, '_');
      return name;
    });

std::string fill_refusal(const std::string& text) {
  try {
    static_cast<void>(tb::make_workload(text, small_of()));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Variants, OthersAreRefused) {
  EXPECT_THAT(fill_refusal("table_scan"), "accepted");
  EXPECT_THAT(fill_refusal("tabel_scan:cond_acc"),
              HasSubstr("there is no workload 'tabel_scan'; did you mean 'table_scan'?"));
  EXPECT_THAT(fill_refusal("table_scan:cond_ac"),
              HasSubstr("workload 'table_scan' has no variant 'cond_ac'; did you mean 'cond_acc'?"));
  EXPECT_THAT(fill_refusal("vecadd:cond_acc"), HasSubstr("workload 'vecadd' has no variant 'cond_acc'; it has none"));
  EXPECT_THAT(fill_refusal("table_scan:"), HasSubstr("workload 'table_scan:' has an empty variant"));
  EXPECT_THAT(fill_refusal("table_scan:cond_acc,"), HasSubstr("has an empty variant"));
  EXPECT_THAT(fill_refusal("table_scan:columns=9"), HasSubstr("cannot be '9'; give a number from 1 to 8"));
  EXPECT_THAT(fill_refusal("table_scan:columns=0"), HasSubstr("cannot be '0'"));
  EXPECT_THAT(fill_refusal("table_scan:columns=2x"), HasSubstr("cannot be '2x'"));
  EXPECT_THAT(fill_refusal("table_scan:columns"), HasSubstr("cannot be ''"));
  EXPECT_THAT(fill_refusal("table_scan:cond_acc=1"), HasSubstr("has no value; write table_scan:cond_acc"));
  EXPECT_THAT(fill_refusal("table_scan:columns=2,columns=3"), HasSubstr("is named twice"));
}

// A leaf without room refuses its new keys, and the verdict says how many; one with room takes every key.
TEST(IndexInsert, IsRefusedByFullLeaves) {
  const auto told = [](const std::string& text) {
    const auto workload = tb::make_workload(text, small_of());
    tb::ReferenceExecutor executor;
    executor.load(workload->compile());
    const tb::Verdict verdict = workload->run(executor);
    EXPECT_TRUE(verdict.correct) << verdict.detail;
    return verdict.detail;
  };
  EXPECT_THAT(told("index_insert:levels=2,slack=0"), HasSubstr("; 0 of 656 new keys are inserted, "));
  EXPECT_THAT(told("index_insert:levels=2"), HasSubstr(", 0 refused by full leaves"));
}

// Ascending keys as a depth-first walk through the tree finds them, written here without the tree's own arithmetic.
void walk(const IndexTree& tree, std::uint32_t row, std::vector<std::uint32_t>& keys) {
  const auto child = [&](std::uint32_t way) {
    const std::uint64_t next = std::uint64_t{row} * 961 + 1 + way;
    if (next < tree.rows()) {
      walk(tree, static_cast<std::uint32_t>(next), keys);
    }
  };
  for (std::uint32_t line = 1; line <= 31; ++line) {
    for (std::uint32_t slot = 0; slot < 30; ++slot) {
      child((line - 1) * 31 + slot);
      keys.push_back(tree.word(row * 1024 + line * 32 + slot));
    }
    child((line - 1) * 31 + 30);
    if (line <= 30) {
      keys.push_back(tree.word(row * 1024 + line - 1));
    }
  }
}

TEST(IndexTree, HoldsEveryKeyOnceInOrder) {
  for (const std::uint32_t levels : {1U, 2U}) {
    const IndexTree tree(levels, 7);
    std::vector<std::uint32_t> keys;
    walk(tree, 0, keys);
    ASSERT_EQ(keys.size(), tree.keys());
    EXPECT_EQ(tree.keys(), tree.rows() * 960);
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(keys[i], tree.key(i)) << i;
      ASSERT_TRUE(i == 0 || keys[i - 1] < keys[i]);
    }
    for (std::uint32_t i = 0; i < keys.size(); i += 97) {
      EXPECT_FALSE(std::binary_search(keys.begin(), keys.end(), tree.absent(i)));
    }
    EXPECT_EQ(tree.word(30), IndexTree::kNoKey);
    EXPECT_EQ(tree.word(31), IndexTree::kNoKey);
  }
}

TEST(IndexTree, OfTheThesisHasABillionKeys) {
  const IndexTree tree(3, 1);
  EXPECT_EQ(tree.rows(), 1U + 961U + 961U * 961U);
  EXPECT_EQ(tree.keys(), 887503680U);
  EXPECT_LT(tree.key(tree.keys() - 1), IndexTree::kNoKey);
  // The largest key ends the last row node; the root's middle key is the middle one.
  EXPECT_EQ(tree.word((tree.rows() - 1) * 1024 + 31 * 32 + 29), tree.key(tree.keys() - 1));
  EXPECT_EQ(tree.word(962 * 1024 + 32), tree.key(0));
}

// The 3.8 GB tree takes no memory on the host.
TEST(IndexTree, IsComputedWhenItIsLarge) {
  const auto workload = tb::make_workload("index_search:levels=3", small_of());
  tb::ReferenceExecutor executor;
  executor.load(workload->compile());
  EXPECT_TRUE(workload->run(executor).correct);
  EXPECT_LT(executor.memory().touched_bytes(), 1U << 20U);
}

TEST(Fill, TakesMemoryWhereItIsTouched) {
  isa::DeviceMemory memory;
  tb::launch::Buffer buffer;
  buffer.name = "x";
  buffer.type = isa::Type::u32;
  buffer.count = std::uint64_t{3} << 28U;  // 3 GB
  const tb::launch::Fill fill{tb::launch::Fill::Random{tb::launch::Number::of(tb::launch::Wide{0}),
                                                       tb::launch::Number::of(tb::launch::Wide{999}), 5}};
  const std::uint64_t address = memory.allocate("x", buffer.bytes());
  tb::launch::fill_fresh(fill, buffer, address, memory);
  EXPECT_EQ(memory.touched_bytes(), 0U);
  // The numbers are as if they had been drawn one after the other.
  Random random(5);
  std::vector<std::uint32_t> expected(50'000);
  for (std::uint32_t& value : expected) {
    __extension__ using Product = unsigned __int128;
    value = static_cast<std::uint32_t>((Product{random.next()} * 1000) >> 64U);
  }
  const std::uint64_t last = expected.size() - 1;
  EXPECT_EQ(memory.get<std::uint32_t>(address + 4 * last), expected[last]);
  EXPECT_EQ(memory.touched_bytes(), isa::DeviceMemory::kPageBytes);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(memory.get<std::uint32_t>(address + 4 * i), expected[i]) << i;
  }
  EXPECT_LT(memory.get<std::uint32_t>(address + buffer.bytes() - 4), 1000U);
  EXPECT_LE(memory.touched_bytes(), 5 * isa::DeviceMemory::kPageBytes);
}

}  // namespace
}  // namespace heddle::workloads
