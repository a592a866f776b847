#include "workloads/weather/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::workloads::weather {
namespace {

constexpr double kFreezing = 273.15;
constexpr double kHeat = 1004.5;
constexpr double kGasAir = 287.04;
constexpr double kGasVapour = 461.5;
constexpr double kLeast = 1e-9;
// J/kg that each kind of water holds more than ice does, from vapour to snow.
constexpr std::array<double, 5> kHeld = {2.5e6 + 3.34e5, 3.34e5, 3.34e5, 0, 0};

// What a run may differ from these columns by: K, kg/kg, and kg/m2 on the ground. Ten times what has been seen of scale
// 1, or more.
constexpr double kKelvins = 0.004;
constexpr double kWater = 2e-6;
constexpr double kGround = 0.004;

// Of saturated vapour whose pressure goes with e to the power a (T - freezing) / (T - b).
double saturated(double temperature, double pressure, double a, double b) {
  const double partial = 611.2 * std::exp(a * (temperature - kFreezing) / (temperature - b));
  return kGasAir / kGasVapour * partial / (pressure - partial);
}
double over_water(double temperature, double pressure) {
  return saturated(temperature, pressure, 17.67, 29.65);
}

double fall_speed(bool snow, double water, double density) {
  if (water <= kLeast) {
    return 0;
  }
  return std::sqrt(1.2 / density) *
         (snow ? 6 * std::pow(density * water / 1000, 0.11) : 36.34 * std::pow(density * water / 1000, 0.1364));
}

}  // namespace

Columns::Columns(const Air& start, std::size_t columns)
    : columns_(columns), cells_(start.temperature.size()), ground_(start.ground.begin(), start.ground.end()) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    Cell& cell = cells_[i];
    cell.temperature = start.temperature[i];
    for (std::size_t kind = 0; kind < cell.water.size(); ++kind) {
      cell.water.at(kind) = start.water.at(kind)[i];
      before_ += start.mass[i] * cell.water.at(kind);
    }
    cell.pressure = start.pressure[i];
    cell.thickness = start.thickness[i];
    cell.mass = start.mass[i];
    cell.updraft = start.updraft[i];
  }
}

void Columns::Cell::move(Water from, Water to, double amount) {
  (*this)[from] -= amount;
  (*this)[to] += amount;
  const auto held = [](Water kind) { return kHeld.at(static_cast<std::size_t>(kind)); };
  temperature += (held(from) - held(to)) / kHeat * amount;
}

double Columns::Cell::frost() const {
  return std::min(cold, 1.0);
}

std::string Columns::step(double seconds, const std::vector<std::uint32_t>& falls) {
  for (std::size_t column = 0; column < columns_; ++column) {
    for (const Water kind : {Water::rain, Water::snow}) {
      std::string wrong = fall(kind, column, seconds, kind == Water::rain ? falls[column] % 256 : falls[column] / 256);
      if (!wrong.empty()) {
        return wrong;
      }
    }
  }
  for (Cell& cell : cells_) {
    cell.temperature -= 9.81 / kHeat * seconds * cell.updraft;
    cell.density = cell.pressure / (kGasAir * cell.temperature);
    cell.cold = kFreezing - cell.temperature;
  }
  const auto each = [this](auto wanted, auto process) {
    for (Cell& cell : cells_) {
      if (wanted(cell)) {
        process(cell);
      }
    }
  };
  const auto warm = [](const Cell& cell) { return cell.cold < 0; };
  const auto frozen = [](const Cell& cell) { return cell.cold >= 0; };
  const auto all = [](const Cell&) { return true; };
  each(warm, [seconds](Cell& cell) { melt(cell, seconds); });
  each(frozen, [seconds](Cell& cell) { freeze(cell, seconds); });
  each(frozen, [](Cell& cell) { nucleate(cell); });
  each(frozen, [seconds](Cell& cell) { deposit(cell, seconds); });
  each(frozen, [seconds](Cell& cell) { collect(cell, seconds); });
  each(all, [seconds](Cell& cell) { make_rain(cell, seconds); });
  each(all, [seconds](Cell& cell) { evaporate(cell, seconds); });
  each(all, [](Cell& cell) { condense(cell); });
  each(all, [](Cell& cell) { condense(cell); });
  return {};
}

