// A watcher of a whole run: a core's events (hw/state/observer.hpp) and what the host does around them. Goes into
// tb::DeviceOptions::observers.
#pragma once

#include "hw/state/launch.hpp"
#include "hw/state/observer.hpp"
#include "isa/module.hpp"

namespace heddle::hw {
class DramObserver;
class Gpu;
struct Machine;
}  // namespace heddle::hw

namespace heddle::tb {

struct Picture;

// One launch, as the host asked for it.
struct LaunchInfo {
  const isa::Module& module;
  const isa::Kernel& kernel;
  const isa::LaunchRequest& request;
  unsigned warp_size = 0;  // threads of a warp in this launch
  link::Cycle cycle = 0;   // of the clock (the cycles of events), when the host starts it
  std::uint64_t id = 0;    // hw::Launch::id: which of the launches that run an event is of
};

class RunObserver : public hw::CoreObserver {
 public:
  // The GPU is built; nothing has run. For looking at more than the cores' events (its caches, L2 slices, statistics).
  virtual void attached(hw::Gpu& /*gpu*/) {}
  // Who gets the cores' events for it: itself, or a part that is an observer of its own. Asked once after `attached`.
  [[nodiscard]] virtual hw::CoreObserver& cores() { return *this; }
  // What watches a memory channel for this observer (hw/dram/timing.hpp); asked once per channel after `attached`.
  // Null: nothing. The bench shares the channel between all that are named (hw/dram/observers.hpp).
  [[nodiscard]] virtual hw::DramObserver* dram(unsigned /*channel*/) { return nullptr; }
  // False: it wants none of the cores' events. Asked once after `attached`.
  [[nodiscard]] virtual bool watches_cores() const { return true; }
  // The cycle from which on it wants them, possibly within a launch (CoreObserver::joined): before it, cores are as
  // quick as without an observer. Asked once after `attached`.
  [[nodiscard]] virtual link::Cycle watches_cores_from() const { return 0; }
  // The cycles that it is about. By default there are none that are told.
  struct Window {
    link::Cycle from = link::kNever;
    link::Cycle to = link::kNever;  // the last one
  };
  [[nodiscard]] virtual Window window() const { return {}; }
  // The first of these cycles is about to begin, or a later one; the last one is over. Possibly more than once.
  virtual void window_begins(link::Cycle /*now*/) {}
  virtual void window_over(link::Cycle /*now*/) {}
  // True: it wants no more events, so that cores need not tell it any.
  [[nodiscard]] virtual bool over() const { return false; }
  // True: it watches nothing but cores, each by a part of its own (CoreObserver::of_core), and the parts have nothing
  // in common that they change outside the calendar's tellings (link::Clock::tell); so each may be told in another host
  // thread. Else the run has one.
  [[nodiscard]] virtual bool watches_apart(const hw::Machine& /*machine*/) const { return false; }
  virtual void loaded(const isa::Module& /*module*/) {}
  // Several launches may run at once (tb::Device::begin); a core is one's at a time (CoreState::launch).
  virtual void launching(const LaunchInfo& /*launch*/) {}
  // It has ended; `complete` is false after a fault or a stop. Events of it do not come any more.
  virtual void launched(const LaunchInfo& /*launch*/, bool /*complete*/) {}
  // The program shows a picture that its kernels have made (tb/device/picture.hpp), between launches or after the last.
  virtual void shown(const Picture& /*picture*/) {}
};

}  // namespace heddle::tb
