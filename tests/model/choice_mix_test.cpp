// Policies and switches together, drawn at random: each change is kept where nothing contradicts it, so that machines
// have many of them at once. Such a machine computes what the reference interpreter does, or is refused with the
// reason.
//
// HEDDLE_CHOICE_SEED=s runs the machine of that seed alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "tests/model/machine_trials.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("Random/ChoiceMix.*")

namespace heddle {
namespace {

class ChoiceDice {
 public:
  explicit ChoiceDice(std::uint64_t seed) : dice_(seed) {}
  std::uint64_t below(std::uint64_t count) { return dice_() % count; }

 private:
  std::mt19937_64 dice_;
};

// Another value: of a choice or a switch any, of a number half, twice, one more or one less.
void change(const ParameterReference& parameter, ChoiceDice& dice) {
  const SourceLocation here{"choice_mix_test.cpp", 0, 0};
  if (std::holds_alternative<bool*>(parameter.field)) {
    assign(parameter, dice.below(2) == 1, here);
    return;
  }
  if (std::holds_alternative<std::string*>(parameter.field)) {
    if (parameter.limits.choices) {
      std::vector<std::string> choices = parameter.limits.choices();
      std::erase(choices, "wandering");  // of tests alone (wandering.hpp), and for machines that have room for it
      assign(parameter, choices[dice.below(choices.size())], here);
    }
    return;
  }
  const double now = test::number_of(parameter);
  const double values[] = {now * 2, now / 2, now + 1, now - 1};
  test::set_number(parameter, values[dice.below(4)]);
}

bool is_choice(const ParameterReference& parameter) {
  return std::holds_alternative<bool*>(parameter.field) ||
         (std::holds_alternative<std::string*>(parameter.field) && parameter.limits.choices);
}

// Every choice in a random order, each changed or not, and some numbers.
hw::Machine machine_of_choices(std::uint64_t seed) {
  ChoiceDice dice(seed);
  hw::Machine machine;
  std::vector<std::size_t> order;
  const std::vector<ParameterReference> all = parameters_of(machine);
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (is_choice(all[i]) ? dice.below(2) == 0 : dice.below(12) == 0) {
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(dice.below(order.size() + 1)), i);
    }
  }
  for (const std::size_t i : order) {
    const hw::Machine before = machine;
    try {
      change(parameters_of(machine)[i], dice);
    } catch (const InputError&) {  // out of its range
      machine = before;
      continue;
    }
    if (!hw::check(machine).empty()) {
      machine = before;
    }
  }
  return machine;
}

class ChoiceMix : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void run(std::uint64_t first, std::uint64_t count) {
    if (const char* const one = std::getenv("HEDDLE_CHOICE_SEED")) {
      first = std::strtoull(one, nullptr, 10);
      count = 1;
    }
    unsigned ran = 0;
    for (std::uint64_t seed = first; seed != first + count; ++seed) {
      SCOPED_TRACE(fmt::format("HEDDLE_CHOICE_SEED={}", seed));
      ran += test::expect_right(machine_of_choices(seed), seed) ? 1 : 0;
    }
    EXPECT_GE(2 * ran, count) << "most are refused: nothing is tried";
  }
};
TEST_P(ChoiceMix, IsRightOrRefused) {
  run(10 * GetParam(), 10);
}
INSTANTIATE_TEST_SUITE_P(Random, ChoiceMix, ::testing::Range(std::uint64_t{0}, std::uint64_t{4}));

class ChoiceMixes : public ChoiceMix {};
TEST_P(ChoiceMixes, AreRightOrRefused) {
  run(100 * GetParam(), 100);
}
INSTANTIATE_TEST_SUITE_P(Long, ChoiceMixes, ::testing::Range(std::uint64_t{1}, std::uint64_t{21}));

}  // namespace
}  // namespace heddle
