// A memory system in a test: cores that play scripts of line requests, their caches, the interconnect, controllers and
// device memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "base/statistics.hpp"
#include "hw/cache/l1_cache.hpp"
#include "hw/cache/l2_slice.hpp"
#include "hw/dram/controller.hpp"
#include "hw/gpu/memory_target.hpp"
#include "hw/noc/interconnect.hpp"
#include "isa/device_memory.hpp"
#include "tests/memory/slice_flusher.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/protocol_checker.hpp"

namespace heddle::hw::test {

using link::Cycle;
using link::kNever;
using link::LineRequest;

inline constexpr std::uint64_t kBase = 0x1000'0000;  // an address in device memory

void fail_on_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions);
// Reports of error severity that a test provokes on purpose are collected here instead of failing it.
struct ExpectedReports {
  ExpectedReports();
  ~ExpectedReports();
  std::vector<std::string> messages;
};

// One request of a script and what became of it.
struct Access {
  LineRequest request;
  Cycle at = 0;  // offered from this cycle on
  std::vector<std::byte> store;
  std::vector<std::uint8_t> enable;
  link::AtomicLanes lanes;

  Cycle accepted = kNever;
  Cycle answered = kNever;  // loads, atomics: data there; stores: accepted
  unsigned refusals = 0;
  bool failed = false;
  std::vector<std::byte> line;
  [[nodiscard]] std::uint32_t word(unsigned index = 0) const {
    std::uint32_t value = 0;
    std::memcpy(&value, line.data() + std::size_t{4} * index, 4);
    return value;
  }
};

// Plays accesses in order, each from its cycle on and as soon as the cache takes it. A cache's core.
class ScriptCore final : public link::ClockedModule,
                         private ::tlm::tlm_bw_transport_if<link::LineProtocol>,
                         private link::NonBlockingTarget<link::InvalidationProtocol> {
 public:
  ScriptCore(const sc_core::sc_module_name& name, link::Clock clock, unsigned line_bytes);

  link::LineInitiatorSocket socket;
  link::InvalidationTargetSocket copies;
  void attach(Cache& cache) { cache_ = &cache; }

  Access& load(Cycle at, std::uint64_t line, bool bypass = false);
  Access& store_word(Cycle at, std::uint64_t address, std::uint32_t value);
  Access& store_line(Cycle at, std::uint64_t line, std::uint32_t value);
  // One lane per value: op on consecutive 32-bit words, or all on the first.
  Access& atomic_add(Cycle at, std::uint64_t line, const std::vector<std::uint32_t>& values, bool same_word);
  // Called in every cycle of the core, after the cache's advance; returns when it wants to run again.
  std::function<Cycle(Cycle)> each_cycle;
  std::function<void(Access&)> on_answer;

  [[nodiscard]] bool done() const { return next_ == script_.size() && outstanding_ == 0; }
  [[nodiscard]] std::size_t outstanding() const { return outstanding_; }
  std::deque<Access>& script() { return script_; }
  // The script goes on, to which has been added since it was done.
  void go_on() { wake(clock().now() + 1); }
  // Offers an access now; true when it was taken.
  bool offer(Access& access, Cycle now);

 private:
  Cycle advance(Cycle now) override;
  ::tlm::tlm_sync_enum nb_transport_bw(LineRequest& request, link::LinePhase& phase, sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  ::tlm::tlm_sync_enum nb_transport_fw(link::Invalidation& line, link::InvalidationPhase& phase,
                                       sc_core::sc_time& delay) override;
  void start_of_simulation() override { wake(0); }

  Cache* cache_ = nullptr;
  unsigned line_bytes_;
  std::deque<Access> script_;
  std::size_t next_ = 0;
  std::size_t outstanding_ = 0;
};

struct SystemParameters {
  unsigned cores = 1;
  DataCacheParameters cache;
  NocParameters noc;
  L2Parameters l2;  // enabled = false: caches and controllers meet at the interconnect
  DramParameters dram;
  std::string coherence = "none";
  std::string prefix;     // of the module names
  bool reversed = false;  // makes channels and interconnect first, cores last: other process order, same results
  bool checked = true;    // protocol checkers on every socket beyond the core
  // Binds a channel's storage (through its checker) to a memory of the test's; none: device memory.
  std::function<void(unsigned channel, decltype(link::ProtocolChecker::initiator)& storage)> storage;
};

// cores -> caches -> interconnect (-> L2 slices) -> controllers -> MemoryTarget.
class MemorySystem {
 public:
  explicit MemorySystem(const SystemParameters& parameters);
  ~MemorySystem();

  // Runs until all scripts are done and caches are quiet; fails after `limit` cycles.
  void run(Cycle limit = 1'000'000);
  // Empties the caches into memory, the cores' first.
  void flush();
  // The host has written to memory, while nothing runs.
  void changed();
  // The counters of every module, by names that do not depend on `prefix`.
  void declare(StatisticsRegistry& counters);
  [[nodiscard]] ScriptCore& core(unsigned index = 0) { return *cores_[index]; }
  [[nodiscard]] L1Cache& cache(unsigned index = 0) { return *caches_[index]; }
  [[nodiscard]] DramController& controller(unsigned index = 0) { return *controllers_[index]; }
  [[nodiscard]] L2Slice& l2(unsigned index = 0) { return *slices_[index]; }
  [[nodiscard]] unsigned slices() const { return static_cast<unsigned>(slices_.size()); }
  [[nodiscard]] Interconnect& noc() { return *noc_; }
  isa::DeviceMemory memory;
  link::Clock clock;

 private:
  void make_cores(const SystemParameters& parameters);
  void make_channels(const SystemParameters& parameters, const SliceOfAddress& map);
  void connect_channel(const SystemParameters& parameters, unsigned index);
  template <class Initiator, class Target>
  void connect(Initiator& initiator, Target& target, bool checked);

  std::vector<std::unique_ptr<ScriptCore>> cores_;
  std::vector<std::unique_ptr<L1Cache>> caches_;
  std::unique_ptr<Interconnect> noc_;
  std::unique_ptr<Interconnect> probes_;  // under a protocol with homes
  std::vector<std::unique_ptr<L2Slice>> slices_;
  std::vector<std::unique_ptr<Interconnect>> ways_;  // of several slices to their channel
  std::vector<std::unique_ptr<SliceFlusher>> flushers_;
  std::vector<std::unique_ptr<DramController>> controllers_;
  std::unique_ptr<MemoryTarget> target_;
  std::vector<std::unique_ptr<link::ProtocolChecker>> checkers_;
  std::string prefix_;
};

}  // namespace heddle::hw::test
