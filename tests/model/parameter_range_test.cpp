// Every numeric parameter that the machine declares, at both ends of its range and at odd values between, alone and in
// random combinations: the machine computes what the reference interpreter does, or it is refused with the reason.
// Nothing hangs, crashes, ends in an internal error, or takes the host's time or memory for numbers that are merely
// large. The parameters and their ranges come from hw::Machine::describe alone.
//
// HEDDLE_PARAMETER_SEED=s runs the random machine of that seed alone (Random/ParameterRange... and any case of it) and
// prints it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/issue/scoreboard.hpp"
#include "tests/model/machine_trials.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("Each/ParameterRange.*", "Random/PartsMix.*", "Random/ParameterMix.*/?",
                      "Random/ParameterMix.*/11", "Random/ParameterMix.*/10")

namespace heddle {
namespace {

using test::expect_right;
using test::number_of;
using test::set_number;
using test::settings_of;

// ---------------------------------------------------------------------------------------------------- machines

const SourceLocation kHere{"parameter_range_test.cpp", 0, 0};

bool is_number(const ParameterReference& parameter) {
  return !std::holds_alternative<bool*>(parameter.field) && !std::holds_alternative<std::string*>(parameter.field);
}

ParameterReference find(std::vector<ParameterReference>& all, const std::string& path) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ParameterReference& one) { return one.path() == path; });
  return found == all.end() ? throw InternalError("no parameter " + path) : *found;
}

// Both ends first, then odd values between them: evenly spread over the magnitudes.
std::vector<double> values_of(const ParameterReference& parameter) {
  const Limits& limits = parameter.limits;
  std::vector<double> values = {limits.low, limits.high};
  const bool whole = !std::holds_alternative<double*>(parameter.field);
  const double least = whole ? std::max(limits.low, 1.0) : std::max(limits.low, 1e-3);
  for (const double part : {0.04, 0.15, 0.33, 0.51, 0.77, 0.97}) {
    double value = least * std::pow(limits.high / least, part);
    if (limits.must_be_power_of_two) {
      value = std::exp2(std::round(std::log2(value)));
    } else if (whole) {
      value = 2 * std::floor(value / 2) + 1;
    }
    if (value > limits.low && value < limits.high) {
      values.push_back(value);
    }
  }
  if (whole) {  // among the odd ones, one that divides something
    values.push_back(
        std::clamp(std::exp2(std::round(std::log2(std::sqrt(least * limits.high)))), limits.low, limits.high));
  }
  std::vector<double> distinct;
  for (const double value : values) {
    if (std::find(distinct.begin(), distinct.end(), value) == distinct.end()) {
      distinct.push_back(value);
    }
  }
  return distinct;
}

// A machine on which the parameter does something: the baseline, or what it depends on switched over.
hw::Machine where_it_counts(const std::string& path) {
  const std::vector<std::vector<std::pair<const char*, ParameterValue>>> bases = {
      {},
      {{"l2.enabled", true}},
      {{"dram.timing", std::string("jedec")}},
      {{"core.scheduler", std::string("two-level")}},
      {{"core.scheduler", std::string("two-level-adaptive")}},
      {{"core.divergence", std::string("memory-split")}},
      {{"core.divergence", std::string("dws")}},
      {{"core.divergence", std::string("dws")}, {"dws.memory", std::string("predict")}},
      {{"core.divergence", std::string("dws-dwf")}},
      {{"core.divergence", std::string("slip")}},
      {{"core.divergence", std::string("mimd")}},
      {{"core.divergence", std::string("odgs")}, {"gpu.perfect_memory", true}},
      {{"core.divergence", std::string("odgs")}, {"gpu.perfect_memory", true}, {"odgs.rank_after", std::int64_t{4}}},
      {{"core.divergence", std::string("odgs")}, {"gpu.perfect_memory", true}, {"odgs.local_paths", std::int64_t{8}}},
      {{"core.divergence", std::string("slip")}, {"slip.branch_bypass", true}},
      {{"core.issue", std::string("scoreboard")}},
      {{"core.divergence", std::string("tbc")}},
      {{"core.divergence", std::string("barriers")}},
      {{"core.load_limiter", std::string("ccws")}},
      {{"dram.scheduler", std::string("warp-aware")}},
      {{"dram.channels", std::int64_t{2}}},
      {{"l1d.ports", std::int64_t{2}}},
      {{"l1d.ports", std::int64_t{2}}, {"l1d.banks", std::int64_t{4}}},
      {{"registers.banks", std::int64_t{2}}},
      {{"noc.link_bytes", std::int64_t{32}}},
      {{"l2.enabled", true},
       {"l2.partitions", std::int64_t{2}},
       {"dram.channels", std::int64_t{2}},
       {"gpu.cores", std::int64_t{2}},
       {"l1d.write_policy", std::string("write-through")}},
      {{"scratchpad.carve_outs", std::string("0 64 128")}, {"l1d.bytes", std::int64_t{256 * 1024}}},
      {{"allocation.placement", std::string("seeded")}},
      {{"lsu.queue", std::int64_t{3}}},
      {{"lsu.queue", std::int64_t{3}}, {"core.sub_cores", std::int64_t{4}}, {"bulk_copy.queue", std::int64_t{2}}},
      {{"constant_cache.bytes", std::int64_t{4096}}, {"constant_cache.l0_bytes", std::int64_t{512}}},
      {{"l1d.return_bytes", std::int64_t{64}}, {"l1d.hit_latency", std::int64_t{20}}},
  };
  for (const auto& base : bases) {
    hw::Machine machine;
    std::vector<ParameterReference> all = parameters_of(machine);
    for (const auto& [key, value] : base) {
      assign(find(all, key), value, kHere);
    }
    const std::vector<hw::WithoutEffect> idle = hw::without_effect(machine);
    if (std::none_of(idle.begin(), idle.end(), [&](const hw::WithoutEffect& one) {
          return std::find(one.keys.begin(), one.keys.end(), path) != one.keys.end();
        })) {
      return machine;
    }
  }
  throw InternalError("no machine on which " + path + " counts");
}

