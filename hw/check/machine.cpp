// Long: one list of what contradicts and one of what has no effect, each told in one order.
#include "hw/check/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "hw/check/core_parts.hpp"
#include "hw/check/dram.hpp"
#include "hw/check/longest_wait.hpp"
#include "hw/check/policies.hpp"
#include "hw/coalesce/coalescer.hpp"
#include "hw/coherence/protocol.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/parameters/bulk_copies.hpp"
#include "hw/scalar/scalarisation.hpp"
#include "hw/schedule/load_limiter.hpp"
#include "hw/schedule/scheduler.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

Limits divergence_policies() {
  return Limits::policy<Registry<Divergence>>();
}
Limits scheduler_policies() {
  return Limits::policy<Registry<WarpScheduler>>();
}
Limits former_policies() {
  return Limits::policy<Registry<SubWarpFormer>>();
}
Limits issue_policies() {
  return Limits::policy<Registry<IssueDiscipline>>();
}
Limits coalescer_policies() {
  return Limits::policy<Registry<Coalescer>>();
}
Limits scalar_policies() {
  return Limits::policy<Registry<Scalarisation>>();
}
Limits coherence_protocols() {
  return Limits::policy<Registry<CoherenceProtocol>>();
}

namespace {

// "core.divergence = \"stack\"": the mechanisms whose warps may be larger than the SIMD width.
std::string large_warp_mechanisms() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry<Divergence>::instance().entries()) {
    if (entry.about.traits.large_warps) {
      names.push_back("\"" + name + "\"");
    }
  }
  return "core.divergence = " + join(names, " or ");
}

// "gpu.coherence = \"mesi\"": the protocols under which several cores may have write-back caches.
std::string coherent_protocols() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : Registry<CoherenceProtocol>::instance().entries()) {
    if (entry.about.traits.coherent) {
      names.push_back("\"" + name + "\"");
    }
  }
  return "gpu.coherence = " + join(names, " or ");
}

// `lines`: whose line size it has.
void check_cache(const CacheParameters& cache, const char* section, const char* lines,
                 std::vector<Contradiction>& found) {
  if (cache.bytes % (std::uint64_t{cache.ways} * cache.line_bytes) != 0) {
    found.push_back({fmt::format("{}.ways", section),
                     fmt::format("{0}.ways ({1}) times {4}.line_bytes ({2}) does not divide {0}.bytes ({3})", section,
                                 cache.ways, cache.line_bytes, cache.bytes, lines)});
    return;
  }
}

// Of a cache whose lines have parts.
void check_sectors(const char* section, unsigned sector_bytes, unsigned line_bytes, const Machine& machine,
                   std::vector<Contradiction>& found) {
  if (sector_bytes == 0 || sector_bytes == line_bytes) {
    return;
  }
  const std::string key = fmt::format("{}.sector_bytes", section);
  if (!std::has_single_bit(sector_bytes) || sector_bytes < kLeastSector || sector_bytes > line_bytes) {
    found.push_back({key, fmt::format("{} ({}) is no power of two from {} to {}.line_bytes ({})", key, sector_bytes,
                                      kLeastSector, section, line_bytes)});
  }
  if (about<CoherenceProtocol>(machine.gpu.coherence).traits.coherent) {
    found.push_back({key, fmt::format("{} ({}): gpu.coherence = \"{}\" knows whole lines; use 0", key, sector_bytes,
                                      machine.gpu.coherence)});
  }
  if (machine.l2.enabled && machine.l2.inclusive) {
    found.push_back(
        {key, fmt::format("{} ({}): an inclusive L2 (l2.inclusive) knows whole lines; use 0", key, sector_bytes)});
  }
}

void check_clock(const char* key, double own, std::vector<Contradiction>& found) {
  if (own != 0 && own < 0.001) {
    found.push_back({key, fmt::format("{} ({}) is below 0.001 and not 0, the cores' clock", key, own)});
  }
}

