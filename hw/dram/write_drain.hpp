// Reads before writes (dram.write_high > 0): writes wait until `high` of them wait or no read does, and are then served
// until `low` are left. Each change between reads and writes costs the bus a turnaround, so that few changes are
// better. Requests to one line keep their order: a read waits for an older write of its line, which then does not wait
// for the watermark, and a write waits for an older read.
#pragma once

#include <cstddef>

#include "hw/dram/request_queue.hpp"
#include "hw/machine.hpp"

namespace heddle::hw {

class WriteDrain {
 public:
  explicit WriteDrain(const DramParameters& parameters) : high_(parameters.write_high), low_(parameters.write_low) {}

  [[nodiscard]] bool enabled() const { return high_ != 0; }
  // An older request to its line waits.
  [[nodiscard]] static bool waits_for_line(const DramRequest& request) {
    return request.after != nullptr && request.after->serial == request.after_serial && request.after->waiting;
  }
  // Whether it is its direction's turn.
  [[nodiscard]] bool turn_of(const DramRequest& request) const { return request.write == draining_ || request.urgent; }

  // A request joins the queue, and leaves it.
  void admitted(DramRequest& request, const RequestQueue& waiting);
  void left(const DramRequest& request);
  // Nothing of the present direction can start: lets the other one.
  void turn() { draining_ = !draining_; }

 private:
  void update();
  const std::size_t high_;
  const std::size_t low_;
  std::size_t reads_ = 0;
  std::size_t writes_ = 0;
  bool draining_ = false;
};

}  // namespace heddle::hw
