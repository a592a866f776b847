// What the homes of an L1's lines want of it.
#include "hw/cache/l1_cache.hpp"

#include <cstring>

#include "base/error.hpp"

namespace heddle::hw {

using link::CoherenceMessage;
using link::Cycle;
using link::kNever;

namespace {

LineEvent event_of_message(CoherenceMessage message) {
  switch (message) {
    case CoherenceMessage::invalidate:
      return LineEvent::invalidate;
    case CoherenceMessage::give_share:
      return LineEvent::give_share;
    case CoherenceMessage::give_up:
      return LineEvent::give_up;
    case CoherenceMessage::none:
    case CoherenceMessage::share:
    case CoherenceMessage::own:
    case CoherenceMessage::put:
      break;
  }
  throw InternalError("a data cache got a message that is none of a home's");
}

link::MemoryExtension& message_of(::tlm::tlm_generic_payload& payload) {
  link::MemoryExtension* extension = nullptr;
  payload.get_extension(extension);
  if (extension == nullptr) {
    throw InternalError("a data cache got a message without a MemoryExtension");
  }
  return *extension;
}

}  // namespace

L1Cache::L1Cache(const sc_core::sc_module_name& name, const DataCacheParameters& parameters, link::Clock clock,
                 unsigned core, link::Waker& core_waker, const std::string& protocol)
    : Cache(name, parameters, coherence_table(protocol, CacheRole::l1, parameters, parameters.merge_reads), clock,
            core_waker, parameters.banks),
      probes("probes"),
      core_(core) {
  probes.bind(probe_target_);
}

CoherenceStatistics& L1Cache::coherence_statistics() {
  coherence_.upgrades = upgrades_;
  coherence_.puts = puts_;
  return coherence_;
}

// In the turn of the interconnect.
::tlm::tlm_sync_enum L1Cache::heard(Probe& payload, ::tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
  const Cycle visible = clock().visible_after(delay);
  if (phase == ::tlm::BEGIN_REQ) {
    clock().tell([this, &payload, visible] {
      messages_.push({visible, &payload});
      core_waker().wake(visible);
    });
    phase = ::tlm::END_REQ;
    return ::tlm::TLM_UPDATED;
  }
  if (phase != ::tlm::END_RESP) {
    SC_REPORT_ERROR("heddle/cache", "unexpected phase from a home");
    return ::tlm::TLM_ACCEPTED;
  }
  clock().tell([this, visible] {
    answer_.end(visible);
    if (!answers_.empty()) {
      core_waker().wake(visible);
    }
  });
  return ::tlm::TLM_COMPLETED;
}

bool L1Cache::obey(Probe& payload) {
  clock().touch(&payload, "a payload");
  link::MemoryExtension& message = message_of(payload);
  const LineEvent event = event_of_message(message.message);
  const Given given = give(payload.get_address(), event);
  if (given.waits) {
    return false;
  }
  message.keeps = given.keeps;
  message.has_data = given.line != nullptr;
  if (given.line != nullptr) {
    std::memcpy(payload.get_data_ptr(), given.line, line_bytes());
    ++coherence_.given_data;
  }
  ++(event != LineEvent::invalidate ? (given.keeps ? coherence_.shared : coherence_.given_up)
     : given.had                    ? coherence_.invalidated
                                    : coherence_.invalidated_late);
  payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  answers_.push(&payload);
  return true;
}

Cycle L1Cache::hear_home(Cycle now) {
  // At most one message of a line is under way, so that messages that wait need no order.
  for (std::size_t index = 0; index != stalled_.size();) {
    if (obey(*stalled_[index])) {
      stalled_.erase(stalled_.begin() + static_cast<std::ptrdiff_t>(index));
    } else {
      ++index;
    }
  }
  while (!messages_.empty() && messages_.front().visible <= now) {
    Probe& payload = *messages_.front().payload;
    messages_.pop();
    if (!obey(payload)) {
      ++coherence_.stalled;
      stalled_.push_back(&payload);
    }
  }
  if (!answers_.empty() && answer_.can_begin(now)) {
    Probe& payload = *answers_.front();
    answers_.pop();
    link::begin_response(probes, payload, answer_, clock());
  }
  Cycle next = messages_.empty() ? kNever : messages_.front().visible;
  if (!answers_.empty() && !answer_.under_way()) {
    next = std::min(next, answer_.next());
  }
  return next;  // a stalled message waits for a line, which wakes the core
}

}  // namespace heddle::hw
