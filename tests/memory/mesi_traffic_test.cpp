// Eight L1s under mesi with random traffic against a plain record of what each core has stored: real caches,
// interconnects, slices and controllers, roomy and tight ones.
//
// Every line has a word of each core's, which that core alone stores to, counting up, and a word for atomics. A core's
// load sees what it has stored itself before, exactly; of another core's word at least what is known to have been
// visible, or seen, when the load was accepted, and at most what has been stored when it is answered. Atomics by one
// on a word all have different answers, in each core's order. At the end memory has all of it.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "system.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED("Seeds/MesiTraffic.*")
HEDDLE_SAMPLED_SANITIZED("Seeds/MesiTraffic.*")

namespace heddle::hw::test {
namespace {

constexpr unsigned kCores = 8;
constexpr unsigned kLineBytes = 64;
constexpr unsigned kAtomicWord = kCores;

struct Traffic {
  unsigned seed = 0;
  unsigned accesses = 0;
  bool tight = false;
  bool late_puts = false;  // some puts cross their home's message
  bool stalls = false;     // some messages find a line on its way and wait
};

// What the cores know of each other's words.
struct Record {
  std::vector<std::array<std::uint32_t, kCores>> stored;   // by line and core
  std::vector<std::array<std::uint32_t, kCores>> visible;  // to everybody
  std::vector<std::vector<bool>> old;                      // answers of atomics, by line
};

class Player {
 public:
  Player(MemorySystem& system, unsigned core, Record& record, unsigned seed, unsigned accesses)
      : system_(system),
        core_(core),
        record_(record),
        engine_(seed * 977 + core),
        left_(accesses),
        seen_(record.stored.size()),
        latest_old_(record.stored.size(), 0) {
    slots_.resize(6);
    for (Slot& slot : slots_) {
      slot.access.store.resize(kLineBytes);
      slot.access.enable.resize(kLineBytes);
    }
    system.core(core).each_cycle = [this](Cycle now) { return play(now); };
    system.core(core).on_answer = [this](Access& access) { answered(access); };
  }
  [[nodiscard]] bool done() const { return left_ == 0 && waiting_ == 0; }

 private:
  struct Slot {
    Access access;  // first: an answer finds its slot by it
    bool used = false;
    unsigned line = 0;
    std::array<std::uint32_t, kCores> least{};
  };

  Cycle play(Cycle now) {
    if (system_.cache(core_).stores_visible()) {
      for (const unsigned line : dirty_) {
        record_.visible[line][core_] = record_.stored[line][core_];
      }
      dirty_.clear();
    }
    if (left_ == 0 || now < next_) {
      return left_ == 0 ? kNever : next_;
    }
    if (present_ == nullptr) {
      for (Slot& slot : slots_) {
        if (!slot.used) {
          present_ = &slot;
          choose(slot);
          break;
        }
      }
      if (present_ == nullptr) {
        return kNever;  // an answer comes
      }
    }
    Slot& slot = *present_;
    const LineRequest::Kind kind = slot.access.request.kind;
    slot.access.answered = kNever;
    slot.access.refusals = 0;
    slot.used = true;
    ++waiting_;
    for (unsigned core = 0; core != kCores; ++core) {
      slot.least[core] = core == core_ ? record_.stored[slot.line][core]
                                       : std::max(record_.visible[slot.line][core], seen_[slot.line][core]);
    }
    if (!system_.core(core_).offer(slot.access, now)) {
      slot.used = false;
      --waiting_;
      return now + 1;
    }
    if (kind == LineRequest::Kind::store) {
      ++record_.stored[slot.line][core_];
      dirty_.push_back(slot.line);
    }
    present_ = nullptr;
    --left_;
    next_ = now + (engine_() % 8 == 0 ? engine_() % 40 : 1);
    return next_;
  }

  void choose(Slot& slot) {
    const auto lines = static_cast<unsigned>(record_.stored.size());
    slot.line = engine_() % 3 == 0 ? engine_() % lines : engine_() % 4;
    LineRequest& request = slot.access.request;
    request = LineRequest{};
    request.core = static_cast<std::uint16_t>(core_);
    request.address = kBase + std::uint64_t{slot.line} * kLineBytes;
    const unsigned kind = engine_() % 16;
    if (kind < 8) {
      request.kind = LineRequest::Kind::load;
      request.bypass = kind == 0;
    } else if (kind < 14) {
      request.kind = LineRequest::Kind::store;
      std::fill(slot.access.enable.begin(), slot.access.enable.end(), std::uint8_t{0});
      std::fill_n(slot.access.enable.begin() + 4 * core_, 4, std::uint8_t{0xff});
      const std::uint32_t value = record_.stored[slot.line][core_] + 1;
      std::memcpy(&slot.access.store[std::size_t{4} * core_], &value, 4);
    } else {
      request.kind = LineRequest::Kind::atomic;
      slot.access.lanes = {};
      slot.access.lanes.count = 1;
      slot.access.lanes.offset[0] = 4 * kAtomicWord;
      slot.access.lanes.b[0] = 1;
    }
  }

