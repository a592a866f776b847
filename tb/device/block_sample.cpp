#include "tb/device/block_sample.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace heddle::tb {

BlockSample::BlockSample(std::uint64_t blocks, std::uint64_t wave, std::uint64_t every) : wave_(wave) {
  if (every <= 1 || wave == 0 || blocks / wave < kFewestWaves) {
    return;
  }
  const std::uint64_t wanted = std::max((blocks + every - 1) / every, kFewestWaves * wave);
  if (2 * wanted > blocks + 1) {
    return;
  }
  const std::uint64_t runs = std::max<std::uint64_t>(wanted / (kWavesOfRun * wave), 1);
  const std::uint64_t waves = wanted / (runs * wave);  // of a run
  const std::uint64_t last = blocks / wave - waves;    // with which the last run begins
  const std::uint64_t rest = runs == 1 ? wanted % wave : blocks % wave;
  blocks_.reserve(runs * waves * wave + rest);
  runs_.push_back(0);
  for (std::uint64_t i = 0; i != runs; ++i) {
    const std::uint64_t first = runs == 1 ? 0 : last * i / (runs - 1) * wave;  // they do not overlap
    const std::uint64_t end = first + waves * wave + (i == runs - 1 ? rest : 0);
    for (std::uint64_t block = first; block != end; ++block) {
      blocks_.push_back(block);
    }
    runs_.push_back(blocks_.size());
  }
}

// As soon as one block ends another one begins: when n have ended, the n + wave first ones have begun.
double BlockSample::cycles_of_all(std::uint64_t cycles, const std::vector<hw::SomeBlocks::Finished>& finished,
                                  const std::vector<std::uint64_t>& instructions) const {
  if (finished.size() != blocks_.size()) {
    throw InternalError("a sample of blocks has not come to its end");
  }
  std::uint64_t middle = 0;         // instructions
  std::uint64_t middle_cycles = 0;  // in which they were executed
  for (std::size_t run = 0; run + 1 != runs_.size(); ++run) {
    const std::uint64_t begin = runs_[run] + wave_;
    const std::uint64_t end = runs_[run + 1] - wave_;  // the blocks from one wave's end to another's
    for (std::uint64_t i = begin; i != end; ++i) {
      middle += instructions[finished[i].block];
    }
    middle_cycles += finished[end - 1].at - finished[begin - 1].at;
  }
  const std::uint64_t all = std::accumulate(instructions.begin(), instructions.end(), std::uint64_t{0});
  std::uint64_t head_and_tail = 0;
  for (std::uint64_t i = 0; i != wave_; ++i) {
    head_and_tail += instructions[finished[i].block] + instructions[finished[finished.size() - 1 - i].block];
  }
  if (middle == 0 || middle_cycles == 0) {  // nothing to go by: by the mean
    std::uint64_t simulated = 0;
    for (const hw::SomeBlocks::Finished& one : finished) {
      simulated += instructions[one.block];
    }
    return static_cast<double>(cycles) *
           (simulated == 0 ? 1 : static_cast<double>(all) / static_cast<double>(simulated));
  }
  const link::Cycle between = finished[finished.size() - wave_ - 1].at - finished[wave_ - 1].at;
  return static_cast<double>(cycles - between) +
         static_cast<double>(all - head_and_tail) * static_cast<double>(middle_cycles) / static_cast<double>(middle);
}

}  // namespace heddle::tb
