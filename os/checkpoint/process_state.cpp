#include "os/checkpoint/process_state.hpp"

#include "os/checkpoint/supported.hpp"

#if HEDDLE_CHECKPOINT

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define HEDDLE_CHECKPOINT_RSEQ 1
#else
#define HEDDLE_CHECKPOINT_RSEQ 0
#endif

namespace heddle::checkpoint {

namespace {

constexpr std::uint64_t kAllSignals = ~std::uint64_t{0};
constexpr std::size_t kMaskBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kIgnored = 1;  // SIG_IGN

// The C library's record of the thread begins where FS points; its number lies some way behind, which its versions have
// changed now and then. Looked for where it has been.
constexpr std::uint64_t kNumberFrom = 0x2c0;
constexpr std::uint64_t kNumberTo = 0x340;

std::uint64_t find_thread_number(std::uint64_t thread) {
  const auto number = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  for (std::uint64_t at = thread + kNumberFrom; at != thread + kNumberTo; at += sizeof number) {
    std::uint32_t found = 0;
    std::memcpy(&found, reinterpret_cast<const void*>(at), sizeof found);
    if (found == number) {
      return at;
    }
  }
  return 0;
}

#if HEDDLE_CHECKPOINT_RSEQ
struct rseq* sequences() {
  return reinterpret_cast<struct rseq*>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset);
}
// What the C library has registered: 32 bytes, the first form of the structure, or all that the system knows.
long sequences_call(int flags) {
  constexpr unsigned kFirstForm = 32;
  constexpr unsigned long kFeatureBytes = 27;  // AT_RSEQ_FEATURE_SIZE
  const unsigned known = (static_cast<unsigned>(::getauxval(kFeatureBytes)) + kFirstForm - 1) / kFirstForm * kFirstForm;
  long result = ::syscall(SYS_rseq, sequences(), kFirstForm, flags, RSEQ_SIG);
  if (result != 0 && known > kFirstForm) {
    result = ::syscall(SYS_rseq, sequences(), known, flags, RSEQ_SIG);
  }
  return result;
}
#endif

}  // namespace

bool leave_restartable_sequences() {
#if HEDDLE_CHECKPOINT_RSEQ
  return __rseq_size == 0 || sequences_call(RSEQ_FLAG_UNREGISTER) == 0;
#else
  return true;
#endif
}

ProcessState::ProcessState() {
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &kAllSignals, &found_.blocked, kMaskBytes);
  for (int signal = 1; signal <= kSignals; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, nullptr, &found_.actions[static_cast<std::size_t>(signal)], kMaskBytes);
  }
  ::syscall(SYS_arch_prctl, ARCH_GET_FS, &found_.thread);
  ::syscall(SYS_get_robust_list, 0, &found_.robust_list, &found_.robust_list_bytes);
  static_assert(sizeof found_.signal_stack == sizeof(stack_t));
  ::syscall(SYS_sigaltstack, nullptr, found_.signal_stack.data());
  found_.thread_number = find_thread_number(found_.thread);
}

void ProcessState::apply() const {
#if HEDDLE_CHECKPOINT_RSEQ
  if (__rseq_size != 0) {
    sequences()->cpu_id_start = 0;
    sequences()->cpu_id = static_cast<std::uint32_t>(RSEQ_CPU_ID_UNINITIALIZED);
    sequences()->rseq_cs = {};
    static_cast<void>(sequences_call(0));  // without it sched_getcpu() asks the system
  }
#endif
  if (found_.robust_list != 0) {
    ::syscall(SYS_set_robust_list, found_.robust_list, found_.robust_list_bytes);
  }
  // The system clears the number when the thread ends.
  const auto number = static_cast<std::uint32_t>(::syscall(SYS_set_tid_address, found_.thread_number));
  if (found_.thread_number != 0) {
    std::memcpy(reinterpret_cast<void*>(found_.thread_number), &number, sizeof number);
  }
  SignalAction hang_up{};
  ::syscall(SYS_rt_sigaction, SIGHUP, nullptr, &hang_up, kMaskBytes);
  for (int signal = 1; signal <= kSignals; ++signal) {
    const bool stays = signal == SIGKILL || signal == SIGSTOP || (signal == SIGHUP && hang_up.handler == kIgnored);
    if (!stays) {
      ::syscall(SYS_rt_sigaction, signal, &found_.actions[static_cast<std::size_t>(signal)], nullptr, kMaskBytes);
    }
  }
  ::syscall(SYS_sigaltstack, found_.signal_stack.data(), nullptr);
  // The system's idea of where the heap ends is another one, and the C library must not go by its own: told where it is
  // and that it cannot grow there, it allocates elsewhere.
  ::brk(nullptr);
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t end = (reinterpret_cast<std::uint64_t>(::sbrk(0)) + page - 1) / page * page;
  // Where something lies there already, it is as good.
  static_cast<void>(
      ::mmap(reinterpret_cast<void*>(end), page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
}

void ProcessState::release() const {
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &found_.blocked, nullptr, kMaskBytes);
}

}  // namespace heddle::checkpoint

#else

namespace heddle::checkpoint {

bool leave_restartable_sequences() {
  return true;
}
ProcessState::ProcessState() = default;
void ProcessState::apply() const {}
void ProcessState::release() const {}

}  // namespace heddle::checkpoint

#endif
