// What the system keeps about a process besides its memory and files, and a process with another one's memory must tell
// it again: what signals do, and where the C library keeps the data that it shares with the system.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::checkpoint {

// All signals are blocked between construction and release().
class ProcessState {
 public:
  // Blocks all signals and looks at all there is.
  ProcessState();
  // In a process that has the memory with this object, at first: all is as it was found, but that signals are still
  // blocked, and that a hang-up which this process is to ignore stays ignored. Allocates nothing.
  void apply() const;
  // Signals are blocked or not as they were.
  void release() const;
  [[nodiscard]] std::uint64_t thread() const { return found_.thread; }  // Registers::thread

 private:
  struct SignalAction {  // as the system has it
    std::uint64_t handler;
    std::uint64_t flags;
    std::uint64_t restorer;
    std::uint64_t mask;
  };
  static constexpr int kSignals = 64;
  struct Found {
    std::uint64_t blocked = 0;  // signals
    std::array<SignalAction, kSignals + 1> actions{};
    std::array<std::uint64_t, 3> signal_stack{};
    std::uint64_t thread = 0;
    std::uint64_t thread_number = 0;  // address of the number that the C library has the thread by; 0: not known
    std::uint64_t robust_list = 0;
    std::size_t robust_list_bytes = 0;
  } found_;
};

// Ends this process's own restartable sequences (man 2 rseq): the system would go on writing where the C library wanted
// it to. False: it cannot be ended.
[[nodiscard]] bool leave_restartable_sequences();

}  // namespace heddle::checkpoint
