#include "isa/reference/decoded.hpp"

namespace heddle::isa::reference {

namespace {

Action action_of(const Instruction& instruction) {
  const Op op = instruction.op;
  if (is_load(op) || is_store(op)) {
    if (memory_words(instruction) > kMaxMemoryWords) {
      return Action::invalid;
    }
    return is_load(op)        ? Action::load
           : is_bulk_copy(op) ? Action::bulk_copy
           : is_copy(op)      ? Action::copy
                              : Action::store;
  }
  if (is_atomic(op)) {
    return Action::atomic;
  }
  if (is_accumulate(op)) {
    return Action::accumulate;
  }
  if (is_texture(op)) {
    return Action::texture;
  }
  if (is_heap(op)) {
    return Action::heap;
  }
  switch (op) {
    case Op::NOP:
    case Op::BSSY:
    case Op::BSYNC:
    case Op::ASYNC_COMMIT:  // a copy has ended before the next instruction
    case Op::ASYNC_WAIT:
    case Op::PROGRESS:
    case Op::WARP_SYNC:  // the threads of a warp re-converge by a stack
    case Op::MEMBAR:     // blocks and warps run one at a time: memory is always in order
      return Action::nothing;
    case Op::S2R:
    case Op::S2R64:
      return Action::special;
    case Op::BRA:
      return Action::branch;
    case Op::EXIT:
      return Action::exit;
    case Op::TRAP:
      return Action::trap;
    case Op::PRINT:
      return Action::print;
    default:
      break;
  }
  if (info(op).unit == Unit::barrier) {
    return Action::barrier;
  }
  return lane_function(instruction) != nullptr ? Action::lanes : Action::invalid;
}

}  // namespace

std::vector<Decoded> decode_kernel(const Kernel& kernel) {
  std::vector<Decoded> out;
  out.reserve(kernel.words.size());
  for (const InstructionWord& word : kernel.words) {
    Decoded& entry = out.emplace_back();
    const std::optional<Instruction> instruction = decode(word);
    if (!instruction) {
      continue;
    }
    entry.instruction = *instruction;
    entry.action = action_of(*instruction);
    if (entry.action == Action::invalid) {
      continue;
    }
    entry.function = lane_function(*instruction);
    entry.result = result_form(*instruction);
    entry.predicates = source_predicates(*instruction);
    entry.a = static_cast<std::uint8_t>(a_registers(*instruction));
    entry.b = static_cast<std::uint8_t>(instruction->immediate ? 0 : b_registers(*instruction));
    entry.c = static_cast<std::uint8_t>(c_registers(*instruction));
    entry.d = static_cast<std::uint8_t>(d_registers(*instruction));
  }
  return out;
}

}  // namespace heddle::isa::reference
