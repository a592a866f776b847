#include "hw/core/execute/register_read.hpp"

#include <algorithm>

#include "hw/effects/form.hpp"
#include "hw/effects/operands.hpp"

namespace heddle::hw {

RegisterReadStage::RegisterReadStage(const sc_core::sc_module_name& name, CoreState& state, link::Clock clock)
    : ReceivingStage(name, state, state.machine.core.decode_latency, CoreStage::register_read),
      registers("registers"),
      out("out"),
      clock_(clock),
      interlocks_(about<IssueDiscipline>(state.machine.core.issue).traits.early_next_pc) {
  registers.bind(*this);
  if (state.machine.registers.banks != 0) {
    reads_.emplace(state.machine.registers);
  }
}

void RegisterReadStage::access_file(const link::SubWarp& sub_warp, const link::DecodedInstruction& decoded) {
  RegisterAccess access{&sub_warp, decoded.operand_words - need_.cached, false};
  if (sub_warp.scalar) {
    const Group& group = state_.groups[sub_warp.group];
    access.warp = group.active;
    access.first_row = group.first_row;
  }
  if (RegisterFile* const file = direct_file()) {
    file->count(access);
    done_at_ = std::max(done_at_, state_.now);
    array_ = &file->array();
    return;
  }
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  registers->b_transport(access, delay);
  const Cycle done = state_.now + clock_.cycles_of(delay);
  done_at_ = std::max(done_at_, done);
  if (array_ == nullptr && state_.replay == nullptr) {
    ::tlm::tlm_dmi dmi;
    if (!registers->get_direct_mem_ptr(access, dmi)) {
      throw InternalError("the register file grants no direct memory access");
    }
    array_ = reinterpret_cast<RegisterArray*>(dmi.get_dmi_ptr());
  }
}

void RegisterReadStage::read(link::SubWarp& sub_warp, Cycle now) {
  if constexpr (kCheckInvariants) {
    state_.invariants.read(sub_warp, now);
  }
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  access_file(sub_warp, decoded);
  if (state_.replay != nullptr) {
    replay_guard(*state_.replay, sub_warp);
    return;
  }
  read_operands(*array_, sub_warp);
  if (decoded.exchanges) {
    exchange_.take_part(sub_warp, state_.groups[sub_warp.group].first_row, state_.core.simd_width, *array_);
  }
}

bool RegisterReadStage::takes_ports(const link::SubWarp& sub_warp) {
  const isa::OperandWords& operands = sub_warp.decoded->operands;
  const std::optional<unsigned> row = sub_warp.uniform ? std::optional<unsigned>(sub_warp.first_row) : std::nullopt;
  if (waits_for_ports_ == nullptr) {
    need_ = sub_warp.lanes != 0 ? reads_->need(operands, row) : OperandReads::Need{};
  }
  if (!reads_->fits(need_, state_.now)) {
    lacks_ports(sub_warp);
    return false;
  }
  waits_for_ports_ = nullptr;
  if (sub_warp.lanes != 0) {
    state_.statistics.kept_operands += reads_->take(operands, sub_warp.decoded->reuse, row, need_, state_.now);
    state_.statistics.reused_operands += need_.cached;
  }
  return true;
}

void RegisterReadStage::lacks_ports(const link::SubWarp& sub_warp) {
  state_.statistics.bank_conflicts += waits_for_ports_ == nullptr ? 1 : 0;
  ++state_.statistics.bank_stalls;
  waits_for_ports_ = &sub_warp;
  const Cycle since = state_.now - lacked_at_;
  lacked_ = (since < 64 ? lacked_ << since : 0) | 1U;
  lacked_at_ = state_.now;
  state_.block_cause = IdleCause::register_banks;
  held(sub_warp, IdleCause::register_banks);
}

bool RegisterReadStage::read_all(link::SubWarp& first) {
  for (link::SubWarp* each = unread_ != nullptr ? unread_ : &first; each != nullptr; each = each->beside) {
    if (warps_ != nullptr && waits_for_ports_ == nullptr && !warps_->may_read(*each)) {
      unread_ = each;
      waits_for_results_ = true;
      ++state_.statistics.interlock_stalls;
      state_.block_cause = IdleCause::pipeline;
      held(*each, IdleCause::pipeline);
      return false;
    }
    if (reads_ && !takes_ports(*each)) {
      unread_ = each;
      return false;
    }
    if (warps_ != nullptr) {
      warps_->operands_read(*each);
    }
    const bool let_by = lets(*each);
    if (let_by) {
      each->begins = state_.now + pipeline_->before_units(position_);
    } else {
      works_now(*each);
      read(*each, state_.now);
    }
    state_.moved();
    if (state_.observer != nullptr) {
      if (let_by) {
        shows(*each);
      } else {
        state_.observer->read(state_, *each);
      }
    }
  }
  unread_ = nullptr;
  read_done_ = true;
  return true;
}

void RegisterReadStage::shows(link::SubWarp& sub_warp) {
  pipeline_->show_work(sub_warp, position_);
  if (pipeline_->untouched(sub_warp)) {
    const Group& group = state_.groups[sub_warp.group];
    sub_warp.executing = Formation::of_row(state_, direct_file()->array(), *sub_warp.decoded, group).executing;
  }
  state_.observer->read(state_, sub_warp);
}

void RegisterReadStage::tick(Cycle now) {
  waits_for_results_ = false;
  link::SubWarp* const sub_warp = latch_.front(now);
  if (sub_warp == nullptr) {
    return;
  }
  if (!read_done_ && !read_all(*sub_warp)) {
    return;
  }
  if (now < done_at_) {
    held(*sub_warp, IdleCause::pipeline);  // its operands take several cycles of the banks' ports
  } else if (out.offer(*sub_warp)) {
    latch_.pop_all();
    read_done_ = false;
  } else {
    held(*sub_warp, state_.block_cause);
  }
}

void RegisterReadStage::each_sub_warp(Visit visit) {
  ReceivingStage::each_sub_warp(visit);
  if (!latch_.empty() && read_done_) {
    visit(*pipeline_, latch_.oldest(), position_ + 1);
  }
}

void RegisterReadStage::reset() {
  drop_all();
  exchange_.reset();
  read_done_ = waits_for_results_ = waits_at_rest_ = false;
  unread_ = nullptr;
  done_at_ = 0;
  waits_for_ports_ = nullptr;
  need_ = {};
  if (reads_) {
    reads_->reset();
  }
  lacked_ = 0;
  lacked_at_ = 0;
}

}  // namespace heddle::hw
