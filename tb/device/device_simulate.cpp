// How a device lets time pass while launches run: in slices, between which the host looks at limits and progress.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <systemc>
#include <utility>

#include "tb/device/device_state.hpp"
#include "tb/device/livelock.hpp"

namespace heddle::tb {

namespace {

// How long the simulation runs before the host looks at limits, interrupts and progress. In cycles, so that where it
// looks does not depend on the host's speed.
constexpr link::Cycle kSliceCycles = 50'000;
constexpr std::chrono::milliseconds kProgressInterval{200};

// Of a key of the section [watchdog].
std::string how_to_wait_longer(std::string_view key, std::uint64_t now) {
  return fmt::format("wait longer: --set watchdog.{}={} (now {})", key,
                     std::min(100 * now, std::uint64_t{1'000'000'000'000'000}), now);
}

}  // namespace

void Device::State::check_progress() {
  const isa::LaunchRequest& request = running.front().request;
  const auto now = std::chrono::steady_clock::now();
  if (!options.progress || now - last_progress < kProgressInterval) {
    return;
  }
  last_progress = now;
  const hw::Totals totals = gpu.totals();
  options.progress({totals.cycles, gpu.warp_instructions(), gpu.blocks_finished(), request.grid.count(), request.kernel,
                    launches_ended, blocks_of_ended + gpu.blocks_finished(), totals.core.thread_instructions, plan});
}

// Cycles to the next sample, at the least: launches' cycles may not count yet while the clock runs.
link::Cycle Device::State::until_sample() {
  const std::uint64_t every = options.sampler->every();
  return every - cycles() % every;
}

// If one is due.
void Device::State::sample() {
  const link::Cycle now = cycles();
  if (now != last_sample && now % options.sampler->every() == 0) {
    last_sample = now;
    gpu.settle();
    options.sampler->sampled(now);
  }
}

// The part ends at the latest where an observer's window begins or is over.
void Device::State::look_at_windows(link::Cycle& part) {
  const link::Cycle now = gpu.clock().now();
  watch_more(now);
  if (!joining.empty()) {
    part = std::min(part, joining.begin()->first - now);
  }
  for (RunObserver* const observer : options.observers) {
    const RunObserver::Window window = observer->window();
    if (now < window.from) {
      part = std::min(part, window.from - now);
    } else if (now <= window.to) {
      observer->window_begins(now);
      part = std::min(part, window.to == link::kNever ? part : window.to + 1 - now);
    } else {
      observer->window_over(now);
    }
  }
  if (!watching.empty() &&
      std::all_of(watching.begin(), watching.end(), [](RunObserver* one) { return one->over(); })) {
    watch_less();
  }
}

// In parts that end where pauses or samples are due, and where windows begin and end.
void Device::State::advance(link::Cycle cycles) {
  const std::uint64_t every = options.pauses.every;
  const link::Cycle end = gpu.clock().now() + cycles;
  while (gpu.clock().now() < end && gpu.status() == hw::LaunchStatus::running && !gpu.any_ended()) {
    const link::Cycle left = end - gpu.clock().now();
    link::Cycle part = every == 0 ? left : std::min(left, every - gpu.clock().now() % every);
    if (options.sampler != nullptr) {
      part = std::min(part, until_sample());
    }
    look_at_windows(part);
    const sc_core::sc_time duration = gpu.clock().cycles(part);
    gpu.run_ahead_until(sc_core::sc_time_stamp() + duration);
    sc_core::sc_start(duration);
    if (options.sampler != nullptr) {
      sample();
    }
    if (every != 0 && gpu.status() == hw::LaunchStatus::running && gpu.clock().now() % every == 0) {
      pause();
    }
  }
}

void Device::State::pause() {
  gpu.share_among(1, true);
  options.pauses.reached(gpu.clock().now());
  share();
  last_progress = std::min(last_progress, std::chrono::steady_clock::now());  // which may be another host's
}

void Device::State::simulate(link::Cycle until) {
  const hw::WatchdogParameters& watchdog = gpu.machine().watchdog;
  const auto goes_on = [this] { return gpu.status() == hw::LaunchStatus::running && !gpu.any_ended(); };
  while (goes_on() && gpu.clock().now() < until) {
    link::Cycle slice = std::min(kSliceCycles, until - gpu.clock().now());
    if (options.max_cycles != 0) {
      const link::Cycle used = cycles();
      if (used >= options.max_cycles) {
        throw RunStopped(fmt::format("stopped after {} cycles (--max-cycles)", used));
      }
      slice = std::min(slice, options.max_cycles - used);
    }
    advance(slice);
    if (!goes_on()) {
      return;
    }
    if (options.interrupted != nullptr && options.interrupted->load()) {
      throw RunStopped(fmt::format("interrupted after {} cycles", cycles()));
    }
    check_progress();
    const link::Cycle now = gpu.clock().now();
    // A memory that still answers, or whose interconnect still carries, is slow, not stuck.
    const hw::Totals totals = gpu.totals();
    if (const std::uint64_t served =
            totals.dram.reads + totals.dram.writes + totals.dram.atomics + totals.noc.requests + totals.noc.responses;
        served != last_served) {
      last_served = served;
      last_service = now;
    }
    if (now - std::max(gpu.last_retirement(), last_service) > watchdog.deadlock_cycles) {
      gpu.stop(gpu.launch_fault(
          isa::Fault::Kind::deadlock,
          fmt::format(
              "no instruction has retired, and no memory request has been served, for {} cycles: {}. If something "
              "would happen after all, {}",
              now - std::max(gpu.last_retirement(), last_service), gpu.describe_waiting(),
              how_to_wait_longer("deadlock_cycles", watchdog.deadlock_cycles))));
    } else if (options.replay == nullptr && gpu.livelocked()) {  // a record ends
      isa::Fault fault = gpu.launch_fault(isa::Fault::Kind::livelock,
                                          fmt::format("no warp gets out of its loop: {}", gpu.describe_waiting()));
      const auto launch =
          std::find_if(running.begin(), running.end(), [&](const Running& one) { return one.id == fault.launch; });
      // Threads that are scheduled independently do not wait for each other behind a loop.
      if (launch != running.end() && !hw::schedules_threads(gpu.machine().core)) {
        fault.detail += livelock_advice(launch->kernel, fault.pc);
      }
      fault.detail += ". If the loop would end after all, " +
                      how_to_wait_longer("livelock_instructions", watchdog.livelock_instructions);
      gpu.stop(std::move(fault));
    }
  }
}

}  // namespace heddle::tb
