#include "hw/core/warps/warp_exchange.hpp"

#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

// A row of the warp, of `width` lanes from lane id `first` on: its registers go to their lanes of `values`.
void gather_row(RegisterArray& array, unsigned row, unsigned first, unsigned width,
                const link::DecodedInstruction& decoded, isa::LaneValues& values) {
  const isa::Instruction& instruction = decoded.instruction;
  const auto word = [&](unsigned reg, isa::LaneWord& into) {
    for (unsigned lane = 0; lane < width; ++lane) {
      into[first + lane] = reg >= isa::kRZ ? 0 : array.word(row, reg)[lane];
    }
  };
  const auto words = [&](unsigned reg, unsigned count, isa::LaneWord* into) {
    for (unsigned number = 0; number < count; ++number) {
      word(reg >= isa::kRZ ? reg : reg + number, into[number]);
    }
  };
  words(instruction.a, decoded.a_words, values.a.data());
  words(instruction.b, decoded.b_words, values.b.data());  // none where b is an immediate
  words(instruction.c, decoded.c_words, values.c.data());
  words(instruction.d, decoded.d_words, &values.d);
}

isa::LaneMask row_predicate(RegisterArray& array, unsigned row, isa::Pred pred, unsigned width) {
  const isa::LaneMask value = pred.reg == isa::kPT ? ~isa::LaneMask{0} : array.predicate(row, pred.reg);
  return (pred.negated ? ~value : value) & (~isa::LaneMask{0} >> (isa::kLanes - width));
}

}  // namespace

void WarpExchange::compute(const link::SubWarp& first, unsigned first_row, unsigned width, RegisterArray& array) {
  const link::DecodedInstruction& decoded = *first.decoded;
  const isa::Instruction& instruction = decoded.instruction;
  values_.active = values_.predicate_a = values_.p = values_.q = values_.fault = 0;
  for (unsigned lane = 0; lane < isa::kLanes && (first.warp >> lane) != 0; lane += width) {
    const unsigned row = first_row + lane / width;
    gather_row(array, row, lane, width, decoded, values_);
    values_.active |= row_predicate(array, row, instruction.guard, width) << lane;
    values_.predicate_a |= row_predicate(array, row, decoded.sources.a, width) << lane;
  }
  values_.active &= first.warp;
  if (instruction.immediate) {
    isa::load_immediate(instruction, values_);
  }
  if (isa::is_accumulate(instruction.op)) {
    accumulation_ = isa::accumulate(instruction, values_);
  } else {
    decoded.function(instruction, values_);
  }
}

void WarpExchange::take_part(link::SubWarp& sub_warp, unsigned first_row, unsigned width, RegisterArray& array) {
  if (!under_way_) {
    compute(sub_warp, first_row, width, array);
  }
  under_way_ = !sub_warp.last;
  const auto id_of = [&](unsigned lane) {
    return (sub_warp.row_of(lane) - first_row) * width + sub_warp.home_of(lane);
  };
  isa::LaneValues& values = sub_warp.values;
  if (isa::is_accumulate(sub_warp.decoded->instruction.op)) {
    values.result[0].fill(accumulation_.count);
    values.a[0].fill(static_cast<std::uint32_t>(accumulation_.base));
    values.a[1].fill(static_cast<std::uint32_t>(accumulation_.base >> 32U));
    for (const unsigned lane : set_bits(sub_warp.executing)) {
      sub_warp.address[lane] = accumulation_.address[id_of(lane)];
    }
    return;
  }
  values.p = values.q = 0;
  for (const unsigned lane : set_bits(sub_warp.executing)) {
    const unsigned id = id_of(lane);
    values.result[0][lane] = values_.result[0][id];
    values.p |= ((values_.p >> id) & 1U) << lane;
    values.q |= ((values_.q >> id) & 1U) << lane;
  }
}

}  // namespace heddle::hw
