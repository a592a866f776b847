// The columns of air of weather in double precision: each process goes over all cells before the next one, and moves
// water between kinds that know the heat that they hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tb/device/workload.hpp"

namespace heddle::workloads::weather {

inline constexpr std::size_t kLevels = 28;

enum class Water : std::uint8_t { vapour, cloud, rain, ice, snow };
inline constexpr std::array<const char*, 5> kWaters = {"vapour", "cloud", "rain", "ice", "snow"};

// Of kLevels x columns cells, the lowest level first.
struct Air {
  std::vector<float> temperature;           // K
  std::array<std::vector<float>, 5> water;  // kg per kg of air, by Water
  std::vector<float> pressure;              // Pa
  std::vector<float> thickness;             // m
  std::vector<float> mass;                  // kg/m2
  std::vector<float> updraft;               // m/s
  std::vector<float> ground;                // of each column: kg/m2 of rain and snow that have reached the ground
};

class Columns {
 public:
  Columns(const Air& start, std::size_t columns);
  // Goes a step on. falls: of each column, in how many parts of the step the kernel had rain fall, and 256 times the
  // parts with snow, which a rounding may decide. Returns what is wrong with one of them, or nothing.
  [[nodiscard]] std::string step(double seconds, const std::vector<std::uint32_t>& falls);
  // Is it what the GPU has come to?
  [[nodiscard]] tb::Verdict judge(const Air& air) const;

 private:
  struct Cell {
    double temperature = 0;
    std::array<double, 5> water{};
    double pressure = 0, thickness = 0, mass = 0, updraft = 0;
    // Of the present step:
    double density = 0;
    double cold = 0;  // kelvins below freezing, before anything has changed
    double over_ice = 0;
    double& operator[](Water kind) { return water.at(static_cast<std::size_t>(kind)); }
    // Moves `amount` of water, with the heat that it takes or gives.
    void move(Water from, Water to, double amount);
    [[nodiscard]] double frost() const;  // of the ice's processes, 0 to 1 over the first kelvin
  };

  [[nodiscard]] std::string fall(Water kind, std::size_t column, double seconds, std::uint32_t parts);
  static void melt(Cell& cell, double seconds);
  static void freeze(Cell& cell, double seconds);
  static void nucleate(Cell& cell);
  static void deposit(Cell& cell, double seconds);
  static void collect(Cell& cell, double seconds);
  static void make_rain(Cell& cell, double seconds);
  static void evaporate(Cell& cell, double seconds);
  static void condense(Cell& cell);

  std::size_t columns_;
  std::vector<Cell> cells_;
  std::vector<double> ground_;
  double before_ = 0;  // kg of water at the start, over a square metre of every column
};

}  // namespace heddle::workloads::weather
