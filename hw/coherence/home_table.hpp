// The protocol of a line's home as data: the slice of the shared L2 that keeps which cores have copies of it. For each
// state of a line and each event, what the home does and the line's next state; beside the table of the private caches
// (hw/coherence/transition_table.hpp). No SystemC.
//
// A line is in a stable state, in which the home takes requests, or in one in which it is busy with one of them: then
// others wait, in order. hw/cache/home.hpp performs the actions, in the order in which they stand here.
//
// Errors: InternalError, naming protocol, state and event, for a pair that has two transitions or none, and for an
// event that the table says cannot happen in a state.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::hw {

using HomeState = std::uint8_t;  // index of one of a table's states
inline constexpr HomeState kNoCopies = 0;

enum class HomeEvent : std::uint8_t {
  share,       // a cache wants a copy
  own,         // a cache wants to be the only one that has a copy
  put,         // the owner gives the line up
  put_late,    // so does a cache that has been its owner before
  recall,      // the slice wants the line's frame
  filled,      // the slice has read the line, for the request that the home is busy with
  failed,      // it could not: a bus error
  last_acked,  // every cache that was to give up its copy has
  kept,        // the owner has answered, and has a copy still
  gone         // the owner has answered, and has none
};
inline constexpr std::array<std::string_view, 10> kHomeEventNames = {
    "share", "own", "put", "put_late", "recall", "filled", "failed", "last_acked", "kept", "gone"};
[[nodiscard]] constexpr std::string_view name_of(HomeEvent event) {
  return kHomeEventNames[static_cast<std::size_t>(event)];
}

using HomeActions = std::uint32_t;
enum HomeAction : HomeActions {
  kHomeWait = 1U << 0U,       // nothing: the request waits until the home is no longer busy
  kTake = 1U << 1U,           // the bytes that came with the message go into the slice's line
  kAskOwner = 1U << 2U,       // the owner is asked to share its line (give_share)
  kTakeFromOwner = 1U << 3U,  // the owner is asked for its line (give_up)
  kInvalidate = 1U << 4U,     // every cache that may have a copy is told to give it up, but for the one that asks
  kForget = 1U << 5U,         // no cache has a copy
  kOwnerShares = 1U << 6U,    // the owner is one that may have a copy from now on
  kShare = 1U << 7U,          // the slice's line is read for who asks; it may have a copy from now on
  kRead = 1U << 8U,           // the slice's line is read, from memory if it must be, for the owner to come
  kOwner = 1U << 9U,          // who asks is the owner
  kPutDone = 1U << 10U,       // the put is answered
  kAgain = 1U << 11U          // the request that the home was busy with is the next one to be looked at
};
[[nodiscard]] std::string names_of_home(HomeActions actions);

struct HomeTransition {
  HomeActions actions = 0;
  HomeState next = kNoCopies;
  [[nodiscard]] bool does(HomeActions any) const { return (actions & any) != 0; }
};

struct HomeStateInfo {
  std::string_view name;
  bool busy = false;
};

class HomeTable {
 public:
  // The first state is that of a line of which no cache has a copy.
  HomeTable(std::string protocol, std::vector<HomeStateInfo> states);

  HomeTable& on(HomeState state, std::initializer_list<HomeEvent> events, HomeActions actions, HomeState next);
  HomeTable& never(HomeState state, std::initializer_list<HomeEvent> events);
  // Throws InternalError with the first of problems().
  const HomeTable& checked() const;
  // Pairs that are missing, and transitions that contradict their states. One sentence each.
  [[nodiscard]] std::vector<std::string> problems() const;

  [[nodiscard]] const HomeTransition& at(HomeState state, HomeEvent event) const {
    const Cell& cell = cells_[index(state, event)];
    if (cell.kind != Kind::transition) [[unlikely]] {
      unexpected(state, event);
    }
    return cell.transition;
  }
  [[nodiscard]] bool can_happen(HomeState state, HomeEvent event) const {
    return cells_[index(state, event)].kind == Kind::transition;
  }
  [[nodiscard]] const HomeStateInfo& info(HomeState state) const { return states_[state]; }
  [[nodiscard]] std::size_t states() const { return states_.size(); }
  // For tests of what a wrong table does: this table with another transition for a pair.
  [[nodiscard]] HomeTable with(HomeState state, HomeEvent event, HomeActions actions, HomeState next) const;
  // One line per pair that can happen: "S own: invalidate -> IA".
  [[nodiscard]] std::string text() const;

 private:
  enum class Kind : std::uint8_t { missing, never, transition };
  struct Cell {
    HomeTransition transition;
    Kind kind = Kind::missing;
  };
  [[nodiscard]] static std::size_t index(HomeState state, HomeEvent event) {
    return state * kHomeEventNames.size() + static_cast<std::size_t>(event);
  }
  Cell& new_cell(HomeState state, HomeEvent event);
  [[nodiscard]] std::string problem_of(HomeState from, HomeEvent event, const HomeTransition& transition) const;
  [[noreturn]] void unexpected(HomeState state, HomeEvent event) const;
  [[nodiscard]] std::string pair(HomeState state, HomeEvent event) const;

  std::string protocol_;
  std::vector<HomeStateInfo> states_;
  std::vector<Cell> cells_;
};

}  // namespace heddle::hw
