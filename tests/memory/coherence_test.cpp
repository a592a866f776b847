// Coherence protocols as tables: what stands in the tables of `none`, pair by pair; that nothing is missing in a table
// and nothing contradicts itself; and, over every sequence of events that a line can see, that no store is lost, no
// load is answered with an old value, and memory lacks nothing where the table says so. No SystemC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "hw/coherence/protocol.hpp"

namespace heddle::hw {
namespace {

using enum LineEvent;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TransitionTable table_of(const std::string& protocol, CacheRole role, Caching caching) {
  return Registry<CoherenceProtocol>::instance().make(protocol, {})->table(role, caching);
}

// ---- what stands in the tables of `none`

constexpr const char* kReads =  // of clean lines, without what depends on the role
    "absent load: fetch -> asked\n"
    "absent bypass: fetch -> asked\n";

TEST(NoCoherence, AnInstructionCacheReads) {
  EXPECT_EQ(table_of("none", CacheRole::instruction, Caching::write_through).text(),
            std::string(kReads) +
                "absent recall: - -> absent\n"
                "clean load: answer -> clean\n"
                "clean bypass: drop fetch -> asked\n"
                "clean replace: - -> absent\n"
                "clean recall: drop -> absent\n"
                "clean flush: drop -> absent\n"
                "asked load: merge -> asked\n"
                "asked bypass: merge -> asked\n"
                "asked departed: - -> coming\n"
                "asked recall: mark -> asked\n"
                "coming load: merge -> coming\n"
                "coming bypass: close fetch -> asked\n"
                "coming fill: install -> clean\n"
                "coming fail: - -> absent\n"
                "coming recall: mark -> coming\n");
}

TEST(NoCoherence, AWriteThroughL1SendsStoresAndAtomicsOn) {
  EXPECT_EQ(table_of("none", CacheRole::l1, Caching::write_through).text(),
            std::string(kReads) +
                "absent store: write_through -> absent\n"
                "absent store_line: write_through -> absent\n"
                "absent atomic: forward -> absent\n"
                "absent recall: - -> absent\n"
                "clean load: answer -> clean\n"
                "clean bypass: drop fetch -> asked\n"
                "clean store: write write_through -> clean\n"
                "clean store_line: write write_through -> clean\n"
                "clean atomic: drop forward -> absent\n"
                "clean replace: - -> absent\n"
                "clean recall: drop -> absent\n"
                "clean flush: drop -> absent\n"
                "asked load: merge -> asked\n"
                "asked bypass: merge -> asked\n"
                "asked store: merge write_through -> asked\n"
                "asked store_line: merge write_through -> asked\n"
                "asked atomic: close forward -> absent\n"
                "asked departed: - -> coming\n"
                "asked recall: mark -> asked\n"
                "coming load: merge -> coming\n"
                "coming bypass: close fetch -> asked\n"
                "coming store: merge write_through -> coming\n"
                "coming store_line: merge write_through -> coming\n"
                "coming atomic: close forward -> absent\n"
                "coming fill: install -> clean\n"
                "coming fail: - -> absent\n"
                "coming recall: mark -> coming\n");
}

constexpr const char* kDirtyReads =
    "dirty replace: write_back -> absent\n"
    "dirty recall: write_back drop -> absent\n"
    "dirty flush: write_back drop -> absent\n"
    "asked_dirty load: merge -> asked_dirty\n"
    "asked_dirty bypass: merge -> asked_dirty\n"
    "asked_dirty store: merge -> asked_dirty\n"
    "asked_dirty store_line: merge -> asked_dirty\n"
    "asked_dirty atomic: wait -> asked_dirty\n"
    "asked_dirty departed: - -> coming_dirty\n"
    "asked_dirty recall: mark -> asked_dirty\n"
    "coming_dirty load: merge -> coming_dirty\n"
    "coming_dirty bypass: wait -> coming_dirty\n"
    "coming_dirty store: merge -> coming_dirty\n"
    "coming_dirty store_line: merge -> coming_dirty\n"
    "coming_dirty atomic: wait -> coming_dirty\n"
    "coming_dirty fill: install -> dirty\n"
    "coming_dirty fail: - -> absent\n"
    "coming_dirty recall: mark -> coming_dirty\n";

TEST(NoCoherence, AWriteBackL1KeepsStores) {
  EXPECT_EQ(table_of("none", CacheRole::l1, Caching::write_back).text(),
            std::string(kReads) +
                "absent store: fetch -> asked_dirty\n"
                "absent store_line: install -> dirty\n"
                "absent atomic: forward -> absent\n"
                "absent recall: - -> absent\n"
                "clean load: answer -> clean\n"
                "clean bypass: drop fetch -> asked\n"
                "clean store: write -> dirty\n"
                "clean store_line: write -> dirty\n"
                "clean atomic: drop forward -> absent\n"
                "clean replace: - -> absent\n"
                "clean recall: drop -> absent\n"
                "clean flush: drop -> absent\n"
                "asked load: merge -> asked\n"
                "asked bypass: merge -> asked\n"
                "asked store: merge -> asked_dirty\n"
                "asked store_line: merge -> asked_dirty\n"
                "asked atomic: close forward -> absent\n"
                "asked departed: - -> coming\n"
                "asked recall: mark -> asked\n"
                "coming load: merge -> coming\n"
                "coming bypass: close fetch -> asked\n"
                "coming store: merge -> coming_dirty\n"
                "coming store_line: merge -> coming_dirty\n"
                "coming atomic: close forward -> absent\n"
                "coming fill: install -> clean\n"
                "coming fail: - -> absent\n"
                "coming recall: mark -> coming\n"
                "dirty load: answer -> dirty\n"
                "dirty bypass: write_back drop fetch -> asked\n"
                "dirty store: write -> dirty\n"
                "dirty store_line: write -> dirty\n"
                "dirty atomic: write_back drop forward -> absent\n" +
                kDirtyReads);
}

// What a slice does otherwise: it notes who has copies, and a write-back one performs atomics.
TEST(NoCoherence, AnL2SliceKeepsSharersAndStepsAtomics) {
  const auto lines_of = [](CacheRole role, Caching caching) {
    std::set<std::string> lines;
    std::istringstream in(table_of("none", role, caching).text());
    for (std::string line; std::getline(in, line);) {
      lines.insert(line);
    }
    return lines;
  };
  const auto beyond = [&](Caching caching) {
    const std::set<std::string> l1 = lines_of(CacheRole::l1, caching);
    std::vector<std::string> other;
    for (const std::string& line : lines_of(CacheRole::l2, caching)) {
      if (l1.count(line) == 0) {
        other.push_back(line);
      }
    }
    return other;
  };
  EXPECT_THAT(
      beyond(Caching::write_back),
      ElementsAre("absent atomic: fetch -> asked_dirty", "asked atomic: merge -> asked_dirty",
                  "asked_dirty atomic: merge -> asked_dirty", "clean atomic: step -> dirty",
                  "clean bypass: recall_sharers drop fetch -> asked", "clean load: answer note_sharer -> clean",
                  "clean replace: recall_sharers -> absent", "coming atomic: merge -> coming_dirty",
                  "coming_dirty atomic: merge -> coming_dirty", "dirty atomic: step -> dirty",
                  "dirty bypass: write_back recall_sharers drop fetch -> asked",
                  "dirty load: answer note_sharer -> dirty", "dirty replace: write_back recall_sharers -> absent"));
  EXPECT_THAT(beyond(Caching::write_through),
              ElementsAre("clean atomic: recall_sharers drop forward -> absent",
                          "clean bypass: recall_sharers drop fetch -> asked", "clean load: answer note_sharer -> clean",
                          "clean replace: recall_sharers -> absent"));
}

TEST(NoCoherence, WithoutACacheEverythingGoesToMemory) {
  EXPECT_EQ(table_of("none", CacheRole::l1, Caching::none).text(),
            "absent load: fetch_once -> absent\n"
            "absent bypass: fetch_once -> absent\n"
            "absent store: write_through -> absent\n"
            "absent store_line: write_through -> absent\n"
            "absent atomic: forward -> absent\n"
            "absent recall: - -> absent\n");
  EXPECT_EQ(table_of("none", CacheRole::instruction, Caching::none).text(),
            "absent load: fetch_once -> absent\n"
            "absent bypass: fetch_once -> absent\n"
            "absent recall: - -> absent\n");
  EXPECT_THROW(static_cast<void>(table_of("none", CacheRole::l2, Caching::none)), InternalError);
}

// ---- tables in general

struct Kind {
  const char* name;
  CacheRole role;
  Caching caching;
};
constexpr Kind kKinds[] = {{"l1_back", CacheRole::l1, Caching::write_back},
                           {"l1_through", CacheRole::l1, Caching::write_through},
                           {"l1_off", CacheRole::l1, Caching::none},
                           {"instruction", CacheRole::instruction, Caching::write_through},
                           {"instruction_off", CacheRole::instruction, Caching::none},
                           {"l2_back", CacheRole::l2, Caching::write_back},
                           {"l2_through", CacheRole::l2, Caching::write_through}};

// Of every registered protocol.
template <class Visit>
void each_table(Visit visit) {
  for (const auto& [name, entry] : Registry<CoherenceProtocol>::instance().entries()) {
    for (const Kind& kind : kKinds) {
      if (entry.about.traits.coherent && kind.role != CacheRole::instruction && kind.caching != Caching::write_back) {
        continue;  // machines with such caches are refused
      }
      SCOPED_TRACE(std::string(name) + " " + kind.name);
      visit(table_of(std::string(name), kind.role, kind.caching));
    }
  }
}

TEST(Coherence, TablesAreCompleteAndContradictNothing) {
  each_table([](const TransitionTable& table) { EXPECT_THAT(table.problems(), ElementsAre()); });
}

TEST(Coherence, AnUnexpectedPairIsAnErrorThatNamesBoth) {
  unsigned unexpected = 0;
  each_table([&](const TransitionTable& table) {
    for (std::size_t state = 0; state != table.states(); ++state) {
      for (std::size_t event = 0; event != kLineEventNames.size(); ++event) {
        const auto at = static_cast<LineState>(state);
        const auto what = static_cast<LineEvent>(event);
        if (table.can_happen(at, what)) {
          EXPECT_NO_THROW(static_cast<void>(table.at(at, what)));
          continue;
        }
        ++unexpected;
        try {
          static_cast<void>(table.at(at, what));
          ADD_FAILURE() << table.info(at).name << ' ' << name_of(what);
        } catch (const InternalError& error) {
          EXPECT_THAT(error.what(), HasSubstr("state " + std::string(table.info(at).name) + ", event " +
                                              std::string(name_of(what)) + ": cannot happen"));
        }
      }
    }
  });
  EXPECT_GT(unexpected, 0U);
  const TransitionTable table = table_of("none", CacheRole::instruction, Caching::write_through);
  try {
    static_cast<void>(table.at(1, store));
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "coherence protocol none, instruction cache: state clean, event store: cannot happen");
  }
}

TransitionTable small() {
  return {"small",
          "L1",
          {{"out", LinePlace::absent},
           {"in", LinePlace::here},
           {"mine", LinePlace::here, true},
           {"wanted", LinePlace::asked, false},
           {"wanted_mine", LinePlace::asked, true}}};
}

TEST(Coherence, AMissingPairIsFound) {
  TransitionTable table = table_of("none", CacheRole::l1, Caching::write_back);
  EXPECT_NO_THROW(static_cast<void>(table.checked()));
  TransitionTable empty("small", "L1", {{"out", LinePlace::absent}});
  EXPECT_EQ(empty.problems().size(), kEventsOfEveryCache);
  EXPECT_EQ(empty.problems().front(), "coherence protocol small, L1: state out, event load: is not in the table");
  EXPECT_THROW(static_cast<void>(empty.checked()), InternalError);
  empty.on(0, {load, bypass, store, store_line, atomic, recall}, 0, 0).never(0, {departed, fill, fail, replace});
  EXPECT_THAT(empty.problems(),
              ElementsAre("coherence protocol small, L1: state out, event flush: is not in the table"));
  EXPECT_NO_THROW(static_cast<void>(empty.never(0, {flush}).checked()));
}

TEST(Coherence, APairStandsInATableOnce) {
  TransitionTable table = small();
  table.on(0, {load}, kFetch, 3);
  try {
    table.never(0, {load});
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "coherence protocol small, L1: state out, event load: stands in the table twice");
  }
  EXPECT_THROW(TransitionTable("small", "L1", {{"in", LinePlace::here}}), InternalError);
}

