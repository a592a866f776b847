#include "hw/core/writeback.hpp"

#include <bit>

#include "hw/core/each_row.hpp"

namespace heddle::hw {

WriteBackStage::WriteBackStage(const sc_core::sc_module_name& name, CoreState& state, WarpUnit& warps)
    : ReceivingStage(name, state, 1, CoreStage::write_back),
      returns("returns", state),
      registers("registers"),
      warps_(warps),
      overlaps_(about<IssueDiscipline>(state.core.issue).traits.overlaps) {
  registers.bind(*this);
}

void WriteBackStage::tick(Cycle now) {
  if (link::SubWarp* const sub_warp = returns.take(now)) {
    retire(*sub_warp);
  }
  if (link::SubWarp* const sub_warp = latch_.front(now)) {
    latch_.pop();
    retire(*sub_warp);
  }
}

void WriteBackStage::retire(link::SubWarp& sub_warp) {
  if (state_.fault) {
    return;
  }
  state_.moved();
  const WarpUnit::Arrival arrival = warps_.arrive(sub_warp);
  if (arrival == WarpUnit::Arrival::faulted) {
    return;
  }
  if (arrival == WarpUnit::Arrival::goes_on) {
    write(sub_warp, sub_warp.executing);
    hash(sub_warp, sub_warp.executing);
  }
  record(sub_warp);
  if (!late_jumps_.empty()) {
    const Group& group = state_.groups[sub_warp.group];
    each_row(group, sub_warp, sub_warp.lanes,
             [&](unsigned row, LaneMask lanes) { retire_late_jumps(group, row, lanes); });
  }
  warps_.retired(sub_warp, arrival, *this);
}

void WriteBackStage::write_released(const link::SubWarp& sub_warp) {
  write(sub_warp, sub_warp.executing);
  hash(sub_warp, sub_warp.executing);
}

void WriteBackStage::record(const link::SubWarp& sub_warp) {
  CoreStatistics& statistics = state_.statistics;
  ++statistics.warp_instructions;
  const auto working = static_cast<unsigned>(std::popcount(working_lanes(sub_warp)));
  statistics.lane_instructions += working;
  statistics.thread_instructions += sub_warp.whole ? state_.groups[sub_warp.group].active_threads() : working;
  state_.last_retirement = state_.now;
  if (state_.observer != nullptr) {
    state_.observer->retired(state_, sub_warp);
  }
}

void WriteBackStage::write(const link::SubWarp& sub_warp, LaneMask lanes) {
  const isa::ResultForm& form = sub_warp.decoded->form;
  if (lanes == 0 || (form.words == 0 && !form.predicates())) {
    return;
  }
  RegisterAccess access{&sub_warp, form.words, true};
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  registers->b_transport(access, delay);
  if (state_.replay != nullptr) {
    return;  // there are no values
  }
  if (array_ == nullptr) {
    ::tlm::tlm_dmi dmi;
    if (!registers->get_direct_mem_ptr(access, dmi)) {
      throw InternalError("the register file grants no direct memory access");
    }
    array_ = reinterpret_cast<RegisterArray*>(dmi.get_dmi_ptr());
  }
  const isa::LaneValues& values = sub_warp.values;
  const auto blend = [](LaneMask& into, LaneMask from, LaneMask where) { into = (from & where) | (into & ~where); };
  if (sub_warp.uniform) {
    for (unsigned word = 0; word < form.words; ++word) {
      isa::LaneWord& row = array_->word(sub_warp.first_row, form.dst + word);
      const isa::LaneWord& from = values.result[word];
      for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
        const std::uint32_t take = 0U - ((lanes >> lane) & 1U);
        row[lane] = (from[lane] & take) | (row[lane] & ~take);
      }
    }
    if (form.p != isa::kPT) {
      blend(array_->predicate(sub_warp.first_row, form.p), values.p, lanes);
    }
    if (form.q != isa::kPT) {
      blend(array_->predicate(sub_warp.first_row, form.q), values.q, lanes);
    }
    return;
  }
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const unsigned home = sub_warp.home_of(lane);
    const unsigned row = sub_warp.row[lane];
    for (unsigned word = 0; word < form.words; ++word) {
      array_->word(row, form.dst + word)[home] = values.result[word][lane];
    }
    if (form.p != isa::kPT) {
      blend(array_->predicate(row, form.p), ((values.p >> lane) & 1U) << home, LaneMask{1} << home);
    }
    if (form.q != isa::kPT) {
      blend(array_->predicate(row, form.q), ((values.q >> lane) & 1U) << home, LaneMask{1} << home);
    }
  }
}

void WriteBackStage::reset() {
  late_jumps_.clear();
  drop_all();
  returns.drop_all();
}

}  // namespace heddle::hw
