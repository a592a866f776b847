// The body of a counted loop, and copies of it that stand one behind the other.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ptx/backend/counted_loop.hpp"
#include "ptx/backend/liveness.hpp"
#include "ptx/backend/machine_code.hpp"

namespace heddle::ptx::backend {

// to = from + offset, of registers of one or two words.
[[nodiscard]] MachineInstruction make_sum(const MachineFunction& function, VReg to, VReg from, std::int64_t offset,
                                          const Position& at);

// What is live in a function, of both kinds of registers.
struct LiveEverywhere {
  explicit LiveEverywhere(const MachineFunction& function)
      : general(function, false), predicates(function, true), words(function, general), bits(function, predicates) {}
  Units general, predicates;
  Liveness words, bits;
};

class LoopBody {
 public:
  // The block `at`, which may go to itself and to `exit`.
  LoopBody(MachineFunction& function, int at, int exit, const LiveEverywhere& live);

  // False: the loop cannot be counted.
  [[nodiscard]] bool find() {
    return counted_.find([this](VReg reg) { return live_at_begin(reg); },
                         [this](VReg reg) { return live_behind(reg); });
  }
  [[nodiscard]] const CountedLoop& counted() const { return counted_; }  // behind find()

  [[nodiscard]] std::size_t instructions() const;  // moves do not count
  [[nodiscard]] bool has_memory() const;
  // Nothing in it needs the threads of a warp together: no barriers, operations between lanes, exits.
  [[nodiscard]] bool may_part() const;
  [[nodiscard]] bool has_atomics() const;
  // To memory other than the scratchpad, under a guard.
  [[nodiscard]] bool has_guarded_stores() const;

  // Appends all copies of the body without its test and branch, and behind them the changes of the registers that
  // change by constants. `ends`: no iteration follows. False: an offset is too far for an instruction.
  [[nodiscard]] bool copy(std::uint64_t copies, bool ends, std::vector<MachineInstruction>& code);
  // The register to compare for the counter or one like it: its lower word, where the loop compares that.
  [[nodiscard]] VReg compared(VReg counter, std::vector<MachineInstruction>& code);
  // Appends the loop's own comparison, to stand behind those changes.
  void compare_again(std::vector<MachineInstruction>& code);

 private:
  using Sums = std::map<VReg, std::optional<Sum>>;  // of what has been written; nothing: not such a sum

  [[nodiscard]] const Block& block() const { return function_.blocks[static_cast<std::size_t>(at_)]; }
  [[nodiscard]] const std::map<VReg, std::int64_t>& steps() const { return counted_.steps(); }
  [[nodiscard]] bool live_at_begin(VReg reg) const {
    return (function_.is_predicate(reg) ? live_bits_ : live_).mask(reg) != 0;
  }
  [[nodiscard]] bool live_behind(VReg reg) const {
    return (function_.is_predicate(reg) ? bits_behind_ : live_behind_).mask(reg) != 0;
  }
  [[nodiscard]] bool copy_once(std::uint64_t copy, bool last, std::vector<MachineInstruction>& code);
  template <class Find>
  [[nodiscard]] bool take_sums(MachineInstruction& instruction, Find find, std::vector<MachineInstruction>& code);
  [[nodiscard]] VReg made(const Sum& sum, const Position& at, std::vector<MachineInstruction>& code);
  [[nodiscard]] VReg base_of(const Sum& sum, const Position& at, std::vector<MachineInstruction>& code);
  void write(VReg to, const Sum& sum, const Position& at, std::vector<MachineInstruction>& code);
  [[nodiscard]] Position changed_at(VReg reg) const;

  MachineFunction& function_;
  int at_;
  CountedLoop counted_;
  LiveRegisters live_, live_bits_, live_behind_, bits_behind_;
  std::map<std::pair<VReg, std::int64_t>, VReg> sums_made_;
  std::map<VReg, VReg> lows_made_;  // lower words, likewise
};

}  // namespace heddle::ptx::backend
