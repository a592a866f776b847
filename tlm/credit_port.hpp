// What a module's ends of TLM base-protocol connections do alike: payloads arrive in a queue by credits
// (tlm/input_queue.hpp), and a phase at a time goes out beside them.
//
//   CreditPort<Entry>(capacity, lanes)     an InputQueue's
//   queue     entries for the payloads that have arrived
//   output    the phases that go out beside the queue, to where its payloads come from: a target's responses
//
// A phase that begins needs a place in the queue. In the turn of whoever sends, its credit decides: with one, the phase
// is over in the same call; without, the entry is kept aside, and the end of the phase is owed until it is admitted.
// The receiver is told of both by the end of the cycle (Clock::tell), as it is of the end of a phase that has gone out.
//
//   forward       nb_transport_fw of a target: END_REQ with a credit, TLM_ACCEPTED without; END_RESP ends `output`
//   offer         the credit alone, for connections whose phases have other names
//   has_ended     told that a phase has ended that went out
//   give_credits_back   in the receiver's turn, after places were released
//
// Errors: a phase that a target cannot take, and an END_RESP of a payload whose response is not under way, are
// SC_REPORT_ERRORs in the owner's name.
#pragma once

#include <systemc>
#include <tlm>

#include "tlm/base_protocol.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/input_queue.hpp"

namespace heddle::link {

// Of a port's owner: a SystemC message type, and its message on a phase that is not expected. It outlives the port.
struct PortReports {
  const char* type;
  const char* unexpected_phase;
};

template <class Entry>
class CreditPort {
 public:
  using Payload = ::tlm::tlm_generic_payload;

  explicit CreditPort(unsigned capacity, unsigned lanes = 1) : queue(capacity, lanes) {}

  InputQueue<Entry> queue;
  ExclusivePhase output;

  // Whether there was a credit. The receiver is told: arrived(has_credit), which enters the entry or keeps it aside.
  template <class Arrived>
  bool offer(const Clock& clock, const Arrived& arrived) {
    const bool has_credit = queue.take_credit(clock.now());
    clock.tell([arrived, has_credit] { arrived(has_credit); });
    return has_credit;
  }

  // The receiver is told: arrived(has_credit), or, when a response of this port is over, ended().
  template <class Arrived, class Ended>
  ::tlm::tlm_sync_enum forward(const Clock& clock, Payload& payload, ::tlm::tlm_phase& phase, Cycle visible,
                               const PortReports& reports, const Arrived& arrived, const Ended& ended) {
    if (phase == ::tlm::BEGIN_REQ) {
      if (!offer(clock, arrived)) {
        return ::tlm::TLM_ACCEPTED;
      }
      phase = ::tlm::END_REQ;
      return ::tlm::TLM_UPDATED;
    }
    if (phase == ::tlm::END_RESP) {
      clock.tell([this, &payload, &reports, visible, ended] {
        if (has_ended(payload, visible)) {
          ended();
        } else {
          report(reports);
        }
      });
      return ::tlm::TLM_COMPLETED;
    }
    report(reports);
    return ::tlm::TLM_ACCEPTED;
  }

  // The phase that has gone out is over, and another may begin in cycle `visible`; false: it is not this payload's.
  bool has_ended(const Payload& payload, Cycle visible) {
    if (!output.under_way(payload)) {
      return false;
    }
    output.end(visible);
    return true;
  }

  // Credits that are owed go back to the sender's end.
  void give_credits_back(const Clock& clock) {
    if (queue.unsettled()) {
      clock.tell([this, now = clock.now()] { queue.settle(now); });
    }
  }

 private:
  static void report(const PortReports& reports) { SC_REPORT_ERROR(reports.type, reports.unexpected_phase); }
};

}  // namespace heddle::link
