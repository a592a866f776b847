// The tables of mesi against every interleaving of small systems (protocol_search.hpp): nothing is wrong, and every row
// is used. And that this finds what is wrong: with one row changed it does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hw/coherence/protocol.hpp"
#include "protocol_search.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("MesiSearch.TwoCachesAndTwo*")

namespace heddle::hw::test {
namespace {

std::unique_ptr<CoherenceProtocol> mesi_protocol() {
  return Registry<CoherenceProtocol>::instance().make("mesi", {});
}

TransitionTable mesi_l1() {
  return mesi_protocol()->table(CacheRole::l1, Caching::write_back);
}

HomeTable mesi_home() {
  return *mesi_protocol()->home();
}

LineState line_state(const TransitionTable& table, std::string_view name) {
  LineState state = 0;
  while (table.info(state).name != name) {
    ++state;
  }
  return state;
}

HomeState home_state(const HomeTable& table, std::string_view name) {
  HomeState state = 0;
  while (table.info(state).name != name) {
    ++state;
  }
  return state;
}

SearchResult search_mesi(const SearchSystem& system) {
  const SearchResult result = search(mesi_l1(), mesi_home(), system);
  EXPECT_EQ(result.problem, "");
  ::testing::Test::RecordProperty("states", static_cast<int>(result.states));
  return result;
}

TEST(MesiSearch, TwoCachesAndALine) {
  EXPECT_GT(search_mesi({.caches = 2}).states, 1000U);
}

TEST(MesiSearch, ThreeCachesAndALineUseEveryRow) {
  const SearchResult result = search_mesi({.caches = 3});
  const TransitionTable l1 = mesi_l1();
  for (LineState state = 0; state != l1.states(); ++state) {
    for (std::size_t event = 0; event != kLineEventNames.size(); ++event) {
      const auto what = static_cast<LineEvent>(event);
      EXPECT_EQ(result.line_rows.count({state, what}), l1.can_happen(state, what) ? 1U : 0U)
          << l1.info(state).name << ' ' << name_of(what);
    }
  }
  const HomeTable home = mesi_home();
  for (HomeState state = 0; state != home.states(); ++state) {
    for (std::size_t event = 0; event != kHomeEventNames.size(); ++event) {
      const auto what = static_cast<HomeEvent>(event);
      EXPECT_EQ(result.home_rows.count({state, what}), home.can_happen(state, what) ? 1U : 0U)
          << home.info(state).name << ' ' << name_of(what);
    }
  }
}

TEST(MesiSearch, AHomeThatTakesOneRequest) {
  search_mesi({.caches = 3, .queue = 1, .failures = false});
}

TEST(MesiSearch, TwoCachesAndTwoLines) {
  search_mesi({.caches = 2, .lines = 2, .queue = 1, .mshrs = 1, .puts = 1, .failures = false, .recalls = false});
}

class LongSearch : public ::testing::TestWithParam<SearchSystem> {};

TEST_P(LongSearch, FindsNothing) {
  search_mesi(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Long, LongSearch,
                         ::testing::Values(SearchSystem{.caches = 2, .lines = 2, .queue = 2, .mshrs = 1}));

// ---- tables with a fault

struct Fault {
  const char* name;
  bool of_home;
  const char* state;
  int event;
  std::uint32_t actions;
  const char* next;
};

class FaultyMesi : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultyMesi, IsFound) {
  const Fault& fault = GetParam();
  TransitionTable l1 = mesi_l1();
  HomeTable home = mesi_home();
  if (fault.of_home) {
    home = home.with(home_state(home, fault.state), static_cast<HomeEvent>(fault.event), fault.actions,
                     home_state(home, fault.next));
  } else {
    l1 = l1.with(line_state(l1, fault.state), static_cast<LineEvent>(fault.event), fault.actions,
                 line_state(l1, fault.next));
  }
  std::string problem;
  for (const unsigned caches : {2U, 3U}) {
    if (problem.empty()) {
      problem = search(l1, home, {.caches = caches, .puts = 2}).problem;
    }
  }
  EXPECT_NE(problem, "");
  EXPECT_EQ(problem.find("more states"), std::string::npos);
  ::testing::Test::RecordProperty("problem", problem);
}

constexpr Fault line_fault(const char* name, const char* state, LineEvent event, LineActions actions,
                           const char* next) {
  return {name, false, state, static_cast<int>(event), actions, next};
}
constexpr Fault home_fault(const char* name, const char* state, HomeEvent event, HomeActions actions,
                           const char* next) {
  return {name, true, state, static_cast<int>(event), actions, next};
}

INSTANTIATE_TEST_SUITE_P(
    Each, FaultyMesi,
    ::testing::Values(line_fault("a_copy_outlives_its_invalidation", "S", LineEvent::invalidate, kAcknowledge, "S"),
                      line_fault("an_invalidation_is_not_answered", "IM", LineEvent::invalidate, 0, "IM"),
                      line_fault("an_invalidation_that_overtakes_is_forgotten", "IS", LineEvent::invalidate,
                                 kAcknowledge, "IS"),
                      line_fault("a_store_behind_a_read_is_forgotten", "IS_M", LineEvent::fill, 0, "I"),
                      line_fault("a_store_goes_into_a_copy", "IS_M", LineEvent::fill, kInstall, "M"),
                      line_fault("an_overtaken_copy_is_kept", "IS_I", LineEvent::fill, kInstall, "S"),
                      line_fault("a_load_joins_an_overtaken_copy", "IS_I", LineEvent::load, kMerge, "IS_I"),
                      line_fault("a_store_into_a_copy", "S", LineEvent::store, kWrite, "M"),
                      line_fault("an_owner_keeps_writing", "M", LineEvent::give_share, kGive, "M"),
                      line_fault("an_owner_gives_no_bytes", "M", LineEvent::give_up, kAcknowledge | kDrop, "I"),
                      line_fault("an_owner_leaves_silently", "E", LineEvent::replace, 0, "I"),
                      line_fault("a_put_that_crosses_gives_no_bytes", "MI", LineEvent::give_up, kAcknowledge, "II"),
                      line_fault("a_load_overtakes_a_put", "MI", LineEvent::load, kFetch, "IS_asked"),
                      line_fault("a_message_overtakes_the_line", "IM", LineEvent::give_up, kAcknowledge, "IM"),
                      line_fault("a_message_stalls_for_ever", "MI", LineEvent::give_up, kStall, "MI"),
                      home_fault("no_invalidations", "S", HomeEvent::own, kRead, "U_X"),
                      home_fault("a_recall_leaves_copies", "S", HomeEvent::recall, kForget, "U"),
                      home_fault("an_owner_is_not_asked", "X", HomeEvent::share, kShare, "S"),
                      home_fault("the_owner_is_no_sharer", "X_S", HomeEvent::kept, kTake | kForget | kAgain, "S"),
                      home_fault("a_put_is_lost", "X", HomeEvent::put, kForget | kPutDone, "U"),
                      home_fault("a_late_put_is_taken", "X", HomeEvent::put_late, kForget | kPutDone, "U"),
                      home_fault("a_put_is_not_answered", "U", HomeEvent::put_late, 0, "U"),
                      home_fault("a_request_is_forgotten", "S_U", HomeEvent::last_acked, kForget, "U"),
                      home_fault("the_owners_bytes_are_not_taken", "X_U", HomeEvent::gone, kForget | kAgain, "U"),
                      home_fault("nobody_owns", "U_X", HomeEvent::filled, 0, "U")),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace heddle::hw::test
