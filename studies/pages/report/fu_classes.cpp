#include "studies/pages/report/fu_classes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::pages {

std::vector<FuClass> fu_classes(const std::vector<std::uint64_t>& fu_active_cycles) {
  std::vector<FuClass> classes;
  if (fu_active_cycles.empty()) {
    return classes;
  }
  const std::size_t width = fu_active_cycles.size() - 1;
  const auto add = [&](std::size_t first, std::size_t last) {
    if (first > last || last > width) {
      return;
    }
    FuClass part{first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last), first, last, 0};
    for (std::size_t n = first; n <= last; ++n) {
      part.cycles += fu_active_cycles[n];
    }
    classes.push_back(std::move(part));
  };
  add(0, 0);
  if (width == 0) {
    return classes;
  }
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    const std::size_t first = quarter * width / 4 + 1;
    add(first, std::min((quarter + 1) * width / 4, width - 1));
  }
  add(width, width);
  return classes;
}

}  // namespace heddle::pages
