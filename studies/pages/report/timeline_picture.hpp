// A bank timeline drawn as thesis figure 7.2 has it: a line per bank with its row hits, row conflicts and holds, and
// below them the bus with its transfers.
#pragma once

#include <string>
#include <string_view>

#include "tb/measure/dram/bank_timeline.hpp"

namespace heddle::pages {

// "row hit"
[[nodiscard]] std::string_view kind_text(tb::BankTimeline::Kind kind);

// An <svg> element for a page with chart_style(), and a file of its own.
[[nodiscard]] std::string timeline_svg(const tb::BankTimeline& timeline);
[[nodiscard]] std::string timeline_file(const tb::BankTimeline& timeline);

}  // namespace heddle::pages
