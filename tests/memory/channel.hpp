// One DRAM controller alone in a test: a driver plays a script of requests, and an observer writes down what starts
// when. A test makes all its channels before it runs the first: they play at the same time, from cycle 0 on.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/dram/controller.hpp"
#include "hw/gpu/memory_target.hpp"
#include "tlm/payload_pool.hpp"
#include "tlm/protocol_checker.hpp"

namespace heddle::hw::test {

// Of a channel with the papers' timing.
inline constexpr std::uint64_t kRow = 4096;           // next bank
inline constexpr std::uint64_t kSameBank = 8 * kRow;  // next row of the same bank

// One request and what became of it. A request that is sent in cycle t is in the controller's queue from t + 1 on.
struct DramAccess {
  Cycle at = 0;  // sent from this cycle on
  std::uint64_t address = 0;
  bool write = false;
  bool hint = false;
  std::uint32_t warp = 0;
  unsigned core = 0;
  bool posted = false;

  Cycle started = kNever;  // its last step, the access
  Cycle data = kNever;
  bool row_hit = false;
  unsigned order = 0;       // how many accesses started before it
  Cycle answered = kNever;  // BEGIN_RESP
};

struct HoldEvent {
  unsigned bank = 0;
  Cycle begin = 0;
  Cycle until = 0;
  Cycle over = kNever;
  bool hit = false;
};

class Channel final : public link::ClockedModule, private ::tlm::tlm_bw_transport_if<>, public DramObserver {
 public:
  explicit Channel(const DramParameters& parameters, unsigned line_bytes = 128, double period_ns = 1.0,
                   const sc_core::sc_module_name& name = "channel");

  DramAccess& read(Cycle at, std::uint64_t address) { return add({at, address, false, false}); }
  DramAccess& hinted(Cycle at, std::uint64_t address) { return add({at, address, false, true}); }
  DramAccess& write(Cycle at, std::uint64_t address) { return add({at, address, true, false}); }
  DramAccess& of_warp(std::uint32_t warp, Cycle at, std::uint64_t address, unsigned core = 0) {
    return add({at, address, false, false, warp, core});
  }
  DramAccess& add(const DramAccess& access) { return script_.emplace_back(access); }
  // Called with every answered access, in its cycle: may add others.
  std::function<void(DramAccess&)> on_answer;

  // Runs until everything is answered; fails after `limit` cycles.
  void run(Cycle limit = 1'000'000);

  DramController& controller() { return controller_; }
  DramStatistics& statistics() { return controller_.statistics(); }
  std::deque<DramAccess>& script() { return script_; }
  std::vector<DramCommand> commands;
  std::vector<HoldEvent> holds;
  unsigned starts = 0;

 private:
  Cycle advance(Cycle now) override;
  ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void start_of_simulation() override { wake(0); }
  void answered(::tlm::tlm_generic_payload& payload);
  void access(const DramRequest& request, Cycle now) override;
  void command(const DramCommand& command) override { commands.push_back(command); }
  void hold(unsigned bank, Cycle begin, Cycle until) override { holds.push_back({bank, begin, until, kNever, false}); }
  void hold_over(unsigned bank, Cycle at, bool hit) override;

  ::tlm::tlm_initiator_socket<> socket_;
  isa::DeviceMemory memory_;
  link::ProtocolChecker checker_;
  DramController controller_;
  MemoryTarget target_;
  link::PayloadPool pool_;
  std::deque<DramAccess> script_;
  std::map<const ::tlm::tlm_generic_payload*, DramAccess*> under_way_;
  std::size_t next_ = 0;
  bool in_request_ = false;
  Cycle next_send_ = 0;
};

}  // namespace heddle::hw::test
