// Long: one class: decoding and forming work on one latch in one cycle.
#include "hw/core/front/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>

#include "base/set_bits.hpp"
#include "hw/core/pipeline/fast_path.hpp"
#include "hw/core/warps/each_row.hpp"
#include "hw/issue/discipline.hpp"
#include "isa/lane_vectors.hpp"

namespace heddle::hw {

DecodeStage::DecodeStage(const sc_core::sc_module_name& name, CoreState& state, std::unique_ptr<SubWarpFormer> former,
                         std::unique_ptr<Scalarisation> scalar, RegisterArray& registers)
    : ReceivingStage(name, state, state.machine.core.fetch_latency, CoreStage::decode),
      out("out"),
      former_("former", std::move(former)),
      scalar_(std::move(scalar)),
      registers_(registers),
      packs_(about<SubWarpFormer>(state.core.former).traits.packs),
      keeps_row_(about<SubWarpFormer>(state.core.former).traits.keeps_row),
      overlaps_(about<IssueDiscipline>(state.core.issue).traits.overlaps),
      candidates_(state.rows_per_warp),
      pending_(state.rows_per_warp) {}

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
      return false;
    default:
      // Divisions, which can fail, are the complex unit's.
      return (decoded.unit == isa::Unit::alu || decoded.unit == isa::Unit::warp) && decoded.function != nullptr;
  }
}

}  // namespace

const DecodeStage::Decoded* DecodeStage::decode_anew(std::uint32_t pc, std::uint64_t word) {
  if (pc >= decoded_.size()) {
    decoded_.resize(state_.launch->code_words);
  }
  std::unique_ptr<Decoded>& entry = decoded_[pc];
  const std::optional<isa::Instruction> instruction = isa::decode(word);
  if (!instruction) {
    return nullptr;
  }
  if (highest_register(*instruction) >= state_.launch->registers) {
    return nullptr;
  }
  entry = std::make_unique<Decoded>();
  entry->word = word;
  entry->instruction = *instruction;
  entry->function = isa::lane_function(*instruction);
  entry->form = isa::result_form(*instruction);
  entry->sources = isa::source_predicates(*instruction);
  entry->unit = isa::info(instruction->op).unit;
  entry->a_words = static_cast<std::uint8_t>(isa::a_registers(*instruction));
  entry->b_words = instruction->immediate ? 0 : static_cast<std::uint8_t>(isa::b_registers(*instruction));
  entry->c_words = static_cast<std::uint8_t>(isa::c_registers(*instruction));
  entry->d_words = instruction->immediate ? 0 : static_cast<std::uint8_t>(isa::d_registers(*instruction));
  entry->stored_words = static_cast<std::uint8_t>(isa::stored_registers(*instruction));
  entry->operand_words = static_cast<std::uint8_t>(entry->a_words + entry->b_words + entry->c_words + entry->d_words +
                                                   entry->stored_words);
  entry->use = isa::register_use(*instruction);
  entry->floating_point = isa::is_floating_point(*instruction);
  entry->conditional_branch = instruction->op == isa::Op::BRA && !instruction->guard.always();
  entry->plain =
      entry->unit != isa::Unit::control && entry->unit != isa::Unit::barrier && instruction->op != isa::Op::PROGRESS;
  // Warps of more threads than lane ids have no operations between lanes (tb::launch_warp_size).
  entry->exchanges = state_.rows_per_warp > 1 && state_.core.warp_size <= isa::kLanes && !by_lane_ &&
                     (entry->unit == isa::Unit::warp || isa::is_accumulate(instruction->op));
  entry->self_contained = !entry->exchanges && is_self_contained(*entry);
  entry->once = former_.policy().forms_one(*instruction);
  // Every active thread evaluates a branch, whose guard is the condition.
  entry->by_guard = packs_ && instruction->op != isa::Op::BRA && !instruction->guard.always();
  return entry.get();
}

// Null: it is no instruction, which is a fault when it is the first one that is not.
const DecodeStage::Decoded* DecodeStage::decode_or_raise(const link::SubWarp& sub_warp, const Group& group) {
  const Decoded* const decoded = decode(sub_warp.pc, sub_warp.word);
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
                   : fmt::format("the word {:#018x} is no instruction", sub_warp.word));
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
    each->uniform = true;
    each->displaced = false;
    each->row_count = 0;
    each->whole = false;
    each->scalar = false;
    each->forwarded = false;
    each->resolved = false;
    InFlight& flight = group.flights[each->flight];
    ++flight.formed;
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
  if (arrived->deferred) {
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
  return has_earlier(group) && (present_->by_guard || warps_->waits_for_earlier(present_->instruction));
}

