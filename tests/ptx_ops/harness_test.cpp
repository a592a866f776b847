// The tables find what they are for: a wrong expectation fails in every form that shows it.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {
namespace {

// Failure messages of a table, without failing.
std::vector<std::string> failures(const OperationTable& table) {
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    table.run();
  }
  std::vector<std::string> messages;
  for (int i = 0; i < results.size(); ++i) messages.emplace_back(results.GetTestPartResult(i).message());
  return messages;
}

std::set<std::string> failing_forms(const OperationTable& table) {
  std::set<std::string> forms;
  for (const std::string& message : failures(table)) {
    const std::size_t open = message.find('(');
    forms.insert(message.substr(open + 1, message.find("), thread") - open - 1));
  }
  return forms;
}

TEST(OperationTable, FindsAWrongResultInEveryForm) {
  OperationTable table;
  table.add("xor.b32 $d, $a, $b;", [](u32 a, u32 b) { return (a ^ b) + 1; });
  EXPECT_EQ(failing_forms(table).size(), 10U);
  OperationTable four;
  four.add("bfi.b32 $d, $a, $b, $c, $e;", [](u32 a, u32, Count, Count) { return a ^ 0x55U; });
  EXPECT_EQ(failing_forms(four).size(), 12U);
}

TEST(OperationTable, NamesTheLineThatDoesNotCompile) {
  OperationTable table;
  table.add("xor.u32 $d, $a, $b;", [](u32 a, u32 b) { return a ^ b; });
  const std::vector<std::string> messages = failures(table);
  ASSERT_FALSE(messages.empty());
  EXPECT_NE(messages.front().find("xor.u32 %r0d, %r0a, %r0b;"), std::string::npos) << messages.front();
}

TEST(OperationTable, AllowsUnitsInTheLastPlaceOnlyWhereAsked) {
  const auto off_by_one = [](float a) { return std::bit_cast<float>(std::bit_cast<u32>(a) + 1); };
  OperationTable exact, lax;
  exact.add("mov.f32 $d, $a;", off_by_one);
  lax.add("mov.f32 $d, $a;",
          [](float a) { return std::isfinite(a) ? std::bit_cast<float>(std::bit_cast<u32>(a) ^ 1U) : a; })
      .within(1);
  EXPECT_FALSE(failures(exact).empty());
  EXPECT_TRUE(failures(lax).empty());
}

}  // namespace
}  // namespace heddle::ptx_ops
