// Numbers in pictures, as the pages' charts have them (tb/pages/page/charts.js): thousands apart by commas, a prefix
// from ten thousand on, and a minus sign as wide as the plus.
#pragma once

#include <string>

namespace heddle::tb {

// "4,000", "0.25", "15.3 M", "−1.5". `digits`: significant ones of what is no whole number below ten thousand.
[[nodiscard]] std::string number_text(double number, int digits = 3);

}  // namespace heddle::tb
