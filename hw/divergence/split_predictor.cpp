#include "hw/divergence/split_predictor.hpp"

#include <algorithm>

namespace heddle::hw {

void MovingCycles::learn(std::uint64_t sample, std::uint64_t most) {
  sample = std::min(sample, most);
  if (!known_) {
    known_ = true;
    value_ = sample;
  } else if (sample > value_) {
    value_ += std::max<std::uint64_t>(1, (sample - value_) / 4);
  } else if (sample < value_) {
    value_ -= std::max<std::uint64_t>(1, (value_ - sample) / 4);
  }
}

SplitPredictor::SplitPredictor(const Setup& setup, CoreStatistics& count)
    : most_((std::uint64_t{1} << setup.bits) - 1),
      threshold_(setup.threshold),
      count_(count),
      table_(setup.entries),
      groups_(setup.groups) {}

void SplitPredictor::misses(GroupId group, std::uint32_t, Cycle now) {
  Known& own = groups_[group];
  if (own.after) {
    table_[own.last].distance.learn(now - own.since, most_);
    own.after = false;
  }
  own.waits = true;
  own.waits_since = now;
  if (own.judged_by_next) {
    right(now - own.judged_since >= own.judged_wait);
    own.judged_by_next = false;
  }
  if (own.left) {
    Known& behind = groups_[own.behind];
    if (behind.access == own.behind_access && behind.ahead != 0) {
      --behind.ahead;
      right(true);
    }
    own.left = false;
  }
}

void SplitPredictor::completed(GroupId group, std::uint32_t pc, Cycle now) {
  Known& own = groups_[group];
  if (!own.accesses) {
    return;
  }
  Entry& entry = table_[index(pc)];
  if (own.waits) {
    entry.latency.learn(now - own.waits_since, most_);
    if (own.declined) {
      own.judged_by_next = true;
      own.judged_since = now;
      own.judged_wait = now - own.declined_at;
    }
    for (; own.ahead != 0; --own.ahead) {
      right(false);
    }
  } else if (own.after && entry.distance.known()) {
    table_[own.last].distance.learn(now - own.since + entry.distance.value(), most_);
  }
  own.accesses = own.waits = own.declined = false;
  ++own.access;
  own.after = true;
  own.last = static_cast<std::uint32_t>(index(pc));
  own.since = now;
}

void SplitPredictor::gone(GroupId group, bool exited) {
  Known& own = groups_[group];
  if (exited && own.judged_by_next) {
    right(true);  // there was no miss to come
  }
  const std::uint64_t access = own.access + 1;  // groups that have left it have no group behind any more
  own = {};
  own.access = access;
}

bool SplitPredictor::predict(GroupId group, std::uint32_t pc, Cycle now) {
  Known& own = groups_[group];
  const Entry& entry = table_[index(pc)];
  ++count_.predictions;
  if (!entry.latency.known() || !entry.distance.known()) {
    return true;
  }
  const std::uint64_t waited = now - own.waits_since;
  if (waited > entry.latency.value()) {
    return true;  // overdue
  }
  own.declined = entry.distance.value() * 100 > threshold_ * (entry.latency.value() - waited);
  own.declined_at = now;
  return !own.declined;
}

void SplitPredictor::parted(GroupId group, GroupId ahead) {
  Known& behind = groups_[group];
  ++behind.ahead;
  gone(ahead, false);
  Known& own = groups_[ahead];
  own.accesses = true;  // its part of the access, which completes without waiting
  own.left = true;
  own.behind = group;
  own.behind_access = behind.access;
}

}  // namespace heddle::hw
