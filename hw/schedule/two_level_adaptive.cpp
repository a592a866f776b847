// Two-level scheduling that learns its policies (thesis 9.2.2: "An adaptive scheduling policy that learns the most
// effective scheduling policy at each level for each application (or different phases of the same application)").
//
// Sampling: each candidate, which is a size of the fetch groups with an inner and an outer scheduler, schedules for
// `settle` cycles and then for `sample` cycles in which it is measured: the instructions that threads retire per cycle.
// The best (of equals the first) schedules for `run` cycles. Then all are tried again, so that a phase of the kernel
// is learnt at most that long after it has begun. An interval ends at the first fetch at or after its last cycle: a
// core whose warps all wait stays in it, and what it measures is per cycle that has passed.
//
// All candidates see the same warps, and hear whenever one stalls. A candidate that takes over begins with the fetch
// group, in its own division, of the warp fetched last; inner schedulers go on from where they were (the warp that
// greedy-then-oldest stays with).
//
// Each core learns by itself, and by kernel (the address of its code): a further launch goes on in the interval in
// which the kernel's latest one has ended. Of `kernels` kernels at a time; one more takes the place of the one that
// came first. A launch with warps of another size than the one before has new tables and so begins anew for all
// kernels.
#include "hw/schedule/two_level_adaptive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "hw/parameters/cost.hpp"

namespace heddle::hw {

namespace {

constexpr const char* kSizes = "two_level_adaptive.fetch_groups";
constexpr const char* kInner = "two_level_adaptive.inner_schedulers";
constexpr const char* kOuter = "two_level_adaptive.outer_schedulers";

// What is wrong with a list of names; empty: nothing.
std::string wrong_names(const char* key, const std::string& list, const Limits& limits) {
  const WrongList wrong = wrong_list(list, limits.choices());
  return wrong.text.empty() ? std::string() : fmt::format("{} {}; {}", key, wrong.text, wrong.hint);
}

// 0: none.
unsigned size_of(const std::string& item) {
  unsigned size = 0;
  const char* const last = item.data() + item.size();
  const auto [end, error] = std::from_chars(item.data(), last, size);
  return error == std::errc{} && end == last && size <= 4096 ? size : 0;
}

std::string wrong_sizes(const std::string& list) {
  std::vector<unsigned> seen;
  for (const std::string& item : list_items(list)) {
    const unsigned size = size_of(item);
    if (size == 0) {
      return fmt::format("{} has '{}'; give sizes from 1 to 4096 warps with commas between", kSizes, item);
    }
    if (std::find(seen.begin(), seen.end(), size) != seen.end()) {
      return fmt::format("{} has {} twice", kSizes, size);
    }
    seen.push_back(size);
  }
  return {};
}

// Key and text of what is wrong; an empty text: nothing.
std::pair<const char*, std::string> wrong_lists(const AdaptiveTwoLevelParameters& own) {
  std::pair<const char*, std::string> wrong{kSizes, wrong_sizes(own.fetch_groups)};
  if (wrong.second.empty()) {
    wrong = {kInner, wrong_names(kInner, own.inner_schedulers, inner_schedulers())};
  }
  if (wrong.second.empty()) {
    wrong = {kOuter, wrong_names(kOuter, own.outer_schedulers, fetch_group_orders())};
  }
  const std::size_t count = list_items(own.fetch_groups).size() * list_items(own.inner_schedulers).size() *
                            list_items(own.outer_schedulers).size();
  if (wrong.second.empty() && count > AdaptiveTwoLevelParameters::kMostCandidates) {
    wrong = {kSizes, fmt::format("{}, {} and {} make {} candidates; {} are the most", kSizes, kInner, kOuter, count,
                                 AdaptiveTwoLevelParameters::kMostCandidates)};
  }
  return wrong;
}

}  // namespace

std::vector<FetchGroupPolicies> AdaptiveTwoLevelParameters::candidates() const {
  if (const auto [key, wrong] = wrong_lists(*this); !wrong.empty()) {
    throw InputError({}, wrong);
  }
  std::vector<FetchGroupPolicies> all;
  for (const std::string& size : list_items(fetch_groups)) {
    for (const std::string& inner : list_items(inner_schedulers)) {
      for (const std::string& outer : list_items(outer_schedulers)) {
        all.push_back({size_of(size), inner, outer});
      }
    }
  }
  return all;
}

namespace {

class AdaptiveTwoLevel final : public WarpScheduler {
 public:
  using Parameters = AdaptiveTwoLevelParameters;
  using AlsoReads = TwoLevelParameters;  // rule and timeout, which all candidates have

  static void check(const Machine& machine, std::vector<Contradiction>& found) {
    const Parameters& own = machine.core.policies.of<Parameters>();
    if (const auto [key, wrong] = wrong_lists(own); !wrong.empty()) {
      found.push_back({key, wrong});
      return;
    }
    for (const std::string& inner : list_items(own.inner_schedulers)) {
      check_scheduler(machine, kInner, inner, found);
    }
  }

