#include "tb/measure/cost/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "hw/check/machine.hpp"
#include "hw/check/policies.hpp"
#include "hw/divergence/divergence.hpp"
#include "hw/subwarp/former.hpp"

namespace heddle::tb {
namespace {

constexpr const char* kPapers = "LWM report 3.3; thesis 4.5";

// Asks each policy of a machine once, in an order that the account has.
class PolicyCosts {
 public:
  PolicyCosts(const hw::CostShape& shape, hw::CostLines& lines)
      : shape_(shape), lines_(lines), left_(hw::policies_of(shape.machine)) {}

  // The policy that the parameter `key` names.
  void ask(std::string_view key) {
    const auto found =
        std::find_if(left_.begin(), left_.end(), [key](const auto& policy) { return policy.key == key; });
    if (found == left_.end()) {
      throw InternalError(fmt::format("no policy of the machine is left that {} names", key));
    }
    if (found->cost != nullptr) {
      found->cost(shape_, lines_);
    }
    left_.erase(found);
  }
  // Those that were not asked, each under a heading of its own.
  void ask_others() {
    while (!left_.empty()) {
      lines_.mechanism(fmt::format("{} {}", left_.front().key, left_.front().name));
      ask(left_.front().key);
    }
  }

 private:
  const hw::CostShape& shape_;
  hw::CostLines& lines_;
  std::vector<hw::ChosenPolicy> left_;
};

void texture_cache(const hw::CostShape& shape, hw::CostLines& lines) {
  const hw::TextureCacheParameters& texture = shape.machine.texture;
  const std::uint64_t line = shape.machine.l1d.line_bytes;
  const std::uint64_t held = texture.bytes / line;
  const std::uint64_t tag = 32 - hw::index_bits(line) - hw::index_bits(std::max<std::uint64_t>(held / texture.ways, 1));
  const std::uint64_t order = hw::index_bits(texture.ways);
  lines.present("texture cache",
                fmt::format("{} lines x ({} of data + {} of tag + 1 valid + {} of order)", held, 8 * line, tag, order),
                held * (8 * line + tag + 1 + order), "own estimate; texture.bytes, l1d.line_bytes, texture.ways");
  const std::uint64_t who = hw::index_bits(shape.pending * shape.machine.core.sub_cores);
  lines.present("MSHRs of the texture cache",
                fmt::format("texture.mshrs {} x (32 of address + {} to wait x log2({} accesses))", texture.mshrs,
                            texture.mshr_targets, shape.pending * shape.machine.core.sub_cores),
                texture.mshrs * (32 + texture.mshr_targets * who), "own estimate, as of the L1's");
}

void pipeline(const hw::CostShape& shape, hw::CostLines& lines) {
  const unsigned registers = shape.machine.core.registers;
  lines.present("register file", fmt::format("core.registers {} x 32", registers), std::uint64_t{registers} * 32,
                "LWM report table 1; thesis table 5.1");
  lines.present("active masks", fmt::format("{} warps x core.warp_size {}", shape.warps, shape.warp),
                shape.warps * shape.warp, "LWM report 2.1, 3.1.1: the same for any warp size");
  lines.present("program counters", fmt::format("{} warps x {}", shape.warps, hw::kPcBits), shape.warps * hw::kPcBits,
                "LWM report 2.1, figure 2");
  if (shape.complex_queue != 0) {
    constexpr std::uint64_t kOperands = 2 * 64;  // of a 64-bit division
    constexpr std::uint64_t kInstruction = 64;   // its word
    lines.present(
        "queue before the complex unit",
        fmt::format("core.complex_queue {} x ({} lanes x ({} of operands + 1 of guard) + log2({} warps) + {})",
                    shape.complex_queue, shape.lanes, kOperands, shape.pool, kInstruction),
        shape.complex_queue * (shape.lanes * (kOperands + 1) + hw::index_bits(shape.pool) + kInstruction),
        "LWM report 3.2.2: a fetch group gets through while others execute; own estimate of its fields");
  }
}

// The L0 and its stream buffer.
void l0_cache(const hw::CostShape& shape, hw::CostLines& lines) {
  const hw::L0Parameters& l0 = shape.machine.l0i;
  if (!l0.enabled) {
    return;
  }
  const unsigned line = shape.machine.icache.line_bytes;
  const std::uint64_t held = l0.bytes / line;
  const std::uint64_t tag = 32 - hw::index_bits(line);
  const std::uint64_t order = hw::index_bits(l0.ways);
  lines.mechanism("instruction cache of a sub-core");
  lines.add(CostLine::Kind::estimated, "L0",
            fmt::format("{} lines x ({} of data + {} of tag + 1 valid + {} of order)", held, 8 * line, tag, order),
            held * (8 * line + tag + 1 + order), "own estimate; l0i.bytes, icache.line_bytes, l0i.ways");
  lines.add(CostLine::Kind::estimated, "stream buffer",
            fmt::format("l0i.prefetch {} x ({} of data + {} of tag + 2)", l0.prefetch, 8 * line, tag),
            l0.prefetch * (8 * line + tag + 2), "own estimate; there, asked for");
}

// Of a core and, before it, of each of its sub-cores.
void constant_caches(const hw::CostShape& shape, hw::CostLines& lines) {
  const hw::ConstantCacheParameters& cache = shape.machine.constant_cache;
  if (cache.bytes == 0) {
    return;
  }
  const std::uint64_t line = cache.line_bytes;
  const auto storage = [&](const char* name, std::uint64_t bytes, unsigned ways, const char* keys) {
    const std::uint64_t held = bytes / line;
    const std::uint64_t sets = std::max<std::uint64_t>(held / ways, 1);
    const std::uint64_t tag = 32 - hw::index_bits(line) - hw::index_bits(sets);
    const std::uint64_t order = hw::index_bits(ways);
    lines.present(
        name, fmt::format("{} lines x ({} of data + {} of tag + 1 valid + {} of order)", held, 8 * line, tag, order),
        held * (8 * line + tag + 1 + order), fmt::format("own estimate; {}", keys));
  };
  storage("constant cache", cache.bytes, cache.ways,
          "constant_cache.bytes, constant_cache.line_bytes, constant_cache.ways");
  if (cache.l0_bytes != 0) {
    storage("constant cache of a sub-core", cache.l0_bytes, cache.l0_ways,
            "constant_cache.l0_bytes, constant_cache.line_bytes, constant_cache.l0_ways");
  }
  const std::uint64_t who = hw::index_bits(shape.pending * shape.machine.core.sub_cores);
  lines.present("MSHRs of the constant cache",
                fmt::format("constant_cache.mshrs {} x (32 of address + {} to wait x log2({} accesses))", cache.mshrs,
                            cache.mshr_targets, shape.pending * shape.machine.core.sub_cores),
                cache.mshrs * (32 + cache.mshr_targets * who), "own estimate, as of the L1's");
}

// The register file cache.
void register_cache(const hw::CostShape& shape, hw::CostLines& lines) {
  const hw::RegisterFileParameters& file = shape.machine.registers;
  if (file.banks == 0 || !file.cache) {
    return;
  }
  constexpr unsigned kPlaces = 3;
  const std::uint64_t tag = hw::index_bits(isa::kRegisters) + hw::index_bits(shape.warps) + 1;
  lines.mechanism("register file cache");
  lines.add(CostLine::Kind::estimated, "register file cache",
            fmt::format("registers.banks {} x {} operands x ({} lanes x 32 + {} of register and warp, 1 valid among "
                        "them)",
                        file.banks, kPlaces, shape.lanes, tag),
            std::uint64_t{file.banks} * kPlaces * (shape.lanes * 32 + tag),
            "MICRO 2025 5.3.1: an entry of three 1024-bit values for each bank; own estimate of its tags");
}

void caches(const hw::CostShape& shape, hw::CostLines& lines) {
  const hw::DataCacheParameters& l1d = shape.machine.l1d;
  const unsigned targets = l1d.merge_reads && l1d.enabled ? l1d.mshr_targets : 1;
  const std::uint64_t who = hw::index_bits(shape.pending * shape.machine.core.sub_cores);
  lines.present("MSHRs of the L1",
                fmt::format("l1d.mshrs {} x (32 of address + {} to wait x log2({} accesses))", l1d.mshrs, targets,
                            shape.pending * shape.machine.core.sub_cores),
                l1d.mshrs * (32 + targets * who),
                "own estimate; who waits for a line, of all threads: SW+ (warp-size study 4.1)");
  if (const unsigned sector = l1d.sector_bytes; sector != 0 && sector != l1d.line_bytes && l1d.enabled) {
    const std::uint64_t held = l1d.bytes / l1d.line_bytes;
    const unsigned sectors = l1d.line_bytes / sector;
    lines.present("sectors of the L1", fmt::format("{} lines x {} valid bits", held, sectors), held * sectors,
                  "l1d.bytes / l1d.line_bytes lines, of each l1d.line_bytes / l1d.sector_bytes sectors");
    lines.present("sectors in the MSHRs of the L1",
                  fmt::format("l1d.mshrs {} x {} bits of sectors on their way", l1d.mshrs, sectors),
                  std::uint64_t{l1d.mshrs} * sectors, "own estimate");
  }
  texture_cache(shape, lines);
  constant_caches(shape, lines);
}

// What a core's parts have to do with the size of its warps (warp-size study 7).
void warp_size(const hw::CostShape& shape, hw::CostLines& lines) {
  const std::uint64_t registers = shape.machine.core.registers;
  lines.mechanism("by the size of warps");
  lines.logic("rows of the register file",
              fmt::format("core.registers {} / core.warp_size {} = {} rows of {} bits", registers, shape.warp,
                          registers / shape.warp, 32 * shape.warp),
              "warp-size study 7: a row holds one operand of a warp");
  lines.logic("cycles for each instruction to be fetched and decoded",
              fmt::format("core.warp_size {} / core.simd_width {} = {}", shape.warp, shape.lanes,
                          (shape.warp + shape.lanes - 1) / shape.lanes),
              "warp-size study 7: small warps need a faster front end");
  lines.logic("warps to choose among",
              fmt::format("core.threads {} / core.warp_size {} = {}", shape.threads, shape.warp, shape.warps),
              "warp-size study 7: entries of the scheduler");
}

// A mask of several rows, whatever forms and issues its sub-warps.
void large_warps(const hw::CostShape& shape, hw::CostLines& lines, PolicyCosts& policies) {
  const hw::CoreParameters& core = shape.machine.core;
  lines.mechanism("large warps");
  if (shape.rows > 1 && hw::about<hw::SubWarpFormer>(core.former).traits.packs) {
    lines.add(CostLine::Kind::counted, "copy of the active mask", fmt::format("core.warp_size {} x 1", shape.warp),
              shape.warp, kPapers);
    lines.accessed("group_instructions", shape.warp);     // written
    lines.accessed("warp_instructions", 2 * shape.warp);  // looked through for a sub-warp, and what is left of it
  }
  if (shape.rows > 1) {
    lines.add(CostLine::Kind::counted, "temporary active masks of a branch",
              fmt::format("2 x core.warp_size {}", shape.warp), 2 * shape.warp, kPapers);
    lines.accessed("branches", 2 * 2 * shape.warp);  // both written sub-warp by sub-warp, and read
  }
  policies.ask("core.issue");
  policies.ask("core.former");
}

// Conditional accumulate and tree traverse (thesis 7.1 and figure 7.1): in level k, counted from 1, each lane from
// 2^(k-1) on adds two sums of k bits. The adders of the address generators add the base.
void search_instructions(const hw::CostShape& shape, hw::CostLines& lines) {
  const hw::CoreParameters& core = shape.machine.core;
  if (shape.lanes == 1 || !hw::why_no_warp_operations(core).empty()) {
    return;
  }
  lines.mechanism("cond_acc and tree_traverse");
  std::string levels;
  std::uint64_t adders = 0;
  std::uint64_t adder_bits = 0;
  const std::uint64_t depth = hw::index_bits(shape.lanes);
  for (std::uint64_t k = 1; k <= depth; ++k) {
    const std::uint64_t here = shape.lanes - (std::uint64_t{1} << (k - 1));
    adders += here;
    adder_bits += here * k;
    levels += fmt::format("{}{} x {}", k == 1 ? "" : " + ", here, k);
  }
  lines.logic("prefix-sum network", fmt::format("{} adders, bits {} = {}", adders, levels, adder_bits), "thesis 7.1");
  lines.logic("shift of the sums", fmt::format("{} lanes, by 0 to 3 bits; one by 0 to 31", shape.lanes),
              "thesis 7.1, 7.2.1");
  const std::uint64_t cycles = (depth + core.prefix_levels_per_cycle - 1) / core.prefix_levels_per_cycle + 1;
  if (cycles > core.execute_stages) {
    const std::uint64_t more = cycles - core.execute_stages;
    const std::uint64_t sum = hw::index_bits(shape.lanes + 1);
    lines.add(CostLine::Kind::estimated, "latches of the network",
              fmt::format("{} cycles beyond core.execute_stages x {} lanes x (64 of data + {} of sums)", more,
                          shape.lanes, sum),
              more * shape.lanes * (64 + sum), "own estimate");
  }
}

}  // namespace

std::uint64_t StorageCost::bits(CostLine::Kind kind) const {
  std::uint64_t sum = 0;
  for (const CostLine& line : lines) {
    sum += line.kind == kind ? line.bits : 0;
  }
  return sum;
}

StorageCost storage_cost(const hw::Machine& machine) {
  StorageCost cost;
  cost.machine = machine.name;
  cost.register_file_bits = std::uint64_t{machine.core.registers} * 32;
  const hw::Machine of_sub_core = hw::machine_of_sub_core(machine);
  const hw::CostShape shape(of_sub_core, hw::warp_pool_size(of_sub_core));
  hw::CostLines lines;
  PolicyCosts policies(shape, lines);
  lines.in_each_of(machine.core.sub_cores);
  pipeline(shape, lines);
  l0_cache(shape, lines);
  register_cache(shape, lines);
  lines.in_each_of(1);
  caches(shape, lines);
  lines.in_each_of(machine.core.sub_cores);
  warp_size(shape, lines);
  large_warps(shape, lines, policies);
  lines.mechanism("scheduler " + machine.core.scheduler);
  policies.ask("core.scheduler");
  policies.ask("core.divergence");
  policies.ask("core.coalescer");
  lines.mechanism("coherence protocol " + machine.gpu.coherence);
  lines.in_each_of(1);
  policies.ask("gpu.coherence");
  lines.in_each_of(machine.core.sub_cores);
  policies.ask("core.load_limiter");
  policies.ask("core.scalar");
  search_instructions(shape, lines);
  policies.ask_others();
  cost.lines = lines.lines();
  std::stable_partition(cost.lines.begin(), cost.lines.end(),
                        [](const CostLine& line) { return line.kind == CostLine::Kind::present; });
  return cost;
}

}  // namespace heddle::tb
