// The whole GPU as one module that drops into any TLM-2.0 platform.
//
//   Gpu(name, machine, bounds)
//   control     target, base protocol       launch registers, parameter and constant windows (hw/gpu/registers.hpp);
//                                           blocking and non-blocking, 32- or 64-bit aligned accesses
//   memory[c]   initiator, base protocol    one per memory channel: plain reads and writes of device memory. Payloads
//                                           carry a MemoryExtension that a target may ignore.
//   interrupt   optional out port           true from the end of a launch until the next one starts
//
// Inside: grid dispatcher, cores, interconnect, and per channel an L2 slice (if there is an L2) and a DRAM controller,
// which does the memory's timing; a memory behind `memory` that takes time of its own adds to it, unless dram.timing is
// "none". When that memory owes an answer for watchdog.deadlock_cycles the launch ends with a deadlock, and a SystemC
// warning of type "heddle/gpu" says which socket, what was asked and since when. `machine` is checked and copied.
// `bounds`, when given, is the allocation table that every access is checked against; without it only the memory's own
// error responses are seen.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.hpp"
#include "hw/cache/l2_slice.hpp"
#include "hw/core/core.hpp"
#include "hw/dram/controller.hpp"
#include "hw/gpu/dispatcher.hpp"
#include "hw/gpu/foresight.hpp"
#include "hw/gpu/global_scheduler.hpp"
#include "hw/gpu/memory_behind.hpp"
#include "hw/gpu/registers.hpp"
#include "hw/gpu/tap.hpp"
#include "hw/gpu/thread_network.hpp"
#include "hw/gpu/totals.hpp"
#include "hw/noc/interconnect.hpp"
#include "hw/state/launch.hpp"
#include "isa/device_memory.hpp"

namespace heddle::hw {

class Gpu final : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  // Throws InputError, before anything is made, with everything that is wrong with the machine. `extension`: what is
  // put into each core.
  Gpu(const sc_core::sc_module_name& name, const Machine& machine, const isa::DeviceMemory* bounds = nullptr,
      const MakeTap& make_tap = {}, const CoreExtension& extension = {});
  ~Gpu() override;

