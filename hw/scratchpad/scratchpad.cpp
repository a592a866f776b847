#include "hw/scratchpad/scratchpad.hpp"

#include <algorithm>
#include <bit>

#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

// The general case: distinct words of each bank. The words of a bank that have been seen are linked, so that a word is
// compared with few others unless there are many conflicts.
unsigned count_distinct(const ScratchpadAccess& access, unsigned banks, unsigned words_per_lane) {
  static constexpr std::uint8_t kNone = 0xff;
  std::array<std::uint32_t, isa::kLanes * 4> words;
  std::array<std::uint8_t, isa::kLanes * 4> before;  // the word of the same bank that came before
  std::array<std::uint8_t, 64> latest;               // of each bank
  std::array<std::uint8_t, 64> of_bank{};
  latest.fill(kNone);
  std::uint8_t count = 0;
  std::uint8_t most = 1;
  for (const unsigned lane : set_bits(access.lanes)) {
    const std::uint32_t first = access.address[lane] / 4;
    for (unsigned of_lane = 0; of_lane < words_per_lane; ++of_lane) {
      const std::uint32_t word = first + of_lane;
      const unsigned bank = word & (banks - 1);
      std::uint8_t same = access.atomic ? kNone : latest[bank];
      while (same != kNone && words[same] != word) {
        same = before[same];
      }
      if (same == kNone) {
        words[count] = word;
        before[count] = latest[bank];
        latest[bank] = count++;
        most = std::max(most, ++of_bank[bank]);
      }
    }
  }
  return most;
}

}  // namespace

unsigned scratchpad_cycles(const ScratchpadAccess& access, unsigned banks) {
  const unsigned words_per_lane = std::max(access.bytes / 4, 1U);
  if (words_per_lane == 1 && access.lanes != 0 && !access.atomic) {
    // What programs do most: one word for all, or neighbouring words in the order of the lanes.
    const auto first = static_cast<unsigned>(std::countr_zero(access.lanes));
    const std::uint32_t word = access.address[first] / 4;
    std::uint32_t differs = 0;
    std::uint32_t off_row = 0;
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      const std::uint32_t look = 0U - ((access.lanes >> lane) & 1U);
      const std::uint32_t distance = access.address[lane] / 4 - word;
      differs |= distance & look;
      off_row |= (distance - (lane - first)) & look;
    }
    if (differs == 0 || (off_row == 0 && banks >= isa::kLanes)) {
      return 1;
    }
  }
  if (words_per_lane == 1) {
    // The usual case: no bank wanted twice, or only for the same word.
    std::uint64_t used = 0;
    std::array<std::uint32_t, 64> word_of;
    bool conflict = false;
    for (const unsigned lane : set_bits(access.lanes)) {
      const std::uint32_t word = access.address[lane] / 4;
      const unsigned bank = word & (banks - 1);
      const std::uint64_t bit = std::uint64_t{1} << bank;
      conflict = conflict || ((used & bit) != 0 && (access.atomic || word_of[bank] != word));
      used |= bit;
      word_of[bank] = word;
    }
    if (!conflict) {
      return 1;
    }
  }
  return count_distinct(access, banks, words_per_lane);
}

Scratchpad::Scratchpad(const sc_core::sc_module_name& name, const ScratchpadParameters& parameters, link::Clock clock)
    : link::OnChipMemory<ScratchpadProtocol>(name, std::max<std::size_t>(parameters.bytes, 16), clock),
      banks_(parameters.banks) {}

void Scratchpad::clear(std::uint32_t base, std::uint32_t bytes) {
  std::fill_n(storage().begin() + base, bytes, std::byte{0});
}

unsigned Scratchpad::occupy(ScratchpadAccess& access) {
  const unsigned cycles = scratchpad_cycles(access, banks_);
  const unsigned words = static_cast<unsigned>(std::popcount(access.lanes)) * std::max(access.bytes / 4, 1U);
  const unsigned needed = std::max((words + banks_ - 1) / banks_, 1U);
  const unsigned conflicts = cycles - std::min(cycles, needed);
  statistics.accesses += access.joins ? 0 : 1;
  statistics.bank_conflicts += conflicts - (access.joins ? std::min(access.conflicts, conflicts) : 0);
  access.conflicts = conflicts;
  return cycles;
}

}  // namespace heddle::hw