// Changes parameters that a contradiction names, but for `fixed`, until there is none, as a user would who reads it.
void resolve(hw::Machine& machine, const std::string& fixed) {
  std::vector<ParameterReference> all = parameters_of(machine);
  for (unsigned round = 0; round < 12; ++round) {
    const std::vector<hw::Contradiction> found = hw::check(machine);
    if (found.empty()) {
      return;
    }
    bool better = false;
    const std::string text = found.front().key + ' ' + found.front().message;
    std::vector<ParameterReference> named;
    for (const ParameterReference& parameter : all) {
      const std::size_t at = text.find(parameter.path());
      if (at != std::string::npos && parameter.path() != fixed && is_number(parameter)) {
        named.push_back(parameter);
      }
    }
    for (const ParameterReference& parameter : named) {
      const double before = number_of(parameter);
      std::vector<double> candidates = {parameter.limits.low, parameter.limits.high, before * 2, before / 2};
      for (const ParameterReference& other : all) {
        if (is_number(other) && text.find(other.path()) != std::string::npos) {
          candidates.push_back(number_of(other));
        }
      }
      for (const double candidate : candidates) {
        try {
          set_number(parameter, candidate);
        } catch (const InputError&) {
          continue;
        }
        if (hw::check(machine).size() < found.size()) {
          better = true;
          break;
        }
        set_number(parameter, before);
      }
      if (better) {
        break;
      }
    }
    if (!better) {
      return;
    }
  }
}

// -------------------------------------------------------------------------------------------------------- alone

std::vector<std::string> number_paths() {
  hw::Machine machine;
  std::vector<std::string> paths;
  for (const ParameterReference& parameter : parameters_of(machine)) {
    if (is_number(parameter)) {
      paths.push_back(parameter.path());
    }
  }
  return paths;
}

class ParameterRange : public ::testing::TestWithParam<std::string> {
 protected:
  // The values with numbers first, first + step, ... of the parameter's; where nothing else is changed the machine may
  // be refused, and then the others are changed until it is not.
  void run(std::size_t first, std::size_t end) {
    std::uint64_t seed = 0;  // of the kernels: others for each parameter
    for (const char letter : GetParam()) {
      seed = (seed * 31 + static_cast<unsigned char>(letter)) % 1009;
    }
    const hw::Machine base = where_it_counts(GetParam());
    hw::Machine probe = base;
    std::vector<ParameterReference> of_probe = parameters_of(probe);
    const std::vector<double> values = values_of(find(of_probe, GetParam()));
    for (std::size_t i = first; i < std::min(end, values.size()); ++i) {
      hw::Machine machine = base;
      std::vector<ParameterReference> all = parameters_of(machine);
      set_number(find(all, GetParam()), values[i]);
      if (!expect_right(machine, seed + i)) {
        resolve(machine, GetParam());
        static_cast<void>(expect_right(machine, seed + i));
      }
    }
  }
};

