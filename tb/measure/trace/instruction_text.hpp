// Disassembled instruction words, each made once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "isa/instruction.hpp"

namespace heddle::tb {

class InstructionTexts {
 public:
  [[nodiscard]] const std::string& of(const isa::InstructionWord& word) {
    const auto [found, fresh] = texts_.try_emplace({word.high, word.low});
    if (fresh) {
      const auto instruction = isa::decode(word);
      found->second = instruction ? isa::disassemble(*instruction) : "(no instruction)";
    }
    return found->second;
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> texts_;  // by the halves of the word
};

}  // namespace heddle::tb
