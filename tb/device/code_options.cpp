#include "tb/device/code_options.hpp"

#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/parameters/bulk_copies.hpp"

namespace heddle::tb {

ptx::CodeOptions code_options(const hw::Machine& machine) {
  const hw::CoreParameters& core = machine.core;
  ptx::CodeOptions options;
  options.max_registers = core.registers_per_thread;
  options.core_registers = {core.registers, core.warp_size * core.sub_cores};
  options.if_conversion = core.if_conversion;
  options.predicated_loads = core.predicated_loads;
  options.unroll = core.unroll;
  options.software_division = core.software_division;
  options.peephole = core.peephole;
  options.convergence_instructions = core.convergence_instructions;
  options.schedule_within = hw::schedules_within(core);
  options.warp_syncs = hw::schedules_threads(core);
  options.bulk_copies = hw::copies_in_bulk(machine);
  return options;
}

}  // namespace heddle::tb
