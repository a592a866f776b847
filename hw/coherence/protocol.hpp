// How private caches and the slices of a shared one treat lines: a coherence protocol is a transition table per kind of
// controller (hw/coherence/transition_table.hpp). One file that registers itself. No SystemC.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/registry.hpp"
#include "hw/coherence/home_table.hpp"
#include "hw/coherence/transition_table.hpp"
#include "hw/parameters/policy.hpp"

namespace heddle::hw {

struct CacheParameters;

// A core's data cache, its instruction cache, the store of a slice of the shared L2.
enum class CacheRole : std::uint8_t { l1, instruction, l2 };
// What a cache does with stores; `none`: it keeps nothing, and every access goes to memory.
enum class Caching : std::uint8_t { write_back, write_through, none };
[[nodiscard]] Caching caching_of(const CacheParameters& parameters);

class CoherenceProtocol {
 public:
  struct Setup {
    // DataCacheParameters::merge_reads. A protocol that cannot do without says so in its traits.
    bool merge_reads = true;
  };
  // What a protocol promises (hw/parameters/policy.hpp).
  struct Traits {
    // A core's stores are seen through the private write-back caches of other cores.
    bool coherent = false;
    // Write-back L1s of several cores see each other's stores when a launch has ended, and not before: a launch within
    // which a core needs another one's is a fault at its end (hw/state/launch_bytes.hpp).
    bool meets_at_end = false;
    // An L1 may read a line again that is under way to it.
    bool separate_reads = false;
  };
  using About = PolicyAbout<Traits, CorePolicies>;
  virtual ~CoherenceProtocol() = default;
  // The complete table of such a controller. Throws InternalError when the protocol has none.
  [[nodiscard]] virtual TransitionTable table(CacheRole role, Caching caching) const = 0;
  // That of the lines' homes, the slices of the L2; none: they are no homes.
  [[nodiscard]] virtual std::optional<HomeTable> home() const { return std::nullopt; }
};

// A protocol's table for a cache with these parameters.
[[nodiscard]] TransitionTable coherence_table(const std::string& protocol, CacheRole role,
                                              const CacheParameters& parameters, bool merge_reads = true);

[[nodiscard]] std::optional<HomeTable> home_table_of(const std::string& protocol);

}  // namespace heddle::hw