// Falls in `parts` equal parts of the step. There must be as many as the fastest water passes levels, which may be off
// where that is a whole number, and where there is as good as none.
std::string Columns::fall(Water kind, std::size_t column, double seconds, std::uint32_t parts) {
  const bool snow = kind == Water::snow;
  double least = 0;
  double most = 0;
  for (std::size_t i = column; i < cells_.size(); i += columns_) {
    const Cell& cell = cells_[i];
    const double density = cell.pressure / (kGasAir * cell.temperature);
    const double water = cell.water.at(static_cast<std::size_t>(kind));
    least = std::max(least, fall_speed(snow, 0.999 * water - kWater / 10, density) * seconds / cell.thickness);
    most = std::max(most, fall_speed(snow, 1.001 * water + kWater / 10, density) * seconds / cell.thickness);
  }
  const double fewest = std::min(20.0, std::ceil(0.9999 * least));
  const double largest = std::min(20.0, std::ceil(1.0001 * most));
  if (parts < fewest || parts > largest) {
    return fmt::format("{} of column {} falls in {} parts instead of {} to {}", snow ? "snow" : "rain", column, parts,
                       fewest, largest);
  }
  for (std::uint32_t part = 0; part < parts; ++part) {
    // What leaves each cell, kg/m2, before any of it arrives.
    std::array<double, kLevels> leaves{};
    for (std::size_t level = 0; level < kLevels; ++level) {
      Cell& cell = cells_[level * columns_ + column];
      const double density = cell.pressure / (kGasAir * cell.temperature);
      const double passed = fall_speed(snow, cell[kind], density) * seconds / parts / cell.thickness;
      leaves.at(level) = std::min(passed, 1.0) * cell[kind] * cell.mass;
    }
    ground_[column] += leaves[0];
    for (std::size_t level = 0; level < kLevels; ++level) {
      Cell& cell = cells_[level * columns_ + column];
      cell[kind] += ((level + 1 < kLevels ? leaves.at(level + 1) : 0) - leaves.at(level)) / cell.mass;
    }
  }
  return {};
}

void Columns::melt(Cell& cell, double seconds) {
  const double heat = (kHeld[1] - kHeld[4]) / kHeat;  // kelvins per kg/kg
  if (cell[Water::snow] > kLeast) {
    const double rate = 2e-4 * -cell.cold * std::sqrt(cell.density * cell[Water::snow]);
    cell.move(Water::snow, Water::rain, std::min({seconds * rate, cell[Water::snow], -cell.cold / heat}));
  }
  if (cell[Water::ice] > kLeast) {
    const double warmth = std::max(0.0, cell.temperature - kFreezing);
    cell.move(Water::ice, Water::cloud, std::min(cell[Water::ice], warmth / heat));
  }
}

void Columns::freeze(Cell& cell, double seconds) {
  const double bigg = seconds * std::expm1(0.66 * cell.cold);
  if (cell[Water::cloud] > kLeast) {
    const double cloud = cell[Water::cloud];
    const double at_once = std::clamp(cell.cold - 40, 0.0, 1.0) * cloud;
    cell.move(Water::cloud, Water::ice, std::min(cloud, 1e-9 * bigg * cell.density * cloud * cloud + at_once));
  }
  if (cell[Water::rain] > kLeast) {
    cell.move(Water::rain, Water::snow, cell[Water::rain] * std::min(1.0, 1e-5 * bigg));
  }
}

void Columns::nucleate(Cell& cell) {
  cell.over_ice = saturated(cell.temperature, cell.pressure, 21.8745584, 7.66);
  const double crystals = std::min(5 * std::exp(0.304 * cell.cold), 5e5) / cell.density;  // of a kg of air
  const double missing = 1e-10 * crystals - cell[Water::ice];
  const double beyond = cell[Water::vapour] - cell.over_ice;
  if (missing > 0 && beyond > 0) {
    cell.move(Water::vapour, Water::ice, cell.frost() * std::min(missing, beyond / 2));
  }
}

void Columns::deposit(Cell& cell, double seconds) {
  // What of the vapour's excess over ice, or want, may go to or come from a kind in a step.
  const double rate = cell.frost() * seconds * (cell[Water::vapour] / cell.over_ice - 1);
  const auto grow = [&cell](Water kind, double wanted) {
    const double beyond = 0.3 * (cell[Water::vapour] - cell.over_ice);
    cell.move(
        Water::vapour, kind,
        wanted > 0 ? std::min(wanted, std::max(beyond, 0.0)) : std::max({wanted, std::min(beyond, 0.0), -cell[kind]}));
  };
  const double snow = cell.density * cell[Water::snow];
  if (cell[Water::ice] > kLeast) {
    grow(Water::ice, 4e-5 * rate * std::sqrt(cell.density * cell[Water::ice]));
  }
  if (cell[Water::snow] > kLeast) {
    grow(Water::snow, 2e-5 * rate * (0.65 + 0.44 * std::pow(snow, 0.25)) * std::sqrt(snow));
  }
}

