// What the watchdog asks: who goes round a loop without changing anything, and who waits for what.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/set_bits.hpp"
#include "hw/core/warps/warp_unit.hpp"

namespace heddle::hw {

// Follows the innermost loop that a group runs in: a taken backward branch from pc to its target.
void WarpUnit::watch_loop(Group& group, std::uint32_t pc, const isa::Instruction& instruction) {
  if (!goes_round(group, pc, instruction)) {
    return;
  }
  // Looking at all registers costs as much as some instructions: now and then is enough. The
  // number is a prime, so that what counts modulo a power of two looks different each time.
  constexpr std::uint32_t kRoundsBetweenLooks = 61;
  if (++group.loop_rounds % kRoundsBetweenLooks != 0) {
    return;
  }
  static constexpr isa::LoopExits kAll{true, isa::RegisterSet::all(), 0xff};
  group.loop_registers.look(fingerprint(group, kAll), group.loop_instructions);
  if (group.loop_instructions >= state_.machine.watchdog.livelock_instructions) {
    watch_exits(group);
  }
}

// It takes the branch, within the loop that it is in already.
bool WarpUnit::goes_round(Group& group, std::uint32_t pc, const isa::Instruction& instruction) const {
  const bool outside = group.pc < group.loop_first || group.pc > group.loop_last;
  // Other threads of its warp run now: the loops of both are looked at as one, since each may wait for the other.
  if (independent_ && group.in_loop() && group.pc != instruction.target && group.pc != pc + 1) {
    group.loop_first = std::min(group.loop_first, group.pc);
    group.loop_last = std::max(group.loop_last, group.pc);
    return instruction.target <= pc;
  }
  if (outside) {
    group.leave_loop();
  }
  if (group.pc > pc || group.pc != instruction.target) {
    return false;
  }
  if (group.pc < group.loop_first || pc > group.loop_last) {
    group.leave_loop();
    group.loop_first = group.pc;
    group.loop_last = pc;
    return false;
  }
  return true;
}

// A loop that counts its rounds without asking how many, such as one that tries to get a lock, changes registers for
// ever. One that ends by its count, however late, changes some that decide when it ends.
void WarpUnit::watch_exits(Group& group) {
  const auto [entry, added] = exits_.try_emplace({group.loop_first, group.loop_last});
  const isa::LoopExits& exits = entry->second;
  if (added) {
    entry->second = isa::loop_exits(state_.launch->code, group.loop_first, group.loop_last);
  }
  if (exits.known) {
    group.loop_exits.look(fingerprint(group, exits), group.loop_instructions);
  }
}

// A hash of the registers and predicates of a group's threads that `of` names; where these are scheduled independently,
// of all that live.
std::uint64_t WarpUnit::fingerprint(const Group& group, const isa::LoopExits& of) const {
  if (state_.replay != nullptr) {
    return 0;  // there are no values
  }
  std::uint64_t hash = independent_ ? 0 : group.pc;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e37'79b9'7f4a'7c15ULL; };
  for (unsigned row = 0; row < group.rows(); ++row) {
    const LaneMask threads = independent_ ? state_.rows[group.first_row + row].present() : group.active[row];
    for (const unsigned lane : set_bits(threads)) {
      const unsigned at = group.row_of(row, lane);
      const unsigned home = group.home_of(lane);
      for (unsigned reg = 0; reg < state_.launch->registers; ++reg) {
        if (of.registers.has(reg)) {
          mix(registers_.word(at, reg)[home]);
        }
      }
      for (unsigned reg = 0; reg < isa::kPredicates; ++reg) {
        if ((of.predicates >> reg & 1U) != 0) {
          mix((registers_.predicate(at, reg) >> home) & 1U);
        }
      }
    }
  }
  return hash;
}

WarpUnit::Progress WarpUnit::progress() const {
  const std::uint64_t limit = state_.machine.watchdog.livelock_instructions;
  bool any = false;
  for (const Group& group : state_.groups.all()) {
    if (group.state == GroupState::free) {
      continue;
    }
    const bool spins = group.spins(limit);
    if (!spins && group.state != GroupState::barrier && group.state != GroupState::parked) {
      return Progress::some;
    }
    any = any || spins;
  }
  return any ? Progress::spins : Progress::none;
}

bool WarpUnit::finds_deadlock() const {
  for (const Group& group : state_.groups.all()) {
    if (group.state != GroupState::parked) {
      continue;
    }
    if (const std::string why = divergence_->deadlock(group); !why.empty()) {
      state_.raise(isa::Fault::Kind::barrier_mismatch, group, why);
      return true;
    }
  }
  return false;
}

std::string WarpUnit::describe_waiting() const {
  // The live threads of a warp that its present mask leaves out. A group that is made and freed at will has none: the
  // other threads in its rows are other groups'.
  const auto threads_apart = [this](const Group& group) {
    unsigned apart = 0;
    for (unsigned row = 0; row < group.rows() && !group.dynamic; ++row) {
      const LaneMask present = state_.rows[group.first_row + row].present();
      apart += static_cast<unsigned>(std::popcount(present & ~group.active[row]));
    }
    return apart;
  };
  static constexpr const char* kStates[] = {"free",
                                            "is ready",
                                            "waits for its instruction",
                                            "is in flight",
                                            "waits for memory",
                                            "waits for a complex operation",
                                            "waits at a barrier",
                                            "waits for other warps",
                                            "waits for the load limiter",
                                            "waits for a place of the memory queue"};
  static_assert(std::size(kStates) == kGroupStates);
  std::string text;
  unsigned listed = 0;
  unsigned live = 0;
  for (const Group& group : state_.groups.all()) {
    if (group.state == GroupState::free) {
      continue;
    }
    ++live;
    if (listed == 8) {
      continue;
    }
    ++listed;
    const isa::Dim3& index = state_.block(group.block_slot).index;
    text += fmt::format("{}warp {} of block ({},{},{}) at PC {} {}", text.empty() ? "" : "; ", group.warp_in_block,
                        index.x, index.y, index.z, group.pc, kStates[static_cast<unsigned>(group.state)]);
    if (group.in_loop()) {
      const unsigned apart = threads_apart(group);
      text += fmt::format(" (loop PC {} to {}", group.loop_first, group.loop_last);
      if (apart != 0) {
        text += fmt::format(", while {} of its threads {} elsewhere", apart, apart == 1 ? "waits" : "wait");
      }
      text += ")";
    }
  }
  if (live > listed) {
    text += fmt::format("; and {} more warps", live - listed);
  }
  return text;
}

}  // namespace heddle::hw
