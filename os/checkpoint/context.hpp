// The two places where C++ does not reach: a call that can return a second time, in another process, and the steps that
// replace a process's memory by another one's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::checkpoint {

// What the processor needs to go on where call_resumable() was called; the rest lies on the stack.
struct Registers {
  std::uint64_t stack = 0;
  std::uint64_t code = 0;
  std::uint64_t thread = 0;  // base of FS: the thread's own data
};

// Fills `registers` but for `thread`, calls work(argument) and returns nullptr. In a process with the same memory, as
// it was at any time during that call, continue_at() lets the same call return `what`. `work` must not throw.
[[nodiscard]] void* call_resumable(void (*work)(void*), void* argument, Registers* registers);

// One call of the system.
struct Step {
  static constexpr std::uint64_t kLast = ~std::uint64_t{0};
  std::uint64_t number = kLast;
  std::uint64_t arguments[6] = {};
};

// Code that lies anywhere: does the steps at `steps` in order, without stack or data, until one whose number is kLast,
// whose arguments are stack, code and what call_resumable() returns there. If one fails, the text at `message` goes to
// standard error and the process ends as by an internal error.
using Restorer = void (*)(const Step* steps, const char* message, std::uint64_t message_bytes);
struct RestorerCode {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};
[[nodiscard]] RestorerCode restorer_code();

}  // namespace heddle::checkpoint
