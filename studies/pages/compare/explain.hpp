// Why one run takes more cycles than another: the difference taken apart into causes that add up to it.
//
// A core's cycle is one in which it executes, or idle for exactly one cause, and all cores count all cycles, so that
//
//   cycles = executing / cores + sum over causes (idle cycles / cores)
//
// and the differences of the terms add up to that of the cycles. Two of the terms are products, whose difference is
// split between their factors:
//
//   executing / cores = lane instructions x (1 / lanes per executing cycle) x (1 / cores)
//   memory / cores    = memory instructions x lines per memory instruction x DRAM accesses per line
//                       x mean unloaded access time (row hits and conflicts) x waiting per access time
//
// by logarithmic means (LMDI-I; B. W. Ang, The LMDI approach to decomposition analysis, Energy Policy 33, 2005): a
// factor that goes from f to g accounts for L(x, y) ln(g / f) of the difference y - x, with L(x, y) = (y - x) / ln(y /
// x). The parts add up exactly, whatever the number of factors, and do not depend on the factors' order.
#pragma once

#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::pages {

// A cause's share of the difference. Positive: it makes the second run longer.
struct Contribution {
  std::string cause;
  std::string detail;  // what changed: "11.2 -> 25.0 lanes"
  double cycles = 0;
  std::vector<Contribution> factors;  // add up to `cycles`; empty where it is no product, or one side is zero
};

struct Explanation {
  double cycles = 0;                 // second run's less first run's
  std::vector<Contribution> causes;  // add up to `cycles`; the largest first; idle causes that are equal are left out
};

[[nodiscard]] Explanation explain(const tb::Summary& from, const hw::Machine& from_machine, const tb::Summary& to,
                                  const hw::Machine& to_machine);

}  // namespace heddle::pages
