#include "hw/core/extension.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "hw/core/core.hpp"

namespace heddle::hw {

std::string CorePlace::text() const {
  std::string text = "core" + std::to_string(core) + "_" + socket;
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

std::vector<Stage*> Core::stages_with(const CoreExtension& extension) {
  std::vector<Stage*> all = {&writeback_, &memory_, &execute_, &register_read_, &decode_, &fetch_};
  const auto name_of_input = [](Stage* stage) { return stage->input() != nullptr ? stage->input()->basename() : ""; };
  for (const CoreExtension::Stage& own : extension.stages) {
    const auto before =
        std::find_if(all.begin(), all.end(), [&](Stage* at) { return own.before == name_of_input(at); });
    if (own.before.empty() || before == all.end()) {
      std::vector<std::string> names;
      std::for_each(all.rbegin() + 1, all.rend(), [&](Stage* at) { names.emplace_back(name_of_input(at)); });
      throw InputError({}, fmt::format("no stage of {} is called '{}'", name(), own.before),
                       "a stage can stand in front of " + join(names));
    }
    own_stages_.push_back(own.make(state_, clock()));
    if (own_stages_.back() == nullptr || own_stages_.back()->output() == nullptr) {
      throw InputError({}, fmt::format("the stage in front of {}.{} has no output", name(), own.before),
                       "Stage::output() is where it hands sub-warps on");
    }
    all.insert(before + 1, own_stages_.back().get());  // which the ones behind it are in front of here
  }
  return all;
}

}  // namespace heddle::hw
