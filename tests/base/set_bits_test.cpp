#include "base/set_bits.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

namespace heddle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class Mask>
std::vector<unsigned> bits_of(Mask mask) {
  std::vector<unsigned> bits;
  for (const unsigned bit : set_bits(mask)) {
    bits.push_back(bit);
  }
  return bits;
}

TEST(SetBits, AreNumberedFromTheLowestOn) {
  EXPECT_THAT(bits_of(0U), IsEmpty());
  EXPECT_THAT(bits_of(1U), ElementsAre(0));
  EXPECT_THAT(bits_of(0b1010'0110U), ElementsAre(1, 2, 5, 7));
}

// The highest bit of each width, where a mask of another width would lose it or find bits that are not there.
TEST(SetBits, OfEveryWidth) {
  EXPECT_THAT(bits_of(std::uint8_t{0x81}), ElementsAre(0, 7));
  EXPECT_THAT(bits_of(std::uint16_t{0x8001}), ElementsAre(0, 15));
  EXPECT_THAT(bits_of(std::uint32_t{0x8000'0001}), ElementsAre(0, 31));
  EXPECT_THAT(bits_of(std::uint64_t{0x8000'0001'0000'0000}), ElementsAre(32, 63));
  EXPECT_EQ(bits_of(~std::uint64_t{0}).size(), 64U);
}

TEST(SetBits, AreThoseThatWereSetWhenTheLoopBegan) {
  std::uint32_t mask = 0b0110;
  std::vector<unsigned> seen;
  for (const unsigned bit : set_bits(mask)) {
    seen.push_back(bit);
    mask = 0b1000;
  }
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

}  // namespace
}  // namespace heddle
