#include "tb/measure/energy/energy.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "hw/coherence/protocol.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/parameters/bulk_copies.hpp"
#include "tb/measure/cost/cost.hpp"

namespace heddle::tb {
namespace {

// Tells a kind's activities from its other counters.
struct ActivityList {
  EnergyKind& kind;
  void operator()(std::string_view name, std::uint64_t&, std::string_view, std::string_view) {
    kind.activities.emplace_back(name);
  }
  template <class Other>
  void operator()(std::string_view name, Other&&, std::string_view, std::string_view) {
    kind.others.emplace_back(name);
  }
};

// The counters of one kind that the table gives an energy.
struct ActivitySum {
  const EnergyTable::Kind& table;
  double bytes;  // of a unit
  Energy::Kind& kind;
  void operator()(std::string_view name, std::uint64_t& count, std::string_view, std::string_view) {
    if (const auto found = table.pj.find(std::string(name)); found != table.pj.end()) {
      const double pj_per_count = figure_at(found->second, table.bytes, bytes);
      const double pj = static_cast<double>(count) * pj_per_count;
      kind.activities.push_back({found->first, count, pj_per_count, pj});
      kind.pj += pj;
    }
  }
  template <class Other>
  void operator()(std::string_view, Other&&, std::string_view, std::string_view) {}
};

}  // namespace

const std::vector<EnergyKind>& energy_kinds() {
  static const std::vector<EnergyKind> kinds = [] {
    std::vector<EnergyKind> all;
    hw::Totals totals;  // describe() takes mutable counters
    hw::Totals::each_kind([&](const char* name, auto kind) {
      ActivityList list{all.emplace_back(EnergyKind{name, {}, {}})};
      (totals.*kind).describe(list);
    });
    for (const EnergyPart& part : energy_parts()) {
      all.push_back({part.name, {part.activity}, {}, false});
    }
    all.push_back({kMechanisms, {kAccessedBits}, {}, false});
    return all;
  }();
  return kinds;
}

const std::vector<EnergyPart>& energy_parts() {
  static const std::vector<EnergyPart> parts = {
      {"decoder", "instructions", "core", "fetched"},
      {"result_bus", "results", "registers", "writes"},  // a lane's, as its bank
      {"clock", "cycles", "core", nullptr},
  };
  return parts;
}

namespace {

std::vector<CostLine> mechanism_tables(const hw::Machine& machine) {
  std::vector<CostLine> lines = storage_cost(machine).lines;
  std::erase_if(lines, [](const CostLine& line) { return line.accesses.empty(); });
  return lines;
}

std::uint64_t mechanism_bits(const hw::Machine& machine) {
  std::uint64_t bits = 0;
  for (const CostLine& line : mechanism_tables(machine)) {
    bits += line.bits;
  }
  return bits;
}

// `count_of(counter)`: of a core, or of all cores.
template <class CountOf>
std::uint64_t accessed_bits(const std::vector<hw::CostAccess>& accesses, const CountOf& count_of) {
  std::uint64_t bits = 0;
  for (const hw::CostAccess& access : accesses) {
    bits += count_of(access.counter) * access.bits;
  }
  return bits;
}

// Looks a counter up by its name.
struct CounterByName {
  std::map<std::string, std::uint64_t, std::less<>> counts;
  void operator()(std::string_view name, std::uint64_t& count, std::string_view, std::string_view) {
    counts.emplace(name, count);
  }
  template <class Other>
  void operator()(std::string_view, Other&&, std::string_view, std::string_view) {}
  [[nodiscard]] std::uint64_t at(const std::string& name) const {
    const auto found = counts.find(name);
    if (found == counts.end()) {
      throw InternalError("energy is to go by the counter '" + name + "', which is not there");
    }
    return found->second;
  }
};

// The leakage of a kind's units joins its activities, and the kind the run.
void complete(Energy& energy, Energy::Kind kind, const EnergyTable::Kind& table, double bytes,
              const hw::Machine& machine) {
  kind.source = table.source;
  kind.units = unit_count(kind.name, machine);
  kind.leakage_mw = figure_at(table.leakage_mw, table.bytes, bytes) * (energy.leakage ? energy.leakage->factor() : 1);
  kind.leakage_pj = kind.leakage_mw * static_cast<double>(kind.units) * energy.nanoseconds;  // mW x ns = pJ
  kind.pj += kind.leakage_pj;
  energy.pj += kind.pj;
  energy.kinds.push_back(std::move(kind));
}

void add_mechanisms(Energy& energy, const EnergyTable::Kind& table, hw::CoreStatistics& core,
                    const hw::Machine& machine) {
  Energy::Kind kind;
  kind.name = kMechanisms;
  for (const CostLine& line : mechanism_tables(machine)) {
    energy.accesses.insert(energy.accesses.end(), line.accesses.begin(), line.accesses.end());
  }
  CounterByName counters;
  core.describe(counters);
  const double bytes = unit_bytes(kMechanisms, machine).value_or(0);
  if (const auto found = table.pj.find(kAccessedBits); found != table.pj.end()) {
    const std::uint64_t bits =
        accessed_bits(energy.accesses, [&](const std::string& counter) { return counters.at(counter); });
    const double pj_per_bit = figure_at(found->second, table.bytes, bytes);
    kind.activities.push_back({kAccessedBits, bits, pj_per_bit, static_cast<double>(bits) * pj_per_bit});
    kind.pj = kind.activities.back().pj;
  }
  complete(energy, std::move(kind), table, bytes, machine);
}

void add_part(Energy& energy, const EnergyPart& part, const EnergyTable::Kind& table, hw::Totals& totals,
              const hw::Machine& machine) {
  Energy::Kind kind;
  kind.name = part.name;
  if (const auto found = table.pj.find(part.activity); found != table.pj.end()) {
    std::uint64_t count = totals.cycles * unit_count(part.of, machine);
    if (part.counter != nullptr) {
      CounterByName counters;
      hw::Totals::each_kind([&](std::string_view name, auto member) {
        if (name == part.of) {
          (totals.*member).describe(counters);
        }
      });
      count = counters.at(part.counter);
    }
    const double pj_per_count = figure_at(found->second, table.bytes, 0);
    kind.activities.push_back({part.activity, count, pj_per_count, static_cast<double>(count) * pj_per_count});
    kind.pj = kind.activities.back().pj;
  }
  complete(energy, std::move(kind), table, 0, machine);
}

}  // namespace

std::uint64_t unit_count(std::string_view kind, const hw::Machine& machine) {
  for (const EnergyPart& part : energy_parts()) {
    if (kind == part.name) {
      return unit_count(part.of, machine);
    }
  }
  const std::uint64_t cores = machine.gpu.cores;
  const auto has_sectors = [](unsigned sector, unsigned line) { return sector != 0 && sector != line; };
  const std::uint64_t slices = machine.l2.enabled ? hw::memory_slices(machine) : 0;
  const bool homes = hw::home_table_of(machine.gpu.coherence).has_value();
  const bool global = hw::about<hw::Divergence>(machine.core.divergence).traits.global_pool != nullptr;
  const bool independent = hw::about<hw::Divergence>(machine.core.divergence).traits.independent_threads;
  const std::map<std::string_view, std::uint64_t> counts = {
      {"dispatcher", 1},
      {"global_scheduler", global ? 1 : 0},
      {"core", cores * machine.core.sub_cores},
      {"convergence", independent ? cores * machine.core.sub_cores : 0},
      {"l0i", machine.l0i.enabled ? cores * machine.core.sub_cores : 0},
      {"l0c", machine.constant_cache.l0_bytes != 0 ? cores * machine.core.sub_cores : 0},
      {"icache", cores},
      {"l1d", machine.l1d.enabled ? cores : 0},
      {"l1d_sectors", has_sectors(machine.l1d.sector_bytes, machine.l1d.line_bytes) ? cores : 0},
      {"texture", cores},
      {"constant_cache", machine.constant_cache.bytes != 0 ? cores : 0},
      {"scratchpad", cores},
      {"private_memory", machine.private_memory.bytes != 0 ? cores : 0},
      {"bulk_copies", hw::copies_in_bulk(machine) ? cores : 0},
      {"registers", cores * machine.core.sub_cores * machine.core.simd_width},  // a bank per lane
      {"noc", 1},
      {"partitions", machine.l2.enabled && machine.l2.partitions > 1 ? 1 : 0},
      {"l2_slice", slices},
      {"l2", slices},
      {"l2_sectors", has_sectors(machine.l2.sector_bytes, machine.l2.line_bytes) ? slices : 0},
      {"dram", machine.dram.channels},
      {"coherence", homes ? cores : 0},
      {"home", homes ? slices : 0},
      {"probes", homes ? 1 : 0},
      {kMechanisms, mechanism_bits(machine) == 0 ? 0 : cores * machine.core.sub_cores},
  };
  const auto found = counts.find(kind);
  if (found == counts.end()) {
    throw InternalError("nobody has said how many units of the kind '" + std::string(kind) + "' a machine has");
  }
  return found->second;
}

std::optional<double> unit_bytes(std::string_view kind, const hw::Machine& machine) {
  const hw::CoreParameters& core = machine.core;
  const std::map<std::string_view, std::uint64_t> bytes = {
      {"l0i", machine.l0i.bytes},
      {"icache", machine.icache.bytes},
      {"l1d", machine.l1d.bytes},
      {"texture", machine.texture.bytes},
      {"l0c", machine.constant_cache.l0_bytes},
      {"constant_cache", machine.constant_cache.bytes},
      {"scratchpad", machine.scratchpad.bytes},
      {"private_memory", std::uint64_t{machine.private_memory.bytes} * core.threads},
      {"registers", std::uint64_t{core.registers} * 4 / core.sub_cores / core.simd_width},
      {"l2", machine.l2.bytes / hw::memory_slices(machine)},
  };
  if (kind == kMechanisms) {
    return static_cast<double>(mechanism_bits(machine)) / 8 / core.sub_cores;
  }
  const auto found = bytes.find(kind);
  return found == bytes.end() ? std::nullopt : std::optional(static_cast<double>(found->second));
}

double figure_at(const EnergyFigure& figure, const std::vector<double>& sizes, double bytes) {
  if (figure.size() == 1) {
    return figure.front();
  }
  if (bytes == 0) {
    return 0;  // of a storage that is not there
  }
  const auto above = std::upper_bound(sizes.begin(), sizes.end(), bytes);
  const auto high = std::clamp<std::ptrdiff_t>(above - sizes.begin(), 1, static_cast<std::ptrdiff_t>(sizes.size()) - 1);
  const auto at = static_cast<std::size_t>(high);
  const double power = std::log(figure[at] / figure[at - 1]) / std::log(sizes[at] / sizes[at - 1]);
  return figure[at - 1] * std::pow(bytes / sizes[at - 1], power);
}

double EnergyTable::Leakage::factor() const {
  return std::exp(per_kelvin * (celsius - at_celsius));
}

Energy energy_of(const EnergyTable& table, const hw::Totals& totals, const hw::Machine& machine) {
  Energy energy;
  energy.table = table.name;
  energy.description = table.description;
  energy.leakage = table.leakage;
  energy.cycles = totals.cycles;
  energy.nanoseconds = static_cast<double>(totals.cycles) / machine.gpu.clock_ghz;
  hw::Totals counters = totals;
  hw::Totals::each_kind([&](const char* name, auto member) {
    const auto found = table.kinds.find(name);
    if (found == table.kinds.end()) {
      return;
    }
    Energy::Kind kind;
    kind.name = name;
    const double bytes = unit_bytes(name, machine).value_or(0);
    ActivitySum sum{found->second, bytes, kind};
    (counters.*member).describe(sum);
    complete(energy, std::move(kind), found->second, bytes, machine);
  });
  for (const EnergyPart& part : energy_parts()) {
    if (const auto found = table.kinds.find(part.name); found != table.kinds.end()) {
      add_part(energy, part, found->second, counters, machine);
    }
  }
  if (const auto found = table.kinds.find(kMechanisms); found != table.kinds.end()) {
    add_mechanisms(energy, found->second, counters.core, machine);
  }
  energy.average_mw = energy.nanoseconds == 0 ? 0 : energy.pj / energy.nanoseconds;
  energy.delay_product = energy.pj * energy.nanoseconds;
  return energy;
}

std::vector<ModulePrice> module_prices(const Energy& energy, const std::vector<hw::CountedUnit>& units) {
  std::vector<ModulePrice> prices;
  const auto add = [&](const std::string& name, std::string_view of, const auto& terms_of) {
    const auto kind =
        std::find_if(energy.kinds.begin(), energy.kinds.end(), [&](const Energy::Kind& one) { return one.name == of; });
    if (kind == energy.kinds.end()) {
      return;
    }
    // Of a kind that the machine has switched off (an L1) modules may be there all the same; they leak nothing.
    ModulePrice price{name, kind->name, {}, kind->units == 0 ? 0 : kind->leakage_mw};
    for (const Energy::Activity& activity : kind->activities) {
      price.activities.push_back({terms_of(activity.name), activity.pj_per_count});
    }
    prices.push_back(std::move(price));
  };
  using Terms = std::vector<ModulePrice::Term>;
  for (const hw::CountedUnit& unit : units) {
    add(unit.module, unit.kind, [&](const std::string& counter) { return Terms{{unit.module, counter}}; });
    for (const EnergyPart& part : energy_parts()) {
      if (std::string_view(unit.kind) == part.of) {
        add(unit.module + "." + part.name, part.name, [&](const std::string&) {
          return Terms{{unit.module, part.counter == nullptr ? "" : part.counter}};
        });
      }
    }
    if (std::string_view(unit.kind) == "core") {
      add(unit.module + "." + kMechanisms, kMechanisms, [&](const std::string&) {
        Terms terms;
        for (const hw::CostAccess& access : energy.accesses) {
          terms.push_back({unit.module, access.counter, access.bits});
        }
        return terms;
      });
    }
  }
  return prices;
}

void add_modules(Energy& energy, const std::vector<hw::CountedUnit>& units, const StatisticsRegistry& counters) {
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> counts;  // by module and counter
  for (const StatisticsRegistry::Scalar& one : counters.scalars()) {
    counts[{one.declaration.module, one.declaration.name}] = *one.value;
  }
  for (const ModulePrice& price : module_prices(energy, units)) {
    Energy::Module module{price.name, price.kind, price.leakage_mw * energy.nanoseconds, 0};
    for (const ModulePrice::Activity& activity : price.activities) {
      std::uint64_t count = 0;
      for (const ModulePrice::Term& term : activity.terms) {
        count += term.factor * (term.counter.empty() ? energy.cycles : counts.at({term.module, term.counter}));
      }
      module.pj += static_cast<double>(count) * activity.pj_per_count;
    }
    module.pj += module.leakage_pj;
    energy.modules.push_back(std::move(module));
  }
}

}  // namespace heddle::tb
