// The memory channels of a machine driven alone from a trace of requests: no cores, no caches, no interconnect, and no
// data behind the controllers. SystemC elaborates once per process, so a process has one replay.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "hw/dram/controller.hpp"
#include "hw/gpu/totals.hpp"
#include "hw/parameters/machine.hpp"
#include "traces/request_trace.hpp"

namespace heddle::tb {

// How long requests took, in cycles: exact below kExact, in steps of 1/64 beyond.
class LatencyHistogram {
 public:
  void add(std::uint64_t cycles);
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  [[nodiscard]] double mean() const;
  // The smallest latency that a share of all requests does not exceed (rounded up to its step); 0 of none.
  [[nodiscard]] std::uint64_t percentile(double share) const;

 private:
  static constexpr std::uint64_t kExact = 4096;
  static constexpr unsigned kSteps = 64;  // of a doubling
  [[nodiscard]] static std::size_t index_of(std::uint64_t cycles);
  [[nodiscard]] static std::uint64_t largest_of(std::size_t index);
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(kExact + kSteps * 52);
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
};

struct ReplayStatistics {
  std::uint64_t requests = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t stall_cycles = 0;
  std::uint64_t latency_sum = 0;
  std::uint64_t latency_50 = 0;
  std::uint64_t latency_90 = 0;
  std::uint64_t latency_99 = 0;
  std::uint64_t latency_max = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("requests", requests, "requests", "requests of the trace");
    visit("reads", reads, "requests", "of requests: reads");
    visit("writes", writes, "requests", "of requests: writes");
    visit("stall_cycles", stall_cycles, "cycles",
          "cycles that a request waited to be sent because its channel was full");
    visit("latency_sum", latency_sum, "cycles", "from sending a request to its response, summed");
    visit("latency_50", latency_50, "cycles", "latency that half of the requests do not exceed");
    visit("latency_90", latency_90, "cycles", "latency that 90 % of the requests do not exceed");
    visit("latency_99", latency_99, "cycles", "latency that 99 % of the requests do not exceed");
    visit("latency_max", latency_max, "cycles", "longest latency");
  }
};

class DramReplay {
 public:
  // The module that sends the requests, as its counters are named (ReplayStatistics).
  static constexpr const char* kTraceModule = "trace";

  struct Options {
    bool timed = false;  // send requests in the cycles that the trace says
    std::string trace;   // its name, in messages
  };
  DramReplay(const hw::Machine& machine, Options options);
  ~DramReplay();
  DramReplay(const DramReplay&) = delete;
  DramReplay& operator=(const DramReplay&) = delete;

  // No request may be due later. A thousand seconds at 1 GHz: a trace that goes beyond is a mistake. SystemC's time, 64
  // bits of its resolution, has room for so many cycles of any clock that a machine may have.
  static constexpr link::Cycle kLastCycle = 1'000'000'000'000;

  // The next request, false at the end; may throw.
  using Source = std::function<bool(traces::TraceRequest&)>;
  // Sends requests in order: each as soon as its channel takes it, one per channel and cycle, and none before its
  // predecessor. Returns when all are answered. Throws InputError for a timed trace whose requests lack cycles or go
  // back in time, and for a request due after kLastCycle.
  void run(const Source& source);

  [[nodiscard]] std::uint64_t cycles() const;  // from cycle 0 to the last response
  [[nodiscard]] const LatencyHistogram& latency() const;
  [[nodiscard]] hw::DramStatistics& channel(unsigned index);
  void observe(unsigned channel, hw::DramObserver& observer);  // before run()
  [[nodiscard]] hw::Totals totals();                           // what of them there is without cores
  [[nodiscard]] const StatisticsRegistry& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::tb
