// When the operands of an instruction can be read: the banks of a sub-core's register file, their ports, and a cache of
// operands (section [registers] of a machine). Plain C++, a policy: it decides, the register read stage waits.
//
// Banks       register r of every warp is in bank r mod `banks`. A bank's port reads a register of all lanes in a
//             cycle: 1024 bits, two banks with a port each in NVIDIA's sub-cores (MICRO 2025, section 5.3: "Dissecting
//             and Modeling the Architecture of Modern GPU Cores"). An instruction that names a register twice reads it
//             once (own reading)
// Window      an instruction goes on in the cycle from which all its operands find ports within `read_cycles` cycles (3
//             there: "it is held in this stage ... until it can reserve all ports needed to read the source operands in
//             the next three cycles"). What needs more than a window has goes on when its ports are free of earlier
//             instructions. Each takes the first cycles that its banks have left, so that what a bank has promised is
//             one run of cycles
// Cache       for each bank an entry of three places, of the operands a, b and c. An operand that is marked for reuse
//             stays in its place, of its bank; the next read of that bank and place either is of the same register of
//             the same register row, and needs no port, or is not; either way the value is gone, unless the read is
//             marked too (section 5.3.1, listing 4)
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "hw/parameters/on_chip.hpp"
#include "isa/register_use.hpp"
#include "tlm/cycle.hpp"

namespace heddle::hw {

class OperandReads {
 public:
  explicit OperandReads(const RegisterFileParameters& parameters);

  // What a read needs of each bank's port.
  struct Need {
    std::array<std::uint8_t, RegisterFileParameters::kMostBanks> registers{};
    unsigned cached = 0;  // words that the cache has
  };
  // `row`: the register row of all its threads; none: they are of several.
  [[nodiscard]] Need need(const isa::OperandWords& operands, std::optional<unsigned> row) const;
  [[nodiscard]] bool fits(const Need& need, link::Cycle now) const;
  // It fits and goes on. `reuse`: the words that are marked. Returns how many stay in the cache.
  unsigned take(const isa::OperandWords& operands, std::uint8_t reuse, std::optional<unsigned> row, const Need& need,
                link::Cycle now);
  // Before a launch: no port is promised, nothing is in the cache.
  void reset();

 private:
  static constexpr unsigned kPlaces = 3;
  struct Cached {
    bool valid = false;
    std::uint8_t reg = 0;
    unsigned row = 0;
  };
  [[nodiscard]] bool has(isa::OperandWord word, std::optional<unsigned> row) const {
    if (kept_ == 0) {
      return false;
    }
    const Cached& cached = cached_[bank_of_[word.reg]][word.place];
    return cached.valid && cached.reg == word.reg && cached.row == row;
  }

  const RegisterFileParameters parameters_;
  std::array<std::uint8_t, isa::kRegisters + 1> bank_of_{};  // by register
  // Of each bank the first read that nobody has been promised; read number n is in cycle n / read_ports.
  std::array<std::uint64_t, RegisterFileParameters::kMostBanks> free_from_{};
  std::array<std::array<Cached, kPlaces + 1>, RegisterFileParameters::kMostBanks> cached_{};  // never at place d
  unsigned kept_ = 0;  // how many of those are valid
};

}  // namespace heddle::hw
