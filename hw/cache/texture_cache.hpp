// A core's texture cache: a read-only Cache that texture fetches go through (hw/core/memory/texture_path.hpp), with
// the table of the role `instruction`, which is for lines that do not change while a kernel runs. Invalidated where a
// launch begins; what a launch writes to a texture's memory is seen by fetches of the next one, as in CUDA.
//
//   TextureCache(name, parameters, line bytes, clock, core, core_waker, coherence protocol)
//
// Lines are as long as those of the L1, which is what the memory channels transfer. hit_latency includes filtering.
#pragma once

#include "hw/cache/cache.hpp"

namespace heddle::hw {

class TextureCache final : public Cache {
 public:
  TextureCache(const sc_core::sc_module_name& name, const TextureCacheParameters& parameters, unsigned line_bytes,
               link::Clock clock, unsigned core, link::Waker& core_waker, const std::string& protocol)
      : Cache(name, parameters.cache(line_bytes),
              coherence_table(protocol, CacheRole::instruction, parameters.cache(line_bytes)), clock, core_waker),
        core_(core) {}

 private:
  void describe(const LineRequest& request, link::MemoryExtension& extension) const override {
    describe_core(request, core_, false, extension);
  }
  const unsigned core_;
};

}  // namespace heddle::hw
