#include "isa/reference/barrier.hpp"

#include <fmt/format.h>

#include "isa/result_form.hpp"

namespace heddle::isa::reference {

std::string barrier_name(unsigned id) {
  return id == kGridBarrier ? "the grid's barrier" : fmt::format("barrier {}", id);
}

std::string grid_stuck(std::uint64_t waiting, std::uint64_t ended) {
  return fmt::format("the grid's barrier can never complete: {} {} at it, {} {} ended without coming to it", waiting,
                     waiting == 1 ? "block waits" : "blocks wait", ended, ended == 1 ? "block has" : "blocks have");
}

std::string Barriers::arrive(Op op, std::uint32_t id, std::uint32_t count, std::uint32_t threads,
                             std::uint32_t true_threads) {
  if (op == Op::BAR_GRID) {
    id = kGridBarrier;
  } else if (id >= kBarriers) {
    return fmt::format("barrier {} does not exist; there are 0 to {}", id, kBarriers - 1);
  }
  State& state = states_[id];
  const Op kind = is_bar_red(op) ? op : Op::BAR_SYNC;
  if (state.arrived == 0) {
    state.count = count;
    state.op = kind;
  } else if (state.count != count) {
    const auto text = [](std::uint32_t value) { return value == 0 ? std::string("all") : fmt::format("{}", value); };
    return fmt::format("barrier {} expects {} threads, but threads arrive that expect {}", id, text(state.count),
                       text(count));
  } else if (state.op != kind) {
    return fmt::format("{} and {} meet at barrier {}", info(state.op).mnemonic, info(kind).mnemonic, id);
  }
  state.arrived += threads;
  state.true_count += true_threads;
  if (count != 0 && state.arrived > count) {
    return fmt::format("{} threads have arrived at barrier {}, which expects {}", state.arrived, id, count);
  }
  return {};
}

std::optional<unsigned> Barriers::complete(std::uint32_t live_threads, State& done) {
  for (unsigned id = 0; id < kBarriers; ++id) {
    State& state = states_[id];
    if (state.arrived == 0) {
      continue;
    }
    // Without a count, threads that arrived by bar.arrive may have exited since: more than the live ones is complete.
    if (state.count != 0 ? state.arrived == state.count : state.arrived >= live_threads) {
      done = state;
      state = State{};
      return id;
    }
  }
  return std::nullopt;
}

std::uint32_t reduced(const Barriers::State& done) {
  switch (done.op) {
    case Op::BAR_RED_AND:
      return done.true_count == done.arrived ? 1 : 0;
    case Op::BAR_RED_OR:
      return done.true_count != 0 ? 1 : 0;
    default:
      return done.true_count;
  }
}

}  // namespace heddle::isa::reference
