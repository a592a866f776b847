// The enumerations that signals of the GPU show.
#pragma once

#include "hw/state/group.hpp"
#include "hw/state/idle_cause.hpp"
#include "isa/instruction.hpp"
#include "tlm/signal_catalogue.hpp"

namespace heddle::hw {

// isa::Op by its mnemonic; one value more for a word that is no instruction.
[[nodiscard]] const link::Enumeration& opcodes();
inline constexpr std::uint64_t kNoOpcode = isa::kOperations;
[[nodiscard]] std::uint64_t opcode_of(const isa::InstructionWord& word);

// IdleCause, then what a stage does when it is not idle.
[[nodiscard]] const link::Enumeration& fetch_states();
[[nodiscard]] const link::Enumeration& execute_states();
inline constexpr std::uint64_t kStageBusy = kIdleCauseCount;          // "fetched", "active"
inline constexpr std::uint64_t kStageNoLaunch = kIdleCauseCount + 1;  // no launch runs
// IdleCause, then "none".
[[nodiscard]] const link::Enumeration& stall_causes();
inline constexpr std::uint64_t kNoStall = kIdleCauseCount;

[[nodiscard]] const link::Enumeration& group_states();  // GroupState

// What a DRAM bank does.
enum class BankState : std::uint8_t { closed, open, hit, conflict };
[[nodiscard]] const link::Enumeration& bank_states();

[[nodiscard]] const link::Enumeration& coherence_messages();  // link::CoherenceMessage

}  // namespace heddle::hw
