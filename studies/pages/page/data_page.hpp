// A self-contained HTML page that draws itself from data: one JSON object, page.css, Vega, charts.js and the page's own
// scripts. Nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::pages {

struct DataPage {
  std::string title;
  std::string data;                       // JSON; the scripts read it as heddle.data
  std::vector<std::string_view> scripts;  // further page_file() names, run in this order after charts.js
};

[[nodiscard]] std::string data_page(const DataPage& page);

}  // namespace heddle::pages