// What a launch has stored is seen when it ends, and its cores' caches have been written back: whoever looks before
// would see old bytes.
void check_meeting(const Machine& machine, std::vector<Contradiction>& found) {
  if (!about<CoherenceProtocol>(machine.gpu.coherence).traits.meets_at_end) {
    return;
  }
  const Divergence::Traits& mechanism = about<Divergence>(machine.core.divergence).traits;
  if (mechanism.changes_cores || mechanism.global_pool != nullptr) {
    found.push_back({"gpu.coherence", fmt::format("gpu.coherence = \"{}\" keeps what a thread has stored in its core; "
                                                  "with core.divergence = \"{}\" threads change cores",
                                                  machine.gpu.coherence, machine.core.divergence)});
  }
}

// Banks of parts of lines: lanes that access one line never want one bank for two of them.
void check_banks(const DataCacheParameters& cache, std::vector<Contradiction>& found) {
  if (cache.bank_bytes == 0 || cache.banks == 0) {
    return;
  }
  if ((cache.bank_bytes & (cache.bank_bytes - 1)) != 0) {
    found.push_back(
        {"l1d.bank_bytes", fmt::format("l1d.bank_bytes ({}) is neither 0 nor a power of two", cache.bank_bytes)});
  } else if (cache.bank_bytes * cache.banks < cache.line_bytes) {
    found.push_back({"l1d.bank_bytes", fmt::format("l1d.banks ({}) times l1d.bank_bytes ({}) is less than "
                                                   "l1d.line_bytes ({}): two lanes would want one bank for parts of "
                                                   "one line",
                                                   cache.banks, cache.bank_bytes, cache.line_bytes)});
  }
}

void check_l2(const Machine& machine, std::vector<Contradiction>& found) {
  const L2Parameters& l2 = machine.l2;
  const std::uint64_t unit = std::uint64_t{l2.ways} * l2.line_bytes * memory_slices(machine);
  const std::string slices = l2.slices == 1 ? "" : fmt::format(" times l2.slices ({})", l2.slices);
  if (l2.bytes % unit != 0) {
    found.push_back({"l2.bytes", fmt::format("l2.bytes ({}) is no multiple of l2.ways ({}) times l2.line_bytes ({}) "
                                             "times dram.channels ({}){}: each slice has whole sets",
                                             l2.bytes, l2.ways, l2.line_bytes, machine.dram.channels, slices)});
  }
  if (l2.line_bytes < machine.l1d.line_bytes) {
    found.push_back({"l2.line_bytes", fmt::format("l2.line_bytes ({}) is smaller than l1d.line_bytes ({})",
                                                  l2.line_bytes, machine.l1d.line_bytes)});
  }
  check_sectors("l2", l2.sector_bytes, l2.line_bytes, machine, found);
  check_clock("l2.clock_ghz", l2.clock_ghz, found);
  if (l2.kept && l2.write_back_at_end) {
    found.push_back({"l2.kept",
                     "l2.kept is true, and l2.write_back_at_end empties the L2 at the end of launches; use "
                     "false for one of both"});
  }
  if (l2.kept && about<CoherenceProtocol>(machine.gpu.coherence).traits.coherent) {
    found.push_back({"l2.kept", fmt::format("l2.kept is true, and the homes of gpu.coherence = \"{}\" forget their "
                                            "lines at the end of launches; use false",
                                            machine.gpu.coherence)});
  }
  if (machine.icache.kept && l2.inclusive) {
    found.push_back({"icache.kept",
                     "icache.kept is true, and an inclusive L2 (l2.inclusive), which has instruction "
                     "caches drop what it replaces, forgets after a launch what they have; use false"});
  }
  if (l2.partitions == 1) {
    return;
  }
  const auto refuse = [&](const std::string& why) {
    found.push_back({"l2.partitions", fmt::format("l2.partitions ({}) {}", l2.partitions, why)});
  };
  if (l2.partitions > machine.gpu.cores || l2.partitions > memory_slices(machine)) {
    refuse(fmt::format("is more than gpu.cores ({}) or the slices of the L2 ({}): each has some of either",
                       machine.gpu.cores, memory_slices(machine)));
  }
  if (about<CoherenceProtocol>(machine.gpu.coherence).traits.coherent) {
    refuse(fmt::format("keep copies that the homes of gpu.coherence = \"{}\" know nothing of; use 1",
                       machine.gpu.coherence));
  }
  if (l2.inclusive) {
    refuse("are not modelled for an inclusive L2 (l2.inclusive): what it drops could come late; use 1");
  }
}

