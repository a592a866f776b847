// Sticky round robin, which the thesis uses with thread block compaction (5.2: "sticky round robin (SRR) scheduling,
// which performed slightly better than round-robin"). In a barrel core a warp is never ready in the cycle after its
// fetch, so sticking to one warp would be plain round robin; what sticks here is the thread block: its ready warps are
// fetched in turn, and only when it has none, the next block's. Its warps so reach their next branch together, where
// they wait for each other.
#include "hw/schedule/orders.hpp"
#include "hw/schedule/scheduler.hpp"

namespace heddle::hw {

namespace {

class StickyRoundRobin final : public WarpScheduler {
 public:
  explicit StickyRoundRobin(const Setup& setup) : groups_(setup.groups) {}

  std::optional<GroupId> pick(Cycle) override {
    // Distances in round-robin order, behind the group and the block fetched last; the present block is nearest.
    std::optional<GroupId> best;
    unsigned best_block = 0;
    unsigned best_group = 0;
    each_set(groups_.ready(), 0, groups_.size(), [&](GroupId id) {
      const unsigned block = (groups_[id].block_slot + kBlocks - block_) % kBlocks;
      const unsigned group = (id + groups_.size() - next_) % groups_.size();
      if (!best || block < best_block || (block == best_block && group < best_group)) {
        best = id;
        best_block = block;
        best_group = group;
      }
    });
    if (best) {
      block_ = groups_[*best].block_slot;
      next_ = (*best + 1) % groups_.size();
    }
    return best;
  }

 private:
  static constexpr unsigned kBlocks = 4096;  // above any block slot
  const GroupTable& groups_;
  unsigned block_ = 0;
  unsigned next_ = 0;
};

const Register<WarpScheduler, StickyRoundRobin> entry{
    "sticky", "round robin that keeps to a thread block while it has a ready warp"};

}  // namespace

}  // namespace heddle::hw
