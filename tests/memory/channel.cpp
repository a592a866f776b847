#include "channel.hpp"

namespace heddle::hw::test {

using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;

namespace {

link::Clock clock_of(double period_ns) {
  return link::Clock(sc_core::sc_time(period_ns, sc_core::SC_NS));
}

}  // namespace

Channel::Channel(const DramParameters& parameters, unsigned line_bytes, double period_ns,
                 const sc_core::sc_module_name& name)
    : ClockedModule(name, clock_of(period_ns)),
      socket_("socket"),
      checker_("checker"),
      controller_("dram", parameters, line_bytes, clock_of(period_ns)),
      target_("memory", memory_, 1) {
  socket_.bind(*this);
  socket_.bind(checker_.target);
  checker_.initiator.bind(controller_.target);
  controller_.storage.bind(target_.channel[0]);
  controller_.observe(this);
}

void Channel::run(Cycle limit) {
  const Cycle end = clock().now() + limit;
  wake(clock().now() + 1);
  const auto finished = [this] { return next_ == script_.size() && under_way_.empty(); };
  do {
    sc_core::sc_start(clock().cycles(100));
  } while (!finished() && clock().now() < end);
  EXPECT_TRUE(finished()) << under_way_.size() << " requests not answered after " << limit << " cycles";
  EXPECT_EQ(checker_.violations(), 0U);
}

Cycle Channel::advance(Cycle now) {
  while (next_ != script_.size() && !in_request_ && next_send_ <= now) {
    DramAccess& access = script_[next_];
    if (access.at > now) {
      return access.at;
    }
    ++next_;
    link::LinePayload& payload =
        pool_.acquire(access.write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_READ_COMMAND, access.address, 4);
    payload.extension = link::MemoryExtension{};
    payload.extension.row_hint = access.hint;
    payload.extension.group = access.warp;
    payload.extension.core = static_cast<std::uint16_t>(access.core);
    payload.extension.posted = access.posted;
    under_way_[&payload] = &access;
    tlm_phase phase = ::tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    in_request_ = true;
    next_send_ = now;  // several requests may be sent in a cycle
    const tlm_sync_enum result = socket_->nb_transport_fw(payload, phase, delay);
    if (result == ::tlm::TLM_UPDATED && phase == ::tlm::END_REQ) {
      in_request_ = false;
    } else {
      EXPECT_EQ(result, ::tlm::TLM_ACCEPTED);
    }
  }
  return kNever;
}

void Channel::answered(::tlm::tlm_generic_payload& payload) {
  EXPECT_EQ(payload.get_response_status(), ::tlm::TLM_OK_RESPONSE);
  DramAccess& access = *under_way_.at(&payload);
  access.answered = clock().now();
  under_way_.erase(&payload);
  payload.release();
  if (on_answer) {
    on_answer(access);
    wake(clock().now());
  }
}

tlm_sync_enum Channel::nb_transport_bw(::tlm::tlm_generic_payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == ::tlm::END_REQ) {
    in_request_ = false;
    next_send_ = clock().visible_after(delay);
    wake(next_send_);
    return ::tlm::TLM_ACCEPTED;
  }
  answered(payload);
  return ::tlm::TLM_COMPLETED;
}

void Channel::access(const DramRequest& request, Cycle now) {
  DramAccess& access = *under_way_.at(request.payload);
  access.started = now;
  access.data = request.data;
  access.row_hit = request.row_hit;
  access.order = starts++;
}

void Channel::hold_over(unsigned bank, Cycle at, bool hit) {
  for (auto hold = holds.rbegin(); hold != holds.rend(); ++hold) {
    if (hold->bank == bank && hold->over == kNever) {
      hold->over = at;
      hold->hit = hit;
      return;
    }
  }
  ADD_FAILURE() << "a hold ends that never began";
}

}  // namespace heddle::hw::test
