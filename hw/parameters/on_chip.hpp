// Parameters of a core's on-chip memories that are no caches, and of the way to all memories.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

struct ScratchpadParameters {
  std::uint64_t bytes = 128 * 1024;
  unsigned banks = 32;
  unsigned latency = 1;
  unsigned return_bytes = 0;
  std::string carve_outs;
  unsigned least_carve_out = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("bytes", bytes, Limits::between(0, 16 << 20), "bytes", "capacity per core, shared by its resident blocks");
    visit("banks", banks, Limits::power_of_two(1, 64), "banks",
          "32-bit wide banks; conflicts serialise, broadcast is free");
    visit("latency", latency, Limits::between(1, 1000), "cycles",
          "from the last cycle of an access in the banks to its results, both counted, of any number of accesses at "
          "once; 1: the memory stage's own cycle, as in the papers");
    visit(
        "return_bytes", return_bytes, Limits::between(0, 4096), "bytes",
        "of results of the scratchpad that a sub-core's lanes write per cycle, by the port of l1d.return_bytes, which "
        "each has at least as long as 32 bits for all lanes from the L1 have it; 0: l1d.return_bytes");
    visit("carve_outs", carve_outs, Limits::any(), "KB",
          "sizes that the scratchpad can have as a part of the L1's store, which l1d.bytes then is: \"0 32 64\". In a "
          "launch it has the smallest one that holds the scratchpad of as many blocks as a core can have, or what the "
          "program prefers, and the L1 has the rest (CUDA C++ Programming Guide, shared memory of each compute "
          "capability); empty: it has a store of its own");
    visit("least_carve_out", least_carve_out, Limits::between(0, 16384), "KB",
          "of a launch whose program prefers none");
  }
};

// The load-store unit that a core's sub-cores share (hw/core/share/access_slots.hpp), and each sub-core's queue and
// address unit before it (hw/core/memory/memory_queue.hpp). MICRO 2025, section 5.4 and table 1, has those of NVIDIA's
// GPUs.
struct LoadStoreParameters {
  unsigned queue = 0;
  unsigned address_cycles = 4;
  unsigned interval = 2;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("queue", queue, Limits::between(0, 64), "accesses",
          "of a sub-core that may be on their way from fetch to the load-store unit; a warp whose next access finds no "
          "place is not fetched, and holds up no other. Accesses to constants and parameters take none. 0: accesses "
          "pass the pipeline in its order, any number, as in the papers");
    visit("address_cycles", address_cycles, Limits::between(1, 64), "cycles",
          "that the address unit of a sub-core has an access to itself, before the load-store unit takes it");
    visit("interval", interval, Limits::between(1, 64), "cycles",
          "between two accesses that the load-store unit takes, whichever sub-core they come from");
  }
};

// The unit of a core that copies in bulk (hw/core/share/bulk_copies.hpp).
struct BulkCopyParameters {
  unsigned queue = 0;
  unsigned latency = 1;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "queue", queue, Limits::between(0, 64), "copies",
        "copies in bulk (cp.async.bulk) whose lines have not all been asked for, beyond which an instruction that asks "
        "for one waits. 0: there is no unit, and the thread that asks copies 16 bytes at a time itself");
    visit("latency", latency, Limits::between(1, 4096), "cycles",
          "from a copy's instruction in the memory stage to its first line at the L1");
  }
};

struct PrivateMemoryParameters {
  unsigned bytes = 0;
  unsigned frame_bytes = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "bytes", bytes, Limits::between(0, 65536), "bytes",
        "of each thread's local memory, from its start, that are on the chip, in a bank per lane (LWM report 2.2; its "
        "table 1 has 128, of which the papers' kernels make use themselves, as scratchpad); what lies behind them is "
        "in device memory. 0: all of it");
    visit(
        "frame_bytes", frame_bytes, Limits::between(0, 1 << 20), "bytes",
        "from one thread's local memory to the next one's in device memory, or a multiple that holds it: frames as the "
        "stacks of a host's threads, pages apart (DWS report, reference 19). 0: interleaved by words over the "
        "threads, as GPUs have it");
  }
};

// The register file of a sub-core (hw/registers/operand_reads.hpp). The papers' has a bank for each lane, which
// operands find free. NVIDIA's, since Turing at the latest, has two banks with a port of 1024 bits for reads and one
// for writes each, three cycles to read in, and the cache (measured by MICRO 2025, section 5.3).
struct RegisterFileParameters {
  static constexpr unsigned kMostBanks = 16;
  unsigned banks = 0;
  unsigned read_ports = 1;
  unsigned read_cycles = 3;
  unsigned write_ports = 0;
  bool cache = false;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("banks", banks, Limits::between(0, kMostBanks), "banks",
          "of registers, by register number, whose ports limit how many operands are read in a cycle; 0: every operand "
          "finds a port");
    visit("read_ports", read_ports, Limits::between(1, 8), "registers", "of all lanes that a bank reads in a cycle");
    visit("read_cycles", read_cycles, Limits::between(1, 8), "cycles",
          "within which all operands of an instruction are read; it waits in front of register read until they can be");
    visit(
        "write_ports", write_ports, Limits::between(0, 8), "registers",
        "of all lanes that a bank writes in a cycle; a result from memory gives way to those of the pipeline; 0: any");
    visit("cache", cache, Limits::any(), "",
          "true: operands that an instruction close behind reads again in the same place stay in front of the banks, "
          "one for each bank and place (register file cache)");
  }
};

}  // namespace heddle::hw
