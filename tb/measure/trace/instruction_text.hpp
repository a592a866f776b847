// Disassembled instruction words, each made once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "isa/instruction.hpp"

namespace heddle::tb {

class InstructionTexts {
 public:
  [[nodiscard]] const std::string& of(std::uint64_t word) {
    const auto [found, fresh] = texts_.try_emplace(word);
    if (fresh) {
      const auto instruction = isa::decode(word);
      found->second = instruction ? isa::disassemble(*instruction) : "(no instruction)";
    }
    return found->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::string> texts_;
};

}  // namespace heddle::tb
