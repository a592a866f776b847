#include "studies/reproduce/claim.hpp"

#include <algorithm>
#include <utility>

namespace heddle::studies {

std::string_view shape_text(Shape shape) {
  switch (shape) {
    case Shape::holds:
      return "holds";
    case Shape::partly:
      return "partly";
    case Shape::does_not_hold:
      return "does not hold";
    case Shape::not_measured:
      break;
  }
  return "not measured";
}

Check check(std::string rule, std::string measured, bool passed) {
  return {std::move(rule), std::move(measured), false, passed};
}

Check main_check(std::string rule, std::string measured, bool passed) {
  return {std::move(rule), std::move(measured), true, passed};
}

Shape shape_of(const std::vector<Check>& checks) {
  if (checks.empty()) {
    return Shape::not_measured;
  }
  if (std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; })) {
    return Shape::holds;
  }
  const bool has_main = std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.main; });
  const bool some = std::any_of(checks.begin(), checks.end(),
                                [&](const Check& check) { return check.passed && (check.main || !has_main); });
  return some ? Shape::partly : Shape::does_not_hold;
}

}  // namespace heddle::studies
