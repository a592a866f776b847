#include "hw/coherence/transition_table.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

constexpr std::array<std::string_view, 20> kActionNames = {
    "wait",  "write_back", "recall_sharers", "drop",  "close", "mark",       "answer",  "note_sharer",
    "write", "step",       "install",        "merge", "fetch", "fetch_once", "forward", "write_through",
    "put",   "give",       "acknowledge",    "stall"};

constexpr LineEvent event_at(std::size_t index) {
  return static_cast<LineEvent>(index);
}

}  // namespace

std::string names_of(LineActions actions) {
  std::string names;
  for (const unsigned action : set_bits(actions)) {
    names += names.empty() ? "" : " ";
    names += kActionNames[action];
  }
  return names.empty() ? "-" : names;
}

TransitionTable::TransitionTable(std::string protocol, std::string role, std::vector<LineStateInfo> states)
    : protocol_(std::move(protocol)),
      role_(std::move(role)),
      states_(std::move(states)),
      cells_(states_.size() * kRow) {
  if (states_.empty() || states_.front().place != LinePlace::absent) {
    throw InternalError(
        fmt::format("coherence protocol {}, {}: the first state is that of an absent line", protocol_, role_));
  }
}

std::string TransitionTable::pair(LineState state, LineEvent event) const {
  return fmt::format("coherence protocol {}, {}: state {}, event {}", protocol_, role_, states_[state].name,
                     name_of(event));
}

void TransitionTable::unexpected(LineState state, LineEvent event) const {
  throw InternalError(pair(state, event) + ": cannot happen");
}

TransitionTable::Cell& TransitionTable::new_cell(LineState state, LineEvent event) {
  Cell& cell = cells_.at(index(state, event));
  if (cell.kind != Kind::missing) {
    throw InternalError(pair(state, event) + ": stands in the table twice");
  }
  return cell;
}

TransitionTable& TransitionTable::on(LineState state, std::initializer_list<LineEvent> events, LineActions actions,
                                     LineState next) {
  for (const LineEvent event : events) {
    new_cell(state, event) = {{actions, next}, Kind::transition};
  }
  const auto differs = [&](const Cell& a, const Cell& b) {
    return a.kind != b.kind || !(a.transition == b.transition);
  };
  states_[state].whole_line_matters =
      differs(cells_[index(state, LineEvent::store)], cells_[index(state, LineEvent::store_line)]);
  return *this;
}

TransitionTable& TransitionTable::never(LineState state, std::initializer_list<LineEvent> events) {
  for (const LineEvent event : events) {
    new_cell(state, event).kind = Kind::never;
  }
  return *this;
}

std::string TransitionTable::problem_of(LineState from, LineEvent event, const Transition& transition) const {
  if (transition.next >= states_.size()) {
    return "leads to a state that the table does not have";
  }
  const LineStateInfo& before = states_[from];
  const LineStateInfo& after = states_[transition.next];
  const bool was_here = before.place == LinePlace::here;
  const bool was_under_way = before.place == LinePlace::asked || before.place == LinePlace::coming;
  const bool is_here = after.place == LinePlace::here;
  const bool is_under_way = after.place == LinePlace::asked || after.place == LinePlace::coming;
  if (transition.does(kWait)) {
    return transition.actions == kWait && transition.next == from ? "" : "waits, and something happens";
  }
  if (transition.does(kStall)) {
    if (!was_under_way) {
      return "needs the line under way";
    }
    return transition.actions == kStall && transition.next == from ? "" : "stalls, and something happens";
  }
  const LineActions of_a_line_here = kWriteBack | kRecallSharers | kDrop | kAnswer | kWrite | kStep | kPut;
  if (transition.does(of_a_line_here) && !was_here) {
    return "needs the line here";
  }
  if (transition.does(kClose | kMark | kMerge) && !was_under_way) {
    return "needs the line under way";
  }
  const bool leaves = transition.does(kDrop) || event == LineEvent::replace;
  if (was_here && leaves == is_here) {
    return is_here ? "drops a line that stays" : "leaves a line's frame in use";
  }
  if (!was_here && is_here != transition.does(kInstall)) {
    return is_here ? "has a line without a frame" : "installs a line that is not to be here";
  }
  if ((after.place == LinePlace::leaving) != (transition.does(kPut) || before.place == LinePlace::leaving) &&
      event != LineEvent::put_done) {
    return "leaves without a put";
  }
  if (transition.does(kGive) && !was_here && before.place != LinePlace::leaving) {
    return "gives a line away that it does not have";
  }
  if (was_here && before.owes && !after.owes && !transition.does(kWriteBack | kPut | kGive)) {
    return "loses what memory lacks";
  }
  if (is_under_way && !was_under_way && !transition.does(kFetch)) {
    return "waits for a line that nobody fetches";
  }
  if (transition.does(kFetch) && after.place != LinePlace::asked) {
    return "fetches a line, which is not asked for then";
  }
  const bool ends =
      event == LineEvent::fill || event == LineEvent::fill_own || event == LineEvent::fail || transition.does(kClose);
  if (was_under_way && !is_under_way && !ends) {
    return "forgets a line under way";
  }
  if (was_under_way && before.owes && !after.owes && event != LineEvent::fail) {
    return "loses a store that was merged";
  }
  return "";
}

std::vector<std::string> TransitionTable::problems() const {
  std::vector<std::string> found;
  const std::size_t events = has_home() ? kLineEventNames.size() : kEventsOfEveryCache;
  for (std::size_t state = 0; state != states_.size(); ++state) {
    for (std::size_t event = 0; event != events; ++event) {
      const auto from = static_cast<LineState>(state);
      const Cell& cell = cells_[index(from, event_at(event))];
      const std::string problem = cell.kind == Kind::missing ? "is not in the table"
                                  : cell.kind == Kind::never ? ""
                                                             : problem_of(from, event_at(event), cell.transition);
      if (!problem.empty()) {
        found.push_back(pair(from, event_at(event)) + ": " + problem);
      }
    }
  }
  return found;
}

const TransitionTable& TransitionTable::checked() const {
  const std::vector<std::string> found = problems();
  if (!found.empty()) {
    throw InternalError(found.front());
  }
  return *this;
}

TransitionTable TransitionTable::with(LineState state, LineEvent event, LineActions actions, LineState next) const {
  TransitionTable changed = *this;
  changed.cells_.at(index(state, event)) = {{actions, next}, Kind::transition};
  return changed;
}

bool TransitionTable::ever_does(LineActions any) const {
  for (const Cell& cell : cells_) {
    if (cell.kind == Kind::transition && cell.transition.does(any)) {
      return true;
    }
  }
  return false;
}

std::string TransitionTable::text() const {
  std::string out;
  for (std::size_t state = 0; state != states_.size(); ++state) {
    for (std::size_t event = 0; event != kLineEventNames.size(); ++event) {
      const Cell& cell = cells_[index(static_cast<LineState>(state), event_at(event))];
      if (cell.kind == Kind::transition) {
        out += fmt::format("{} {}: {} -> {}\n", states_[state].name, kLineEventNames[event],
                           names_of(cell.transition.actions), states_[cell.transition.next].name);
      }
    }
  }
  return out;
}

}  // namespace heddle::hw
