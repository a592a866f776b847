// Warps that part at a branch for good: each path is a group of its own, and none joins another.
#include <fmt/format.h>

#include "hw/divergence/divergence.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

struct NeverJoinParameters {
  static constexpr const char* kSection = "never_join";
  static constexpr const char* kMeaning = "warps that part at branches for good (core.divergence = never-join)";
  unsigned delay = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("delay", delay, Limits::between(0, 1000), "cycles", "until the path that leaves can be fetched");
  }
};

class NeverJoin final : public Divergence {
 public:
  using Parameters = NeverJoinParameters;
  static void cost(const CostShape& shape, CostLines& lines) {
    lines.mechanism("groups that part for good");
    lines.add(CostLine::Kind::estimated, "program counters and lanes of all groups",
              fmt::format("core.threads {} x ({} + {} lanes)", shape.threads, kPcBits, shape.lanes),
              shape.threads * (kPcBits + shape.lanes), "own estimate: in the end each thread is a group");
  }
  explicit NeverJoin(const Setup& setup) : delay_(setup.core.policies.of<Parameters>().delay) {}

  [[nodiscard]] unsigned groups(unsigned threads) const override { return threads; }
  [[nodiscard]] bool dynamic() const override { return true; }
  [[nodiscard]] bool displaces() const override { return false; }  // every thread keeps its lane
  void start(Group& group) override { group.pc = 0; }

  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override {
    group.active[0] &= ~outcome.exited[0];
    if (group.active[0] == 0) {
      moves.free(group);
      return false;
    }
    const LaneMask taken = outcome.instruction.op == isa::Op::BRA ? outcome.taken[0] : 0;
    const LaneMask stays = group.active[0] & ~taken;
    const bool diverged = taken != 0 && stays != 0;
    if (diverged) {
      Group& other = moves.allocate(group);
      other.lane_row = group.lane_row;
      other.lane_home = group.lane_home;
      other.active[0] = taken;
      other.pc = outcome.instruction.target;
      group.active[0] = stays;
      moves.run(other, delay_);
    }
    group.pc = stays == 0 ? outcome.instruction.target : group.pc + 1;
    if (outcome.arrivals[0] != 0) {
      moves.wait(group);
    } else {
      moves.run(group);
    }
    return diverged;
  }

  [[nodiscard]] std::string inconsistency(const Group& group) const override {
    return group.active[0] == 0 && group.state != GroupState::free ? "a group without threads" : "";
  }
  [[nodiscard]] std::string describe(const Group& group) const override {
    return fmt::format("PC {} lanes {:08x}", group.pc, group.active[0]);
  }

 private:
  unsigned delay_;
};

const Register<Divergence, NeverJoin> never_join_entry{"never-join", "paths part at a branch and never join"};

}  // namespace

}  // namespace heddle::hw
