// Speckle-reducing anisotropic diffusion on the host, in double precision, for the workloads that do it (srad,
// srad_lists): the image's cells, the scale of its speckles, a step.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "workloads/support.hpp"

namespace heddle::workloads::diffusion {

inline constexpr float kRate = 0.5F;

// Cells around 1.6, e^(0..1), as the logarithmic images of the suite.
[[nodiscard]] inline std::vector<float> image(std::size_t cells, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> all(cells);
  for (float& cell : all) {
    cell = static_cast<float>(std::exp(random.unit()));
  }
  return all;
}

// The squared coefficient of variation, from the cells' sum and that of their squares.
[[nodiscard]] inline double speckles(double sum, double squares, std::size_t cells) {
  const auto count = static_cast<double>(cells);
  const double mean = sum / count;
  return (squares / count - mean * mean) / (mean * mean);
}
template <class Cells>
[[nodiscard]] double speckles(const Cells& cells) {
  double sum = 0;
  double squares = 0;
  for (const double cell : cells) {
    sum += cell;
    squares += cell * cell;
  }
  return speckles(sum, squares, cells.size());
}

// One step over rows x columns cells, row by row (column by column gives the same, rows and columns exchanged).
inline void step(std::vector<double>& cells, std::size_t rows, std::size_t columns, double threshold) {
  const auto at = [columns](std::size_t row, std::size_t column) { return row * columns + column; };
  struct Around {
    double north, south, west, east;
  };
  std::vector<Around> around(cells.size());
  std::vector<double> spread(cells.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const double here = cells[at(row, column)];
      const Around to = {cells[at(row == 0 ? 0 : row - 1, column)] - here,
                         cells[at(std::min(row + 1, rows - 1), column)] - here,
                         cells[at(row, column == 0 ? 0 : column - 1)] - here,
                         cells[at(row, std::min(column + 1, columns - 1))] - here};
      const double gradient =
          (to.north * to.north + to.south * to.south + to.west * to.west + to.east * to.east) / (here * here);
      const double laplacian = (to.north + to.south + to.west + to.east) / here;
      const double variation =
          (gradient / 2 - laplacian * laplacian / 16) / ((1 + laplacian / 4) * (1 + laplacian / 4));
      around[at(row, column)] = to;
      spread[at(row, column)] = std::clamp(1 / (1 + (variation - threshold) / (threshold * (1 + threshold))), 0.0, 1.0);
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const Around& to = around[at(row, column)];
      const double here = spread[at(row, column)];
      cells[at(row, column)] += kRate / 4 *
                                (here * to.north + spread[at(std::min(row + 1, rows - 1), column)] * to.south +
                                 here * to.west + spread[at(row, std::min(column + 1, columns - 1))] * to.east);
    }
  }
}

// Some ten operations of a step round, and a cell's error spreads to its neighbours by weights whose sum is 1; the
// coefficient's slope, at most 1 / threshold, lets the error of its variation grow.
[[nodiscard]] inline double tolerance(unsigned steps, double threshold) {
  return steps * 0x1p-20 / std::min(1.0, threshold);
}

[[nodiscard]] inline tb::Verdict judge(const std::vector<float>& actual, const std::vector<double>& expected,
                                       double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::abs(actual[i] - expected[i]) <= tolerance)) {
      return {false, fmt::format("cell [{}]: {} instead of {:.7f}", i, actual[i], expected[i])};
    }
  }
  return {true, fmt::format("{} cells within {:.2g} of the host's in double", expected.size(), tolerance)};
}

}  // namespace heddle::workloads::diffusion
