// The parameters of caches (hw/parameters/machine.hpp has them all).
#pragma once

#include <cstdint>
#include <string>

#include "base/parameter.hpp"
#include "hw/parameters/policy_limits.hpp"

namespace heddle::hw {

struct CacheParameters {
  bool enabled = true;
  std::uint64_t bytes = 32 * 1024;
  unsigned ways = 4;
  unsigned line_bytes = 128;
  unsigned hit_latency = 1;
  unsigned ports = 1;
  unsigned mshrs = 64;
  unsigned mshr_targets = 64;
  std::string write_policy = "write-back";
  unsigned write_buffer = 32;
  std::string index = "modulo";  // keys of data caches and of the L2 only
  unsigned sector_bytes = 0;     // likewise
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("enabled", enabled, Limits::any(), "", "false: every access goes to memory");
    visit("bytes", bytes, Limits::between(32, 1 << 30), "bytes", "capacity; the number of sets may be any");
    visit("ways", ways, Limits::between(1, 1024), "ways", "associativity; replacement is least recently used");
    visit("line_bytes", line_bytes, Limits::power_of_two(32, 128), "bytes", "line size");
    visit("hit_latency", hit_latency, Limits::between(1, 1000), "cycles", "from access to data of a hit");
    visit("ports", ports, Limits::between(1, 32), "ports", "line accesses that start per cycle");
    visit("mshrs", mshrs, Limits::between(1, 4096), "entries", "lines that can be outstanding");
    visit("mshr_targets", mshr_targets, Limits::between(1, 4096), "entries",
          "requests merged into one outstanding line");
    visit("write_policy", write_policy, Limits::one_of({"write-back", "write-through"}), "",
          "write-back allocates on a store miss; write-through does not");
    visit("write_buffer", write_buffer, Limits::between(1, 4096), "entries",
          "write-backs and write-through stores that memory has not acknowledged");
  }
};

// A core's instruction cache (hw/cache/instruction_cache.hpp).
struct InstructionCacheParameters : CacheParameters {
  bool ideal = false;
  bool kept = false;
  unsigned instruction_bytes = 8;
  template <class Visitor>
  void describe(Visitor& visit) {
    CacheParameters::describe(visit);
    visit("ideal", ideal, Limits::any(), "",
          "true: every fetch is a hit, of any line and of as many in a cycle as there are lanes: ideal instruction "
          "fetch, the other end of what MIMD lanes may have (warp-size study 4.2)");
    visit("kept", kept, Limits::any(), "",
          "true: a core that begins a launch finds the lines of the one before in its instruction caches, the "
          "sub-cores' too, unless code has been loaded between them; false: it finds them empty");
    visit(
        "instruction_bytes", instruction_bytes, Limits::power_of_two(8, 16), "bytes",
        "that an instruction takes in memory and in the instruction caches, and so how many registers it can name: 8: "
        "63, 16: 255, as NVIDIA's instructions since Volta (Jia and others, arXiv 1804.06826)");
  }
};

// A sub-core's own instruction cache (hw/cache/l0_cache.hpp). MICRO 2025's of an RTX A6000; 8 lines fit best (table 5).
struct L0Parameters {
  bool enabled = false;
  std::uint64_t bytes = 32 * 1024;
  unsigned ways = 32;
  unsigned prefetch = 8;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("enabled", enabled, Limits::any(), "",
          "true: each sub-core has one, in front of the core's instruction cache");
    visit("bytes", bytes, Limits::power_of_two(128, 1 << 20), "bytes", "capacity, in lines of icache.line_bytes");
    visit("ways", ways, Limits::between(1, 1024), "ways", "associativity; replacement is least recently used");
    visit("prefetch", prefetch, Limits::between(0, 64), "lines",
          "of the stream buffer, which asks for the lines behind a missing one; 0: there is none");
  }
};

