#include "hw/gpu/launch_table.hpp"

#include <algorithm>

namespace heddle::hw {

void LaunchTable::begin(std::uint64_t blocks, const std::vector<unsigned>& room, std::size_t cores) {
  launches_.assign(1, {});
  launches_.front().blocks = blocks;
  places_.assign(room.size(), {});
  for (std::size_t place = 0; place != room.size(); ++place) {
    places_[place].slots.resize(room[place]);
  }
  cores_ = cores;
  next_place_ = 0;
  finished_ = 0;
}

LaunchTable::Index LaunchTable::join(std::uint64_t blocks, unsigned room) {
  Entry entry;
  entry.blocks = blocks;
  entry.room = room;
  launches_.push_back(entry);
  return launches_.size() - 1;
}

std::optional<LaunchTable::Block> LaunchTable::next(Index launches) {
  const auto places = static_cast<unsigned>(places_.size());
  for (Index launch = 0; launch != launches; ++launch) {
    Entry& entry = launches_[launch];
    if (entry.left() == 0) {
      continue;
    }
    for (unsigned tried = 0; tried != places; ++tried) {
      const unsigned at = (next_place_ + tried) % places;
      Place& place = places_[at];
      if (place.owner != launch || place.state != State::working || place.used == place.slots.size()) {
        continue;
      }
      const auto slot = std::find_if(place.slots.begin(), place.slots.end(), [](const Slot& one) { return !one.used; });
      *slot = {true, entry.next};
      ++place.used;
      next_place_ = (at + 1) % places;
      return Block{at, static_cast<unsigned>(slot - place.slots.begin()), launch, entry.next++};
    }
  }
  return std::nullopt;
}

bool LaunchTable::blocks_left() const {
  return std::any_of(launches_.begin(), launches_.end(), [](const Entry& entry) { return entry.left() != 0; });
}

std::uint64_t LaunchTable::finish(unsigned place, unsigned slot) {
  Place& of = places_[place];
  of.slots[slot].used = false;
  --of.used;
  ++launches_[of.owner].finished;
  ++finished_;
  return of.slots[slot].block;
}

bool LaunchTable::over() const {
  return std::all_of(launches_.begin(), launches_.end(),
                     [](const Entry& entry) { return entry.finished == entry.blocks; });
}

std::size_t LaunchTable::wanted(Index launch) const {
  const std::uint64_t left = launches_[launch].left();
  std::uint64_t have = 0;
  for (std::size_t core = 0; core != cores_ && have < left; ++core) {
    const Place& place = places_[core];
    const bool has_room =
        place.state == State::changing || (place.state == State::working && place.used != place.slots.size());
    have += static_cast<std::uint64_t>(place.owner == launch && has_room);
  }
  return static_cast<std::size_t>(left - have);
}

std::optional<unsigned> LaunchTable::leaving() {
  std::size_t wants = 0;
  for (Index launch = 0; launch != launches_.size() && wants < cores_; ++launch) {
    wants += wanted(launch);
  }
  std::size_t coming = 0;
  for (std::size_t core = 0; core != cores_; ++core) {
    coming += static_cast<std::size_t>(places_[core].state == State::leaving || places_[core].state == State::free);
  }
  for (std::size_t core = 0; core != cores_; ++core) {
    Place& place = places_[core];
    if (place.state == State::working && place.used == 0 && launches_[place.owner].left() == 0 &&
        (over(place.owner) || coming < wants)) {
      place.state = State::leaving;
      return static_cast<unsigned>(core);
    }
  }
  return std::nullopt;
}

std::vector<unsigned> LaunchTable::remaining() {
  std::vector<unsigned> cores;
  for (std::size_t core = 0; core != cores_; ++core) {
    if (places_[core].state == State::working) {
      places_[core].state = State::leaving;
      cores.push_back(static_cast<unsigned>(core));
    }
  }
  return cores;
}

bool LaunchTable::all_written_back() const {
  return std::all_of(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(cores_),
                     [](const Place& place) { return place.state == State::free; });
}

std::optional<LaunchTable::HandOver> LaunchTable::hand_over() {
  for (Index launch = 0; launch != launches_.size(); ++launch) {
    if (wanted(launch) == 0) {
      continue;
    }
    for (std::size_t core = 0; core != cores_; ++core) {
      Place& place = places_[core];
      if (place.state == State::free) {
        const HandOver change{static_cast<unsigned>(core), place.owner, launch};
        place.state = State::changing;
        place.owner = launch;
        return change;
      }
    }
    return std::nullopt;
  }
  return std::nullopt;
}

void LaunchTable::take(unsigned core) {
  Place& place = places_[core];
  place.state = State::working;
  place.slots.assign(launches_[place.owner].room, {});
  place.used = 0;
}

std::optional<LaunchTable::Index> LaunchTable::ended() {
  const auto under_way = [](const Entry& entry) { return entry.finished != entry.blocks; };
  if (std::none_of(launches_.begin(), launches_.end(), under_way)) {
    return std::nullopt;  // the last ones end together, when memory has everything
  }
  for (Index launch = 0; launch != launches_.size(); ++launch) {
    const auto holds = [launch](const Place& place) { return place.owner == launch && place.state != State::free; };
    if (!launches_[launch].told && over(launch) && std::none_of(places_.begin(), places_.end(), holds)) {
      launches_[launch].told = true;
      return launch;
    }
  }
  return std::nullopt;
}

}  // namespace heddle::hw
