#include "hw/core/front/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "hw/core/memory/memory_queue.hpp"
#include "hw/effects/each_row.hpp"
#include "hw/effects/own_row.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/registers/reuse_marks.hpp"

namespace heddle::hw {

DecodeStage::DecodeStage(const sc_core::sc_module_name& name, CoreState& state, std::unique_ptr<SubWarpFormer> former,
                         std::unique_ptr<Scalarisation> scalar, RegisterArray& registers, const MakeFormerTap& make_tap)
    : ReceivingStage(name, state, state.machine.core.fetch_latency, CoreStage::decode),
      out("out"),
      masks("masks"),
      former_("former", std::move(former)),
      scalar_(std::move(scalar)),
      registers_(registers),
      formation_(state, registers),
      packs_(about<SubWarpFormer>(state.core.former).traits.packs),
      keeps_row_(about<SubWarpFormer>(state.core.former).traits.keeps_row),
      overlaps_(about<IssueDiscipline>(state.core.issue).traits.overlaps),
      candidates_(state.rows_per_warp),
      pending_(state.rows_per_warp) {
  masks.bind(static_cast<link::ForwardOnlyInitiator<FormerProtocol>&>(*this));
  former_tap_ = make_tap ? make_tap(former_.form) : nullptr;
  link::bind_through(former_tap_.get(), masks, former_.form);
}

void DecodeStage::form_by(std::unique_ptr<SubWarpFormer> former) {
  former_.replace(std::move(former));
  candidates_.assign(state_.rows_per_warp, 0);
  pending_.assign(state_.rows_per_warp, 0);
}

namespace {

// The highest general register that the instruction names; 0 when it names none.
unsigned highest_register(const isa::Instruction& instruction) {
  unsigned highest = 0;
  const auto look = [&highest](unsigned reg, unsigned words) {
    if (words != 0 && reg != isa::kRZ) {
      highest = std::max(highest, reg + words - 1);
    }
  };
  look(instruction.dst, isa::destination_registers(instruction));
  look(instruction.dst, isa::stored_registers(instruction));
  look(instruction.a, isa::a_registers(instruction));
  if (!instruction.immediate) {
    look(instruction.b, isa::b_registers(instruction));
    look(instruction.d, isa::d_registers(instruction));
  }
  look(instruction.c, isa::c_registers(instruction));
  return highest;
}

bool is_self_contained(const link::DecodedInstruction& decoded) {
  switch (decoded.instruction.op) {
    case isa::Op::BRA:
      return true;
    case isa::Op::S2R:
    case isa::Op::S2R64:
    case isa::Op::PROGRESS:
    case isa::Op::TREE_TRAVERSE:
    case isa::Op::TREE_TRAVERSE_SIZE:
      return false;
    default:
      // Divisions, which can fail, are the complex unit's.
      return (decoded.unit == isa::Unit::alu || decoded.unit == isa::Unit::warp || decoded.unit == isa::Unit::half) &&
             decoded.function != nullptr;
  }
}

}  // namespace

const link::DecodedInstruction* DecodeStage::decode_anew(std::uint32_t pc, const isa::InstructionWord& word) {
  if (pc >= decoded_.size()) {
    decoded_.resize(state_.launch->code_words);
  }
  std::unique_ptr<link::DecodedInstruction>& entry = decoded_[pc];
  const std::optional<isa::Instruction> instruction = isa::decode(word);
  if (!instruction) {
    return nullptr;
  }
  if (highest_register(*instruction) >= state_.launch->registers) {
    return nullptr;
  }
  entry = std::make_unique<link::DecodedInstruction>();
  entry->word = word;
  entry->instruction = *instruction;
  entry->function = isa::lane_function(*instruction);
  entry->form = isa::result_form(*instruction);
  entry->sources = isa::source_predicates(*instruction);
  entry->unit = unit_of(state_.core.complex_conversions, *instruction);
  entry->a_words = static_cast<std::uint8_t>(isa::a_registers(*instruction));
  entry->b_words = instruction->immediate ? 0 : static_cast<std::uint8_t>(isa::b_registers(*instruction));
  entry->c_words = static_cast<std::uint8_t>(isa::c_registers(*instruction));
  entry->d_words = instruction->immediate ? 0 : static_cast<std::uint8_t>(isa::d_registers(*instruction));
  entry->stored_words = static_cast<std::uint8_t>(isa::stored_registers(*instruction));
  entry->operand_words = static_cast<std::uint8_t>(entry->a_words + entry->b_words + entry->c_words + entry->d_words +
                                                   entry->stored_words);
  if (entry->unit == isa::Unit::tensor) {
    entry->occupies = static_cast<std::uint16_t>(tensor_interval(state_.core, *instruction));
  }
  entry->use = isa::register_use(*instruction);
  entry->operands = isa::operand_words(*instruction);
  entry->floating_point = isa::is_floating_point(*instruction);
  entry->lanes = entry->unit == isa::Unit::complex ? isa::LaneKind::other : isa::lane_kind(*instruction);
  entry->conditional_branch = instruction->op == isa::Op::BRA && !instruction->guard.always();
  entry->plain =
      entry->unit != isa::Unit::control && entry->unit != isa::Unit::barrier && instruction->op != isa::Op::PROGRESS;
  // Warps of more threads than lane ids have no operations between lanes (tb::launch_warp_size).
  entry->exchanges = state_.rows_per_warp > 1 && state_.core.warp_size <= isa::kLanes && !by_lane_ &&
                     (entry->unit == isa::Unit::warp || isa::is_accumulate(instruction->op));
  entry->self_contained = !entry->exchanges && is_self_contained(*entry);
  entry->forms_one = former_.policy().forms_one(*instruction);
  entry->queues = MemoryQueue::takes(*instruction);
  // Every active thread evaluates a branch, whose guard is the condition.
  entry->by_guard = packs_ && instruction->op != isa::Op::BRA && !instruction->guard.always();
  if (warps_ != nullptr) {
    entry->issue = warps_->rules(*entry);
  }
  if (pipeline_ != nullptr) {
    pipeline_->describe(*entry);
    entry->in_row = entry->in_row && OwnRow::has(*entry);
  }
  if (state_.machine.registers.banks != 0 && state_.machine.registers.cache) {
    mark_reuse(decoded_, pc, state_.machine.registers.banks);
  }
  return entry.get();
}

// Null: it is no instruction, which is a fault when it is the first one that is not.
const link::DecodedInstruction* DecodeStage::decode_or_raise(const link::SubWarp& sub_warp, const Group& group) {
  const link::DecodedInstruction* const decoded = look_up(sub_warp.pc, sub_warp.word);
  if (decoded != nullptr) {
    return decoded;
  }
  if (!group.all_completed()) {
    state_.block_cause = IdleCause::pipeline;  // an earlier instruction's fault would come first
    held(sub_warp, IdleCause::pipeline);
    return nullptr;
  }
  state_.raise(isa::Fault::Kind::invalid_instruction, group,
               isa::decode(sub_warp.word)
                   ? fmt::format("the instruction needs more than the launch's {} registers per thread",
                                 state_.launch->registers)
                   : fmt::format("the word 0x{} is no instruction", isa::text_of(sub_warp.word)));
  return nullptr;
}

// Fetch has said which lanes execute what: nothing is formed. All of a cycle are decoded in one, and go on beside each
// other.
void DecodeStage::tick_by_lane(link::SubWarp& first) {
  for (link::SubWarp* each = &first; each != nullptr; each = each->beside) {
    Group& group = state_.groups[each->group];
    each->decoded = decode_or_raise(*each, group);
    if (each->decoded == nullptr) {
      return;
    }
  }
  latch_.pop_all();
  state_.moved();
  for (link::SubWarp* each = &first; each != nullptr; each = each->beside) {
    Group& group = state_.groups[each->group];
    group.decoded = each->decoded;
    Formation::by_lane(*each, group);
    group.sub_warp_formed(each->flight);
    InFlight& flight = group.flights[each->flight];
    flight.all_formed = flight.all_formed || each->last;
    if constexpr (kCheckInvariants) {
      state_.invariants.formed(*each);
    }
    if (state_.observer != nullptr) {
      state_.observer->formed(state_, *each, *each);
    }
  }
  hand_on_formed(first);
}

// Makes candidates of the pending threads that are not in flight any more.
inline void DecodeStage::resolve(Group& group, std::uint32_t pc) {
  if (!any_pending_) {
    return;
  }
  LaneMask left = 0;
  const bool by_guard = present_->by_guard;
  for (unsigned row = 0; row < pending_.size(); ++row) {
    const LaneMask free = overlaps_ ? pending_[row] & ~group.busy[row] : pending_[row];
    if (free != 0) {
      const LaneMask joining = by_guard ? formation_.true_guards(present_->instruction.guard, group, row, free) : free;
      candidates_[row] |= joining;
      pending_[row] &= ~free;
      if (const LaneMask left_out = free & ~joining; left_out != 0) {
        formation_.leave_out(group, row, left_out);
        tell_left_out(group, pc, row, left_out);
      }
      if constexpr (kCheckInvariants) {
        seen_.left_out[row] |= free & ~joining;
      }
    }
    left |= pending_[row];
  }
  any_pending_ = left != 0;
}

namespace {

bool any(const std::vector<LaneMask>& masks) {
  return std::accumulate(masks.begin(), masks.end(), LaneMask{0}, std::bit_or{}) != 0;  // all: few, and no branch
}

}  // namespace

inline bool DecodeStage::ask_former(SubWarpShape& shape) {
  if (const SubWarpFormerModule* const former = direct_former_.of(masks)) {
    return former->policy().form(present_->instruction, candidates_, pending_, shape);
  }
  FormerRequest request{&present_->instruction, candidates_, pending_, &shape};
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  masks->b_transport(request, delay);
  return request.formed;
}

void DecodeStage::hand_on(link::SubWarp& sub_warp, Group& group, const SubWarpShape& shape, bool scalar) {
  state_.moved();
  const bool once = scalar || present_->forms_one;
  const bool last = once || !(any_pending_ || any(candidates_));
  // The payload that fetch made becomes the last sub-warp; the others are new ones.
  link::SubWarp& formed = last ? sub_warp : state_.pool.take();
  formed.group = sub_warp.group;
  formed.flight = sub_warp.flight;
  formed.done = sub_warp.done;
  formed.pc = sub_warp.pc;
  formed.word = sub_warp.word;
  formed.last = last;
  formed.decoded = present_;
  formation_.shaped(formed, shape, group, scalar);
  if constexpr (kCheckInvariants) {
    if (warps_ == nullptr) {
      state_.invariants.formed(formed);
    }
    each_row(group, formed, formed.lanes, [this](unsigned row, LaneMask lanes) { seen_.formed[row] |= lanes; });
    if (last && !once) {
      Invariants::all_formed(group, seen_.active, seen_.formed, seen_.left_out);
    }
  }
  if (state_.observer != nullptr) {
    state_.observer->formed(state_, formed, sub_warp);
    state_.observer->former_worked(state_, sub_warp, {*present_, candidates_, pending_, true});
  }
  works_now(formed);
  group.sub_warp_formed(formed.flight);
  if (last) {
    group.flights[formed.flight].all_formed = true;
    latch_.pop();
    present_ = nullptr;
  } else {
    state_.block_cause = IdleCause::pipeline;  // what holds fetch up: an instruction of several sub-warps
  }
  hand_on_formed(formed);
  if (last && warps_ != nullptr) {
    warps_->formed(group, once);
  }
}

inline void DecodeStage::form(link::SubWarp& sub_warp, Group& group) {
  resolve(group, sub_warp.pc);
  SubWarpShape shape;
  if (!ask_former(shape)) {
    if (any(candidates_) || any_pending_) {
      wait(sub_warp);
      return;
    }
    // No thread at all, or the last ones turned out to have a false guard: an empty sub-warp ends the instruction.
    shape = {};
  }
  hand_on(sub_warp, group, shape, false);
}

void DecodeStage::tick(Cycle now) {
  if (prepared_ != nullptr) {
    if (out.offer(*prepared_)) {
      prepared_ = nullptr;
    } else {
      held(*prepared_, state_.block_cause);
    }
    return;  // one sub-warp per cycle: the next one in the next cycle
  }
  link::SubWarp* const arrived = latch_.front(now);
  if (arrived == nullptr) {
    return;
  }
  if (by_lane_) [[unlikely]] {
    tick_by_lane(*arrived);
    return;
  }
  if (lets(*arrived)) {
    if (state_.observer != nullptr) {
      shows(*arrived);
    }
    latch_.pop();
    state_.moved();
    hand_on_formed(*arrived);
    return;
  }
  Group& group = state_.groups[arrived->group];
  if (present_ == nullptr) {
    present_ = decode_or_raise(*arrived, group);
    if (present_ == nullptr) {
      return;
    }
    if (keeps_row_ && form_row(*arrived, group)) {
      return;
    }
    begin(group);
  }
  if (warps_ != nullptr ? must_wait(group) : overlaps_ && present_->exchanges && has_earlier(group)) {
    wait(*arrived);
    return;
  }
  if (scalar_candidate_) {
    switch (is_scalar(group)) {
      case Scalar::now:
        form_scalar(*arrived, group);
        return;
      case Scalar::later:
        wait(*arrived);
        return;
      case Scalar::no:
        scalar_candidate_ = false;
    }
  }
  form(*arrived, group);
}

// Nothing of the present instruction has been formed, and an earlier one of its group has not completed.
bool DecodeStage::has_earlier(const Group& group) {
  return group.flight().formed == 0 && !group.all_completed();
}

// A guard that is looked at here must have been written. So must what threads of other rows bring into an exchange,
// which register read sees to where instructions keep their order (may_read).
bool DecodeStage::must_wait(const Group& group) const {
  return has_earlier(group) && (present_->by_guard || present_->issue.waits_for_earlier);
}

void DecodeStage::wait(const link::SubWarp& instruction) {
  ++state_.statistics.interlock_stalls;
  state_.block_cause = IdleCause::pipeline;
  held(instruction, IdleCause::pipeline);
  if (state_.observer != nullptr) {
    state_.observer->former_worked(state_, instruction, {*present_, candidates_, pending_, false});
  }
}

void DecodeStage::begin(Group& group) {
  group.decoded = present_;
  scalar_candidate_ = scalar_ != nullptr && isa::accepts_uniform(present_->instruction) && !present_->forms_one;
  std::copy(group.active.begin(), group.active.end(), pending_.begin());
  any_pending_ = true;
  std::fill(candidates_.begin(), candidates_.end(), 0);
  if constexpr (kCheckInvariants) {
    seen_.active = group.active;
    seen_.formed.assign(group.rows(), 0);
    seen_.left_out.assign(group.rows(), 0);
  }
}

// What form() makes of the usual warp, of one row, whose threads are all free: they are its one sub-warp. False: it is
// another one, or must wait, or what stands in front of the former sees each, and nothing has happened.
bool DecodeStage::form_row(link::SubWarp& sub_warp, Group& group) {
  if (group.rows() != 1 || scalar_ != nullptr || direct_former_.of(masks) == nullptr ||
      (warps_ != nullptr && must_wait(group))) {
    return false;
  }
  const LaneMask active = group.active[0];
  if (overlaps_ && (active & group.busy[0]) != 0) {
    return false;
  }
  sub_warp.decoded = present_;
  form_whole_row(sub_warp, group);
  works_now(sub_warp);
  latch_.pop();
  present_ = nullptr;
  hand_on_formed(sub_warp);
  if (warps_ != nullptr) {
    warps_->formed(group, sub_warp.whole);
  }
  return true;
}

void DecodeStage::form_whole_row(link::SubWarp& sub_warp, Group& group) {
  group.decoded = sub_warp.decoded;
  formation_.whole_row(sub_warp, group);
  state_.moved();
  const LaneMask left_out = group.active[0] & ~sub_warp.lanes;
  if constexpr (kCheckInvariants) {
    if (warps_ == nullptr) {
      state_.invariants.formed(sub_warp);
    }
    if (!sub_warp.whole) {
      Invariants::all_formed(group, {&group.active[0], 1}, {&sub_warp.lanes, 1}, {&left_out, 1});
    }
  }
  if (state_.observer != nullptr) {
    if (left_out != 0) {
      tell_left_out(group, sub_warp.pc, 0, left_out);
    }
    candidates_[0] = pending_[0] = 0;
    state_.observer->formed(state_, sub_warp, sub_warp);
    state_.observer->former_worked(state_, sub_warp, {*sub_warp.decoded, candidates_, pending_, true});
  }
  group.sub_warp_formed(sub_warp.flight);
  group.flights[sub_warp.flight].all_formed = true;
}

void DecodeStage::hand_on_formed(link::SubWarp& sub_warp) {
  if (!out.offer(sub_warp)) {
    prepared_ = &sub_warp;
    held(sub_warp, state_.block_cause);
  }
}

void DecodeStage::each_sub_warp(Visit visit) {
  ReceivingStage::each_sub_warp(visit);
  if (prepared_ != nullptr) {
    visit(*pipeline_, *prepared_, position_ + 1);
  }
}

void DecodeStage::reset() {
  drop_all();
  decoded_.clear();
  formation_.reset();
  present_ = nullptr;
  prepared_ = nullptr;
}

}  // namespace heddle::hw
