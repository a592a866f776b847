// Reads before writes (dram.write_high > 0): writes wait until `high` of them wait or no read does, and are then served
// until `low` are left. Each change between reads and writes costs the bus a turnaround, so that few changes are
// better. Requests to one line keep their order, each waiting for the one before it: were it for the nearest write
// alone that a read waits, that write would pass older ones. The writes that a read waits for do not wait for the
// watermark.
//
// With commands (JEDEC timing) a request takes several steps, and the turn may change between them. One whose row has
// been opened for it, or of which part has been transferred, is committed: it is served in either direction's turn,
// counts for no watermark any more, and no other request closes its row before. Otherwise that activation would be lost
// and done again. (Ramulator 2's generic controller moves such requests out of its read and write buffers likewise.)
#pragma once

#include <cstddef>
#include <vector>

#include "hw/dram/request_queue.hpp"
#include "hw/dram/timing.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::hw {

class WriteDrain {
 public:
  explicit WriteDrain(const DramParameters& parameters)
      : high_(parameters.write_high), low_(parameters.write_low), opened_for_(parameters.banks) {}

  [[nodiscard]] bool enabled() const { return high_ != 0; }
  // An older request to its line waits.
  [[nodiscard]] static bool waits_for_line(const DramRequest& request) {
    return request.after != nullptr && request.after->serial == request.after_serial && request.after->waiting;
  }
  [[nodiscard]] bool turn_of_writes() const { return draining_; }
  // Whether it is its direction's turn.
  [[nodiscard]] bool turn_of(const DramRequest& request) const {
    return request.write == draining_ || request.urgent || request.committed;
  }
  // Whether its next step would close a row that another request has been committed to.
  [[nodiscard]] bool closes_committed(const DramRequest& request, const DramTiming& timing) const {
    const DramRequest* const other = opened_for_[request.location.bank];
    return other != nullptr && timing.row_hit(*other) && !timing.row_hit(request);
  }

  // A request joins the queue, takes a step that is not its last and is no precharge, and leaves the queue.
  void admitted(DramRequest& request, const RequestQueue& waiting);
  void commit(DramRequest& request);
  void left(const DramRequest& request);
  // Nothing of the present direction can start: lets the other direction.
  void turn() { draining_ = !draining_; }

 private:
  void update();
  const std::size_t high_;
  const std::size_t low_;
  std::size_t reads_ = 0;  // that wait and are not committed
  std::size_t writes_ = 0;
  std::vector<const DramRequest*> opened_for_;  // per bank: the waiting request that was committed last; or null
  bool draining_ = false;
};

}  // namespace heddle::hw
