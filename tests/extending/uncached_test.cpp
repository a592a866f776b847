// An example of docs/extending.md: a coherence protocol.
#include <gtest/gtest.h>

#include "hw/coherence/protocol.hpp"

namespace heddle::hw {
namespace {

TEST(Uncached, KeepsNothing) {
  const auto protocol = Registry<CoherenceProtocol>::instance().make("uncached", {});
  EXPECT_EQ(protocol->table(CacheRole::instruction, Caching::none).text(),
            "absent load: fetch_once -> absent\n"
            "absent bypass: fetch_once -> absent\n"
            "absent recall: - -> absent\n");
  EXPECT_EQ(protocol->table(CacheRole::l1, Caching::none).text(),
            "absent load: fetch_once -> absent\n"
            "absent bypass: fetch_once -> absent\n"
            "absent store: write_through -> absent\n"
            "absent store_line: write_through -> absent\n"
            "absent atomic: forward -> absent\n"
            "absent recall: - -> absent\n");
}

}  // namespace
}  // namespace heddle::hw
