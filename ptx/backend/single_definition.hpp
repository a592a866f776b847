// Register words that are written in one place only, without a guard: their value is known where that place is.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

struct CodePoint {
  int block = kNoBlock;
  std::size_t index = 0;
};

// Gives every block the code that write(where it stands, instruction, code) appends for each of its instructions. Until
// all are written the function has its old code.
template <typename Write>
void rewrite_code(MachineFunction& function, Write write) {
  std::vector<std::vector<MachineInstruction>> all;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    std::vector<MachineInstruction>& code = all.emplace_back();
    for (std::size_t i = 0; i < function.blocks[b].code.size(); ++i) {
      write(CodePoint{static_cast<int>(b), i}, function.blocks[b].code[i], code);
    }
  }
  for (std::size_t b = 0; b < all.size(); ++b) function.blocks[b].code = std::move(all[b]);
}

class SingleDefinitions {
 public:
  explicit SingleDefinitions(const MachineFunction& function);

  // Where all of the register is written, if that is a single instruction.
  [[nodiscard]] std::optional<CodePoint> definition(VReg reg) const;

  // On every path to the second point the first one is passed.
  [[nodiscard]] bool before(const CodePoint& first, const CodePoint& second) const;

  // Value of words first .. first + words - 1 (at most 2), if constant. Holds wherever the register has a value.
  [[nodiscard]] std::optional<std::uint64_t> constant(VReg reg, unsigned first, unsigned words) const;

  // The operation with an immediate, of one other register, that makes this one, where that register (or its lower
  // word, if that is enough) has the same value at the point of use; or null.
  [[nodiscard]] const IrInstruction* with_immediate(VReg reg, const CodePoint& use, bool lower_word = false) const;

  // The register words that hold the same value as these ones at the point of use, because these are a copy of them.
  struct Source {
    VReg reg = kNone;
    unsigned word = 0;
  };
  [[nodiscard]] std::optional<Source> source(VReg reg, unsigned first, unsigned words, const CodePoint& use) const;

 private:
  struct Word {
    unsigned definitions = 0;
    bool guarded = false;
    CodePoint at;
    bool is_constant = false;
    std::uint32_t value = 0;
    Source copy_of;
  };
  [[nodiscard]] const Word& word(VReg reg, unsigned index) const {
    return words_[base_[static_cast<std::size_t>(reg)] + index];
  }
  [[nodiscard]] static bool known(const Word& word) { return word.definitions == 1 && !word.guarded; }
  void record(const MachineInstruction& instruction, const CodePoint& at);

  const MachineFunction& function_;
  Dominators dominators_;
  std::vector<std::size_t> base_;
  std::vector<Word> words_;
};

}  // namespace heddle::ptx::backend
