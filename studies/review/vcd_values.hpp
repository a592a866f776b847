// A value change dump (heddle run --vcd) read back: the values of its signals over time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heddle::studies {

struct VcdSignal {
  std::string path;  // "gpu.core0.fetch.valid"
  unsigned width = 1;
  // Time and new value, as binary digits without leading zeros; "x": not known.
  std::vector<std::pair<std::uint64_t, std::string>> changes;
};

struct VcdValues {
  std::vector<VcdSignal> signals;     // in the order of the dump's declarations
  std::uint64_t first = 0, last = 0;  // times, the last one excluded
  std::uint64_t unit = 1'000'000;     // of times, in fs
};

// Throws InputError for what is no dump.
[[nodiscard]] VcdValues read_vcd(const std::string& path);

}  // namespace heddle::studies
