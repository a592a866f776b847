#include "hw/coherence/protocol.hpp"

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

Caching caching_of(const CacheParameters& parameters) {
  if (!parameters.enabled) {
    return Caching::none;
  }
  return parameters.write_policy == "write-through" ? Caching::write_through : Caching::write_back;
}

TransitionTable coherence_table(const std::string& protocol, CacheRole role, const CacheParameters& parameters,
                                bool merge_reads) {
  return Registry<CoherenceProtocol>::instance()
      .make(protocol, {.merge_reads = merge_reads})
      ->table(role, caching_of(parameters));
}

std::optional<HomeTable> home_table_of(const std::string& protocol) {
  return Registry<CoherenceProtocol>::instance().make(protocol, {})->home();
}

}  // namespace heddle::hw
