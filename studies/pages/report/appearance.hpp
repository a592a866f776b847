// What idle causes and the states of warps are called and which colours they have, on every page and in every picture.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "hw/state/group.hpp"
#include "hw/state/idle_cause.hpp"

namespace heddle::pages {

struct Appearance {
  std::string_view key;    // as stats.json has it: "mshrs_full"; a class and a variable of the style sheet, see below
  std::string_view title;  // for people: "MSHRs full"
  std::string_view light;  // "#rrggbb", on a white page
  std::string_view dark;   // and on a dark one
};

// A cycle in which a core executes; a cycle that is idle for this cause.
[[nodiscard]] const Appearance& appearance_of_activity();
[[nodiscard]] const Appearance& appearance_of(hw::IdleCause cause);
// A warp that is in this state for a cycle. Where the state is a reason to be idle it looks like that cause.
[[nodiscard]] const Appearance& appearance_of(hw::GroupState state);

// Rules for the style sheet of a page. For each key, the colour as var(--of-KEY) and a class "of-KEY" whose background
// it is, with a colour of text that can be read on it; both schemes, and paper.
[[nodiscard]] std::string appearance_style();

// {"titles": {key: title}, "active": key, "warp_states": {state: key}}, for the scripts of pages.
[[nodiscard]] boost::json::object appearance_json();

}  // namespace heddle::pages
