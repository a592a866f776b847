#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "studies/pages/compare/compare.hpp"

namespace heddle::pages {
namespace {

using Align = TextTable::Align;

std::string signed_cycles(double cycles) {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::abs(cycles)));
  return (whole == 0 ? "" : cycles < 0 ? "-" : "+") + grouped(whole);
}

std::string figure(std::uint64_t value) {
  return grouped(value);
}
std::string figure(double value) {
  return fmt::format("{:.4g}", value);
}
std::string relative(double value, double first) {
  return first == 0 ? (value == 0 ? "" : "-") : fmt::format("x{:.3f}", value / first);
}

// One row per figure that is a single number and not zero in every run.
class Figures {
 public:
  explicit Figures(const std::vector<ComparedRun>& runs) : runs_(runs), table_(columns(runs)) {
    runs.front().summary.describe(
        [&](std::string_view name, const auto& field, std::string_view, std::string_view) { add(name, field); });
    if (runs.front().of_channels()) {
      add_replay();
    }
  }
  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  static std::vector<TextTable::Column> columns(const std::vector<ComparedRun>& runs) {
    std::vector<TextTable::Column> out = {{"", Align::left}};
    for (const ComparedRun& run : runs) {
      out.push_back({run.label, Align::right});
      if (&run != &runs.front()) {
        out.push_back({run.label + "/A", Align::right});
      }
    }
    return out;
  }
  template <class Field>
  void add(std::string_view name, const Field& /*first*/) {
    if constexpr (std::is_same_v<Field, std::uint64_t> || std::is_same_v<Field, double>) {
      std::vector<Field> values;
      for (const ComparedRun& run : runs_) {
        run.summary.describe([&](std::string_view other, const auto& field, std::string_view, std::string_view) {
          if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Field>) {
            if (other == name) {
              values.push_back(field);
            }
          }
        });
      }
      add_row(std::string(name), values);
    } else if constexpr (std::is_same_v<Field, tb::IdleByCause>) {
      for (std::size_t cause = 0; cause != hw::kIdleCauseCount; ++cause) {
        std::vector<std::uint64_t> values;
        for (const ComparedRun& run : runs_) {
          values.push_back(run.summary.idle_cycles_by_cause.cycles[cause]);
        }
        add_row(fmt::format("  {}", hw::kIdleCauses[cause].name), values);
      }
    }
  }
  void add_replay() {
    for (std::size_t counter = 0; counter != runs_.front().replay.size(); ++counter) {
      std::vector<std::uint64_t> values;
      for (const ComparedRun& run : runs_) {
        values.push_back(run.replay[counter].second);
      }
      add_row(runs_.front().replay[counter].first, values);
    }
  }
  template <class Value>
  void add_row(const std::string& name, const std::vector<Value>& values) {
    std::vector<std::string> row = {name};
    bool any = false;
    for (const Value& value : values) {
      any = any || value != 0;
      row.push_back(figure(value));
      if (row.size() > 2) {
        row.push_back(relative(static_cast<double>(value), static_cast<double>(values.front())));
      }
    }
    if (any) {
      table_.add(std::move(row));
    }
  }
  const std::vector<ComparedRun>& runs_;
  TextTable table_;
};

std::string headline(const ComparedRun& a, const ComparedRun& b) {
  const std::uint64_t from = a.summary.cycles;
  const std::uint64_t to = b.summary.cycles;
  if (from == to && a.machine.gpu.clock_ghz == b.machine.gpu.clock_ghz) {
    return fmt::format("{} takes as many cycles as {}", b.label, a.label);
  }
  const double faster = speed_up(a, b);
  std::string times = faster == 0 ? "" : fmt::format(": {:.3f} times as fast", faster);
  if (const double ours = a.machine.gpu.clock_ghz, own = b.machine.gpu.clock_ghz; ours != own && faster != 0) {
    times += fmt::format(", at {:g} and {:g} GHz", own, ours);
  }
  return fmt::format("{} takes {} cycles {} than {}{}", b.label, grouped(to > from ? to - from : from - to),
                     to > from ? "more" : "fewer", a.label, times);
}

std::string explanation_text(const ComparedRun& a, const ComparedRun& b) {
  if (a.of_channels()) {
    return headline(a, b) + "\n";
  }
  const Explanation why = explain(a.summary, a.machine, b.summary, b.machine);
  TextTable table({{"cause", Align::left}, {"cycles", Align::right}, {"share", Align::right}, {"", Align::left}});
  const auto share = [&](double cycles) {
    return why.cycles == 0 ? std::string() : fmt::format("{:.1f} %", 100 * cycles / why.cycles);
  };
  for (const Contribution& cause : why.causes) {
    table.add({cause.cause, signed_cycles(cause.cycles), share(cause.cycles), cause.detail});
    for (const Contribution& factor : cause.factors) {
      table.add({"  " + factor.cause, signed_cycles(factor.cycles), share(factor.cycles), factor.detail});
    }
  }
  table.add({"together", signed_cycles(why.cycles), share(why.cycles), ""});
  return headline(a, b) + "\n\n" + table.text();
}

std::string parameters_text(const std::vector<ComparedRun>& runs) {
  const std::vector<ParameterDifference> differences = parameter_differences(runs);
  if (differences.empty()) {
    return {};
  }
  std::vector<TextTable::Column> columns = {{"parameter", Align::left}};
  for (const ComparedRun& run : runs) {
    columns.push_back({run.label, Align::right});
  }
  TextTable table(columns);
  for (const ParameterDifference& one : differences) {
    std::vector<std::string> row = {one.key};
    row.insert(row.end(), one.values.begin(), one.values.end());
    table.add(std::move(row));
  }
  return "\nParameters that differ\n\n" + table.text();
}

}  // namespace

std::string compare_text(const std::vector<ComparedRun>& runs) {
  std::string out;
  for (const ComparedRun& run : runs) {
    out += fmt::format("{}  {} on {}  ({})\n", run.label, run.workload, run.machine.name, run.path);
    if (!run.complete) {
      out += fmt::format("   incomplete: {}\n", run.stop_reason);
    }
  }
  for (const ComparedRun& run : runs) {
    if (run.workload != runs.front().workload || run.stats.at("threads") != runs.front().stats.at("threads")) {
      out += run.of_channels()
                 ? fmt::format("{} drives another trace than A\n", run.label)
                 : fmt::format("{} is not the work of A: causes compare all the same, figures per thread do not\n",
                               run.label);
    }
  }
  for (std::size_t i = 1; i < runs.size(); ++i) {
    out += "\n" + explanation_text(runs.front(), runs[i]);
  }
  return out + compare_energy_text(runs) + parameters_text(runs) + "\nFigures (docs/statistics.md)\n\n" +
         Figures(runs).text();
}

}  // namespace heddle::pages
