// Dynamic warp subdivision (DWS report) and adaptive slip (its section 5.7): when warps part and their splits meet
// again (hw/divergence/subdivision.hpp); and subdivision with dynamic warp formation (hw/divergence/formed_splits.hpp).
#include "hw/divergence/dws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hw/divergence/formed_splits.hpp"
#include "hw/divergence/subdivision.hpp"
#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

unsigned short_block_of(const CoreParameters& core) {
  return core.policies.of<DwsParameters>().short_block;
}

bool loop_branches_of(const CoreParameters& core) {
  return core.policies.of<DwsParameters>().loop_branches;
}

unsigned slots_of(const CoreParameters& core) {
  const unsigned slots = core.policies.of<DwsParameters>().slots;
  return slots != 0 ? slots : 2 * std::max(1U, core.threads / core.warp_size);
}

constexpr std::uint64_t kStatusBits = 2;
constexpr std::uint64_t kSplitPcBits = 64;

// The table, of entries of so many bits.
void cost_of_table(const CostShape& shape, CostLine::Kind kind, const std::string& entry_formula, std::uint64_t entry,
                   const char* source, CostLines& lines) {
  lines.mechanism("warp splits");
  const std::uint64_t entries = shape.machine.core.policies.of<DwsParameters>().entries;
  lines.add(kind, "warp-split table", fmt::format("dws.entries {} x ({})", entries, entry_formula), entries * entry,
            source);
  // As if every instruction were of a split: its entry says the PC and the lanes, and takes the next PC. A new split's
  // entry is written.
  for (const char* const counter :
       {"fetched", "group_instructions", "splits_branch", "splits_memory", "splits_revived"}) {
    lines.accessed(counter, entry);
  }
  lines.logic("PC comparators", fmt::format("{}, one per entry", entries), "DWS report 4.5");
}

// A group of several warps has a warp for each lane, and each lane reads a row of its own.
void cost_of_formed_splits(const CostShape& shape, CostLines& lines) {
  const std::uint64_t warp = index_bits(shape.all_rows);
  cost_of_table(shape, CostLine::Kind::estimated,
                fmt::format("{} lanes x (1 + log2({} warps)) + {} + {} of status", shape.lanes, shape.all_rows,
                            kSplitPcBits, kStatusBits),
                shape.lanes * (1 + warp) + kSplitPcBits + kStatusBits,
                "own estimate: the entry of DWS report 5.6 with a warp per lane", lines);
  cost_of_rows_per_lane(shape, shape.all_rows, false, lines);
}

// Own estimate: what the report's future work (8) says has to be speculated, after hw/divergence/split_predictor.hpp.
void cost_of_predictor(const CostShape& shape, CostLines& lines) {
  const auto& own = shape.machine.core.policies.of<DwsParameters>();
  if (own.memory != "predict") {
    return;
  }
  const std::uint64_t averages = 2 * (own.predictor_bits + std::uint64_t{1});
  lines.add(CostLine::Kind::estimated, "table of misses",
            fmt::format("dws.predictor_entries {} x 2 x (dws.predictor_bits {} + 1 of validity)", own.predictor_entries,
                        own.predictor_bits),
            own.predictor_entries * averages, "own estimate: an average latency and an average distance for each");
  lines.accessed("predictions", averages);
  lines.accessed("missed_accesses", 2 * averages);  // each trains one of either kind: read and written
  const std::uint64_t slots = slots_of(shape.machine.core);
  const std::uint64_t entry = index_bits(own.predictor_entries);
  lines.add(CostLine::Kind::estimated, "latest access of each slot",
            fmt::format("{} slots x (log2({} entries) + 1 of validity + 2 x dws.predictor_bits {} + 1 of its decision)",
                        slots, own.predictor_entries, own.predictor_bits),
            slots * (entry + 1 + 2 * std::uint64_t{own.predictor_bits} + 1),
            "own estimate: which entry it trains, and cycle counts since it ended and since it waits");
  lines.accessed("memory_instructions", entry + 1 + 2 * std::uint64_t{own.predictor_bits} + 1);
}

SplitPredictor::Setup predictor_of(const CoreParameters& core) {
  const auto& own = core.policies.of<DwsParameters>();
  return {own.predictor_entries, own.predictor_bits, own.predictor_threshold, core.threads};
}

