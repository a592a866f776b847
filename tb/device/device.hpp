// The model as an executor: one GPU, its memory, and the host side that launches kernels through the GPU's registers.
// SystemC elaborates once per process, so a process has one Device.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "hw/core/extension.hpp"
#include "hw/gpu/tap.hpp"
#include "hw/gpu/totals.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/state/launch.hpp"
#include "hw/state/replay.hpp"
#include "isa/fault.hpp"
#include "tb/device/counter_sampler.hpp"
#include "tb/device/executor.hpp"
#include "tb/device/fast_forward.hpp"
#include "tb/device/launch_warps.hpp"
#include "tb/device/run_observer.hpp"

namespace heddle::tb {

// Thrown when the run ends early without a fault: SIGINT or the cycle limit. Statistics so far are valid.
class RunStopped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct DeviceOptions {
  std::uint64_t max_cycles = 0;                    // 0: no limit; reaching it throws RunStopped
  const std::atomic<bool>* interrupted = nullptr;  // set by a signal handler; checked now and then
  struct Progress {
    std::uint64_t cycles = 0;
    std::uint64_t warp_instructions = 0;
    std::uint64_t blocks_finished = 0;
    std::uint64_t blocks = 0;  // of the present launch
    std::string kernel;
    // Of the whole program: launches that have ended, the blocks of all launches that have finished, and what it has
    // planned.
    std::uint64_t launches_ended = 0;
    std::uint64_t all_blocks_finished = 0;
    std::uint64_t thread_instructions = 0;
    std::optional<Executor::Plan> plan;
    // The share of the planned work that is done, 0 to 1; nothing where no plan is known.
    [[nodiscard]] std::optional<double> share() const;
  };
  std::vector<RunObserver*> observers;            // watch the cores and the launches (tb/device/run_observer.hpp)
  hw::ReplaySource* replay = nullptr;             // threads replay it instead of computing (hw/state/replay.hpp)
  std::ostream* memory_trace = nullptr;           // requests to the memory channels (traces/memory_trace.hpp)
  hw::MakeTap make_tap;                           // the other connections; the channels too without a trace
  hw::CoreExtension extension;                    // what is put into each core (hw/core/extension.hpp)
  std::function<void(const Progress&)> progress;  // called a few times per second of host time
  PrintText print;                                // what launches print
  // `reached` is called in each cycle of the clock that `every` divides, as long as a launch runs: between two cycles,
  // while no other host thread is at work. What a run computes and counts is the same with and without `reached`. 0:
  // never.
  struct Pauses {
    std::uint64_t every = 0;
    std::function<void(std::uint64_t cycle)> reached;
  } pauses;
  CounterSampler* sampler = nullptr;  // changes nothing of what a run computes and counts
  FastForward fast_forward;  // launches that the interpreter computes; observers do not hear of them. Not with a replay
  // Host threads that simulate the GPU's modules (hw::Gpu::share_among). What a run computes, counts and writes is the
  // same for every number. While an observer watches that does not watch cores apart (RunObserver::watches_apart), or
  // connections are tapped or cores extended, there is one. InputError when the host does not let the process have so
  // many.
  unsigned threads = 1;
  // As many of them as make the run fastest, which is measured during it (tlm/calendar/thread_trial.hpp).
  bool try_threads = false;
  // For tests: not 0: modules due in one cycle run in an order, and with several threads in threads, that change from
  // cycle to cycle (tlm/calendar/calendar.hpp).
  std::uint64_t shuffle = 0;
  bool share_every_cycle = false;            // for tests: however little there is to do in it
  std::function<std::uint64_t()> host_time;  // for tests: nanoseconds, by which threads are tried; none: the host's own
};

class Device final : public Executor {
 public:
  explicit Device(const hw::Machine& machine, DeviceOptions options = {});
  ~Device() override;

  [[nodiscard]] isa::DeviceMemory& memory() override;
  void load(isa::Module module) override;
  [[nodiscard]] const isa::Module& module() const override;
  void set_constants(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void check(const isa::LaunchRequest& request) const override;
  // The launch as far as it decides how many blocks a core holds (hw::residency).
  [[nodiscard]] hw::Launch shape_of(const isa::LaunchRequest& request) const;
  void launch(const isa::LaunchRequest& request) override;

  // ---- launches side by side
  // So many can run at once (hw::kernels_at_once); 1 with fast-forward or a replay.
  [[nodiscard]] unsigned launches_at_once() const;
  // Its kernel calls malloc or free. Of such launches one can run at a time (isa/device_heap.hpp); begin() refuses
  // another one.
  [[nodiscard]] bool uses_heap(const isa::LaunchRequest& request) const;
  // A launch can be begun now: fewer run, and they have blocks left to finish.
  [[nodiscard]] bool can_begin() const;
  // Starts a launch beside the launches that run; returns its number. Throws as launch() does. Only if can_begin().
  std::uint64_t begin(const isa::LaunchRequest& request);
  // One that has ended, without a fault.
  struct Ended {
    std::uint64_t launch = 0;        // its number
    link::Cycle begin = 0, end = 0;  // of the clock (now()): of its first block, or of the launch if none ran then
    std::uint64_t warp_instructions = 0, thread_instructions = 0;
  };
  // Simulates until a launch ends, or the clock shows `until`, or nothing runs; returns launches that have ended. A
  // fault or a stop is thrown as by launch(), and ends all that run.
  std::vector<Ended> proceed(link::Cycle until);
  [[nodiscard]] bool running() const;
  [[nodiscard]] const isa::RetirementHash& retirement() const override;
  void plan(const Plan& plan) override;
  void show(const Picture& picture) override;

  // What ended the latest launch; null: nothing did.
  [[nodiscard]] const isa::Fault* fault() const;
  [[nodiscard]] const hw::Machine& machine() const;
  [[nodiscard]] link::Cycle now() const;              // of the GPU's clock, which launches do not start anew
  [[nodiscard]] hw::Totals totals() const;            // since construction
  [[nodiscard]] const WarpSizes& warp_sizes() const;  // of the kernels launched since construction
  // Loads that lay out of bounds and read 0 (core.load_trap), of all launches since construction, also of one that
  // ended early: by kernel and instruction, in the order of the first of each.
  [[nodiscard]] const std::vector<isa::StrayLoads>& stray_loads() const;
  // Which launches have been simulated.
  [[nodiscard]] const LaunchSelection& selection() const;
  [[nodiscard]] const StatisticsRegistry& statistics() const;  // every module's own counters
  [[nodiscard]] std::vector<hw::CountedUnit> units() const;    // and their kinds
  [[nodiscard]] unsigned threads() const;                      // that simulate: DeviceOptions::threads, or 1
  [[nodiscard]] std::uint64_t cycles_shared() const;           // that more than one has simulated together

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::tb
