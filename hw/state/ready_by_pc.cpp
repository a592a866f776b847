#include "hw/state/ready_by_pc.hpp"

namespace heddle::hw {

void ReadyByPc::enter(GroupId id, std::uint32_t pc, std::uint64_t age, unsigned threads) {
  if (!known(pc)) {
    at_.resize(std::size_t{pc} + 1);
  }
  At& at = at_[pc];
  if (!at.oldest) {
    at.place = static_cast<std::uint32_t>(pcs_.size());
    pcs_.push_back(pc);
  }
  MaybeGroup older = at.youngest;
  while (older && of_[*older].age > age) {
    older = of_[*older].older;
  }
  const MaybeGroup younger = older ? of_[*older].younger : at.oldest;
  of_[id] = {older, younger, pc, threads, age};
  (older ? of_[*older].younger : at.oldest) = id;
  (younger ? of_[*younger].older : at.youngest) = id;
  at.threads += threads;
  ++at.groups;
}

void ReadyByPc::leave(GroupId id) {
  const Entry& entry = of_[id];
  At& at = at_[entry.pc];
  (entry.older ? of_[*entry.older].younger : at.oldest) = entry.younger;
  (entry.younger ? of_[*entry.younger].older : at.youngest) = entry.older;
  at.threads -= entry.threads;
  --at.groups;
  if (!at.oldest) {
    at_[pcs_.back()].place = at.place;
    pcs_[at.place] = pcs_.back();
    pcs_.pop_back();
  }
}

}  // namespace heddle::hw
