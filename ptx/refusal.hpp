// What cannot be compiled, and what ends compiling.
#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

#include "base/error.hpp"

namespace heddle::ptx {

// A kernel that cannot be compiled, which is the affair of who launches it.
struct RefusedKernel {
  std::string name;
  InputError reason;
};

// Good PTX that this machine or this compiler does not have.
class NotSupported : public InputError {
 public:
  using InputError::InputError;
};

// Thrown where compiling was asked to end.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted while kernels were compiled") {}
};

// Whether compiling is to go on; long work asks now and then.
class Interruption {
 public:
  explicit Interruption(const std::atomic<bool>* flag = nullptr) : flag_(flag) {}  // null: it is
  // Throws Interrupted.
  void check() const {
    if (flag_ != nullptr && flag_->load(std::memory_order_relaxed)) throw Interrupted();
  }

 private:
  const std::atomic<bool>* flag_;
};

}  // namespace heddle::ptx
