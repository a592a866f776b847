// Sticky round robin, which the thesis uses with thread block compaction (5.2: "sticky round robin (SRR) scheduling,
// which performed slightly better than round-robin"). In a barrel core a warp is never ready in the cycle after its
// fetch, so sticking to one warp would be plain round robin; what sticks here is the thread block: its ready warps are
// fetched in turn, and only when it has none, the next block's. Its warps so reach their next branch together, where
// they wait for each other. Parts of a block that are compacted by themselves (tbc.width) count as blocks.
#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/schedule/orders.hpp"
#include "isa/launch_check.hpp"

namespace heddle::hw {

namespace {

class StickyRoundRobin final : public WarpScheduler {
 public:
  static constexpr Traits traits{.within_fetch_groups = true};
  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_places(shape, lines);
    lines.add(CostLine::Kind::estimated, "thread block to stay with",
              fmt::format("{}log2({} blocks)", each_set_of(shape), shape.blocks()),
              shape.sets * index_bits(shape.blocks()), "own estimate");
  }

  explicit StickyRoundRobin(const Setup& setup) : range_(setup), next_(setup.first) {}

  MaybeGroup pick(Cycle) override {
    if (const MaybeGroup stays = next_of_block()) {
      return fetched(*stays);
    }
    // Distances in round-robin order, behind the group and the block fetched last; the present block is nearest.
    MaybeGroup best;
    unsigned best_block = 0;
    unsigned best_group = 0;
    range_.each_ready([&](GroupId id) {
      const unsigned count = range_.last - range_.first;
      const unsigned block = behind(block_of(id), block_, kBlocks);
      const unsigned group = behind(id, next_, count);
      if (!best || block < best_block || (block == best_block && group < best_group)) {
        best = id;
        best_block = block;
        best_group = group;
      }
    });
    return best ? fetched(*best) : best;
  }

 private:
  // The first ready warp of the present block behind the one fetched last: whom it sticks to, which is usual.
  [[nodiscard]] MaybeGroup next_of_block() const {
    const auto in_block = [this](GroupId id) { return block_of(id) == block_; };
    const MaybeGroup found = first_where(range_.groups.ready(), next_, range_.last, in_block);
    return found ? found : first_where(range_.groups.ready(), range_.first, next_, in_block);
  }

  MaybeGroup fetched(GroupId id) {
    block_ = block_of(id);
    next_ = id + 1 == range_.last ? range_.first : id + 1;
    return id;
  }

  [[nodiscard]] unsigned block_of(GroupId id) const {
    const GroupTable::Stands& stands = range_.groups.stands(id);
    return stands.block_slot * kParts + stands.part;
  }

  // How far `number` is behind `from` in a round of `count`.
  [[nodiscard]] static unsigned behind(unsigned number, unsigned from, unsigned count) {
    return number >= from ? number - from : number + count - from;
  }

  static constexpr unsigned kParts = isa::kMaxBlockThreads + 1;  // above any part
  static constexpr unsigned kBlocks = 4096 * kParts;             // 4096: above any block slot
  const GroupRange range_;
  unsigned block_ = 0;
  unsigned next_;
};

const Register<WarpScheduler, StickyRoundRobin> sticky_round_robin_entry{
    "sticky", "round robin that keeps to a thread block while it has a ready warp"};

}  // namespace

}  // namespace heddle::hw
