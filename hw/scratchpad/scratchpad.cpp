#include "hw/scratchpad/scratchpad.hpp"

#include <algorithm>
#include <bit>

namespace heddle::hw {

namespace {

// The general case: distinct words of each bank, counted by sorting the words.
unsigned count_distinct(const ScratchpadAccess& access, unsigned banks, unsigned words_per_lane) {
  std::array<std::uint32_t, isa::kLanes * 4> words;
  unsigned count = 0;
  for (isa::LaneMask left = access.lanes; left != 0; left &= left - 1) {
    const std::uint32_t first = access.address[static_cast<unsigned>(std::countr_zero(left))] / 4;
    for (unsigned word = 0; word < words_per_lane; ++word) {
      words[count++] = first + word;
    }
  }
  const auto end = words.begin() + count;
  std::sort(words.begin(), end);
  const auto distinct_end = access.atomic ? end : std::unique(words.begin(), end);
  std::array<unsigned, 64> of_bank{};
  unsigned most = 1;
  for (auto word = words.begin(); word != distinct_end; ++word) {
    most = std::max(most, ++of_bank[*word % banks]);
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
    for (isa::LaneMask left = access.lanes; left != 0; left &= left - 1) {
      const std::uint32_t word = access.address[static_cast<unsigned>(std::countr_zero(left))] / 4;
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
    : sc_core::sc_module(name),
      access("access"),
      banks_(parameters.banks),
      clock_(clock),
      storage_(std::max<std::uint64_t>(parameters.bytes, 16)) {
  access.bind(*this);
}

void Scratchpad::clear(std::uint32_t base, std::uint32_t bytes) {
  std::fill_n(storage_.begin() + base, bytes, std::byte{0});
}

::tlm::tlm_sync_enum Scratchpad::nb_transport_fw(ScratchpadAccess&, link::WarpPhase&, sc_core::sc_time&) {
  throw InternalError("the scratchpad's socket is blocking");
}

void Scratchpad::b_transport(ScratchpadAccess& access, sc_core::sc_time& delay) {
  delay = clock_.cycles(occupy(access));
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

bool Scratchpad::get_direct_mem_ptr(ScratchpadAccess&, ::tlm::tlm_dmi& dmi) {
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(storage_.data()));
  dmi.set_start_address(0);
  dmi.set_end_address(storage_.size() - 1);
  dmi.allow_read_write();
  return true;
}

}  // namespace heddle::hw
