#include "tb/device/fast_forward.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "tb/config/toml_text.hpp"

namespace heddle::tb {

std::optional<double> KernelLaunches::estimated_cycles() const {
  const double of_simulated = static_cast<double>(cycles) + cycles_left_out;
  if (interpreted == 0) {
    return of_simulated;
  }
  const std::uint64_t instructions = thread_instructions + instructions_left_out;
  if (instructions == 0) {
    return std::nullopt;
  }
  return of_simulated * (1 + static_cast<double>(instructions_interpreted) / static_cast<double>(instructions));
}

void LaunchSelection::check(const isa::Module& module) const {
  std::vector<std::string> known;
  for (const isa::Kernel& kernel : module.kernels) {
    if (!kernel.more_registers) known.push_back(kernel.name);
  }
  for (const std::string& kernel : what_.kernels) {
    if (std::find(known.begin(), known.end(), kernel) == known.end()) {
      throw InputError({"--skip"}, fmt::format("the program has no kernel '{}'", excerpt(kernel)),
                       suggest(kernel, known, "it has: " + join(known)));
    }
  }
}

bool LaunchSelection::simulates(const std::string& kernel) {
  ++launches_;
  if (launches_ < what_.from_launch ||
      std::find(what_.kernels.begin(), what_.kernels.end(), kernel) != what_.kernels.end()) {
    return false;
  }
  return candidates_[kernel]++ % what_.every == 0;
}

void LaunchSelection::simulated(const std::string& kernel, std::uint64_t cycles, std::uint64_t thread_instructions) {
  KernelLaunches& launches = kernels_[kernel];
  ++launches.simulated;
  launches.cycles += cycles;
  launches.thread_instructions += thread_instructions;
}

void LaunchSelection::interpreted(const std::string& kernel, std::uint64_t thread_instructions) {
  KernelLaunches& launches = kernels_[kernel];
  ++launches.interpreted;
  launches.instructions_interpreted += thread_instructions;
}

void LaunchSelection::simulated_in_part(const std::string& kernel, const SampledLaunch& launch) {
  simulated(kernel, launch.cycles, launch.thread_instructions);
  KernelLaunches& launches = kernels_[kernel];
  ++launches.in_part;
  launches.blocks += launch.blocks;
  launches.blocks_simulated += launch.blocks_simulated;
  launches.blocks_differing += launch.blocks_differing;
  launches.instructions_left_out +=
      launch.all_instructions - std::min(launch.all_instructions, launch.thread_instructions);
  launches.cycles_left_out += launch.estimated_cycles - static_cast<double>(launch.cycles);
}

void LaunchSelection::simulates_whole(const std::string& kernel, const std::string& why) {
  KernelLaunches& launches = kernels_[kernel];
  if (launches.whole_because.empty()) {
    launches.whole_because = why;
  }
}

std::optional<double> LaunchSelection::estimated_cycles() const {
  double sum = 0;
  for (const auto& [kernel, launches] : kernels_) {
    const std::optional<double> cycles = launches.estimated_cycles();
    if (!cycles) {
      return std::nullopt;
    }
    sum += *cycles;
  }
  return sum;
}

}  // namespace heddle::tb
