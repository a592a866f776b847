// What the pages say about figures: units and meanings, from the declarations.
#pragma once

#include <boost/json/fwd.hpp>

namespace heddle::pages {

// {"summary": {figure: {"unit", "definition"}}, "idle_causes": {cause: meaning},
//  "appearance": appearance_json()}
[[nodiscard]] boost::json::object declarations_json();

}  // namespace heddle::pages
