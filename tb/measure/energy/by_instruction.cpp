#include "tb/measure/energy/by_instruction.hpp"

#include <map>
#include <numeric>
#include <optional>
#include <string_view>

namespace heddle::tb {
namespace {

using Kernels = std::vector<Profile::KernelProfile>;
// How much of something an instruction has to answer for.
using Weight = std::uint64_t (*)(const InstructionCounters&);

constexpr Weight kInstructions = [](const InstructionCounters& one) { return one.instructions; };
constexpr Weight kLines = [](const InstructionCounters& one) { return one.line_requests; };
constexpr Weight kLateLines = [](const InstructionCounters& one) { return one.late_lines; };
constexpr Weight kStoreLines = [](const InstructionCounters& one) { return one.store_lines; };
constexpr Weight kBehindL1 = [](const InstructionCounters& one) { return one.late_lines + one.store_lines; };
constexpr Weight kTime = [](const InstructionCounters& one) {
  return std::accumulate(one.warp_cycles.begin(), one.warp_cycles.end(), std::uint64_t{0});
};

// The profile's own counter of an activity.
std::optional<std::vector<std::vector<std::uint64_t>>> counted(const Kernels& kernels, std::string_view name) {
  bool known = false;
  std::vector<std::vector<std::uint64_t>> out;
  for (const Profile::KernelProfile& kernel : kernels) {
    std::vector<std::uint64_t>& values = out.emplace_back();
    for (const InstructionCounters& counters : kernel.counters) {
      InstructionCounters::describe(counters, [&](std::string_view counter, std::uint64_t value) {
        if (counter == name) {
          known = true;
          values.push_back(value);
        }
      });
    }
  }
  return known ? std::optional(std::move(out)) : std::nullopt;
}

std::vector<std::vector<std::uint64_t>> weighed(const Kernels& kernels, Weight weight) {
  std::vector<std::vector<std::uint64_t>> out;
  for (const Profile::KernelProfile& kernel : kernels) {
    std::vector<std::uint64_t>& values = out.emplace_back();
    for (const InstructionCounters& counters : kernel.counters) {
      values.push_back(weight(counters));
    }
  }
  return out;
}

// What an activity's energy goes by, the first of them that is not zero everywhere.
std::vector<std::vector<std::vector<std::uint64_t>>> weights_of(const Kernels& kernels, std::string_view kind,
                                                                std::string_view activity) {
  static const std::map<std::string_view, Weight> kByKind = {
      {"scratchpad", [](const InstructionCounters& one) { return one.scratchpad_accesses; }},
      {"private_memory", [](const InstructionCounters& one) { return one.private_memory_accesses; }},
      {"l1d", kLines},
      {"coherence", kLines},
      {"noc", kBehindL1},
      {"l2_slice", kBehindL1},
      {"l2", kBehindL1},
      {"dram", kBehindL1},
      {"home", kBehindL1},
      {"probes", kBehindL1},
  };
  std::vector<std::vector<std::vector<std::uint64_t>>> out;
  if (kind == "core") {
    if (auto own = counted(kernels, activity)) {
      out.push_back(*std::move(own));
    }
  } else if (kind == "result_bus") {
    out.push_back(weighed(kernels, [](const InstructionCounters& one) { return one.register_writes; }));
  } else if (kind == "clock") {
    return {weighed(kernels, kTime)};
  } else if (kind == "registers") {
    out.push_back(activity == "writes"
                      ? weighed(kernels, [](const InstructionCounters& one) { return one.register_writes; })
                      : weighed(kernels, [](const InstructionCounters& one) { return one.register_reads; }));
  } else if (kind == "dram" && (activity == "reads" || activity == "writes")) {
    out.push_back(weighed(kernels, activity == "reads" ? kLateLines : kStoreLines));
    out.push_back(weighed(kernels, kLines));
  } else if (const auto found = kByKind.find(kind); found != kByKind.end()) {
    out.push_back(weighed(kernels, found->second));
    out.push_back(weighed(kernels, kLines));
  }
  out.push_back(weighed(kernels, kInstructions));
  out.push_back(weighed(kernels, kTime));
  return out;
}

class Shares {
 public:
  explicit Shares(const Kernels& kernels) {
    for (const Profile::KernelProfile& kernel : kernels) {
      out_.kernels.emplace_back(kernel.counters.size());
    }
  }
  void share(double pj, const std::vector<std::vector<std::vector<std::uint64_t>>>& choices,
             double InstructionEnergy::*part) {
    for (const auto& weights : choices) {
      double total = 0;
      for (const std::vector<std::uint64_t>& kernel : weights) {
        total += static_cast<double>(std::accumulate(kernel.begin(), kernel.end(), std::uint64_t{0}));
      }
      if (total == 0) {
        continue;
      }
      for (std::size_t kernel = 0; kernel < weights.size(); ++kernel) {
        for (std::size_t pc = 0; pc < weights[kernel].size(); ++pc) {
          out_.kernels[kernel][pc].*part += pj * (static_cast<double>(weights[kernel][pc]) / total);
        }
      }
      return;
    }
    out_.rest_pj += pj;
  }
  [[nodiscard]] EnergyByInstruction take() { return std::move(out_); }

 private:
  EnergyByInstruction out_;
};

}  // namespace

EnergyByInstruction energy_by_instruction(const Energy& energy, const Kernels& kernels) {
  Shares shares(kernels);
  for (const Energy::Kind& kind : energy.kinds) {
    for (const Energy::Activity& activity : kind.activities) {
      shares.share(activity.pj, weights_of(kernels, kind.name, activity.name), &InstructionEnergy::activities_pj);
    }
    shares.share(kind.leakage_pj, {weighed(kernels, kTime)}, &InstructionEnergy::leakage_pj);
  }
  return shares.take();
}

}  // namespace heddle::tb
