// What runs that were priced by an energy table (heddle run --energy) take, by kind of unit and by part of the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.hpp"
#include "studies/pages/compare/compare.hpp"

namespace heddle::pages {
namespace {

using Align = TextTable::Align;
constexpr double kMicrojoule = 1e6;        // pJ
constexpr double kMicrojouleMicros = 1e9;  // pJ ns

std::string energy_figure(double value) {
  return fmt::format("{:.4g}", value);
}

// A row per name, with a figure of each run; names in the order in which runs have them first.
class EnergyRows {
 public:
  explicit EnergyRows(std::size_t runs) : runs_(runs) {}
  void add(std::size_t run, const std::string& name, double value) {
    auto row = std::find_if(rows_.begin(), rows_.end(), [&](const auto& one) { return one.first == name; });
    if (row == rows_.end()) {
      row = rows_.insert(rows_.end(), {name, std::vector<double>(runs_, 0)});
    }
    row->second[run] += value;
  }
  // Without rows of nothing; with each other run's share of the first one's.
  [[nodiscard]] std::string text(const std::vector<ComparedRun>& runs, const std::string& title) const {
    std::vector<TextTable::Column> columns = {{title, Align::left}};
    for (const ComparedRun& run : runs) {
      columns.push_back({run.label, Align::right});
      if (&run != &runs.front()) {
        columns.push_back({run.label + "/A", Align::right});
        columns.push_back({run.label + "-A", Align::right});
      }
    }
    TextTable table(columns);
    for (const auto& [name, values] : rows_) {
      if (std::all_of(values.begin(), values.end(), [](double value) { return value == 0; })) {
        continue;
      }
      std::vector<std::string> row = {name, energy_figure(values.front())};
      for (std::size_t i = 1; i < values.size(); ++i) {
        const double difference = values[i] - values.front();
        row.push_back(energy_figure(values[i]));
        row.push_back(values.front() == 0 ? "-" : fmt::format("x{:.3f}", values[i] / values.front()));
        row.push_back(difference == 0 ? "" : (difference > 0 ? "+" : "") + energy_figure(difference));
      }
      table.add(std::move(row));
    }
    return table.text();
  }

 private:
  std::size_t runs_;
  std::vector<std::pair<std::string, std::vector<double>>> rows_;
};

}  // namespace

std::optional<ComparedEnergy> read_compared_energy(const tb::RecordedValue& stats) {
  if (!stats.has("energy")) {
    return std::nullopt;
  }
  const tb::RecordedValue recorded = stats.at("energy");
  ComparedEnergy energy;
  energy.table = recorded.at("table").text();
  energy.pj = recorded.at("pj").number();
  energy.average_mw = recorded.at("average_mw").number();
  energy.delay_product = recorded.at("delay_product").number();
  for (const std::string& name : recorded.at("kinds").keys()) {
    const tb::RecordedValue kind = recorded.at("kinds").at(name);
    energy.kinds.push_back({name, kind.at("pj").number(), kind.at("leakage_pj").number()});
  }
  for (const std::string& name : recorded.at("modules").keys()) {
    // Of "gpu.core0.l1d", the part of the GPU.
    const std::size_t end = name.find('.', name.find('.') + 1);
    const std::string part = name.find('.') == std::string::npos ? name : name.substr(0, end);
    const double pj = recorded.at("modules").at(name).at("pj").number();
    if (energy.parts.empty() || energy.parts.back().first != part) {
      energy.parts.emplace_back(part, 0);
    }
    energy.parts.back().second += pj;
  }
  return energy;
}

std::string compare_energy_text(const std::vector<ComparedRun>& runs) {
  std::string priced;
  std::string others;
  for (const ComparedRun& run : runs) {
    std::string& list = run.energy ? priced : others;
    list += (list.empty() ? "" : ", ") + run.label;
  }
  if (priced.empty()) {
    return {};
  }
  if (!others.empty()) {
    return fmt::format("\nEnergy: of {} alone; price {} too (heddle run --energy)\n", priced, others);
  }
  std::string out = fmt::format("\nEnergy by the table {}, in uJ\n\n", runs.front().energy->table);
  EnergyRows kinds(runs.size());
  EnergyRows parts(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ComparedEnergy& energy = *runs[i].energy;
    if (energy.table != runs.front().energy->table) {
      out += fmt::format("{} is priced by another table, {}: the figures compare tables too\n\n", runs[i].label,
                         energy.table);
    }
    for (const ComparedEnergy::Kind& kind : energy.kinds) {
      kinds.add(i, kind.name, kind.pj / kMicrojoule);
      kinds.add(i, fmt::format("  leakage of {}", kind.name), kind.leakage_pj / kMicrojoule);
    }
    for (const auto& [part, pj] : energy.parts) {
      parts.add(i, part, pj / kMicrojoule);
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    kinds.add(i, "together", runs[i].energy->pj / kMicrojoule);
    kinds.add(i, "mean power, mW", runs[i].energy->average_mw);
    kinds.add(i, "energy-delay product, uJ us", runs[i].energy->delay_product / kMicrojouleMicros);
  }
  return out + kinds.text(runs, "by kind of unit") + "\n" + parts.text(runs, "by part of the GPU");
}

}  // namespace heddle::pages
