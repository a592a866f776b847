// Tables of PTX statements with what becomes of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/ptx/lower_text.hpp"

namespace heddle::ptx::test {

struct LoweredCase {
  std::string statements;
  std::vector<std::string> lines;  // see lower_text.hpp
};
inline void expect_lowered(const std::vector<LoweredCase>& cases, unsigned address_size = 64) {
  for (const LoweredCase& one : cases) {
    SCOPED_TRACE(one.statements);
    EXPECT_EQ(refusal(one.statements, address_size), "accepted");
    if (refusal(one.statements, address_size) != "accepted") continue;
    EXPECT_THAT(lowered(one.statements, address_size), testing::ElementsAreArray(one.lines));
  }
}

struct RefusedCase {
  std::string statements;
  std::string error;  // all of what()
};
inline void expect_refused(const std::vector<RefusedCase>& cases) {
  for (const RefusedCase& one : cases) {
    SCOPED_TRACE(one.statements);
    EXPECT_EQ(refusal(one.statements), one.error);
  }
}

}  // namespace heddle::ptx::test