// Its active threads by their lane ids.
LaneMask DecodeStage::lanes_of_warp(const Group& group) const {
  LaneMask lanes = 0;
  for (unsigned row = 0; row < group.rows(); ++row) {
    lanes |= group.active[row] << (row * state_.core.simd_width);
  }
  return lanes;
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
  scalar_candidate_ = scalar_ != nullptr && isa::accepts_uniform(present_->instruction) && !present_->once;
  std::copy(group.active.begin(), group.active.end(), pending_.begin());
  any_pending_ = true;
  std::fill(candidates_.begin(), candidates_.end(), 0);
  if constexpr (kCheckInvariants) {
    seen_.active = group.active;
    seen_.formed.assign(group.rows(), 0);
    seen_.left_out.assign(group.rows(), 0);
  }
}

// The guard of the present instruction for some lanes of a row of the group's mask.
LaneMask DecodeStage::guard_value(isa::Pred guard, const Group& group, unsigned row, LaneMask lanes) {
  LaneMask value = 0;
  if (state_.replay != nullptr) {
    for (const unsigned lane : set_bits(lanes)) {
      value |= LaneMask{state_.replay->peek_bit(group.row_of(row, lane), group.home_of(lane))} << lane;
    }
    return value;
  }
  if (!group.dynamic) {
    value = registers_.predicate(group.first_row + row, guard.reg);
  } else {
    for (const unsigned lane : set_bits(lanes)) {
      value |= ((registers_.predicate(group.lane_row[lane], guard.reg) >> group.home_of(lane)) & 1U) << lane;
    }
  }
  return (guard.negated ? ~value : value) & lanes;
}

// Threads whose guard is false pass the instruction without being in a sub-warp.
void DecodeStage::leave_out(const Group& group, std::uint32_t pc, unsigned row, LaneMask lanes) {
  if (state_.observer != nullptr) {
    state_.observer->left_out(state_, group, pc, row, lanes);
  }
  if (state_.replay != nullptr) {
    for (const unsigned lane : set_bits(lanes)) {
      state_.replay->take_bit(group.row_of(row, lane), group.home_of(lane));
    }
  }
}

