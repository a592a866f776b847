#include "tlm/atomic_lanes.hpp"

#include <cstring>

#include "isa/global_atomics.hpp"

namespace heddle::link {

void step_lanes(AtomicLanes& lanes, std::byte* bytes, std::uint8_t* touched) {
  const unsigned size = isa::size_of(lanes.type);
  for (unsigned i = 0; i != lanes.count; ++i) {
    std::byte* const word = bytes + lanes.offset[i];
    std::uint64_t old = 0;
    std::memcpy(&old, word, size);  // little-endian, as the host
    const std::uint64_t value = isa::global_atomic_step(lanes.op, lanes.type, old, lanes.b[i], lanes.c[i]);
    std::memcpy(word, &value, size);
    lanes.old[i] = old;
    if (touched != nullptr) {
      std::memset(touched + lanes.offset[i], 0xff, size);
    }
  }
}

}  // namespace heddle::link