TEST(Coherence, ActionsFitTheirStates) {
  const auto problem = [](LineState from, LineEvent event, LineActions actions, LineState next) {
    TransitionTable table = small();
    table.on(from, {event}, actions, next);
    for (const std::string& found : table.problems()) {
      if (found.find("is not in the table") == std::string::npos) {
        return found.substr(found.rfind(": ") + 2);
      }
    }
    return std::string();
  };
  EXPECT_EQ(problem(0, load, kFetch, 3), "");
  EXPECT_EQ(problem(0, load, kFetch, 9), "leads to a state that the table does not have");
  EXPECT_EQ(problem(0, load, kAnswer, 0), "needs the line here");
  EXPECT_EQ(problem(0, load, kMerge, 0), "needs the line under way");
  EXPECT_EQ(problem(0, load, 0, 3), "waits for a line that nobody fetches");
  EXPECT_EQ(problem(0, load, kFetch, 0), "fetches a line, which is not asked for then");
  EXPECT_EQ(problem(0, store_line, 0, 2), "has a line without a frame");
  EXPECT_EQ(problem(0, store_line, kInstall, 0), "installs a line that is not to be here");
  EXPECT_EQ(problem(1, recall, kDrop, 1), "drops a line that stays");
  EXPECT_EQ(problem(1, recall, 0, 0), "leaves a line's frame in use");
  EXPECT_EQ(problem(2, recall, kDrop, 0), "loses what memory lacks");
  EXPECT_EQ(problem(2, recall, kWriteBack | kDrop, 0), "");
  EXPECT_EQ(problem(3, load, kMerge, 0), "forgets a line under way");
  EXPECT_EQ(problem(4, load, kMerge, 3), "loses a store that was merged");
  EXPECT_EQ(problem(3, atomic, kWait, 0), "waits, and something happens");
  EXPECT_EQ(problem(3, atomic, kWait, 3), "");
}