// A core's cache of constants and kernel parameters (hw/cache/constant_cache.hpp), and each sub-core's own one before
// it. Lines and ways are those of GPGPU-Sim 2.1.1b, the ODGS paper's simulator (ISPASS-2009 configuration).
struct ConstantCacheParameters {
  std::uint64_t bytes = 0;
  unsigned line_bytes = 64;
  unsigned ways = 2;
  unsigned hit_latency = 1;
  unsigned ports = 1;
  unsigned mshrs = 16;
  unsigned mshr_targets = 64;
  std::uint64_t l0_bytes = 0;
  unsigned l0_ways = 2;
  unsigned l0_latency = 1;
  unsigned interval = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("bytes", bytes, Limits::between(0, 1 << 24), "bytes",
          "capacity; 0: there is none, and constants and kernel parameters are read without delay or conflict, as in "
          "the papers");
    visit("line_bytes", line_bytes, Limits::power_of_two(32, 128), "bytes",
          "line size, of the sub-cores' caches too; at most that of the L1");
    visit("ways", ways, Limits::between(1, 1024), "ways", "associativity; replacement is least recently used");
    visit("hit_latency", hit_latency, Limits::between(1, 1000), "cycles",
          "from access to data of a hit, also of one that a sub-core's cache has missed");
    visit("ports", ports, Limits::between(1, 32), "ports",
          "addresses that are read per cycle, each for all lanes that want it; a sub-core's own cache has one");
    visit("mshrs", mshrs, Limits::between(1, 4096), "entries", "lines that can be outstanding");
    visit("mshr_targets", mshr_targets, Limits::between(1, 4096), "entries",
          "requests merged into one outstanding line");
    visit("l0_bytes", l0_bytes, Limits::between(0, 1 << 20), "bytes",
          "capacity of a cache of each sub-core's own before it; 0: there is none");
    visit("l0_ways", l0_ways, Limits::between(1, 1024), "ways", "its associativity");
    visit(
        "l0_latency", l0_latency, Limits::between(1, 1000), "cycles",
        "from access to data of a hit there, at an address in a register. At one that the instruction names, as those "
        "of kernel parameters, it takes 1: there a GPU's compiler makes it an operand of the instruction that needs "
        "it");
    visit("interval", interval, Limits::between(0, 1000), "cycles",
          "from one address in a register to the next, of all sub-cores of a core, which have one unit for these; 0: "
          "each sub-core reads one per cycle");
  }
  [[nodiscard]] CacheParameters cache() const {
    return {true, bytes, ways, line_bytes, hit_latency, ports, mshrs, mshr_targets, "write-through", 1};
  }
  [[nodiscard]] L0Parameters l0() const { return {true, l0_bytes, l0_ways, 0}; }
};

// The L1 data cache (hw/core/memory/memory.hpp offers it a sub-warp's lines).
struct DataCacheParameters : CacheParameters {
  unsigned banks = 0;
  unsigned bank_bytes = 0;
  unsigned conflict_cycles = 0;
  bool merge_reads = true;
  unsigned return_bytes = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    CacheParameters::describe(visit);
    visit("banks", banks, Limits::between(0, 64), "banks",
          "banks behind a crossbar, by line, each of which starts one access per cycle: lines of one bank follow each "
          "other, and lines of others pass them (DWS report, table 3: one per lane); 0: any lines can start together");
    visit(
        "bank_bytes", bank_bytes, Limits::between(0, 128), "bytes",
        "of a bank before the next one's begin, with which an access takes the banks of what its lanes access: two "
        "lines conflict where lanes want one bank of both (DWS report 3.3: \"a crossbar connecting the lanes with the "
        "D-cache banks\", each of which \"performs its own tag match\"); 0: a line, which is in one bank");
    visit("conflict_cycles", conflict_cycles, Limits::between(0, 100), "cycles",
          "that an access of whose lines one finds its bank taken waits, once, before the next one is sent (DWS report "
          "3.3: \"a small queuing overhead (one cycle) is charged\")");
    visit("merge_reads", merge_reads, Limits::any(), "",
          "true: a load of a line that is on its way waits for it, whichever warp asked (SW+, warp-size study 4.1); "
          "false: it reads the line once more, unless a store of the core waits for it");
    visit("return_bytes", return_bytes, Limits::between(0, 4096), "bytes",
          "of results that a sub-core's lanes write per cycle when they come from memory: a register of all lanes, or "
          "several, take their port for as many cycles as they need; 0: for one");
    describe_sectors(visit, index, sector_bytes);
  }
};

// A core's texture cache (hw/cache/texture_cache.hpp). No paper of this machine's describes one; the figures are those
// of the order of a Fermi core's (12 KB), rounded to a power of two.
struct TextureCacheParameters {
  std::uint64_t bytes = 16 * 1024;
  unsigned ways = 4;
  unsigned hit_latency = 16;
  unsigned ports = 1;
  unsigned mshrs = 64;
  unsigned mshr_targets = 64;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("bytes", bytes, Limits::between(32, 1 << 30), "bytes", "capacity; lines are as long as those of the L1");
    visit("ways", ways, Limits::between(1, 1024), "ways", "associativity; replacement is least recently used");
    visit("hit_latency", hit_latency, Limits::between(1, 1000), "cycles",
          "from access to the filtered value, when all texels hit");
    visit("ports", ports, Limits::between(1, 32), "ports", "line accesses that start per cycle");
    visit("mshrs", mshrs, Limits::between(1, 4096), "entries", "lines that can be outstanding");
    visit("mshr_targets", mshr_targets, Limits::between(1, 4096), "entries",
          "requests merged into one outstanding line");
  }
  [[nodiscard]] CacheParameters cache(unsigned line_bytes) const {
    return {true, bytes, ways, line_bytes, hit_latency, ports, mshrs, mshr_targets, "write-through", 1};
  }
};

}  // namespace heddle::hw
