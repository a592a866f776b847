#include "studies/pages/compare/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "hw/dram/timing.hpp"
#include "studies/pages/report/appearance.hpp"

namespace heddle::pages {
namespace {

struct Factor {
  std::string_view name;
  double from = 0;
  double to = 0;
  std::string detail;
};

std::string change(double from, double to, std::string_view unit) {
  return fmt::format("{:.4g} -> {:.4g} {}", from, to, unit);
}

std::string count_change(std::uint64_t from, std::uint64_t to) {
  return fmt::format("{} -> {}", grouped(from), grouped(to));
}

// (y - x) / ln(y / x)
double logarithmic_mean(double x, double y) {
  const double ratio = y / x;
  // Near one the quotient loses its digits; the arithmetic mean is its limit, exact to the second order.
  return std::abs(ratio - 1) < 1e-6 ? (x + y) / 2 : (y - x) / std::log(ratio);
}

// The contribution of a product, split between its factors where all factors are above zero on both sides.
Contribution product(std::string cause, std::string detail, double from, double to,
                     const std::vector<Factor>& factors) {
  Contribution whole{std::move(cause), std::move(detail), to - from, {}};
  const bool positive = std::all_of(factors.begin(), factors.end(),
                                    [](const Factor& factor) { return factor.from > 0 && factor.to > 0; });
  if (!positive || from <= 0 || to <= 0 || from == to) {
    return whole;
  }
  const double mean = logarithmic_mean(from, to);
  double left = whole.cycles;
  for (const Factor& factor : factors) {
    // The last takes what is left, so that rounding does not show.
    const bool last = &factor == &factors.back();
    const double part = last ? left : mean * std::log(factor.to / factor.from);
    left -= part;
    whole.factors.push_back({std::string(factor.name), factor.detail, part, {}});
  }
  std::erase_if(whole.factors, [&](const Contribution& part) {
    return std::abs(part.cycles) < 1e-9 * std::abs(whole.cycles);  // a factor that is equal in both runs
  });
  return whole;
}

// One run, per core.
struct Side {
  Side(const tb::Summary& summary, const hw::Machine& machine) : summary(summary), machine(machine) {
    cores = hw::all_sub_cores(machine);
    for (std::size_t active = 1; active < summary.fu_active_cycles.size(); ++active) {
      executing += summary.fu_active_cycles[active];
      lane_cycles += summary.fu_active_cycles[active] * active;
    }
    lanes = executing == 0 ? 0 : static_cast<double>(lane_cycles) / static_cast<double>(executing);
    accesses = summary.dram_row_hits + summary.dram_row_conflicts;
    const double period_ns = 1.0 / machine.gpu.clock_ghz;
    const auto timing = hw::make_dram_timing(machine.dram, hw::memory_line_bytes(machine), period_ns);
    access_time = static_cast<double>(timing->conflict_latency()) -
                  summary.dram_row_hit_rate * static_cast<double>(timing->conflict_penalty());
  }
  [[nodiscard]] double per_core(std::uint64_t core_cycles) const { return static_cast<double>(core_cycles) / cores; }
  [[nodiscard]] std::uint64_t idle(hw::IdleCause cause) const {
    return summary.idle_cycles_by_cause.cycles[static_cast<std::size_t>(cause)];
  }
  [[nodiscard]] std::uint64_t memory() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < hw::kIdleCauseCount; ++i) {
      const auto cause = static_cast<hw::IdleCause>(i);
      sum += hw::waits_for_memory(cause) ? idle(cause) : 0;
    }
    return sum;
  }
  [[nodiscard]] double accesses_per_line() const { return ratio(accesses, summary.line_requests); }
  [[nodiscard]] static double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }

  const tb::Summary& summary;
  const hw::Machine& machine;
  double cores = 1;
  std::uint64_t executing = 0;    // core cycles with a functional unit active
  std::uint64_t lane_cycles = 0;  // functional units active in them, summed
  double lanes = 0;               // of an executing cycle
  std::uint64_t accesses = 0;     // to DRAM
  double access_time = 0;         // of one with nothing in its way, mean, cycles
};