// What machine files are checked for as they are read: names and ranges, of a machine that was made otherwise.
void check_values(const Machine& machine, std::vector<Contradiction>& found) {
  Machine copy = machine;  // describe() takes a mutable machine
  for (const ParameterReference& parameter : parameters_of(copy)) {
    try {
      check_value(parameter);
    } catch (const InputError& error) {
      found.push_back({parameter.path(), error.what()});
    }
  }
}

void check_watchdog(const Machine& machine, std::vector<Contradiction>& found) {
  const LongestWait wait = longest_wait(machine);
  if (machine.watchdog.deadlock_cycles <= wait.cycles) {
    found.push_back(
        {"watchdog.deadlock_cycles",
         fmt::format("watchdog.deadlock_cycles ({}) is not above {}, the cycles that one operation or access "
                     "may take by the latencies of this machine ({} of them in DRAM): a slow run would pass "
                     "for a deadlock",
                     machine.watchdog.deadlock_cycles, wait.cycles, wait.dram)});
  }
}

// Policies that do not work together.
void check_mechanisms(const Machine& machine, std::vector<Contradiction>& found) {
  const CoreParameters& core = machine.core;
  const Divergence::Traits& mechanism = about<Divergence>(core.divergence).traits;
  if (!mechanism.large_warps && core.warp_size > core.simd_width) {
    found.push_back({"core.warp_size",
                     fmt::format("core.divergence = \"{}\" forms warps of the SIMD width; core.warp_size ({}) must be "
                                 "core.simd_width ({}) (large warps need {})",
                                 core.divergence, core.warp_size, core.simd_width, large_warp_mechanisms())});
  }
  if (!mechanism.large_warps && about<SubWarpFormer>(core.former).traits.packs) {
    found.push_back({"core.former", fmt::format("core.former = \"{}\" packs the threads of a large warp; with "
                                                "core.divergence = \"{}\" there is nothing to pack, use \"rows\"",
                                                core.former, core.divergence)});
  }
  if (mechanism.mimd_lanes && about<SubWarpFormer>(core.former).traits.packs) {
    found.push_back(
        {"core.former", fmt::format("core.former = \"{}\" packs the threads of a warp that stand at one PC; "
                                    "with core.divergence = \"{}\" they need not, use \"rows\"",
                                    core.former, core.divergence)});
  }
  if (mechanism.mimd_lanes && about<LoadLimiter>(core.load_limiter).traits.limits) {
    found.push_back({"core.load_limiter", fmt::format("core.load_limiter = \"{}\" holds back the next load of a warp; "
                                                      "with core.divergence = \"{}\" each of its threads has a next "
                                                      "instruction of its own: use \"none\"",
                                                      core.load_limiter, core.divergence)});
  }
  if (!mechanism.overlap && about<IssueDiscipline>(core.issue).traits.overlaps) {
    found.push_back({"core.issue", fmt::format("core.issue = \"{}\" lets instructions of one warp overlap, which "
                                               "core.divergence = \"{}\" does not allow; use \"strict\"",
                                               core.issue, core.divergence)});
  }
  if (!machine.l1d.merge_reads && !about<CoherenceProtocol>(machine.gpu.coherence).traits.separate_reads) {
    found.push_back({"l1d.merge_reads", fmt::format("gpu.coherence = \"{}\" asks for a line once, so that its loads "
                                                    "merge; l1d.merge_reads must be true",
                                                    machine.gpu.coherence)});
  }
  check_scheduler(machine, "core.scheduler", core.scheduler, found);
  check_scalar(core, found);
}