  static void in_vain(const Machine& machine, std::vector<WithoutEffect>& found) {
    found.push_back({{"two_level.fetch_group", "two_level.inner_scheduler", "two_level.outer_scheduler"},
                     "core.scheduler is two-level-adaptive"});
    const Parameters& own = machine.core.policies.of<Parameters>();
    if (wrong_lists(own).second.empty() && own.candidates().size() == 1) {
      found.push_back({{"two_level_adaptive.settle", "two_level_adaptive.sample", "two_level_adaptive.run",
                        "two_level_adaptive.kernels"},
                       "two_level_adaptive has one candidate"});
    }
  }

  static void cost(const CostShape& shape, CostLines& lines);

  explicit AdaptiveTwoLevel(const Setup& setup)
      : own_(setup.core.policies.of<Parameters>()),
        statistics_(setup.statistics != nullptr ? *setup.statistics : unseen_),
        kernels_(std::max(own_.kernels, 1U)) {
    for (const FetchGroupPolicies& policies : own_.candidates()) {
      candidates_.push_back(std::make_unique<TwoLevelScheduler>(setup, policies));
    }
    if (statistics_.two_level_candidates.size() < candidates_.size()) {
      statistics_.two_level_candidates.resize(candidates_.size());
    }
    try_candidate(0);
    begin_interval(0);
  }

  MaybeGroup pick(Cycle now) override {
    if (now >= ends_) {
      end_interval(now);
    }
    const MaybeGroup picked = candidates_[current_]->pick(now);
    latest_ = picked ? *picked : latest_;
    return picked;
  }

  void stalled(const Group& group) override {
    for (const std::unique_ptr<TwoLevelScheduler>& candidate : candidates_) {
      candidate->stalled(group);
    }
  }

  void launch_begins(std::uint64_t code_address, Cycle now) override {
    const auto same = std::find_if(kernels_.begin(), kernels_.end(), [&](const Learnt& kernel) {
      return kernel.used && kernel.code_address == code_address;
    });
    if (same != kernels_.end() && own_.kernels != 0) {
      kernel_ = static_cast<std::size_t>(same - kernels_.begin());
    } else {
      kernel_ = next_kernel_;
      next_kernel_ = (next_kernel_ + 1) % kernels_.size();
      kernels_[kernel_] = {};
      kernels_[kernel_].used = true;
      kernels_[kernel_].code_address = code_address;
      try_candidate(0);
    }
    begin_interval(now);
  }

  void launch_ends(Cycle now) override {
    account(now);
    learnt().left = ends_ > now ? ends_ - now : 0;
  }

  [[nodiscard]] std::optional<unsigned> first_fetch_group() const override {
    return candidates_[current_]->first_fetch_group();
  }
  [[nodiscard]] unsigned fetch_groups() const override {
    unsigned most = 0;
    for (const std::unique_ptr<TwoLevelScheduler>& candidate : candidates_) {
      most = std::max(most, candidate->fetch_groups());
    }
    return most;
  }
  [[nodiscard]] unsigned candidates() const override { return static_cast<unsigned>(candidates_.size()); }
  [[nodiscard]] unsigned candidate() const override { return current_; }

 private:
  // What is known of a kernel, and in which interval it is.
  struct Learnt {
    bool used = false;
    std::uint64_t code_address = 0;
    enum class Phase : std::uint8_t { settle, sample, run } phase = Phase::settle;
    unsigned tried = 0;         // the candidate that is tried
    Cycle left = 0;             // cycles of the interval that are left
    std::uint64_t cycles = 0;   // of the interval, so far
    std::uint64_t retired = 0;  // in them
    unsigned best = 0;          // of the candidates tried so far in this round
    double best_rate = -1;      // its instructions per cycle
  };

  [[nodiscard]] Learnt& learnt() { return kernels_[kernel_]; }

  void set_phase(Learnt::Phase phase, Cycle cycles) {
    Learnt& kernel = learnt();
    kernel.phase = phase;
    kernel.left = cycles;
    kernel.cycles = kernel.retired = 0;
  }
  void try_candidate(unsigned candidate) {
    Learnt& kernel = learnt();
    kernel.tried = candidate;
    if (candidate == 0) {
      kernel.best_rate = -1;
    }
    if (own_.settle != 0) {
      set_phase(Learnt::Phase::settle, own_.settle);
    } else {
      set_phase(Learnt::Phase::sample, own_.sample);
    }
  }

  void begin_interval(Cycle now) {
    const Learnt& kernel = learnt();
    const unsigned candidate = kernel.phase == Learnt::Phase::run ? kernel.best : kernel.tried;
    if (candidate != current_) {
      current_ = candidate;
      candidates_[current_]->take_over(latest_);
    }
    began_ = now;
    retired_before_ = statistics_.thread_instructions;
    ends_ = candidates_.size() == 1 ? link::kNever : now + kernel.left;
  }