void Columns::collect(Cell& cell, double seconds) {
  const double time = cell.frost() * seconds;
  const double sticks = std::exp(-cell.cold / 40);
  if (cell[Water::snow] > kLeast) {
    for (const Water kind : {Water::cloud, Water::ice}) {
      if (cell[kind] > kLeast) {
        const double sweeps =
            std::pow(cell.density * cell[Water::snow] + 1e-12, 0.8) * (kind == Water::cloud ? 2 : sticks / 2);
        cell.move(kind, Water::snow, std::min(1.0, time * sweeps) * cell[kind]);
      }
    }
  }
  if (cell[Water::ice] > 1e-5) {
    cell.move(Water::ice, Water::snow, time * sticks / 1000 * (cell[Water::ice] - 1e-5));
  }
}

void Columns::make_rain(Cell& cell, double seconds) {
  const double cloud = cell[Water::cloud];
  if (cloud > kLeast) {
    const double converted = 1e-3 * std::max(0.0, cloud - 5e-4);
    const double collected = cell[Water::rain] > kLeast ? 2.2 * cloud * std::pow(cell[Water::rain], 0.875) : 0;
    cell.move(Water::cloud, Water::rain, std::min(cloud, seconds * (converted + collected)));
  }
}

void Columns::evaporate(Cell& cell, double seconds) {
  const double most = over_water(cell.temperature, cell.pressure);
  const double missing = most - cell[Water::vapour];
  if (cell[Water::rain] > kLeast && missing > 0) {
    const double rate = 4e-4 * missing / most * std::pow(cell.density * cell[Water::rain], 0.525);
    cell.move(Water::rain, Water::vapour, std::min({seconds * rate, cell[Water::rain], 0.3 * missing}));
  }
}

// A step of Newton's towards saturation, as it changes with the heat of what condenses.
void Columns::condense(Cell& cell) {
  const double most = over_water(cell.temperature, cell.pressure);
  const double heat = kHeld[0] - kHeld[1];
  const double slope = heat * most / (kGasVapour * cell.temperature * cell.temperature);
  const double beyond = (cell[Water::vapour] - most) / (1 + heat / kHeat * slope);
  cell.move(Water::vapour, Water::cloud, std::max(beyond, -cell[Water::cloud]));
}

tb::Verdict Columns::judge(const Air& air) const {
  double widest_kelvins = 0;
  double widest_water = 0;
  double after = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i];
    const auto where = [this, i] { return fmt::format("column {}, level {}", i % columns_, i / columns_); };
    const double kelvins = std::abs(air.temperature[i] - cell.temperature);
    if (!(kelvins <= kKelvins)) {
      return {false,
              fmt::format("temperature of {}: {} K instead of {}", where(), air.temperature[i], cell.temperature)};
    }
    widest_kelvins = std::max(widest_kelvins, kelvins);
    for (std::size_t kind = 0; kind < cell.water.size(); ++kind) {
      const double water = air.water.at(kind)[i];
      const double off = std::abs(water - cell.water.at(kind));
      if (!(off <= kWater)) {
        return {false,
                fmt::format("{} of {}: {} kg/kg instead of {}", kWaters.at(kind), where(), water, cell.water.at(kind))};
      }
      widest_water = std::max(widest_water, off);
      after += cell.mass * water;
    }
  }
  for (std::size_t column = 0; column < columns_; ++column) {
    if (!(std::abs(air.ground[column] - ground_[column]) <= kGround)) {
      return {false, fmt::format("rain and snow on the ground of column {}: {} kg/m2 instead of {}", column,
                                 air.ground[column], ground_[column])};
    }
    after += air.ground[column];
  }
  if (!(std::abs(after - before_) <= 1e-5 * before_)) {
    return {false, fmt::format("{} kg of water have become {} instead of as much", before_, after)};
  }
  return {true, fmt::format("{} cells within {:.1g} K and {:.1g} kg/kg of the host's in double; no water is lost",
                            cells_.size(), widest_kelvins, widest_water)};
}

}  // namespace heddle::workloads::weather
