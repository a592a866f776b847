// The waves of the memory system: caches, slices of the L2, interconnect, memory channels.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hw/cache/observer.hpp"
#include "hw/core/share/bulk_copy_observer.hpp"
#include "hw/dram/timing.hpp"
#include "hw/gpu/global_observer.hpp"
#include "hw/noc/observer.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/waves/enumerations.hpp"
#include "tlm/signal_catalogue.hpp"

namespace heddle::hw {

// An L1 (of a core's instructions or data), or the store of an L2 slice.
class CacheWaves final : public CacheObserver {
 public:
  // `sharing`: how many requests of a cycle may share a port (LineRequest::shares_port); 0: none do.
  CacheWaves(link::SignalGroup group, const CacheParameters& parameters, unsigned sharing = 0)
      : group_(group), mshr_count_(parameters.mshrs), requests_(parameters.ports + sharing) {}

  [[nodiscard]] bool traced() const { return hits_.traced(); }  // a log takes all of them or none
  void attached(const CacheStatistics& statistics) override;
  void request(std::uint64_t line) override { address_.set(line); }
  void changed(const CacheStatistics& statistics, unsigned mshrs, unsigned writes, std::size_t queue) override;
  void refuses_on(bool on) override { refused_.set(on ? 1 : 0); }
  void refused_on(std::uint64_t cycles) override { seen_.refused += cycles; }

  template <class Visitor>
  void describe(Visitor& visit) {
    visit(group_, "hits", hits_, link::up_to(requests_), "requests that found their line in this cycle");
    visit(group_, "misses", misses_, link::up_to(requests_), "requests that did not");
    visit(group_, "merged", merged_, link::up_to(requests_), "of the misses: joined a line already on its way");
    visit(group_, "refused", refused_, link::number(8),
          "requests refused in this cycle: ports, banks, MSHRs and their targets, write buffer, order, flush");
    visit(group_, "address", address_, link::address(), "line of the latest request that was accepted");
    visit(group_, "fills", fills_, link::number(8), "lines that came and were kept in this cycle");
    visit(group_, "mshrs", mshrs_, link::up_to(mshr_count_), "MSHRs in use: lines on their way");
    visit(group_, "writes", writes_, link::number(16), "writes that memory has not acknowledged");
    visit(group_, "queue", queue_, link::number(16), "requests that wait for the way to memory");
  }

 private:
  link::SignalGroup group_;
  unsigned mshr_count_;
  unsigned requests_;  // that are accepted in a cycle, at most
  link::Wave hits_, misses_, merged_, refused_, address_, fills_, mshrs_, writes_, queue_;
  // What waves show of a cycle that is added to a counter.
  struct Totals {
    std::uint64_t hits = 0, misses = 0, merged = 0, refused = 0, fills = 0;
    [[nodiscard]] static Totals of(const CacheStatistics& statistics);
    bool operator==(const Totals&) const = default;
  };
  Totals seen_;  // so far
};

// The unit of a core that copies in bulk.
class BulkCopyWaves final : public BulkCopyObserver {
 public:
  explicit BulkCopyWaves(const BulkCopyParameters& parameters) : places_(parameters.queue) {}
  [[nodiscard]] bool traced() const { return waiting_.traced(); }
  void attached(const BulkCopyStatistics& statistics) override;
  void asked(std::uint64_t line) override { address_.set(line); }
  void changed(const BulkCopyStatistics& statistics, std::size_t waiting, std::size_t copies) override;

  template <class Visitor>
  void describe(Visitor& visit) {
    const auto l1 = link::SignalGroup::l1;
    visit(l1, "waiting", waiting_, link::up_to(places_), "copies whose lines have not all been asked for");
    visit(l1, "copies", copies_, link::number(16), "copies that have not ended");
    visit(l1, "lines", lines_, link::number(8), "lines that are asked for in this cycle");
    visit(l1, "address", address_, link::address(), "the latest one");
    visit(l1, "ended", ended_, link::number(8), "copies that end in this cycle: their barrier objects have counted");
  }

