#include "tb/cost/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace heddle::tb {
namespace {

using LineKind = CostLine::Kind;

constexpr std::uint64_t kPcBits = 32;         // LWM report, figure 2: 32-bit program counters
constexpr std::uint64_t kStackEntries = 16;   // assumed: neither the papers nor the model bound the stack
constexpr std::uint64_t kBlockThreads = 256;  // of thread block compaction: thesis 5.2.1
constexpr const char* kPapers = "LWM report 3.3; thesis 4.5";

// The quantities that formulas are made of.
struct CoreShape {
  explicit CoreShape(const hw::CoreParameters& core)
      : lanes(core.simd_width),
        warp(core.warp_size),
        threads(core.threads),
        warps(std::max(1U, core.threads / core.warp_size)),
        pool(core.divergence == "dwf" ? threads : warps),
        rows(std::max(1U, core.warp_size / core.simd_width)),
        all_rows(std::max(1U, core.threads / core.simd_width)),
        stages(core.register_read_latency + core.execute_stages + 2U),
        pending(core.pending_accesses) {}
  // Thread blocks of the usual size.
  [[nodiscard]] std::uint64_t blocks() const { return std::max<std::uint64_t>(1, threads / kBlockThreads); }
  std::uint64_t lanes;
  std::uint64_t warp;
  std::uint64_t threads;
  std::uint64_t warps;
  std::uint64_t pool;      // warps that the scheduler chooses among: dynamic ones may have a thread each
  std::uint64_t rows;      // of a warp's mask
  std::uint64_t all_rows;  // of the whole core
  std::uint64_t stages;    // that hold a sub-warp: register read, execute, memory, write-back
  std::uint64_t pending;
};

class Lines {
 public:
  explicit Lines(StorageCost& cost) : cost_(cost) {}
  void mechanism(std::string name) { mechanism_ = std::move(name); }
  // `formula` ends before the '='.
  void add(LineKind kind, std::string name, const std::string& formula, std::uint64_t bits, std::string source) {
    cost_.lines.push_back(
        {kind, mechanism_, std::move(name), fmt::format("{} = {}", formula, bits), bits, std::move(source)});
  }
  void logic(std::string name, std::string amount, std::string source) {
    cost_.lines.push_back({LineKind::logic, mechanism_, std::move(name), std::move(amount), 0, std::move(source)});
  }

