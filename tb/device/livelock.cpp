#include "tb/device/livelock.hpp"

#include <fmt/format.h>

#include <optional>

#include "isa/instruction.hpp"

namespace heddle::tb {
namespace {

struct Loop {
  std::uint32_t first = 0, last = 0;
};

std::optional<Loop> innermost_loop(const isa::Kernel& kernel, std::uint32_t pc) {
  std::optional<Loop> found;
  for (std::uint32_t at = pc; at < kernel.words.size(); ++at) {
    const auto instruction = isa::decode(kernel.words[at]);
    if (!instruction || instruction->op != isa::Op::BRA || instruction->target > pc) continue;
    if (!found || at - instruction->target < found->last - found->first) found = Loop{instruction->target, at};
  }
  return found;
}

bool takes_a_lock(const isa::Instruction& instruction) {
  switch (instruction.op) {
    case isa::Op::ATOM_GLOBAL:
    case isa::Op::ATOM_GLOBAL_E:
    case isa::Op::ATOM_GENERIC:
    case isa::Op::ATOM_GENERIC_E:
    case isa::Op::ATOM_SHARED:
      return instruction.atomic_op() == isa::AtomicOp::cas || instruction.atomic_op() == isa::AtomicOp::exch;
    default:
      return false;
  }
}

}  // namespace

std::string livelock_advice(const isa::Kernel& kernel, std::uint32_t pc) {
  const auto loop = innermost_loop(kernel, pc);
  if (!loop) return {};
  for (std::uint32_t at = loop->first; at <= loop->last; ++at) {
    const auto instruction = isa::decode(kernel.words[at]);
    if (!instruction || !takes_a_lock(*instruction)) continue;
    return fmt::format(
        ". This is a spin lock (PC {}). Where the threads of a warp re-converge behind the loop, one that leaves it "
        "with "
        "the lock waits there for the others, which wait for the lock. Release it within the loop, and end the loop's "
        "body with __syncwarp(), so that no compiler moves the release out of it: while (!done) {{ if (atomicCAS(lock, "
        "0, 1) == 0) {{ ...; atomicExch(lock, 0); done = true; }} __syncwarp(); }}",
        at);
  }
  return {};
}

}  // namespace heddle::tb
