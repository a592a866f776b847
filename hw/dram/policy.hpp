// The two questions that a DRAM controller asks: which waiting request is served next, and what happens to a row after
// an access. Plain C++ (no SystemC); an answer is one file that registers itself (base/registry.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/registry.hpp"
#include "hw/dram/bank_timing.hpp"
#include "hw/dram/request_queue.hpp"
#include "hw/machine.hpp"

namespace heddle::hw {

// Which request starts next, and when it can start at the earliest: the controller sleeps until then, and asks again
// when a request arrives meanwhile.
struct DramChoice {
  DramRequest* request = nullptr;  // none: nothing can be chosen before another request arrives
  Cycle start = kNever;            // not before the cycle in which the controller asked
};

class DramScheduler {
 public:
  struct Setup {
    const DramParameters& parameters;
  };
  virtual ~DramScheduler() = default;
  // Requests to one address must start in the order of their arrival.
  [[nodiscard]] virtual DramChoice choose(Cycle now, const RequestQueue& waiting, const BankTiming& banks) = 0;
  // A chosen request was started.
  virtual void started(const DramRequest& /*request*/, Cycle /*now*/) {}
};

class DramRowPolicy {
 public:
  struct Setup {
    const DramParameters& parameters;
  };
  virtual ~DramRowPolicy() = default;
  // Whether the row is closed after this access, which has just started; `waiting` are the requests left.
  [[nodiscard]] virtual bool close_after(const DramRequest& request, const RequestQueue& waiting) = 0;
};

}  // namespace heddle::hw
