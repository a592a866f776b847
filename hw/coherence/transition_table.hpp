// A cache controller's protocol as data: for each state of a line and each event, what the controller does and the
// line's next state. No SystemC.
//
// A line is in one state at a time: absent (state 0), here (it has a frame), or under way (it has an MSHR that further
// requests may join; asked: its read waits to leave, coming: it has left). Protocols name their own states and say of
// each where the line is and whether memory lacks bytes of it. What a controller can do, the actions, and what can
// happen, the events, are the same for all (hw/cache/cache.hpp performs them, in the order in which they stand here).
//
// Errors: InternalError, naming protocol, role, state and event, for a pair that has two transitions or none, and for
// an event that the table says cannot happen in a state.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::hw {

using LineState = std::uint8_t;  // index of one of a table's states
inline constexpr LineState kAbsent = 0;

enum class LineEvent : std::uint8_t {
  load,
  bypass,      // a load that must not be answered from the cache
  store,       // of some bytes of the line
  store_line,  // of all bytes of the line
  atomic,
  departed,  // the line's read has left for memory
  fill,      // the line has come
  fail,      // memory answered its read with an error
  replace,   // its frame is wanted for another line
  recall,    // the level beyond gives the line up: no copy may stay
  flush,     // the cache is being emptied
  // Events of a cache whose lines have a home (hw/coherence/home_table.hpp). A table without any of them need not say
  // that they never happen.
  fill_own,    // the line has come, and no other cache has it
  invalidate,  // the home wants a copy to go
  give_share,  // the home wants the owner to share the line
  give_up,     // the home wants the owner's line
  put_done     // the home has taken a line that left
};
inline constexpr std::array<std::string_view, 16> kLineEventNames = {
    "load",    "bypass", "store", "store_line", "atomic",     "departed",   "fill",    "fail",
    "replace", "recall", "flush", "fill_own",   "invalidate", "give_share", "give_up", "put_done"};
inline constexpr std::size_t kEventsOfEveryCache = 11;
[[nodiscard]] constexpr std::string_view name_of(LineEvent event) {
  return kLineEventNames[static_cast<std::size_t>(event)];
}

// What a controller does, as a set. Actions that need room (an MSHR, a target of one, a place in the write buffer) make
// the request busy, and nothing happens, while there is none.
using LineActions = std::uint32_t;
enum LineAction : LineActions {
  kWait = 1U << 0U,           // nothing: the request is refused until what is under way has come (Busy::order)
  kWriteBack = 1U << 1U,      // the bytes that memory lacks go there
  kRecallSharers = 1U << 2U,  // the caches that may have copies are told to give them up (directory)
  kDrop = 1U << 3U,           // the frame is free
  kClose = 1U << 4U,          // the line under way serves who waits for it, none joins any more, and it is not kept
  kMark = 1U << 5U,           // the line under way is recalled as soon as it has come
  kAnswer = 1U << 6U,         // a load gets the line: a hit
  kNoteSharer = 1U << 7U,     // the request's core may have a copy from now on (directory)
  kWrite = 1U << 8U,          // a store's bytes go into the line: a hit
  kStep = 1U << 9U,           // an atomic's lanes are performed on the line: a hit
  kInstall = 1U << 10U,       // the line gets a frame: with the bytes that have come, or a whole line's store
  kMerge = 1U << 11U,         // the request joins the line under way
  kFetch = 1U << 12U,         // an MSHR, and a read of the line that others may join; of a fill: another read, for all
                              // from the first store on, in the MSHR that there is
  kFetchOnce = 1U << 13U,     // an MSHR, and a read that no request joins and whose line is not kept
  kForward = 1U << 14U,       // an MSHR, and the atomic goes to memory
  kWriteThrough = 1U << 15U,  // the store goes to memory
  // Of a line that has a home:
  kPut = 1U << 16U,          // the home is told that its owner gives the line up, with what it has changed
  kGive = 1U << 17U,         // the home's message is answered with the line's bytes, if they have changed
  kAcknowledge = 1U << 18U,  // the home's message is answered
  kStall = 1U << 19U         // the home's message waits for the line under way
};
// "write_back drop fetch"; "-" for none.
[[nodiscard]] std::string names_of(LineActions actions);

struct Transition {
  LineActions actions = 0;
  LineState next = kAbsent;
  [[nodiscard]] bool does(LineActions any) const { return (actions & any) != 0; }
  friend bool operator==(const Transition&, const Transition&) = default;
};

// leaving: it has no frame, and its home has not answered the put.
enum class LinePlace : std::uint8_t { absent, here, asked, coming, leaving };

struct LineStateInfo {
  std::string_view name;
  LinePlace place = LinePlace::absent;
  bool owes = false;                // memory lacks bytes of the line, or will when it has come
  bool own = false;                 // of a line under way: it is to be this cache's own
  bool whole_line_matters = false;  // a store of the whole line is another transition than one of some bytes; found out
};

class TransitionTable {
 public:
  // `protocol`, `role`: for messages. The first state is that of a line that is absent.
  TransitionTable(std::string protocol, std::string role, std::vector<LineStateInfo> states);

  TransitionTable& on(LineState state, std::initializer_list<LineEvent> events, LineActions actions, LineState next);
  // The events cannot happen to a line in this state.
  TransitionTable& never(LineState state, std::initializer_list<LineEvent> events);
  // Nothing is missing and nothing contradicts itself: throws InternalError otherwise, with the first of problems().
  const TransitionTable& checked() const;
  // Pairs without a transition; transitions whose actions do not fit the states that they lead from and to. One
  // sentence each.
  [[nodiscard]] std::vector<std::string> problems() const;

  [[nodiscard]] const Transition& at(LineState state, LineEvent event) const {
    const Cell& cell = cells_[index(state, event)];
    if (cell.kind != Kind::transition) [[unlikely]] {
      unexpected(state, event);
    }
    return cell.transition;
  }
  [[nodiscard]] bool can_happen(LineState state, LineEvent event) const {
    return cells_[index(state, event)].kind == Kind::transition;
  }
  [[nodiscard]] const LineStateInfo& info(LineState state) const { return states_[state]; }
  [[nodiscard]] std::size_t states() const { return states_.size(); }
  // Whether any transition does one of the actions `any`.
  [[nodiscard]] bool ever_does(LineActions any) const;
  // Whether the protocol knows of a home.
  [[nodiscard]] bool has_home() const { return ever_does(kPut); }
  // For tests of what a wrong table does: this table with another transition for a pair.
  [[nodiscard]] TransitionTable with(LineState state, LineEvent event, LineActions actions, LineState next) const;
  // One line per pair that can happen: "clean bypass: drop fetch -> asked".
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::string& role() const { return role_; }

 private:
  enum class Kind : std::uint8_t { missing, never, transition };
  struct Cell {
    Transition transition;
    Kind kind = Kind::missing;
  };
  static constexpr std::size_t kRow = 16;  // events, rounded up
  static_assert(kLineEventNames.size() <= kRow);
  [[nodiscard]] static std::size_t index(LineState state, LineEvent event) {
    return state * kRow + static_cast<std::size_t>(event);
  }
  Cell& new_cell(LineState state, LineEvent event);
  [[nodiscard]] std::string problem_of(LineState from, LineEvent event, const Transition& transition) const;
  [[noreturn]] void unexpected(LineState state, LineEvent event) const;
  [[nodiscard]] std::string pair(LineState state, LineEvent event) const;

  std::string protocol_;
  std::string role_;
  std::vector<LineStateInfo> states_;
  std::vector<Cell> cells_;
};

}  // namespace heddle::hw
