// A core's constant cache: a read-only Cache that loads of constants and of kernel parameters go through
// (hw/core/memory/constant_path.hpp), with the table of the role `instruction`, which is for lines that do not change
// while a kernel runs. Invalidated where a launch begins. A sub-core's own one before it is an L0Cache without
// prefetching (hw/cache/l0_cache.hpp).
//
//   ConstantCache(name, parameters, clock, core, core_waker, coherence protocol)
//
// Lines may be shorter than those of the L1, which the memory channels transfer.
#pragma once

#include "hw/cache/cache.hpp"

namespace heddle::hw {

class ConstantCache final : public Cache {
 public:
  ConstantCache(const sc_core::sc_module_name& name, const ConstantCacheParameters& parameters, link::Clock clock,
                unsigned core, link::Waker& core_waker, const std::string& protocol)
      : Cache(name, parameters.cache(), coherence_table(protocol, CacheRole::instruction, parameters.cache()), clock,
              core_waker),
        core_(core) {}

 private:
  void describe(const LineRequest& request, link::MemoryExtension& extension) const override {
    describe_core(request, core_, false, extension);
  }
  const unsigned core_;
};

}  // namespace heddle::hw
