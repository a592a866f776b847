#include "hw/effects/warp_exchange.hpp"

#include <algorithm>

#include "base/set_bits.hpp"
#include "hw/effects/operands.hpp"

namespace heddle::hw {

namespace {

// All rows of a warp as one, by lane id: row after row, each of `width` lanes, as far as there are active threads.
class WarpRows {
 public:
  WarpRows(RegisterArray& registers, unsigned first_row, unsigned width, LaneMask active)
      : registers_(registers), first_row_(first_row), width_(width), active_(active) {}
  void word(unsigned reg, isa::LaneWord& into) const {
    each_row_of_it([&](unsigned row, unsigned first) {
      std::copy_n(registers_.word(row, reg).begin(), width_, into.begin() + first);
    });
  }
  [[nodiscard]] LaneMask predicate(unsigned reg) const {
    LaneMask value = 0;
    each_row_of_it([&](unsigned row, unsigned first) {
      value |= (registers_.predicate(row, reg) & (~LaneMask{0} >> (isa::kLanes - width_))) << first;
    });
    return value;
  }

 private:
  // visit(row, lane id of its first lane)
  template <class Visit>
  void each_row_of_it(Visit visit) const {
    for (unsigned first = 0; first < isa::kLanes && (active_ >> first) != 0; first += width_) {
      visit(first_row_ + first / width_, first);
    }
  }
  RegisterArray& registers_;
  const unsigned first_row_, width_;
  const LaneMask active_;
};

}  // namespace

void WarpExchange::compute(const link::SubWarp& first, unsigned first_row, unsigned width, RegisterArray& array) {
  const link::DecodedInstruction& decoded = *first.decoded;
  const isa::Instruction& instruction = decoded.instruction;
  const WarpRows rows(array, first_row, width, first.warp);
  read_operands(decoded, rows, values_);
  values_.active = read_predicate(rows, instruction.guard) & first.warp;
  values_.p = values_.q = values_.fault = 0;
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
