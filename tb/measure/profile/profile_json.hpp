// A profile as JSON, for the report page. docs/report.md describes it.
#pragma once

#include <boost/json/fwd.hpp>

#include "tb/measure/energy/energy.hpp"
#include "tb/measure/profile/profile.hpp"
#include "tb/measure/profile/source_text.hpp"

namespace heddle::tb {

// `sources`: the texts of the source files too, as far as it allows; null: none. `energy`: of the run, shared out
// among the instructions (energy_by_instruction()) as two more counters of each; null: it was not priced.
[[nodiscard]] boost::json::object profile_json(const Profile& profile, const SourceFiles* sources,
                                               const Energy* energy = nullptr);

}  // namespace heddle::tb
