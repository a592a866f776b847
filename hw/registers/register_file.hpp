// The register file of a core: one bank per SIMD lane, each with an address decoder of its own, so that the lanes of a
// sub-warp may read different rows (LWM report 3.1.1 and figure 6(b)).
//
// Parameters   simd_width banks; rows = threads / simd_width
// Socket       access   target, RegisterProtocol. b_transport carries the timing: how many cycles the access takes (one
//                       row per bank and cycle: 1 unless two threads of one bank are wanted at once); it never waits.
//                       get_direct_mem_ptr hands out the storage, which carries the data.
//              bank_port[lane]   initiator, BankProtocol, to the lane's bank. As long as the banks themselves are bound
//                       there, the file counts for all of them at once, and so may who knows the file (direct()). A
//                       module in between takes that back: each bank's access is a call then, and the slowest one says
//                       how long the file takes.
// Storage      values[row][register][lane], 32 bits each, so that an operation on a row runs over neighbouring
//              lanes; predicates[row][register], a bit per lane.
#pragma once

#include <cstdint>
#include <functional>
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
#include "tlm/protocol_tap.hpp"
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

// A row of one lane's bank is read or written.
struct BankAccess {
  unsigned row = 0;
  unsigned words = 0;  // of the row
  bool write = false;
};
struct BankProtocol {
  using tlm_payload_type = BankAccess;
  using tlm_phase_type = link::WarpPhase;
};
using BankInitiatorSocket = ::tlm::tlm_initiator_socket<32, BankProtocol>;
using BankTargetSocket = ::tlm::tlm_target_socket<32, BankProtocol>;

// The registers of a lane's threads: what a bank stores. The array has the columns of all banks beside each other, so
// that an operation on a row runs over neighbouring lanes.
class RegisterColumn {
 public:
  RegisterColumn(RegisterArray& array, unsigned lane) : array_(array), lane_(lane) {}
  [[nodiscard]] std::uint32_t& word(unsigned row, unsigned reg) { return array_.word(row, reg)[lane_]; }
  [[nodiscard]] bool predicate(unsigned row, unsigned reg) { return ((array_.predicate(row, reg) >> lane_) & 1U) != 0; }

 private:
  RegisterArray& array_;
  unsigned lane_;
};

// One lane's bank. Its port serves one row per cycle.
//
//   port   target, BankProtocol. b_transport counts the access and adds no time to its cycle; get_direct_mem_ptr hands
//          out the bank's column.
class RegisterBank : public sc_core::sc_module, public ::tlm::tlm_fw_transport_if<BankProtocol> {
 public:
  RegisterBank(const sc_core::sc_module_name& name, BankCounters& counters, RegisterArray& array, unsigned lane)
      : sc_core::sc_module(name), port("port"), counters_(counters), column_(array, lane), lane_(lane) {
    port.bind(*this);
  }
  BankTargetSocket port;
  [[nodiscard]] RegisterColumn& column() { return column_; }
  template <class Visitor>
  void describe(Visitor& visit) {
    describe_bank(visit, counters_.reads.of(lane_), counters_.writes.of(lane_));
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_fw(BankAccess&, link::WarpPhase&, sc_core::sc_time&) override {
    throw InternalError("a register bank's socket is blocking");
  }
  void b_transport(BankAccess& access, sc_core::sc_time&) override {
    (access.write ? counters_.writes : counters_.reads).of(lane_) += access.words;
  }
  bool get_direct_mem_ptr(BankAccess& access, ::tlm::tlm_dmi& dmi) override;
  unsigned transport_dbg(BankAccess&) override { return 0; }

  BankCounters& counters_;
  RegisterColumn column_;
  unsigned lane_;
};

class RegisterFile : public sc_core::sc_module,
                     public ::tlm::tlm_fw_transport_if<RegisterProtocol>,
                     private link::ForwardOnlyInitiator<BankProtocol> {
 public:
  // What is to stand in front of a bank's port; null: nothing.
  using MakeBankTap = std::function<std::unique_ptr<link::TapOf<BankProtocol>>(const BankTargetSocket& port)>;
  // `scalar`: the counters of a warp-wide register file beside the banks; null: there is none.
  RegisterFile(const sc_core::sc_module_name& name, unsigned simd_width, unsigned rows,
               CoreStatistics* scalar = nullptr, const MakeBankTap& make_tap = {});

  RegisterTargetSocket read_port;
  RegisterTargetSocket write_port;
  sc_core::sc_vector<BankInitiatorSocket> bank_port;

  // The banks themselves are bound to the file: who knows the file may count accesses by count() and has direct access
  // to all banks at once. From the end of elaboration on.
  [[nodiscard]] bool direct() const { return direct_; }
  // An access at either port, of a file that is direct(). A sub-warp has at most one thread per lane, and lane l's
  // thread lives in bank l: every access takes one cycle, whatever the rows, and so no delay beyond it.
  void count(const RegisterAccess& access) {
    if (scalar_ != nullptr) [[unlikely]] {
      count_with_wide(access);
      return;
    }
    pass(access, access.sub_warp->lanes, access.operands);
  }

  // What a warp-wide register file beside the banks counts depends on each access; without one, whoever has direct
  // access to the storage may count its rows read and written itself.
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
  void end_of_elaboration() override;
  // `words` words of a row of some lanes' banks pass.
  void pass(const RegisterAccess& access, isa::LaneMask lanes, unsigned words) {
    if (!direct_) [[unlikely]] {
      ask_banks(access, lanes, words);
      return;
    }
    (access.write ? counters_.writes : counters_.reads).add(lanes, words);
  }
  void ask_banks(const RegisterAccess& access, isa::LaneMask lanes, unsigned words);
  void count_with_wide(const RegisterAccess& access);
  void count_scalar(const RegisterAccess& access);

  BankCounters counters_;
  std::vector<std::unique_ptr<RegisterBank>> banks_;
  std::vector<std::unique_ptr<link::TapOf<BankProtocol>>> taps_;  // null where there is none
  bool direct_ = true;
  sc_core::sc_time slowest_;  // of the present access: what its banks have taken beyond its cycle
  unsigned rows_;
  RegisterArray array_;
  CoreStatistics* const scalar_;
  WideRegisters wide_;  // with scalar_
};

}  // namespace heddle::hw
