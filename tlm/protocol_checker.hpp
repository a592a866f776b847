// Sits between an initiator and a target of the TLM-2.0 base protocol, passes everything on and checks the rules of the
// standard (IEEE 1666-2011, clauses 14 to 16). A violation is an SC_REPORT_ERROR of type "heddle/protocol" that names
// the rule. For tests: it costs a table look-up per call.
//
//   ProtocolChecker(name)
//   target     bind the initiator to it
//   initiator  bind it to the target
//
// Rules
//   phase order      BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP, each once; END_REQ may be implied by BEGIN_RESP, and
//                    END_RESP by TLM_COMPLETED; BEGIN_REQ and END_RESP on the forward path, END_REQ and BEGIN_RESP on
//                    the backward path or as TLM_UPDATED of the opposite call
//   return values    TLM_ACCEPTED leaves the phase as it was; TLM_UPDATED changes it to one that the callee may set;
//                    TLM_COMPLETED ends the transaction and is no answer to END_REQ
//   request          no BEGIN_REQ before the request phase of the one before has ended (request exclusion rule)
//   response         no BEGIN_RESP before the response phase of the one before has ended (response exclusion rule)
//   attributes       command, address, data pointer, length, byte enables and streaming width stay as the initiator set
//                    them until the transaction ends (address may differ while it is beyond an interconnect, but is
//                    the initiator's again at the response); the data of a write does not change
//   well formed      data pointer, length and streaming width set; byte-enable length set when there are byte enables;
//                    response status incomplete and DMI hint clear at BEGIN_REQ
//   response status  set by the target at the response; not changed by the initiator
//   memory manager   a payload on the non-blocking path has one, is referenced when it is sent and until it has ended
//   delay            a callee does not make the delay shorter
//   direct memory    a granted range holds the address asked for; a range taken back is not empty
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/channel_tap.hpp"

namespace heddle::link {

class ProtocolChecker final : public Tap, private ::tlm::tlm_fw_transport_if<>, private ::tlm::tlm_bw_transport_if<> {
 public:
  explicit ProtocolChecker(const sc_core::sc_module_name& name);

  ::tlm::tlm_target_socket<> target;
  ::tlm::tlm_initiator_socket<> initiator;

  [[nodiscard]] ::tlm::tlm_target_socket<>& target_end() override { return target; }
  [[nodiscard]] ::tlm::tlm_initiator_socket<>& initiator_end() override { return initiator; }
  [[nodiscard]] std::uint64_t violations() const { return violations_; }
  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }  // that ended, blocking ones too
  [[nodiscard]] std::size_t outstanding() const { return records_.size(); }

 private:
  using Payload = ::tlm::tlm_generic_payload;
  enum class State : std::uint8_t { request, between, response };  // of a transaction that has not ended
  struct Record {
    State state = State::request;
    ::tlm::tlm_command command = ::tlm::TLM_IGNORE_COMMAND;
    std::uint64_t address = 0;
    const unsigned char* data = nullptr;
    unsigned length = 0;
    const unsigned char* enable = nullptr;
    unsigned enable_length = 0;
    unsigned streaming_width = 0;
    std::vector<unsigned char> written;  // a write's data
    ::tlm::tlm_response_status status = ::tlm::TLM_INCOMPLETE_RESPONSE;
  };

  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(Payload& payload, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(Payload& payload) override;
  ::tlm::tlm_sync_enum nb_transport_bw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override;

  void violation(const Payload& payload, const std::string& rule);
  void well_formed(const Payload& payload);
  static Record record_of(const Payload& payload);
  void unchanged(const Payload& payload, const Record& record, bool with_address);
  void forward_phase(Payload& payload, const ::tlm::tlm_phase& phase);
  void backward_phase(Payload& payload, const ::tlm::tlm_phase& phase);
  void returned(Payload& payload, const ::tlm::tlm_phase& before, const ::tlm::tlm_phase& after,
                ::tlm::tlm_sync_enum result);
  void delay_not_shorter(const Payload& payload, const sc_core::sc_time& before, const sc_core::sc_time& after);
  void request_begins(Payload& payload);
  void request_ends(Payload& payload);
  void response_begins(Payload& payload);
  void response_ends(Payload& payload);

  std::map<const Payload*, Record> records_;  // looked up only: never walked
  const Payload* in_request_ = nullptr;
  const Payload* in_response_ = nullptr;
  std::uint64_t violations_ = 0;
  std::uint64_t transactions_ = 0;
};

}  // namespace heddle::link
