// Long: one class: both ways through the crossbar go by the same queues and ports.
#include "hw/noc/interconnect.hpp"

#include <algorithm>

#include "base/set_bits.hpp"
#include "tlm/byte_enables.hpp"

namespace heddle::hw {

using link::Cycle;
using link::kNever;
using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;

namespace {

constexpr unsigned kNone = ~0U;
constexpr link::PortReports kFromCaches{"heddle/interconnect", "unexpected phase from a cache"};

// How far `index` comes after the place where a round of `count` starts.
unsigned turn(unsigned index, unsigned start, unsigned count) {
  return index >= start ? index - start : index + count - start;
}

// Bytes of whole sectors with a byte that is enabled.
std::uint64_t sector_bytes_of(const ::tlm::tlm_generic_payload& payload, unsigned sector_bytes) {
  std::uint64_t sectors = 0;
  link::each_enabled_block(payload, payload.get_address() % sector_bytes, sector_bytes,
                           [&sectors](std::uint64_t) { ++sectors; });
  return sectors * sector_bytes;
}

// Bytes of data that a payload carries: the enabled ones, or the sectors with any. sector_bytes 0: they count each.
std::uint64_t data_bytes(const ::tlm::tlm_generic_payload& payload, unsigned sector_bytes) {
  if (sector_bytes != 0 && payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() != 0) {
    return sector_bytes_of(payload, sector_bytes);
  }
  if (payload.get_byte_enable_ptr() == nullptr || payload.get_byte_enable_length() == 0) {
    return payload.get_data_length();
  }
  if (payload.get_byte_enable_length() >= payload.get_data_length()) {
    const unsigned char* const enabled = payload.get_byte_enable_ptr();
    return static_cast<std::uint64_t>(
        std::count(enabled, enabled + payload.get_data_length(), static_cast<unsigned char>(TLM_BYTE_ENABLED)));
  }
  std::uint64_t bytes = 0;
  for (unsigned at = 0; at != payload.get_data_length(); ++at) {
    bytes += payload.get_byte_enable_ptr()[at % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED ? 1 : 0;
  }
  return bytes;
}

}  // namespace

// Every socket has its own interface object: it tells by which port a call came.
class Interconnect::CachePort final : public ::tlm::tlm_fw_transport_if<> {
 public:
  CachePort(Interconnect& noc, unsigned index) : noc_(noc), index_(index) {}
  tlm_sync_enum nb_transport_fw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) override {
    return noc_.forward(index_, payload, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override {
    delay += noc_.clock().cycles(noc_.edges_.cycle_of(noc_.request_latency_ + noc_.response_latency_));
    noc_.channel[noc_.destination_of(payload)]->b_transport(payload, delay);
  }
  bool get_direct_mem_ptr(Payload& /*payload*/, ::tlm::tlm_dmi& dmi) override { return link::deny_direct_memory(dmi); }
  unsigned transport_dbg(Payload& payload) override {
    return noc_.channel[noc_.destination_of(payload)]->transport_dbg(payload);
  }

 private:
  Interconnect& noc_;
  unsigned index_;
};

class Interconnect::ChannelPort final : public ::tlm::tlm_bw_transport_if<> {
 public:
  ChannelPort(Interconnect& noc, unsigned index) : noc_(noc), index_(index) {}
  tlm_sync_enum nb_transport_bw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) override {
    return noc_.backward(index_, payload, phase, delay);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 /*start*/, sc_dt::uint64 /*end*/) override {}  // none is ever granted

 private:
  Interconnect& noc_;
  unsigned index_;
};

Interconnect::Interconnect(const sc_core::sc_module_name& name, const NocParameters& parameters,
                           const SliceOfAddress& slice_of, unsigned cores, link::Clock clock, link::ClockEdges edges,
                           unsigned sector, const L2Parameters* l2, bool constants)
    : Interconnect(name, parameters, &slice_of, cores, slice_of.slices(), clock, edges, sector, l2, 3 + constants) {}

Interconnect::Interconnect(const sc_core::sc_module_name& name, const NocParameters& parameters, unsigned slices,
                           unsigned cores, link::Clock clock, link::ClockEdges edges)
    : Interconnect(name, parameters, nullptr, slices, cores, clock, edges, 0, nullptr, 3) {}

Interconnect::Interconnect(const sc_core::sc_module_name& name, const NocParameters& parameters,
                           const SliceOfAddress* slice_of, unsigned inputs, unsigned outputs, link::Clock clock,
                           link::ClockEdges edges, unsigned sector_bytes, const L2Parameters* l2, unsigned ports)
    : ClockedModule(name, clock),
      data("data", inputs),
      instruction("instruction", inputs),
      texture("texture", inputs),
      constants("constants", ports > 3 ? inputs : 0),
      channel("channel", outputs),
      slice_of_(slice_of != nullptr ? std::optional<SliceOfAddress>(*slice_of) : std::nullopt),
      sector_bytes_(sector_bytes),
      cores_(inputs),
      ports_of_core_(ports),
      edges_(edges),
      links_(parameters, edges),
      one_way_back_(outputs == 1 && parameters.link_bytes == 0 && edges.every_cycle()),
      partitions_(l2 != nullptr ? std::make_unique<L2Partitions>(*l2, inputs, outputs) : nullptr),
      lanes_(partitions_ ? kFar + 1 : 1),
      partition_latency_(partitions_ ? parameters.partition_latency : 0),
      far_waiting_(partitions_ ? std::size_t{ports} * inputs * outputs : 0, 0),
      request_latency_(parameters.request_latency),
      response_latency_(parameters.response_latency),
      requests_(std::size_t{ports} * inputs, Input(parameters.queue + parameters.request_latency)),
      responses_(outputs, Input(parameters.queue + parameters.response_latency + partition_latency_, lanes_)),
      active_((std::size_t{ports} * inputs + 63) / 64, 0),
      next_port_(outputs, 0),
      next_head_(inputs, 0),
      channel_link_(outputs),
      core_link_(inputs),
      chosen_(std::max(inputs, outputs), kNone) {
  // On the memory's side: outputs of requests and inputs of responses; between homes and cores it is the other way
  // round.
  const unsigned of_memory = parameters.slice_bytes != 0 ? parameters.slice_bytes : parameters.link_bytes;
  const auto set_bytes = [](unsigned bytes, auto& links) {
    for (auto& link : links) {
      link.bytes = bytes;
    }
  };
  set_bytes(slice_of_ ? parameters.link_bytes : of_memory, core_link_);
  set_bytes(slice_of_ ? of_memory : parameters.link_bytes, channel_link_);
  for (unsigned port = 0; port != requests_.size(); ++port) {
    requests_[port].link.bytes = slice_of_ ? parameters.link_bytes : of_memory;
    requests_[port].number = port;
    requests_[port].request = true;
    cache_ports_.push_back(std::make_unique<CachePort>(*this, port));
    socket_of(port).bind(*cache_ports_.back());
  }
  for (unsigned index = 0; index != responses_.size(); ++index) {
    responses_[index].link.bytes = slice_of_ ? of_memory : parameters.link_bytes;
    responses_[index].number = index;
  }
  for (unsigned index = 0; index != outputs; ++index) {
    channel_ports_.push_back(std::make_unique<ChannelPort>(*this, index));
    channel[index].bind(*channel_ports_.back());
  }
}

Interconnect::~Interconnect() = default;

unsigned Interconnect::destination_of(const Payload& payload) const {
  if (slice_of_) {
    return (*slice_of_)(payload.get_address());
  }
  link::MemoryExtension* extension = nullptr;
  payload.get_extension(extension);
  return extension->core;
}

bool Interconnect::data_back(const Payload& payload) const {
  if (slice_of_) {
    return !payload.is_write();
  }
  link::MemoryExtension* extension = nullptr;
  payload.get_extension(extension);
  return extension->has_data;
}

// ------------------------------------------------------------------------------------------------- extensions

link::MemoryExtension& Interconnect::extension_of(Payload& payload) {
  link::MemoryExtension* extension = nullptr;
  payload.get_extension(extension);
  if (extension == nullptr) {
    if (free_extensions_.empty()) {
      own_extensions_.push_back(std::make_unique<link::MemoryExtension>());
      free_extensions_.push_back(own_extensions_.back().get());
    }
    extension = free_extensions_.back();
    free_extensions_.pop_back();
    payload.set_extension(extension);
  }
  return *extension;
}

void Interconnect::give_back_extension(Payload& payload) {
  if (free_extensions_.size() == own_extensions_.size()) {
    return;  // none is lent
  }
  link::MemoryExtension* extension = nullptr;
  payload.get_extension(extension);
  for (const auto& own : own_extensions_) {
    if (own.get() == extension) {
      payload.clear_extension(extension);
      free_extensions_.push_back(extension);
      return;
    }
  }
}

// ----------------------------------------------------------------------------------------------- what arrives

bool Interconnect::offer(Input& input, const Waiting& transfer, Cycle visible) {
  return input.offer(
      clock(), [this, &input, transfer, visible](bool has_credit) { arrived(input, transfer, visible, has_credit); });
}

void Interconnect::arrived(Input& input, Waiting transfer, Cycle visible, bool has_credit) {
  const bool request = input.request;
  unsigned lane = 0;
  if (request) {
    extension_of(*transfer.payload).route = static_cast<std::uint16_t>(input.number);
  } else {  // a response implies END_REQ
    phase_ended(input, *transfer.payload, visible);
    lane = partitions_ ? lane_of(input, transfer, visible) : 0;
  }
  if (has_credit) {
    const bool first = input.queue.empty(lane);
    if (!request && first && passes_on(input, transfer)) {
      pass_on(input, transfer);
      return;
    }
    input.queue.enter(transfer, lane);
    if (request) {
      active_[input.number / 64] |= std::uint64_t{1} << (input.number % 64);
    }
    if (observer_ != nullptr) {
      show_queue(input);
    }
    if (first && !output_to(input, lane).under_way()) {
      wake(transfer.eligible);  // else its turn follows from the turn, or the end of the phase, that it waits behind
    }
    return;
  }
  input.queue.keep(transfer, lane);
  ++pending_;
  ++(request ? statistics_.request_stalls : statistics_.response_stalls);
  if (const Cycle admitted = input.queue.admits_at(clock().now()); admitted != kNever) {
    wake(admitted);
  }
}

unsigned Interconnect::lane_of(const Input& input, Waiting& response, Cycle visible) {
  std::uint16_t& before = far_waiting_[input.number * requests_.size() + response.destination];
  const bool crosses = partitions_->crosses(core_of(response.destination), input.number,
                                            response.payload->get_address(), response.payload->is_read());
  if (crosses) {
    response.eligible = edges_.from(visible, response_latency_ - 1 + partition_latency_);
  }
  if (!crosses && before == 0) {
    return 0;
  }
  ++before;  // what comes to the same cache behind one that crosses stays behind it
  return kFar;
}

// A response that nothing is in front of, and that no other channel's can compete with, goes on in the cycle in which
// it is eligible. So it need not wait for a turn: it can be sent when it arrives, to be there as if it had been sent
// then.
bool Interconnect::passes_on(const Input& input, const Waiting& response) const {
  const link::ExclusivePhase& output = requests_[response.destination].output;
  return one_way_back_ && observer_ == nullptr && !input.queue.keeps() && !output.under_way() &&
         output.next() <= response.eligible;
}

// It takes no place in the queue: responses within the latency would have had room beside it in any case.
void Interconnect::pass_on(Input& input, const Waiting& response) {
  input.queue.forgo();
  ++statistics_.responses;
  Payload& payload = *response.payload;
  give_back_extension(payload);
  link::begin_response(socket_of(response.destination), payload, requests_[response.destination].output, clock(),
                       clock().cycles(response.eligible + 1 - clock().now()));
}

// The phase that goes out beside the input is over; false: it is not this payload's.
bool Interconnect::phase_ended(Input& input, const Payload& payload, Cycle visible) {
  const bool its = input.has_ended(payload, visible);
  if (its) {
    wake(visible);
  }
  return its;
}

tlm_sync_enum Interconnect::forward(unsigned port, Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) {
  const Cycle visible = clock().visible_after(delay);
  Input& input = requests_[port];
  return input.forward(
      clock(), payload, phase, visible, kFromCaches,
      [this, &input, &payload, visible](bool has_credit) {
        const Waiting transfer{&payload, edges_.from(visible, request_latency_ - 1), destination_of(payload)};
        arrived(input, transfer, visible, has_credit);
      },
      [this, visible] { wake(visible); });
}

tlm_sync_enum Interconnect::backward(unsigned channel_index, Payload& payload, tlm_phase& phase,
                                     sc_core::sc_time& delay) {
  Input& input = responses_[channel_index];
  const Cycle visible = clock().visible_after(delay);
  if (phase == ::tlm::END_REQ) {
    clock().tell([this, &input, &payload, visible] { phase_ended(input, payload, visible); });
    return ::tlm::TLM_ACCEPTED;
  }
  if (phase != ::tlm::BEGIN_RESP) {
    SC_REPORT_ERROR("heddle/interconnect", "unexpected phase from a memory channel");
    return ::tlm::TLM_ACCEPTED;
  }
  const Waiting transfer{&payload, edges_.from(visible, response_latency_ - 1), extension_of(payload).route};
  return offer(input, transfer, visible) ? ::tlm::TLM_COMPLETED : ::tlm::TLM_ACCEPTED;
}

void Interconnect::observe(NocObserver* observer) {
  observer_ = observer;
  if (observer == nullptr) {
    return;
  }
  for (const std::vector<Input>* const inputs : {&requests_, &responses_}) {
    for (const Input& input : *inputs) {
      show_queue(input);
    }
  }
}

// The queue of a port's requests or of a channel's responses.
void Interconnect::show_queue(const Input& input) {
  if (input.request) {
    observer_->request_queue(input.number, input.queue.size());
  } else {
    observer_->response_queue(input.number, waiting(input));
  }
}

// ---------------------------------------------------------------------------------------------------- questions

// What is behind an input's first transfer leaves it later than that.
void Interconnect::next_responses(std::vector<Cycle>& by_core) const {
  Cycle behind = kNever;
  const auto each_head = [this](auto visit) {
    for (const Input& input : responses_) {
      for (unsigned lane = 0; lane != lanes_; ++lane) {
        if (!input.queue.empty(lane)) {
          visit(input, input.queue.front(lane), input.queue.size(lane) > 1 || input.queue.keeps());
        }
      }
    }
  };
  each_head([&](const Input&, const Waiting& head, bool has_more) {
    behind = has_more ? std::min(behind, head.eligible + 1) : behind;
  });
  by_core.assign(cores_, behind);
  each_head([&](const Input&, const Waiting& head, bool) {
    Cycle& next = by_core[core_of(head.destination)];
    next = std::min(next, head.eligible);
  });
}

// --------------------------------------------------------------------------------------------------- one cycle

Cycle Interconnect::advance(Cycle now) {
  if (pending_ != 0) {
    admit_pending(now);
  }
  const Cycle requests = move_requests(now);
  const Cycle responses = move_responses(now);
  return std::min(requests, responses);
}

// What was kept aside enters the queue; its phase is to be ended.
Interconnect::Payload& Interconnect::admit(Input& input, Cycle now) {
  input.queue.kept()->eligible = std::max(input.queue.kept()->eligible, edges_.from(now));
  Payload& payload = *input.queue.admit().payload;
  --pending_;
  if (observer_ != nullptr) {
    show_queue(input);
  }
  return payload;
}

void Interconnect::admit_pending(Cycle now) {
  for (unsigned port = 0; port != requests_.size(); ++port) {
    Input& input = requests_[port];
    if (input.queue.can_admit(now)) {
      Payload& payload = admit(input, now);
      active_[port / 64] |= std::uint64_t{1} << (port % 64);
      link::end_request(socket_of(port), payload);
    }
  }
  for (unsigned index = 0; index != responses_.size(); ++index) {
    Input& input = responses_[index];
    if (input.queue.can_admit(now)) {
      Payload& payload = admit(input, now);
      tlm_phase phase = ::tlm::END_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      channel[index]->nb_transport_fw(payload, phase, delay);
    }
  }
}

// The first cycle in which the head of a queue could go on, as far as is known.
Cycle Interconnect::possible(const Input& input, unsigned lane, const link::ExclusivePhase& output,
                             const Link& there) const {
  return links_.from(std::max(input.queue.front(lane).eligible, output.next()), input.link, there);
}

// Of an input whose head has gone in this cycle: when the one behind it may; kNever: there is none, or it waits for the
// end of a phase, which will wake this process.
Cycle Interconnect::next_of(const Input& input, unsigned lane, Cycle now) const {
  return input.queue.empty(lane) || output_to(input, lane).under_way()
             ? kNever
             : std::max(input.queue.front(lane).eligible, links_.next(now));
}

// A transfer begins now: both links are taken by it. Returns the delay after which its last part is at the other end;
// none when that is this cycle.
sc_core::sc_time Interconnect::occupy(Input& input, Link& there, const Payload& payload, bool has_data, Cycle now) {
  const Cycle last = links_.carry(input.link, there, has_data ? data_bytes(payload, sector_bytes_) : 0, now);
  return last == now ? sc_core::SC_ZERO_TIME : clock().cycles(last + 1 - now);
}

Cycle Interconnect::move_requests(Cycle now) {
  Cycle next = kNever;
  const auto ports = static_cast<unsigned>(requests_.size());
  bool any = false;
  for (std::size_t word = 0; word != active_.size(); ++word) {
    for (const unsigned bit : set_bits(active_[word])) {
      const auto port = static_cast<unsigned>(word * 64 + bit);
      const Waiting& head = requests_[port].queue.front();
      const link::ExclusivePhase& output = responses_[head.destination].output;
      if (output.under_way()) {
        continue;  // the end of that request phase will wake this process
      }
      const Cycle first = possible(requests_[port], 0, output, channel_link_[head.destination]);
      if (first > now) {
        next = std::min(next, first);
        continue;
      }
      unsigned& chosen = chosen_[head.destination];
      const unsigned start = next_port_[head.destination];
      if (chosen != kNone) {
        next = links_.next(now);  // one of the two has to wait
      }
      if (chosen == kNone || turn(port, start, ports) < turn(chosen, start, ports)) {
        chosen = port;
      }
      any = true;
    }
  }
  if (!any) {
    return next;
  }
  for (unsigned index = 0; index != responses_.size(); ++index) {
    const unsigned port = chosen_[index];
    if (port == kNone) {
      continue;
    }
    chosen_[index] = kNone;
    next_port_[index] = port + 1 == ports ? 0 : port + 1;
    send_request(index, port, now);
    next = std::min(next, next_of(requests_[port], 0, now));
    next = std::min(next, requests_[port].queue.admits_at(now));
  }
  return next;
}

void Interconnect::send_request(unsigned channel_index, unsigned port, Cycle now) {
  Input& input = requests_[port];
  Payload& payload = *input.queue.front().payload;
  clock().touch(&payload, "a payload");
  statistics_.request_wait_cycles += now - input.queue.front().eligible;
  input.queue.pop(now);
  input.give_credits_back(clock());
  if (input.queue.empty()) {
    active_[port / 64] &= ~(std::uint64_t{1} << (port % 64));
  }
  ++statistics_.requests;
  if (observer_ != nullptr) {
    show_queue(input);
    observer_->request(channel_index, port, payload.get_address(), payload.is_write());
  }

  Input& answers = responses_[channel_index];
  answers.output.begin(payload, now);
  tlm_phase phase = ::tlm::BEGIN_REQ;
  sc_core::sc_time delay = occupy(input, channel_link_[channel_index], payload, data_out(payload), now);
  const tlm_sync_enum result = channel[channel_index]->nb_transport_fw(payload, phase, delay);
  if (result == ::tlm::TLM_ACCEPTED) {
    return;
  }
  const Cycle visible = clock().visible_after(delay);
  answers.output.end(visible);
  Waiting transfer{&payload, edges_.from(visible, response_latency_ - 1), port};
  if (result == ::tlm::TLM_COMPLETED) {  // answered at once: it cannot be refused
    answers.queue.force(transfer, partitions_ ? lane_of(answers, transfer, visible) : 0);
    answers.give_credits_back(clock());
    if (observer_ != nullptr) {
      show_queue(answers);
    }
    wake(transfer.eligible);
  } else if (phase == ::tlm::BEGIN_RESP && offer(answers, transfer, visible)) {
    phase = ::tlm::END_RESP;
    delay = clock().until(visible);
    channel[channel_index]->nb_transport_fw(payload, phase, delay);
  }
}

Cycle Interconnect::move_responses(Cycle now) {
  Cycle next = kNever;
  const auto heads = static_cast<unsigned>(responses_.size()) * lanes_;  // a lane's first response each
  bool any = false;
  unsigned index = 0;
  const auto look_at = [&](const Input& input, unsigned lane) {
    const Waiting& head = input.queue.front(lane);
    const link::ExclusivePhase& output = requests_[head.destination].output;
    if (output.under_way()) {
      return;  // END_RESP will wake this process
    }
    const unsigned core = core_of(head.destination);
    const Cycle first = possible(input, lane, output, core_link_[core]);
    if (first > now) {
      next = std::min(next, first);
      return;
    }
    unsigned& chosen = chosen_[core];
    next = chosen != kNone ? links_.next(now) : next;
    if (chosen == kNone || turn(index, next_head_[core], heads) < turn(chosen, next_head_[core], heads)) {
      chosen = index;
    }
    any = true;
  };
  for (const Input& input : responses_) {
    for (unsigned lane = 0; lane != lanes_; ++lane, ++index) {
      if (!input.queue.empty(lane)) {
        look_at(input, lane);
      }
    }
  }
  if (!any) {
    return next;
  }
  for (unsigned core = 0; core != cores_; ++core) {
    const unsigned head = chosen_[core];
    if (head == kNone) {
      continue;
    }
    chosen_[core] = kNone;
    Input& input = responses_[head / lanes_];
    const unsigned lane = head % lanes_;
    if (lanes_ != 1) {  // the channel's other lane may have taken its link
      const link::ExclusivePhase& output = output_to(input, lane);
      if (const Cycle first = possible(input, lane, output, core_link_[core]); first > now) {
        next = std::min(next, first);
        continue;
      }
    }
    next_head_[core] = head + 1 == heads ? 0 : head + 1;
    send_response(head / lanes_, lane, now);
    next = std::min(next, next_of(input, lane, now));
    next = std::min(next, input.queue.admits_at(now));
  }
  return next;
}

void Interconnect::send_response(unsigned channel_index, unsigned lane, Cycle now) {
  Input& input = responses_[channel_index];
  const Waiting sent = input.queue.front(lane);
  const unsigned port = sent.destination;
  Payload& payload = *sent.payload;
  clock().touch(&payload, "a payload");
  statistics_.response_wait_cycles += now - sent.eligible;
  input.queue.pop(now, lane);
  if (lane == kFar) {
    --far_waiting_[channel_index * requests_.size() + port];
  }
  input.give_credits_back(clock());
  ++statistics_.responses;
  if (observer_ != nullptr) {
    show_queue(input);
    observer_->response(port, channel_index);
  }

  const sc_core::sc_time delay = occupy(input, core_link_[core_of(port)], payload, data_back(payload), now);
  give_back_extension(payload);  // the cache may release the payload within the call
  link::begin_response(socket_of(port), payload, requests_[port].output, clock(), delay);
}

}  // namespace heddle::hw