PartingRule::Memory memory_of(const DwsParameters& own) {
  using Memory = PartingRule::Memory;
  return own.memory == "aggressive" ? Memory::aggressive
         : own.memory == "lazy"     ? Memory::lazy
         : own.memory == "revive"   ? Memory::revive
         : own.memory == "predict"  ? Memory::predict
                                    : Memory::none;
}

// What dws and dws-dwf read alike.
SplitRules rules_of_splits(const CoreParameters& core) {
  const auto& own = core.policies.of<DwsParameters>();
  SplitRules rules;
  rules.at_branches = own.branches != "none";
  rules.memory = memory_of(own);
  rules.predictor = predictor_of(core);
  rules.entries = own.entries;
  rules.slots = slots_of(core);
  return rules;
}

std::vector<std::string> keys_of_predictor() {
  return {"dws.predictor_entries", "dws.predictor_bits", "dws.predictor_threshold"};
}

constexpr const char* kRunsAhead = "lets threads of a warp run ahead of the others";

class Dws final : public Subdivision {
 public:
  using Parameters = DwsParameters;
  static constexpr Traits traits{.no_lockstep = kRunsAhead,
                                 .parts_in_flight = true,
                                 .short_block = short_block_of,
                                 .loop_branches = loop_branches_of};

  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    const auto& own = machine.core.policies.of<Parameters>();
    if (own.branches != "none" && own.memory != "none" && own.reconvergence == "branch-limited") {
      found.push_back(
          {"dws.reconvergence",
           "dws.reconvergence = \"branch-limited\" makes splits wait at branches for all of their warp, where "
           "those that dws.branches has parted never come: dws.branches = \"none\", or branch-bypass"});
    }
    if (own.branches == "stack" && own.memory != "none") {
      found.push_back(
          {"dws.branches",
           "dws.branches = \"stack\" is for dws.memory = \"none\": splits of an access always join where they "
           "stand at one PC (DWS report 5.3), and a split is not known to be of the one or the other"});
    }
  }

  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
    const auto& own = machine.core.policies.of<Parameters>();
    if (own.memory == "none") {
      found.push_back({{"dws.reconvergence"}, "dws.memory is none"});
    }
    if (own.branches == "none") {
      found.push_back({{"dws.short_block", "dws.loop_branches"}, "dws.branches is none"});
    }
    if (own.branches == "stack") {
      found.push_back({{"dws.meet"}, "dws.branches is stack"});
    }
    if (own.memory != "predict") {
      found.push_back({keys_of_predictor(), "dws.memory is not predict"});
    }
  }

  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_warp_splits(shape, lines);
    cost_of_predictor(shape, lines);
  }

  explicit Dws(const Setup& setup) : Subdivision(setup, rules(setup.core)) {}

 private:
  static SubdivisionRules rules(const CoreParameters& core) {
    const auto& own = core.policies.of<Parameters>();
    SubdivisionRules rules{rules_of_splits(core)};
    rules.by_pc = own.branches != "stack";
    rules.at_accesses = own.meet == "accesses";
    rules.bypass = rules.at_branches || own.reconvergence == "branch-bypass";
    return rules;
  }
};

const Register<Divergence, Dws> dws_entry{"dws", "dynamic warp subdivision: warps part at branches and accesses"};

// Splits and warps that stand at one PC run together, of whatever warps.
class DwsDwf final : public FormedSplits {
 public:
  using Parameters = DwsDwfParameters;
  using AlsoReads = DwsParameters;
  static constexpr Traits traits{
      .no_lockstep = "lets threads of a warp run ahead of the others, and beside threads of other warps",
      .warp_pool = true,
      .parts_in_flight = true,
      .short_block = short_block_of,
      .loop_branches = loop_branches_of};

  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    const auto& own = machine.core.policies.of<DwsParameters>();
    if (own.branches == "stack") {
      found.push_back({"dws.branches",
                       "dws.branches = \"stack\" is for core.divergence = \"dws\": groups form where threads stand at "
                       "one PC; pc, or none"});
    }
    if (own.reconvergence == "branch-limited") {
      found.push_back({"dws.reconvergence",
                       "dws.reconvergence = \"branch-limited\" makes splits wait at branches for all of their warp, "
                       "beside threads of warps that do not; with core.divergence = \"dws-dwf\": branch-bypass"});
    }
  }

  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
    Dws::in_vain(machine, found);
    found.push_back({{"dws.meet"}, "core.divergence is dws-dwf"});
  }

  static void cost(const CostShape& shape, CostLines& lines) {
    cost_of_formed_splits(shape, lines);
    cost_of_predictor(shape, lines);
  }

  explicit DwsDwf(const Setup& setup) : FormedSplits(setup, rules(setup.core)) {}

 private:
  static FormationRules rules(const CoreParameters& core) {
    FormationRules rules{rules_of_splits(core)};
    rules.unblocking = core.policies.of<Parameters>().joins == "unblocking";
    return rules;
  }
};

