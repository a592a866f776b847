// What policies declare of themselves: a policy that declares nothing is refused where it promises nothing, its own
// parameters are a section like any other, and no code goes by its name.
#include "hw/parameters/policy.hpp"
#include "hw/check/machine.hpp"
#include "hw/check/policies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/parameter.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/divergence/dwf.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/schedule/two_level.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {
namespace {

// A mechanism, a scheduler and a discipline as one writes them first: nothing declared.
class SilentDivergence final : public Divergence {
 public:
  explicit SilentDivergence(const Setup&) {}
  [[nodiscard]] unsigned groups(unsigned threads) const override { return threads; }
  void start(Group&) override {}
  bool complete(Group&, const Outcome&, GroupMoves&) override { return false; }
  [[nodiscard]] std::string inconsistency(const Group&) const override { return {}; }
  [[nodiscard]] std::string describe(const Group&) const override { return {}; }
};

class SilentScheduler final : public WarpScheduler {
 public:
  explicit SilentScheduler(const Setup&) {}
  MaybeGroup pick(Cycle) override { return std::nullopt; }
};

class SilentDiscipline final : public IssueDiscipline {
 public:
  explicit SilentDiscipline(const Setup&) {}
  [[nodiscard]] bool release(const Group&, const isa::Instruction&) const override { return true; }
};

// With parameters, a check and a cost of its own.
struct OwnParameters {
  static constexpr const char* kSection = "own";
  static constexpr const char* kMeaning = "a scheduler of the tests";
  unsigned depth = 3;
  std::string mode = "a";
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("depth", depth, Limits::between(1, 8), "entries", "of its table");
    visit("mode", mode, Limits::one_of({"a", "b"}), "", "how");
  }
};

class OwnScheduler final : public WarpScheduler {
 public:
  using Parameters = OwnParameters;
  static constexpr Traits traits{.within_fetch_groups = true};
  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    if (machine.core.policies.of<Parameters>().depth > machine.core.blocks) {
      found.push_back({"own.depth", "own.depth is above core.blocks"});
    }
  }
  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
    if (machine.core.policies.of<Parameters>().mode == "a") {
      found.push_back({{"own.depth"}, "own.mode is a"});
    }
  }
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.add(CostLine::Kind::estimated, "its table", "own.depth x 8",
              shape.machine.core.policies.of<Parameters>().depth * 8ULL, "own estimate");
  }
  explicit OwnScheduler(const Setup& setup) : depth(setup.core.policies.of<Parameters>().depth) {}
  MaybeGroup pick(Cycle) override { return std::nullopt; }
  unsigned depth;
};

// Has the name of another's section.
struct OtherDwfParameters {
  static constexpr const char* kSection = "dwf";
  static constexpr const char* kMeaning = "another";
  static void describe(ParameterCollector&) {}
};

std::string keys(const Machine& machine) {
  std::string all;
  for (const Contradiction& one : check(machine)) {
    all += one.key + ' ';
  }
  return all;
}

std::string message(const Machine& machine) {
  const std::vector<Contradiction> found = check(machine);
  return found.empty() ? "" : found.front().message;
}

void set(Machine& machine, const std::string& path, const ParameterValue& value) {
  for (const ParameterReference& parameter : parameters_of(machine)) {
    if (parameter.path() == path) {
      assign(parameter, value, {"test"});
      return;
    }
  }
  FAIL() << "there is no " << path;
}

TEST(Policy, AMechanismThatDeclaresNothingIsRefusedWhereItPromisesNothing) {
  const Register<Divergence, SilentDivergence> entry{"silent", "declares nothing"};
  Machine machine;
  machine.core.divergence = "silent";
  EXPECT_EQ(keys(machine), "");
  EXPECT_EQ(why_no_warp_operations(machine.core),
            "core.divergence = \"silent\" does not promise that the lanes of a warp are those that the program means");
  EXPECT_NE(why_no_warp_size(machine.core, 64), "");
  EXPECT_EQ(why_no_warp_size(machine.core, 32), "");
  machine.core.warp_size = 64;
  EXPECT_EQ(keys(machine), "core.warp_size ");
  machine.core.former = "packed";
  machine.core.issue = "relaxed";
  EXPECT_EQ(keys(machine), "core.warp_size core.former core.issue ");
  machine = {};
  machine.core.divergence = "silent";
  machine.core.scheduler = "majority";
  EXPECT_EQ(message(machine),
            "core.scheduler = \"majority\" chooses between dynamic warps by the PCs at which they stand; it needs "
            "core.divergence = \"dwf\" or \"dws-dwf\" or \"odgs\"");
}

// A file copied under another name keeps what its class declares: it is refused what the original is refused.
TEST(Policy, ACopyUnderAnotherNameIsTheSame) {
  const auto& dwf = Registry<Divergence>::instance().entry("dwf");
  Registry<Divergence>::instance().add("copied", "dwf under another name", dwf.make, dwf.about);
  Machine machine;
  machine.core.divergence = "copied";
  EXPECT_EQ(why_no_warp_operations(machine.core),
            "core.divergence = \"copied\" forms warps of threads that meet by chance, so that its lanes are not those "
            "that the program means");
  machine.core.scheduler = "pdom-priority";
  EXPECT_EQ(keys(machine), "") << "it counts re-convergence points";
  machine.core.divergence = "stack";
  EXPECT_NE(message(machine).find("it needs core.divergence = \"copied\" or \"dwf\""), std::string::npos)
      << message(machine);
  EXPECT_EQ(CostShape(machine, warp_pool_size(machine)).pool, 32U);
  machine.core.divergence = "copied";
  EXPECT_EQ(CostShape(machine, warp_pool_size(machine)).pool, 1024U);
}

