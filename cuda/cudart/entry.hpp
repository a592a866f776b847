// A call of the API on its way through the library: it has the runtime's lock, its thread cannot be cancelled, and
// what must not be a call is told. Of runtime.hpp, which includes it.
#pragma once

#include <pthread.h>

#include "cuda/cudart/runtime.hpp"

namespace heddle::cudart {

class Entry {
 public:
  explicit Entry(Runtime& runtime);  // throws Failure
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  // The program's own call, within no other of the library.
  [[nodiscard]] bool outermost() const { return runtime_.depth_ == 1; }

 private:
  static constexpr std::uint64_t kWhole = 0x77656674'77617270;
  void enter();
  [[nodiscard]] bool is_within_another() const;
  Runtime& runtime_;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
  volatile std::uint64_t whole_ = kWhole;  // while this object lives
};

// Without the lock, between two parts of a call: what the program does here may wait for other threads, whose calls
// are served meanwhile.
class Unlocked {
 public:
  explicit Unlocked(Runtime& runtime);
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  friend class Entry;
  Runtime& runtime_;
  unsigned depth_;
  const Entry* outermost_;
};

// The program calls this function of the run-time API, which initialises the driver API, and which makes the primary
// context the thread's where that has none (cuda/cudart/driver.cpp).
void note_runtime_call(const char* function);

// Runs the body of an API function: locked, errors remembered.
template <class Body>
cudaError_t guarded(const char* function, Body&& body) {
  Runtime& runtime = Runtime::instance();
  try {
    const Entry entry(runtime);
    if (entry.outermost()) note_runtime_call(function);
    require_permitted(function);
    body(runtime);
    return cudaSuccess;
  } catch (const Failure& failure) {
    return report(failure, function);
  }
}

}  // namespace heddle::cudart