 private:
  unsigned places_;
  link::Wave waiting_, copies_, lines_, address_, ended_;
  std::uint64_t seen_lines_ = 0, seen_ended_ = 0;
};

struct L2Waves final : L2Observer {
  L2Waves(const L2Parameters& l2, const CacheParameters& parameters)
      : store(link::SignalGroup::l2, parameters), capacity(l2.queue) {}
  CacheWaves store;
  unsigned capacity;
  link::Wave waiting, answers, refused;
  void changed(std::size_t waiting_now, std::size_t answers_now, bool refused_now) override {
    waiting.set(waiting_now);
    answers.set(answers_now);
    refused.set(refused_now ? 1 : 0);
  }
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    visit(l2, "waiting", waiting, link::up_to(capacity), "requests that wait at the slice's banks");
    visit(l2, "answers", answers, link::number(16), "answers that wait for the interconnect");
    visit(l2, "full", refused, link::boolean(), "a request has found the queue full and waits for END_REQ");
  }
};

// The home of a slice's lines.
struct HomeWaves final : HomeObserver {
  explicit HomeWaves(unsigned cores_of_gpu) : cores(cores_of_gpu) {}
  unsigned cores;
  link::Wave busy, lines, messages, valid, address, core, message;
  void changed(unsigned busy_now, std::size_t lines_now, std::size_t messages_now) override {
    busy.set(busy_now);
    lines.set(lines_now);
    messages.set(messages_now);
  }
  void told(std::uint64_t line, unsigned to, link::CoherenceMessage what) override {
    valid.pulse();
    address.set(line);
    core.set(to);
    message.set(static_cast<std::uint64_t>(what));
  }
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    visit(l2, "busy", busy, link::number(16), "lines that the home is busy with: it has asked caches, or memory");
    visit(l2, "lines", lines, link::number(32), "lines that L1s may have copies of, own or want");
    visit(l2, "messages", messages, link::number(16), "messages to L1s that wait to leave");
    visit(l2, "valid", valid, link::boolean(), "a message leaves for an L1");
    visit(l2, "address", address, link::address(), "its line");
    visit(l2, "core", core, link::up_to(cores - 1), "the core that it is for");
    visit(l2, "message", message, link::one_of(coherence_messages()), "what it wants");
  }
};

class NocWaves final : public NocObserver {
 public:
  explicit NocWaves(const Machine& machine);
  [[nodiscard]] bool traced() const { return ports_.front().traced(); }
  void start();
  void request_queue(unsigned port, std::size_t waiting) override { ports_[port].set(waiting); }
  void response_queue(unsigned channel, std::size_t waiting) override { channels_[channel]->queue.set(waiting); }
  void request(unsigned channel, unsigned port, std::uint64_t address, bool write) override;
  void response(unsigned port, unsigned channel) override;

  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    const std::size_t cores = answers_.size();
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      visit(noc, kCaches[port / cores] + std::to_string(port % cores) + ".queue", ports_[port],
            link::up_to(request_capacity_), "requests of the core's cache that wait or are on their way");
    }
    for (std::size_t core = 0; core < cores; ++core) {
      const std::string name = "core" + std::to_string(core) + ".";
      visit(noc, name + "valid", answers_[core]->valid, link::boolean(), "a response is handed to the core");
      visit(noc, name + "channel", answers_[core]->from, link::up_to(channels_.size() - 1), "the channel it is from");
    }
    for (std::size_t channel = 0; channel < channels_.size(); ++channel) {
      const std::string name = "channel" + std::to_string(channel) + ".";
      Channel& waves = *channels_[channel];
      visit(noc, name + "valid", waves.valid, link::boolean(), "a request is handed to the memory channel");
      visit(noc, name + "port", waves.port, link::up_to(ports_.size() - 1),
            "port that it came in by: core n's data cache n, its instruction cache n + number of cores, its texture "
            "cache n + twice that, its constant cache n + three times that");
      visit(noc, name + "address", waves.address, link::address(), "its address");
      visit(noc, name + "write", waves.write, link::boolean(), "it is a write");
      visit(noc, name + "responses", waves.queue, link::up_to(response_capacity_),
            "responses of the channel that wait or are on their way");
    }
  }

 private:
  inline static const std::array<std::string, 4> kCaches = {"data", "instruction", "texture", "constants"};
  struct Channel {
    link::Wave valid, port, address, write, queue;
  };
  struct Answer {
    link::Wave valid, from;
  };
  unsigned request_capacity_;
  unsigned response_capacity_;
  std::vector<link::Wave> ports_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<Answer>> answers_;
};

