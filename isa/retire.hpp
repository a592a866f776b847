// Folds one executed instruction into the retirement hashes of a sub-warp's threads: the rules of isa/retirement.hpp in
// one place, for the interpreter and for the core model.
//
// Lane i's hash is hash[i]; lanes outside `executed` keep theirs. The array must be kLanes long: threads that are not
// neighbours in memory are gathered before and scattered after. All lanes are computed and then blended, so that the
// loops vectorise (speed.md: Lanes).
#pragma once

#include <cstdint>

#include "isa/result_form.hpp"
#include "isa/retirement.hpp"
#include "isa/semantics.hpp"

namespace heddle::isa {

// `executed`: lanes whose active bit and guard are set. `values.result` holds the results, for stores the stored
// registers; `values.p`, `values.q` the predicate results (carry out counts as p). A predicate result that goes to PT
// is no result: its bit folds as zero, and nothing is folded when both go there. `address_low`: low word of the generic
// address (kSharedWindow + offset for shared, kLocalWindow + offset for local); read for stores and atomics only.
inline void retire(const ResultForm& form, std::uint32_t pc, LaneMask executed, const LaneValues& values,
                   const LaneWord& address_low, LaneWord& hash) {
  alignas(64) LaneWord next;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    next[lane] = retire_pc(hash[lane], pc);
  }
  if (form.address) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      next[lane] = retire_value(next[lane], address_low[lane]);
    }
  }
  const unsigned words = form.words + form.stored;  // an instruction has one or the other
  for (unsigned word = 0; word < words; ++word) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      next[lane] = retire_value(next[lane], values.result[word][lane]);
    }
  }
  if (form.predicates()) {
    const LaneMask p = form.p != kPT ? values.p : 0;
    const LaneMask q = form.q != kPT ? values.q : 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      next[lane] = retire_value(next[lane], ((p >> lane) & 1U) | (((q >> lane) & 1U) << 1U));
    }
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t take = 0U - ((executed >> lane) & 1U);
    hash[lane] = (next[lane] & take) | (hash[lane] & ~take);
  }
}

// The same for code that keeps no form per instruction.
inline void retire(const Instruction& instruction, std::uint32_t pc, LaneMask executed, const LaneValues& values,
                   const LaneWord& address_low, LaneWord& hash) {
  retire(result_form(instruction), pc, executed, values, address_low, hash);
}

}  // namespace heddle::isa
