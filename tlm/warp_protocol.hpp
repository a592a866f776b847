// Between the stages of a core: one sub-warp's instruction. Non-blocking with back-pressure:
//
//   fw offer -> TLM_COMPLETED  taken: the target owns the payload now; it works on it in a later cycle
//            -> TLM_UPDATED    refused: the target is full; offer it again in a later cycle
//
// Stages are advanced from write-back to fetch, so a stage that hands a payload on makes room in the same cycle, and
// what it took is looked at in the next: one slot per stage and cycle of latency is enough.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <tlm>
#include <vector>

#include "base/error.hpp"
#include "isa/result_form.hpp"
#include "isa/semantics.hpp"
#include "tlm/clock.hpp"

namespace heddle::link {

// What decode finds out about an instruction word once.
struct DecodedInstruction {
  std::uint64_t word = 0;
  isa::Instruction instruction;
  isa::LaneFunction function = nullptr;  // null: not lane-wise
  isa::ResultForm form;
  isa::Unit unit = isa::Unit::alu;
  std::uint8_t a_words = 0, b_words = 0, c_words = 0, d_words = 0, stored_words = 0;
  bool conditional_branch = false;
};

struct SubWarp {
  // Written by fetch.
  std::uint32_t group = 0;
  std::uint32_t pc = 0;
  std::uint64_t word = 0;
  std::uint8_t flight = 0;  // the group's record of this instruction
  // Written by decode and the sub-warp former. Lane l holds the thread of register row row[l] (first_row if uniform)
  // and home lane home[l] (l itself unless displaced).
  const DecodedInstruction* decoded = nullptr;
  isa::LaneMask lanes = 0;  // lanes that hold a thread
  bool uniform = true;
  bool last = true;  // last sub-warp of its instruction
  std::uint16_t first_row = 0;
  std::array<std::uint16_t, isa::kLanes> row{};
  bool displaced = false;  // never with uniform
  bool whole = false;      // stands for every active thread of its group (an unconditional branch taken once)
  std::array<std::uint8_t, isa::kLanes> home{};
  // Written by register read.
  isa::LaneMask executing = 0;  // lanes whose guard is true
  isa::LaneValues values;       // operands; results by execute and memory
  // Written by execute for memory operations: generic address per lane, and its low word (retirement hash).
  std::array<std::uint64_t, isa::kLanes> address{};
  alignas(64) isa::LaneWord address_low{};

  [[nodiscard]] std::uint16_t row_of(unsigned lane) const { return uniform ? first_row : row[lane]; }
  [[nodiscard]] unsigned home_of(unsigned lane) const { return displaced ? home[lane] : lane; }
};

enum class WarpPhase : std::uint8_t { offer };

struct WarpProtocol {
  using tlm_payload_type = SubWarp;
  using tlm_phase_type = WarpPhase;
};

using WarpInitiatorSocket = ::tlm::tlm_initiator_socket<32, WarpProtocol>;
using WarpTargetSocket = ::tlm::tlm_target_socket<32, WarpProtocol>;

// The parts of the transport interfaces that protocols of our own do not use.
template <class Protocol>
class NonBlockingTarget : public ::tlm::tlm_fw_transport_if<Protocol> {
 public:
  void b_transport(typename Protocol::tlm_payload_type&, sc_core::sc_time&) override {
    throw InternalError("this socket's protocol is non-blocking");
  }
  bool get_direct_mem_ptr(typename Protocol::tlm_payload_type&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(typename Protocol::tlm_payload_type&) override { return 0; }
};

template <class Protocol>
class ForwardOnlyInitiator : public ::tlm::tlm_bw_transport_if<Protocol> {
 public:
  ::tlm::tlm_sync_enum nb_transport_bw(typename Protocol::tlm_payload_type&, typename Protocol::tlm_phase_type&,
                                       sc_core::sc_time&) override {
    throw InternalError("this socket's protocol has no backward path");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

// Sub-warps are taken from here and come back at retirement, so that the hot path allocates nothing.
class SubWarpPool {
 public:
  [[nodiscard]] SubWarp& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<SubWarp>());
      return *all_.back();
    }
    SubWarp* const sub_warp = free_.back();
    free_.pop_back();
    return *sub_warp;
  }
  void give_back(SubWarp& sub_warp) { free_.push_back(&sub_warp); }
  // At the start of a launch, when a fault has left some in the pipeline.
  void take_back_all() {
    free_.clear();
    for (const std::unique_ptr<SubWarp>& sub_warp : all_) {
      free_.push_back(sub_warp.get());
    }
  }
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<SubWarp>> all_;
  std::vector<SubWarp*> free_;
};

}  // namespace heddle::link
