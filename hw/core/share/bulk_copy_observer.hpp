// What happens in a core's unit for copies in bulk, for whoever watches it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hw/core/share/bulk_copy_statistics.hpp"

namespace heddle::hw {

class BulkCopyObserver {
 public:
  virtual ~BulkCopyObserver() = default;
  // It is attached; the counters so far.
  virtual void attached(const BulkCopyStatistics& /*statistics*/) {}
  // A line of this address is on its way. `changed` follows.
  virtual void asked(std::uint64_t /*line*/) {}
  // Something may have changed: the counters, copies whose lines have not all been asked for, and all that have not
  // ended.
  virtual void changed(const BulkCopyStatistics& /*statistics*/, std::size_t /*waiting*/, std::size_t /*copies*/) {}
};

}  // namespace heddle::hw