TEST(Policy, SchedulersAndDisciplinesThatDeclareNothing) {
  const Register<WarpScheduler, SilentScheduler> scheduler{"silent", "declares nothing"};
  const Register<IssueDiscipline, SilentDiscipline> discipline{"silent", "declares nothing"};
  Machine machine;
  machine.core.issue = "silent";
  EXPECT_EQ(keys(machine), "") << "the stack bears overlap";
  machine.core.divergence = "tbc";
  EXPECT_EQ(keys(machine), "core.issue ") << "who does not deny overlap has it";
  machine = {};
  machine.core.scheduler = "silent";
  EXPECT_EQ(keys(machine), "");
  machine.core.scheduler = "two-level";
  machine.core.policies.of<TwoLevelParameters>().inner_scheduler = "silent";
  EXPECT_EQ(keys(machine), "two_level.inner_scheduler ") << "it may not keep to a fetch group";
}

TEST(Policy, ItsParametersAreASectionLikeAnyOther) {
  const Register<WarpScheduler, OwnScheduler> entry{"own", "with parameters"};
  Machine machine;
  set(machine, "own.depth", std::int64_t{5});
  EXPECT_THROW(set(machine, "own.depth", std::int64_t{9}), InputError);
  EXPECT_THROW(set(machine, "own.mode", std::string("c")), InputError);
  const Machine copy = machine;  // NOLINT(performance-unnecessary-copy-initialization): the copy is what is tested
  machine.core.policies.of<OwnParameters>().depth = 1;
  EXPECT_EQ(copy.core.policies.of<OwnParameters>().depth, 5U);
  GroupTable groups(4, 1);
  const auto made = Registry<WarpScheduler>::instance().make("own", {groups, copy.core});
  EXPECT_EQ(dynamic_cast<const OwnScheduler&>(*made).depth, 5U);
}

TEST(Policy, ItsParametersHaveNoEffectUnlessItIsChosen) {
  const Register<WarpScheduler, OwnScheduler> entry{"own", "with parameters"};
  const auto reason = [](const Machine& machine, const std::string& key) -> std::string {
    for (const WithoutEffect& one : without_effect(machine)) {
      if (std::find(one.keys.begin(), one.keys.end(), key) != one.keys.end()) {
        return one.because;
      }
    }
    return "";
  };
  Machine machine;
  EXPECT_EQ(reason(machine, "own.depth"), "core.scheduler is round-robin");
  machine.core.scheduler = "own";
  EXPECT_EQ(reason(machine, "own.depth"), "own.mode is a");
  machine.core.policies.of<OwnParameters>().mode = "b";
  EXPECT_EQ(reason(machine, "own.depth"), "");
  machine.core.scheduler = "two-level";
  EXPECT_EQ(reason(machine, "own.depth"), "core.scheduler is two-level and two_level.inner_scheduler is round-robin");
  machine.core.policies.of<TwoLevelParameters>().inner_scheduler = "own";
  EXPECT_EQ(reason(machine, "own.depth"), "") << "a fetch group's scheduler";
  machine.core.scheduler = "gto";
  EXPECT_EQ(reason(machine, "own.depth"), "core.scheduler is gto") << "whatever an idle section names";
}

TEST(Policy, ItsCheckAndItsCostAreAskedWhereItIsUsed) {
  const Register<WarpScheduler, OwnScheduler> entry{"own", "with parameters"};
  Machine machine;
  machine.core.blocks = 2;
  EXPECT_EQ(keys(machine), "");
  machine.core.scheduler = "own";
  EXPECT_EQ(keys(machine), "own.depth ");
  CostLines lines;
  about<WarpScheduler>("own").cost(CostShape(machine, warp_pool_size(machine)), lines);
  ASSERT_EQ(lines.lines().size(), 1U);
  EXPECT_EQ(lines.lines()[0].formula, "own.depth x 8 = 24");
}

TEST(Policy, TwoStructsCannotShareASection) {
  EXPECT_THROW(PolicyParameters<CorePolicies>::declare<OtherDwfParameters>(), InternalError);
  EXPECT_NO_THROW(PolicyParameters<CorePolicies>::declare<DwfParameters>());
}

TEST(Policy, ANameThatNobodyHasIsAContradiction) {
  Machine machine;
  machine.core.scheduler = "nobody";
  EXPECT_EQ(keys(machine), "core.scheduler ");
  EXPECT_EQ(message(machine).rfind("core.scheduler cannot be 'nobody'; known: ", 0), 0U) << message(machine);
}

// What the list of a machine's policies lacks would go unchecked and cost nothing. The machine's parameters say
// which there are: those that name a policy, but for those of sections that are a policy's own.
TEST(Policy, EveryParameterThatNamesOneIsInTheListOfAMachines) {
  Machine machine;
  const std::vector<ParameterReference> parameters = parameters_of(machine);
  std::set<std::string> own_sections;
  for (const ParameterReference& parameter : parameters) {
    if (parameter.limits.sections) {
      for (const std::string& name : parameter.limits.choices()) {
        const std::vector<std::string> sections = parameter.limits.sections(name);
        own_sections.insert(sections.begin(), sections.end());
      }
    }
  }
  std::map<std::string, std::string> named;
  for (const ParameterReference& parameter : parameters) {
    if (parameter.limits.sections && own_sections.count(parameter.section) == 0) {
      named.emplace(parameter.path(), *std::get<std::string*>(parameter.field));
    }
  }
  EXPECT_EQ(named.count("core.divergence"), 1U);
  std::map<std::string, std::string> listed;
  for (const ChosenPolicy& policy : policies_of(machine)) {
    EXPECT_TRUE(listed.emplace(policy.key, policy.name).second) << policy.key;
  }
  EXPECT_EQ(listed, named);
}

}  // namespace
}  // namespace heddle::hw
