// What a Device is inside; for its own files only.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <systemc>
#include <tlm>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "hw/dram/observers.hpp"
#include "hw/gpu/gpu.hpp"
#include "hw/gpu/memory_target.hpp"
#include "hw/state/observers.hpp"
#include "isa/interpreter.hpp"
#include "tb/device/device.hpp"

namespace heddle::tb {

// The host processor: writes launch registers through the GPU's control socket.
class LaunchHost final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<> {
 public:
  explicit LaunchHost(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  ::tlm::tlm_initiator_socket<> socket;

  void write(hw::RegisterOffset offset, std::uint64_t value) {
    write(static_cast<std::uint32_t>(offset), {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
  }
  void write(std::uint32_t address, std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) {
      return;
    }
    std::vector<unsigned char> data(bytes.begin(), bytes.end());
    ::tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(static_cast<unsigned>(data.size()));
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(payload, delay);
    if (payload.is_response_error()) {
      throw InternalError(fmt::format("the GPU refused a write of its launch registers at {:#x}", address));
    }
  }

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(::tlm::tlm_generic_payload&, ::tlm::tlm_phase&, sc_core::sc_time&) override {
    throw InternalError("the host uses blocking transport only");
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

struct Device::State {
  State(const hw::Machine& machine, DeviceOptions options);
  void share();

  // Attaches the options' observers to the cores and the memory channels.
  void watch();
  // What happens from now on is not told to observers that are over. Within a launch, where all are.
  void watch_less();
  // In cycle `now`, which has not begun, observers want the cores' events (RunObserver::watches_cores_from).
  void watch_more(link::Cycle now);
  void gather_observers();

  void place_banks(std::span<const std::uint8_t> parameters);
  void write_launch(const isa::LaunchRequest& request, const isa::Kernel& kernel, std::size_t index,
                    unsigned warp_size);
  [[nodiscard]] isa::InterpreterOptions how_to_interpret(unsigned warp_size);
  void take_over(const isa::InterpreterResult& result);
  void interpret(const isa::LaunchRequest& request, unsigned warp_size);
  // What a launch asks of the machine.
  [[nodiscard]] hw::Launch shape_of(const isa::LaunchRequest& request, const isa::Kernel& kernel) const;
  [[nodiscard]] bool launch_some(const isa::LaunchRequest& request, const isa::Kernel& kernel);
  [[nodiscard]] std::uint64_t simulate_some(const isa::LaunchRequest& request, const isa::Kernel& kernel,
                                            hw::SomeBlocks& some);
  void simulate(link::Cycle until);
  void advance(link::Cycle cycles);
  void pause();
  void look_at_windows(link::Cycle& part);
  [[nodiscard]] link::Cycle until_sample();
  void sample();
  void check_progress();

  // A launch that runs.
  struct Running {
    Running(std::uint64_t id, const isa::LaunchRequest& request, const isa::Kernel& kernel, unsigned warp_size,
            link::Cycle cycle)
        : id(id), request(request), kernel(kernel), warp_size(warp_size), cycle(cycle) {}
    std::uint64_t id;
    isa::LaunchRequest request;
    const isa::Kernel& kernel;
    unsigned warp_size;
    link::Cycle cycle;                  // in which the host has started it
    std::vector<std::uint32_t> hashes;  // of its threads
    isa::PrintBuffer prints;
    std::optional<hw::Totals> before;
    bool some = false;            // not all of its blocks, which leave nothing behind
    std::uint64_t workspace = 0;  // of the workspaces that go from launch to launch; 0: none
    bool uses_heap = false;
    std::optional<isa::Fault> heap_fault;  // what of its frees could not be, found at its end
  };
  [[nodiscard]] LaunchInfo info_of(const Running& launch) const {
    return {module, launch.kernel, launch.request, launch.warp_size, launch.cycle, launch.id};
  }
  const isa::Kernel& prepare(const isa::LaunchRequest& request);
  std::uint64_t begin(const isa::LaunchRequest& request, const isa::Kernel& kernel);
  std::vector<Device::Ended> proceed(link::Cycle until);
  std::list<Running> end(const hw::Gpu::Ended& ended);
  [[nodiscard]] bool calls_heap(const isa::Kernel& kernel) const {
    return heap_kernels.at(static_cast<std::size_t>(&kernel - module.kernels.data()));
  }
  void end_heap(Running& launch, bool complete);
  void give_up();
  void tell_end(const Running& launch, bool complete);
  void add_stray_loads(const Running& launch, std::vector<isa::StrayLoads> loads);
  [[nodiscard]] link::Cycle cycles() const { return gpu.cycles(); }

  DeviceOptions options;
  isa::DeviceMemory memory;
  hw::CoreObservers observers;
  std::vector<RunObserver*> watching;                // the cores: those of the options that are not over
  std::multimap<link::Cycle, RunObserver*> joining;  // of these, who will watch the cores from a cycle on
  std::vector<hw::DramObservers> dram_observers;     // by channel
  hw::Gpu gpu;
  hw::MemoryTarget target;
  LaunchHost host;
  std::unique_ptr<link::Tap> control_tap;  // null: none
  StatisticsRegistry statistics;
  isa::Module module;
  std::vector<bool> heap_kernels;  // of the module's kernels: it has malloc or free in it
  isa::RetirementHash hash;
  std::list<Running> running;  // in the order in which they began
  // Of launches that have begun and are not in `hash`; nothing: it runs.
  std::map<std::uint64_t, std::optional<std::vector<std::uint32_t>>> hashes;
  isa::PrintBuffer interpreted_prints;
  std::uint64_t loads = 0;                      // of modules
  std::uint64_t next_bank = isa::kBankBacking;  // of the next launch, for constant caches; what is behind is fresh
  std::vector<std::uint64_t> free_workspaces;   // isa::LaunchRequest::grid_workspace
  WarpSizes warp_sizes;
  std::vector<isa::StrayLoads> stray_loads;
  LaunchSelection selection{options.fast_forward};
  std::uint64_t last_served = 0;           // what memory channels and interconnect had done when last looked at
  link::Cycle last_service = 0;            // when that number was last seen to change
  std::vector<std::uint32_t> some_hashes;  // of the latest launch of which some blocks ran; other threads' are 0
  std::optional<isa::Fault> fault;
  std::optional<Executor::Plan> plan;
  std::uint64_t launches_ended = 0;
  link::Cycle last_sample = 0;
  std::uint64_t blocks_of_ended = 0;
  std::chrono::steady_clock::time_point last_progress = std::chrono::steady_clock::now();
};

}  // namespace heddle::tb
