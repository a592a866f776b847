#include <fmt/format.h>

#include "hw/parameters/cost.hpp"
#include "hw/parameters/machine.hpp"
#include "hw/scalar/scalarisation.hpp"

namespace heddle::hw {

void cost_of_wide_registers(const CostShape& shape, CostLines& lines) {
  const std::uint64_t registers = shape.machine.core.registers_per_thread;
  lines.mechanism("scalarisation");
  lines.add(CostLine::Kind::estimated, "warp-wide register file",
            fmt::format("{} warps x core.registers_per_thread {} x 32", shape.warps, registers),
            shape.warps * registers * 32, "thesis 9.2.1: a register file per warp; own estimate of its size");
  lines.add(CostLine::Kind::estimated, "registers that lie in lanes",
            fmt::format("core.threads {} x core.registers_per_thread {}", shape.threads, registers),
            shape.threads * registers, "own estimate: a bit for each register of each thread");
}

}  // namespace heddle::hw
