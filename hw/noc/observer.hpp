// Watching the interconnect, for waves and checks: nothing of it changes what it does. Interconnect::observe attaches
// one; every default is empty. Ports: core n's data cache is n, its instruction cache n + number of cores, its
// texture cache n + twice that, its constant cache n + three times that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::hw {

class NocObserver {
 public:
  virtual ~NocObserver() = default;
  // Requests of a port, or responses of a channel, that wait or are on their way from now on.
  virtual void request_queue(unsigned /*port*/, std::size_t /*waiting*/) {}
  virtual void response_queue(unsigned /*channel*/, std::size_t /*waiting*/) {}
  // A request is handed to its channel in this cycle; a response to its port.
  virtual void request(unsigned /*channel*/, unsigned /*port*/, std::uint64_t /*address*/, bool /*write*/) {}
  virtual void response(unsigned /*port*/, unsigned /*channel*/) {}
};

}  // namespace heddle::hw
