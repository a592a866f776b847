// Random machines under random traffic against a flat array: every load and atomic must see exactly what the requests
// accepted before it left, whatever merges, evicts, bypasses or waits in between.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/statistics.hpp"
#include "isa/semantics.hpp"
#include "system.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED("Seeds/Random.*")

namespace heddle::hw::test {
namespace {

class Random : public ::testing::TestWithParam<unsigned> {
 protected:
  std::mt19937 engine{GetParam()};
  unsigned pick(unsigned low, unsigned high) { return low + engine() % (high - low + 1); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[engine() % values.size()];
  }

  SystemParameters machine() {
    SystemParameters parameters;
    DataCacheParameters& cache = parameters.cache;
    cache.line_bytes = one_of({32U, 64U, 128U});
    cache.ways = one_of({1U, 2U, 3U, 4U});
    cache.bytes = std::uint64_t{cache.line_bytes} * cache.ways * one_of({1U, 2U, 8U});
    cache.hit_latency = pick(1, 4);
    cache.ports = pick(1, 3);
    cache.banks = one_of({0U, 0U, 2U, 3U});
    cache.merge_reads = one_of({true, true, false});
    cache.mshrs = pick(1, 8);
    cache.mshr_targets = pick(1, 4);
    cache.write_buffer = pick(1, 6);
    cache.enabled = pick(0, 5) != 0;
    cache.write_policy = one_of({"write-back", "write-through"});
    parameters.noc = {
        pick(1, 5),           pick(1, 5), pick(1, 4), one_of({0.0, 0.0, 0.3, 0.71}), one_of({0U, 0U, 8U, 24U}),
        one_of({false, true})};
    DramParameters& dram = parameters.dram;
    dram.channels = one_of({1U, 2U, 4U});
    dram.banks = one_of({1U, 2U, 8U});
    dram.row_bytes = one_of({128U, 1024U});
    dram.row_hit = pick(1, 20);
    dram.row_conflict = dram.row_hit + pick(0, 40);
    dram.bandwidth_gbs = one_of({4.0, 17.0, 32.0, 300.0});
    dram.queue = pick(1, 12);
    dram.scheduler = one_of({"fcfs", "fcfs-per-bank", "fr-fcfs"});
    dram.mapping = one_of({"row-bank-column", "row-column-bank"});
    if (pick(0, 2) != 0) {
      add_l2(parameters);
    }
    if (pick(0, 4) == 0) {
      dram.timing = "none";
      dram.queue = pick(1, 3);  // few, as its memory answers at once
    }
    return parameters;
  }

  void add_l2(SystemParameters& parameters) {
    L2Parameters& l2 = parameters.l2;
    l2.enabled = true;
    l2.line_bytes = std::max(parameters.cache.line_bytes, one_of({64U, 128U}));
    l2.ways = pick(1, 4);
    l2.bytes = std::uint64_t{l2.line_bytes} * l2.ways * parameters.dram.channels * pick(1, 6);
    l2.hit_latency = one_of({1U, 2U, 7U});
    l2.banks = one_of({1U, 2U, 8U});
    l2.bank_interval = pick(1, 3);
    l2.mshrs = pick(1, 8);
    l2.mshr_targets = pick(1, 4);
    l2.write_policy = one_of({"write-back", "write-through"});
    l2.write_buffer = pick(1, 6);
    l2.queue = pick(1, 6);
    l2.inclusive = pick(0, 1) != 0;
  }

