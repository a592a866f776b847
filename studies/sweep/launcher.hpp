// Where the runs of a sweep are done.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "studies/sweep/order.hpp"
#include "studies/sweep/plan.hpp"

namespace heddle::studies::sweep {

class Launcher {
 public:
  struct Job {
    const Exploration& exploration;
    const Plan& plan;
    std::vector<std::size_t> entries;  // of the plan, to do; each key once
    // A run ended. Not called for one that an interrupt ended.
    std::function<void(std::size_t entry, const Point& point, const RunReport& report)> ended;
    // Something changed, or some time passed: how many run now.
    std::function<void(std::size_t running)> changed;
    const std::atomic<int>* stop = nullptr;  // a signal's number ends the sweep in an orderly way
  };
  virtual ~Launcher() = default;
  // Returns when all runs have ended or the sweep was stopped.
  virtual void launch(const Job& job) = 0;
};

// Processes on this machine.
[[nodiscard]] std::unique_ptr<Launcher> local_launcher(unsigned jobs);

}  // namespace heddle::studies::sweep
