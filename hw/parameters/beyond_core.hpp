// Parameters of what lies between the cores and the memory channels, interconnect and L2, and of where data
// lies behind them.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameter.hpp"

namespace heddle::hw {

inline constexpr unsigned kLeastSector = 32;  // bytes: requests name parts of this size (LineRequest::parts)

// The keys of caches whose lines may be looked for and fetched in other ways than whole and in turn.
template <class Visitor>
void describe_sectors(Visitor& visit, std::string& index, unsigned& sector_bytes) {
  visit("index", index, Limits::one_of({"modulo", "hash"}), "",
        "the set of a line: its number modulo the number of sets, or that of a hash of its number, which spreads "
        "strides");
  visit("sector_bytes", sector_bytes, Limits::between(0, 128), "bytes",
        "part of a line that is valid, fetched and written by itself, a power of two from 32 on; 0: the whole line");
}

struct NocParameters {
  unsigned request_latency = 1;
  unsigned response_latency = 1;
  unsigned queue = 8;
  double clock_ghz = 0;
  unsigned link_bytes = 0;
  bool packed = false;
  unsigned slice_bytes = 0;
  unsigned partition_latency = 0;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("request_latency", request_latency, Limits::between(1, 1000), "cycles",
          "core to memory partition, in cycles of the interconnect");
    visit("response_latency", response_latency, Limits::between(1, 1000), "cycles",
          "memory partition to core, in cycles of the interconnect");
    visit("queue", queue, Limits::between(1, 65536), "entries",
          "requests (responses) that wait at each input, beyond those under way in the link");
    visit("clock_ghz", clock_ghz, Limits::between(0, 10), "GHz",
          "clock of the interconnect, slower or faster than the cores'; 0: theirs. A port hands over at most one "
          "transfer in a cycle of the cores");
    visit("link_bytes", link_bytes, Limits::between(0, 4096), "bytes",
          "data that each port carries per cycle of the interconnect; 0: a whole transfer");
    visit("slice_bytes", slice_bytes, Limits::between(0, 4096), "bytes",
          "the same of ports on the side of the memory, where they differ from those of cores; 0: link_bytes");
    visit("partition_latency", partition_latency, Limits::between(0, 2000), "cycles",
          "of the interconnect, that an answer takes more when it crosses from another partition of the L2 "
          "(l2.partitions)");
    visit("packed", packed, Limits::any(), "",
          "true: a transfer begins in the cycle in which the one before it on its link ends; false: in the next one");
  }
};

// Slices before each memory channel, between the interconnect and the channel's controller (hw/cache/l2_slice.hpp).
// What the papers do not say (table 8.1 of the thesis gives 1 MB and no more) is taken from the DWS report's L2 where
// that has a figure: 16 ways, 30 cycles, 256 MSHRs of 64 requests.
struct L2Parameters {
  bool enabled = false;
  std::uint64_t bytes = 1 << 20;
  unsigned ways = 16;
  unsigned line_bytes = 128;
  unsigned hit_latency = 30;
  unsigned banks = 4;
  unsigned bank_interval = 1;
  unsigned mshrs = 256;
  unsigned mshr_targets = 64;
  std::string write_policy = "write-back";
  unsigned write_buffer = 64;
  unsigned queue = 16;
  bool inclusive = false;
  unsigned slices = 1;
  bool slice_hash = false;
  std::string index = "modulo";
  unsigned sector_bytes = 0;
  double clock_ghz = 0;
  unsigned partitions = 1;
  bool write_back_at_end = true;
  bool kept = false;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit("enabled", enabled, Limits::any(), "", "true: slices of the L2 lie before each memory channel");
    visit("bytes", bytes, Limits::between(32, 1 << 30), "bytes",
          "capacity of all slices together; the number of sets of each may be any");
    visit("ways", ways, Limits::between(1, 1024), "ways", "associativity; replacement is least recently used");
    visit("line_bytes", line_bytes, Limits::power_of_two(32, 128), "bytes",
          "line size, and what the memory channels transfer; at least that of the L1");
    visit("hit_latency", hit_latency, Limits::between(1, 1000), "cycles", "from access to answer of a hit");
    visit("banks", banks, Limits::power_of_two(1, 64), "banks",
          "banks of each slice, by line; each starts one access at a time, in order of arrival");
    visit("bank_interval", bank_interval, Limits::between(1, 1000), "cycles",
          "between the starts of two accesses of a bank");
    visit("mshrs", mshrs, Limits::between(1, 4096), "entries", "lines that can be outstanding, per slice");
    visit("mshr_targets", mshr_targets, Limits::between(1, 4096), "entries",
          "requests merged into one outstanding line");
    visit(
        "write_policy", write_policy, Limits::one_of({"write-back", "write-through"}), "",
        "write-back allocates on a store miss and executes atomics; write-through does not: DRAM's side executes them");
    visit("write_buffer", write_buffer, Limits::between(1, 4096), "entries",
          "write-backs and write-through stores that memory has not acknowledged, per slice");
    visit("queue", queue, Limits::between(1, 65536), "entries",
          "requests that wait at a slice's banks, and answers that wait to leave before accesses do");
    visit("inclusive", inclusive, Limits::any(), "",
          "true: a line that the L2 replaces is dropped by the L1s too (back-invalidation)");
    visit("slices", slices, Limits::between(1, 8), "slices",
          "before each memory channel; of several each has lines of its own and a way to the channel of one cycle");
    visit("slice_hash", slice_hash, Limits::any(), "",
          "true: which of a channel's slices has a line is rotated by a hash of the line's number, which spreads "
          "strides; false: consecutive lines of a channel go to consecutive slices");
    describe_sectors(visit, index, sector_bytes);
    visit("clock_ghz", clock_ghz, Limits::between(0, 10), "GHz",
          "clock of the slices, slower or faster than the cores', in whose cycles hit_latency and bank_interval count; "
          "0: the cores' clock");
    visit(
        "partitions", partitions, Limits::between(1, 8), "partitions",
        "that cores and slices are dealt out to, each of which keeps copies of lines of the others that its cores read "
        "(A100 white paper: \"each L2 partition localizes and caches data\" for its SMs); an answer that finds no copy "
        "takes noc.partition_latency longer");
    visit("write_back_at_end", write_back_at_end, Limits::any(), "",
          "true: at the end of launches dirty lines are written to memory in the time that this takes, which is the "
          "launch's; false: memory has them in no time, as GPUs leave them in the L2 (a V100 writes a third of what "
          "backprop has stored to its DRAM within the kernel: AccelWattch's hw_perf.csv)");
    visit("kept", kept, Limits::any(), "",
          "true: a launch finds the lines of the one before, with the bytes that memory has when it begins (a CUDA "
          "driver invalidates L1s between dependent grids, data are coherent in the L2: PTX ISA, cache operators); "
          "false: it finds the L2 empty");
  }
};

// Where the host's allocator puts buffers in device memory (isa/device_memory.hpp, Placement).
struct AllocationParameters {
  std::string placement = "gap";
  std::uint64_t gap = 256;
  std::uint64_t seed = 1;
  template <class Visitor>
  void describe(Visitor& visit) {
    visit(
        "placement", placement, Limits::one_of({"gap", "page", "seeded"}), "",
        "one buffer behind the other with a gap between; large ones in pages of their own, as C libraries do; or with "
        "gaps drawn at random");
    visit("gap", gap, Limits::power_of_two(256, 1 << 30), "bytes", "unused bytes between two buffers");
    visit("seed", seed, Limits::between(0, 1e15), "", "of the random gaps");
  }
};

}  // namespace heddle::hw
