// What mechanisms cost in storage, per core, bit by bit with its formula. A policy adds its lines itself
// (hw/parameters/policy.hpp); tb/measure/cost asks the policies that a machine uses. The papers count few structures
// (LWM report 3.3, thesis 4.5); what they leave out is estimated from the model's own structures and marked so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::hw {

struct Machine;

// What accesses a structure: with each count of a counter of the core, so many bits are read or written.
struct CostAccess {
  std::string counter;  // as CoreStatistics declares it
  std::uint64_t bits = 0;
};

struct CostLine {
  enum class Kind {
    present,    // what a core without the mechanisms of this machine has as well
    counted,    // added by a mechanism and counted by the papers
    estimated,  // added by a mechanism, not counted by the papers: own estimate
    logic       // added hardware that is no storage: `bits` is 0
  };
  Kind kind = Kind::present;
  std::string mechanism;  // "large warps"
  std::string name;       // "copy of the active mask"
  std::string formula;    // "core.warp_size = 256"; of logic, how much of it: "core.simd_width - 1 = 31 decoders"
  std::uint64_t bits = 0;
  std::string source;                     // "LWM report 3.3; thesis 4.5", or what the estimate rests on
  std::vector<CostAccess> accesses = {};  // empty: unknown, and energy tables leave the structure out
};

class CostLines {
 public:
  using Kind = CostLine::Kind;
  // The mechanism that the lines to come belong to.
  void mechanism(std::string name) { mechanism_ = std::move(name); }
  // The core has the lines to come so many times, once in each sub-core (core.sub_cores).
  void in_each_of(unsigned sub_cores) { sub_cores_ = sub_cores; }
  // `formula` ends before the '='.
  void add(Kind kind, std::string name, const std::string& formula, std::uint64_t bits, std::string source);
  void logic(std::string name, std::string amount, std::string source);
  // A structure that every core has, whatever the mechanism of the lines around.
  void present(std::string name, const std::string& formula, std::uint64_t bits, std::string source);

  // Accesses of the structure added last. All are estimates made here: no paper counts accesses.
  void accessed(std::string counter, std::uint64_t bits);

  // A structure of this name is there already.
  [[nodiscard]] bool has(std::string_view name) const;

  [[nodiscard]] const std::vector<CostLine>& lines() const { return lines_; }

 private:
  std::vector<CostLine> lines_;
  std::string mechanism_;
  std::string every_core_ = "every core";
  unsigned sub_cores_ = 1;
};

inline constexpr const char* kOrderOfAge = "order of age";
inline constexpr std::uint64_t kProgressBits = 32;   // of a progress register: as wide as the model's own
inline constexpr std::uint64_t kPcBits = 32;         // LWM report, figure 2: 32-bit program counters
inline constexpr std::uint64_t kStackEntries = 16;   // assumed: neither the papers nor the model bound the stack
inline constexpr std::uint64_t kBlockThreads = 256;  // of thread block compaction: thesis 5.2.1

// The quantities that formulas are made of.
struct CostShape {
  // `pool`: warp_pool_size(machine) (hw/divergence/divergence.hpp).
  CostShape(const Machine& machine, std::uint64_t pool);
  // Thread blocks of the usual size.
  [[nodiscard]] std::uint64_t blocks() const;

  const Machine& machine;
  std::uint64_t lanes;
  std::uint64_t warp;
  std::uint64_t threads;
  std::uint64_t warps;
  std::uint64_t pool;           // warps that the scheduler chooses among: dynamic ones may have a thread each
  std::uint64_t rows;           // of a warp's mask
  std::uint64_t all_rows;       // of the whole core
  std::uint64_t stages;         // that hold a sub-warp: register read, execute, memory, write-back
  std::uint64_t complex_queue;  // sub-warps that wait for the complex unit, with their operands
  std::uint64_t pending;
  // Of a scheduler: the sets of warps among which it chooses in each, one set of all but for fetch groups.
  std::uint64_t sets = 1;
  std::uint64_t set_warps;
  bool in_fetch_groups = false;
  bool ages_elsewhere = false;  // the ages of all warps are remembered anyway
};

// Bits that number `things` different things: ceil(log2(things)).
[[nodiscard]] std::uint64_t index_bits(std::uint64_t things);

// What lanes that read different rows need: rows that travel with the sub-warp, and a decoder per bank.
// `memory_by_rows`: memory accesses are formed by rows, so that an access that is put aside has a single row.
void cost_of_rows_per_lane(const CostShape& shape, std::uint64_t rows, bool memory_by_rows, CostLines& lines);
// What lanes that take any thread need.
void cost_of_free_lanes(const CostShape& shape, CostLines& lines);
// "4 groups x ", or nothing where there is one set of warps; and the order of age of the warps of each set.
[[nodiscard]] std::string each_set_of(const CostShape& shape);
void cost_of_ages(const CostShape& shape, CostLines& lines);
// A progress register per warp (thesis 9.2.2), once whoever looks at them.
void cost_of_progress(const CostShape& shape, CostLines& lines);
// The place of an order by turns: within fetch groups one each; over all warps, every core has it.
void cost_of_places(const CostShape& shape, CostLines& lines);

}  // namespace heddle::hw