const Register<Divergence, DwsDwf> dws_dwf_entry{
    "dws-dwf", "dws with dynamic warp formation: warps and splits that stand at one PC join across warps"};

// Threads whose access has been answered go on; the others stay behind, even when their lines have come, until one of
// their warp comes to the same access again, or none can any more. They stand behind that access then, as it has been
// completed meanwhile: it is not executed twice.
class Slip final : public Subdivision {
 public:
  using Parameters = SlipParameters;
  using AlsoReads = DwsParameters;
  static constexpr Traits traits{.no_lockstep = kRunsAhead,
                                 .parts_in_flight = true,
                                 .short_block = short_block_of,
                                 .loop_branches = loop_branches_of};

  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
    found.push_back({{"dws.branches", "dws.memory", "dws.reconvergence", "dws.meet"}, "core.divergence is slip"});
    found.push_back({keys_of_predictor(), "core.divergence is slip"});
    if (!machine.core.policies.of<Parameters>().branch_bypass) {
      found.push_back({{"dws.short_block", "dws.loop_branches"}, "slip.branch_bypass is false"});
    }
  }

  static void cost(const CostShape& shape, CostLines& lines) { cost_of_warp_splits(shape, lines); }

  explicit Slip(const Setup& setup)
      : Subdivision(setup, rules(setup.core)),
        own_(setup.core.policies.of<Parameters>()),
        most_(setup.core.warp_size),
        limit_(std::min(own_.first_limit, most_)) {}

 private:
  static SubdivisionRules rules(const CoreParameters& core) {
    const bool bypass = core.policies.of<Parameters>().branch_bypass;
    SubdivisionRules rules;
    rules.at_branches = rules.bypass = bypass;
    rules.memory = SubdivisionRules::Memory::slip;
    rules.entries = core.policies.of<DwsParameters>().entries;
    rules.slots = slots_of(core);
    return rules;
  }

  // What the core has done since the launch began, in cycles.
  struct Activity {
    std::uint64_t waited = 0;  // for memory, whatever it is there that has no room
    std::uint64_t active = 0;  // some lane
  };
  [[nodiscard]] Activity activity() const {
    Activity sum;
    for (std::size_t cause = 0; cause < kIdleCauseCount; ++cause) {
      const auto which = static_cast<IdleCause>(cause);
      sum.waited += which == IdleCause::memory || is_want_of_room(which) ? count_.idle[cause] : 0;
    }
    sum.active = count_.fu_active.empty()
                     ? 0
                     : std::accumulate(count_.fu_active.begin() + 1, count_.fu_active.end(), std::uint64_t{0});
    return sum;
  }

  // Looked at when an access asks, at the earliest after an interval: nothing else depends on it.
  [[nodiscard]] unsigned behind_at_most(Cycle now) override {
    if (now < since_ || now - since_ < own_.interval) {
      return limit_;
    }
    const Activity sum = activity();
    const std::uint64_t cycles = now - since_;
    const bool waits = (sum.waited - before_.waited) * 100 > own_.raise_above * cycles;
    const bool works = (sum.active - before_.active) * 100 > own_.lower_above * cycles;
    if (waits && !works) {
      limit_ = std::min(limit_ + 1, most_);
    } else if (works && !waits && limit_ != 0) {
      --limit_;
    }
    since_ = now;
    before_ = sum;
    return limit_;
  }

  SlipParameters own_;
  unsigned most_;
  unsigned limit_;
  Cycle since_ = 0;
  Activity before_;
};

const Register<Divergence, Slip> slip_entry{"slip", "adaptive slip: threads whose access hits run ahead of their warp"};

}  // namespace

void cost_of_warp_splits(const CostShape& shape, CostLines& lines) {
  const std::uint64_t warp = index_bits(shape.warps);
  cost_of_table(shape, CostLine::Kind::counted,
                fmt::format("core.warp_size {} + log2({} warps) + {} + {} of status", shape.warp, shape.warps,
                            kSplitPcBits, kStatusBits),
                shape.warp + warp + kSplitPcBits + kStatusBits, "DWS report 5.6, with its 64-bit PCs", lines);
}

}  // namespace heddle::hw