  // The cycles up to now belong to the interval.
  void account(Cycle now) {
    Learnt& kernel = learnt();
    kernel.cycles += now - began_;
    kernel.retired += statistics_.thread_instructions - retired_before_;
    statistics_.two_level_candidates[current_] += now - began_;
    began_ = now;
    retired_before_ = statistics_.thread_instructions;
  }

  void end_interval(Cycle now) {
    account(now);
    Learnt& kernel = learnt();
    switch (kernel.phase) {
      case Learnt::Phase::settle:
        set_phase(Learnt::Phase::sample, own_.sample);
        break;
      case Learnt::Phase::sample: {
        const double rate =
            static_cast<double>(kernel.retired) / static_cast<double>(std::max<Cycle>(kernel.cycles, 1));
        if (rate > kernel.best_rate) {
          kernel.best = kernel.tried;
          kernel.best_rate = rate;
        }
        ++statistics_.two_level_samples;
        if (kernel.tried + 1 < candidates_.size()) {
          try_candidate(kernel.tried + 1);
        } else {
          set_phase(Learnt::Phase::run, own_.run);
        }
        break;
      }
      case Learnt::Phase::run:
        try_candidate(0);
        break;
    }
    begin_interval(now);
  }

  const Parameters own_;
  CoreStatistics unseen_;  // counts that are not shown
  CoreStatistics& statistics_;
  std::vector<std::unique_ptr<TwoLevelScheduler>> candidates_;
  unsigned current_ = 0;  // of the candidates
  GroupId latest_ = 0;    // fetched last
  Cycle began_ = 0;       // the interval, or the launch within it
  Cycle ends_ = 0;
  std::uint64_t retired_before_ = 0;
  std::vector<Learnt> kernels_;
  std::size_t kernel_ = 0;       // the one that runs
  std::size_t next_kernel_ = 0;  // whose place a further one takes
};

void AdaptiveTwoLevel::cost(const CostShape& shape, CostLines& lines) {
  const Parameters& own = shape.machine.core.policies.of<Parameters>();
  const std::vector<FetchGroupPolicies> all = own.candidates();
  unsigned smallest = std::numeric_limits<unsigned>::max();
  for (const FetchGroupPolicies& candidate : all) {
    smallest = std::min(smallest, candidate.fetch_group);
  }
  lines.mechanism("adaptive two-level scheduling");
  CostShape inside = shape;  // one size at a time, and no more state than the smallest fetch groups need
  inside.set_warps = std::min<std::uint64_t>(smallest, shape.pool);
  inside.sets = (shape.pool + inside.set_warps - 1) / inside.set_warps;
  inside.in_fetch_groups = true;
  lines.add(CostLine::Kind::estimated, "first fetch group", fmt::format("log2({} groups)", inside.sets),
            index_bits(inside.sets), "own estimate: of the smallest size");
  for (const std::string& outer : list_items(own.outer_schedulers)) {
    if (const auto cost_of = about<FetchGroupOrder>(outer).cost) {
      cost_of(shape, lines);
    }
  }
  for (const std::string& inner : list_items(own.inner_schedulers)) {
    inside.ages_elsewhere = lines.has(kOrderOfAge);
    if (const auto cost_of = about<WarpScheduler>(inner).cost) {
      cost_of(inside, lines);
    }
  }
  TwoLevelScheduler::cost_of_rule(shape.machine.core.policies.of<TwoLevelParameters>(), shape, lines);
  if (all.size() == 1) {
    return;
  }
  const std::uint64_t longest = std::max({own.settle, own.sample, own.run});
  const std::uint64_t interval = index_bits(longest + 1);
  const std::uint64_t retired = index_bits(own.sample * shape.lanes + 1);
  const std::uint64_t candidate = index_bits(all.size());
  const std::uint64_t kernels = std::max(own.kernels, 1U);
  lines.add(CostLine::Kind::estimated, "cycles left of the interval",
            fmt::format("{} kernels x log2(longest interval {} + 1)", kernels, longest), kernels * interval,
            "own estimate");
  lines.add(CostLine::Kind::estimated, "instructions retired, of the sample and of the best one",
            fmt::format("{} kernels x 2 x log2(sample {} x {} lanes + 1)", kernels, own.sample, shape.lanes),
            kernels * 2 * retired, "own estimate: samples of one length are compared by their counts");
  lines.add(CostLine::Kind::estimated, "candidate that is tried, best one and phase",
            fmt::format("{} kernels x (2 x log2({} candidates) + 2)", kernels, all.size()),
            kernels * (2 * candidate + 2), "own estimate");
  if (own.kernels != 0) {
    lines.add(CostLine::Kind::estimated, "which kernels", fmt::format("{} kernels x {}", kernels, kPcBits),
              kernels * kPcBits, "own estimate: the address of their code");
  }
}

const Register<WarpScheduler, AdaptiveTwoLevel> adaptive_entry{
    "two-level-adaptive", "two levels that learn fetch-group size, inner and outer scheduler by sampling"};

}  // namespace

}  // namespace heddle::hw
