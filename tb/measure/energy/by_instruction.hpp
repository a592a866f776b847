// The energy of a run by instruction, and so by source line: each activity's energy, and the leakage, shared out among
// the instructions by what the profile has counted of them.
//
// Of a core's lanes and the register banks, the profile counts the very events that are priced (of a run that ended as
// it should), so that an instruction gets what it took. Of the others it counts what brings them about, and
// instructions share by that:
//
//   dispatcher, core, icache   instructions retired, unless the profile has a counter of the activity's name
//   scratchpad                 accesses to the scratchpad
//   l1d, coherence             lines asked for
//   dram reads, dram writes    lines of loads and atomics that were not in the L1; lines of stores
//   else behind the L1         both
//   leakage of all units       time: warp cycles by the instruction that they are spent on, whatever the state
#pragma once

#include <vector>

#include "tb/measure/energy/energy.hpp"
#include "tb/measure/profile/profile.hpp"

namespace heddle::tb {

struct InstructionEnergy {
  double activities_pj = 0;
  double leakage_pj = 0;
};

struct EnergyByInstruction {
  // By kernel and instruction, as Profile::kernels() and KernelProfile::counters.
  std::vector<std::vector<InstructionEnergy>> kernels;
  // What no instruction brought about: leakage of a run in which no warp did anything. With it all adds up to the run's
  // energy, to a double's last digits.
  double rest_pj = 0;
};

[[nodiscard]] EnergyByInstruction energy_by_instruction(const Energy& energy,
                                                        const std::vector<Profile::KernelProfile>& kernels);

}  // namespace heddle::tb
