// What a machine's mechanisms cost in storage, per core, bit by bit with its formula. The papers count few structures
// (LWM report 3.3, thesis 4.5); what they leave out is estimated here from the model's own structures and marked so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/machine.hpp"

namespace heddle::tb {

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
  std::string source;  // "LWM report 3.3; thesis 4.5", or what the estimate rests on
};

struct StorageCost {
  std::string machine;
  std::uint64_t register_file_bits = 0;
  std::vector<CostLine> lines;  // present first, then by mechanism

  [[nodiscard]] std::uint64_t bits(CostLine::Kind kind) const;
};

// Of one core.
[[nodiscard]] StorageCost storage_cost(const hw::Machine& machine);

[[nodiscard]] std::string cost_text(const StorageCost& cost);
[[nodiscard]] std::string cost_json(const StorageCost& cost);

// Bits that number `things` different things: ceil(log2(things)).
[[nodiscard]] std::uint64_t index_bits(std::uint64_t things);

}  // namespace heddle::tb
