// Checks a trace of DRAM commands against the distances of a device, pair by pair and independently of the model that
// made it: no state but the list of commands so far.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "hw/dram/jedec.hpp"
#include "hw/dram/timing.hpp"
#include "hw/parameters/jedec_parameters.hpp"

namespace heddle::hw::test {

class CommandChecker {
 public:
  CommandChecker(const JedecParameters& device, unsigned banks, CommandBuses buses = {})
      : device_(device), banks_(banks), buses_(buses) {
    make_rules();
  }

  // Everything that is wrong with the trace, a line each.
  std::vector<std::string> check(const std::vector<DramCommand>& trace);

 private:
  enum class Scope { bank, group, pseudo, all };
  using Kind = DramCommand::Kind;
  struct Rule {
    const char* name;
    Kind before;
    Kind after;
    Scope scope;
    std::uint64_t least;
  };
  struct Event {
    Kind kind;
    std::uint64_t clock;
    unsigned bank;
  };
  void make_rules();
  void distances(const Event& event);
  void state(const DramCommand& command);
  void bus(const DramCommand& command);
  void report(std::uint64_t clock, const std::string& text) { wrong_.push_back(fmt::format("{}: {}", clock, text)); }
  [[nodiscard]] bool same(Scope scope, unsigned a, unsigned b) const {
    const unsigned modulus =
        scope == Scope::group ? device_.pseudo_channels * device_.bank_groups : device_.pseudo_channels;
    return scope == Scope::all || (scope == Scope::bank ? a == b : a % modulus == b % modulus);
  }

  const JedecParameters device_;
  const unsigned banks_;
  const CommandBuses buses_;
  std::uint64_t row_bus_ = 0;  // free from then on; with one bus this bus is for all
  std::uint64_t column_bus_ = 0;
  std::vector<Rule> rules_;
  std::uint64_t window_ = 0;  // no rule reaches further back
  std::vector<Event> events_;
  std::map<unsigned, std::uint64_t> open_;  // bank: row
  std::map<unsigned, std::uint64_t> opened_at_;
  struct Transfer {
    unsigned pseudo = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  std::vector<Transfer> transfers_;
  std::vector<std::string> wrong_;
};

}  // namespace heddle::hw::test
