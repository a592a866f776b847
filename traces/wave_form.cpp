#include "traces/wave_form.hpp"

#include <fmt/format.h>

#include <map>

namespace heddle::traces {

WaveScope WaveScope::of(const std::vector<WaveForm::Variable>& variables) {
  WaveScope top;
  std::map<std::pair<const WaveScope*, std::string>, WaveScope*> known;
  for (std::size_t number = 0; number != variables.size(); ++number) {
    const std::string& name = variables[number].name;
    WaveScope* scope = &top;
    std::size_t begin = 0;
    for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', begin)) {
      WaveScope*& next = known[{scope, name.substr(begin, dot - begin)}];
      if (next == nullptr) {
        scope->inner.emplace_back(name.substr(begin, dot - begin), std::make_unique<WaveScope>());
        next = scope->inner.back().second.get();
      }
      scope = next;
      begin = dot + 1;
    }
    scope->variables.emplace_back(name.substr(begin), number);
  }
  return top;
}

std::string name_with_bits(const std::string& name, const WaveForm::Variable& variable) {
  return variable.width > 1 && variable.type == WaveForm::Type::wire
             ? fmt::format("{} [{}:0]", name, variable.width - 1)
             : name;
}

}  // namespace heddle::traces
