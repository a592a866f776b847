// A profile as JSON, for the report page. docs/report.md describes it.
#pragma once

#include <boost/json/fwd.hpp>

#include "tb/measure/profile/profile.hpp"

namespace heddle::tb {

// `with_sources`: the texts of the source files too (source_text()).
[[nodiscard]] boost::json::object profile_json(const Profile& profile, bool with_sources);

}  // namespace heddle::tb
