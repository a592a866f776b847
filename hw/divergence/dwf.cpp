// Dynamic warp formation (Fung et al., as LWM report 4 and thesis 5.2 and 3 describe it): there is no stack. When an
// instruction completes, the threads that go to the same PC fill free lanes of the youngest waiting warp of that PC;
// those that find no lane stay a warp of their own (incremental merging, report 4). Lane-aware (dwf.lane_aware), a
// thread keeps its lane and its register bank; otherwise it takes any free lane, as the ODGS paper assumes. Threads of
// different blocks share a warp; where they arrive at a barrier, they part by block.
//
// Re-convergence points matter for the scheduler "pdom-priority" only: the points of the branches executed so far are
// known, and each thread counts the points that it has passed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/set_bits.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/divergence/dwf.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/state/maybe_group.hpp"

namespace heddle::hw {

namespace {

class DynamicWarps final : public Divergence {
 public:
  using Parameters = DwfParameters;
  static constexpr Traits traits{.no_lockstep =
                                     "forms warps of threads that meet by chance, so that its lanes are not "
                                     "those that the program means",
                                 .warp_pool = true,
                                 .counts_merge_points = true};

  static void cost(const CostShape& shape, CostLines& lines) {
    lines.mechanism("dynamic warp formation");
    const bool lane_aware = shape.machine.core.policies.of<Parameters>().lane_aware;
    const std::uint64_t thread = index_bits(lane_aware ? shape.all_rows : shape.threads);
    lines.add(CostLine::Kind::estimated, "warp pool",
              fmt::format("{} warps x ({} + {} lanes x (1 + {}))", shape.threads, kPcBits, shape.lanes, thread),
              shape.threads * (kPcBits + shape.lanes * (1 + thread)),
              "thesis 3.2.1; own estimate, the bound: every thread may be a warp of its own");
    if (lane_aware) {
      cost_of_rows_per_lane(shape, shape.all_rows, false, lines);
    } else {
      cost_of_free_lanes(shape, lines);
    }
  }

  explicit DynamicWarps(const Setup& setup)
      : groups_(setup.groups),
        width_(setup.core.simd_width),
        all_lanes_(~LaneMask{0} >> (isa::kLanes - setup.core.simd_width)),
        lane_aware_(setup.core.policies.of<Parameters>().lane_aware),
        passed_(setup.core.threads) {}

  // Every thread may end up alone.
  [[nodiscard]] unsigned groups(unsigned threads) const override { return threads; }
  [[nodiscard]] bool dynamic() const override { return true; }
  [[nodiscard]] bool displaces() const override { return !lane_aware_; }

  void start(Group& group) override {
    group.pc = 0;
    group.look_at_lanes();
    for (const unsigned lane : set_bits(group.active[0])) {
      passed(group, lane) = 0;
    }
  }

  bool complete(Group& group, const Outcome& outcome, GroupMoves& moves) override {
    const std::uint32_t fall_through = group.pc + 1;
    const LaneMask left = group.active[0] & ~outcome.exited[0];
    const LaneMask waiting = outcome.arrivals[0];
    if (outcome.instruction.op != isa::Op::BRA) {
      go_on(group, left, waiting, fall_through, moves);
      return false;
    }
    const LaneMask taken = outcome.taken[0];
    const std::uint32_t target = outcome.instruction.target;
    if (outcome.instruction.reconvergence != isa::kNoReconvergence) {
      const std::uint32_t at = outcome.instruction.reconvergence;
      merges_at_.resize(std::max<std::size_t>(merges_at_.size(), at + 1));
      merges_at_[at] = true;
    }
    const bool diverged = taken != 0 && taken != left;
    if (diverged) {
      Group& other = moves.allocate(group);
      other.lane_row = group.lane_row;
      other.lane_home = group.lane_home;
      go_on(group, left & ~taken, 0, fall_through, moves);
      go_on(other, taken, 0, target, moves);
    } else {
      go_on(group, left, 0, taken != 0 ? target : fall_through, moves);
    }
    return diverged;
  }

  // No thread of the warp is in another one.
  [[nodiscard]] std::string inconsistency(const Group& group) const override {
    std::vector<LaneMask> own(passed_.size() / width_, 0);  // by register row
    bool twice = false;
    for (const unsigned lane : set_bits(group.active[0])) {
      const LaneMask bit = LaneMask{1} << group.lane_home[lane];
      twice = twice || (own[group.lane_row[lane]] & bit) != 0;
      own[group.lane_row[lane]] |= bit;
    }
    for (const Group& other : groups_.all()) {
      if (other.state != GroupState::free && other.id != group.id) {
        for (const unsigned lane : set_bits(other.active[0])) {
          twice = twice || ((own[other.lane_row[lane]] >> other.lane_home[lane]) & 1U) != 0;
        }
      }
    }
    return twice ? fmt::format("group {}: a thread of it is in two warps", group.id) : "";
  }

  [[nodiscard]] std::string describe(const Group& group) const override {
    return fmt::format("{} threads, {} re-convergence points passed", group.active_threads(), group.merge_points);
  }

 private:
  [[nodiscard]] std::uint32_t& passed(const Group& group, unsigned lane) {
    return passed_[group.lane_row[lane] * width_ + group.lane_home[lane]];
  }

