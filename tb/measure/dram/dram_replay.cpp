#include "tb/measure/dram/dram_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <utility>

#include "base/error.hpp"
#include "tlm/base_protocol.hpp"
#include "tlm/calendar/calendar.hpp"
#include "tlm/payload_pool.hpp"

namespace heddle::tb {

using link::Cycle;
using ::tlm::tlm_phase;
using ::tlm::tlm_sync_enum;
using Payload = ::tlm::tlm_generic_payload;

// ------------------------------------------------------------------------------------------------------ latency

std::size_t LatencyHistogram::index_of(std::uint64_t cycles) {
  if (cycles < kExact) {
    return cycles;
  }
  const auto width = static_cast<unsigned>(std::bit_width(cycles)) - 1;  // at least 12
  const std::uint64_t step = (cycles >> (width - 6U)) & (kSteps - 1);
  return kExact + (width - 12U) * kSteps + step;
}

std::uint64_t LatencyHistogram::largest_of(std::size_t index) {
  if (index < kExact) {
    return index;
  }
  const std::size_t beyond = index - kExact;
  const unsigned width = 12U + static_cast<unsigned>(beyond / kSteps);
  return ((std::uint64_t{kSteps} + beyond % kSteps + 1) << (width - 6U)) - 1;
}

void LatencyHistogram::add(std::uint64_t cycles) {
  ++counts_[index_of(cycles)];
  ++count_;
  sum_ += cycles;
  largest_ = std::max(largest_, cycles);
}

double LatencyHistogram::mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t LatencyHistogram::percentile(double share) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i != counts_.size() && count_ != 0; ++i) {
    seen += counts_[i];
    if (seen >= wanted && seen != 0) {
      return std::min(largest_of(i), largest_);
    }
  }
  return 0;
}

// ------------------------------------------------------------------------------------------------------- modules

namespace {

// Accepts everything and keeps nothing.
class NoMemory final : public sc_core::sc_module, private ::tlm::tlm_fw_transport_if<> {
 public:
  NoMemory(const sc_core::sc_module_name& name, unsigned channels)
      : sc_core::sc_module(name), channel("channel", channels) {
    for (unsigned i = 0; i < channels; ++i) {
      channel[i].bind(*this);
    }
  }
  sc_core::sc_vector<::tlm::tlm_target_socket<>> channel;

 private:
  tlm_sync_enum nb_transport_fw(Payload& payload, tlm_phase& /*phase*/, sc_core::sc_time& /*delay*/) override {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return ::tlm::TLM_COMPLETED;
  }
  void b_transport(Payload& payload, sc_core::sc_time& /*delay*/) override {
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
  }
  bool get_direct_mem_ptr(Payload& /*payload*/, ::tlm::tlm_dmi& dmi) override { return link::deny_direct_memory(dmi); }
  unsigned transport_dbg(Payload& /*payload*/) override { return 0; }
};

// Sends the trace's requests and times their answers.
class Driver final : public link::ClockedModule {
 public:
  Driver(const sc_core::sc_module_name& name, const hw::Machine& machine, link::Clock clock,
         DramReplay::Options options)
      : ClockedModule(name, clock),
        map_(machine.dram, hw::memory_line_bytes(machine)),
        line_bytes_(hw::memory_line_bytes(machine)),
        options_(std::move(options)) {
    for (unsigned i = 0; i != machine.dram.channels; ++i) {
      ports_.push_back(std::make_unique<Port>(*this, i));
    }
  }

  ::tlm::tlm_initiator_socket<>& socket(unsigned channel) { return ports_[channel]->socket; }

  void begin(const DramReplay::Source& source) {
    source_ = &source;
    fetch(clock().now());
    wake(clock().now());
  }
  // What the source threw.
  void rethrow() {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }
  [[nodiscard]] bool finished() const { return !has_next_ && under_way_ == 0; }

  LatencyHistogram latency;
  ReplayStatistics statistics;
  Cycle last_answer = 0;

