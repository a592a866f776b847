// Watching a cache or a slice of the L2, for waves and checks: nothing of it changes what they do. Cache::observe and
// L2Slice::observe attach one; every default is empty.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlm/memory_extension.hpp"

namespace heddle::hw {

struct CacheStatistics;

class CacheObserver {
 public:
  virtual ~CacheObserver() = default;
  // It is attached; the cache's counters so far.
  virtual void attached(const CacheStatistics& /*statistics*/) {}
  // A request was accepted for the line at this address, as memory counts addresses. `changed` follows.
  virtual void request(std::uint64_t /*line*/) {}
  // Something may have changed: the counters, and what is in use now - MSHRs, writes that memory has not acknowledged,
  // requests that wait for the way to memory.
  virtual void changed(const CacheStatistics& /*statistics*/, unsigned /*mshrs*/, unsigned /*writes*/,
                       std::size_t /*queue*/) {}
  // True: the request that was refused in this cycle is refused again in every cycle from the next one on, without a
  // `changed` for it. False: it is so no longer, from this cycle on.
  virtual void refuses_on(bool /*on*/) {}
  // So many of these refusals have just been added to the counters; the next `changed` must not take them for those of
  // one cycle.
  virtual void refused_on(std::uint64_t /*cycles*/) {}
};

// A slice's queues; its store has an observer of its own.
class L2Observer {
 public:
  virtual ~L2Observer() = default;
  // Requests that wait at the banks and answers that wait to leave; `full`: a request has found the queue full and
  // waits for END_REQ.
  virtual void changed(std::size_t /*waiting*/, std::size_t /*answers*/, bool /*full*/) {}
};

// The home of a slice's lines (hw/cache/home.hpp).
class HomeObserver {
 public:
  virtual ~HomeObserver() = default;
  // Lines that the home is busy with, lines that caches have or want, messages that wait to leave.
  virtual void changed(unsigned /*busy*/, std::size_t /*lines*/, std::size_t /*messages*/) {}
  // A message leaves for a core's L1.
  virtual void told(std::uint64_t /*line*/, unsigned /*core*/, link::CoherenceMessage /*message*/) {}
};

}  // namespace heddle::hw
