// Cache-conscious scheduling: a warp that misses lines which it had in the L1 not long ago gets a score, the scores of
// all warps are stacked, and warps above the cutoff may issue no loads, so that the other warps find room for their
// lines (Rogers, O'Connor and Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012).
//
//   owner        A frame of the L1 belongs to the warp that missed its line first. When another line takes the frame,
//                the tag of the line that leaves goes to the owner's victim tags; a warp that begins in the owner's
//                place has none of them.
//   loss         A load's miss probes the victim tags of its warp. (Misses of stores do not: the published L1 does not
//                allocate on them, as far as is known here.)
//   score        hw/schedule/lost_locality.hpp.
//   combination  The paper puts it before a scheduler that prefers old warps; here it goes with any.
#include <fmt/format.h>

#include <algorithm>

#include "hw/divergence/divergence.hpp"
#include "hw/parameters/cost.hpp"
#include "hw/schedule/load_limiter.hpp"
#include "hw/schedule/lost_locality.hpp"

namespace heddle::hw {

namespace {

class CacheConscious final : public LoadLimiter {
 public:
  using Parameters = CcwsParameters;

  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    const Parameters& own = machine.core.policies.of<Parameters>();
    const auto refuse = [&](const char* key, std::string why) { found.push_back({key, std::move(why)}); };
    if (!machine.l1d.enabled) {
      refuse("core.load_limiter",
             "core.load_limiter = \"ccws\" scores lines that warps lose from the L1; l1d.enabled is false");
    }
    const Divergence::Traits& mechanism = about<Divergence>(machine.core.divergence).traits;
    if (!mechanism.keeps_warps) {
      refuse(
          "core.load_limiter",
          fmt::format("core.load_limiter = \"ccws\" remembers what each warp has lost; core.divergence = \"{}\" does "
                      "not keep the threads of a warp together",
                      machine.core.divergence));
    }
    if (own.victim_ways > own.victim_tags) {
      refuse("ccws.victim_ways",
             fmt::format("ccws.victim_ways ({}) is more than ccws.victim_tags ({})", own.victim_ways, own.victim_tags));
    }
    const std::uint64_t most = (std::uint64_t{1} << own.score_bits) - 1;
    if (own.base_score > most) {
      refuse("ccws.base_score", fmt::format("ccws.base_score ({}) does not fit into ccws.score_bits ({})",
                                            own.base_score, own.score_bits));
    }
    if (most * own.decay >= machine.watchdog.deadlock_cycles) {
      refuse(
          "watchdog.deadlock_cycles",
          fmt::format("watchdog.deadlock_cycles ({}) is not above {}, the cycles for which a score of ccws.score_bits "
                      "({}) may hold loads back",
                      machine.watchdog.deadlock_cycles, most * own.decay, own.score_bits));
    }
  }

  static void cost(const CostShape& shape, CostLines& lines) {
    using Kind = CostLine::Kind;
    const Parameters& own = shape.machine.core.policies.of<Parameters>();
    const CacheParameters& l1d = shape.machine.l1d;
    const std::uint64_t frames = l1d.bytes / l1d.line_bytes;
    const std::uint64_t sets = own.victim_tags / own.victim_ways;
    const std::uint64_t tag = 32 - index_bits(l1d.line_bytes) - index_bits(sets) + 1;
    const char* const source = "Rogers and others, MICRO 2012; own estimate of the fields' widths, 32-bit addresses";
    lines.mechanism("cache-conscious scheduling");
    lines.add(Kind::estimated, "victim tags",
              fmt::format("{} warps x ccws.victim_tags {} x ({} of tag and valid + log2({} ways))", shape.pool,
                          own.victim_tags, tag, own.victim_ways),
              shape.pool * own.victim_tags * (tag + index_bits(own.victim_ways)), source);
    lines.add(Kind::estimated, "owners of the L1's lines", fmt::format("{} lines x log2({} warps)", frames, shape.pool),
              frames * index_bits(shape.pool), source);
    lines.add(Kind::estimated, "scores and who may load",
              fmt::format("{} warps x (ccws.score_bits {} + 1)", shape.pool, own.score_bits),
              shape.pool * (own.score_bits + 1), source);
    lines.add(Kind::estimated, "lost lines and instructions issued", "2 x 32", 64, source);
    lines.add(Kind::estimated, "words of loads held back", fmt::format("{} warps x 64", shape.pool), shape.pool * 64,
              "own estimate: the instruction stays with its warp");
  }

