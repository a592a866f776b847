#include "hw/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "hw/coalesce/coalescer.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/dram/check.hpp"
#include "hw/issue/discipline.hpp"
#include "hw/schedule/fetch_groups.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::hw {

Limits divergence_policies() {
  return Limits::policy<Registry<Divergence>>();
}
Limits scheduler_policies() {
  return Limits::policy<Registry<WarpScheduler>>();
}
Limits inner_scheduler_policies() {
  return Limits::policy<Registry<WarpScheduler>>("two-level");  // a fetch group has no fetch groups
}
Limits fetch_group_orders() {
  return Limits::policy<Registry<FetchGroupOrder>>();
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

namespace {

void check_cache(const CacheParameters& cache, const char* section, std::vector<Contradiction>& found) {
  if (cache.bytes % (std::uint64_t{cache.ways} * cache.line_bytes) != 0) {
    found.push_back({fmt::format("{}.ways", section),
                     fmt::format("{0}.ways ({1}) times {0}.line_bytes ({2}) does not divide {0}.bytes ({3})", section,
                                 cache.ways, cache.line_bytes, cache.bytes)});
    return;
  }
  const std::uint64_t sets = cache.bytes / (std::uint64_t{cache.ways} * cache.line_bytes);
  if ((sets & (sets - 1)) != 0) {
    found.push_back(
        {fmt::format("{}.ways", section),
         fmt::format("{0}.bytes ({1}), {0}.ways ({2}) and {0}.line_bytes ({3}) make {4} sets, which is no power of two",
                     section, cache.bytes, cache.ways, cache.line_bytes, sets)});
  }
}

void check_l2(const Machine& machine, std::vector<Contradiction>& found) {
  const L2Parameters& l2 = machine.l2;
  const std::uint64_t unit = std::uint64_t{l2.ways} * l2.line_bytes * machine.dram.channels;
  if (l2.bytes % unit != 0) {
    found.push_back({"l2.bytes", fmt::format("l2.bytes ({}) is no multiple of l2.ways ({}) times l2.line_bytes ({}) "
                                             "times dram.channels ({}): there is one slice per channel",
                                             l2.bytes, l2.ways, l2.line_bytes, machine.dram.channels)});
  }
  if (l2.line_bytes < machine.l1d.line_bytes) {
    found.push_back({"l2.line_bytes", fmt::format("l2.line_bytes ({}) is smaller than l1d.line_bytes ({})",
                                                  l2.line_bytes, machine.l1d.line_bytes)});
  }
}

// Policies that do not work together.
void check_mechanisms(const CoreParameters& core, std::vector<Contradiction>& found) {
  const bool large = core.warp_size > core.simd_width;
  if (core.divergence != "stack" && large) {
    found.push_back({"core.warp_size",
                     fmt::format("core.divergence = \"{}\" forms warps of the SIMD width; core.warp_size ({}) must be "
                                 "core.simd_width ({}) (large warps need the stack)",
                                 core.divergence, core.warp_size, core.simd_width)});
  }
  if (core.divergence != "stack" && core.former != "rows") {
    found.push_back({"core.former", fmt::format("core.former = \"{}\" packs the threads of a large warp; with "
                                                "core.divergence = \"{}\" there is nothing to pack, use \"rows\"",
                                                core.former, core.divergence)});
  }
  if (core.divergence != "stack" && core.issue != "strict") {
    found.push_back({"core.issue", fmt::format("core.issue = \"{}\" lets instructions of one warp overlap, which "
                                               "core.divergence = \"{}\" does not allow; use \"strict\"",
                                               core.issue, core.divergence)});
  }
  const bool two_level = core.scheduler == "two-level";
  if (two_level && core.inner_scheduler == "two-level") {
    found.push_back({"core.inner_scheduler",
                     "core.inner_scheduler = \"two-level\": a fetch group has no fetch groups; use another scheduler, "
                     "such as \"round-robin\""});
  }
  const std::string& order = two_level ? core.inner_scheduler : core.scheduler;
  if ((order == "majority" || order == "pdom-priority") && core.divergence != "dwf") {
    const char* const key = two_level ? "core.inner_scheduler" : "core.scheduler";
    found.push_back({key, fmt::format("{} = \"{}\" chooses between dynamic warps by what their threads have passed; "
                                      "it needs core.divergence = \"dwf\"",
                                      key, order)});
  }
}

// Which parameters depend on which: while `because` is so, `keys` have no effect.
struct Dependence {
  std::vector<std::string_view> keys;  // "l2.*": all of the section, but for the one that `because` begins with
  std::string_view because;
  bool (*is_so)(const Machine& machine);
};

const std::vector<Dependence>& dependences() {
  static const std::vector<Dependence> all = {
      {{"core.fetch_group", "core.fetch_group_rule", "core.fetch_group_timeout", "core.inner_scheduler",
        "core.outer_scheduler"},
       "core.scheduler is not two-level",
       [](const Machine& machine) { return machine.core.scheduler != "two-level"; }},
      // Under this rule the next fetch group with a ready warp follows; only a timeout asks the outer order.
      {{"core.outer_scheduler"},
       "core.fetch_group_rule is current and core.fetch_group_timeout is 0",
       [](const Machine& machine) {
         return machine.core.scheduler == "two-level" && machine.core.fetch_group_rule == "current" &&
                machine.core.fetch_group_timeout == 0;
       }},
      {{"core.memory_by_rows", "core.branch_once"},
       "core.former is rows",
       [](const Machine& machine) { return machine.core.former == "rows"; }},
      {{"core.lane_aware"},
       "core.divergence is not dwf",
       [](const Machine& machine) { return machine.core.divergence != "dwf"; }},
      // Without the cache its ports, MSHRs and write buffer still bound what is under way.
      {{"icache.bytes", "icache.ways", "icache.hit_latency", "icache.mshr_targets"},
       "icache.enabled is false",
       [](const Machine& machine) { return !machine.icache.enabled; }},
      {{"l1d.bytes", "l1d.ways", "l1d.hit_latency", "l1d.mshr_targets"},
       "l1d.enabled is false",
       [](const Machine& machine) { return !machine.l1d.enabled; }},
      // Of several cores check() wants write-through all the same.
      {{"l1d.write_policy"},
       "l1d.enabled is false",
       [](const Machine& machine) { return !machine.l1d.enabled && machine.gpu.cores == 1; }},
      {{"l2.*"}, "l2.enabled is false", [](const Machine& machine) { return !machine.l2.enabled; }},
      {{"dram.channel_xor"}, "dram.channels is 1", [](const Machine& machine) { return machine.dram.channels == 1; }},
      {{"dram.hint_threshold"}, "dram.hints is false", [](const Machine& machine) { return !machine.dram.hints; }},
      {{"dram.row_hit", "dram.row_conflict", "dram.row_closed", "dram.bandwidth_gbs"},
       "dram.timing is jedec",
       [](const Machine& machine) { return machine.dram.timing == "jedec"; }},
      {{"dram.preset", "jedec.*"},
       "dram.timing is not jedec",
       [](const Machine& machine) { return machine.dram.timing != "jedec"; }},
      {{"jedec.trefi", "jedec.trfc"}, "jedec.refresh is false", [](const Machine& machine) {
         return machine.dram.timing == "jedec" && !machine.dram.jedec.refresh;
       }}};
  return all;
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
  return found;
}

std::string why_no_warp_operations(const CoreParameters& core) {
  if (core.divergence == "per-thread-pc") {
    return "core.divergence = \"per-thread-pc\" lets the threads of a warp meet again where their program counters "
           "happen "
           "to agree, so that an operation between lanes may find only some of them";
  }
  if (core.divergence != "dwf" && core.divergence != "tbc") {
    return {};
  }
  return fmt::format(
      "core.divergence = \"{}\" forms warps of threads that meet by chance, so that its lanes are not "
      "those that the program means",
      core.divergence);
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
  if (core.threads % warp_size != 0) {
    return fmt::format("core.threads ({}) is no multiple of {}", core.threads, warp_size);
  }
  if (warp_size > core.simd_width && core.divergence != "stack") {
    return fmt::format("core.divergence = \"{}\" forms warps of the SIMD width ({}); large warps need the stack",
                       core.divergence, core.simd_width);
  }
  return {};
}

CoreParameters with_warp_size(const CoreParameters& core, std::uint32_t warp_size) {
  CoreParameters result = core;
  result.warp_size = warp_size;
  const std::uint64_t threads = std::uint64_t{core.fetch_group} * core.warp_size;
  result.fetch_group = static_cast<unsigned>(std::max<std::uint64_t>(threads / warp_size, 1));
  return result;
}

std::vector<Contradiction> check(const Machine& machine) {
  std::vector<Contradiction> found;
  const CoreParameters& core = machine.core;
  if (core.warp_size % core.simd_width != 0) {
    found.push_back({"core.warp_size", fmt::format("core.warp_size ({}) is no multiple of core.simd_width ({})",
                                                   core.warp_size, core.simd_width)});
  }
  if (core.threads % core.warp_size != 0) {
    found.push_back({"core.threads", fmt::format("core.threads ({}) is no multiple of core.warp_size ({})",
                                                 core.threads, core.warp_size)});
  }
  check_mechanisms(core, found);
  check_cache(machine.icache, "icache", found);
  check_cache(machine.l1d, "l1d", found);
  if (machine.icache.line_bytes != machine.l1d.line_bytes) {
    found.push_back({"icache.line_bytes", fmt::format("icache.line_bytes ({}) and l1d.line_bytes ({}) differ; the "
                                                      "memory channels transfer lines of one size",
                                                      machine.icache.line_bytes, machine.l1d.line_bytes)});
  }
  if (machine.l2.enabled) {
    check_l2(machine, found);
  }
  check_dram(machine.dram, memory_line_bytes(machine), found);
  if (machine.gpu.cores > 1 && machine.l1d.write_policy == "write-back") {
    found.push_back({"l1d.write_policy",
                     fmt::format("the private write-back caches of several cores (gpu.cores is {}) need a coherence "
                                 "protocol; use l1d.write_policy = \"write-through\"",
                                 machine.gpu.cores)});
  }
  return found;
}

}  // namespace heddle::hw
