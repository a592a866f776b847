// Folds one executed instruction into the retirement hashes of a sub-warp's threads: the rules of isa/retirement.hpp in
// one place, for the interpreter and for the core model.
//
// Lane i's hash is hash[i]; lanes outside `executed` keep theirs. The array must be kLanes long: threads that are not
// neighbours in memory are gathered before and scattered after. All lanes are computed and then blended, in vectors.
#pragma once

#include <cstdint>
#include <utility>

#include "isa/lane_vectors.hpp"
#include "isa/result_form.hpp"
#include "isa/retirement.hpp"
#include "isa/semantics.hpp"

namespace heddle::isa {

template <unsigned... part>
[[gnu::always_inline]] inline void retire_parts(std::integer_sequence<unsigned, part...> /*all*/,
                                                const ResultForm& form, std::uint32_t pc, LaneMask executed,
                                                const LaneValues& values, const LaneWord& address_low,
                                                std::uint32_t* hash) {
  using vectors::kBit;
  using vectors::kPart;
  using vectors::load;
  using vectors::Part;
  // Of all lanes at once: what the instruction has is asked once, and the vectors' multiplications overlap.
  Part next[] = {retire_pc_all(load(hash, part * kPart), pc)...};
  const auto fold = [&next](const std::uint32_t* word) {
    ((next[part] = retire_value_all(next[part], load(word, part * kPart))), ...);
  };
  if (form.address) {
    fold(address_low.data());
  }
  const unsigned words = form.words + form.stored;  // an instruction has one or the other
  for (unsigned word = 0; word < words; ++word) {
    fold(values.result[word].data());
  }
  if (form.predicates()) {
    const LaneMask p = form.p != kPT ? values.p : 0;
    const LaneMask q = form.q != kPT ? values.q : 0;
    const auto bits = [p, q](unsigned first) {
      return (((Part{} + (p >> first)) & kBit) != 0 ? Part{} + 1U : Part{}) |
             (((Part{} + (q >> first)) & kBit) != 0 ? Part{} + 2U : Part{});
    };
    ((next[part] = retire_value_all(next[part], bits(part * kPart))), ...);
  }
  const auto keep = [executed, hash](unsigned first, Part value) {
    vectors::store(hash, first, vectors::select(executed, first, value, load(hash, first)));
  };
  (keep(part * kPart, next[part]), ...);
}

// `executed`: lanes whose active bit and guard are set. `values.result` holds the results, for stores the stored
// registers; `values.p`, `values.q` the predicate results (carry out counts as p). A predicate result that goes to PT
// is no result: its bit folds as zero, and nothing is folded when both go there. `address_low`: low word of the generic
// address (kSharedWindow + offset for shared, kLocalWindow + offset for local); read for stores and atomics only.
inline void retire(const ResultForm& form, std::uint32_t pc, LaneMask executed, const LaneValues& values,
                   const LaneWord& address_low, std::uint32_t* hash) {
  retire_parts(std::make_integer_sequence<unsigned, kLanes / vectors::kPart>(), form, pc, executed, values, address_low,
               hash);
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
