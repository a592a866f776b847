// The retirement hash: proof that a mechanism changes timing only. Every thread folds, in its own program order, the PC
// and the written values of each instruction that it executes (active and guard true) into a 32-bit hash. Model and
// reference interpreter call the same functions; equal hashes mean equal instruction streams with equal values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isa/instruction.hpp"

namespace heddle::isa {

// Of one thread's hash, or of several as a vector.
template <class Hashes>
[[nodiscard]] constexpr Hashes retire_pc_all(Hashes hashes, std::uint32_t pc) {
  return (((hashes << 5U) | (hashes >> 27U)) ^ (pc + 0x9e37U)) * 0x9e3779b1U;
}
template <class Hashes>
[[nodiscard]] constexpr Hashes retire_value_all(Hashes hashes, Hashes values) {
  return (((hashes << 5U) | (hashes >> 27U)) ^ values) * 0x85ebca6bU;
}
[[nodiscard]] constexpr std::uint32_t retire_pc(std::uint32_t hash, std::uint32_t pc) {
  return retire_pc_all(hash, pc);
}
[[nodiscard]] constexpr std::uint32_t retire_value(std::uint32_t hash, std::uint32_t value) {
  return retire_value_all(hash, value);
}

// What is folded after the PC, in this order:
//   register results: each 32-bit word written, lowest first (nothing for RZ);
//   predicate results: one value, bit 0 = p, bit 1 = q;
//   stores: low word of the generic address, then each 32-bit value register;
//   atomics: low word of the generic address, then the result words (nothing for RZ).
// An instruction with a register and a predicate result (carry out, shfl, match.all) folds the register first.
// isa/retire.hpp does the folding.
// A parameter-space or constant load is a register result like any other.

// Hashes of one run: thread i of the current launch (block-linear index times threads per block plus thread-linear
// index), folded into one number over all launches.
class RetirementHash {
 public:
  void begin_launch(std::size_t threads);
  [[nodiscard]] std::span<std::uint32_t> threads() { return threads_; }
  [[nodiscard]] std::span<const std::uint32_t> threads() const { return threads_; }
  void end_launch();  // folds the launch's threads into the total
  // A launch whose threads' hashes were kept elsewhere: both of the above.
  void add_launch(std::vector<std::uint32_t> threads) {
    threads_ = std::move(threads);
    end_launch();
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t launches() const { return launches_; }  // ended so far

 private:
  std::vector<std::uint32_t> threads_;
  std::uint64_t launches_ = 0;
  std::uint64_t total_ = 0x68656464'6c652121ULL;
};

}  // namespace heddle::isa
