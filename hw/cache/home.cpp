#include "hw/cache/home.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/set_bits.hpp"

namespace heddle::hw {

using link::CoherenceMessage;
using link::Cycle;
using link::kNever;

namespace {

constexpr std::uint64_t core_bit(unsigned core) {
  return std::uint64_t{1} << core;
}

}  // namespace

Home::Home(const sc_core::sc_module_name& name, HomeTable table, link::Clock clock, HomeSlice& slice,
           const SliceMap& map, unsigned line_bytes)
    : sc_core::sc_module(name),
      probes("probes"),
      table_(std::move(table)),
      clock_(clock),
      slice_(slice),
      map_(map),
      line_bytes_(line_bytes),
      all_bytes_(line_bytes, 0xff) {
  probes.bind(*this);
}

bool Home::quiet() const {
  return busy_ == 0 && resumable_.empty() && messages_.empty() && !message_.under_way() && answers_.empty();
}

void Home::forget() {
  lines_.clear();
}

void Home::observe(HomeObserver* observer) {
  observer_ = observer;
  show();
}

std::string_view Home::state_of(std::uint64_t line) const {
  const auto found = lines_.find(line);
  return table_.info(found == lines_.end() ? kNoCopies : found->second.state).name;
}

// ----------------------------------------------------------------------------------------------------- requests

HomeEvent Home::event_of(const SliceRequest& request, const Line& line) const {
  switch (request.message) {
    case CoherenceMessage::share:
      return HomeEvent::share;
    case CoherenceMessage::own:
      return HomeEvent::own;
    case CoherenceMessage::put:
      return line.sharers == 0 && line.owner == request.core + 1U ? HomeEvent::put : HomeEvent::put_late;
    case CoherenceMessage::none:
    case CoherenceMessage::invalidate:
    case CoherenceMessage::give_share:
    case CoherenceMessage::give_up:
      break;
  }
  throw InternalError(std::string(name()) + ": a home got a message that is none of a cache's");
}

bool Home::take(SliceRequest& request) {
  Line& line = lines_[request.address];
  statistics_.busy_max = std::max<std::uint64_t>(statistics_.busy_max, lines_.size());
  if (line.first != nullptr || table_.at(line.state, event_of(request, line)).does(kHomeWait)) {
    ++statistics_.waited;
    wait_behind(line, request);
    return true;
  }
  const bool done = look(request.address, line, request);
  settle(request.address);
  return done;
}

void Home::wait_behind(Line& line, SliceRequest& request) {
  request.next = nullptr;
  (line.first == nullptr ? line.first : line.last->next) = &request;
  line.last = &request;
}

bool Home::resume(std::size_t index) {
  const std::uint64_t address = resumable_[index];
  Line& line = lines_.find(address)->second;
  SliceRequest& request = *line.first;
  if (!look(address, line, request)) {
    return false;
  }
  resumable_.erase(resumable_.begin() + static_cast<std::ptrdiff_t>(index));
  settle(address);
  return true;
}

// A request of a line that the home is not busy with; if it waited, it is the first that waits for the line.
bool Home::look(std::uint64_t address, Line& line, SliceRequest& request) {
  const HomeEvent event = event_of(request, line);
  const HomeTransition& transition = table_.at(line.state, event);
  HomeSlice::Read read = HomeSlice::Read::waits;
  SliceRequest* const after = request.next;
  if (transition.does(kShare | kRead)) {
    request.exclusive = transition.does(kRead);
    read = slice_.read(request);
    if (read == HomeSlice::Read::busy) {
      return false;
    }
    if (transition.does(kShare) && read != HomeSlice::Read::done) {
      throw InternalError(std::string(name()) + ": a line that caches share is not in the L2");
    }
  }
  if (line.first == &request) {
    line.first = after;
  }
  // What is asked of caches is asked for this request, which comes again.
  const bool leaves = !transition.does(kInvalidate | kAskOwner | kTakeFromOwner);
  if (leaves) {
    slice_.leave_queue();
    ++(event == HomeEvent::share ? statistics_.shares
       : event == HomeEvent::own ? statistics_.owns
       : event == HomeEvent::put ? statistics_.puts
                                 : statistics_.puts_late);
  }
  change(address, line, event, &request, nullptr);
  if (read == HomeSlice::Read::done && transition.does(kRead)) {
    change(address, line, HomeEvent::filled, &request, nullptr);
  }
  return true;
}

void Home::filled(SliceRequest& request) {
  Line& line = lines_.find(request.address)->second;
  change(request.address, line, request.failed ? HomeEvent::failed : HomeEvent::filled, &request, nullptr);
  settle(request.address);
}

// ------------------------------------------------------------------------------------------------------ the table

// `request`: null for a recall. `answer`: of an L1.
void Home::change(std::uint64_t address, Line& line, HomeEvent event, SliceRequest* request, const Payload* answer) {
  const HomeTransition& transition = table_.at(line.state, event);
  const bool was_busy = table_.info(line.state).busy;
  if (transition.does(kTake)) {
    if (answer == nullptr) {
      link::MemoryExtension* extension = nullptr;
      request->payload->get_extension(extension);
      if (extension->has_data) {
        slice_.take_bytes(address, request->store_data, request->byte_enable);
      }
    } else if (answer->extension.has_data) {
      ++statistics_.forwards_data;
      slice_.take_bytes(address, answer->data.data(), all_bytes_.data());
    }
  }
  const unsigned asking = request != nullptr ? request->core : ~0U;
  if (transition.does(kAskOwner | kTakeFromOwner)) {
    ++statistics_.forwards;
    send(address, line, line.owner - 1U,
         transition.does(kAskOwner) ? CoherenceMessage::give_share : CoherenceMessage::give_up);
  }
  unsigned told = 0;
  if (transition.does(kInvalidate)) {
    for (const unsigned core : set_bits(line.sharers)) {
      if (core != asking) {
        send(address, line, core, CoherenceMessage::invalidate);
        ++told;
      }
    }
    statistics_.invalidations += told;
  }
  if (transition.does(kForget)) {
    line.sharers = 0;
    line.owner = 0;
  }
  if (transition.does(kOwnerShares)) {
    line.sharers = core_bit(line.owner - 1U);
    line.owner = 0;
  }
  if (transition.does(kShare)) {
    line.sharers |= core_bit(asking);
  }
  if (transition.does(kOwner)) {
    line.owner = static_cast<std::uint16_t>(asking + 1U);
  }
  if (transition.does(kPutDone)) {
    slice_.answer_put(*request);
  }
  if (transition.does(kAgain)) {
    SliceRequest& again = *line.present;
    again.next = line.first;
    line.last = line.first == nullptr ? &again : line.last;
    line.first = &again;
  }
  line.state = transition.next;
  const bool is_busy = table_.info(line.state).busy;
  busy_ += is_busy ? 1 : 0;
  busy_ -= was_busy ? 1 : 0;
  line.present = is_busy ? (was_busy ? line.present : request) : nullptr;
  if (transition.does(kInvalidate) && told == 0) {
    change(address, line, HomeEvent::last_acked, line.present, nullptr);
  }
}

// After the last word of the home in this exchange on a line.
void Home::settle(std::uint64_t address) {
  const auto found = lines_.find(address);
  const Line& line = found->second;
  if (table_.info(line.state).busy) {
    return;
  }
  if (line.first != nullptr) {
    if (std::find(resumable_.begin(), resumable_.end(), address) == resumable_.end()) {
      resumable_.push_back(address);
    }
    slice_.run_at(clock_.now() + 1);
  } else if (line.state == kNoCopies) {
    lines_.erase(found);
  }
}

bool Home::may_leave(std::uint64_t address) {
  const auto found = lines_.find(address);
  if (found == lines_.end()) {
    return true;
  }
  Line& line = found->second;
  if (line.first != nullptr || table_.at(line.state, HomeEvent::recall).does(kHomeWait)) {
    return false;
  }
  ++statistics_.recalls;
  change(address, line, HomeEvent::recall, nullptr, nullptr);
  const bool free = line.state == kNoCopies;
  settle(address);
  return free;
}

// ---------------------------------------------------------------------------------------------------- messages

void Home::send(std::uint64_t address, Line& line, unsigned core, CoherenceMessage message) {
  Payload& payload = pool_.acquire(::tlm::TLM_READ_COMMAND, map_.global(address), line_bytes_);
  payload.extension = {};
  payload.extension.core = static_cast<std::uint16_t>(core);
  payload.extension.message = message;
  ++line.awaited;
  messages_.push(&payload);
  slice_.run_at(clock_.now() + 1);
}

::tlm::tlm_sync_enum Home::nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) {
  if (phase != ::tlm::BEGIN_RESP && phase != ::tlm::END_REQ) {
    SC_REPORT_ERROR("heddle/l2", "unexpected phase from an L1");
    return ::tlm::TLM_ACCEPTED;
  }
  const Cycle visible = clock_.visible_after(delay);
  const bool answer = phase == ::tlm::BEGIN_RESP;
  clock_.tell([this, &payload, visible, answer] {
    if (message_.under_way(payload)) {
      message_.end(visible);
    }
    if (answer) {
      answers_.push({visible, static_cast<Payload*>(&payload)});
    }
    slice_.run_at(visible);
  });
  return answer ? ::tlm::TLM_COMPLETED : ::tlm::TLM_ACCEPTED;
}