// ---- every sequence of events

// One line, of which one word matters, between a cache and memory. Values are known by whether they are the latest that
// the cache's requests have made.
struct Line {
  LineState state = kAbsent;
  bool memory = true;   // memory has the latest value, when everything sent has arrived there
  bool copy = false;    // the line here has it
  bool read = false;    // so will the line that is under way
  bool merged = false;  // a store or atomic waits that makes the line the latest when it comes
  bool marked = false;
  [[nodiscard]] auto key() const { return std::tie(state, memory, copy, read, merged, marked); }
  friend bool operator<(const Line& a, const Line& b) { return a.key() < b.key(); }
};

class Explorer {
 public:
  explicit Explorer(const TransitionTable& table) : table_(table) {}
  void explore() {
    std::vector<Line> left = {{}};
    seen.insert(left.front());
    while (!left.empty() && !::testing::Test::HasFailure()) {
      const Line line = left.back();
      left.pop_back();
      for (std::size_t event = 0; event != kLineEventNames.size(); ++event) {
        if (const auto what = static_cast<LineEvent>(event); table_.can_happen(line.state, what)) {
          const Line next = after(line, what);
          if (seen.insert(next).second) {
            left.push_back(next);
          }
        }
      }
    }
  }
  std::set<Line> seen;

 private:
  Line after(Line line, LineEvent event) {
    const LineStateInfo& from = table_.info(line.state);
    const Transition transition = table_.at(line.state, event);
    SCOPED_TRACE(std::string(from.name) + " " + std::string(name_of(event)));
    const bool changes = event == store || event == store_line || event == atomic;
    if (transition.does(kWait)) {
      EXPECT_NE(from.place, LinePlace::here) << "nothing will come that ends it";
      return line;
    }
    if (transition.does(kWriteBack)) {
      EXPECT_TRUE(line.copy);
      line.memory = true;
    }
    if (transition.does(kAnswer)) {
      EXPECT_TRUE(line.copy) << "an old value";
      EXPECT_NE(event, bypass);
    }
    if (event == bypass && transition.does(kMerge)) {
      EXPECT_EQ(from.place, LinePlace::asked) << "that read has left before";
    }
    if (transition.does(kForward)) {
      EXPECT_TRUE(line.memory) << "the atomic does not see an earlier store";
    }
    if (transition.does(kStep)) {
      EXPECT_TRUE(line.copy);
    }
    if (transition.does(kClose)) {
      EXPECT_FALSE(line.merged && !line.memory) << "a store is lost";
      line.read = line.merged = line.marked = false;
    }
    if (transition.does(kFetch)) {  // what is sent later arrives later
      line.read = line.memory;
    }
    if (changes) {  // the latest value is this one, and no copy has it but where it goes
      line.memory = transition.does(kForward | kWriteThrough);
      line.copy = transition.does(kWrite | kStep | (event == store_line ? kInstall : kWait));
      line.merged = transition.does(kMerge | kFetch);
      line.read = false;
    }
    if (event == fill) {
      line.copy = line.merged || line.read;
      EXPECT_TRUE(line.copy) << "the line that comes is old, and a load may wait for it";
      line.merged = line.read = false;
    }
    if (event == fail) {  // told to the user: what was merged is lost
      line.memory = true;
      line.merged = line.read = line.marked = false;
    }
    line.marked = line.marked || transition.does(kMark);
    line.state = transition.next;
    const LineStateInfo& to = table_.info(line.state);
    if (to.place != LinePlace::here) {
      line.copy = false;
    }
    EXPECT_TRUE(line.memory || to.owes) << "memory lacks what the state does not say";
    EXPECT_EQ(transition.does(kNoteSharer) && !transition.does(kAnswer), false);
    if (event == fill && line.marked) {
      line.marked = false;
      line = after(line, recall);
      EXPECT_EQ(table_.info(line.state).place, LinePlace::absent);
    }
    return line;
  }

  const TransitionTable& table_;
};

TEST(Coherence, OverAllSequencesOfEventsNothingIsLostOrOld) {
  each_table([](const TransitionTable& table) {
    if (table.has_home()) {
      return;  // what its events mean depends on the home: protocol_search.hpp
    }
    Explorer explorer(table);
    explorer.explore();
    std::set<LineState> reached;
    for (const Line& line : explorer.seen) {
      reached.insert(line.state);
    }
    EXPECT_EQ(reached.size(), table.states()) << "states that nothing leads to";
  });
}

}  // namespace
}  // namespace heddle::hw
