// The summary of a run. summary.inc declares its figures: each is one entry there, with type, unit, definition, and
// what it is made of.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/gpu/totals.hpp"
#include "hw/parameters/machine.hpp"

namespace heddle::tb {

// Core cycles by hw::IdleCause; an object of one number per cause in stats.json.
struct IdleByCause {
  std::array<std::uint64_t, hw::kIdleCauseCount> cycles{};
};

struct Summary {
  using Count = std::uint64_t;
  using Counts = std::vector<std::uint64_t>;
  using Ratio = double;
  using Text = std::string;

#define HEDDLE_FIGURE(Type, name, unit, definition, ...) Type name{};
#include "tb/measure/summary.inc"
#undef HEDDLE_FIGURE

  // visit(name, field, unit, definition), in order.
  template <class Visitor>
  void describe(Visitor&& visit) {
    describe_fields(*this, visit);
  }
  template <class Visitor>
  void describe(Visitor&& visit) const {
    describe_fields(*this, visit);
  }

 private:
  template <class Self, class Visitor>
  static void describe_fields(Self& self, Visitor& visit) {
#define HEDDLE_FIGURE(Type, name, unit, definition, ...) visit(#name, self.name, unit, definition);
#include "tb/measure/summary.inc"
#undef HEDDLE_FIGURE
  }
};

// `retirement_hash` is isa::RetirementHash::total().
[[nodiscard]] Summary summarise(const hw::Totals& totals, const hw::Machine& machine, std::uint64_t retirement_hash);

// Core cycles in all: the sum of fu_active_cycles.
[[nodiscard]] std::uint64_t core_cycles(const Summary& summary);

// The cause of most idle cycles (the first among equals); meaningless when there are none.
[[nodiscard]] std::size_t main_idle_cause(const Summary& summary);

// What the declarations say, for the listings.
struct SummaryDeclaration {
  std::string name;
  std::string unit;
  std::string definition;
  std::string nsight;  // the metric of Nsight Compute that means the same, in the same unit; empty: none does
};
[[nodiscard]] std::vector<SummaryDeclaration> summary_declarations();
// Of a figure's name, and of any other word: empty.
[[nodiscard]] std::string_view nsight_metric(std::string_view figure);

}  // namespace heddle::tb
