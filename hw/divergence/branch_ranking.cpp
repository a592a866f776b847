#include "hw/divergence/branch_ranking.hpp"

namespace heddle::hw {

bool BranchRanking::leaves(std::uint32_t pc) {
  if (!active()) {
    return true;
  }
  if (branches_.size() == kBranches && !branches_.contains(pc)) {
    return true;
  }
  Branch& branch = branches_[pc];
  const bool known = branch.resolved != 0;
  const bool leaves = branch.parted >= after_ && (!known || branch.waited >= std::uint64_t{loss_} * branch.resolved);
  branch.parted += leaves ? 0 : 1;
  return leaves;
}

void BranchRanking::resolved(std::uint32_t pc, std::uint64_t waited) {
  const auto found = branches_.find(pc);
  if (found == branches_.end()) {
    return;  // within another branch, which leaves
  }
  ++found->second.resolved;
  found->second.waited += waited;
}

}  // namespace heddle::hw
