#include "isa/trap.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::isa {
namespace {

std::string describe_pointer(const TrapCause& trap, const std::function<std::optional<std::uint32_t>(unsigned)>& read) {
  std::uint64_t value = 0;
  bool known = trap.pointer_words != 0;
  for (unsigned word = 0; word < trap.pointer_words && known; ++word) {
    const std::optional<std::uint32_t> part = read(trap.pointer + word);
    known = part.has_value();
    value |= std::uint64_t{part.value_or(0)} << (32 * word);
  }
  std::string text = "a call through a pointer to no function that it could call";
  if (known) {
    text += value == 0 ? ": the pointer is null" : fmt::format(": the pointer is {:#x}", value);
  }
  return text;
}

}  // namespace

std::string describe_trap(const Kernel& kernel, std::uint32_t pc,
                          const std::function<std::optional<std::uint32_t>(unsigned)>& read) {
  const auto trap =
      std::find_if(kernel.traps.begin(), kernel.traps.end(), [pc](const TrapCause& one) { return one.pc == pc; });
  if (trap == kernel.traps.end()) {
    return "the program executed trap";
  }
  switch (trap->kind) {
    case TrapCause::Kind::stack:
      return fmt::format(
          "a call finds no room on the thread's stack of {} bytes: {}", kernel.stack_bytes,
          kernel.stack_bytes < kMostStackBytes
              ? fmt::format("cudaDeviceSetLimit(cudaLimitStackSize, BYTES) makes it larger, up to {} bytes",
                            kMostStackBytes)
              : "it is as large as can be");
    case TrapCause::Kind::pointer:
      return describe_pointer(*trap, read);
    case TrapCause::Kind::surface:
      break;
  }
  return "an access lies outside its surface";
}

}  // namespace heddle::isa
