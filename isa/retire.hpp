// Folds one executed instruction into the retirement hashes of a sub-warp's threads: the rules of isa/retirement.hpp in
// one place, for the interpreter and for the core model.
//
// Lane i's hash is hash[i]; lanes outside `executed` keep theirs. The array must be kLanes long: threads that are not
// neighbours in memory are gathered before and scattered after. All lanes are computed and then blended, in vectors.
#pragma once

#include <cstdint>

#include "isa/lane_vectors.hpp"
#include "isa/result_form.hpp"
#include "isa/retirement.hpp"
#include "isa/semantics.hpp"

namespace heddle::isa {

// `executed`: lanes whose active bit and guard are set. `values.result` holds the results, for stores the stored
// registers; `values.p`, `values.q` the predicate results (carry out counts as p). A predicate result that goes to PT
// is no result: its bit folds as zero, and nothing is folded when both go there. `address_low`: low word of the generic
// address (kSharedWindow + offset for shared, kLocalWindow + offset for local); read for stores and atomics only.
inline void retire(const ResultForm& form, std::uint32_t pc, LaneMask executed, const LaneValues& values,
                   const LaneWord& address_low, std::uint32_t* hash) {
  using vectors::kBit;
  using vectors::Part;
  const unsigned words = form.words + form.stored;  // an instruction has one or the other
  for (unsigned first = 0; first != kLanes; first += vectors::kPart) {
    const auto load = [first](const std::uint32_t* from) { return vectors::load(from, first); };
    const Part before = load(hash);
    Part next = retire_pc_all(before, pc);
    if (form.address) {
      next = retire_value_all(next, load(address_low.data()));
    }
    for (unsigned word = 0; word < words; ++word) {
      next = retire_value_all(next, load(values.result[word].data()));
    }
    if (form.predicates()) {
      const Part p = Part{} + ((form.p != kPT ? values.p : 0) >> first);
      const Part q = Part{} + ((form.q != kPT ? values.q : 0) >> first);
      const Part bits = ((p & kBit) != 0 ? Part{} + 1U : Part{}) | ((q & kBit) != 0 ? Part{} + 2U : Part{});
      next = retire_value_all(next, bits);
    }
    vectors::store(hash, first, vectors::select(executed, first, next, before));
  }
}
inline void retire(const ResultForm& form, std::uint32_t pc, LaneMask executed, const LaneValues& values,
                   const LaneWord& address_low, LaneWord& hash) {
  retire(form, pc, executed, values, address_low, hash.data());
}

// Folds results into hashes for code that keeps no form per instruction.
inline void retire(const Instruction& instruction, std::uint32_t pc, LaneMask executed, const LaneValues& values,
                   const LaneWord& address_low, LaneWord& hash) {
  retire(result_form(instruction), pc, executed, values, address_low, hash);
}

}  // namespace heddle::isa
