#include "tlm/signal_catalogue.hpp"

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace heddle::link {

std::string_view name_of(SignalKind kind) {
  switch (kind) {
    case SignalKind::number:
      return "number";
    case SignalKind::boolean:
      return "boolean";
    case SignalKind::enumeration:
      return "enumeration";
    case SignalKind::mask:
      return "mask";
    case SignalKind::address:
      return "address";
  }
  return "";
}

SignalGroup signal_group(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kSignalGroups.size(); ++i) {
    if (kSignalGroups[i].name == name) {
      return static_cast<SignalGroup>(i);
    }
    names.emplace_back(kSignalGroups[i].name);
  }
  throw InputError({"--signals"}, "there is no signal group '" + std::string(name.substr(0, 80)) + "'",
                   suggest(name, names, "groups: " + join(names)));
}

}  // namespace heddle::link
