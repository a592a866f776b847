#include "hw/divergence/parting_rule.hpp"

namespace heddle::hw {

PartingRule::PartingRule(Memory memory, const SplitPredictor::Setup& predictor, GroupTable& groups,
                         CoreStatistics& count)
    : memory_(memory), groups_(groups) {
  if (memory == Memory::predict) {
    predictor_.emplace(predictor, count);
  }
}

bool PartingRule::others_work() const {
  return groups_.count(GroupState::ready) + groups_.count(GroupState::fetching) + groups_.count(GroupState::in_flight) +
             groups_.count(GroupState::complex) !=
         0;
}

bool PartingRule::occasion(const Group& group) const {
  switch (memory_) {
    case Memory::none:
    case Memory::slip:
      return false;
    case Memory::aggressive:
      return true;
    case Memory::lazy:
    case Memory::revive:
      return !others_work();
    case Memory::predict:
      return !others_work() && !predictor_->declined(group.id);
  }
  return false;
}

}  // namespace heddle::hw