  explicit CacheConscious(const Setup& setup)
      : groups_(setup.groups),
        statistics_(setup.statistics),
        line_bytes_(setup.machine.l1d.line_bytes),
        own_(setup.machine.core.policies.of<Parameters>()),
        owners_(setup.machine.l1d.bytes / line_bytes_),
        ages_(setup.groups.size(), kNobody),
        victims_(setup.groups.size(), own_.victim_tags, own_.victim_ways),
        scores_(setup.groups.size(), own_),
        stack_(own_.crossing),
        may_(setup.groups.live().size(), 0) {
    order_.reserve(groups_.size());
  }

  void begin_launch() override {
    scores_.reset();
    std::fill(ages_.begin(), ages_.end(), kNobody);
    seen_ = kNobody;
  }
  void issued(const Group&) override { scores_.issued(); }

  void missed(std::uint64_t line, std::uint32_t group, Cycle now) override {
    know(group);
    if (victims_.probe(group, line / line_bytes_)) {
      ++statistics_.lost_locality;
      scores_.lost(group, scores_.cutoff(live()), now);
      seen_ = kNobody;
    }
  }
  void installed(std::uint32_t frame, std::uint32_t group) override { owners_[frame] = {group, groups_[group].age}; }
  void evicted(std::uint32_t frame, std::uint64_t line) override {
    const Owner& owner = owners_[frame];
    if (owner.age == kNobody || groups_[owner.group].state == GroupState::free ||
        groups_[owner.group].age != owner.age) {
      return;  // it is gone
    }
    know(owner.group);
    victims_.insert(owner.group, line / line_bytes_);
  }

  [[nodiscard]] bool may_load(const Group& group, Cycle now) override {
    if (seen_ != groups_.ages() || now >= next_ || live_ != groups_.live()) {
      look(now);
    }
    return ((may_[group.id / 64] >> (group.id % 64)) & 1U) != 0;
  }
  [[nodiscard]] Cycle next_change() const override { return next_; }

 private:
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};
  struct Owner {
    GroupId group = 0;
    std::uint64_t age = kNobody;
  };

  [[nodiscard]] unsigned live() const { return groups_.size() - groups_.count(GroupState::free); }
  // Another warp may have begun in this place.
  void know(GroupId group) {
    if (ages_[group] != groups_[group].age) {
      ages_[group] = groups_[group].age;
      victims_.clear(group);
      scores_.begin(group);
    }
  }
  void look(Cycle now) {
    order_.clear();
    for (const Group& group : groups_.all()) {
      if (group.state != GroupState::free) {
        know(group.id);
        order_.push_back({group.id, group.age, scores_.at(group.id, now)});
      }
    }
    stack_.stack(order_, scores_, now);
    std::fill(may_.begin(), may_.end(), 0);
    for (std::size_t i = 0; i != stack_.allowed(); ++i) {
      may_[order_[i].warp / 64] |= std::uint64_t{1} << (order_[i].warp % 64);
    }
    next_ = stack_.changes();
    seen_ = groups_.ages();
    live_ = groups_.live();
  }

  const GroupTable& groups_;
  CoreStatistics& statistics_;
  const unsigned line_bytes_;
  const Parameters own_;
  std::vector<Owner> owners_;        // by frame of the L1
  std::vector<std::uint64_t> ages_;  // by group: of the warp that its tags and score are of
  VictimTags victims_;
  LocalityScores scores_;
  ScoreStack stack_;
  std::vector<ScoreStack::Entry> order_;
  GroupBits may_;
  GroupBits live_;                // when the warps were stacked last
  std::uint64_t seen_ = kNobody;  // ages given by then; kNobody: they must be stacked anew
  Cycle next_ = 0;
};

const Register<LoadLimiter, CacheConscious> cache_conscious_entry{
    "ccws", "warps whose lost-locality scores fit below a cutoff (cache-conscious scheduling)"};

}  // namespace

}  // namespace heddle::hw