void Home::hear(Payload& payload) {
  clock_.touch(&payload, "a payload");
  const std::uint64_t address = map_.local(payload.get_address());
  Line& line = lines_.find(address)->second;
  --line.awaited;
  SliceRequest* const present = line.present;
  if (payload.extension.message != CoherenceMessage::invalidate) {
    change(address, line, payload.extension.keeps ? HomeEvent::kept : HomeEvent::gone, present, &payload);
  } else if (line.awaited == 0) {
    change(address, line, HomeEvent::last_acked, present, nullptr);
  }
  payload.release();
  settle(address);
}

Cycle Home::advance(Cycle now) {
  while (!answers_.empty() && answers_.front().visible <= now) {
    Payload& payload = *answers_.front().payload;
    answers_.pop();
    hear(payload);
  }
  if (!messages_.empty() && message_.can_begin(now)) {
    Payload& payload = *messages_.front();
    messages_.pop();
    clock_.touch(&payload, "a payload");
    message_.begin(payload, now);
    if (observer_ != nullptr) {
      observer_->told(payload.get_address(), payload.extension.core, payload.extension.message);
    }
    ::tlm::tlm_phase phase = ::tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (probes->nb_transport_fw(payload, phase, delay) == ::tlm::TLM_UPDATED && phase == ::tlm::END_REQ) {
      message_.end(clock_.visible_after(delay));
    }
  }
  Cycle next = answers_.empty() ? kNever : answers_.front().visible;
  if (!messages_.empty() && !message_.under_way()) {
    next = std::min(next, message_.next());
  }
  return next;
}

}  // namespace heddle::hw
