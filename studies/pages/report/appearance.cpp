#include "studies/pages/report/appearance.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "tb/measure/profile/profile.hpp"

namespace heddle::pages {
namespace {

using hw::GroupState;
using hw::IdleCause;

struct CauseLook {
  IdleCause cause;
  std::string_view title;
  std::string_view light;
  std::string_view dark;
};

// One line per idle cause, in their order. The hues of most are hues that stay apart for colour-blind readers (Okabe
// and Ito); wants of room in the memory system are reds, and the memory's own waiting blue.
constexpr CauseLook kCauseLooks[] = {
    {IdleCause::no_work, "no work", "#98a1ac", "#6b7480"},
    {IdleCause::memory, "memory", "#0072b2", "#3b9ad9"},
    {IdleCause::barrier, "barrier", "#e69f00", "#f0b429"},
    {IdleCause::reconvergence, "re-convergence", "#cc79a7", "#de9bc0"},
    {IdleCause::pipeline, "pipeline", "#7a5c3e", "#a98a67"},
    {IdleCause::icache, "instruction fetch", "#cbb800", "#e3d44a"},
    {IdleCause::memory_port, "memory port", "#56b4e9", "#86ccf5"},
    {IdleCause::mshrs_full, "MSHRs full", "#d55e00", "#f07f3c"},
    {IdleCause::targets_full, "MSHR targets full", "#f2a07e", "#ffc7ae"},
    {IdleCause::write_buffer_full, "write buffer full", "#a3201c", "#e0574f"},
    {IdleCause::line_order, "order of a line", "#8e1b6e", "#d05fb2"},
    {IdleCause::pending_full, "pending accesses full", "#5c1a2e", "#a8566f"},
    {IdleCause::memory_queue, "memory queue full", "#2a6f97", "#7fb3d5"},
    {IdleCause::scratchpad, "scratchpad", "#6a51a3", "#a58fd8"},
    {IdleCause::constants, "constants", "#123f8c", "#6ea8fe"},
    {IdleCause::complex, "complex unit", "#3b4a5a", "#c3ccd6"},
    {IdleCause::register_banks, "register banks", "#bc5090", "#ff6fa3"},
    {IdleCause::predicated_off, "predicated off", "#4fb3bf", "#2f8f9b"},
    {IdleCause::throttled, "throttled loads", "#8c6d31", "#c9a75a"},
    {IdleCause::flush, "flush", "#d7bde2", "#e3b9ee"},
};
static_assert(std::size(kCauseLooks) == hw::kIdleCauseCount, "every idle cause has a title and colours");
static_assert([] {
  for (std::size_t i = 0; i != std::size(kCauseLooks); ++i) {
    if (kCauseLooks[i].cause != static_cast<IdleCause>(i)) {
      return false;
    }
  }
  return true;
}());

constexpr Appearance kActivity{"active", "active", "#009e73", "#2fbf95"};
constexpr Appearance kReady{"ready", "ready", "#8cc152", "#a5d46f"};

const std::array<Appearance, hw::kIdleCauseCount>& causes() {
  static const std::array<Appearance, hw::kIdleCauseCount> all = [] {
    std::array<Appearance, hw::kIdleCauseCount> out;
    for (std::size_t i = 0; i != out.size(); ++i) {
      out[i] = {hw::kIdleCauses[i].name, kCauseLooks[i].title, kCauseLooks[i].light, kCauseLooks[i].dark};
    }
    return out;
  }();
  return all;
}

template <class Use>
void for_each_appearance(Use use) {
  use(kActivity);
  use(kReady);
  for (const Appearance& cause : causes()) {
    use(cause);
  }
}

// Black or white, whichever has more contrast (relative luminance as in WCAG 2.1).
std::string_view ink_on(std::string_view colour) {
  double luminance = 0;
  constexpr double kWeights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t part = 0; part != 3; ++part) {
    unsigned value = 0;
    const char* const from = colour.data() + 1 + 2 * part;
    std::from_chars(from, from + 2, value, 16);
    const double share = value / 255.0;
    luminance += kWeights[part] * (share <= 0.03928 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4));
  }
  return luminance > 0.179 ? "#10151a" : "#ffffff";
}

std::string variables(bool dark) {
  std::string out;
  for_each_appearance([&](const Appearance& one) {
    const std::string_view colour = dark ? one.dark : one.light;
    out += fmt::format("--of-{0}: {1}; --on-{0}: {2}; ", one.key, colour, ink_on(colour));
  });
  return out;
}

}  // namespace

const Appearance& appearance_of_activity() {
  return kActivity;
}

const Appearance& appearance_of(IdleCause cause) {
  return causes()[static_cast<std::size_t>(cause)];
}

const Appearance& appearance_of(GroupState state) {
  switch (state) {
    case GroupState::ready:
      return kReady;
    case GroupState::fetching:
      return appearance_of(IdleCause::icache);
    case GroupState::in_flight:
      return appearance_of(IdleCause::pipeline);
    case GroupState::memory:
      return appearance_of(IdleCause::memory);
    case GroupState::complex:
      return appearance_of(IdleCause::complex);
    case GroupState::barrier:
      return appearance_of(IdleCause::barrier);
    case GroupState::parked:
      return appearance_of(IdleCause::reconvergence);
    case GroupState::throttled:
      return appearance_of(IdleCause::throttled);
    case GroupState::queueing:
      return appearance_of(IdleCause::memory_queue);
    case GroupState::free:
      break;
  }
  return appearance_of(IdleCause::no_work);
}

std::string appearance_style() {
  const std::string light = variables(false);
  std::string out = fmt::format(
      ":root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n@media print {{ :root {{ {} }} }}\n",
      light, variables(true), light);
  for_each_appearance([&](const Appearance& one) {
    out += fmt::format(".of-{0} {{ background: var(--of-{0}); color: var(--on-{0}); }}\n", one.key);
  });
  return out;
}

boost::json::object appearance_json() {
  boost::json::object titles;
  for_each_appearance([&](const Appearance& one) { titles[one.key] = boost::json::string(one.title); });
  boost::json::object states;
  for (std::size_t state = 0; state != hw::kGroupStates; ++state) {
    states[tb::kGroupStateNames[state]] = boost::json::string(appearance_of(static_cast<GroupState>(state)).key);
  }
  return {{"titles", std::move(titles)}, {"active", kActivity.key}, {"warp_states", std::move(states)}};
}

}  // namespace heddle::pages
