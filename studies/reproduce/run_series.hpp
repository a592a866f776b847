// What a run did over time and over its grid, as far as claims draw it: read from the JSON that a run writes with
// --report-data (docs/report.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::studies {

struct RunSeries {
  using Matrix = std::vector<std::vector<double>>;  // a row per unit, a column per stretch of time
  std::uint64_t cycles = 0;
  Matrix core_ipc;     // per core: thread instructions retired per cycle
  Matrix core_blocks;  // per core: blocks that have begun there and not finished, on average
  // Instructions by the active threads of their warp, per band the share of all that were fetched in the stretch.
  unsigned threads_per_band = 0;  // band b: b * n + 1 to (b + 1) * n threads
  Matrix bands;
  Matrix channel_bus;  // per memory channel: share of cycles in which its bus moves data; its own stretches of time
  // Threads of a grid in a plane, by kernel: points row by row, each a square of threads.
  struct Map {
    std::string kernel;
    unsigned columns = 0;
    std::vector<double> instructions, divergences;
  };
  std::vector<Map> maps;
  struct Picture {
    std::string name;
    unsigned width = 0, height = 0;
    std::vector<std::uint8_t> rgb;
  };
  std::vector<Picture> pictures;
};

// Throws InputError, naming `path`.
[[nodiscard]] RunSeries read_series(const std::string& path);

}  // namespace heddle::studies
