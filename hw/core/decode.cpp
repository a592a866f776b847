#include "hw/core/decode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::hw {

DecodeStage::DecodeStage(const sc_core::sc_module_name& name, CoreState& state, std::unique_ptr<SubWarpFormer> former,
                         RegisterArray& registers)
    : ReceivingStage(name, state, state.machine.core.fetch_latency),
      out("out"),
      former_("former", std::move(former)),
      registers_(registers),
      guarded_(state.rows_per_warp) {}

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

}  // namespace

const link::DecodedInstruction* DecodeStage::decode(const link::SubWarp& sub_warp) {
  if (sub_warp.pc >= decoded_.size()) {
    decoded_.resize(state_.launch->code_words);
  }
  std::unique_ptr<link::DecodedInstruction>& entry = decoded_[sub_warp.pc];
  if (entry && entry->word == sub_warp.word) {
    return entry.get();
  }
  const std::optional<isa::Instruction> instruction = isa::decode(sub_warp.word);
  if (!instruction) {
    return nullptr;
  }
  if (highest_register(*instruction) >= state_.launch->registers) {
    return nullptr;
  }
  entry = std::make_unique<link::DecodedInstruction>();
  entry->word = sub_warp.word;
  entry->instruction = *instruction;
  entry->function = isa::lane_function(*instruction);
  entry->form = isa::result_form(*instruction);
  entry->unit = isa::info(instruction->op).unit;
  entry->a_words = static_cast<std::uint8_t>(isa::a_registers(*instruction));
  entry->b_words = instruction->immediate ? 0 : static_cast<std::uint8_t>(isa::b_registers(*instruction));
  entry->c_words = static_cast<std::uint8_t>(isa::c_registers(*instruction));
  entry->d_words = instruction->immediate ? 0 : static_cast<std::uint8_t>(isa::d_registers(*instruction));
  entry->stored_words = static_cast<std::uint8_t>(isa::stored_registers(*instruction));
  entry->conditional_branch = instruction->op == isa::Op::BRA && !instruction->guard.always();
  return entry.get();
}

void DecodeStage::tick(Cycle now) {
  if (prepared_ != nullptr) {
    if (out.offer(*prepared_)) {
      prepared_ = nullptr;
    }
    return;  // one sub-warp per cycle: the next one in the next cycle
  }
  link::SubWarp* const arrived = latch_.front(now);
  if (arrived == nullptr) {
    return;
  }
  Group& group = state_.groups[arrived->group];
  if (present_ == nullptr) {
    present_ = decode(*arrived);
    if (present_ == nullptr) {
      state_.raise(isa::Fault::Kind::invalid_instruction, group,
                   isa::decode(arrived->word)
                       ? fmt::format("the instruction needs more than the launch's {} registers per thread",
                                     state_.launch->registers)
                       : fmt::format("the word {:#018x} is no instruction", arrived->word));
      return;
    }
    for (unsigned row = 0; row < group.rows(); ++row) {
      const isa::Pred guard = present_->instruction.guard;
      LaneMask value = guard.reg == isa::kPT ? ~LaneMask{0} : 0;
      if (guard.reg != isa::kPT) {
        if (group.lane_rows.empty()) {
          value = registers_.predicate(group.first_row + row, guard.reg);
        } else {
          for (LaneMask left = group.active[row]; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(left));
            value |= registers_.predicate(group.row_of(row, lane), guard.reg) & (LaneMask{1} << lane);
          }
        }
      }
      guarded_[row] = group.active[row] & (guard.negated ? ~value : value);
    }
    former_.policy().begin(present_->instruction, group.active, guarded_);
  }
  form(*arrived, group);
}

void DecodeStage::form(link::SubWarp& sub_warp, Group& group) {
  SubWarpShape shape;
  former_.policy().next(shape);
  const bool last = !former_.policy().more();
  // The payload that fetch made becomes the last sub-warp; the others are new ones.
  link::SubWarp& formed = last ? sub_warp : state_.pool.take();
  formed.group = sub_warp.group;
  formed.pc = sub_warp.pc;
  formed.word = sub_warp.word;
  formed.decoded = present_;
  formed.lanes = shape.lanes;
  formed.last = last;
  formed.uniform = shape.uniform && group.lane_rows.empty();
  formed.first_row = static_cast<std::uint16_t>(group.first_row + shape.first_row);
  if (!formed.uniform) {
    for (LaneMask left = shape.lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      formed.row[lane] = group.row_of(shape.uniform ? shape.first_row : shape.row[lane], lane);
    }
  }
  ++group.flight.formed;
  if (last) {
    group.flight.all_formed = true;
    latch_.pop();
    present_ = nullptr;
  }
  if (!out.offer(formed)) {
    prepared_ = &formed;
  }
}

void DecodeStage::reset() {
  drop_all();
  decoded_.clear();
  present_ = nullptr;
  prepared_ = nullptr;
}

}  // namespace heddle::hw
