// What the compiler's code depends on beside its text: what a machine wants of it. tb/device/code_options.hpp has a
// machine's.
#pragma once

#include "isa/module.hpp"

namespace heddle::ptx {

// Where a block's registers are: among how many its threads' are, and how many threads find theirs at once there, one
// sub-warp or warp in each part of a core.
struct CoreRegisters {
  unsigned count = 0;  // 0: as many as are wanted
  unsigned threads = 1;
  friend bool operator==(const CoreRegisters&, const CoreRegisters&) = default;
};

struct CodeOptions {
  // Registers a thread may use (32-bit); more live values spill to local memory. A kernel's .maxnreg lowers it further.
  // At least 8. More than isa::kNarrowRegisters are for machines with instructions of 16 bytes.
  unsigned max_registers = isa::kNarrowRegisters;
  // A kernel gets more than isa::kNarrowRegisters per thread only as far as a block of as many threads as its text
  // allows (.maxntid, .reqntid; else 1024) has room in a core.
  CoreRegisters core_registers = {};
  // Branches around at most so many machine operations on each side become predicated code (thesis 2.1.3.1); 0: none.
  unsigned if_conversion = 0;
  // Whether these may load from global or local memory or by textures, and have atomics.
  bool predicated_loads = true;
  // Loops go through so many iterations at a time where it is not known how many there are, and in full, or through
  // more, where that is known (ptx/backend/unroll.cpp); a loop with .pragma "nounroll" stays as it is. 0, 1: all do.
  unsigned unroll = 0;
  // Instructions of a block are ordered so that loads begin early, with at most so many 32-bit registers live at once
  // where the text does with as few; 0: they stay in the text's order.
  unsigned schedule_within = 0;
  // Operations between lanes and bar.warp.sync wait for the lanes that they name, where they are not known to be there:
  // for machines whose mechanism schedules the threads of a warp independently. False: code for all others.
  bool warp_syncs = false;
  // Divisions, reciprocals and roots are code that refines approximations (ptx/lower/division.hpp).
  bool software_division = false;
  // Neighbouring operations are joined as the compilers of today's GPUs do it (ptx/backend/peephole.cpp, logic.cpp).
  bool peephole = false;
  // BSSY and BSYNC stand where threads of a warp part and meet (ptx/backend/convergence.hpp).
  bool convergence_instructions = false;
  // Copies in bulk are one instruction, for a machine that has a unit for them (bulk_copy.queue); else the thread that
  // asks for one does it itself.
  bool bulk_copies = false;
  friend bool operator==(const CodeOptions&, const CodeOptions&) = default;
};

}  // namespace heddle::ptx
