#include "hw/waves/enumerations.hpp"

#include <utility>

namespace heddle::hw {

namespace {

link::Enumeration causes_and(std::string name, const std::vector<std::string>& more) {
  link::Enumeration enumeration{std::move(name), {}};
  for (const IdleCauseInfo& cause : kIdleCauses) {
    enumeration.values.emplace_back(cause.name);
  }
  enumeration.values.insert(enumeration.values.end(), more.begin(), more.end());
  return enumeration;
}

}  // namespace

const link::Enumeration& opcodes() {
  static const link::Enumeration enumeration = [] {
    link::Enumeration all{"opcode", {}};
    for (unsigned op = 0; op < isa::kOperations; ++op) {
      all.values.emplace_back(isa::info(static_cast<isa::Op>(op)).mnemonic);
    }
    all.values.emplace_back("invalid");
    return all;
  }();
  return enumeration;
}

std::uint64_t opcode_of(const isa::InstructionWord& word) {
  const std::optional<isa::Instruction> instruction = isa::decode(word);
  return instruction ? static_cast<std::uint64_t>(instruction->op) : kNoOpcode;
}

const link::Enumeration& fetch_states() {
  static const link::Enumeration enumeration = causes_and("fetch_state", {"fetched", "no_launch"});
  return enumeration;
}

const link::Enumeration& execute_states() {
  static const link::Enumeration enumeration = causes_and("execute_state", {"active", "no_launch"});
  return enumeration;
}

const link::Enumeration& stall_causes() {
  static const link::Enumeration enumeration = causes_and("stall", {"none"});
  return enumeration;
}

const link::Enumeration& group_states() {
  static const link::Enumeration enumeration{
      "warp_state",
      {"free", "ready", "fetching", "in_flight", "memory", "complex", "barrier", "parked", "throttled", "queueing"}};
  static_assert(kGroupStates == 10);
  return enumeration;
}

const link::Enumeration& bank_states() {
  static const link::Enumeration enumeration{"bank_state", {"closed", "open", "hit", "conflict"}};
  return enumeration;
}

const link::Enumeration& coherence_messages() {
  static const link::Enumeration enumeration{"coherence_message",
                                             {"none", "share", "own", "put", "invalidate", "give_share", "give_up"}};
  return enumeration;
}

}  // namespace heddle::hw
