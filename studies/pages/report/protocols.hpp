// The coherence protocols' tables as documents: what a cache, or the home of its lines, does with a line in each state
// at each event. Made from the tables that the machine runs on (hw/coherence).
#pragma once

#include <string>

namespace heddle::pages {

// One line per pair of state and event that can happen.
[[nodiscard]] std::string protocols_text();
// docs/protocols.md: a table per controller, states down, events across.
[[nodiscard]] std::string protocols_markdown();

}  // namespace heddle::pages
