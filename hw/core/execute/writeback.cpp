#include "hw/core/execute/writeback.hpp"

#include <array>
#include <utility>

namespace heddle::hw {

WriteBackStage::WriteBackStage(const sc_core::sc_module_name& name, CoreState& state, WarpUnit& warps)
    : ReceivingStage(name, state, 1, CoreStage::write_back),
      returns("returns", state),
      registers("registers"),
      warps_(warps),
      retirement_(state),
      own_row_(state) {
  registers.bind(*this);
}

bool WriteBackStage::lacks_ports(Cycle now) const {
  const RegisterFileParameters& file = state_.machine.registers;
  const link::SubWarp* const first = latch_.front(now);
  const link::SubWarp* const other = returns.front(now);
  if (first == nullptr || other == nullptr || file.banks == 0 || first->executing == 0 || other->executing == 0) {
    return false;
  }
  std::array<unsigned, RegisterFileParameters::kMostBanks> of_first{};
  first->decoded->use.written.each([&](unsigned reg) { ++of_first[reg % file.banks]; });
  // What is more than a port can write in a cycle has taken it for several before, as far as that is modelled
  // (l1d.return_bytes).
  bool lacks = false;
  other->decoded->use.written.each(
      [&](unsigned reg) { lacks = lacks || of_first[reg % file.banks] >= file.write_ports; });
  return lacks;
}

void WriteBackStage::tick(Cycle now) {
  const bool waits = state_.machine.registers.write_ports != 0 && lacks_ports(now);
  if (waits) {
    ++state_.statistics.bank_write_stalls;
    returns.waits(*returns.front(now));
  }
  for (link::SubWarp* sub_warp = waits ? nullptr : returns.take(now); sub_warp != nullptr;) {
    link::SubWarp* const beside = std::exchange(sub_warp->beside, nullptr);
    retire(*sub_warp);
    sub_warp = beside;
  }
  // With the sub-warps beside it, which have the write ports of other lanes. Their payloads may be taken anew
  // meanwhile.
  for (link::SubWarp* sub_warp = latch_.front(now); sub_warp != nullptr;) {
    link::SubWarp* const beside = sub_warp->beside;
    latch_.pop();
    ends(*sub_warp);
    sub_warp = beside;
  }
}

inline void WriteBackStage::retire_row(link::SubWarp& sub_warp, Group& group, const ThreadHome& home,
                                       RegisterFile& file) {
  const Cycle read = sub_warp.begins - state_.machine.core.register_read_latency;
  const Formation::Row threads = own_row_.compute(file.array(), file.counters(), sub_warp, group, read);
  if (state_.fault) {
    return;  // of another instruction in this cycle: it does not come to its end
  }
  state_.moved();
  own_row_.commit(file.array(), file.counters(), sub_warp, group, home, threads, retirement_);
  const link::DecodedInstruction& decoded = *sub_warp.decoded;
  if (state_.observer != nullptr) {
    state_.observer->retired(state_, sub_warp);
  }
  state_.pool.give_back(sub_warp);
  if (decoded.plain && warps_.steps_plainly(group)) {
    warps_.step(group, decoded);
  } else {
    warps_.completed(group, decoded, threads.executing);
  }
}

// What the stages have put off is done here at the latest, for the usual instruction all at once.
void WriteBackStage::ends(link::SubWarp& sub_warp) {
  if (direct_ != nullptr && pipeline_->lets_any_by() && pipeline_->untouched(sub_warp) && sub_warp.decoded->in_row) {
    Group& group = state_.groups[sub_warp.group];
    if (const ThreadHome* const home = own_row_.home_of(group)) {
      retire_row(sub_warp, group, *home, *direct_);
      return;
    }
  }
  works_now(sub_warp);
  retire(sub_warp);
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
  if (sub_warp.scalar || arrival == WarpUnit::Arrival::goes_on) {
    write(sub_warp);
  }
  retirement_.count(sub_warp);
  if (state_.observer != nullptr) {
    state_.observer->retired(state_, sub_warp);
  }
  retirement_.completed(sub_warp);
  const GroupId group = sub_warp.group;
  warps_.retired(sub_warp, arrival, *this);
  retirement_.completed(group);
}

void WriteBackStage::write(link::SubWarp& sub_warp) {
  if (sub_warp.executing == 0) {
    return;
  }
  RegisterAccess access{&sub_warp, sub_warp.decoded->form.words, true};
  if (sub_warp.scalar) {
    const Group& group = state_.groups[sub_warp.group];
    access.warp = group.active;
    access.first_row = group.first_row;
    retirement_.results_for_warp(sub_warp, array(access));
  } else {
    retirement_.results(sub_warp, has_results(*sub_warp.decoded) ? &array(access) : nullptr);
  }
}

RegisterArray& WriteBackStage::array(RegisterAccess& access) {
  if (RegisterFile* const file = direct_file()) {
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

void WriteBackStage::reset() {
  direct_ = pipeline_ != nullptr ? direct_file() : nullptr;
  retirement_.reset();
  drop_all();
  returns.drop_all();
}

}  // namespace heddle::hw
