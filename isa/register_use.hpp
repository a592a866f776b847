// The registers that an instruction reads and writes, as sets: what a scoreboard compares. And the registers that it
// reads, operand by operand: what the ports of register banks see.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "isa/instruction.hpp"

namespace heddle::isa {

// Of general registers; RZ is in none.
class RegisterSet {
 public:
  constexpr RegisterSet() = default;
  // `count` of them from `first` on; of RZ: none.
  [[nodiscard]] static constexpr RegisterSet from(unsigned first, unsigned count) {
    RegisterSet set;
    for (unsigned reg = first; reg < std::min(first + count, kRegisters); ++reg) {
      set.bits_[reg / 64] |= std::uint64_t{1} << reg % 64;
    }
    return set;
  }
  [[nodiscard]] static constexpr RegisterSet all() { return ~RegisterSet(); }
  [[nodiscard]] constexpr bool has(unsigned reg) const { return ((bits_[reg / 64] >> reg % 64) & 1U) != 0; }
  [[nodiscard]] constexpr bool empty() const { return (bits_[0] | bits_[1] | bits_[2] | bits_[3]) == 0; }
  [[nodiscard]] constexpr bool meets(const RegisterSet& other) const { return !(*this & other).empty(); }
  [[nodiscard]] constexpr unsigned count() const {
    unsigned count = 0;
    for (const std::uint64_t bits : bits_) {
      count += static_cast<unsigned>(std::popcount(bits));
    }
    return count;
  }
  // One beyond the highest; 0: it is empty.
  [[nodiscard]] constexpr unsigned end() const {
    for (unsigned word = 4; word-- != 0;) {
      if (bits_[word] != 0) {
        return 64 * word + static_cast<unsigned>(std::bit_width(bits_[word]));
      }
    }
    return 0;
  }
  template <class Visit>
  constexpr void each(Visit visit) const {
    for (unsigned word = 0; word != 4; ++word) {
      for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1) {
        visit(64 * word + static_cast<unsigned>(std::countr_zero(left)));
      }
    }
  }
  constexpr RegisterSet& operator|=(const RegisterSet& other) {
    for (unsigned word = 0; word != 4; ++word) {
      bits_[word] |= other.bits_[word];
    }
    return *this;
  }
  constexpr RegisterSet& operator&=(const RegisterSet& other) {
    for (unsigned word = 0; word != 4; ++word) {
      bits_[word] &= other.bits_[word];
    }
    return *this;
  }
  friend constexpr RegisterSet operator|(RegisterSet one, const RegisterSet& other) { return one |= other; }
  friend constexpr RegisterSet operator&(RegisterSet one, const RegisterSet& other) { return one &= other; }
  friend constexpr RegisterSet operator~(RegisterSet set) {
    for (std::uint64_t& bits : set.bits_) {
      bits = ~bits;
    }
    return set;
  }
  friend constexpr bool operator==(const RegisterSet&, const RegisterSet&) = default;

 private:
  static_assert(kRegisters <= 256);
  std::array<std::uint64_t, 4> bits_{};
};

struct RegisterUse {
  RegisterSet read;  // of stores: the stored ones among them
  RegisterSet written;
  std::uint8_t predicates_read = 0;     // bit p: predicate p; never PT. The guard among them
  std::uint8_t predicates_written = 0;  // as predicates_read
};
[[nodiscard]] RegisterUse register_use(const Instruction& instruction);

// A 32-bit register that an instruction reads, never RZ, and the place of the operand that it belongs to: 0, 1 and 2
// for a, b and c, 3 for d. A store has its address in place 0 and what it stores in place 1.
struct OperandWord {
  std::uint8_t reg = 0;
  std::uint8_t place = 0;
  friend bool operator==(OperandWord, OperandWord) = default;
};
class OperandWords {
 public:
  static constexpr unsigned kMost = 20;  // of mma with any modifiers; of those that there are 10, as of a wide store
  void add(OperandWord word) { words_[count_++] = word; }
  [[nodiscard]] std::span<const OperandWord> all() const { return {words_.data(), count_}; }
  [[nodiscard]] unsigned count() const { return count_; }

 private:
  std::array<OperandWord, kMost> words_{};
  std::uint8_t count_ = 0;
};
// In the order of their places, the words of a wide operand from the lowest register on.
[[nodiscard]] OperandWords operand_words(const Instruction& instruction);

}  // namespace heddle::isa
