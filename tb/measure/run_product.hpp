// What is made of a run besides its statistics: a page about it, a picture of its memory channels. Layers that
// measure know only this interface; what it is and how it looks is decided above.
#pragma once

#include "base/statistics.hpp"
#include "tb/device/run_observer.hpp"

namespace heddle::tb {

struct RunRecord;

class RunProduct {
 public:
  virtual ~RunProduct() = default;
  // Asked before the run begins. Throws InputError when it is certain that the product cannot be written.
  virtual void check() const = 0;
  // What watches the run for it; lives as long as the product. Null: nothing.
  [[nodiscard]] virtual RunObserver* observer() { return nullptr; }
  // The run has ended, in whatever way the record says; `modules` are the counters of its modules. Writes the product,
  // whole or not at all. Throws InputError.
  virtual void make(const RunRecord& record, const StatisticsRegistry& modules) = 0;
};

}  // namespace heddle::tb