  // What GPUs of today have beside: sectors, sets and channels of any number, several slices, clocks of their own.
  void modernise(SystemParameters& parameters) {
    DataCacheParameters& cache = parameters.cache;
    cache.sector_bytes = cache.line_bytes == 32 ? 0 : one_of({0U, 32U, 32U, cache.line_bytes / 2});
    cache.bytes = std::uint64_t{cache.line_bytes} * cache.ways * pick(1, 9);
    cache.index = one_of({"modulo", "hash"});
    DramParameters& dram = parameters.dram;
    dram.channels = pick(1, 5);
    dram.channel_hash = dram.channels > 1 && pick(0, 1) != 0;
    dram.latency = one_of({0U, 0U, 17U});
    if (dram.timing != "none" && pick(0, 1) != 0) {
      dram.timing = "jedec";
      dram.preset = one_of({"hbm2e", "hbm3", "gddr6x", "ddr4-2400"});
      dram.banks = one_of({16U, 32U});
      dram.row_bytes = 1024;
    }
    parameters.noc.clock_ghz = one_of({0.0, 0.7, 1.3, 2.6});
    parameters.noc.slice_bytes = parameters.noc.link_bytes == 0 ? 0 : one_of({0U, 16U, 32U});
    L2Parameters& l2 = parameters.l2;
    if (l2.enabled) {
      l2.inclusive = false;
      l2.slices = pick(1, 3);
      l2.slice_hash = pick(0, 1) != 0;
      l2.index = one_of({"modulo", "hash"});
      l2.sector_bytes = one_of({0U, 32U, 32U, 64U});
      l2.bytes = std::uint64_t{l2.line_bytes} * l2.ways * dram.channels * l2.slices * pick(1, 6);
      l2.clock_ghz = one_of({0.0, 0.8, 1.9});
    }
  }

