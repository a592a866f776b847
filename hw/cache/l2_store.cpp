#include "hw/cache/l2_store.hpp"

#include "tlm/memory_extension.hpp"

namespace heddle::hw {

L2Store::L2Store(const sc_core::sc_module_name& name, const CacheParameters& parameters, link::Clock clock,
                 const SliceMap& map, bool inclusive, link::Waker& waker)
    : Cache(name, parameters, coherence_table(CacheRole::l2, parameters), clock, waker), map_(map) {
  if (inclusive) {
    holders_.assign(lines().frames(), 0);
  }
}

void L2Store::describe(const LineRequest& request, link::MemoryExtension& extension) const {
  if (request.origin == nullptr) {
    describe_core(request, 0, false, extension);
    return;
  }
  extension = *request.origin;
  extension.row_hint = request.row_hint;
  extension.route = 0;
  extension.atomic = nullptr;
}

void L2Store::note_sharer(Frame frame, const LineRequest& request) {
  if (holders_.empty()) {
    return;
  }
  const std::uint64_t core = std::uint64_t{1} << (request.core & 63U);
  if (frame != LineFrames::kNone) {
    holders_[frame] |= core;
  } else {
    line_given_up(beyond(request.address), core);
  }
}

void L2Store::recall_sharers(Frame frame) {
  if (!holders_.empty() && holders_[frame] != 0) {
    line_given_up(beyond(lines().address(frame)), holders_[frame]);
    holders_[frame] = 0;
  }
}

}  // namespace heddle::hw
