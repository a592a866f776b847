// The sub-warp former as a module: a policy (hw/subwarp/former.hpp) behind a socket.
//
//   form   target, FormerProtocol   blocking: the masks go in, a sub-warp's threads come out, within the cycle
#pragma once

#include <memory>
#include <span>
#include <systemc>
#include <tlm>
#include <utility>

#include "hw/subwarp/former.hpp"
#include "tlm/protocol_tap.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

// Arguments and result of SubWarpFormer::form.
struct FormerRequest {
  const isa::Instruction* instruction = nullptr;
  std::span<LaneMask> candidates;
  std::span<const LaneMask> pending;
  SubWarpShape* shape = nullptr;
  bool formed = false;  // written by the former
};
struct FormerProtocol {
  using tlm_payload_type = FormerRequest;
  using tlm_phase_type = link::WarpPhase;
};
using FormerInitiatorSocket = ::tlm::tlm_initiator_socket<32, FormerProtocol>;
using FormerTargetSocket = ::tlm::tlm_target_socket<32, FormerProtocol>;

// Its interface is public, so that who stands before the socket can see that nothing is in between (BehindSocket).
class SubWarpFormerModule final : public sc_core::sc_module, public link::NonBlockingTarget<FormerProtocol> {
 public:
  SubWarpFormerModule(const sc_core::sc_module_name& name, std::unique_ptr<SubWarpFormer> policy)
      : sc_core::sc_module(name), form("form"), policy_(std::move(policy)) {
    form.bind(*this);
  }
  FormerTargetSocket form;
  [[nodiscard]] const SubWarpFormer& policy() const { return *policy_; }
  void replace(std::unique_ptr<SubWarpFormer> policy) { policy_ = std::move(policy); }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(FormerRequest&, link::WarpPhase&, sc_core::sc_time&) override {
    throw InternalError("the former's socket is blocking");
  }
  void b_transport(FormerRequest& request, sc_core::sc_time&) override {
    request.formed = policy_->form(*request.instruction, request.candidates, request.pending, *request.shape);
  }

  std::unique_ptr<SubWarpFormer> policy_;
};

}  // namespace heddle::hw