Contribution execution(const Side& a, const Side& b) {
  std::vector<Factor> factors = {
      {"lane instructions", static_cast<double>(a.lane_cycles), static_cast<double>(b.lane_cycles),
       count_change(a.lane_cycles, b.lane_cycles)},
      {"lanes per instruction", a.lanes == 0 ? 0 : 1 / a.lanes, b.lanes == 0 ? 0 : 1 / b.lanes,
       change(a.lanes, b.lanes, "lanes")},
      {"number of cores", 1 / a.cores, 1 / b.cores, fmt::format("{:g} -> {:g}", a.cores, b.cores)}};
  if (a.cores == b.cores) {
    factors.pop_back();
  }
  return product("executing", fmt::format("{} core cycles", count_change(a.executing, b.executing)),
                 a.per_core(a.executing), b.per_core(b.executing), factors);
}

Contribution waiting_for_memory(const Side& a, const Side& b) {
  const tb::Summary& x = a.summary;
  const tb::Summary& y = b.summary;
  const double from = a.per_core(a.memory());
  const double to = b.per_core(b.memory());
  // What is left of the waiting when the accesses' own time is taken out: how much of it other warps and other accesses
  // cover.
  const auto rest = [](const Side& side, double waiting) {
    const double time = static_cast<double>(side.accesses) * side.access_time;
    return time > 0 ? waiting / time : 0;
  };
  const std::vector<Factor> factors = {
      {"memory instructions", static_cast<double>(x.memory_instructions), static_cast<double>(y.memory_instructions),
       count_change(x.memory_instructions, y.memory_instructions)},
      {"lines per memory instruction (coalescing)", x.line_requests_per_memory_instruction,
       y.line_requests_per_memory_instruction,
       change(x.line_requests_per_memory_instruction, y.line_requests_per_memory_instruction, "lines")},
      {"DRAM accesses per line (caches)", a.accesses_per_line(), b.accesses_per_line(),
       change(a.accesses_per_line(), b.accesses_per_line(), "accesses")},
      {"DRAM access time (row hits)", a.access_time, b.access_time,
       fmt::format("{} -> {} hits, {:.1f} -> {:.1f} cycles", percent(x.dram_row_hit_rate), percent(y.dram_row_hit_rate),
                   a.access_time, b.access_time)},
      {"waiting per access time (overlap)", rest(a, from), rest(b, to),
       change(rest(a, from), rest(b, to), "cycles waited per cycle of access")}};
  return product("waiting for memory", fmt::format("{} core cycles", count_change(a.memory(), b.memory())), from, to,
                 factors);
}

}  // namespace

Explanation explain(const tb::Summary& from, const hw::Machine& from_machine, const tb::Summary& to,
                    const hw::Machine& to_machine) {
  const Side a(from, from_machine);
  const Side b(to, to_machine);
  Explanation out;
  out.cycles = b.per_core(tb::core_cycles(to)) - a.per_core(tb::core_cycles(from));
  out.causes.push_back(execution(a, b));
  if (a.memory() + b.memory() != 0) {
    out.causes.push_back(waiting_for_memory(a, b));
  }
  for (std::size_t i = 0; i < hw::kIdleCauseCount; ++i) {
    const auto cause = static_cast<hw::IdleCause>(i);
    if (!hw::waits_for_memory(cause) && a.per_core(a.idle(cause)) != b.per_core(b.idle(cause))) {
      out.causes.push_back({fmt::format("idle: {}", appearance_of(cause).title),
                            fmt::format("{} core cycles", count_change(a.idle(cause), b.idle(cause))),
                            b.per_core(b.idle(cause)) - a.per_core(a.idle(cause)),
                            {}});
    }
  }
  std::stable_sort(out.causes.begin(), out.causes.end(), [](const Contribution& x, const Contribution& y) {
    return std::abs(x.cycles) > std::abs(y.cycles);
  });
  return out;
}

}  // namespace heddle::pages