// Which parameters depend on which: while `because` is so, `keys` have no effect.
struct Dependence {
  std::vector<std::string_view> keys;  // "l2.*": all of the section, but for the one that `because` begins with
  std::string_view because;
  bool (*is_so)(const Machine& machine);
};

const std::vector<Dependence>& dependences() {
  static const std::vector<Dependence> all = {
      // Without the cache its ports, MSHRs and write buffer still bound what is under way.
      {{"icache.bytes", "icache.ways", "icache.hit_latency", "icache.mshr_targets"},
       "icache.enabled is false",
       [](const Machine& machine) {
         return !machine.icache.enabled && !machine.gpu.perfect_memory && !machine.icache.ideal;
       }},
      {{"icache.kept"},
       "icache.enabled and l0i.enabled are false",
       [](const Machine& machine) {
         return !machine.icache.enabled && !machine.l0i.enabled && !machine.gpu.perfect_memory && !machine.icache.ideal;
       }},
      {{"icache.enabled", "icache.bytes", "icache.ways", "icache.ports", "icache.mshrs", "icache.mshr_targets",
        "icache.write_buffer", "icache.write_policy", "icache.kept"},
       "icache.ideal is true",
       [](const Machine& machine) { return machine.icache.ideal && !machine.gpu.perfect_memory; }},
      {{"l1d.bytes", "l1d.ways", "l1d.hit_latency", "l1d.mshr_targets", "l1d.index"},
       "l1d.enabled is false",
       [](const Machine& machine) { return !machine.l1d.enabled; }},
      // With several cores check() asks for write-through even so.
      {{"l1d.write_policy"},
       "l1d.enabled is false",
       [](const Machine& machine) { return !machine.l1d.enabled && machine.gpu.cores == 1; }},
      {{"l1d.merge_reads"}, "l1d.enabled is false", [](const Machine& machine) { return !machine.l1d.enabled; }},
      {{"registers.read_ports", "registers.read_cycles", "registers.write_ports", "registers.cache"},
       "registers.banks is 0",
       [](const Machine& machine) { return machine.registers.banks == 0; }},
      {{"core.predicated_loads"},
       "core.if_conversion is 0",
       [](const Machine& machine) { return machine.core.if_conversion == 0; }},
      {{"l1d.banks"}, "l1d.ports is 1", [](const Machine& machine) { return machine.l1d.ports == 1; }},
      {{"l1d.bank_bytes", "l1d.conflict_cycles"},
       "l1d.banks is 0",
       [](const Machine& machine) { return machine.l1d.banks == 0; }},
      {{"l1d.bank_bytes", "l1d.conflict_cycles"},
       "l1d.ports is 1",
       [](const Machine& machine) { return machine.l1d.ports == 1 && machine.l1d.banks != 0; }},
      {{"l2.*"}, "l2.enabled is false", [](const Machine& machine) { return !machine.l2.enabled; }},
      {{"l2.slice_hash"},
       "l2.slices is 1",
       [](const Machine& machine) { return machine.l2.enabled && machine.l2.slices == 1; }},
      {{"lsu.address_cycles", "lsu.interval"},
       "lsu.queue is 0",
       [](const Machine& machine) { return machine.lsu.queue == 0; }},
      {{"bulk_copy.latency"}, "no core copies in bulk", [](const Machine& made) { return !copies_in_bulk(made); }},
      {{"scratchpad.return_bytes"},
       "l1d.return_bytes is 0",
       [](const Machine& machine) { return machine.l1d.return_bytes == 0; }},
      {{"scratchpad.least_carve_out"},
       "scratchpad.carve_outs is empty",
       [](const Machine& machine) { return machine.scratchpad.carve_outs.empty(); }},
      {{"noc.partition_latency"},
       "l2.partitions is 1",
       [](const Machine& machine) { return machine.l2.partitions == 1 && machine.l2.enabled; }},
      {{"noc.partition_latency"}, "l2.enabled is false", [](const Machine& machine) { return !machine.l2.enabled; }},
      {{"dram.channel_xor", "dram.channel_hash"},
       "dram.channels is 1",
       [](const Machine& machine) { return machine.dram.channels == 1; }},
      {{"dram.hint_threshold"},
       "dram.hints is false",
       [](const Machine& machine) { return !machine.dram.hints && machine.dram.timing != "none"; }},
      {{"dram.row_hit", "dram.row_conflict", "dram.row_closed", "dram.bandwidth_gbs", "dram.scheduler",
        "dram.row_policy", "dram.bank_xor", "dram.starvation_bound", "dram.turnaround", "dram.write_high",
        "dram.write_low", "dram.hints", "dram.hint_threshold"},
       "dram.timing is none",
       [](const Machine& machine) { return machine.dram.timing == "none"; }},
      // Of several channels the mapping still says which.
      {{"dram.banks", "dram.row_bytes", "dram.mapping"},
       "dram.timing is none and dram.channels is 1",
       [](const Machine& machine) { return machine.dram.timing == "none" && machine.dram.channels == 1; }},
      {{"dram.row_hit", "dram.row_conflict", "dram.row_closed", "dram.bandwidth_gbs"},
       "dram.timing is jedec",
       [](const Machine& machine) { return machine.dram.timing == "jedec"; }},
      {{"dram.preset", "jedec.*"},
       "dram.timing is not jedec",
       [](const Machine& machine) { return machine.dram.timing != "jedec"; }},
      {{"jedec.trefi", "jedec.trfc"},
       "jedec.refresh is false",
       [](const Machine& machine) { return machine.dram.timing == "jedec" && !machine.dram.jedec.refresh; }},
      {{"gpu.coherence",
        "icache.enabled",
        "icache.bytes",
        "icache.ways",
        "icache.mshrs",
        "icache.mshr_targets",
        "icache.write_buffer",
        "icache.kept",
        "l1d.enabled",
        "l1d.bytes",
        "l1d.ways",
        "l1d.mshrs",
        "l1d.mshr_targets",
        "l1d.write_buffer",
        "l1d.write_policy",
        "l1d.merge_reads",
        "l1d.index",
        "l1d.sector_bytes",
        "texture.bytes",
        "texture.ways",
        "texture.mshrs",
        "texture.mshr_targets",
        "constant_cache.ways",
        "constant_cache.line_bytes",
        "constant_cache.mshrs",
        "constant_cache.mshr_targets",
        "l2.*",
        "noc.*",
        "dram.*",
        "jedec.*"},
       "gpu.perfect_memory is true",
       [](const Machine& machine) { return machine.gpu.perfect_memory; }},
      {{"constant_cache.line_bytes", "constant_cache.ways", "constant_cache.hit_latency", "constant_cache.ports",
        "constant_cache.mshrs", "constant_cache.mshr_targets", "constant_cache.l0_ways", "constant_cache.l0_latency",
        "constant_cache.interval"},
       "constant_cache.bytes is 0",
       [](const Machine& machine) { return machine.constant_cache.bytes == 0; }},
      {{"constant_cache.l0_ways", "constant_cache.l0_latency"},
       "constant_cache.l0_bytes is 0",
       [](const Machine& machine) {
         return machine.constant_cache.bytes != 0 && machine.constant_cache.l0_bytes == 0;
       }},
      {{"noc.packed", "noc.slice_bytes"},
       "noc.link_bytes is 0",
       [](const Machine& machine) { return machine.noc.link_bytes == 0; }},
      {{"allocation.gap"},
       "allocation.placement is not gap",
       [](const Machine& machine) { return machine.allocation.placement != "gap"; }},
      {{"allocation.seed"}, "allocation.placement is not seeded", [](const Machine& machine) {
         return machine.allocation.placement != "seeded";
       }}};
  return all;
}

