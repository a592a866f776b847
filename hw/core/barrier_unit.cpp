#include "hw/core/barrier_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::hw {

void BarrierUnit::clear(unsigned block_slot) {
  blocks_[block_slot].barriers.clear();
  for (const Waiter& waiter : blocks_[block_slot].waiting) {
    --waiting_payloads_[waiter.sub_warp->group];
  }
  blocks_[block_slot].waiting.clear();
}

bool BarrierUnit::arrive(CoreState& state, link::SubWarp& sub_warp, unsigned block_slot) {
  const LaneMask executing = sub_warp.executing;
  const isa::LaneValues& values = sub_warp.values;
  const auto lane = static_cast<unsigned>(std::countr_zero(executing));
  const std::uint32_t id = values.a[0][lane];
  const std::uint32_t count = values.b[0][lane];
  for (LaneMask left = executing; left != 0; left &= left - 1) {
    const auto other = static_cast<unsigned>(std::countr_zero(left));
    if (values.a[0][other] != id || values.b[0][other] != count) {
      state.raise(isa::Fault::Kind::barrier_mismatch, sub_warp, other, 0, 0,
                  fmt::format("threads of one warp name different barriers or counts: {} ({}) and {} ({})", id, count,
                              values.a[0][other], values.b[0][other]));
      return false;
    }
  }
  const isa::Op op = sub_warp.decoded->instruction.op;
  Block& block = blocks_[block_slot];
  const std::string wrong =
      block.barriers.arrive(op, id, count, static_cast<std::uint32_t>(std::popcount(executing)),
                            static_cast<std::uint32_t>(std::popcount(values.predicate_a & executing)));
  if (!wrong.empty()) {
    state.raise(isa::Fault::Kind::barrier_mismatch, sub_warp, lane, 0, 0, wrong);
    return false;
  }
  if (op != isa::Op::BAR_ARRIVE) {
    block.waiting.push_back({id, &sub_warp});
    ++waiting_payloads_[sub_warp.group];
  }
  return true;
}

void BarrierUnit::hand_over(GroupId from, unsigned block_slot, GroupId to) {
  for (const Waiter& waiter : blocks_[block_slot].waiting) {
    if (waiter.sub_warp->group == from) {
      waiter.sub_warp->group = to;
      --waiting_payloads_[from];
      ++waiting_payloads_[to];
    }
  }
}

bool BarrierUnit::complete(unsigned block_slot, unsigned live_threads, Release& release) {
  Block& block = blocks_[block_slot];
  isa::reference::Barriers::State done;
  const std::optional<unsigned> id = block.barriers.complete(live_threads, done);
  if (!id) {
    return false;
  }
  release.value = isa::reference::reduced(done);
  release.waiting.clear();
  for (const Waiter& waiter : block.waiting) {
    if (waiter.barrier == *id) {
      release.waiting.push_back(waiter.sub_warp);
      --waiting_payloads_[waiter.sub_warp->group];
    }
  }
  std::erase_if(block.waiting, [&](const Waiter& waiter) { return waiter.barrier == *id; });
  return true;
}

std::optional<BarrierUnit::Stuck> BarrierUnit::stuck(const CoreState& state) const {
  const Block* first = nullptr;
  const BlockSlot* slot = nullptr;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const BlockSlot& candidate = state.blocks[i];
    if (candidate.used && !blocks_[i].waiting.empty() && (slot == nullptr || candidate.linear < slot->linear)) {
      first = &blocks_[i];
      slot = &candidate;
    }
  }
  if (first == nullptr) {
    return std::nullopt;
  }
  std::vector<Waiter> waiting = first->waiting;
  const auto place = [&](const Waiter& waiter) {
    return std::pair(state.groups[waiter.sub_warp->group].warp_in_block,
                     waiter.sub_warp->row_of(static_cast<unsigned>(std::countr_zero(waiter.sub_warp->executing))));
  };
  std::sort(waiting.begin(), waiting.end(), [&](const Waiter& a, const Waiter& b) { return place(a) < place(b); });
  Stuck result{waiting.front().sub_warp, "the barrier can never complete:"};
  const char* separator = "";
  for (const Waiter& waiter : waiting) {
    const link::SubWarp& sub_warp = *waiter.sub_warp;
    const auto lane = static_cast<unsigned>(std::countr_zero(sub_warp.executing));
    result.detail += fmt::format("{} warp {} ({} of its {} threads) waits at barrier {}, PC {}", separator,
                                 state.groups[sub_warp.group].warp_in_block, std::popcount(sub_warp.executing),
                                 state.rows[sub_warp.row_of(lane)].threads, waiter.barrier, sub_warp.pc);
    separator = ";";
  }
  for (unsigned id = 0; id < isa::reference::kBarriers; ++id) {
    const isa::reference::Barriers::State& barrier = first->barriers.state(id);
    if (barrier.arrived != 0) {
      result.detail += fmt::format("; barrier {} has {} of {} threads", id, barrier.arrived,
                                   barrier.count != 0 ? barrier.count : slot->live_threads);
    }
  }
  const std::uint32_t exited = state.launch->threads_per_block() - slot->live_threads;
  if (exited != 0) {
    result.detail += fmt::format("; {} threads have exited", exited);
  }
  return result;
}

}  // namespace heddle::hw
