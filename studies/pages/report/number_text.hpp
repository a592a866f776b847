// Numbers in pictures: thousands apart by commas, a prefix from ten thousand on, and a minus sign as wide as the plus.
// The pages' charts (studies/pages/page/charts.js) have the same, but a label on an axis is exact, so that it takes a
// prefix only where that makes it shorter.
#pragma once

#include <string>

namespace heddle::pages {

// "4,000", "0.25", "15.3 M", "−1.5". `digits`: significant ones of what is no whole number below ten thousand.
[[nodiscard]] std::string number_text(double number, int digits = 3);

}  // namespace heddle::pages
