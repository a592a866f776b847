// What GTKWave needs to show a recording readably: a save file with the signals in groups, each with a fitting format,
// and translate files that turn the values of enumerations into their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/signal_catalogue.hpp"

namespace heddle::traces {

// One line per value: hexadecimal digits as wide as a signal of the enumeration, a blank, the name.
[[nodiscard]] std::string gtkwave_translation(const link::Enumeration& enumeration);

// The enumerations of some signals, each once, in the order of their first use.
[[nodiscard]] std::vector<const link::Enumeration*> enumerations_of(const std::vector<link::Signal>& signals);

// What of a dump is shown first, in its time units.
struct GtkwaveView {
  std::uint64_t begin = 0;  // the left edge, and the marker
  std::uint64_t end = 0;    // the right edge, about; not after `begin`: as GTKWave likes
};

// The save file. Names of files as the save file shall hold them; translate files are `filters` + the enumeration's
// name + ".txt". Groups of core 0 that tell what a warp does are open, the others closed.
[[nodiscard]] std::string gtkwave_save(const std::vector<link::Signal>& signals, const std::string& dump_file,
                                       const std::string& filters, const GtkwaveView& view = {});

}  // namespace heddle::traces
