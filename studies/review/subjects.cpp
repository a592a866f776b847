#include "studies/review/subjects.hpp"

#include <fmt/format.h>

#include <set>

#include "base/error.hpp"
#include "studies/sweep/exploration.hpp"
#include "studies/sweep/plan.hpp"
#include "tb/device/workload.hpp"

namespace heddle::studies {

std::vector<ReviewSubject> read_review_subjects(const std::vector<std::string>& names) {
  std::vector<ReviewSubject> subjects;
  std::set<std::string> named;
  for (const std::string& name : names) {
    if (!named.insert(name).second) {
      throw InputError({"--workloads"}, fmt::format("{} is named twice", name));
    }
    if (name.ends_with(".trace")) {
      throw InputError({"--workloads"},
                       fmt::format("'{}' is a recorded trace: a review runs workloads and launch files", name),
                       "heddle compare sets replays beside each other");
    }
    if (sweep::is_launch_file(name)) {
      subjects.push_back({name, sweep::read_launch_facts(name).digest});
    } else {
      static_cast<void>(tb::make_workload(name, {}));
      subjects.push_back({name, {}});
    }
  }
  return subjects;
}

}  // namespace heddle::studies
