#include "base/parameter.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace heddle {
namespace {

struct Inner {
  unsigned count = 4;
  std::uint64_t bytes = 1024;
  double rate = 1.5;
  bool on = false;
  std::string policy = "a";
  std::string free_text = "x";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("count", count, Limits::between(1, 8), "items", "how many");
    visit("bytes", bytes, Limits::power_of_two(128, 1 << 20), "bytes", "how large");
    visit("rate", rate, Limits::between(0.5, 10), "GHz", "how fast");
    visit("on", on, Limits::any(), "", "whether");
    visit("policy", policy, Limits::one_of({"alpha", "beta"}), "", "which");
    visit("free_text", free_text, Limits::any(), "", "any words");
  }
};

struct Outer {
  Inner inner;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit.section("inner", "the inside");
    inner.describe(visit);
  }
};

class ParameterTest : public ::testing::Test {
 protected:
  Outer outer;
  std::vector<ParameterReference> parameters = parameters_of(outer);
  const ParameterReference& named(const std::string& key) {
    for (const ParameterReference& parameter : parameters) {
      if (parameter.key == key) {
        return parameter;
      }
    }
    throw std::out_of_range(key);
  }
  std::string refusal(const std::string& key, const ParameterValue& value) {
    try {
      assign(named(key), value, {"m.toml", 3, 7});
    } catch (const ParameterError& error) {
      EXPECT_EQ(error.key(), "inner." + key);
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(ParameterTest, ReferencesNameSectionsAndPointIntoTheStruct) {
  ASSERT_EQ(parameters.size(), 6U);
  EXPECT_EQ(parameters[0].path(), "inner.count");
  EXPECT_EQ(parameters[0].section_meaning, "the inside");
  assign(named("count"), std::int64_t{8}, {});
  EXPECT_EQ(outer.inner.count, 8U);
}

TEST_F(ParameterTest, AcceptsTheLimitsAndRefusesWhatLiesBeyond) {
  EXPECT_EQ(refusal("count", std::int64_t{1}), "accepted");
  EXPECT_EQ(refusal("count", std::int64_t{8}), "accepted");
  EXPECT_EQ(refusal("count", std::int64_t{0}), "m.toml:3:7: inner.count must be between 1 and 8 items, not 0");
  EXPECT_EQ(refusal("count", std::int64_t{9}), "m.toml:3:7: inner.count must be between 1 and 8 items, not 9");
  EXPECT_EQ(refusal("count", std::int64_t{-1}), "m.toml:3:7: inner.count must be between 1 and 8 items, not -1");
  EXPECT_EQ(outer.inner.count, 8U);  // a refused value changes nothing
}

TEST_F(ParameterTest, PowersOfTwo) {
  EXPECT_EQ(refusal("bytes", std::int64_t{128}), "accepted");
  EXPECT_EQ(refusal("bytes", std::int64_t{1 << 20}), "accepted");
  EXPECT_EQ(refusal("bytes", std::int64_t{129}),
            "m.toml:3:7: inner.bytes must be a power of two between 128 and 1048576 bytes, not 129");
  EXPECT_EQ(refusal("bytes", std::int64_t{64}),
            "m.toml:3:7: inner.bytes must be a power of two between 128 and 1048576 bytes, not 64");
}

TEST_F(ParameterTest, NumbersTakeIntegersButNoNan) {
  EXPECT_EQ(refusal("rate", std::int64_t{2}), "accepted");
  EXPECT_EQ(outer.inner.rate, 2.0);
  EXPECT_EQ(refusal("rate", 0.25), "m.toml:3:7: inner.rate must be between 0.5 and 10 GHz, not 0.25");
  EXPECT_NE(refusal("rate", std::nan("")), "accepted");
  EXPECT_NE(refusal("rate", INFINITY), "accepted");
}

TEST_F(ParameterTest, TypesAreNotConverted) {
  EXPECT_EQ(refusal("count", 2.0), "m.toml:3:7: inner.count must be an integer, not a number");
  EXPECT_EQ(refusal("count", true), "m.toml:3:7: inner.count must be an integer, not a boolean");
  EXPECT_EQ(refusal("on", std::int64_t{1}), "m.toml:3:7: inner.on must be a boolean, not an integer");
  EXPECT_EQ(refusal("rate", std::string("2")), "m.toml:3:7: inner.rate must be a number, not a string");
  EXPECT_EQ(refusal("policy", std::int64_t{2}), "m.toml:3:7: inner.policy must be a string, not an integer");
}

TEST_F(ParameterTest, ChoicesAreSuggested) {
  EXPECT_EQ(refusal("policy", std::string("alpha")), "accepted");
  EXPECT_EQ(refusal("policy", std::string("bata")),
            "m.toml:3:7: inner.policy cannot be 'bata'; did you mean 'beta'? (known: alpha, beta)");
  EXPECT_EQ(refusal("policy", std::string("other")), "m.toml:3:7: inner.policy cannot be 'other'; known: alpha, beta");
  EXPECT_EQ(refusal("free_text", std::string("anything")), "accepted");
}

TEST_F(ParameterTest, Texts) {
  EXPECT_EQ(named("count").value_text(), "4");
  EXPECT_EQ(named("rate").value_text(), "1.5");
  EXPECT_EQ(named("on").value_text(), "false");
  EXPECT_EQ(named("policy").value_text(), "\"a\"");
  EXPECT_EQ(named("count").range_text(), "1 to 8");
  EXPECT_EQ(named("bytes").range_text(), "power of two, 128 to 1048576");
  EXPECT_EQ(named("policy").range_text(), "alpha | beta");
  EXPECT_EQ(named("free_text").range_text(), "");
  outer.inner.rate = 32;
  EXPECT_EQ(named("rate").value_text(), "32.0");  // stays a number when read back
}

TEST(Lists, ItemsStandBetweenCommas) {
  using Items = std::vector<std::string>;
  EXPECT_EQ(list_items("a, b  ,c d"), (Items{"a", "b", "c d"}));
  EXPECT_EQ(list_items(""), Items{""});
  EXPECT_EQ(list_items(" "), Items{""});
  EXPECT_EQ(list_items(",a,"), (Items{"", "a", ""}));
}

TEST(Lists, HoldEachChoiceOnce) {
  std::string value = "b";
  const ParameterReference parameter{"s", "", "names", &value, Limits::list_of(Limits::one_of({"alpha", "b"})), "", ""};
  EXPECT_EQ(parameter.range_text(), "list of alpha | b");
  assign(parameter, std::string("b, alpha"), {});
  EXPECT_EQ(value, "b, alpha");
  const auto refusal = [&](const std::string& list) {
    try {
      assign(parameter, list, {});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal("alpa"), "s.names has 'alpa'; did you mean 'alpha'?");
  EXPECT_EQ(refusal("b,,alpha"), "s.names has ''; give names with commas between; known: alpha, b");
  EXPECT_EQ(refusal("b,b"), "s.names has 'b' twice; name it once");
  EXPECT_EQ(value, "b, alpha");
}

}  // namespace
}  // namespace heddle
