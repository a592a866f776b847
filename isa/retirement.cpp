#include "isa/retirement.hpp"

namespace heddle::isa {

namespace {

// A bijective scrambling of 64 bits (xor-shift and odd multiplications), so that no two (index, hash) pairs of a launch
// meet before they are added.
constexpr std::uint64_t scramble(std::uint64_t value) {
  value ^= value >> 32U;
  value *= 0xd6e8'feb8'6659'fd93ULL;
  value ^= value >> 29U;
  value *= 0xa076'1d64'78bd'642fULL;
  value ^= value >> 32U;
  return value;
}

}  // namespace

void RetirementHash::begin_launch(std::size_t threads) {
  threads_.assign(threads, 0);
}

// Threads may be folded in any order (the sum commutes), but a hash belongs to its thread index; launches chain.
void RetirementHash::end_launch() {
  std::uint64_t sum = threads_.size();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    sum += scramble((static_cast<std::uint64_t>(i) << 32U) ^ threads_[i]);
  }
  total_ = scramble(total_ + 0x9e37'79b9'7f4a'7c15ULL) ^ sum;
  ++launches_;
}

}  // namespace heddle::isa