  void answered(Access& access) {
    auto& slot = reinterpret_cast<Slot&>(access);
    slot.used = false;
    --waiting_;
    if (access.request.kind == LineRequest::Kind::load) {
      for (unsigned core = 0; core != kCores; ++core) {
        const std::uint32_t value = access.word(core);
        const std::uint32_t most = core == core_ ? slot.least[core] : record_.stored[slot.line][core];
        if (value < slot.least[core] || value > most) {
          ADD_FAILURE() << "core " << core_ << " reads core " << core << "'s word of line " << slot.line << ": "
                        << value << ", not " << slot.least[core] << " to " << most;
        }
        seen_[slot.line][core] = std::max(seen_[slot.line][core], value);
      }
    } else if (access.request.kind == LineRequest::Kind::atomic) {
      const std::uint64_t old = access.lanes.old[0];
      std::vector<bool>& all = record_.old[slot.line];
      if (all.size() <= old) {
        all.resize(old + 1);
      }
      EXPECT_FALSE(all[old]) << "two atomics on line " << slot.line << " found " << old;
      all[old] = true;
      EXPECT_LE(latest_old_[slot.line], old);
      latest_old_[slot.line] = old + 1;
    }
  }

  MemorySystem& system_;
  const unsigned core_;
  Record& record_;
  std::mt19937 engine_;
  unsigned left_;
  std::vector<Slot> slots_;
  Slot* present_ = nullptr;
  unsigned waiting_ = 0;
  Cycle next_ = 0;
  std::vector<unsigned> dirty_;  // lines with stores that may not be visible yet
  std::vector<std::array<std::uint32_t, kCores>> seen_;
  std::vector<std::uint64_t> latest_old_;
};

SystemParameters machine_for(const Traffic& traffic) {
  std::mt19937 engine(traffic.seed);
  const auto one_of = [&](std::initializer_list<unsigned> values) { return values.begin()[engine() % values.size()]; };
  SystemParameters parameters;
  parameters.cores = kCores;
  parameters.coherence = "mesi";
  parameters.checked = traffic.seed % 4 >= 2;
  parameters.reversed = traffic.seed % 3 == 0;
  DataCacheParameters& cache = parameters.cache;
  cache.line_bytes = kLineBytes;
  cache.write_policy = "write-back";
  L2Parameters& l2 = parameters.l2;
  l2.enabled = l2.inclusive = true;
  l2.write_policy = "write-back";
  l2.line_bytes = kLineBytes;
  parameters.dram.channels = one_of({1, 2, 4});
  if (traffic.tight) {
    cache.ways = one_of({1, 2});
    cache.bytes = std::uint64_t{kLineBytes} * cache.ways * one_of({1, 2});
    cache.mshrs = one_of({1, 1, 2});
    cache.mshr_targets = one_of({1, 2});
    cache.write_buffer = 1;
    cache.hit_latency = one_of({1, 3});
    l2.ways = one_of({1, 2});
    l2.bytes = std::uint64_t{kLineBytes} * l2.ways * parameters.dram.channels * one_of({1, 2});
    l2.mshrs = one_of({1, 2});
    l2.mshr_targets = 1;
    l2.write_buffer = 1;
    l2.queue = one_of({1, 2});
    l2.banks = one_of({1, 2});
    l2.hit_latency = one_of({1, 4});
    parameters.noc.queue = 1;
    parameters.noc.link_bytes = one_of({0, 16});
    parameters.noc.packed = one_of({0, 1}) == 1;
    parameters.noc.request_latency = one_of({1, 4});
    parameters.noc.response_latency = one_of({1, 6});
    parameters.dram.queue = one_of({1, 3});
  } else {
    cache.ways = 4;
    cache.bytes = std::uint64_t{kLineBytes} * 4 * one_of({2, 4});
    cache.hit_latency = one_of({1, 2, 3});
    cache.ports = one_of({1, 2});
    l2.ways = 8;
    l2.bytes = std::uint64_t{kLineBytes} * 8 * parameters.dram.channels * one_of({1, 2, 8});
    l2.banks = one_of({1, 4});
    l2.hit_latency = one_of({4, 20});
  }
  return parameters;
}

class MesiTraffic : public ::testing::TestWithParam<Traffic> {};

TEST_P(MesiTraffic, SeesWhatWasStored) {
  const Traffic& traffic = GetParam();
  MemorySystem system(machine_for(traffic));
  const unsigned lines = 24 + traffic.seed % 5 * 8;
  system.memory.write(kBase, std::vector<std::byte>(std::size_t{lines} * kLineBytes));
  Record record{std::vector<std::array<std::uint32_t, kCores>>(lines),
                std::vector<std::array<std::uint32_t, kCores>>(lines), std::vector<std::vector<bool>>(lines)};
  std::vector<std::unique_ptr<Player>> players;
  for (unsigned core = 0; core != kCores; ++core) {
    players.push_back(std::make_unique<Player>(system, core, record, traffic.seed, traffic.accesses / kCores));
  }
  const auto done = [&] {
    return std::all_of(players.begin(), players.end(), [](const auto& player) { return player->done(); });
  };
  const Cycle limit = Cycle{traffic.accesses} * 400 + 100'000;
  while (!done() && system.clock.now() < limit && !::testing::Test::HasFailure()) {
    sc_core::sc_start(system.clock.cycles(10'000));
  }
  ASSERT_TRUE(done()) << "in cycle " << system.clock.now();
  system.run();
  CoherenceStatistics all;
  HomeStatistics homes;
  for (unsigned core = 0; core != kCores; ++core) {
    all.upgrades += system.cache(core).coherence_statistics().upgrades;
    all.stalled += system.cache(core).coherence_statistics().stalled;
    all.invalidated_late += system.cache(core).coherence_statistics().invalidated_late;
  }
  for (unsigned channel = 0; channel != machine_for(traffic).dram.channels; ++channel) {
    homes.puts_late += system.l2(channel).home()->statistics().puts_late;
    homes.recalls += system.l2(channel).home()->statistics().recalls;
    homes.forwards += system.l2(channel).home()->statistics().forwards;
    homes.invalidations += system.l2(channel).home()->statistics().invalidations;
  }
  EXPECT_NE(homes.forwards, 0U);
  EXPECT_NE(homes.invalidations, 0U);
  EXPECT_NE(all.upgrades, 0U);
  if (traffic.tight) {
    EXPECT_NE(homes.recalls, 0U);
    EXPECT_TRUE(homes.puts_late != 0 || !traffic.late_puts);
    EXPECT_TRUE(all.stalled != 0 || !traffic.stalls);
    EXPECT_NE(all.invalidated_late, 0U);
  }
  system.flush();
  std::vector<std::byte> memory(std::size_t{lines} * kLineBytes);
  system.memory.read(kBase, memory);
  for (unsigned line = 0; line != lines; ++line) {
    std::array<std::uint32_t, kCores + 1> words{};
    std::memcpy(words.data(), &memory[std::size_t{line} * kLineBytes], sizeof words);
    for (unsigned core = 0; core != kCores; ++core) {
      EXPECT_EQ(words[core], record.stored[line][core]) << "line " << line << ", core " << core;
    }
    EXPECT_EQ(words[kAtomicWord], record.old[line].size()) << "line " << line;
    for (std::size_t old = 0; old != record.old[line].size(); ++old) {
      EXPECT_TRUE(record.old[line][old]) << "line " << line << ": no atomic found " << old;
    }
  }
}

std::vector<Traffic> traffics(unsigned first, unsigned count, unsigned accesses) {
  std::vector<Traffic> all;
  for (unsigned seed = first; seed != first + count; ++seed) {
    const bool tight = seed % 2 == 0;
    const bool never_stalls = seed == 106 || seed == 108 || seed == 112;
    all.push_back({seed, tight ? accesses / 12 : accesses, tight, seed == 4 || seed == 6, tight && !never_stalls});
  }
  return all;
}

std::string name_of_traffic(const ::testing::TestParamInfo<Traffic>& info) {
  return std::to_string(info.param.seed) + (info.param.tight ? "_tight" : "_roomy");
}

INSTANTIATE_TEST_SUITE_P(Seeds, MesiTraffic, ::testing::ValuesIn(traffics(1, 8, 250'000)), name_of_traffic);
INSTANTIATE_TEST_SUITE_P(Long, MesiTraffic, ::testing::ValuesIn(traffics(101, 24, 1'000'000)), name_of_traffic);

}  // namespace
}  // namespace heddle::hw::test
