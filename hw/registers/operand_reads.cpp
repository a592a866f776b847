#include "hw/registers/operand_reads.hpp"

#include <algorithm>

namespace heddle::hw {

OperandReads::OperandReads(const RegisterFileParameters& parameters) : parameters_(parameters) {
  for (unsigned reg = 0; reg != bank_of_.size(); ++reg) {
    bank_of_[reg] = static_cast<std::uint8_t>(reg % parameters.banks);
  }
}

OperandReads::Need OperandReads::need(const isa::OperandWords& operands, std::optional<unsigned> row) const {
  Need need;
  std::array<std::uint8_t, isa::OperandWords::kMost> read;
  auto end = read.begin();
  for (const isa::OperandWord word : operands.all()) {
    if (has(word, row)) {
      ++need.cached;
    } else if (std::find(read.begin(), end, word.reg) == end) {
      *end++ = word.reg;
      ++need.registers[bank_of_[word.reg]];
    }
  }
  return need;
}

bool OperandReads::fits(const Need& need, link::Cycle now) const {
  const std::uint64_t first = now * parameters_.read_ports;
  const std::uint64_t window = std::uint64_t{parameters_.read_cycles} * parameters_.read_ports;
  for (unsigned bank = 0; bank != parameters_.banks; ++bank) {
    const std::uint64_t registers = need.registers[bank];
    const std::uint64_t from = std::max(free_from_[bank], first);
    if (registers != 0 && from != first && from + registers > first + window) {
      return false;
    }
  }
  return true;
}

unsigned OperandReads::take(const isa::OperandWords& operands, std::uint8_t reuse, std::optional<unsigned> row,
                            const Need& need, link::Cycle now) {
  for (unsigned bank = 0; bank != parameters_.banks; ++bank) {
    free_from_[bank] = std::max(free_from_[bank], now * parameters_.read_ports) + need.registers[bank];
  }
  unsigned kept = 0;
  if (parameters_.cache && (kept_ != 0 || reuse != 0)) {
    unsigned number = 0;
    for (const isa::OperandWord word : operands.all()) {
      const bool marked = ((reuse >> number++) & 1U) != 0 && row;
      if (word.place < kPlaces) {
        Cached& cached = cached_[bank_of_[word.reg]][word.place];
        kept_ += (marked ? 1U : 0U) - (cached.valid ? 1U : 0U);
        cached = {marked, word.reg, row.value_or(0)};
        kept += marked ? 1 : 0;
      }
    }
  }
  return kept;
}

void OperandReads::reset() {
  free_from_.fill(0);
  cached_ = {};
  kept_ = 0;
}

}  // namespace heddle::hw
