// Crossbar between the cores' caches and the memory channels.
//
//   Interconnect(name, noc parameters, slice of an address, cores, clock, edges, sector bytes, l2, with_constants)
//                   edges: its own clock's; sector bytes: data goes in whole ones, however few of their bytes matter;
//                   l2: an L2 of several partitions; null: of one; with_constants: cores have constant caches
//   data[i]         tlm_target_socket<32>     core i's L1 data cache
//   instruction[i]  tlm_target_socket<32>     core i's instruction cache
//   texture[i]      tlm_target_socket<32>     core i's texture cache
//   constants[i]    tlm_target_socket<32>     core i's constant cache, where cores have one
//   channel[c]      tlm_initiator_socket<32>  slice c of the L2 or memory channel c, chosen by the address
// Target sockets may stay unbound.
//
//   Interconnect(name, noc parameters, slices, cores, clock, edges)
//   data[s]         slice s of the L2, home to its lines
//   channel[i]      core i, which the payload's MemoryExtension names
// The other way round: messages of homes to L1s, and their answers. An answer carries data when its extension says so
// (has_data), a message never does. Both ways have links and queues of their own, beside those of requests and answers,
// so that no message waits behind what may wait for it.
//
// Timing, in cycles of its own clock (NocParameters::clock_ghz; requests and responses of the GPU's cycles between two
// edges wait for the next): a request that arrives in cycle t can be handed to its channel in cycle t + request_latency
// (and is visible there one cycle of the GPU later, as everything between modules is); responses likewise with
// response_latency. A transfer occupies the links of its input and its output as hw/noc/link.hpp says, and is visible
// after the cycle of its last byte. Each channel takes one request and each core (all its sockets together) one
// response per cycle (over packed links: of the GPU), chosen round robin among the inputs. An input is a queue
// (head-of-line blocking, as in an input-queued crossbar): one per cache on the way out, one per channel on the way
// back, of NocParameters::queue entries beyond what is still under way. A full queue delays END_REQ or END_RESP
// (tlm/input_queue.hpp: room that becomes free in a cycle can be used from the next on, so that nothing depends on
// which process runs first). Requests from one cache to one channel, and responses the other way, stay in order.
//
// Where the L2 has several partitions (hw/noc/partitions.hpp), a response that crosses from one to another takes
// partition_latency longer. Those of a channel wait in a lane of their own, so that others pass them, but for what
// follows them to the same cache.
//
// The port by which a request came in is noted in its MemoryExtension (`route`); a payload without one gets one of the
// interconnect's own until its response has left.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/instrument.hpp"
#include "hw/map/slice_map.hpp"
#include "hw/noc/link.hpp"
#include "hw/noc/observer.hpp"
#include "hw/noc/partitions.hpp"
#include "hw/noc/statistics.hpp"
#include "hw/parameters/machine.hpp"
#include "tlm/base_protocol.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/clock_edges.hpp"
#include "tlm/credit_port.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle::hw {

class Interconnect final : public link::ClockedModule {
 public:
  using TargetSocket = ::tlm::tlm_target_socket<32, ::tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

  Interconnect(const sc_core::sc_module_name& name, const NocParameters& parameters, const SliceOfAddress& slice_of,
               unsigned cores, link::Clock clock, link::ClockEdges edges = {1, 1}, unsigned sector_bytes = 0,
               const L2Parameters* l2 = nullptr, bool with_constants = false);
  Interconnect(const sc_core::sc_module_name& name, const NocParameters& parameters, unsigned slices, unsigned cores,
               link::Clock clock, link::ClockEdges edges = {1, 1});
  ~Interconnect() override;

  sc_core::sc_vector<TargetSocket> data;
  sc_core::sc_vector<TargetSocket> instruction;
  sc_core::sc_vector<TargetSocket> texture;
  sc_core::sc_vector<TargetSocket> constants;
  sc_core::sc_vector<::tlm::tlm_initiator_socket<>> channel;

  [[nodiscard]] InterconnectStatistics& statistics() { return statistics_; }
  // The cycle before which no response can go to each core, as far as responses here are concerned; kNever: none
  // is for the core.
  void next_responses(std::vector<link::Cycle>& by_core) const;
  // Whether a request of each of the core's caches finds room in cycle `now`, and none waits for it.
  [[nodiscard]] bool has_room(unsigned core, link::Cycle now) const {
    return has_room(requests_[core], now) && has_room(requests_[cores_ + core], now) &&
           has_room(requests_[2 * cores_ + core], now) &&
           (ports_of_core_ == 3 || has_room(requests_[3 * cores_ + core], now));
  }
  // Shows what the interconnect does from now on to `observer`, which outlives it; null: to none.
  void observe(NocObserver* observer);
  // Null: the L2 has one.
  [[nodiscard]] L2Partitions* partitions() { return partitions_.get(); }

