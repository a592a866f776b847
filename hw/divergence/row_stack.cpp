#include "hw/divergence/row_stack.hpp"

namespace heddle::hw {

RowStack::Path RowStack::branch(std::uint32_t pc, const isa::Instruction& branch, LaneMask running, LaneMask taken) {
  const std::uint32_t fall_through = pc + 1;
  const std::uint32_t reconvergence = branch.reconvergence;
  const bool joined = ends_at(reconvergence) && entries_.back().execute_pc == reconvergence;
  if (reconvergence != isa::kNoReconvergence && !joined) {
    entries_.push_back({reconvergence, reconvergence, running});
  }
  const bool taken_first = fall_through == reconvergence;
  if (!taken_first && branch.target != reconvergence) {
    entries_.push_back({reconvergence, branch.target, taken});
  }
  return taken_first ? Path{taken, branch.target} : Path{running & ~taken, fall_through};
}

RowStack::Path RowStack::pop(Path ended) {
  Path next = ended;
  for (bool first = true; !empty() && (first || ends_at(next.pc) || next.lanes == 0); first = false) {
    next = {entries_.back().active, entries_.back().execute_pc};
    entries_.pop_back();
  }
  return next;
}

std::optional<std::uint32_t> RowStack::tears(LaneMask running) const {
  for (const Entry& entry : entries_) {
    if ((entry.active & running) != 0 && (running & ~entry.active) != 0) {
      return entry.execute_pc;
    }
  }
  return std::nullopt;
}

Divergence::StackView RowStack::view() const {
  Divergence::StackView view;
  view.depth = size();
  if (!empty()) {
    view.reconvergence_pc = entries_.back().reconvergence_pc;
    view.execute_pc = entries_.back().execute_pc;
    view.active = {&entries_.back().active, 1};
  }
  return view;
}

}  // namespace heddle::hw