// The global scheduler, by what it shows.
class PoolWaves final : public GlobalSchedulerObserver {
 public:
  void start() { shown({}); }
  [[nodiscard]] bool traced() const { return threads_.traced(); }
  void shown(const Shown& now) override;
  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    visit(pool, "threads", threads_, link::number(32), "threads that can go on and are in no core");
    visit(pool, "full_warps", full_, link::number(32), "full warps that have been re-formed of them");
    visit(pool, "new_warps", new_, link::number(32), "warps of threads that have not begun");
    visit(pool, "coming", coming_, link::number(16), "groups of threads on their way here");
    visit(pool, "leaving", leaving_, link::number(16), "warps on their way to cores");
    visit(pool, "free_places", places_, link::number(16), "places of warps that are free, in all cores");
    visit(pool, "at_barriers", barriers_, link::number(32), "threads that wait here at barriers");
    visit(pool, "queued_blocks", queued_, link::number(32),
          "blocks that use the scratchpad and wait for room in a core");
    visit(pool, "scratchpads", scratchpads_, link::number(16), "parts of the cores' scratchpads that blocks have");
  }

 private:
  link::Wave threads_, full_, new_, coming_, leaving_, places_, barriers_, queued_, scratchpads_;
};

class DramController;

// A memory channel, by what it shows to a DramObserver.
class DramWaves final : public DramObserver {
 public:
  explicit DramWaves(const DramParameters& parameters);
  [[nodiscard]] bool traced() const { return queue_.traced(); }
  void attach(DramController& controller);

  void access(const DramRequest& request, Cycle now) override;
  void command(const DramCommand& command) override;
  void hold(unsigned bank, Cycle begin, Cycle until) override;
  void hold_claimed(unsigned bank) override;
  void hold_over(unsigned bank, Cycle at, bool hit) override;
  void waiting(std::size_t requests) override { queue_.set(requests); }
  void transfer(Cycle begin, Cycle end) override;

  template <class Visitor>
  void describe(Visitor& visit) {
    using enum link::SignalGroup;
    visit(dram, "queue", queue_, link::up_to(capacity_), "requests that wait in the controller");
    visit(dram, "bus", bus_, link::number(2),
          "transfers on the data bus; 2 where fractions of a cycle meet. Adds up to the statistic bus_busy_cycles");
    visit(dram, "start", start_, link::boolean(),
          "an access is started; of several in one cycle of the cores, as pseudo channels and faster clocks have them, "
          "the last one is shown");
    visit(dram, "bank", bank_, link::up_to(banks_.size() - 1), "its bank");
    visit(dram, "row", row_, link::number(32), "its row");
    visit(dram, "hit", hit_, link::boolean(), "its row was open");
    visit(dram, "write", write_, link::boolean(), "it is a write or an atomic");
    visit(dram, "hint", hint_, link::boolean(), "its row-buffer hint bit is set");
    visit(dram, "core", core_, link::number(6), "the core that asked");
    visit(
        dram, "warp_misses", warp_misses_, link::number(16),
        "misses of its warp that wait as it starts, itself among them; 0: it is of no warp, or the scheduler does not "
        "look (dram.scheduler = warp-aware does)");
    for (std::size_t bank = 0; bank < banks_.size(); ++bank) {
      const std::string name = "bank" + std::to_string(bank) + ".";
      Bank& waves = *banks_[bank];
      visit(dram, name + "state", waves.state, link::one_of(bank_states()),
            "closed, open, or the access under way: a hit of the open row, or a conflict that opens its own");
      visit(dram, name + "row", waves.row, link::number(32), "its open row; valid unless it is closed");
      visit(dram, name + "held", waves.held, link::boolean(), "its row is held for a row-buffer hint (thesis 7.2)");
    }
  }

 private:
  struct Bank {
    link::Wave state, row, held;
    Cycle conflict_until = 0;
    Cycle busy_until = 0;
    Cycle held_until = 0;
  };

  unsigned capacity_;
  link::Wave queue_, bus_, start_, bank_, row_, hit_, write_, hint_, core_, warp_misses_;
  std::vector<std::unique_ptr<Bank>> banks_;
  DramController* controller_ = nullptr;
};

}  // namespace heddle::hw