  ::tlm::tlm_target_socket<> control;
  sc_core::sc_vector<::tlm::tlm_initiator_socket<>> memory;
  sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> interrupt;

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] LaunchStatus status() const { return dispatcher_->status(); }
  [[nodiscard]] const std::optional<isa::Fault>& fault() const { return dispatcher_->fault(); }
  // No launch runs and nothing is outstanding; a launch can be started. False for ever when the memory owes answers.
  [[nodiscard]] bool quiet() const;
  // Launches run, and another one can be started beside them (gpu.kernels, hw/gpu/dispatcher.hpp).
  [[nodiscard]] bool may_join() const { return dispatcher_->may_join(); }
  // The number that the next launch will have (Launch::id).
  [[nodiscard]] std::uint64_t next_launch() const { return started_; }
  // The launches that have ended since this was last asked, in the order of their ends.
  struct Ended {
    std::uint64_t launch = 0;        // its number
    link::Cycle begin = 0, end = 0;  // cycles: of its first block, or of the launch if none ran then; of its end
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
    bool complete = false;  // no fault has ended it
    std::vector<isa::StrayLoads> stray_loads;
  };
  [[nodiscard]] bool any_ended() const { return !just_ended_.empty(); }
  [[nodiscard]] std::vector<Ended> take_ended() { return std::exchange(just_ended_, {}); }
  [[nodiscard]] std::uint64_t blocks_finished() const { return dispatcher_->blocks_finished(); }
  [[nodiscard]] std::uint64_t warp_instructions() const;
  // The latest cycle in which any core retired an instruction of the present launch.
  [[nodiscard]] link::Cycle last_retirement() const;
  [[nodiscard]] const link::Clock& clock() const { return clock_; }
  // The loads of a launch that runs that lay out of bounds and read 0 (core.load_trap): by instruction, in order of the
  // first one's cycle. Without kernel and source line. They are forgotten here.
  [[nodiscard]] std::vector<isa::StrayLoads> take_stray_loads(std::uint64_t launch);
  // What every live warp waits for.
  [[nodiscard]] std::string describe_waiting() const;

  // ---- instruments of a test bench, no hardware
  // Where the threads' retirement hashes of the next launch go; null: not wanted.
  void set_hashes(std::uint32_t* hashes) { hashes_ = hashes; }
  // What the threads of the next launches print goes there (isa/print.hpp), from the execute stage, which begins and
  // ends no launch of it; null: nowhere.
  void set_prints(isa::PrintBuffer* prints) {
    prints_ = prints;
    if (prints != nullptr) {
      prints->share_among(all_sub_cores(machine_) + (global_ != nullptr ? 1 : 0));
    }
  }
  // The words of the next launch's kernel, for as long as it runs: the watchdog looks at its loops.
  void set_code(std::span<const isa::InstructionWord> code) { code_ = code; }
  // What malloc and free do in the next launches, which begin and end there for who says so; null: nothing.
  void set_heap(isa::DeviceHeap* heap) { heap_ = heap; }
  // Of the launches from now on these blocks run, alone; null: all. Between launches, of which one runs at a time then;
  // not with a replay.
  void set_blocks(SomeBlocks* some) { dispatcher_->set_blocks(some); }
  // Shows what happens in the cores (hw/state/observer.hpp); null: to none, also within a
  // launch, between two cycles. Another one between launches.
  void observe(CoreObserver* observer) {
    for (const auto& core : cores_) {
      core->observe(observer);
    }
  }
  // Adds an observer, also between two cycles of a launch: `joined` is the one that was not there before
  // (CoreObserver::joined).
  void observe(CoreObserver& observer, CoreObserver& joined) {
    for (const auto& core : cores_) {
      core->observe(observer, joined);
    }
  }
  // Threads replay records instead of computing (hw/state/replay.hpp); null: they compute. Between launches.
  void replay(ReplaySource* source) {
    dispatcher_->replay(source);
    for (const auto& core : cores_) {
      core->replay(source != nullptr);
    }
  }
  // So many host threads simulate the cores, interconnect, L2 slices and memory channels from the next launch on; which
  // of them does what shows nowhere (tlm/calendar/calendar.hpp). The channels stay in the thread that calls sc_start,
  // since the memory behind `memory` may be any SystemC model, unless it `takes_concurrent_calls`: several at once,
  // from different sockets, that neither call the SystemC kernel nor leave an access open. With taps (MakeTap), which
  // both ends of a connection call, or an extension of the cores, which they may share, it is one thread. So it must be
  // while anybody watches whom several modules tell
  // (CoreObserver::of_core makes parts; waves, other observers), which is for the caller to see to.
  void share_among(unsigned threads, bool takes_concurrent_calls = false);
  // Shares turns among as many threads, up to `most`, as make the run fastest, which is measured during the run.
  void try_threads(unsigned most, bool takes_concurrent_calls = false);
  // Called at the end of each launch (done or fault), in a process of its own.
  void on_end(std::function<void()> callback) { on_end_ = std::move(callback); }
  // The end of the present call of sc_start: up to there the GPU's modules may be advanced without returning to the
  // kernel when no other event is due (tlm/calendar/calendar.hpp). By default they never are.
  void run_ahead_until(const sc_core::sc_time& horizon) { calendar_.run_ahead_until(horizon); }
  // Ends the present launch with a fault found from outside (watchdog).
  // Every resident warp of every core spins (WatchdogParameters), and at least one core has warps.
  [[nodiscard]] bool livelocked() const;
  // A fault that concerns the whole launch, placed at the first live warp.
  [[nodiscard]] isa::Fault launch_fault(isa::Fault::Kind kind, std::string detail) const;
  // What a register holds of the thread that a fault is of; none: the thread is nowhere.
  [[nodiscard]] std::optional<std::uint32_t> register_of(const isa::Fault& fault, unsigned reg) const;
  void stop(isa::Fault fault) { dispatcher_->stop(std::move(fault)); }
  // Every unit's own counters.
  void collect(StatisticsRegistry& registry);
  // Whose they are, in the same order.
  [[nodiscard]] std::vector<CountedUnit> units();
  // Totals::cycles.
  [[nodiscard]] link::Cycle cycles() const { return dispatcher_->total_cycles(); }
  // The counters of all units hold what has happened up to now: some of it may be put off
  // (hw/core/pipeline/pipeline.hpp).
  void settle();
  // The counters of all units of a kind, added up.
  [[nodiscard]] Totals totals();

  // For tests and traces.
  [[nodiscard]] link::Calendar& calendar() { return calendar_; }
  [[nodiscard]] Core& core(unsigned index) { return *cores_[index]; }
  [[nodiscard]] std::span<SubCore* const> sub_cores() { return sub_cores_; }
  [[nodiscard]] DramController& dram(unsigned channel) { return *dram_[channel]; }
  [[nodiscard]] Interconnect& noc() { return *noc_; }
  // Null: blocks begin in the cores.
  [[nodiscard]] GlobalScheduler* global_scheduler() { return global_.get(); }
  // With machine().l2.enabled.
  [[nodiscard]] L2Slice& l2(unsigned slice) { return *l2_[slice]; }

 private:
  // visit(name, statistics, kind) for every unit that counts; kind: a member of Totals.
  template <class Visitor>
  void each_unit(Visitor&& visit);
  ::tlm::tlm_sync_enum nb_transport_fw(::tlm::tlm_generic_payload& payload, ::tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
  void b_transport(::tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(::tlm::tlm_generic_payload&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(::tlm::tlm_generic_payload& payload) override;

  [[nodiscard]] ::tlm::tlm_response_status access(::tlm::tlm_generic_payload& payload);
  [[nodiscard]] bool write(std::uint64_t address, const unsigned char* data, unsigned length);
  [[nodiscard]] bool read(std::uint64_t address, unsigned char* data, unsigned length) const;
  [[nodiscard]] std::uint64_t read_register(std::uint32_t offset) const;
  [[nodiscard]] bool start();
  [[nodiscard]] const Launch* find_launch(std::uint64_t id) const;
  [[nodiscard]] std::optional<isa::Fault> shared_between_cores(const Launch& launch) const;
  void keep_stray_loads(unsigned core, const Launch& launch);
  void let_cores_run_on();
  [[nodiscard]] bool tapped() const;
  [[nodiscard]] bool may_share(bool takes_concurrent_calls);
  void make_channel(unsigned channel, const MakeTap& make_tap);
  // A slice of the L2, those of all channels counted together; its way to memory is still to be joined.
  L2Slice& make_slice(unsigned index, const MakeTap& make_tap);
  void memory_overdue(unsigned channel, const StoragePort::Unanswered& transfer);
  void write_failed(std::uint64_t address);
  void set_interrupt(bool level);
  void drive_interrupt();
  void spawn(const char* name, const sc_core::sc_event& event, std::function<void()> process);

  const Machine machine_;
  link::Calendar calendar_;
  link::Clock clock_;
  std::unique_ptr<MemoryBehind> perfect_;  // null: memory takes its time
  std::vector<std::unique_ptr<Core>> cores_;
  std::vector<SubCore*> sub_cores_;          // of all cores, by CoreState::index
  std::unique_ptr<GlobalScheduler> global_;  // null: blocks begin in the cores
  std::unique_ptr<Dispatcher> dispatcher_;
  std::unique_ptr<ThreadNetwork> threads_;  // null: threads stay in their cores
  std::unique_ptr<Interconnect> noc_;
  std::unique_ptr<Interconnect> probes_;             // homes to cores; null: the coherence protocol has no homes
  std::vector<std::unique_ptr<L2Slice>> l2_;         // those of all channels; empty: there is no L2
  std::vector<std::unique_ptr<Interconnect>> ways_;  // per channel, from its slices; empty: each has one at most
  std::vector<std::unique_ptr<DramController>> dram_;
  std::vector<std::unique_ptr<link::Tap>> taps_;  // null where there is none
  const bool extended_;                           // there is something else in the cores than cores have
  std::unique_ptr<CoreForesight> foresight_;      // null: cores do not run on
  std::vector<std::uint64_t> registers_;
  std::vector<std::uint8_t> parameters_;
  std::vector<std::uint8_t> constants_;
  std::uint32_t* hashes_ = nullptr;
  std::span<const isa::InstructionWord> code_;
  isa::PrintBuffer* prints_ = nullptr;
  isa::DeviceHeap* heap_ = nullptr;
  std::uint64_t started_ = 0;   // launches
  std::list<Launch> launches_;  // launches that run, and launches that have ended since none ran
  std::map<std::uint64_t, std::vector<CoreState::StrayLoads>> strays_;  // by launch, of cores that have left it
  std::vector<Ended> just_ended_;
  bool interrupt_level_ = false;
  sc_core::sc_event interrupt_changed_;
  sc_core::sc_event ended_;
  std::function<void()> on_end_;
};

}  // namespace heddle::hw