 private:
  StorageCost& cost_;
  std::string mechanism_;
};

bool packs(const hw::CoreParameters& core) {
  return core.former != "rows";
}

void present(Lines& lines, const hw::CoreParameters& core, const CoreShape& shape) {
  lines.mechanism("every core");
  lines.add(LineKind::present, "register file", fmt::format("core.registers {} x 32", core.registers),
            std::uint64_t{core.registers} * 32, "LWM report table 1; thesis table 5.1");
  lines.add(LineKind::present, "active masks", fmt::format("{} warps x core.warp_size {}", shape.warps, shape.warp),
            shape.warps * shape.warp, "LWM report 2.1, 3.1.1: the same for any warp size");
  lines.add(LineKind::present, "program counters", fmt::format("{} warps x {}", shape.warps, kPcBits),
            shape.warps * kPcBits, "LWM report 2.1, figure 2");
  if (core.divergence == "stack") {
    lines.add(LineKind::present, "re-convergence stacks",
              fmt::format("{} warps x {} entries x (2 x {} + core.warp_size {})", shape.warps, kStackEntries, kPcBits,
                          shape.warp),
              shape.warps * kStackEntries * (2 * kPcBits + shape.warp),
              fmt::format("fields: LWM report 2.3; own estimate: {} entries", kStackEntries));
  }
}

// What lanes that read different rows need: rows that travel with the sub-warp, and a decoder per bank.
void rows_per_lane(Lines& lines, const CoreShape& shape, std::uint64_t rows, bool memory_by_rows) {
  const std::uint64_t row = index_bits(rows);
  lines.add(LineKind::estimated, "row per lane in the pipeline",
            fmt::format("{} stages x {} lanes x log2({} rows)", shape.stages, shape.lanes, rows),
            shape.stages * shape.lanes * row, "row IDs: LWM report 3.1.1, figure 7; own estimate: the stages' latches");
  if (memory_by_rows) {
    lines.add(LineKind::estimated, "row of accesses put aside",
              fmt::format("core.pending_accesses {} x log2({} rows)", shape.pending, rows), shape.pending * row,
              "own estimate; one row each, as memory accesses are formed by rows");
  } else {
    lines.add(LineKind::estimated, "rows per lane of accesses put aside",
              fmt::format("core.pending_accesses {} x {} lanes x log2({} rows)", shape.pending, shape.lanes, rows),
              shape.pending * shape.lanes * row, "own estimate");
  }
  lines.logic("register bank decoders",
              fmt::format("{} lanes - 1 = {} more address decoders", shape.lanes, shape.lanes - 1),
              "LWM report 3.3; thesis 4.5: 11 to 18 % of the register file's area, 1.5 to 3 % of the chip's");
}

void large_warps(Lines& lines, const hw::CoreParameters& core, const CoreShape& shape) {
  if (shape.rows <= 1) {
    return;
  }
  lines.mechanism("large warps");
  if (packs(core)) {
    lines.add(LineKind::counted, "copy of the active mask", fmt::format("core.warp_size {} x 1", shape.warp),
              shape.warp, kPapers);
  }
  lines.add(LineKind::counted, "temporary active masks of a branch", fmt::format("2 x core.warp_size {}", shape.warp),
            2 * shape.warp, kPapers);
  if (core.issue == "relaxed") {
    lines.add(LineKind::counted, "interlock bits", fmt::format("core.threads {} x 1", shape.threads), shape.threads,
              "thesis 4.2.2, 4.5");
  }
  if (core.former == "packed") {
    rows_per_lane(lines, shape, shape.rows, core.memory_by_rows);
  } else if (core.former == "packed-freely") {
    lines.add(LineKind::estimated, "thread per lane in the pipeline",
              fmt::format("{} stages x {} lanes x log2(core.warp_size {})", shape.stages, shape.lanes, shape.warp),
              shape.stages * shape.lanes * index_bits(shape.warp), "own estimate: the stages' latches");
    lines.logic("register file ports", fmt::format("{} ports for any {} threads", shape.lanes, shape.lanes),
                "LWM report 3.1.1: considerable area and power");
  } else {
    lines.add(LineKind::estimated, "row being issued", fmt::format("log2({} rows)", shape.rows), index_bits(shape.rows),
              "own estimate");
  }
}

// What a scheduler remembers of those that it chooses among: of `sets` sets of `warps` warps each, one but for fetch
// groups; `ages_elsewhere`: their ages are remembered anyway. (The place of round robin over all warps is in every
// core.)
void order_of_warps(Lines& lines, const std::string& scheduler, const CoreShape& shape, std::uint64_t sets,
                    std::uint64_t warps, bool ages_elsewhere = false) {
  const std::string each = sets == 1 ? "" : fmt::format("{} groups x ", sets);
  const auto one_each = [&](const char* what, std::uint64_t things, const char* of) {
    lines.add(LineKind::estimated, what, fmt::format("{}log2({} {})", each, things, of), sets * index_bits(things),
              "own estimate");
  };
  if (scheduler == "sticky") {
    one_each("thread block to stay with", shape.blocks(), "blocks");
  }
  if (scheduler == "gto") {
    one_each("warp to stay with", warps, "warps");
  }
  const bool ages =
      scheduler == "gto" || scheduler == "oldest" || scheduler == "pdom-priority" || scheduler == "majority";
  if (ages && !ages_elsewhere) {
    lines.add(LineKind::estimated, "order of age", fmt::format("{}{} warps x log2({} warps)", each, warps, warps),
              sets * warps * index_bits(warps), "own estimate");
  }
  if (scheduler == "majority") {
    lines.add(LineKind::estimated, "PC of the majority", fmt::format("{}{}", each, kPcBits), sets * kPcBits,
              "thesis 5.2; own estimate");
  }
}

void two_levels(Lines& lines, const hw::CoreParameters& core, const CoreShape& shape) {
  if (core.scheduler != "two-level") {
    return;
  }
  lines.mechanism("two-level scheduling");
  const std::uint64_t size = std::min<std::uint64_t>(core.fetch_group, shape.pool);
  const std::uint64_t groups = (shape.pool + size - 1) / size;
  lines.add(LineKind::counted, "storage of the policy", "0", 0,
            "LWM report 3.3: \"does not require any additional storage\"; thesis 4.5: negligible");
  lines.add(LineKind::estimated, "first fetch group", fmt::format("log2({} groups)", groups), index_bits(groups),
            "own estimate");
  if (core.inner_scheduler == "round-robin" || core.inner_scheduler == "sticky") {
    lines.add(LineKind::estimated, "place within each fetch group",
              fmt::format("{} groups x log2({} warps)", groups, size), groups * index_bits(size),
              "own estimate; round robin over all needs " +
                  fmt::format("log2({} warps) = {}", shape.pool, index_bits(shape.pool)));
  }
  const bool over_all = core.outer_scheduler == "oldest";
  if (over_all) {
    lines.add(LineKind::estimated, "order of age", fmt::format("{0} warps x log2({0} warps)", shape.pool),
              shape.pool * index_bits(shape.pool), "own estimate: the oldest over all fetch groups");
  }
  order_of_warps(lines, core.inner_scheduler, shape, groups, size, over_all);
  if (core.fetch_group_rule == "stalled") {
    lines.add(LineKind::estimated, "warps stalled on a long latency", fmt::format("{} warps x 1", shape.pool),
              shape.pool, "own estimate; thesis 4.3: a switch when all of a group are");
  }
  if (core.fetch_group_timeout != 0) {
    lines.add(LineKind::estimated, "timeout counter",
              fmt::format("log2(core.fetch_group_timeout {} + 1)", core.fetch_group_timeout),
              index_bits(core.fetch_group_timeout + 1), "own estimate; thesis 4.4");
  }
}

void compaction(Lines& lines, const CoreShape& shape) {
  lines.mechanism("thread block compaction");
  const std::uint64_t blocks = shape.blocks();
  const std::uint64_t block = std::min(kBlockThreads, shape.threads);
  const std::uint64_t rows = std::max<std::uint64_t>(1, block / shape.lanes);
  lines.add(
      LineKind::estimated, "block-wide stacks",
      fmt::format("{} blocks x {} entries x (2 x {} + {} threads)", blocks, kStackEntries, kPcBits, block),
      blocks * kStackEntries * (2 * kPcBits + block),
      fmt::format("thesis 5.2: blocks of 256; own estimate: {} entries, instead of the warps' stacks", kStackEntries));
  lines.add(LineKind::estimated, "warps that wait, per block",
            fmt::format("{} blocks x log2({} warps + 1)", blocks, rows), blocks * index_bits(rows + 1),
            "own estimate; thesis 5.2: warps synchronise at every branch");
  lines.add(LineKind::estimated, "branch outcome of a block", fmt::format("{} blocks x {} threads", blocks, block),
            blocks * block, "own estimate");
  lines.add(LineKind::estimated, "rows of compacted warps",
            fmt::format("{} warps x {} lanes x log2({} rows)", shape.all_rows, shape.lanes, rows),
            shape.all_rows * shape.lanes * index_bits(rows), "own estimate");
  rows_per_lane(lines, shape, rows, false);
  lines.logic("compactor", fmt::format("{} lanes x priority encoder over {} rows", shape.lanes, rows), "thesis 5.2");
}

void formation(Lines& lines, const hw::CoreParameters& core, const CoreShape& shape) {
  lines.mechanism("dynamic warp formation");
  const std::uint64_t thread = core.lane_aware ? index_bits(shape.all_rows) : index_bits(shape.threads);
  lines.add(LineKind::estimated, "warp pool",
            fmt::format("{} warps x ({} + {} lanes x (1 + {}))", shape.threads, kPcBits, shape.lanes, thread),
            shape.threads * (kPcBits + shape.lanes * (1 + thread)),
            "thesis 3.2.1; own estimate, the bound: every thread may be a warp of its own");
  if (core.scheduler == "pdom-priority" || (core.scheduler == "two-level" && core.inner_scheduler == "pdom-priority")) {
    lines.add(LineKind::estimated, "post-dominators passed", fmt::format("core.threads {} x 16", shape.threads),
              shape.threads * 16, "thesis 3.2.1; own estimate: counters of 16 bits");
  }
  if (core.lane_aware) {
    rows_per_lane(lines, shape, shape.all_rows, false);
  } else {
    lines.logic("register file ports", fmt::format("{} ports for any {} threads", shape.lanes, shape.lanes),
                "LWM report 3.1.1: considerable area and power");
  }
}

void per_thread_counters(Lines& lines, const CoreShape& shape) {
  lines.mechanism("per-thread program counters");
  lines.add(LineKind::counted, "a program counter per thread",
            fmt::format("core.threads {} x {}", shape.threads, kPcBits), shape.threads * kPcBits,
            "thesis 2.1.3.2, beside the warp's own; no stack");
}

// Conditional accumulate and tree traverse (thesis 7.1 and figure 7.1): in level k, counted from 1, each lane from
// 2^(k-1) on adds two sums of k bits. The adders of the address generators add the base.
void search_instructions(Lines& lines, const hw::CoreParameters& core, const CoreShape& shape) {
  if (shape.lanes == 1 || !hw::why_no_warp_operations(core).empty()) {
    return;
  }
  lines.mechanism("cond_acc and tree_traverse");
  std::string levels;
  std::uint64_t adders = 0;
  std::uint64_t adder_bits = 0;
  const std::uint64_t depth = index_bits(shape.lanes);
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
    const std::uint64_t sum = index_bits(shape.lanes + 1);
    lines.add(LineKind::estimated, "latches of the network",
              fmt::format("{} cycles beyond core.execute_stages x {} lanes x (64 of data + {} of sums)", more,
                          shape.lanes, sum),
              more * shape.lanes * (64 + sum), "own estimate");
  }
}

}  // namespace

std::uint64_t index_bits(std::uint64_t things) {
  return things <= 1 ? 0 : static_cast<std::uint64_t>(std::bit_width(things - 1));
}

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
  const hw::CoreParameters& core = machine.core;
  const CoreShape shape(core);
  Lines lines(cost);
  present(lines, core, shape);
  large_warps(lines, core, shape);
  two_levels(lines, core, shape);
  lines.mechanism("scheduler " + core.scheduler);
  order_of_warps(lines, core.scheduler, shape, 1, shape.pool);
  if (core.divergence == "tbc") {
    compaction(lines, shape);
  } else if (core.divergence == "dwf") {
    formation(lines, core, shape);
  } else if (core.divergence == "per-thread-pc") {
    per_thread_counters(lines, shape);
  }
  search_instructions(lines, core, shape);
  return cost;
}

}  // namespace heddle::tb
