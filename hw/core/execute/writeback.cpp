#include "hw/core/execute/writeback.hpp"

#include <bit>
#include <utility>

#include "hw/core/pipeline/fast_path.hpp"
#include "hw/core/warps/each_row.hpp"

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
  for (link::SubWarp* sub_warp = returns.take(now); sub_warp != nullptr;) {
    link::SubWarp* const beside = std::exchange(sub_warp->beside, nullptr);
    retire(*sub_warp);
    sub_warp = beside;
  }
  // With the sub-warps beside it, which have the write ports of other lanes. Their payloads may be taken anew
  // meanwhile.
  for (link::SubWarp* sub_warp = latch_.front(now); sub_warp != nullptr;) {
    link::SubWarp* const beside = sub_warp->beside;
    latch_.pop();
    if (sub_warp->deferred) {
      fast_path_->retire(*sub_warp);
    } else {
      retire(*sub_warp);
    }
    sub_warp = beside;
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
  if (sub_warp.scalar) {
    write_for_warp(sub_warp);
  } else if (arrival == WarpUnit::Arrival::goes_on) {
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
  const auto working = static_cast<unsigned>(std::popcount(working_lanes(sub_warp)));
  count_retired(*sub_warp.decoded, working);
  if (sub_warp.whole && working != 0) {
    state_.statistics.thread_instructions += state_.groups[sub_warp.group].active_threads() - working;
  }
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
  RegisterArray& array = this->array(access);
  if (state_.replay != nullptr || sub_warp.forwarded) {
    return;  // there are no values, or they are there already
  }
  array.write_results(sub_warp, lanes);
}

RegisterArray& WriteBackStage::array(RegisterAccess& access) {
  if (RegisterFile* const file = file_.of(registers)) {
    file->count(access);
    return file->array();
  }
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  registers->b_transport(access, delay);
  if (array_ == nullptr) {
    ::tlm::tlm_dmi dmi;
    if (!registers->get_direct_mem_ptr(access, dmi)) {
      throw InternalError("the register file grants no direct memory access");
    }
    array_ = reinterpret_cast<RegisterArray*>(dmi.get_dmi_ptr());
  }
  return *array_;
}

// What the one lane of a scalar instruction has computed is every active thread's. The register file keeps it once; the
// model writes it where each thread looks.
void WriteBackStage::write_for_warp(link::SubWarp& sub_warp) {
  if (sub_warp.executing == 0) {
    return;
  }
  const Group& group = state_.groups[sub_warp.group];
  const isa::ResultForm& form = sub_warp.decoded->form;
  const auto lane = static_cast<unsigned>(std::countr_zero(sub_warp.executing));
  isa::LaneValues& values = sub_warp.values;
  for (unsigned word = 0; word < form.words; ++word) {
    const std::uint32_t value = values.result[word][lane];
    values.result[word].fill(value);
  }
  values.p = ((values.p >> lane) & 1U) != 0 ? ~LaneMask{0} : 0;
  values.q = ((values.q >> lane) & 1U) != 0 ? ~LaneMask{0} : 0;
  RegisterAccess access{&sub_warp, form.words, true, group.active, group.first_row};
  RegisterArray& array = this->array(access);
  const std::uint16_t own_row = sub_warp.first_row;
  for (unsigned row = 0; row < group.rows(); ++row) {
    sub_warp.first_row = static_cast<std::uint16_t>(group.first_row + row);
    array.write_results(sub_warp, group.active[row]);
    hash(sub_warp, group.active[row]);
  }
  sub_warp.first_row = own_row;
}

void WriteBackStage::reset() {
  late_jumps_.clear();
  drop_all();
  returns.drop_all();
}

}  // namespace heddle::hw
