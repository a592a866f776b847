// Every interleaving of a small system of caches and a home that follow a protocol's tables: plain C++, no SystemC, no
// time. Between them are messages that may arrive in any order; each of a line's four kinds is under way at most once
// per cache (a second one is a finding). What the modules do with the tables' actions is written here a second time,
// for one value per line, of which each copy knows whether it is the latest.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "hw/coherence/home_table.hpp"
#include "hw/coherence/transition_table.hpp"

namespace heddle::hw::test {

struct SearchSystem {
  unsigned caches = 2;   // at most 3
  unsigned lines = 1;    // at most 2
  unsigned queue = 3;    // requests that the home takes, waiting ones included
  unsigned mshrs = 2;    // lines under way, per cache
  unsigned puts = 1;     // a cache starts no miss while it has more than this less one
  bool failures = true;  // reads of the memory may fail
  bool recalls = true;   // the home may want a line's frame
  std::size_t most_states = 20'000'000;
};

struct SearchResult {
  std::string problem;  // empty: none
  std::size_t states = 0;
  std::set<std::pair<LineState, LineEvent>> line_rows;  // that were looked up
  std::set<std::pair<HomeState, HomeEvent>> home_rows;
};

// Ends with the first of: an event that a table says cannot happen; two caches that have a line, one of them as its
// owner; a load, store or atomic that works on an old value; a state from which the messages under way and the requests
// that wait cannot all be done with (deadlock, or a circle without an end).
[[nodiscard]] SearchResult search(const TransitionTable& cache, const HomeTable& home, const SearchSystem& system);

}  // namespace heddle::hw::test
