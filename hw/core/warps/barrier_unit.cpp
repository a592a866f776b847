#include "hw/core/warps/barrier_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <span>

#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

unsigned first_executing(const link::SubWarp& sub_warp) {
  return static_cast<unsigned>(std::countr_zero(sub_warp.executing));
}

std::uint32_t barrier_of(const link::SubWarp& sub_warp, unsigned lane) {
  return sub_warp.decoded->instruction.op == isa::Op::BAR_GRID ? isa::reference::kGridBarrier
                                                               : sub_warp.values.a[0][lane];
}

// Threads that the launch has given to the warp of a thread.
unsigned threads_of_warp(const CoreState& state, const HomeThread& thread) {
  const unsigned size = state.core.warp_size;
  return std::min(size, state.launch->threads_per_block() - thread.number() / size * size);
}

}  // namespace

const BlockHome& BarrierUnit::block_of(const CoreState& state, const link::SubWarp& sub_warp) {
  return *state.thread_at(sub_warp, first_executing(sub_warp)).home->block;
}

void BarrierUnit::reset() {
  for (std::vector<link::SubWarp*>& of_group : waiting_) {
    of_group.clear();
  }
}

std::optional<BarrierArrival> BarrierUnit::arrival(CoreState& state, link::SubWarp& sub_warp) {
  const isa::LaneValues& values = sub_warp.values;
  const unsigned lane = first_executing(sub_warp);
  const isa::Op op = sub_warp.decoded->instruction.op;
  if (op == isa::Op::BAR_GRID && !state.launch->cooperative) {
    state.raise(isa::Fault::Kind::barrier_mismatch, sub_warp, lane, 0, 0, isa::reference::kNotCooperative);
    return std::nullopt;
  }
  const std::uint32_t id = barrier_of(sub_warp, lane);
  const std::uint32_t count = op == isa::Op::BAR_GRID ? 0 : values.b[0][lane];
  for (const unsigned other : set_bits(op == isa::Op::BAR_GRID ? 0 : sub_warp.executing)) {
    if (values.a[0][other] != id || values.b[0][other] != count) {
      state.raise(isa::Fault::Kind::barrier_mismatch, sub_warp, other, 0, 0,
                  fmt::format("threads of one warp name different barriers or counts: {} ({}) and {} ({})", id, count,
                              values.a[0][other], values.b[0][other]));
      return std::nullopt;
    }
  }
  return BarrierArrival{op,
                        id,
                        count,
                        static_cast<std::uint32_t>(std::popcount(sub_warp.executing)),
                        static_cast<std::uint32_t>(std::popcount(values.predicate_a & sub_warp.executing)),
                        state.index,
                        &sub_warp};
}

void BarrierUnit::hand_over(const CoreState& state, GroupId from, unsigned block_slot, GroupId to) {
  std::erase_if(waiting_[from], [&](link::SubWarp* sub_warp) {
    const bool goes = &block_of(state, *sub_warp) == &state.block(block_slot);
    if (goes) {
      sub_warp->group = to;
      waiting_[to].push_back(sub_warp);
    }
    return goes;
  });
}

std::vector<const link::SubWarp*> BarrierUnit::waiting_in(const CoreState& state, const BlockHome& block) const {
  std::vector<const link::SubWarp*> waiting;
  for (const std::vector<link::SubWarp*>& of_group : waiting_) {
    std::copy_if(of_group.begin(), of_group.end(), std::back_inserter(waiting),
                 [&](const link::SubWarp* sub_warp) { return &block_of(state, *sub_warp) == &block; });
  }
  const auto place = [&](const link::SubWarp* sub_warp) {
    return std::pair(state.groups[sub_warp->group].warp_in_block, sub_warp->row_of(first_executing(*sub_warp)));
  };
  std::sort(waiting.begin(), waiting.end(), [&](auto* a, auto* b) { return place(a) < place(b); });
  return waiting;
}

std::optional<BarrierUnit::Stuck> BarrierUnit::stuck(std::span<const Waiters> sub_cores) {
  const auto threads_here = [&](const BlockHome& block) {
    unsigned threads = 0;
    for (const Waiters& sub_core : sub_cores) {
      for (const BlockSlot& slot : sub_core.state->blocks) {
        threads += slot.used && slot.home == &block ? slot.threads : 0;
      }
    }
    return threads;
  };
  const CoreState& home = *sub_cores.front().state;
  const BlockHome* first = nullptr;
  for (const BlockSlot& slot : std::span(home.blocks).first(home.homes.size())) {
    if (slot.used && slot.home->anyone_waits() && !slot.home->waits_at_grid() &&
        threads_here(*slot.home) == slot.home->live_threads &&
        (first == nullptr || slot.home->linear < first->linear)) {
      first = slot.home;
    }
  }
  if (first == nullptr) {
    return std::nullopt;
  }
  struct Waiter {
    std::size_t sub_core;
    const link::SubWarp* sub_warp;
    unsigned warp;
  };
  std::vector<Waiter> waiting;
  for (std::size_t number = 0; number != sub_cores.size(); ++number) {
    const auto [state, barriers] = sub_cores[number];
    for (const link::SubWarp* const sub_warp : barriers->waiting_in(*state, *first)) {
      waiting.push_back({number, sub_warp, state->groups[sub_warp->group].warp_in_block});
    }
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const Waiter& a, const Waiter& b) { return a.warp < b.warp; });
  Stuck result{waiting.front().sub_core, waiting.front().sub_warp, "the barrier can never complete:"};
  const char* separator = "";
  for (const auto& [sub_core, sub_warp, warp] : waiting) {
    const CoreState& state = *sub_cores[sub_core].state;
    const unsigned lane = first_executing(*sub_warp);
    result.detail +=
        fmt::format("{} warp {} ({} of its {} threads) waits at {}, PC {}", separator, warp,
                    std::popcount(sub_warp->executing), threads_of_warp(state, state.thread_at(*sub_warp, lane)),
                    isa::reference::barrier_name(barrier_of(*sub_warp, lane)), sub_warp->pc);
    separator = ";";
  }
  for (unsigned id = 0; id <= isa::reference::kGridBarrier; ++id) {
    const isa::reference::Barriers::State& barrier = first->barriers().state(id);
    if (barrier.arrived != 0) {
      result.detail += fmt::format("; {} has {} of {} threads", isa::reference::barrier_name(id), barrier.arrived,
                                   barrier.count != 0 ? barrier.count : first->live_threads);
    }
  }
  const std::uint32_t exited = home.launch->threads_per_block() - first->live_threads;
  if (exited != 0) {
    result.detail += fmt::format("; {} threads have exited", exited);
  }
  return result;
}

}  // namespace heddle::hw