// Sections of policies that are not chosen: no parameter that has an effect itself names them.
void unused_sections(const std::vector<ParameterReference>& parameters, std::vector<WithoutEffect>& found) {
  // By section, which parameters could have chosen it; parameters of unused sections cannot.
  std::map<std::string, std::vector<const ParameterReference*>> choosers;
  std::set<std::string> used;
  for (const ParameterReference& parameter : parameters) {
    if (!parameter.limits.sections) {
      continue;
    }
    for (const std::string& choice : parameter.limits.choices()) {
      for (const std::string& section : parameter.limits.sections(choice)) {
        if (section == parameter.section) {
          continue;
        }
        std::vector<const ParameterReference*>& those = choosers[section];
        if (those.empty() || those.back() != &parameter) {
          those.push_back(&parameter);
        }
      }
    }
  }
  const auto has_say = [&](const ParameterReference& parameter) {
    return choosers.count(parameter.section) == 0 || used.count(parameter.section) != 0;
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& chooser : choosers) {
      const std::string& section = chooser.first;  // a lambda cannot take a structured binding
      const bool chosen =
          std::any_of(chooser.second.begin(), chooser.second.end(), [&](const ParameterReference* parameter) {
            const std::vector<std::string> read =
                has_say(*parameter) ? parameter->limits.sections(*std::get<std::string*>(parameter->field))
                                    : std::vector<std::string>{};
            return std::find(read.begin(), read.end(), section) != read.end();
          });
      grows = (chosen && used.insert(section).second) || grows;
    }
  }
  for (const auto& [section, those] : choosers) {
    if (used.count(section) != 0) {
      continue;
    }
    WithoutEffect one;
    for (const ParameterReference* chooser : those) {
      if (has_say(*chooser)) {
        one.because += fmt::format("{}{} is {}", one.because.empty() ? "" : " and ", chooser->path(),
                                   *std::get<std::string*>(chooser->field));
      }
    }
    for (const ParameterReference& parameter : parameters) {
      if (parameter.section == section) {
        one.keys.push_back(parameter.path());
      }
    }
    found.push_back(std::move(one));
  }
}