 private:
  struct Port final : ::tlm::tlm_bw_transport_if<> {
    Port(Driver& driver, unsigned index) : driver(driver), socket(("channel" + std::to_string(index)).c_str()) {
      socket.bind(*this);
    }
    tlm_sync_enum nb_transport_bw(Payload& payload, tlm_phase& phase, sc_core::sc_time& delay) override {
      if (phase == ::tlm::END_REQ) {
        in_request = false;
        free_at = driver.clock().visible_after(delay);
        driver.wake(free_at);
        return ::tlm::TLM_ACCEPTED;
      }
      driver.answered(static_cast<link::LinePayload&>(payload));
      return ::tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    Driver& driver;
    ::tlm::tlm_initiator_socket<> socket;
    bool in_request = false;  // END_REQ is owed
    Cycle free_at = 0;        // the next request may be sent
  };

  void fetch(Cycle now) {
    const Cycle before = next_.cycle;  // 0 at first
    try {
      has_next_ = (*source_)(next_);
      if (has_next_ && options_.timed) {
        check_cycle(before);
      }
      if (has_next_) {
        check_due(now);
      }
    } catch (...) {  // no exception may pass through the SystemC kernel
      failure_ = std::current_exception();
      has_next_ = false;
    }
    if (has_next_) {
      destination_ = map_.channel(next_.address);
      due_ = options_.timed ? std::max(now, next_.cycle) : now + next_.wait;
    }
  }

  // Refuses a request of a timed trace that does not say its cycle, or one before that of its predecessor: sent when
  // that has gone, it would not be where the trace says.
  void check_cycle(Cycle before) const {
    const SourceLocation where{options_.trace, static_cast<unsigned>(next_.line)};
    if (!next_.has_cycle) {
      throw InputError(where, "--timed needs a cycle in each line, as its third word",
                       "as in '0x12345680 R 1234'; without --timed requests go as soon as possible");
    }
    if (next_.cycle < before) {
      throw InputError(where, fmt::format("cycle {} is before that of the line above, {}", next_.cycle, before),
                       "a timed trace is in order of time");
    }
  }

  void check_due(Cycle now) const {
    const Cycle latest =
        options_.timed ? DramReplay::kLastCycle : DramReplay::kLastCycle - std::min(now, DramReplay::kLastCycle);
    const Cycle given = options_.timed ? next_.cycle : next_.wait;
    if (given > latest) {
      throw InputError({options_.trace, static_cast<unsigned>(next_.line)},
                       options_.timed ? fmt::format("cycle {} is too late", given)
                                      : fmt::format("a wait of {} cycles, from cycle {} on, is too long", given, now),
                       fmt::format("no request may be due after cycle {}", DramReplay::kLastCycle));
    }
  }

  Cycle advance(Cycle now) override {
    while (has_next_) {
      if (due_ > now) {
        return due_;
      }
      Port& port = *ports_[destination_];
      if (port.in_request) {
        return link::kNever;  // END_REQ wakes us
      }
      if (port.free_at > now) {
        return port.free_at;
      }
      statistics.stall_cycles += now - due_;
      send(port, now);
      fetch(now);
    }
    return link::kNever;
  }

  void send(Port& port, Cycle now) {
    // A read moves no data: there is none.
    link::LinePayload& payload = pool_.acquire(next_.write ? ::tlm::TLM_WRITE_COMMAND : ::tlm::TLM_IGNORE_COMMAND,
                                               next_.address / line_bytes_ * line_bytes_, line_bytes_);
    payload.extension = link::MemoryExtension{};
    payload.extension.row_hint = next_.hint;
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(sent_.size()));
      sent_.push_back(0);
    }
    payload.tag = free_.back();
    free_.pop_back();
    sent_[payload.tag] = now;
    ++under_way_;
    ++statistics.requests;
    ++(next_.write ? statistics.writes : statistics.reads);
    tlm_phase phase = ::tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    port.in_request = true;
    const tlm_sync_enum result = port.socket->nb_transport_fw(payload, phase, delay);
    if (result == ::tlm::TLM_UPDATED && phase == ::tlm::END_REQ) {
      port.in_request = false;
      port.free_at = now + 1;
    }
  }

