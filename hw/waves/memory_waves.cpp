#include "hw/waves/memory_waves.hpp"

#include <algorithm>

#include "hw/cache/cache.hpp"
#include "hw/dram/controller.hpp"
#include "tlm/memory_extension.hpp"

namespace heddle::hw {

// -------------------------------------------------------------------------------------------------------- caches

inline CacheWaves::Totals CacheWaves::Totals::of(const CacheStatistics& statistics) {
  return {statistics.hits, statistics.misses, statistics.merged, statistics.refusals(), statistics.fills};
}

void CacheWaves::attached(const CacheStatistics& statistics) {
  seen_ = Totals::of(statistics);
  for (link::Wave* const wave : {&hits_, &misses_, &merged_, &refused_, &fills_, &mshrs_, &writes_, &queue_}) {
    wave->set(0);
  }
}

void CacheWaves::changed(const CacheStatistics& statistics, unsigned mshrs, unsigned writes, std::size_t queue) {
  const Totals now = Totals::of(statistics);
  link::WaveSetter to(hits_);
  if (!to) {
    return;
  }
  const auto show = [&to](link::Wave& wave, std::uint64_t total, std::uint64_t before) {
    if (total != before) {
      to.count(wave, total - before);
    }
  };
  show(hits_, now.hits, seen_.hits);
  show(misses_, now.misses, seen_.misses);
  show(merged_, now.merged, seen_.merged);
  show(refused_, now.refused, seen_.refused);
  show(fills_, now.fills, seen_.fills);
  seen_ = now;
  to.set(mshrs_, mshrs);
  to.set(writes_, writes);
  to.set(queue_, queue);
}

// ------------------------------------------------------------------------------------------------ copies in bulk

void BulkCopyWaves::attached(const BulkCopyStatistics& statistics) {
  seen_lines_ = statistics.lines;
  seen_ended_ = statistics.copies;
  for (link::Wave* const wave : {&waiting_, &copies_, &lines_, &ended_}) {
    wave->set(0);
  }
}

void BulkCopyWaves::changed(const BulkCopyStatistics& statistics, std::size_t waiting, std::size_t copies) {
  link::WaveSetter to(waiting_);
  if (!to) {
    return;
  }
  if (statistics.lines != seen_lines_) {
    to.count(lines_, statistics.lines - seen_lines_);
  }
  if (statistics.copies != seen_ended_) {
    to.count(ended_, statistics.copies - seen_ended_);
  }
  seen_lines_ = statistics.lines;
  seen_ended_ = statistics.copies;
  to.set(waiting_, waiting);
  to.set(copies_, copies);
}

// -------------------------------------------------------------------------------------------------- interconnect

NocWaves::NocWaves(const Machine& machine)
    : request_capacity_(machine.noc.queue + machine.noc.request_latency),
      response_capacity_(machine.noc.queue + machine.noc.response_latency),
      ports_((kCaches.size() - (machine.constant_cache.bytes == 0 ? 1 : 0)) * machine.gpu.cores) {
  for (unsigned channel = 0; channel < memory_slices(machine); ++channel) {
    channels_.push_back(std::make_unique<Channel>());
  }
  for (unsigned core = 0; core < machine.gpu.cores; ++core) {
    answers_.push_back(std::make_unique<Answer>());
  }
}

void NocWaves::start() {
  for (link::Wave& port : ports_) {
    port.set(0);
  }
  for (const auto& channel : channels_) {
    channel->valid.set(0);
    channel->queue.set(0);
  }
  for (const auto& answer : answers_) {
    answer->valid.set(0);
  }
}

void NocWaves::request(unsigned channel, unsigned port, std::uint64_t address, bool write) {
  Channel& waves = *channels_[channel];
  waves.valid.pulse();
  waves.port.set(port);
  waves.address.set(address);
  waves.write.set(write ? 1 : 0);
}

void NocWaves::response(unsigned port, unsigned channel) {
  Answer& answer = *answers_[port % answers_.size()];
  answer.valid.pulse();
  answer.from.set(channel);
}

// ---------------------------------------------------------------------------------------------- global scheduler

void PoolWaves::shown(const Shown& now) {
  threads_.set(now.threads);
  full_.set(now.full_warps);
  new_.set(now.new_warps);
  coming_.set(now.coming);
  leaving_.set(now.leaving);
  places_.set(now.free_places);
  barriers_.set(now.at_barriers);
  queued_.set(now.queued_blocks);
  scratchpads_.set(now.scratchpads);
}

// ---------------------------------------------------------------------------------------------------------- DRAM

DramWaves::DramWaves(const DramParameters& parameters) : capacity_(parameters.queue) {
  for (unsigned bank = 0; bank < parameters.banks; ++bank) {
    banks_.push_back(std::make_unique<Bank>());
  }
}

void DramWaves::attach(DramController& controller) {
  controller_ = &controller;
  for (link::Wave* const wave : {&queue_, &bus_, &start_}) {
    wave->set(0);
  }
  for (const auto& bank : banks_) {
    bank->state.set(static_cast<std::uint64_t>(BankState::closed));
    bank->held.set(0);
  }
}

void DramWaves::access(const DramRequest& request, Cycle now) {
  const unsigned number = request.location.bank;
  Bank& bank = *banks_[number];
  start_.pulse();
  bank_.set(number);
  row_.set(request.location.row);
  hit_.set(request.row_hit ? 1 : 0);
  write_.set(request.write || request.atomic ? 1 : 0);
  hint_.set(request.row_hint ? 1 : 0);
  core_.set(request.extension != nullptr ? request.extension->core : 0);
  warp_misses_.set(request.warp_misses);
  bank.row.set(request.location.row);
  const Cycle data = std::max(request.data, now + 1);
  bank.busy_until = std::max(bank.busy_until, data);
  if (!request.row_hit) {
    bank.conflict_until = data;
  }
  // Hits may start before the conflict that opened their row has its data.
  if (now < bank.conflict_until) {
    bank.state.set(static_cast<std::uint64_t>(BankState::conflict));
    if (bank.conflict_until < bank.busy_until) {
      bank.state.set_at(bank.conflict_until, static_cast<std::uint64_t>(BankState::hit));
    }
  } else {
    bank.state.set(static_cast<std::uint64_t>(BankState::hit));
  }
  const BankState rest = controller_->timing().row_open(number) ? BankState::open : BankState::closed;
  bank.state.set_at(bank.busy_until, static_cast<std::uint64_t>(rest));
}

// JEDEC timing: rows are opened and closed by commands of their own.
void DramWaves::command(const DramCommand& command) {
  switch (command.kind) {
    case DramCommand::Kind::activate:
      banks_[command.bank]->row.set(command.row);
      banks_[command.bank]->state.set(static_cast<std::uint64_t>(BankState::conflict));
      break;
    case DramCommand::Kind::precharge:
      banks_[command.bank]->state.set(static_cast<std::uint64_t>(BankState::closed));
      break;
    case DramCommand::Kind::precharge_all:
      for (const auto& bank : banks_) {
        bank->state.set(static_cast<std::uint64_t>(BankState::closed));
      }
      break;
    default:
      break;
  }
}

void DramWaves::hold(unsigned bank, Cycle /*begin*/, Cycle until) {
  banks_[bank]->held.set(1);
  banks_[bank]->held_until = until;
  if (until != kNever) {
    banks_[bank]->held.set_at(until, 0);
  }
}

void DramWaves::hold_claimed(unsigned bank) {
  if (controller_->clock().now() <= banks_[bank]->held_until) {
    banks_[bank]->held.set(1);  // it does not run out any more
  }
}

// The controller notices that a hold has run out when it next looks; waves have shown it in time.
void DramWaves::hold_over(unsigned bank, Cycle at, bool hit) {
  if (hit || at >= controller_->clock().now()) {
    banks_[bank]->held.set(0);
  }
}

void DramWaves::transfer(Cycle begin, Cycle end) {
  if (begin < end) {
    bus_.add_at(begin, 1);
    bus_.add_at(end, ~std::uint64_t{0});
  }
}

}  // namespace heddle::hw
