#include "hw/schedule/lost_locality.hpp"

#include <algorithm>

namespace heddle::hw {

// ------------------------------------------------------------------------------------------------- victim tags

VictimTags::VictimTags(unsigned warps, unsigned tags, unsigned ways)
    : ways_(ways), sets_(tags / ways), tags_(std::size_t{warps} * tags) {}

void VictimTags::clear(unsigned warp) {
  const std::size_t each = std::size_t{sets_} * ways_;
  std::fill_n(tags_.begin() + static_cast<std::ptrdiff_t>(warp * each), each, Tag{});
}

void VictimTags::insert(unsigned warp, std::uint64_t line) {
  Tag* const set = set_of(warp, line);
  Tag* oldest = set;
  for (Tag* tag = set; tag != set + ways_; ++tag) {
    if (tag->used != 0 && tag->line == line) {
      oldest = tag;
      break;
    }
    oldest = tag->used < oldest->used ? tag : oldest;
  }
  *oldest = {line, ++uses_};
}

bool VictimTags::probe(unsigned warp, std::uint64_t line) {
  Tag* const set = set_of(warp, line);
  Tag* const found = std::find_if(set, set + ways_, [&](const Tag& tag) { return tag.used != 0 && tag.line == line; });
  if (found == set + ways_) {
    return false;
  }
  found->used = ++uses_;
  return true;
}

// ------------------------------------------------------------------------------------------------------ scores

LocalityScores::LocalityScores(unsigned warps, const CcwsParameters& parameters)
    : base_(parameters.base_score),
      throttle_(parameters.throttle),
      decay_(parameters.decay),
      most_((std::uint64_t{1} << parameters.score_bits) - 1),
      scores_(warps) {}

void LocalityScores::reset() {
  std::fill(scores_.begin(), scores_.end(), Score{});
  lost_ = 0;
  issued_ = 0;
}

void LocalityScores::lost(unsigned warp, std::uint64_t cutoff, Cycle now) {
  ++lost_;
  const std::uint64_t wanted = lost_ * throttle_ * cutoff / std::max<std::uint64_t>(issued_, 1);
  const std::uint64_t score = std::min(wanted, most_);
  if (score > at(warp, now)) {
    scores_[warp] = {score - base_, now};
  }
}

std::uint64_t LocalityScores::excess(unsigned warp, Cycle now) const {
  const Score& score = scores_[warp];
  const std::uint64_t decayed = now / decay_ - score.since / decay_;
  return score.excess > decayed ? score.excess - decayed : 0;
}

// ------------------------------------------------------------------------------------------------------- stack

void ScoreStack::stack(std::vector<Entry>& warps, const LocalityScores& scores, Cycle now) {
  std::sort(warps.begin(), warps.end(),
            [](const Entry& a, const Entry& b) { return a.score != b.score ? a.score > b.score : a.age < b.age; });
  const std::uint64_t cutoff = scores.cutoff(warps.size());
  changes_ = link::kNever;
  std::uint64_t below = 0;
  std::uint64_t raised = 0;  // warps of the stack above the base
  allowed_ = warps.size();
  for (std::size_t i = 0; i != warps.size(); ++i) {
    const Entry& entry = warps[i];
    const std::uint64_t excess = scores.excess(entry.warp, now);
    // What must not be above `limit`; of crossing, what lies below this warp.
    const std::uint64_t height = crossing_ ? below : below + entry.score;
    const std::uint64_t limit = crossing_ ? cutoff - 1 : cutoff;
    raised += !crossing_ && excess != 0 ? 1 : 0;
    if (i != 0 && height > limit && i < allowed_) {
      allowed_ = i;
      changes_ = scores.after(now, raised != 0 ? (height - limit + raised - 1) / raised : 1);
    }
    raised += crossing_ && excess != 0 ? 1 : 0;
    below += entry.score;
  }
  if (allowed_ == warps.size()) {
    return;  // scores only fall: no further warp must stop
  }
  for (const Entry& entry : warps) {
    if (scores.excess(entry.warp, now) != 0) {
      changes_ = std::min(changes_, scores.at_base(entry.warp));
    }
  }
}

}  // namespace heddle::hw