  // The group's threads `lanes` go to `pc`; threads in `waiting` wait at a barrier first.
  void go_on(Group& group, LaneMask lanes, LaneMask waiting, std::uint32_t pc, GroupMoves& moves) {
    group.pc = pc;
    // A warp whose threads all go on, past no such point, stays what it is.
    bool changes = lanes != group.active[0];
    if (pc < merges_at_.size() && merges_at_[pc]) {
      changes = true;
      for (const unsigned lane : set_bits(lanes)) {
        ++passed(group, lane);
      }
    }
    if (waiting != 0) {
      wait_by_block(group, lanes, waiting, moves);
      return;
    }
    group.active[0] = lanes;
    if (lanes != 0 && lanes != all_lanes_) {
      if (Group* const youngest = youngest_at(pc)) {
        merge(group, *youngest);
        changes = true;
      }
    }
    if (group.active[0] == 0) {
      moves.free(group);
      return;
    }
    if (changes) {
      settle(group, moves);
    } else {
      find_block(group, moves);  // threads of another one may have joined it before its first
    }
    moves.run(group);
  }

  // The youngest waiting warp of a PC that has a free lane.
  [[nodiscard]] Group* youngest_at(std::uint32_t pc) {
    const MaybeGroup youngest = groups_.ready_by_pc().youngest(pc);
    return youngest && groups_[*youngest].active[0] != all_lanes_ ? &groups_[*youngest] : nullptr;
  }

  // Threads of `from` take free lanes of `to`.
  void merge(Group& from, Group& to) {
    std::uint32_t points = to.merge_points;
    const auto move = [&](unsigned lane, unsigned into) {
      const std::uint16_t row = to.lane_row[into] = from.lane_row[lane];
      const std::uint8_t home = to.lane_home[into] = from.lane_home[lane];
      points = std::min(points, passed_[row * width_ + home]);
    };
    const LaneMask own = from.active[0] & ~to.active[0];
    for (const unsigned lane : set_bits(own)) {
      move(lane, lane);
    }
    from.active[0] &= ~own;
    to.active[0] |= own;
    if (!lane_aware_) {
      while (from.active[0] != 0 && to.active[0] != all_lanes_) {
        const auto lane = static_cast<unsigned>(std::countr_zero(from.active[0]));
        const auto into = static_cast<unsigned>(std::countr_zero(static_cast<LaneMask>(all_lanes_ & ~to.active[0])));
        move(lane, into);
        from.active[0] &= ~(LaneMask{1} << lane);
        to.active[0] |= LaneMask{1} << into;
      }
    }
    to.merge_points = points;
    to.look_at_lanes();
    to.falls_back_to(from);
    groups_.grown(to);
  }

  void count_merge_points(Group& group) {
    std::uint32_t points = ~std::uint32_t{0};
    for (const unsigned lane : set_bits(group.active[0])) {
      points = std::min(points, passed(group, lane));
    }
    group.merge_points = points;
  }

  static void find_block(Group& group, GroupMoves& moves) {
    group.block_slot = moves.block_of(group.place_of(static_cast<unsigned>(std::countr_zero(group.active[0]))));
  }

  void settle(Group& group, GroupMoves& moves) {
    group.look_at_lanes();
    find_block(group, moves);
    count_merge_points(group);
  }

  // Threads that wait at a barrier stand still by block, so that each block's barrier releases its threads; threads
  // that the barrier does not concern (guard false) go on.
  void wait_by_block(Group& group, LaneMask lanes, LaneMask waiting, GroupMoves& moves) {
    std::vector<Part> parts;
    for (const unsigned lane : set_bits(waiting)) {
      const unsigned block = moves.block_of(group.place_of(lane));
      const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.block == block; });
      (same == parts.end() ? parts.emplace_back(Part{block, 0}) : *same).lanes |= LaneMask{1} << lane;
    }
    const LaneMask free_to_go = lanes & ~waiting;
    const auto part_of = [&](LaneMask members) -> Group& {
      Group& part = moves.allocate(group);
      part.lane_row = group.lane_row;
      part.lane_home = group.lane_home;
      part.pc = group.pc;
      part.active[0] = members;
      return part;
    };
    if (free_to_go != 0) {
      Group& going = part_of(free_to_go);
      settle(going, moves);
      moves.run(going);
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
      Group& part = part_of(parts[i].lanes);
      moves.hand_over(group, parts[i].block, part);
      settle(part, moves);
      moves.wait(part);
    }
    group.active[0] = parts.front().lanes;
    settle(group, moves);
    moves.wait(group);
  }

  struct Part {
    unsigned block;
    LaneMask lanes;
  };

  GroupTable& groups_;
  unsigned width_;
  LaneMask all_lanes_;
  bool lane_aware_;
  std::vector<std::uint32_t> passed_;  // by thread: register row and home lane
  std::vector<bool> merges_at_;        // by PC: re-convergence points of the branches so far
};

const Register<Divergence, DynamicWarps> dynamic_warps_entry{
    "dwf", "dynamic warp formation: threads of one PC merge into warps"};

}  // namespace

}  // namespace heddle::hw
