// The register file of a core: one bank per SIMD lane, each with an address decoder of its own, so that the lanes of a
// sub-warp may read different rows (LWM report 3.1.1 and figure 6(b)).
//
// Parameters   simd_width banks; rows = threads / simd_width
// Socket       access   target, RegisterProtocol. b_transport carries the timing: how many cycles the access takes (one
//                       row per bank and cycle: 1 unless two threads of one bank are wanted at once); it never waits.
//                       get_direct_mem_ptr hands out the storage, which carries the data.
// Storage      values[row][register][lane], 32 bits each, so that an operation on a row runs over neighbouring
//              lanes; predicates[row][register], a bit per lane.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/registers/bank_counters.hpp"
#include "hw/registers/register_array.hpp"
#include "hw/registers/statistics.hpp"
#include "hw/scalar/wide_registers.hpp"
#include "hw/state/core_statistics.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

struct RegisterAccess {
  const link::SubWarp* sub_warp = nullptr;
  unsigned operands = 0;  // 32-bit words read or written per lane
  bool write = false;
  // Of a scalar instruction (SubWarp::scalar): the active threads of its warp, one mask per row, and the first row.
  std::span<const isa::LaneMask> warp = {};
  unsigned first_row = 0;
};
struct RegisterProtocol {
  using tlm_payload_type = RegisterAccess;
  using tlm_phase_type = link::WarpPhase;
};
using RegisterInitiatorSocket = ::tlm::tlm_initiator_socket<32, RegisterProtocol>;
using RegisterTargetSocket = ::tlm::tlm_target_socket<32, RegisterProtocol>;

// One lane's bank. Its port serves one row per cycle.
class RegisterBank : public sc_core::sc_module {
 public:
  RegisterBank(const sc_core::sc_module_name& name, BankCounters& counters, unsigned lane)
      : sc_core::sc_module(name), counters_(counters), lane_(lane) {}
  template <class Visitor>
  void describe(Visitor& visit) {
    describe_bank(visit, counters_.reads.of(lane_), counters_.writes.of(lane_));
  }

 private:
  BankCounters& counters_;
  unsigned lane_;
};

class RegisterFile : public sc_core::sc_module, public ::tlm::tlm_fw_transport_if<RegisterProtocol> {
 public:
  // `scalar`: the counters of a warp-wide register file beside the banks; null: there is none.
  RegisterFile(const sc_core::sc_module_name& name, unsigned simd_width, unsigned rows,
               CoreStatistics* scalar = nullptr);

  RegisterTargetSocket read_port;
  RegisterTargetSocket write_port;

  // An access at either port. A sub-warp has at most one thread per lane, and lane l's thread lives in bank l: every
  // access takes one cycle, whatever the rows, and so no delay beyond it.
  void count(const RegisterAccess& access) {
    if (scalar_ != nullptr) [[unlikely]] {
      count_with_wide(access);
      return;
    }
    (access.write ? counters_.writes : counters_.reads).add(access.sub_warp->lanes, access.operands);
  }

  // What a warp-wide register file beside the banks counts depends on each access; without one, whoever has direct access
  // to the storage may count its rows read and written itself.
  [[nodiscard]] bool counts_by_warp() const { return scalar_ != nullptr; }
  [[nodiscard]] BankCounters& counters() { return counters_; }

  // Before a launch: registers per thread; every register zero.
  void configure(unsigned registers);
  [[nodiscard]] RegisterArray& array() { return array_; }
  [[nodiscard]] const RegisterArray& array() const { return array_; }
  // Threads begin in a row: all their registers are zero.
  void clear_row(unsigned row) {
    array_.clear_row(row);
    if (scalar_ != nullptr) {
      wide_.clear_row(row);
    }
  }
  [[nodiscard]] const std::vector<std::unique_ptr<RegisterBank>>& banks() const { return banks_; }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(RegisterAccess&, link::WarpPhase&, sc_core::sc_time&) override;
  void b_transport(RegisterAccess& access, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(RegisterAccess& access, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(RegisterAccess&) override { return 0; }
  void count_with_wide(const RegisterAccess& access);
  void count_scalar(const RegisterAccess& access);

  BankCounters counters_;
  std::vector<std::unique_ptr<RegisterBank>> banks_;
  unsigned rows_;
  RegisterArray array_;
  CoreStatistics* const scalar_;
  WideRegisters wide_;  // with scalar_
};

}  // namespace heddle::hw
