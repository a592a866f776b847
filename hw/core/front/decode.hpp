// Decode stage: decodes the instruction word and, in parallel, breaks the group into sub-warps (LWM report 3.1.1 and
// figure 5: the sub-warp logic works beside the decoder).
//
//   in    target, WarpProtocol      from fetch
//   out   initiator, WarpProtocol   one sub-warp per cycle to register read
//   masks initiator, FormerProtocol to the sub-warp former: masks there, a sub-warp back, within the cycle
// While threads remain the instruction stays in the input latch, which stalls fetch.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hw/core/front/former_module.hpp"
#include "hw/core/pipeline/stage.hpp"
#include "hw/core/warps/warp_unit.hpp"
#include "hw/effects/form.hpp"
#include "hw/registers/register_file.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "hw/subwarp/former.hpp"
#include "tlm/behind_socket.hpp"

namespace heddle::hw {

class DecodeStage final : public ReceivingStage, private link::ForwardOnlyInitiator<FormerProtocol> {
 public:
  // What is to stand in front of the former; null: nothing.
  using MakeFormerTap = std::function<std::unique_ptr<link::TapOf<FormerProtocol>>(const FormerTargetSocket& former)>;
  // `scalar`: who finds instructions that one lane executes for its warp; null: none.
  DecodeStage(const sc_core::sc_module_name& name, CoreState& state, std::unique_ptr<SubWarpFormer> former,
              std::unique_ptr<Scalarisation> scalar, RegisterArray& registers, const MakeFormerTap& make_tap = {});

  StageOutput out;
  FormerInitiatorSocket masks;

  void tick(Cycle now) override;
  After turn(Cycle now) override { return turn_of(*this, now); }
  [[nodiscard]] bool idle() const override { return empty() && prepared_ == nullptr; }
  [[nodiscard]] bool stuck(Cycle) const override { return empty() || prepared_ != nullptr; }
  void reset() override;
  [[nodiscard]] StageOutput* output() override { return &out; }
  // A warp of one row, no thread of which can be in flight, is one sub-warp whenever it is formed.
  [[nodiscard]] bool sees_all() override {
    return !keeps_row_ || direct_former_.of(masks) == nullptr || state_.groups[0].rows() != 1 || scalar_ != nullptr ||
           warps_ != nullptr || overlaps_ || by_lane_;
  }
  [[nodiscard]] bool lets_by(const link::DecodedInstruction&) const override { return true; }
  [[nodiscard]] bool works_in_row() const override { return true; }
  void work(link::SubWarp& sub_warp) override { form_whole_row(sub_warp, state_.groups[sub_warp.group]); }
  void shows(link::SubWarp& sub_warp) override { pipeline_->finish(sub_warp, position_ + 1); }  // its work tells
  [[nodiscard]] bool holds_up(Cycle now) const override { return prepared_ != nullptr || occupied(now); }
  void each_sub_warp(Visit visit) override;
  // Who hears of instructions whose sub-warps have all been formed, and says which must wait for earlier ones of their
  // group; none unless told (IssueDiscipline::Traits::early_next_pc).
  void tell(WarpUnit& warps) { warps_ = &warps; }
  // Lanes of a row of a group leave it for another path of the branch that was its instruction in `flight`: they are in
  // none of the sub-warps of the instruction behind that.
  void leave(const Group& group, unsigned flight, unsigned row, LaneMask lanes) {
    if (present_ != nullptr && latch_.oldest().group == group.id && latch_.oldest().flight != flight) {
      pending_[row] &= ~lanes;
      if constexpr (kCheckInvariants) {
        seen_.active[row] &= ~lanes;
      }
    }
  }
  // Each lane decodes for itself what it has fetched (Divergence::Traits::mimd_lanes).
  void decode_by_lane(bool by_lane) { by_lane_ = by_lane; }
  // What the word at a PC decodes to; null: no instruction of this launch.
  [[nodiscard]] const link::DecodedInstruction* look_up(std::uint32_t pc, const isa::InstructionWord& word) {
    if (pc < decoded_.size()) [[likely]] {
      if (const link::DecodedInstruction* const known = decoded_[pc].get(); known != nullptr && known->word == word) {
        return known;
      }
    }
    return decode_anew(pc, word);
  }
  // Another former, for groups with another number of rows. Between launches.
  void form_by(std::unique_ptr<SubWarpFormer> former);

 private:
  [[nodiscard]] const link::DecodedInstruction* decode_anew(std::uint32_t pc, const isa::InstructionWord& word);
  void begin(Group& group);
  [[gnu::always_inline]] void resolve(Group& group, std::uint32_t pc);
  void tell_left_out(const Group& group, std::uint32_t pc, unsigned row, LaneMask lanes) const {
    if (state_.observer != nullptr) {
      state_.observer->left_out(state_, group, pc, row, lanes);
    }
  }
  [[gnu::always_inline]] void form(link::SubWarp& sub_warp, Group& group);
  [[nodiscard]] [[gnu::always_inline]] bool ask_former(SubWarpShape& shape);
  [[nodiscard]] [[gnu::noinline]] bool form_row(link::SubWarp& sub_warp, Group& group);
  // The one sub-warp of a group of one row, none of whose threads is in flight: what forming does to it and the group.
  // It has been decoded.
  void form_whole_row(link::SubWarp& sub_warp, Group& group);
  void hand_on_formed(link::SubWarp& sub_warp);
  void hand_on(link::SubWarp& sub_warp, Group& group, const SubWarpShape& shape, bool scalar);
  enum class Scalar : std::uint8_t { no, later, now };
  [[nodiscard]] Scalar is_scalar(const Group& group) const;
  void form_scalar(link::SubWarp& sub_warp, Group& group);
  [[nodiscard]] static bool has_earlier(const Group& group);
  [[nodiscard]] bool must_wait(const Group& group) const;
  void wait(const link::SubWarp& instruction);

  void tick_by_lane(link::SubWarp& first);
  [[nodiscard]] const link::DecodedInstruction* decode_or_raise(const link::SubWarp& sub_warp, const Group& group);

  bool by_lane_ = false;
  SubWarpFormerModule former_;
  std::unique_ptr<link::TapOf<FormerProtocol>> former_tap_;  // null: none
  link::BehindSocket<SubWarpFormerModule> direct_former_;
  const std::unique_ptr<Scalarisation> scalar_;
  bool scalar_candidate_ = false;  // the instruction in the latch may turn out to be scalar
  RegisterArray& registers_;
  Formation formation_;
  WarpUnit* warps_ = nullptr;
  const bool packs_;      // SubWarpFormer::Traits
  const bool keeps_row_;  // likewise
  const bool overlaps_;   // IssueDiscipline::Traits: threads in flight are left alone
  std::vector<std::unique_ptr<link::DecodedInstruction>> decoded_;  // by PC: what the word there decoded to
  // Of the instruction in the latch, one mask per row. Candidates: the copy of the active mask, cleared as threads go.
  // Pending: active threads that are still in flight with an earlier instruction, so that their guard is not known.
  std::vector<LaneMask> candidates_, pending_;
  bool any_pending_ = false;
  // For Invariants::all_formed.
  struct Seen {
    std::vector<LaneMask> active, formed, left_out;
  };
  Seen seen_;
  const link::DecodedInstruction* present_ = nullptr;  // of the instruction in the latch, once decoded
  link::SubWarp* prepared_ = nullptr;                  // formed, but register read had no room
};

}  // namespace heddle::hw
