// In which functional units operations are and how long, where more than one place must know: the units themselves
// (hw/core/execute/execute.cpp), decode, the issue disciplines, and the compiler by way of these.
#pragma once

#include <algorithm>
#include <bit>

#include "hw/parameters/machine.hpp"
#include "isa/instruction.hpp"

namespace heddle::hw {

// The unit that executes it. `complex_conversions`: the core's.
[[nodiscard]] inline isa::Unit unit_of(bool complex_conversions, const isa::Instruction& instruction) {
  const bool converts = complex_conversions && isa::is_conversion_or_count(instruction);
  return converts ? isa::Unit::complex : isa::info(instruction.op).unit;
}

// Cycles of an operation on the prefix-sum network (thesis 7.1): its levels, then the shift and the addition of the
// base. Where that is more than the execute stages, it leaves later than a simple operation that began with it.
[[nodiscard]] inline unsigned prefix_latency(const CoreParameters& core) {
  const auto levels = static_cast<unsigned>(std::bit_width(core.simd_width - 1));
  return (levels + core.prefix_levels_per_cycle - 1) / core.prefix_levels_per_cycle + 1;
}

// A complex operation takes as long as a simple one, and one can begin in every cycle.
[[nodiscard]] inline bool complex_is_simple(const CoreParameters& core) {
  return core.complex_latency <= core.execute_stages && core.complex_interval == 1;
}

// Of a simple operation, and of arithmetic on halves: cycles in the functional units.
[[nodiscard]] inline unsigned simple_time(const CoreParameters& core) {
  return core.execute_stages;
}
[[nodiscard]] inline unsigned half_time(const CoreParameters& core) {
  return std::max(core.half_latency, core.execute_stages);
}

// Multiply-adds of a product of matrices, in those of f16 that take a tensor core as long. The rates of elements beside
// each other are those of NVIDIA's data sheets since the A100; f64 as there and in the H100.
[[nodiscard]] inline unsigned tensor_multiply_adds(const isa::Instruction& instruction) {
  const unsigned products = isa::matrix_shape(instruction).products();
  switch (instruction.factor_a()) {
    case isa::Factor::s8:
    case isa::Factor::u8:
      return products / 2;
    case isa::Factor::tf32:
      return products * 2;
    case isa::Factor::f64:
      return products * 16;
    case isa::Factor::f16:
    case isa::Factor::bf16:
      break;
  }
  return products;
}

// Cycles for which a product of matrices takes the tensor core, before another one can begin.
[[nodiscard]] inline unsigned tensor_interval(const CoreParameters& core, const isa::Instruction& instruction) {
  const unsigned rate = std::max(core.tensor_rate, 1U);
  return std::max((tensor_multiply_adds(instruction) + rate - 1) / rate, 1U);
}

// Cycles from the one in which an operation reads its operands to the first in which another one reads the result, by
// way of bypasses, where the operation is so long in the functional units and nothing holds it up.
[[nodiscard]] inline unsigned bypass_time(const CoreParameters& core, unsigned in_units) {
  return std::max(1U, core.register_read_latency + in_units - 1);
}

// Whether arithmetic on halves passes the lanes' stages as other simple operations do.
[[nodiscard]] inline bool half_is_simple(const CoreParameters& core) {
  return core.half_latency <= core.execute_stages && core.half_interval == 1;
}

}  // namespace heddle::hw
