#include "cuda/cudart/entry.hpp"

#include <csignal>
#include <utility>

namespace heddle::cudart {
namespace {

bool on_alternate_stack() {
  stack_t stack{};
  return ::sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

}  // namespace

Entry::Entry(Runtime& runtime) : runtime_(runtime) {
  if (runtime.is_copy()) {  // its lock is as some thread has left it
    static bool told = false;
    throw Failure{cudaErrorInitializationError,
                  std::exchange(told, true)
                      ? ""
                      : "this process was made by fork() after the program's first CUDA call, and has no device"};
  }
  ::pthread_testcancel();  // a thread that does nothing but call can be cancelled between its calls
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
  runtime.lock.lock();
  try {
    enter();
  } catch (...) {
    runtime.lock.unlock();
    ::pthread_setcancelstate(cancel_state_, nullptr);
    throw;
  }
}

Entry::~Entry() {
  whole_ = 0;
  if (--runtime_.depth_ == 0) runtime_.outermost_ = nullptr;
  runtime_.lock.unlock();
  ::pthread_setcancelstate(cancel_state_, nullptr);
}

// Who has the lock more than once is in a call of the library's own, or in a signal handler in the middle of one; or a
// signal handler has left that call by longjmp(), and the lock is still held for it.
void Entry::enter() {
  if (runtime_.depth_ != 0) {
    const bool within = is_within_another();
    require(!within || !runtime_.exchanging_, cudaErrorNotPermitted,
            "a signal handler makes this call while a CUDA call of its thread waits for the simulator");
    for (; !within && runtime_.depth_ != 0; --runtime_.depth_) runtime_.lock.unlock();
  }
  if (runtime_.depth_++ == 0) runtime_.outermost_ = this;
}

// Frames of calls lie below their callers' frames; what was left by longjmp() does not, or is written over by now.
bool Entry::is_within_another() const {
  const Entry* const outer = runtime_.outermost_;
  return outer != nullptr && (this < outer || on_alternate_stack()) && outer->whole_ == kWhole;
}

Unlocked::Unlocked(Runtime& runtime)
    : runtime_(runtime),
      depth_(std::exchange(runtime.depth_, 0)),
      outermost_(std::exchange(runtime.outermost_, nullptr)) {
  for (unsigned i = 0; i < depth_; ++i) runtime_.lock.unlock();
}

Unlocked::~Unlocked() {
  for (unsigned i = 0; i < depth_; ++i) runtime_.lock.lock();
  runtime_.depth_ = depth_;
  runtime_.outermost_ = outermost_;
}

}  // namespace heddle::cudart
