// What makes no sense in a [dram] or [jedec] section, for hw::check.
#pragma once

#include <string>
#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

// Appends to `found`. line_bytes: of the lines that the channels transfer, a power of two.
void check_dram(const DramParameters& dram, unsigned line_bytes, std::vector<Contradiction>& found);

// What a user may not expect of a [dram] section that makes sense.
struct DramRemark {
  std::string key;      // who sets it on the command line, or where `because` is set, needs no telling
  std::string because;  // the key that brought it about
  std::string text;
};
[[nodiscard]] std::vector<DramRemark> dram_remarks(const DramParameters& dram);

}  // namespace heddle::hw
