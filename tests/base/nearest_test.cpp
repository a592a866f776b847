#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(EditDistance, CountsInsertDeleteReplaceAndSwap) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("warp_size", "warp_size"), 0U);
  EXPECT_EQ(edit_distance("warp_sise", "warp_size"), 1U);
  EXPECT_EQ(edit_distance("wrap_size", "warp_size"), 1U);  // a swap of neighbours
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // swapped letters are not edited again
}

TEST(Nearest, TakesTheSmallestDistanceAndTheFirstAmongEquals) {
  EXPECT_EQ(nearest("warp_sise", {"threads", "warp_size", "warp_width"}), "warp_size");
  EXPECT_EQ(nearest("bar", {"car", "far"}), "car");
}

TEST(Nearest, AllowsTwoEditsOrAThirdOfTheWordAndNoMore) {
  EXPECT_EQ(nearest("abcdef", {"abcdxy"}), "abcdxy");            // 2 of 6
  EXPECT_EQ(nearest("abcdef", {"abcxyz"}), std::nullopt);        // 3 of 6
  EXPECT_EQ(nearest("abcdefghi", {"abcdefxyz"}), "abcdefxyz");   // 3 of 9
  EXPECT_EQ(nearest("abcdefghi", {"abcdewxyz"}), std::nullopt);  // 4 of 9
  EXPECT_EQ(nearest("abcde", {"abcxy"}), "abcxy");               // 2 of 5
  EXPECT_EQ(nearest("fish", {"bash"}), std::nullopt);            // 2 of 4: another word
  EXPECT_EQ(nearest("abc", {"axc"}), "axc");
  EXPECT_EQ(nearest("abc", {"axy"}), std::nullopt);  // short words: one edit
}

TEST(Nearest, IgnoresCaseAndDashes) {
  EXPECT_EQ(nearest("Round_Robin", {"round-robin"}), "round-robin");
}

TEST(Nearest, RefusesEmptyAndEndlessWords) {
  EXPECT_EQ(nearest("", {"a"}), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'a'), {std::string(64, 'a')}), std::nullopt);
}

TEST(Suggest, FallsBackToTheOtherText) {
  EXPECT_EQ(suggest("demmo", {"demo", "run"}, "known: demo, run"), "did you mean 'demo'?");
  EXPECT_EQ(suggest("xyzzy", {"demo", "run"}, "known: demo, run"), "known: demo, run");
}

}  // namespace
}  // namespace heddle
