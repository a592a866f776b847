// Which blocks of a launch stand for all of them (heddle run --sample-blocks), and what their time says of the time of
// the whole launch.
//
// A wave is as many blocks as the machine holds at once. Simulated are runs of neighbouring blocks at equal distances,
// the first of them from the grid's first block on and the last up to its last one, one behind the other as if nothing
// lay between: the first wave finds the caches cold, the cores never run dry but at the end, and the last wave makes
// the tail of the launch. Each run begins a number of whole waves after the first one, so that what follows a block in
// its place lies in memory as the next wave's block does. Otherwise blocks may share a bank that never do in the whole
// launch, and keep closing each other's rows up to its end.
//
// Where one run goes over into the next, blocks that are no neighbours are together and spoil each other's rows and
// lines; so the rate, thread instructions per cycle, is taken from the middle of the runs: from the end of a run's
// first wave to the beginning of its last one. Head and tail take their time, all blocks between them as many cycles as
// their instructions take at that rate (systematic sampling of clusters with a ratio estimate: Cochran, Sampling
// Techniques, chapters 6, 8 and 9).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/gpu/some_blocks.hpp"

namespace heddle::tb {

class BlockSample {
 public:
  static constexpr std::uint64_t kFewestWaves = 6;  // that are simulated
  static constexpr std::uint64_t kWavesOfRun = 8;   // of several runs each has as many at least

  // One of `every` blocks of a launch of `blocks` blocks, of which the machine holds `wave` at once, but kFewestWaves
  // at least.
  // Where that is more than half of them, all are: the interpreter takes time, too.
  BlockSample(std::uint64_t blocks, std::uint64_t wave, std::uint64_t every);
  // False: all blocks are to be simulated.
  [[nodiscard]] bool any() const { return !blocks_.empty(); }
  [[nodiscard]] const std::vector<std::uint64_t>& blocks() const { return blocks_; }

  // Cycles of the whole launch. `cycles`: what the blocks have taken; `finished`: when they have ended, in that order;
  // `instructions`: of each block of the launch.
  [[nodiscard]] double cycles_of_all(std::uint64_t cycles, const std::vector<hw::SomeBlocks::Finished>& finished,
                                     const std::vector<std::uint64_t>& instructions) const;

 private:
  std::uint64_t wave_;
  std::vector<std::uint64_t> blocks_;
  std::vector<std::size_t> runs_;  // where in blocks_ each begins, and the end
};

}  // namespace heddle::tb
