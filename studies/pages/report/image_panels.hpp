// Pictures within a chart's SVG (ImagePanels).
#pragma once

#include <string>

#include "studies/pages/report/charts.hpp"

namespace heddle::pages {

// What stands within the <svg> element, `width` wide; `height` becomes how high it is.
[[nodiscard]] std::string image_panels_svg(const ImagePanels& chart, double width, double& height);

}  // namespace heddle::pages