bool stands_for(std::string_view pattern, const std::string& key) {
  return pattern.ends_with(".*") ? key.starts_with(pattern.substr(0, pattern.size() - 1)) : key == pattern;
}

}  // namespace

std::vector<WithoutEffect> without_effect(const Machine& machine) {
  Machine copy = machine;  // describe() takes a mutable machine
  const std::vector<ParameterReference> parameters = parameters_of(copy);
  std::vector<WithoutEffect> found;
  for (const Dependence& dependence : dependences()) {
    if (!dependence.is_so(machine)) {
      continue;
    }
    WithoutEffect one{{}, std::string(dependence.because)};
    for (const ParameterReference& parameter : parameters) {
      const std::string key = parameter.path();
      if (std::any_of(dependence.keys.begin(), dependence.keys.end(),
                      [&](std::string_view pattern) { return stands_for(pattern, key); }) &&
          !dependence.because.starts_with(key + " ")) {
        one.keys.push_back(key);
      }
    }
    found.push_back(std::move(one));
  }
  unused_sections(parameters, found);
  for (const ChosenPolicy& policy : policies_of(machine)) {
    if (policy.in_vain != nullptr) {
      policy.in_vain(machine, found);
    }
  }
  return found;
}

std::string why_no_warp_operations(const CoreParameters& core) {
  const Divergence::Traits& mechanism = about<Divergence>(core.divergence).traits;
  if (!mechanism.lockstep_lanes) {
    return fmt::format("core.divergence = \"{}\" {}", core.divergence, mechanism.no_lockstep);
  }
  const std::string reason = why_no_warp_size(core, isa::kLanes);
  return reason.empty() ? "" : fmt::format("its lanes are those of a warp of {} threads, and {}", isa::kLanes, reason);
}

std::string why_no_matrices(const CoreParameters& core) {
  if (core.tensor_rate == 0) {
    return "the machine has no tensor cores (core.tensor_rate = 0)";
  }
  if (core.simd_width != isa::kLanes) {
    return fmt::format("a lane's part of a matrix is one of {}, and core.simd_width is {}", isa::kLanes,
                       core.simd_width);
  }
  return {};
}

