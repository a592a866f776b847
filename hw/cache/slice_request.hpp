// A request inside a slice of the L2.
#pragma once

#include <cstdint>
#include <tlm>

#include "hw/cache/miss_file.hpp"
#include "tlm/cycle.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle::hw {

// As the slice's store wants it.
struct SliceRequest : link::LineRequest {
  ::tlm::tlm_generic_payload* payload = nullptr;
  std::uint32_t offset = 0;  // in the line
  link::Cycle arrival = 0;
  StoreBuffer buffer;  // of a write that is not a whole line with byte enables of its length
  // Of a request to a home (hw/cache/home.hpp).
  link::CoherenceMessage message = link::CoherenceMessage::none;
  bool exclusive = false;        // it is answered so
  bool reading = false;          // the home waits for its line
  SliceRequest* next = nullptr;  // that waits for the same line
};

}  // namespace heddle::hw