 private:
  using Payload = ::tlm::tlm_generic_payload;
  struct Waiting {
    Payload* payload = nullptr;
    link::Cycle eligible = 0;
    unsigned destination = 0;  // channel of a request, port of a response
  };
  struct Input : link::CreditPort<Waiting> {
    using link::CreditPort<Waiting>::CreditPort;
    Link link;             // from here
    unsigned number = 0;   // port of requests, channel of responses
    bool request = false;  // it has requests
  };
  class CachePort;
  class ChannelPort;
  Interconnect(const sc_core::sc_module_name& name, const NocParameters& parameters, const SliceOfAddress* slice_of,
               unsigned inputs, unsigned outputs, link::Clock clock, link::ClockEdges edges, unsigned sector_bytes,
               const L2Parameters* l2, unsigned ports_of_core);
  [[nodiscard]] unsigned destination_of(const Payload& payload) const;
  // Whether it carries its data on the way out, and back.
  [[nodiscard]] bool data_out(const Payload& payload) const { return slice_of_ && !payload.is_read(); }
  [[nodiscard]] bool data_back(const Payload& payload) const;

  link::Cycle advance(link::Cycle now) override;
  ::tlm::tlm_sync_enum forward(unsigned port, Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
  ::tlm::tlm_sync_enum backward(unsigned channel, Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay);
  [[nodiscard]] bool offer(Input& input, const Waiting& transfer, link::Cycle visible);
  void arrived(Input& input, Waiting transfer, link::Cycle visible, bool has_credit);
  // The lane of a response, whose time says now how far it has come from.
  [[nodiscard]] unsigned lane_of(const Input& input, Waiting& response, link::Cycle visible);
  [[nodiscard]] bool passes_on(const Input& input, const Waiting& response) const;
  void pass_on(Input& input, const Waiting& response);
  bool phase_ended(Input& input, const Payload& payload, link::Cycle visible);
  // Where the first transfer of an input's lane goes, which is not empty.
  [[nodiscard]] const link::ExclusivePhase& output_to(const Input& input, unsigned lane) const {
    const unsigned destination = input.queue.front(lane).destination;
    return input.request ? responses_[destination].output : requests_[destination].output;
  }
  Payload& admit(Input& input, link::Cycle now);
  void admit_pending(link::Cycle now);
  link::Cycle move_requests(link::Cycle now);
  link::Cycle move_responses(link::Cycle now);
  [[nodiscard]] static bool has_room(const Input& input, link::Cycle now) {
    return input.queue.has_credit(now) && !input.queue.keeps();
  }
  [[nodiscard]] link::Cycle possible(const Input& input, unsigned lane, const link::ExclusivePhase& output,
                                     const Link& there) const;
  [[nodiscard]] link::Cycle next_of(const Input& input, unsigned lane, link::Cycle now) const;
  [[nodiscard]] sc_core::sc_time occupy(Input& input, Link& there, const Payload& payload, bool has_data,
                                        link::Cycle now);
  void send_request(unsigned channel_index, unsigned port, link::Cycle now);
  void send_response(unsigned channel_index, unsigned lane, link::Cycle now);
  [[nodiscard]] static std::size_t waiting(const Input& input) {
    return input.queue.size() + (input.queue.lanes() == 1 ? 0 : input.queue.size(kFar));
  }
  [[nodiscard]] TargetSocket& socket_of(unsigned port) {
    return (port < cores_       ? data
            : port < 2 * cores_ ? instruction
            : port < 3 * cores_ ? texture
                                : constants)[core_of(port)];
  }
  [[nodiscard]] unsigned core_of(unsigned port) const { return port % cores_; }
  [[nodiscard]] link::MemoryExtension& extension_of(Payload& payload);
  void give_back_extension(Payload& payload);
  void show_queue(const Input& input);

  const std::optional<SliceOfAddress> slice_of_;  // none: homes to cores
  const unsigned sector_bytes_;                   // 0: every byte counts
  const unsigned cores_;
  const unsigned ports_of_core_;
  const link::ClockEdges edges_;
  const LinkClock links_;
  const bool one_way_back_;            // responses come from one channel, and links hold none up
  static constexpr unsigned kFar = 1;  // the lane of responses that cross from another partition
  const std::unique_ptr<L2Partitions> partitions_;
  const unsigned lanes_;  // of responses
  const unsigned partition_latency_;
  std::vector<std::uint16_t> far_waiting_;  // per channel and port: responses in the lane of those that cross
  const unsigned request_latency_;
  const unsigned response_latency_;
  std::vector<std::unique_ptr<CachePort>> cache_ports_;  // data ports, instruction ports, texture ports, constant ports
  std::vector<std::unique_ptr<ChannelPort>> channel_ports_;
  std::vector<Input> requests_;        // per port; output state: the port's responses
  std::vector<Input> responses_;       // per channel; output state: the channel's requests
  std::vector<std::uint64_t> active_;  // bit set: the port has queued requests
  std::vector<unsigned> next_port_;    // per channel: round robin starts here
  std::vector<unsigned> next_head_;    // per core: of the lanes' first responses
  std::vector<Link> channel_link_;     // per channel: the link there
  std::vector<Link> core_link_;        // per core
  std::vector<unsigned> chosen_;       // per channel or core, within one cycle
  unsigned pending_ = 0;               // inputs that keep a transfer aside
  std::vector<std::unique_ptr<link::MemoryExtension>> own_extensions_;  // for payloads that come without one
  std::vector<link::MemoryExtension*> free_extensions_;
  InterconnectStatistics statistics_;
  Instrument<NocObserver> observer_;  // null: none
};

}  // namespace heddle::hw