std::string why_no_warp_size(const CoreParameters& core, std::uint32_t warp_size) {
  if (warp_size == core.warp_size) {
    return {};
  }
  if (warp_size == 0 || warp_size % core.simd_width != 0) {
    return fmt::format("{} is no multiple of core.simd_width ({})", warp_size, core.simd_width);
  }
  if (warp_size > kLargestWarp) {
    return fmt::format("a warp has at most {} threads", kLargestWarp);
  }
  if (core.threads % (warp_size * core.sub_cores) != 0) {
    return fmt::format("core.threads ({}) is no multiple of {}{}", core.threads, warp_size,
                       core.sub_cores == 1 ? "" : fmt::format(" in each of {} sub-cores", core.sub_cores));
  }
  if (warp_size > core.simd_width && !about<Divergence>(core.divergence).traits.large_warps) {
    return fmt::format("core.divergence = \"{}\" forms warps of the SIMD width ({}); large warps need {}",
                       core.divergence, core.simd_width, large_warp_mechanisms());
  }
  return {};
}

std::vector<Contradiction> check(const Machine& machine) {
  std::vector<Contradiction> found;
  check_values(machine, found);
  if (!found.empty()) {
    return found;  // nothing else can be asked
  }
  const CoreParameters& core = machine.core;
  if (core.warp_size % core.simd_width != 0) {
    found.push_back({"core.warp_size", fmt::format("core.warp_size ({}) is no multiple of core.simd_width ({})",
                                                   core.warp_size, core.simd_width)});
  }
  if (core.threads % core.warp_size != 0) {
    found.push_back({"core.threads", fmt::format("core.threads ({}) is no multiple of core.warp_size ({})",
                                                 core.threads, core.warp_size)});
  }
  if (core.division_trap && core.software_division) {
    found.push_back({"core.division_trap",
                     "core.division_trap finds a divisor of zero where an operation divides; with "
                     "core.software_division = true none does; use false for one of both"});
  }
  check_mechanisms(machine, found);
  check_stalls(machine.core, found);
  check_registers(machine, found);
  check_sub_cores(machine, found);
  for (const ChosenPolicy& policy : policies_of(machine)) {
    if (policy.check != nullptr) {
      policy.check(machine, found);
    }
  }
  check_register_banks(machine, found);
  check_private_memory(machine, found);
  check_l0(machine, found);
  check_carve_outs(machine, found);
  check_returns(machine, found);
  check_queue(machine, found);
  check_cache(machine.icache, "icache", "icache", found);
  check_cache(machine.l1d, "l1d", "l1d", found);
  check_cache(machine.texture.cache(machine.l1d.line_bytes), "texture", "l1d", found);
  check_constant_cache(machine, found);
  if (machine.icache.line_bytes != machine.l1d.line_bytes) {
    found.push_back({"icache.line_bytes", fmt::format("icache.line_bytes ({}) and l1d.line_bytes ({}) differ; the "
                                                      "memory channels transfer lines of one size",
                                                      machine.icache.line_bytes, machine.l1d.line_bytes)});
  }
  check_banks(machine.l1d, found);
  check_meeting(machine, found);
  if (machine.l2.enabled) {
    check_l2(machine, found);
  }
  check_sectors("l1d", machine.l1d.sector_bytes, machine.l1d.line_bytes, machine, found);
  check_clock("noc.clock_ghz", machine.noc.clock_ghz, found);
  check_dram(machine.dram, memory_line_bytes(machine), found);
  if (machine.gpu.cores > 1 && machine.l1d.write_policy == "write-back" && !machine.gpu.perfect_memory &&
      !about<CoherenceProtocol>(machine.gpu.coherence).traits.coherent &&
      !about<CoherenceProtocol>(machine.gpu.coherence).traits.meets_at_end) {
    found.push_back({"l1d.write_policy",
                     fmt::format("the private write-back caches of several cores (gpu.cores is {}) need a coherence "
                                 "protocol; use l1d.write_policy = \"write-through\", or {} and what that needs",
                                 machine.gpu.cores, coherent_protocols())});
  }
  if (found.empty()) {
    check_watchdog(machine, found);
  }
  return found;
}

}  // namespace heddle::hw
