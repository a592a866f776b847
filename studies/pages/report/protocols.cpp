#include "studies/pages/report/protocols.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "hw/coherence/protocol.hpp"

namespace heddle::pages {

namespace {

using hw::CacheRole;
using hw::Caching;

struct Controller {
  std::string_view name;
  CacheRole role;
  Caching caching;
  bool merge_reads = true;
};
constexpr std::array<Controller, 7> kControllers = {
    {{"L1, write-back", CacheRole::l1, Caching::write_back},
     {"L1, write-through", CacheRole::l1, Caching::write_through},
     {"L1, write-back, without l1d.merge_reads", CacheRole::l1, Caching::write_back, false},
     {"L1, write-through, without l1d.merge_reads", CacheRole::l1, Caching::write_through, false},
     {"instruction cache", CacheRole::instruction, Caching::write_through},
     {"L2 slice, write-back", CacheRole::l2, Caching::write_back},
     {"L2 slice, write-through", CacheRole::l2, Caching::write_through}}};

// visit(protocol's name, its meaning, controller, table) for every cache that a protocol has a table for;
// home(name, table) for every home.
template <class Visit, class Home>
void each_protocol(Visit visit, Home home) {
  for (const auto& [name, entry] : Registry<hw::CoherenceProtocol>::instance().entries()) {
    const auto protocol = Registry<hw::CoherenceProtocol>::instance().make(name, {});
    for (const Controller& controller : kControllers) {
      if (!controller.merge_reads && !entry.about.traits.separate_reads) {
        continue;
      }
      if (entry.about.traits.coherent && controller.role != CacheRole::instruction &&
          controller.caching != Caching::write_back) {
        continue;  // machines with such caches are refused
      }
      const hw::CoherenceProtocol::Setup setup{.merge_reads = controller.merge_reads};
      const auto of = Registry<hw::CoherenceProtocol>::instance().make(name, setup);
      visit(name, controller, of->table(controller.role, controller.caching));
    }
    if (const auto table = protocol->home()) {
      home(name, *table);
    }
  }
}

// The events that happen in some state across, states down; a cell that says nothing cannot happen.
template <class Table, class Event, class Names, class Actions>
std::string matrix(const Table& table, const Names& names, Actions actions_of) {
  std::vector<std::string> titles = {"state"};
  std::vector<Event> events;
  for (std::size_t event = 0; event != names.size(); ++event) {
    const auto what = static_cast<Event>(event);
    for (std::size_t state = 0; state != table.states(); ++state) {
      if (table.can_happen(static_cast<std::uint8_t>(state), what)) {
        titles.emplace_back(names[event]);
        events.push_back(what);
        break;
      }
    }
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t index = 0; index != table.states(); ++index) {
    const auto state = static_cast<std::uint8_t>(index);
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(fmt::format("**{}**", table.info(state).name));
    for (const Event event : events) {
      if (!table.can_happen(state, event)) {
        row.emplace_back();
        continue;
      }
      const auto& transition = table.at(state, event);
      const std::string actions = transition.actions == 0 ? "" : actions_of(transition.actions);
      const std::string next = transition.next == state ? "" : fmt::format("→ {}", table.info(transition.next).name);
      row.push_back(actions.empty() && next.empty() ? "-"
                                                    : actions + (actions.empty() || next.empty() ? "" : " ") + next);
    }
  }
  return markdown_table(titles, rows);
}

}  // namespace

std::string protocols_text() {
  std::string out;
  const auto add = [&out](std::string_view protocol, std::string_view controller, const std::string& text) {
    out += fmt::format("{}{}, {}\n", out.empty() ? "" : "\n", protocol, controller);
    out += text;
  };
  each_protocol([&](std::string_view name, const Controller& controller,
                    const hw::TransitionTable& table) { add(name, controller.name, table.text()); },
                [&](std::string_view name, const hw::HomeTable& table) { add(name, "home", table.text()); });
  return out;
}

std::string protocols_markdown() {
  std::string out =
      "# Coherence protocols\n\nMade by `heddle list protocols --markdown` from the tables that the machine runs on "
      "([hw/coherence](../hw/coherence)); a test compares\nthis file with it. A cell has the controller's actions, and "
      "the line's next state where it changes; `-`: nothing happens;\nempty: it cannot happen, and is an internal "
      "error if it does. States, events and actions are explained in\n"
      "[transition_table.hpp](../hw/coherence/transition_table.hpp) and "
      "[home_table.hpp](../hw/coherence/home_table.hpp).\n";
  std::string latest;
  const auto title = [&](std::string_view protocol, std::string_view controller) {
    if (latest != protocol) {
      latest = protocol;
      out += fmt::format("\n## {}\n", protocol);
    }
    out += fmt::format("\n### {}: {}\n\n", protocol, controller);
  };
  each_protocol(
      [&](std::string_view name, const Controller& controller, const hw::TransitionTable& table) {
        title(name, controller.name);
        out += matrix<hw::TransitionTable, hw::LineEvent>(table, hw::kLineEventNames, hw::names_of);
      },
      [&](std::string_view name, const hw::HomeTable& table) {
        title(name, "home");
        out += matrix<hw::HomeTable, hw::HomeEvent>(table, hw::kHomeEventNames, hw::names_of_home);
      });
  return out;
}

}  // namespace heddle::pages
