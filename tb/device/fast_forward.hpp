// Launches, and blocks of launches, that the reference interpreter computes instead of the model: their stores, prints
// and hashes are as ever, and they take no time. Which ones, and what the others' time says of theirs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "isa/module.hpp"

namespace heddle::tb {

// What a user asks for; by default every launch is simulated.
struct FastForward {
  std::uint64_t from_launch = 1;     // the first launch of the run that may be simulated, from 1
  std::vector<std::string> kernels;  // whose launches never are
  std::uint64_t every = 1;           // of the other launches of each kernel one of so many is, the first among them
  std::uint64_t blocks = 1;          // of a simulated launch's waves of blocks one of so many is (block_sample.hpp)
  [[nodiscard]] bool any() const { return from_launch > 1 || !kernels.empty() || every > 1 || blocks > 1; }
};

// What became of a kernel's launches.
struct KernelLaunches {
  std::uint64_t simulated = 0;
  std::uint64_t interpreted = 0;
  std::uint64_t cycles = 0;                    // of simulated launches
  std::uint64_t thread_instructions = 0;       // of simulated launches: threads whose guard was true
  std::uint64_t instructions_interpreted = 0;  // of interpreted launches, likewise
  // Of the simulated launches, those of which some blocks were simulated.
  std::uint64_t in_part = 0;
  std::uint64_t blocks = 0;            // of launches simulated in part
  std::uint64_t blocks_simulated = 0;  // of `blocks`
  std::uint64_t blocks_differing = 0;  // of blocks_simulated: a thread has done other things than in the interpreter
  std::uint64_t instructions_left_out = 0;  // of the other blocks
  double cycles_left_out = 0;               // estimated: what the other blocks would have taken
  std::string whole_because;                // why all blocks of the first launch were simulated of which they were

  // Cycles of all launches, if interpreted ones would take as many for each thread instruction as simulated ones do (a
  // ratio estimate), with the blocks that were left out of simulated ones; none: launches were interpreted, and none
  // simulated.
  [[nodiscard]] std::optional<double> estimated_cycles() const;
};

// A launch of which some blocks were simulated.
struct SampledLaunch {
  std::uint64_t cycles = 0;               // of the blocks that were simulated
  std::uint64_t thread_instructions = 0;  // likewise
  std::uint64_t all_instructions = 0;     // of all blocks
  std::uint64_t blocks = 0;
  std::uint64_t blocks_simulated = 0;
  std::uint64_t blocks_differing = 0;
  double estimated_cycles = 0;  // of all blocks
};

class LaunchSelection {
 public:
  explicit LaunchSelection(FastForward what = {}) : what_(std::move(what)) {}
  // Throws InputError for a kernel of FastForward::kernels that `module` does not have.
  void check(const isa::Module& module) const;
  // Asked once for each launch, in order.
  [[nodiscard]] bool simulates(const std::string& kernel);
  void simulated(const std::string& kernel, std::uint64_t cycles, std::uint64_t thread_instructions);
  void interpreted(const std::string& kernel, std::uint64_t thread_instructions);
  void simulated_in_part(const std::string& kernel, const SampledLaunch& launch);
  // All its blocks are to be simulated although some were asked for.
  void simulates_whole(const std::string& kernel, const std::string& why);
  // The kernel's blocks have talked in a launch: so they may in the next one, which is not looked at.
  void found_talk(const std::string& kernel) { talking_.insert(kernel); }
  [[nodiscard]] bool blocks_talk(const std::string& kernel) const { return talking_.contains(kernel); }
  [[nodiscard]] const FastForward& what() const { return what_; }
  [[nodiscard]] const std::map<std::string, KernelLaunches>& kernels() const { return kernels_; }
  // Of the whole run; none if a kernel has none.
  [[nodiscard]] std::optional<double> estimated_cycles() const;

 private:
  FastForward what_;
  std::uint64_t launches_ = 0;                       // asked for so far
  std::map<std::string, std::uint64_t> candidates_;  // by kernel, those that only `every` can have interpreted
  std::map<std::string, KernelLaunches> kernels_;
  std::set<std::string> talking_;
};

}  // namespace heddle::tb
