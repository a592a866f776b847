// The colours of the series of charts (studies/pages/report/charts.hpp), for pictures that have no style sheet.
#pragma once

#include <cstddef>
#include <string_view>

namespace heddle::pages {

// "#rrggbb" in the light scheme.
[[nodiscard]] std::string_view series_colour(std::size_t series);

}  // namespace heddle::pages
