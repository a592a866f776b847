#include "command_checker.hpp"

#include <algorithm>

namespace heddle::hw::test {

void CommandChecker::make_rules() {
  const JedecParameters& d = device_;
  const std::uint64_t written = std::uint64_t{d.cwl} + d.burst;
  rules_ = {
      {"tRCD (read)", Kind::activate, Kind::read, Scope::bank, d.trcd_rd},
      {"tRCD (write)", Kind::activate, Kind::write, Scope::bank, d.trcd_wr},
      {"tRAS", Kind::activate, Kind::precharge, Scope::bank, d.tras},
      {"tRAS (all)", Kind::activate, Kind::precharge_all, Scope::all, d.tras},
      {"tRC", Kind::activate, Kind::activate, Scope::bank, d.trc},
      {"tRC (refresh)", Kind::activate, Kind::refresh, Scope::all, d.trc},
      {"tRP", Kind::precharge, Kind::activate, Scope::bank, d.trp},
      {"tRP (refresh)", Kind::precharge, Kind::refresh, Scope::all, d.trp},
      {"tRP (all)", Kind::precharge_all, Kind::activate, Scope::all, d.trp},
      {"tRP (all, refresh)", Kind::precharge_all, Kind::refresh, Scope::all, d.trp},
      {"tRRD_S", Kind::activate, Kind::activate, Scope::pseudo, d.trrd_s},
      {"tRRD_L", Kind::activate, Kind::activate, Scope::group, d.trrd_l},
      {"tCCD_S", Kind::read, Kind::read, Scope::pseudo, d.tccd_s},
      {"tCCD_L", Kind::read, Kind::read, Scope::group, d.tccd_l},
      {"tCCD_S (write)", Kind::write, Kind::write, Scope::pseudo, d.tccd_s},
      {"tCCD_L (write)", Kind::write, Kind::write, Scope::group, d.tccd_l},
      {"tRTW", Kind::read, Kind::write, Scope::pseudo, d.trtw},
      {"tWTR_S", Kind::write, Kind::read, Scope::pseudo, written + d.twtr_s},
      {"tWTR_L", Kind::write, Kind::read, Scope::group, written + d.twtr_l},
      {"tRTP", Kind::read, Kind::precharge, Scope::bank, d.trtp},
      {"tRTP (all)", Kind::read, Kind::precharge_all, Scope::all, d.trtp},
      {"tWR", Kind::write, Kind::precharge, Scope::bank, written + d.twr},
      {"tWR (all)", Kind::write, Kind::precharge_all, Scope::all, written + d.twr},
      {"tRFC", Kind::refresh, Kind::activate, Scope::all, d.trfc},
      {"tRFC (refresh)", Kind::refresh, Kind::refresh, Scope::all, d.trfc},
  };
  window_ = d.tfaw;
  for (const Rule& rule : rules_) {
    window_ = std::max(window_, rule.least);
  }
}

void CommandChecker::distances(const Event& event) {
  unsigned activations = 0;
  for (auto before = events_.rbegin(); before != events_.rend(); ++before) {
    // Implied precharges make the list a little unordered: look back twice as far as needed.
    if (before->clock + 2 * window_ < event.clock) {
      break;
    }
    for (const Rule& rule : rules_) {
      if (rule.before == before->kind && rule.after == event.kind && same(rule.scope, before->bank, event.bank) &&
          event.clock < before->clock + rule.least) {
        report(event.clock,
               fmt::format("{}: {} after the command of {}, not {}", rule.name,
                           static_cast<std::int64_t>(event.clock - before->clock), before->clock, rule.least));
      }
    }
    if (event.kind == Kind::activate && before->kind == Kind::activate &&
        same(Scope::pseudo, before->bank, event.bank) && event.clock < before->clock + device_.tfaw) {
      ++activations;
    }
  }
  if (activations >= 4) {
    report(event.clock, "tFAW: the fifth activation in the window");
  }
}

void CommandChecker::state(const DramCommand& command) {
  const bool open = open_.count(command.bank) != 0;
  switch (command.kind) {
    case Kind::activate:
      if (open) {
        report(command.clock, "activates a bank whose row is open");
      }
      open_[command.bank] = command.row;
      opened_at_[command.bank] = command.clock;
      break;
    case Kind::precharge:
      open_.erase(command.bank);
      break;
    case Kind::precharge_all:
      open_.clear();
      break;
    case Kind::refresh:
      if (!open_.empty()) {
        report(command.clock, "refreshes while a row is open");
      }
      break;
    case Kind::read:
    case Kind::write: {
      if (!open || open_[command.bank] != command.row) {
        report(command.clock, "accesses a row that is not open");
      }
      const std::uint64_t begin = command.clock + (command.kind == Kind::read ? device_.cl : device_.cwl);
      const unsigned pseudo = command.bank % device_.pseudo_channels;
      for (const Transfer& transfer : transfers_) {
        if (transfer.pseudo == pseudo && begin < transfer.to && transfer.from < begin + device_.burst) {
          report(command.clock, "two transfers on the data bus at once");
        }
      }
      transfers_.push_back({pseudo, begin, begin + device_.burst});
      if (transfers_.size() > 64) {
        transfers_.erase(transfers_.begin());
      }
      if (command.auto_precharge) {
        const std::uint64_t recovered =
            command.kind == Kind::read ? command.clock + device_.trtp : begin + device_.burst + device_.twr;
        open_.erase(command.bank);
        events_.push_back(
            {Kind::precharge, std::max(recovered, opened_at_[command.bank] + device_.tras), command.bank});
      }
      break;
    }
  }
}

// Reads and writes have a bus of their own on some devices; an activation may take it for more than a clock.
void CommandChecker::bus(const DramCommand& command) {
  const bool column = command.kind == Kind::read || command.kind == Kind::write;
  std::uint64_t& free_from = buses_.separate && column ? column_bus_ : row_bus_;
  if (command.clock < free_from) {
    report(command.clock, fmt::format("on the command bus before {}", free_from));
  }
  free_from = command.clock + (command.kind == Kind::activate ? buses_.activate_clocks : 1);
}

std::vector<std::string> CommandChecker::check(const std::vector<DramCommand>& trace) {
  std::uint64_t last = 0;
  std::uint64_t refreshed = 0;
  std::uint64_t refreshes = 0;
  bool first = true;
  for (const DramCommand& command : trace) {
    if (!first && command.clock < last) {
      report(command.clock, fmt::format("told after the command of {}", last));
    }
    bus(command);
    if (command.bank >= banks_) {
      report(command.clock, "no such bank");
    }
    first = false;
    last = command.clock;
    distances({command.kind, command.clock, command.bank});
    events_.push_back({command.kind, command.clock, command.bank});
    state(command);
    if (command.kind == Kind::refresh) {
      ++refreshes;
      if (command.clock > refreshed + 9 * std::uint64_t{device_.trefi}) {
        report(command.clock, "more than nine refresh intervals without a refresh");
      }
      refreshed = command.clock;
    }
  }
  if (device_.refresh && last >= device_.trefi && (refreshes + 1) * device_.trefi < last - std::min(last, window_)) {
    report(last, fmt::format("{} refreshes only", refreshes));
  }
  return wrong_;
}

}  // namespace heddle::hw::test
