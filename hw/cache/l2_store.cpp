#include "hw/cache/l2_store.hpp"

#include <utility>

#include "base/set_bits.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle::hw {

namespace {

constexpr unsigned kWordBits = 64;

}  // namespace

L2Store::L2Store(const sc_core::sc_module_name& name, const CacheParameters& parameters, link::Clock clock,
                 const SliceMap& map, unsigned sharers, link::Waker& waker, const std::string& protocol)
    : Cache(name, parameters, coherence_table(protocol, CacheRole::l2, parameters), clock, waker),
      map_(map),
      sharers_(sharers),
      words_((sharers + kWordBits - 1) / kWordBits),
      holders_(std::size_t{lines().frames()} * words_, 0) {}

void L2Store::describe(const LineRequest& request, link::MemoryExtension& extension) const {
  if (request.origin == nullptr) {
    describe_core(request, 0, false, extension);
    return;
  }
  extension = *request.origin;
  extension.row_hint = request.row_hint;
  extension.posted = extension.posted || request.kind == LineRequest::Kind::store;
  extension.route = 0;
  extension.message = link::CoherenceMessage::none;
  extension.exclusive = extension.has_data = extension.keeps = false;
  extension.atomic = nullptr;
}

void L2Store::note_sharer(Frame frame, const LineRequest& request) {
  const unsigned core = request.core;
  if (core >= sharers_) {
    return;  // no directory, or an initiator that is no core
  }
  if (frame != LineFrames::kNone) {
    holders_[std::size_t{frame} * words_ + core / kWordBits] |= std::uint64_t{1} << (core % kWordBits);
  } else {
    line_given_up(beyond(request.address), core);
  }
}

void L2Store::recall_sharers(Frame frame) {
  for (unsigned word = 0; word < words_; ++word) {
    std::uint64_t holders = std::exchange(holders_[std::size_t{frame} * words_ + word], 0);
    for (const unsigned bit : set_bits(holders)) {
      line_given_up(beyond(lines().address(frame)), word * kWordBits + bit);
    }
  }
}

}  // namespace heddle::hw