  void answered(link::LinePayload& payload) {
    const Cycle now = clock().now();
    latency.add(now - sent_[payload.tag]);
    last_answer = now;
    free_.push_back(payload.tag);
    --under_way_;
    payload.release();
  }

  const hw::AddressMap map_;
  const unsigned line_bytes_;
  const DramReplay::Options options_;
  std::vector<std::unique_ptr<Port>> ports_;
  const DramReplay::Source* source_ = nullptr;
  traces::TraceRequest next_;
  bool has_next_ = false;
  unsigned destination_ = 0;
  Cycle due_ = 0;
  std::exception_ptr failure_;
  link::PayloadPool pool_;
  std::vector<Cycle> sent_;  // by tag
  std::vector<std::uint32_t> free_;
  std::size_t under_way_ = 0;
};

}  // namespace

// -------------------------------------------------------------------------------------------------------- replay

struct DramReplay::State {
  State(const hw::Machine& machine, Options options)
      : machine(machine),
        calendar(sc_core::sc_time(1.0 / machine.gpu.clock_ghz, sc_core::SC_NS)),
        clock(calendar.clock()),
        driver(kTraceModule, machine, clock, std::move(options)),
        memory("memory", machine.dram.channels) {
    for (unsigned i = 0; i != machine.dram.channels; ++i) {
      channels.push_back(std::make_unique<hw::DramController>(("dram" + std::to_string(i)).c_str(), machine.dram,
                                                              hw::memory_line_bytes(machine), clock));
      driver.socket(i).bind(channels.back()->target);
      channels.back()->storage.bind(memory.channel[i]);
      registry.add(channels.back()->name(), channels.back()->statistics());
    }
    registry.add(driver.name(), driver.statistics);
  }

  const hw::Machine machine;
  link::Calendar calendar;
  const link::Clock clock;
  Driver driver;
  NoMemory memory;
  std::vector<std::unique_ptr<hw::DramController>> channels;
  StatisticsRegistry registry;
};

DramReplay::DramReplay(const hw::Machine& machine, Options options)
    : state_(std::make_unique<State>(machine, std::move(options))) {}
DramReplay::~DramReplay() = default;

void DramReplay::run(const Source& source) {
  Driver& driver = state_->driver;
  driver.begin(source);
  state_->calendar.run_ahead_until(sc_core::sc_max_time());
  sc_core::sc_start();  // until nothing is under way any more
  driver.rethrow();
  if (!driver.finished()) {
    throw InternalError("a memory channel stopped with requests unanswered");
  }
  const LatencyHistogram& latency = driver.latency;
  ReplayStatistics& statistics = driver.statistics;
  statistics.latency_sum = latency.sum();
  statistics.latency_50 = latency.percentile(0.5);
  statistics.latency_90 = latency.percentile(0.9);
  statistics.latency_99 = latency.percentile(0.99);
  statistics.latency_max = latency.largest();
}

std::uint64_t DramReplay::cycles() const {
  return state_->driver.last_answer;
}
const LatencyHistogram& DramReplay::latency() const {
  return state_->driver.latency;
}
hw::DramStatistics& DramReplay::channel(unsigned index) {
  return state_->channels[index]->statistics();
}
void DramReplay::observe(unsigned channel, hw::DramObserver& observer) {
  state_->channels[channel]->observe(&observer);
}
const StatisticsRegistry& DramReplay::statistics() const {
  return state_->registry;
}

hw::Totals DramReplay::totals() {
  hw::Totals totals;
  totals.cycles = cycles();
  totals.channels = state_->machine.dram.channels;
  CounterSums sums;
  for (const auto& channel : state_->channels) {
    sums.add(totals.dram, channel->statistics());
  }
  return totals;
}

}  // namespace heddle::tb
