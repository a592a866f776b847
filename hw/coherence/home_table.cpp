#include "hw/coherence/home_table.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/set_bits.hpp"

namespace heddle::hw {

namespace {

constexpr std::array<std::string_view, 12> kHomeActionNames = {
    "wait",         "take",  "ask_owner", "take_from_owner", "invalidate", "forget",
    "owner_shares", "share", "read",      "owner",           "put_done",   "again"};

constexpr HomeEvent home_event_at(std::size_t index) {
  return static_cast<HomeEvent>(index);
}

// Events that are requests: they can wait.
constexpr bool is_request(HomeEvent event) {
  return event <= HomeEvent::recall;
}

}  // namespace

std::string names_of_home(HomeActions actions) {
  std::string names;
  for (const unsigned action : set_bits(actions)) {
    names += names.empty() ? "" : " ";
    names += kHomeActionNames[action];
  }
  return names.empty() ? "-" : names;
}

HomeTable::HomeTable(std::string protocol, std::vector<HomeStateInfo> states)
    : protocol_(std::move(protocol)), states_(std::move(states)), cells_(states_.size() * kHomeEventNames.size()) {
  if (states_.empty() || states_.front().busy) {
    throw InternalError(
        fmt::format("coherence protocol {}, home: the first state is that of a line without copies", protocol_));
  }
}

std::string HomeTable::pair(HomeState state, HomeEvent event) const {
  return fmt::format("coherence protocol {}, home: state {}, event {}", protocol_, states_[state].name, name_of(event));
}

void HomeTable::unexpected(HomeState state, HomeEvent event) const {
  throw InternalError(pair(state, event) + ": cannot happen");
}

HomeTable::Cell& HomeTable::new_cell(HomeState state, HomeEvent event) {
  Cell& cell = cells_.at(index(state, event));
  if (cell.kind != Kind::missing) {
    throw InternalError(pair(state, event) + ": stands in the table twice");
  }
  return cell;
}

HomeTable& HomeTable::on(HomeState state, std::initializer_list<HomeEvent> events, HomeActions actions,
                         HomeState next) {
  for (const HomeEvent event : events) {
    new_cell(state, event) = {{actions, next}, Kind::transition};
  }
  return *this;
}

HomeTable& HomeTable::never(HomeState state, std::initializer_list<HomeEvent> events) {
  for (const HomeEvent event : events) {
    new_cell(state, event).kind = Kind::never;
  }
  return *this;
}

HomeTable HomeTable::with(HomeState state, HomeEvent event, HomeActions actions, HomeState next) const {
  HomeTable changed = *this;
  changed.cells_.at(index(state, event)) = {{actions, next}, Kind::transition};
  return changed;
}

std::string HomeTable::problem_of(HomeState from, HomeEvent event, const HomeTransition& transition) const {
  if (transition.next >= states_.size()) {
    return "leads to a state that the table does not have";
  }
  const bool was_busy = states_[from].busy;
  const bool is_busy = states_[transition.next].busy;
  if (transition.does(kHomeWait)) {
    return transition.actions != kHomeWait || transition.next != from ? "waits, and something happens"
           : !was_busy || !is_request(event)                          ? "waits for nothing"
                                                                      : "";
  }
  if (was_busy && is_request(event)) {
    return "takes a request while it is busy";
  }
  const bool asks = transition.does(kAskOwner | kTakeFromOwner | kInvalidate | kRead);
  if (asks != (is_busy && !was_busy)) {
    return asks ? "asks for something and is not busy" : "is busy with nothing";
  }
  if (transition.does(kAgain) && !was_busy) {
    return "looks again at a request that it was not busy with";
  }
  if (transition.does(kTake) && event != HomeEvent::put && event != HomeEvent::kept && event != HomeEvent::gone) {
    return "takes bytes that do not come";
  }
  return "";
}

std::vector<std::string> HomeTable::problems() const {
  std::vector<std::string> found;
  for (std::size_t state = 0; state != states_.size(); ++state) {
    for (std::size_t event = 0; event != kHomeEventNames.size(); ++event) {
      const auto from = static_cast<HomeState>(state);
      const Cell& cell = cells_[index(from, home_event_at(event))];
      const std::string problem = cell.kind == Kind::missing ? "is not in the table"
                                  : cell.kind == Kind::never ? ""
                                                             : problem_of(from, home_event_at(event), cell.transition);
      if (!problem.empty()) {
        found.push_back(pair(from, home_event_at(event)) + ": " + problem);
      }
    }
  }
  return found;
}

const HomeTable& HomeTable::checked() const {
  const std::vector<std::string> found = problems();
  if (!found.empty()) {
    throw InternalError(found.front());
  }
  return *this;
}

std::string HomeTable::text() const {
  std::string out;
  for (std::size_t state = 0; state != states_.size(); ++state) {
    for (std::size_t event = 0; event != kHomeEventNames.size(); ++event) {
      const Cell& cell = cells_[index(static_cast<HomeState>(state), home_event_at(event))];
      if (cell.kind == Kind::transition) {
        out += fmt::format("{} {}: {} -> {}\n", states_[state].name, kHomeEventNames[event],
                           names_of_home(cell.transition.actions), states_[cell.transition.next].name);
      }
    }
  }
  return out;
}

}  // namespace heddle::hw