TEST_P(ParameterRange, BothEndsAreRightOrRefused) {
  run(0, 2);
}
INSTANTIATE_TEST_SUITE_P(Each, ParameterRange, ::testing::ValuesIn(number_paths()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

class ParameterBetween : public ParameterRange {};
TEST_P(ParameterBetween, OddValuesAreRightOrRefused) {
  run(2, 100);
}
INSTANTIATE_TEST_SUITE_P(Long, ParameterBetween, ::testing::ValuesIn(number_paths()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// ------------------------------------------------------------------------------------------------ combinations

// Some parameters of every kind at values of their ranges, then changed until nothing contradicts, if that can be.
hw::Machine random_machine(std::uint64_t seed, hw::Machine machine = {}) {
  std::mt19937_64 dice(seed);
  const auto below = [&](std::uint64_t n) { return dice() % n; };
  std::vector<ParameterReference> all = parameters_of(machine);
  const std::uint64_t changes = 2 + below(14);
  for (std::uint64_t change = 0; change < changes; ++change) {
    const ParameterReference& parameter = all[below(all.size())];
    if (std::holds_alternative<bool*>(parameter.field)) {
      assign(parameter, below(2) == 1, kHere);
    } else if (std::holds_alternative<std::string*>(parameter.field)) {
      if (parameter.limits.choices) {
        const std::vector<std::string> choices = parameter.limits.choices();
        assign(parameter, choices[below(choices.size())], kHere);
      }
    } else {
      const std::vector<double> values = values_of(parameter);
      set_number(parameter, values[below(values.size())]);
    }
  }
  resolve(machine, "");
  return machine;
}

// Such a machine whose cores have several sub-cores, most of them with warps that go on behind their loads.
hw::Machine random_machine_of_parts(std::uint64_t seed) {
  hw::Machine base;
  base.core.sub_cores = 2U << (seed % 3);
  if (seed % 4 != 0) {
    base.core.issue = "scoreboard";
    base.core.scheduler = "gty";
    base.core.policies.of<hw::ScoreboardParameters>().stall = seed % 4 == 1 ? "on-access" : "on-use";
    base.core.policies.of<hw::ScoreboardParameters>().entries = 1 + seed % hw::Group::kFlights;
  }
  if (seed % 8 == 3) {
    base.core.issue = "control-bits";
    base.icache.instruction_bytes = 16;
  }
  base.core.policies.of<hw::ScoreboardParameters>().loads_ahead = seed % 2 == 1;
  base.l0i.enabled = seed % 5 < 3;
  base.icache.hit_latency = 1 + static_cast<unsigned>(seed % 7) * 6;
  base.l1d.hit_latency = 1 + static_cast<unsigned>(seed % 6) * 6;
  base.gpu.cores = seed % 6 == 0 ? 2 : 1;
  base.l2.enabled = seed % 3 == 0;
  base.l1d.write_policy = seed % 5 == 0 && base.gpu.cores == 1 ? "write-back" : "write-through";
  hw::Machine machine = random_machine(seed, base);
  machine.core.sub_cores = base.core.sub_cores;  // whatever has been drawn
  resolve(machine, "core.sub_cores");
  return machine;
}

class ParameterMix : public ::testing::TestWithParam<unsigned> {
 protected:
  void run(unsigned each) {
    if (const char* const one = std::getenv("HEDDLE_PARAMETER_SEED")) {
      const std::uint64_t seed = std::strtoull(one, nullptr, 10);
      hw::Machine machine = random_machine(seed);
      if (const char* const usual = std::getenv("HEDDLE_PARAMETER_USUAL")) {  // these as they are by default
        hw::Machine plain;
        std::vector<ParameterReference> all = parameters_of(machine);
        std::vector<ParameterReference> defaults = parameters_of(plain);
        std::istringstream keys(usual);
        for (std::string key; std::getline(keys, key, ',');) {
          std::visit([&](auto* field) { *field = *std::get<decltype(field)>(find(defaults, key).field); },
                     find(all, key).field);
        }
      }
      fmt::print("{}\n", settings_of(machine));
      static_cast<void>(expect_right(machine, seed));
      return;
    }
    unsigned ran = 0;
    for (unsigned i = 0; i < each; ++i) {
      const std::uint64_t seed = std::uint64_t{GetParam()} * each + i;
      SCOPED_TRACE(fmt::format("HEDDLE_PARAMETER_SEED={}", seed));
      ran += expect_right(random_machine(seed), seed) ? 1 : 0;
    }
    EXPECT_GE(2 * ran, each) << "most are refused: nothing is tried";
  }
};
TEST_P(ParameterMix, IsRightOrRefused) {
  run(10);
}
INSTANTIATE_TEST_SUITE_P(Random, ParameterMix, ::testing::Range(600U, 612U));
class PartsMix : public ::testing::TestWithParam<std::uint64_t> {};
TEST_P(PartsMix, IsRightOrRefused) {
  constexpr unsigned kEach = 10;
  unsigned ran = 0;
  for (std::uint64_t seed = kEach * GetParam(); seed != kEach * (GetParam() + 1); ++seed) {
    ran += expect_right(random_machine_of_parts(seed), seed) ? 1 : 0;
  }
  // Where most of them are refused, others take their place.
  constexpr std::uint64_t kOthers = 1000;
  for (std::uint64_t seed = kOthers + kEach * GetParam(); 2 * ran < kEach && seed % kEach != kEach - 1; ++seed) {
    ran += expect_right(random_machine_of_parts(seed), seed) ? 1 : 0;
  }
  EXPECT_GE(2 * ran, kEach) << "most are refused: nothing is tried";
}
INSTANTIATE_TEST_SUITE_P(Random, PartsMix, ::testing::Range(std::uint64_t{0}, std::uint64_t{3}));
INSTANTIATE_TEST_SUITE_P(Long, PartsMix, ::testing::Range(std::uint64_t{3}, std::uint64_t{33}));

class ParameterMixes : public ParameterMix {};
TEST_P(ParameterMixes, AreRightOrRefused) {
  run(200);
}
INSTANTIATE_TEST_SUITE_P(Long, ParameterMixes, ::testing::Range(1U, 21U));

}  // namespace
}  // namespace heddle
