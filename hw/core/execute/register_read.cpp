#include "hw/core/execute/register_read.hpp"

#include <algorithm>

#include "base/set_bits.hpp"
#include "isa/lane_vectors.hpp"

namespace heddle::hw {

void gather_word(RegisterArray& array, const link::SubWarp& sub_warp, unsigned reg, isa::LaneWord& out) {
  if (reg >= isa::kRZ) {
    out.fill(0);
    return;
  }
  if (sub_warp.uniform) {
    out = array.word(sub_warp.first_row, reg);
    return;
  }
  if (sub_warp.row_count != 0) {
    const auto part = [&](unsigned index, isa::LaneMask& lanes) {
      const link::RowLanes& row = sub_warp.rows[index];
      lanes = row.lanes & sub_warp.lanes;
      return array.word(row.row, reg).data();
    };
    isa::vectors::gather(sub_warp.row_count, part, out.data());
    return;
  }
  if (sub_warp.displaced) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      out[lane] = ((sub_warp.lanes >> lane) & 1U) != 0 ? array.word(sub_warp.row[lane], reg)[sub_warp.home[lane]] : 0;
    }
    return;
  }
  array.gather(sub_warp.row, sub_warp.lanes, reg, out);
}

isa::LaneMask gather_predicate(RegisterArray& array, const link::SubWarp& sub_warp, isa::Pred pred) {
  isa::LaneMask value = 0;
  if (pred.reg == isa::kPT) {
    value = ~isa::LaneMask{0};
  } else if (sub_warp.uniform) {
    value = array.predicate(sub_warp.first_row, pred.reg);
  } else if (sub_warp.row_count != 0) {
    for (unsigned index = 0; index != sub_warp.row_count; ++index) {
      const link::RowLanes& row = sub_warp.rows[index];
      value |= array.predicate(row.row, pred.reg) & row.lanes & sub_warp.lanes;
    }
  } else {
    for (const unsigned lane : set_bits(sub_warp.lanes)) {
      value |= ((array.predicate(sub_warp.row[lane], pred.reg) >> sub_warp.home_of(lane)) & 1U) << lane;
    }
  }
  return pred.negated ? ~value : value;
}

RegisterReadStage::RegisterReadStage(const sc_core::sc_module_name& name, CoreState& state, link::Clock clock)
    : ReceivingStage(name, state, state.machine.core.decode_latency, CoreStage::register_read),
      registers("registers"),
      out("out"),
      clock_(clock) {
  registers.bind(*this);
}

void RegisterReadStage::access_file(const link::SubWarp& sub_warp, const link::DecodedInstruction& decoded) {
  RegisterAccess access{&sub_warp, decoded.operand_words, false};
  if (sub_warp.scalar) {
    const Group& group = state_.groups[sub_warp.group];
    access.warp = group.active;
    access.first_row = group.first_row;
  }
  if (RegisterFile* const file = file_.of(registers)) {
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
  const isa::Instruction& instruction = decoded.instruction;
  access_file(sub_warp, decoded);
  if (state_.replay != nullptr) {
    replay_guard(sub_warp);
    return;
  }
  RegisterArray& array = *array_;
  isa::LaneValues& values = sub_warp.values;
  const auto word_of = [](unsigned reg, unsigned word) { return reg == isa::kRZ ? isa::kRZ : reg + word; };
  for (unsigned word = 0; word < decoded.a_words; ++word) {
    gather_word(array, sub_warp, word_of(instruction.a, word), values.a[word]);
  }
  if (instruction.immediate) {
    isa::load_immediate(instruction, values);
  } else {
    for (unsigned word = 0; word < decoded.b_words; ++word) {
      gather_word(array, sub_warp, word_of(instruction.b, word), values.b[word]);
    }
    if (decoded.d_words != 0) {
      gather_word(array, sub_warp, instruction.d, values.d);
    }
  }
  for (unsigned word = 0; word < decoded.c_words; ++word) {
    gather_word(array, sub_warp, word_of(instruction.c, word), values.c[word]);
  }
  for (unsigned word = 0; word < decoded.stored_words; ++word) {
    gather_word(array, sub_warp, word_of(instruction.dst, word), values.result[word]);
  }
  values.predicate_a = gather_predicate(array, sub_warp, decoded.sources.a);
  values.predicate_b = gather_predicate(array, sub_warp, decoded.sources.b);
  sub_warp.executing = sub_warp.lanes & gather_predicate(array, sub_warp, instruction.guard);
  values.active = sub_warp.executing;
  values.fault = 0;
  if (decoded.exchanges) {
    exchange_.take_part(sub_warp, state_.groups[sub_warp.group].first_row, state_.core.simd_width, array);
  }
}

// The guard as it was recorded; operands are not known.
void RegisterReadStage::replay_guard(link::SubWarp& sub_warp) {
  sub_warp.executing = sub_warp.lanes;
  if (!sub_warp.decoded->instruction.guard.always()) {
    for (const unsigned lane : set_bits(sub_warp.lanes)) {
      if (!state_.replay->take_bit(sub_warp.row_of(lane), sub_warp.home_of(lane))) {
        sub_warp.executing &= ~(LaneMask{1} << lane);
      }
    }
  }
  sub_warp.values.active = sub_warp.executing;
  sub_warp.values.fault = 0;
}

bool RegisterReadStage::read_all(link::SubWarp& first) {
  for (link::SubWarp* each = unread_ != nullptr ? unread_ : &first; each != nullptr; each = each->beside) {
    if (warps_ != nullptr && !warps_->may_read(*each)) {
      unread_ = each;
      ++state_.statistics.interlock_stalls;
      state_.block_cause = IdleCause::pipeline;
      held(*each, IdleCause::pipeline);
      return false;
    }
    if (each->deferred) {
      each->read_at = state_.now;
    } else {
      read(*each, state_.now);
    }
    state_.moved();
    if (state_.observer != nullptr) {
      state_.observer->read(state_, *each);
    }
  }
  unread_ = nullptr;
  read_done_ = true;
  return true;
}

void RegisterReadStage::tick(Cycle now) {
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

void RegisterReadStage::reset() {
  drop_all();
  exchange_.reset();
  read_done_ = false;
  unread_ = nullptr;
  done_at_ = 0;
}

}  // namespace heddle::hw
