#include "hw/check/core_parts.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "hw/coalesce/coalescer.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "hw/schedule/load_limiter.hpp"
#include "hw/scratchpad/carve_out.hpp"

namespace heddle::hw {

void check_scalar(const CoreParameters& core, std::vector<Contradiction>& found) {
  if (!about<Scalarisation>(core.scalar).traits.finds) {
    return;
  }
  if (!about<Divergence>(core.divergence).traits.lockstep_lanes) {
    found.push_back({"core.scalar", fmt::format("core.scalar = \"{}\" keeps registers per warp, and core.divergence = "
                                                "\"{}\" forms warps of other threads at branches or accesses; use "
                                                "core.divergence = \"stack\"",
                                                core.scalar, core.divergence)});
  } else if (schedules_threads(core)) {
    found.push_back({"core.scalar", fmt::format("core.scalar = \"{}\" has one lane execute for all threads of a warp, "
                                                "which core.divergence = \"{}\" does not keep together where the "
                                                "compiler expects them; use core.divergence = \"stack\"",
                                                core.scalar, core.divergence)});
  }
  if (about<IssueDiscipline>(core.issue).traits.early_next_pc) {
    found.push_back({"core.scalar", fmt::format("core.scalar = \"{}\" waits for a warp's earlier instructions, which "
                                                "core.issue = \"{}\" does not; use \"strict\" or \"relaxed\"",
                                                core.scalar, core.issue)});
  }
}

void check_registers(const Machine& machine, std::vector<Contradiction>& found) {
  if (const unsigned most = most_registers(machine); machine.core.registers_per_thread > most) {
    found.push_back(
        {"core.registers_per_thread",
         fmt::format("core.registers_per_thread ({}) is more than the {} registers that instructions of {} bytes "
                     "(icache.instruction_bytes) can name; use icache.instruction_bytes = 16",
                     machine.core.registers_per_thread, most, machine.icache.instruction_bytes)});
  }
}

void check_stalls(const CoreParameters& core, std::vector<Contradiction>& found) {
  const Divergence::Traits& mechanism = about<Divergence>(core.divergence).traits;
  if (stalls_on_use(core) && (!mechanism.keeps_warps || mechanism.parts_in_flight || mechanism.mimd_lanes)) {
    found.push_back(
        {"scoreboard.stall",
         fmt::format("scoreboard.stall = \"on-use\" lets a warp go on while its loads are under way, and "
                     "core.divergence = \"{}\" gives its threads to other groups meanwhile, which do not "
                     "wait for them; use {} or core.divergence = \"stack\"",
                     core.divergence,
                     by_control_bits(core) ? "core.issue = \"scoreboard\" with scoreboard.stall = \"on-access\","
                                           : "scoreboard.stall = \"on-access\"")});
  }
}

void check_sub_cores(const Machine& machine, std::vector<Contradiction>& found) {
  const CoreParameters& core = machine.core;
  if (core.sub_cores == 1) {
    return;
  }
  const Divergence::Traits& mechanism = about<Divergence>(core.divergence).traits;
  const auto refuse = [&](std::string why) { found.push_back({"core.sub_cores", std::move(why)}); };
  if (core.threads % core.warp_size == 0 && core.threads % (core.warp_size * core.sub_cores) != 0) {
    refuse(
        fmt::format("core.sub_cores ({}) does not share out the {} warps of a core equally (core.threads {} / "
                    "core.warp_size {})",
                    core.sub_cores, core.threads / core.warp_size, core.threads, core.warp_size));
  }
  if (core.registers % core.sub_cores != 0) {
    refuse(fmt::format("core.sub_cores ({}) does not divide core.registers ({})", core.sub_cores, core.registers));
  }
  if (mechanism.changes_cores || mechanism.global_pool != nullptr) {
    refuse(
        fmt::format("core.divergence = \"{}\" moves threads between cores, whose places it does not tell apart by "
                    "sub-core; use core.sub_cores = 1",
                    core.divergence));
  }
  if (mechanism.mimd_lanes) {
    refuse(
        fmt::format("core.divergence = \"{}\" has lanes that share the core's I-cache and scratchpad in a cycle, "
                    "which sub-cores take one after the other; use core.sub_cores = 1",
                    core.divergence));
  }
  if (about<LoadLimiter>(core.load_limiter).traits.limits) {
    refuse(fmt::format("core.load_limiter = \"{}\" hears of the L1 for all warps of a core; use core.sub_cores = 1",
                       core.load_limiter));
  }
}

void check_register_banks(const Machine& machine, std::vector<Contradiction>& found) {
  if (machine.registers.banks == 0) {
    return;
  }
  const CoreParameters& core = machine.core;
  const auto refuse = [&](std::string why) { found.push_back({"registers.banks", std::move(why)}); };
  if (about<Divergence>(core.divergence).traits.mimd_lanes) {
    refuse(
        fmt::format("core.divergence = \"{}\" has lanes that read operands of other instructions each, and a bank's "
                    "port reads one register of all lanes; use registers.banks = 0",
                    core.divergence));
  }
  if (about<Scalarisation>(core.scalar).traits.finds) {
    refuse(
        fmt::format("core.scalar = \"{}\" has registers of a warp beside the banks, whose ports are not modelled; use "
                    "registers.banks = 0",
                    core.scalar));
  }
}

void check_private_memory(const Machine& machine, std::vector<Contradiction>& found) {
  const unsigned bytes = machine.private_memory.bytes;
  if (const unsigned frame = machine.private_memory.frame_bytes; frame % 64 != 0) {
    found.push_back(
        {"private.frame_bytes",
         fmt::format(
             "private.frame_bytes ({}) is no multiple of 64, the largest vector that a thread accesses at once; "
             "use {}",
             frame, (frame + 63) / 64 * 64)});
  }
  if (bytes == 0) {
    return;
  }
  const CoreParameters& core = machine.core;
  const Divergence::Traits& mechanism = about<Divergence>(core.divergence).traits;
  const auto refuse = [&](std::string why) { found.push_back({"private.bytes", std::move(why)}); };
  if (bytes % 16 != 0) {
    refuse(fmt::format("private.bytes ({}) is no multiple of 16, the widest access of a thread", bytes));
  }
  if (mechanism.changes_cores || mechanism.global_pool != nullptr) {
    refuse(
        fmt::format("core.divergence = \"{}\" moves threads between cores, away from the private memory of the core "
                    "in which they began; use private.bytes = 0",
                    core.divergence));
  }
  if (core.sub_cores != 1) {
    refuse(
        fmt::format("core.sub_cores ({}) have lanes of their own, and private memory has a bank for each lane of a "
                    "core; use core.sub_cores = 1 or private.bytes = 0",
                    core.sub_cores));
  }
}

void check_constant_cache(const Machine& machine, std::vector<Contradiction>& found) {
  const ConstantCacheParameters& cache = machine.constant_cache;
  if (cache.bytes == 0) {
    if (cache.l0_bytes != 0) {
      found.push_back({"constant_cache.l0_bytes",
                       fmt::format("constant_cache.l0_bytes ({}): the caches of the sub-cores stand before the core's, "
                                   "and constant_cache.bytes is 0",
                                   cache.l0_bytes)});
    }
    return;
  }
  const auto check_ways = [&](const char* ways_key, unsigned ways, const char* bytes_key, std::uint64_t bytes) {
    if (bytes % (std::uint64_t{ways} * cache.line_bytes) != 0) {
      found.push_back({ways_key, fmt::format("{} ({}) times constant_cache.line_bytes ({}) does not divide {} ({})",
                                             ways_key, ways, cache.line_bytes, bytes_key, bytes)});
    }
  };
  check_ways("constant_cache.ways", cache.ways, "constant_cache.bytes", cache.bytes);
  check_ways("constant_cache.l0_ways", cache.l0_ways, "constant_cache.l0_bytes", cache.l0_bytes);
  if (cache.line_bytes > machine.l1d.line_bytes) {
    found.push_back({"constant_cache.line_bytes",
                     fmt::format("constant_cache.line_bytes ({}) is larger than l1d.line_bytes ({}), which the memory "
                                 "channels transfer",
                                 cache.line_bytes, machine.l1d.line_bytes)});
  }
  if (cache.l0_bytes != 0 && machine.gpu.perfect_memory) {
    found.push_back({"constant_cache.l0_bytes",
                     "constant_cache.l0_bytes: every load is a hit of the core's constant cache already "
                     "(gpu.perfect_memory); use 0"});
  }
  if (cache.l0_bytes != 0 && about<Divergence>(machine.core.divergence).traits.mimd_lanes) {
    found.push_back({"constant_cache.l0_bytes",
                     fmt::format("core.divergence = \"{}\" has lanes that load each for itself, of which a sub-core's "
                                 "cache serves one address per cycle; use constant_cache.l0_bytes = 0",
                                 machine.core.divergence)});
  }
}

void check_l0(const Machine& machine, std::vector<Contradiction>& found) {
  const L0Parameters& l0 = machine.l0i;
  if (!l0.enabled) {
    return;
  }
  const std::uint64_t way = std::uint64_t{l0.ways} * machine.icache.line_bytes;
  if (l0.bytes % way != 0) {
    found.push_back({"l0i.ways", fmt::format("l0i.bytes ({}) is no multiple of l0i.ways ({}) x icache.line_bytes ({})",
                                             l0.bytes, l0.ways, machine.icache.line_bytes)});
  }
  if (about<Divergence>(machine.core.divergence).traits.mimd_lanes) {
    found.push_back({"l0i.enabled", fmt::format("core.divergence = \"{}\" fetches for each lane; use l0i.enabled = "
                                                "false",
                                                machine.core.divergence)});
  }
  if (machine.icache.ideal || machine.gpu.perfect_memory) {
    found.push_back({"l0i.enabled",
                     "l0i.enabled: every fetch is a hit of the instruction cache already "
                     "(icache.ideal, gpu.perfect_memory); use false"});
  }
}

void check_carve_outs(const Machine& machine, std::vector<Contradiction>& found) {
  constexpr const char* kKey = "scratchpad.carve_outs";
  const std::string& text = machine.scratchpad.carve_outs;
  if (text.empty()) {
    return;
  }
  const auto refuse = [&](const std::string& why) {
    found.push_back({kKey, fmt::format("{} (\"{}\"): {}", kKey, text, why)});
  };
  std::string why;
  const std::vector<std::uint64_t> sizes = parse_carve_outs(text, why);
  if (sizes.empty()) {
    refuse(why.empty() ? "there is no size in it" : why);
    return;
  }
  if (sizes.back() != machine.scratchpad.bytes) {
    refuse(fmt::format("the largest is {} bytes, and scratchpad.bytes is {}", sizes.back(), machine.scratchpad.bytes));
  }
  if (std::uint64_t{machine.scratchpad.least_carve_out} * 1024 > sizes.back()) {
    found.push_back({"scratchpad.least_carve_out",
                     fmt::format("scratchpad.least_carve_out ({} KB) is more than the largest of scratchpad.carve_outs",
                                 machine.scratchpad.least_carve_out)});
  }
  const std::uint64_t set = std::uint64_t{machine.l1d.ways} * machine.l1d.line_bytes;
  for (const std::uint64_t size : sizes) {
    if (size >= machine.l1d.bytes || (machine.l1d.bytes - size) % set != 0) {
      refuse(fmt::format(
          "{} bytes leave no L1 of whole sets in l1d.bytes ({}), of l1d.ways ({}) x l1d.line_bytes ({}) each", size,
          machine.l1d.bytes, machine.l1d.ways, machine.l1d.line_bytes));
      return;
    }
  }
}

void check_queue(const Machine& machine, std::vector<Contradiction>& found) {
  if (machine.lsu.queue == 0) {
    return;
  }
  const CoreParameters& core = machine.core;
  if (about<Divergence>(core.divergence).traits.mimd_lanes) {
    found.push_back({"lsu.queue", fmt::format("lsu.queue ({}): with core.divergence = \"{}\" each lane fetches an "
                                              "access of its own; use 0",
                                              machine.lsu.queue, core.divergence)});
  }
  if (about<Coalescer>(core.coalescer).traits.gathers) {
    found.push_back({"lsu.queue", fmt::format("lsu.queue ({}): core.coalescer = \"{}\" sends the lines of a warp's "
                                              "sub-warps together, which leave the queue one after the other; use 0",
                                              machine.lsu.queue, core.coalescer)});
  }
}

void check_returns(const Machine& machine, std::vector<Contradiction>& found) {
  const DataCacheParameters& l1d = machine.l1d;
  if (l1d.return_bytes == 0) {
    return;
  }
  if (l1d.enabled && l1d.hit_latency == 1) {
    found.push_back({"l1d.return_bytes", fmt::format("l1d.return_bytes ({}) is of a port that hits do not come by with "
                                                     "l1d.hit_latency = 1, but the memory stage itself; use 0",
                                                     l1d.return_bytes)});
  }
  if (about<Divergence>(machine.core.divergence).traits.mimd_lanes) {
    found.push_back({"l1d.return_bytes", fmt::format("l1d.return_bytes ({}): with core.divergence = \"{}\" each lane "
                                                     "writes results of its own; use 0",
                                                     l1d.return_bytes, machine.core.divergence)});
  }
}

}  // namespace heddle::hw
