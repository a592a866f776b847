// Every access goes on to the next level, and nothing is kept.
#include "hw/coherence/protocol.hpp"

namespace heddle::hw {

namespace {

class Uncached final : public CoherenceProtocol {
 public:
  explicit Uncached(const Setup&) {}

  [[nodiscard]] TransitionTable table(CacheRole role, Caching) const override {
    using enum LineEvent;
    TransitionTable table("uncached", role == CacheRole::instruction ? "instructions" : "data",
                          {{"absent", LinePlace::absent, false}});
    table.on(kAbsent, {load, bypass}, kFetchOnce, kAbsent)
        .on(kAbsent, {recall}, 0, kAbsent)
        .never(kAbsent, {departed, fill, fail, replace, flush});
    if (role == CacheRole::instruction) {
      table.never(kAbsent, {store, store_line, atomic});
    } else {
      table.on(kAbsent, {store, store_line}, kWriteThrough, kAbsent).on(kAbsent, {atomic}, kForward, kAbsent);
    }
    return table.checked();
  }
};

const Register<CoherenceProtocol, Uncached> uncached_entry{"uncached", "nothing is kept anywhere"};

}  // namespace

}  // namespace heddle::hw
