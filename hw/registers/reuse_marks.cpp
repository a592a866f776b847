#include "hw/registers/reuse_marks.hpp"

#include <algorithm>

namespace heddle::hw {

namespace {

using Code = std::vector<std::unique_ptr<link::DecodedInstruction>>;

bool ends_straight_line(const link::DecodedInstruction& decoded) {
  return decoded.unit == isa::Unit::control || decoded.unit == isa::Unit::barrier;
}

// The last instruction before `pc`, in straight-line code, that reads the place and bank of `word` marks it if it has
// the register there, which nothing has written since.
void mark_before(Code& code, std::uint32_t pc, isa::OperandWord word, unsigned banks) {
  while (pc-- != 0 && code[pc] != nullptr && !ends_straight_line(*code[pc])) {
    link::DecodedInstruction& before = *code[pc];
    if (before.use.written.has(word.reg)) {
      return;
    }
    const auto words = before.operands.all();
    const auto last = std::find_if(words.rbegin(), words.rend(), [&](isa::OperandWord other) {
      return other.place == word.place && other.reg % banks == word.reg % banks;
    });
    if (last != words.rend()) {
      const auto number = static_cast<unsigned>(words.rend() - last - 1);
      before.reuse = static_cast<std::uint8_t>(before.reuse | (*last == word ? 1U << number : 0));
      return;
    }
  }
}

}  // namespace

void mark_reuse(Code& code, std::uint32_t pc, unsigned banks) {
  // Those behind it that have been decoded before it may read its operands again.
  for (std::uint32_t at = pc; at < code.size() && code[at] != nullptr; ++at) {
    for (const isa::OperandWord word : code[at]->operands.all()) {
      mark_before(code, at, word, banks);
    }
    if (ends_straight_line(*code[at])) {
      return;
    }
  }
}

}  // namespace heddle::hw
