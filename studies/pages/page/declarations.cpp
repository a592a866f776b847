#include "studies/pages/page/declarations.hpp"

#include <boost/json.hpp>

#include "studies/pages/report/appearance.hpp"
#include "tb/measure/summary.hpp"

namespace heddle::pages {

namespace json = boost::json;

json::object declarations_json() {
  json::object summary;
  for (const tb::SummaryDeclaration& declaration : tb::summary_declarations()) {
    summary[declaration.name] = {{"unit", declaration.unit}, {"definition", declaration.definition}};
  }
  json::object causes;
  for (const hw::IdleCauseInfo& cause : hw::kIdleCauses) {
    causes[cause.name] = json::string(cause.meaning);
  }
  return {{"summary", std::move(summary)}, {"idle_causes", std::move(causes)}, {"appearance", appearance_json()}};
}

}  // namespace heddle::pages