// Makes candidates of the pending threads that are not in flight any more.
void DecodeStage::resolve(Group& group, std::uint32_t pc) {
  if (!any_pending_) {
    return;
  }
  LaneMask left = 0;
  const bool by_guard = present_->by_guard;
  for (unsigned row = 0; row < pending_.size(); ++row) {
    const LaneMask free = overlaps_ ? pending_[row] & ~group.busy[row] : pending_[row];
    if (free != 0) {
      const LaneMask joining = by_guard ? guard_value(present_->instruction.guard, group, row, free) : free;
      candidates_[row] |= joining;
      pending_[row] &= ~free;
      if (const LaneMask left_out = free & ~joining; left_out != 0) {
        leave_out(group, pc, row, left_out);
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

void DecodeStage::form(link::SubWarp& sub_warp, Group& group) {
  resolve(group, sub_warp.pc);
  SubWarpShape shape;
  if (!former_.policy().form(present_->instruction, candidates_, pending_, shape)) {
    if (any(candidates_) || any_pending_) {
      wait(sub_warp);
      return;
    }
    // No thread at all, or the last ones turned out to have a false guard: an empty sub-warp ends the instruction.
    shape = {};
  }
  hand_on(sub_warp, group, shape, present_->once, false);
}

// What form() makes of the usual warp, of one row, whose threads are all free: they are its one sub-warp. False: it is
// another one, and nothing has happened.
bool DecodeStage::form_row(link::SubWarp& sub_warp, Group& group) {
  if (group.rows() != 1 || scalar_ != nullptr || warps_ != nullptr) {
    return false;
  }
  const LaneMask active = group.active[0];
  if (overlaps_ && (active & group.busy[0]) != 0) {
    return false;
  }
  form_whole_row(sub_warp, group, *present_);
  latch_.pop();
  present_ = nullptr;
  hand_on_formed(sub_warp);
  return true;
}

void DecodeStage::form_whole_row(link::SubWarp& sub_warp, Group& group, const Decoded& decoded) {
  group.decoded = &decoded;
  const LaneMask active = group.active[0];
  const LaneMask lanes = decoded.by_guard ? guard_value(decoded.instruction.guard, group, 0, active) : active;
  if (lanes != active) {
    leave_out(group, sub_warp.pc, 0, active & ~lanes);
  }
  state_.moved();
  sub_warp.last = true;
  sub_warp.whole = decoded.once;
  sub_warp.scalar = false;
  sub_warp.decoded = &decoded;
  sub_warp.forwarded = false;
  sub_warp.resolved = false;
  sub_warp.lanes = lanes;
  sub_warp.uniform = !group.dynamic || group.aligned;
  sub_warp.displaced = group.dynamic && group.displaced;
  sub_warp.first_row = group.first_row;
  sub_warp.row_count = 0;
  if (group.dynamic) {
    sub_warp.row = group.lane_row;
    sub_warp.home = group.lane_home;
    find_rows(sub_warp, group);
  }
  if (overlaps_) {
    group.busy[0] |= lanes;
  }
  if constexpr (kCheckInvariants) {
    state_.invariants.formed(sub_warp);
    if (!sub_warp.whole) {
      const LaneMask left_out = active & ~lanes;
      Invariants::all_formed(group, {&active, 1}, {&lanes, 1}, {&left_out, 1});
    }
  }
  if (state_.observer != nullptr) {
    candidates_[0] = pending_[0] = 0;
    state_.observer->formed(state_, sub_warp, sub_warp);
    state_.observer->former_worked(state_, sub_warp, {decoded, candidates_, pending_, true});
  }
  InFlight& flight = group.flights[sub_warp.flight];
  ++flight.formed;
  flight.all_formed = true;
}

void DecodeStage::hand_on_formed(link::SubWarp& sub_warp) {
  if (fast_path_ != nullptr && fast_path_->takes(sub_warp)) {
    return;
  }
  if (!out.offer(sub_warp)) {
    prepared_ = &sub_warp;
    held(sub_warp, state_.block_cause);
  }
}

void DecodeStage::hand_on_last(link::SubWarp& sub_warp, InFlight& flight) {
  ++flight.formed;
  flight.all_formed = true;
  latch_.pop();
  present_ = nullptr;
  hand_on_formed(sub_warp);
}

void DecodeStage::hand_on(link::SubWarp& sub_warp, Group& group, const SubWarpShape& shape, bool once, bool scalar) {
  state_.moved();
  const bool last = once || !(any_pending_ || any(candidates_));
  // The payload that fetch made becomes the last sub-warp; the others are new ones.
  link::SubWarp& formed = last ? sub_warp : state_.pool.take();
  formed.group = sub_warp.group;
  formed.flight = sub_warp.flight;
  formed.pc = sub_warp.pc;
  formed.word = sub_warp.word;
  formed.last = last;
  formed.whole = once;
  formed.scalar = scalar;
  formed.warp = present_->exchanges ? lanes_of_warp(group) : 0;
  describe(formed, shape, group);
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
  InFlight& flight = group.flights[formed.flight];
  if (last) {
    hand_on_last(formed, flight);
  } else {
    ++flight.formed;
    hand_on_formed(formed);
  }
  if (last && warps_ != nullptr) {
    warps_->formed(group, once);
  }
}

// Of a sub-warp of a dynamic group.
void DecodeStage::find_rows(link::SubWarp& formed, const Group& group) {
  if (formed.uniform || formed.displaced) {
    return;
  }
  if (group.id >= known_rows_.size()) {
    known_rows_.resize(state_.groups.size());
  }
  KnownRows& known = known_rows_[group.id];
  if ((formed.lanes & ~known.lanes) != 0 || known.lane_row != group.lane_row) {
    known.lane_row = group.lane_row;
    known.lanes = group.active[0];
    known.count = 0;
    for (LaneMask left = known.lanes; left != 0; left &= ~known.rows[known.count++].lanes) {
      if (known.count == known.rows.size()) {
        known.count = 0;  // too many
        break;
      }
      const std::uint16_t row = group.lane_row[static_cast<unsigned>(std::countr_zero(left))];
      known.rows[known.count] = {row, isa::vectors::equal(group.lane_row.data(), row) & left};
    }
  }
  formed.row_count = known.count;
  formed.rows = known.rows;
}

// The threads of the sub-warp: from the group's rows and columns to register rows and home lanes.
void DecodeStage::describe(link::SubWarp& formed, const SubWarpShape& shape, Group& group) {
  formed.decoded = present_;
  formed.forwarded = false;
  formed.resolved = false;
  formed.lanes = shape.lanes;
  formed.uniform = shape.uniform && (!group.dynamic || group.aligned);
  formed.displaced = group.dynamic ? group.displaced : shape.displaced;
  formed.first_row = static_cast<std::uint16_t>(group.first_row + shape.first_row);
  formed.row_count = 0;
  if (group.dynamic) {
    formed.row = group.lane_row;
    formed.home = group.lane_home;
    find_rows(formed, group);
  } else if (!shape.uniform) {
    formed.row_count = shape.row_count;
    for (unsigned index = 0; index != shape.row_count; ++index) {
      formed.rows[index] = {static_cast<std::uint16_t>(group.first_row + shape.rows[index].row),
                            shape.rows[index].lanes};
    }
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      formed.row[lane] = static_cast<std::uint16_t>(group.first_row + shape.row[lane]);
    }
    formed.home = shape.home;
  }
  if (!overlaps_) {
    return;
  }
  if (shape.uniform) {
    group.busy[shape.first_row] |= shape.lanes;
    return;
  }
  if (shape.row_count != 0) {
    for (unsigned index = 0; index != shape.row_count; ++index) {
      group.busy[shape.rows[index].row] |= shape.rows[index].lanes;
    }
    return;
  }
  for (const unsigned lane : set_bits(shape.lanes)) {
    group.busy[shape.row[lane]] |= LaneMask{1} << (shape.displaced ? shape.home[lane] : lane);
  }
}

void DecodeStage::reset() {
  drop_all();
  decoded_.clear();
  known_rows_.clear();
  present_ = nullptr;
  prepared_ = nullptr;
}

}  // namespace heddle::hw