  void program_order(SystemParameters parameters);
  void process_order(SystemParameters parameters);
};

// Each core owns a slice of every line (false sharing without races).
struct Slice {
  unsigned first;
  unsigned bytes;
};

void Random::program_order(SystemParameters parameters) {
  const unsigned line_bytes = parameters.cache.line_bytes;
  const unsigned lines = pick(4, 40);
  MemorySystem system(parameters);
  std::vector<std::byte> model(std::size_t{lines} * line_bytes);
  for (std::byte& byte : model) {
    byte = static_cast<std::byte>(engine());
  }
  system.memory.write(kBase, model);

  struct Expected {
    const Access* access;
    Slice slice;
    std::vector<std::byte> line;
    std::vector<std::uint64_t> old;
  };
  const bool sectors = parameters.cache.sector_bytes != 0;
  std::vector<Expected> expected;
  const unsigned accesses = 6000 / parameters.cores;
  for (unsigned core = 0; core != parameters.cores; ++core) {
    const Slice slice{line_bytes / parameters.cores * core, line_bytes / parameters.cores};
    Cycle at = 0;
    for (unsigned i = 0; i != accesses; ++i) {
      at += pick(0, 9) == 0 ? pick(0, 60) : pick(0, 1);
      const unsigned index = pick(0, 3) == 0 ? pick(0, lines - 1) : pick(0, std::min(lines, 4U) - 1);
      const std::uint64_t line = kBase + std::uint64_t{index} * line_bytes;
      std::byte* const bytes = &model[std::size_t{index} * line_bytes];
      const unsigned kind = pick(0, 19);
      if (kind < 9) {
        Access& access = system.core(core).load(at, line, kind == 0);
        if (sectors) {  // some part of it at least
          const unsigned parts = line_bytes / link::kPartBytes;
          access.request.parts = static_cast<std::uint8_t>(pick(1, (1U << parts) - 1));
        }
        expected.push_back({&access, slice, {bytes + slice.first, bytes + slice.first + slice.bytes}, {}});
      } else if (kind < 18) {
        Access& access = system.core(core).store_line(at, line, static_cast<std::uint32_t>(engine()));
        // An L1 makes a whole line without asking the L2: not where inclusion is looked at below.
        const bool whole = parameters.cores == 1 && kind == 9 && !parameters.l2.inclusive;
        for (unsigned b = 0; b != line_bytes; ++b) {
          const bool mine = b >= slice.first && b < slice.first + slice.bytes;
          access.enable[b] = whole || (mine && pick(0, 2) == 0) ? 0xff : 0;
          access.store[b] = static_cast<std::byte>(engine());
          bytes[b] = access.enable[b] != 0 ? access.store[b] : bytes[b];
        }
      } else {
        Access& access = system.core(core).atomic_add(at, line, {}, true);
        link::AtomicLanes& lanes = access.lanes;
        lanes.op = one_of({isa::AtomicOp::add, isa::AtomicOp::exch, isa::AtomicOp::cas, isa::AtomicOp::max});
        lanes.type = lanes.op == isa::AtomicOp::exch || lanes.op == isa::AtomicOp::cas
                         ? one_of({isa::Type::b32, isa::Type::b64})
                         : one_of({isa::Type::u32, isa::Type::u64});
        const unsigned size = isa::size_of(lanes.type);
        lanes.count = pick(1, 32);
        Expected answer{&access, slice, {}, {}};
        for (unsigned lane = 0; lane != lanes.count; ++lane) {
          lanes.lane[lane] = static_cast<std::uint8_t>(lane);
          lanes.offset[lane] = slice.first + pick(0, slice.bytes / size - 1) * size;
          lanes.b[lane] = size == 4 ? engine() : engine() * std::uint64_t{0x1'0000'0001};
          lanes.c[lane] = engine();
          std::uint64_t old = 0;
          std::memcpy(&old, bytes + lanes.offset[lane], size);
          if (lanes.op == isa::AtomicOp::cas && pick(0, 1) == 0) {
            lanes.b[lane] = old;
          }
          const std::uint64_t value = isa::atomic_step(lanes.op, lanes.type, old, lanes.b[lane], lanes.c[lane]);
          std::memcpy(bytes + lanes.offset[lane], &value, size);
          answer.old.push_back(old);
        }
        expected.push_back(std::move(answer));
      }
    }
  }
  system.run(40'000'000);
  for (std::size_t i = 0; i != expected.size(); ++i) {
    const Expected& answer = expected[i];
    if (!answer.line.empty()) {
      ASSERT_EQ(answer.access->line.size(), line_bytes) << "answer " << i;
      for (unsigned at = 0; at != answer.slice.bytes; ++at) {
        const unsigned part = (answer.slice.first + at) / link::kPartBytes;
        if (((answer.access->request.parts >> part) & 1U) != 0) {
          ASSERT_EQ(answer.access->line[answer.slice.first + at], answer.line[at]) << "load " << i << ", byte " << at;
        }
      }
    }
    for (std::size_t lane = 0; lane != answer.old.size(); ++lane) {
      ASSERT_EQ(answer.access->lanes.old[lane], answer.old[lane]) << "atomic " << i << ", lane " << lane;
    }
  }
  if (parameters.l2.enabled && parameters.l2.inclusive) {
    for (unsigned core = 0; core != parameters.cores; ++core) {
      for (unsigned index = 0; index != lines; ++index) {
        const std::uint64_t line = kBase + std::uint64_t{index} * line_bytes;
        bool below = false;
        for (unsigned i = 0; i != system.slices(); ++i) {
          below = below || system.l2(i).holds(line);
        }
        EXPECT_TRUE(below || system.cache(core).peek(line) == nullptr) << "line " << index << " of core " << core;
      }
    }
  }
  system.flush();
  std::vector<std::byte> memory(model.size());
  system.memory.read(kBase, memory);
  EXPECT_EQ(memory, model);
  for (unsigned core = 0; core != parameters.cores; ++core) {
    const CacheStatistics& statistics = system.cache(core).statistics();
    EXPECT_EQ(statistics.accesses, accesses);
    EXPECT_EQ(statistics.hits + statistics.misses, statistics.accesses);
    EXPECT_EQ(statistics.loads + statistics.stores + statistics.atomics, statistics.accesses);
  }
  std::uint64_t served = 0;
  for (unsigned i = 0; i != parameters.dram.channels; ++i) {
    const DramStatistics& statistics = system.controller(i).statistics();
    const std::uint64_t all = statistics.reads + statistics.writes + statistics.atomics;
    EXPECT_EQ(statistics.row_hits + statistics.row_conflicts, parameters.dram.timing == "none" ? 0 : all);
    EXPECT_LE(statistics.queue_max, parameters.dram.queue);
    EXPECT_TRUE(system.controller(i).quiet());
    served += all;
  }
  if (parameters.l2.enabled) {
    std::uint64_t asked = 0;
    std::uint64_t sent = 0;
    for (unsigned i = 0; i != system.slices(); ++i) {
      const CacheStatistics& statistics = system.l2(i).store().statistics();
      EXPECT_EQ(system.l2(i).statistics().requests, statistics.accesses);
      EXPECT_EQ(statistics.hits + statistics.misses, statistics.accesses);
      EXPECT_EQ(statistics.loads + statistics.stores + statistics.atomics, statistics.accesses);
      asked += statistics.accesses;
      const bool handed_on = parameters.l2.write_policy == "write-through";
      sent += statistics.memory_reads + statistics.memory_writes + (handed_on ? statistics.atomics : 0);
    }
    EXPECT_EQ(served, sent);
    served = asked;
  }
  EXPECT_EQ(system.noc().statistics().requests, served);
  EXPECT_EQ(system.noc().statistics().responses, served);
}

TEST_P(Random, EveryAnswerIsWhatProgramOrderSays) {
  SystemParameters parameters = machine();
  parameters.cores = one_of({1U, 1U, 2U});
  program_order(parameters);
}

TEST_P(Random, EveryAnswerOfAModernMachineIsWhatProgramOrderSays) {
  SystemParameters parameters = machine();
  parameters.cores = one_of({1U, 1U, 2U});
  modernise(parameters);
  program_order(parameters);
}

// Two equal systems side by side whose modules, and so processes, were made in opposite orders, with and without
// checkers: every access must be accepted and answered in the same cycle, and every counter count the same.
void Random::process_order(SystemParameters parameters) {
  parameters.cores = pick(1, 4);
  MemorySystem one(parameters);
  parameters.prefix = "reversed_";
  parameters.reversed = true;
  parameters.checked = false;
  MemorySystem other(parameters);
  const unsigned lines = pick(4, 60);
  for (unsigned core = 0; core != parameters.cores; ++core) {
    Cycle at = 0;
    for (unsigned i = 0; i != 1000; ++i) {
      at += pick(0, 9) == 0 ? pick(0, 60) : pick(0, 1);
      const std::uint64_t line = kBase + std::uint64_t{pick(0, lines - 1)} * parameters.cache.line_bytes;
      const unsigned kind = pick(0, 9);
      for (MemorySystem* system : {&one, &other}) {
        ScriptCore& script = system->core(core);
        if (kind < 5) {
          script.load(at, line, kind == 0);
        } else if (kind < 9) {
          script.store_word(at, line + 4 * core, i);
        } else {
          script.atomic_add(at, line, {1}, true);
        }
      }
    }
  }
  one.run(40'000'000);
  other.run(40'000'000);
  for (unsigned core = 0; core != parameters.cores; ++core) {
    for (std::size_t i = 0; i != one.core(core).script().size(); ++i) {
      const Access& a = one.core(core).script()[i];
      const Access& b = other.core(core).script()[i];
      ASSERT_EQ(a.accepted, b.accepted) << "core " << core << ", access " << i;
      ASSERT_EQ(a.answered, b.answered) << "core " << core << ", access " << i;
    }
  }
  StatisticsRegistry counters;
  StatisticsRegistry others;
  one.declare(counters);
  other.declare(others);
  for (std::size_t i = 0; i != counters.scalars().size(); ++i) {
    const auto& [declaration, value] = counters.scalars()[i];
    EXPECT_EQ(*value, *others.scalars()[i].value) << declaration.module << " " << declaration.name;
  }
  for (std::size_t i = 0; i != counters.histograms().size(); ++i) {
    const auto& [declaration, values] = counters.histograms()[i];
    EXPECT_EQ(*values, *others.histograms()[i].values) << declaration.module << " " << declaration.name;
  }
}

TEST_P(Random, TimingDoesNotDependOnProcessOrder) {
  process_order(machine());
}

TEST_P(Random, TimingOfAModernMachineDoesNotDependOnProcessOrder) {
  SystemParameters parameters = machine();
  modernise(parameters);
  process_order(parameters);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range(1U, 41U));

}  // namespace
}  // namespace heddle::hw::test
