// A pointer to what watches a module - an observer, waves, a recorded trace - and null as long as nothing does.
// Modules ask it at points that they pass anyway:
//
//   if (observer_ != nullptr) {
//     observer_->retired(...);
//   }
//
// The compiler is told to expect null, so that what follows lies out of the way of the model's own code. A build
// with HEDDLE_INSTRUMENTS=OFF has none of it and refuses to watch a run: it is there to measure what being able to look
// costs (docs/performance.md).
#pragma once

#include <cstddef>

#include "base/error.hpp"

#ifndef HEDDLE_INSTRUMENTS
#define HEDDLE_INSTRUMENTS 1
#endif

namespace heddle {

inline constexpr bool kInstruments = HEDDLE_INSTRUMENTS != 0;

template <typename T>
class Instrument {
 public:
  constexpr Instrument() = default;
  // Throws InputError in a build without instruments, unless null.
  Instrument(T* looker) : looker_(looker) {  // NOLINT(google-explicit-constructor): stands for the pointer
    if (!kInstruments && looker != nullptr) {
      throw InputError({}, "this build cannot watch, record or replay a run", "build with HEDDLE_INSTRUMENTS=ON");
    }
  }

  [[nodiscard]] T* operator->() const { return looker_; }
  [[nodiscard]] T& operator*() const { return *looker_; }
  // Also gives !=.
  [[nodiscard]] friend bool operator==(const Instrument& instrument, std::nullptr_t) {
    return !kInstruments || __builtin_expect(static_cast<long>(instrument.looker_ == nullptr), 1L) != 0;
  }

 private:
  T* looker_ = nullptr;
};

}  // namespace heddle
