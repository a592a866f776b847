// The waves of what a core's sub-cores share: its caches, and the unit for copies in bulk.
#include "hw/core/core.hpp"
#include "hw/waves/core_waves.hpp"

namespace heddle::hw {

void CoreWaves::describe_caches(link::SignalCatalogue& catalogue, const std::string& core) {
  catalogue.add(core + ".icache", icache_);
  catalogue.add(core + ".l1d", l1d_);
  catalogue.add(core + ".texture", texture_);
  if (constant_cache_) {
    catalogue.add(core + ".constant_cache", *constant_cache_);
  }
  if (bulk_copies_) {
    catalogue.add(core + ".bulk_copies", *bulk_copies_);
  }
}

// What is known before anything runs.
void CoreWaves::attach_caches(Core& core) {
  core.icache().observe(icache_.traced() ? &icache_ : nullptr);
  core.l1d().observe(l1d_.traced() ? &l1d_ : nullptr);
  core.texture_cache().observe(texture_.traced() ? &texture_ : nullptr);
  if (constant_cache_) {
    core.constant_cache()->observe(constant_cache_->traced() ? constant_cache_.get() : nullptr);
  }
  if (core.bulk_copies() != nullptr) {
    core.bulk_copies()->observe(bulk_copies_->traced() ? bulk_copies_.get() : nullptr);
  }
}

void CoreWaves::leave_caches(Core& core) {
  core.icache().observe(nullptr);
  core.l1d().observe(nullptr);
  core.texture_cache().observe(nullptr);
  if (core.constant_cache() != nullptr) {
    core.constant_cache()->observe(nullptr);
  }
  if (core.bulk_copies() != nullptr) {
    core.bulk_copies()->observe(nullptr);
  }
}

}  // namespace heddle::hw
