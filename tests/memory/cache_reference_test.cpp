// A cache against a reference that knows nothing of it (reference_cache.hpp), under random traffic and before a memory
// that refuses and delays at random, in every form that the base protocol allows: what becomes of every offer, hit or
// miss, what every request is answered and in which cycle, and what memory is sent in which order, write-backs
// included.
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <random>

#include "isa/semantics.hpp"
#include "reference_cache.hpp"
#include "system.hpp"
#include "tests/support/marks.hpp"

HEDDLE_SAMPLED_SANITIZED("L?/CacheReference.*")

namespace heddle::hw::test {
namespace {

constexpr unsigned kAccesses = 60'000;  // per seed

using Kind = ReferenceCache::Kind;
using Result = ReferenceCache::Result;
using Command = ReferenceCache::Command;

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  unsigned pick(unsigned low, unsigned high) { return low + engine_() % (high - low + 1); }
  bool one_in(unsigned n) { return engine_() % n == 0; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[engine_() % values.size()];
  }

 private:
  std::mt19937 engine_;
};

// The steps of an atomic, said again.
void step(link::AtomicLanes& lanes, std::byte* line) {
  for (unsigned i = 0; i != lanes.count; ++i) {
    std::uint32_t old = 0;
    std::memcpy(&old, line + lanes.offset[i], 4);
    lanes.old[i] = old;
    const std::uint32_t next = old + static_cast<std::uint32_t>(lanes.b[i]);
    std::memcpy(line + lanes.offset[i], &next, 4);
  }
}

// Performs requests in the order in which they come and answers them whenever and in whatever form it likes.
class MoodyMemory final : public link::ClockedModule, private ::tlm::tlm_fw_transport_if<> {
 public:
  MoodyMemory(const sc_core::sc_module_name& name, link::Clock clock, ReferenceCache& reference, Dice& dice,
              std::vector<std::byte> contents, unsigned slowness)
      : ClockedModule(name, clock),
        socket("socket"),
        contents(std::move(contents)),
        reference_(reference),
        dice_(dice),
        slowness_(slowness) {
    socket.bind(*this);
  }
  ::tlm::tlm_target_socket<> socket;
  std::vector<std::byte> contents;
  bool flushing = false;  // what comes is not the reference's

 private:
  using Payload = ::tlm::tlm_generic_payload;
  struct Owed {
    Cycle at = 0;
    Payload* payload = nullptr;
    unsigned mshr = 0;
  };

  static ReferenceCache::Sent written(const Payload& payload) {
    EXPECT_TRUE(payload.is_write());
    const auto* const data = reinterpret_cast<const std::byte*>(payload.get_data_ptr());
    const std::uint8_t* const enable = payload.get_byte_enable_ptr();
    const unsigned length = payload.get_data_length();
    ReferenceCache::Sent sent{Command::write, payload.get_address(), {}, {data, data + length}, 0};
    sent.enable =
        enable != nullptr ? ReferenceCache::Mask(enable, enable + length) : ReferenceCache::Mask(length, 0xff);
    return sent;
  }

  // The access itself, and that it is the one that was due.
  unsigned perform(Payload& payload) {
    if (flushing) {
      reference_.sent.push_back(written(payload));
    }
    if (reference_.sent.empty()) {
      ADD_FAILURE() << "request to " << std::hex << payload.get_address() << ", and none was due";
      return 0;
    }
    const ReferenceCache::Sent due = reference_.take();
    EXPECT_EQ(payload.get_address(), due.address);
    EXPECT_EQ(payload.get_command(), due.command == Command::read    ? ::tlm::TLM_READ_COMMAND
                                     : due.command == Command::write ? ::tlm::TLM_WRITE_COMMAND
                                                                     : ::tlm::TLM_IGNORE_COMMAND);
    std::byte* const line = &contents[payload.get_address() - kBase];
    auto* const data = reinterpret_cast<std::byte*>(payload.get_data_ptr());
    const unsigned length = payload.get_data_length();
    if (payload.is_read()) {
      std::memcpy(data, line, length);
    } else if (payload.is_write()) {
      for (unsigned i = 0; i != length; ++i) {
        const bool enabled = payload.get_byte_enable_ptr() == nullptr || payload.get_byte_enable_ptr()[i] != 0;
        EXPECT_EQ(enabled, due.enable[i] != 0) << "byte " << i;
        if (enabled) {
          EXPECT_EQ(data[i], due.data[i]) << "byte " << i;
          line[i] = data[i];
        }
      }
    } else {
      link::MemoryExtension* extension = nullptr;
      payload.get_extension(extension);
      step(*extension->atomic, line);
    }
    payload.set_response_status(::tlm::TLM_OK_RESPONSE);
    return due.mshr;
  }

  ::tlm::tlm_sync_enum nb_transport_fw(Payload& payload, ::tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase == ::tlm::END_RESP) {
      return ::tlm::TLM_COMPLETED;
    }
    const unsigned mshr = perform(payload);
    const Cycle now = clock().now();
    const unsigned form = dice_.pick(0, 7);
    if (form == 0) {  // answered in the call, with or without a delay
      delay += clock().cycles(dice_.pick(0, 3));
      reference_.answered(payload.is_write(), mshr, clock().visible_after(delay));
      phase = ::tlm::BEGIN_RESP;
      return dice_.one_in(2) ? ::tlm::TLM_COMPLETED : ::tlm::TLM_UPDATED;
    }
    owed_.push_back({now + dice_.pick(1, slowness_), &payload, mshr});
    wake(owed_.back().at);
    if (form < 5) {
      phase = ::tlm::END_REQ;
      return ::tlm::TLM_UPDATED;
    }
    if (form < 7) {  // refused for a time
      end_request_ = &payload;
      end_request_at_ = now + dice_.pick(1, slowness_);
      wake(end_request_at_);
    }
    return ::tlm::TLM_ACCEPTED;  // otherwise BEGIN_RESP will imply END_REQ
  }

  Cycle advance(Cycle now) override {
    if (end_request_ != nullptr && end_request_at_ <= now) {
      ::tlm::tlm_phase phase = ::tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      Payload& payload = *end_request_;
      end_request_ = nullptr;
      socket->nb_transport_bw(payload, phase, delay);
    }
    Cycle next = end_request_ == nullptr ? kNever : end_request_at_;
    for (std::size_t i = 0; i != owed_.size();) {
      if (owed_[i].at > now) {
        next = std::min(next, owed_[i++].at);
        continue;
      }
      const Owed owed = owed_[i];
      owed_.erase(owed_.begin() + static_cast<std::ptrdiff_t>(i));
      end_request_ = end_request_ == owed.payload ? nullptr : end_request_;
      ::tlm::tlm_phase phase = ::tlm::BEGIN_RESP;
      sc_core::sc_time delay = clock().cycles(dice_.one_in(4) ? dice_.pick(0, 3) : 0);
      reference_.answered(owed.payload->is_write(), owed.mshr, clock().visible_after(delay));
      EXPECT_EQ(socket->nb_transport_bw(*owed.payload, phase, delay), ::tlm::TLM_COMPLETED);
    }
    return next;
  }
  void b_transport(Payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(Payload&, ::tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Payload&) override { return 0; }

  ReferenceCache& reference_;
  Dice& dice_;
  unsigned slowness_;
  std::vector<Owed> owed_;
  Payload* end_request_ = nullptr;
  Cycle end_request_at_ = 0;
};

struct Shape {
  DataCacheParameters cache;
  bool shared = false;
  unsigned lines = 0;
  bool sleeps = false;  // the requester runs only when it must
  unsigned burst = 1;   // offers per cycle
  unsigned pause = 0;   // one in so many cycles is followed by a pause
  unsigned slowness = 1;
  bool invalidations = false;
  bool waits = false;  // half of the stores wait until they are done
};

// Offers random requests and compares all that becomes of them with what the reference says.
class Requester final : public link::ClockedModule, private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
 public:
  Requester(const sc_core::sc_module_name& name, link::Clock clock, const Shape& shape, ReferenceCache& reference,
            std::vector<std::byte>& contents, Dice& dice)
      : ClockedModule(name, clock),
        socket("socket"),
        shape_(shape),
        reference_(reference),
        contents_(contents),
        dice_(dice) {
    socket.bind(*this);
  }
  link::LineInitiatorSocket socket;
  Cache* cache = nullptr;
  unsigned accepted = 0;
  std::uint64_t refused = 0;
  bool flushing = false;
  [[nodiscard]] bool done() const { return accepted == kAccesses && under_way_.empty(); }

 private:
  struct Access {
    LineRequest request;
    link::AtomicLanes lanes;
    ReferenceCache::Mask enable;
    std::vector<std::byte> data;
    std::vector<std::byte> expected;   // loads: the line
    link::AtomicLanes expected_lanes;  // atomics: old values
  };

  Cycle advance(Cycle now) override {
    if (flushing) {
      return cache->advance(now);
    }
    due_ = reference_.cycle(now);
    answered_ = 0;
    Cycle next = cache->advance(now);
    EXPECT_EQ(answered_, due_.size()) << "answers in cycle " << now;
    if (shape_.invalidations && dice_.one_in(50)) {
      const std::uint64_t line = any_line();
      const Cycle visible = now + dice_.pick(1, 5);
      const Cycle in_order = last_invalidation_ = std::max(last_invalidation_ + 1, visible);
      reference_.invalidate(line, in_order);
      cache->invalidate_line(line, in_order);
      next = std::min(next, in_order);
    }
    if (now < next_offer_) {
      return shape_.sleeps ? std::min(next, next_offer_) : now + 1;
    }
    for (unsigned i = 0; i != shape_.burst && accepted != kAccesses; ++i) {
      if (!held_) {
        held_ = make();
      }
      if (!offer(*held_)) {
        break;
      }
    }
    next_offer_ = now + (shape_.pause != 0 && dice_.one_in(shape_.pause) ? dice_.pick(1, 60) : 1);
    return accepted == kAccesses && shape_.sleeps ? next : std::min(next, next_offer_);
  }

  std::uint64_t any_line() {
    const unsigned hot = std::max(1U, shape_.lines / 4);
    return kBase + std::uint64_t{dice_.one_in(3) ? dice_.pick(0, shape_.lines - 1) : dice_.pick(0, hot - 1)} *
                       shape_.cache.line_bytes;
  }

  std::unique_ptr<Access> make() {
    auto access = std::make_unique<Access>();
    const unsigned line_bytes = shape_.cache.line_bytes;
    LineRequest& request = access->request;
    request.address = any_line();
    request.pc = accepted;
    access->enable.assign(line_bytes, 0);
    const unsigned kind = dice_.pick(0, 19);
    if (kind < 9) {
      request.kind = LineRequest::Kind::load;
      request.bypass = kind == 0 && !shape_.shared;
    } else if (kind < 17) {
      request.kind = LineRequest::Kind::store;
      request.waits = shape_.waits && dice_.one_in(2);
      access->data.resize(line_bytes);
      const bool whole = dice_.one_in(5);
      for (unsigned i = 0; i != line_bytes; ++i) {
        access->data[i] = static_cast<std::byte>(dice_.pick(0, 255));
        access->enable[i] = whole || dice_.one_in(3) ? 0xff : 0;
      }
    } else {
      request.kind = LineRequest::Kind::atomic;
      access->lanes.count = dice_.pick(1, 8);
      for (unsigned i = 0; i != access->lanes.count; ++i) {
        access->lanes.offset[i] = 4 * dice_.pick(0, line_bytes / 4 - 1);
        access->lanes.b[i] = dice_.pick(0, 1000);
        std::fill_n(access->enable.begin() + access->lanes.offset[i], 4, std::uint8_t{0xff});
      }
    }
    return access;
  }

  // What the request does to the contents, and so what it must be answered.
  void perform(Access& access) {
    std::byte* const line = &contents_[access.request.address - kBase];
    switch (access.request.kind) {
      case LineRequest::Kind::load:
        access.expected.assign(line, line + shape_.cache.line_bytes);
        break;
      case LineRequest::Kind::store:
        for (unsigned i = 0; i != shape_.cache.line_bytes; ++i) {
          line[i] = access.enable[i] != 0 ? access.data[i] : line[i];
        }
        break;
      case LineRequest::Kind::atomic:
        access.expected_lanes = access.lanes;
        step(access.expected_lanes, line);
        break;
    }
  }

  // The reference looks at contents when it sends a write: a write-back must not hold what this request writes, a
  // write-through must. Accepted requests are therefore performed first where they go through.
  bool offer(Access& access) {
    LineRequest& request = access.request;
    const Kind kind = request.waits                               ? Kind::waiting_store
                      : request.kind == LineRequest::Kind::store  ? Kind::store
                      : request.kind == LineRequest::Kind::atomic ? Kind::atomic
                      : request.bypass                            ? Kind::bypass
                                                                  : Kind::load;
    const std::size_t sent = reference_.sent.size();
    const Result result = reference_.offer(accepted, kind, request.address, access.enable);
    if (result != Result::refused) {
      perform(access);
      const bool through = !shape_.cache.enabled || shape_.cache.write_policy == "write-through";
      if (request.kind == LineRequest::Kind::store && through && reference_.sent.size() != sent) {
        reference_.sent.back().data = access.data;
      }
    }
    request.store_data = access.data.data();
    request.byte_enable = access.enable.data();
    request.atomic = &access.lanes;
    link::LinePhase phase = link::LinePhase::request;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const auto actual = socket->nb_transport_fw(request, phase, delay);
    EXPECT_EQ(actual, result == Result::refused ? ::tlm::TLM_UPDATED
                      : result == Result::done  ? ::tlm::TLM_COMPLETED
                                                : ::tlm::TLM_ACCEPTED)
        << "request " << accepted << " in cycle " << clock().now();
    if (result == Result::refused) {
      ++refused;
      return false;
    }
    if (result == Result::done) {
      compare(access);
    } else {
      under_way_.emplace(accepted, std::move(held_));
    }
    held_.reset();
    ++accepted;
    return true;
  }

  void compare(const Access& access) {
    if (access.request.kind == LineRequest::Kind::load) {
      EXPECT_TRUE(std::equal(access.expected.begin(), access.expected.end(), access.request.line))
          << "load " << access.request.pc;
    } else if (access.request.kind == LineRequest::Kind::atomic) {
      EXPECT_EQ(access.lanes.old, access.expected_lanes.old) << "atomic " << access.request.pc;
    }
  }

  ::tlm::tlm_sync_enum nb_transport_bw(LineRequest& request, link::LinePhase&, sc_core::sc_time&) override {
    const auto found = under_way_.find(request.pc);
    if (found == under_way_.end()) {
      ADD_FAILURE() << "request " << request.pc << " is answered twice";
      return ::tlm::TLM_COMPLETED;
    }
    EXPECT_TRUE(answered_ < due_.size() && due_[answered_] == request.pc) << "request " << request.pc;
    ++answered_;
    compare(*found->second);
    under_way_.erase(found);
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void start_of_simulation() override { wake(0); }

  const Shape& shape_;
  ReferenceCache& reference_;
  std::vector<std::byte>& contents_;
  Dice& dice_;
  std::unique_ptr<Access> held_;  // made, not accepted yet
  std::map<unsigned, std::unique_ptr<Access>> under_way_;
  std::vector<unsigned> due_;
  std::size_t answered_ = 0;
  Cycle next_offer_ = 0;
  Cycle last_invalidation_ = 0;
};

Shape shape_of(Dice& dice, bool shared) {
  Shape shape;
  DataCacheParameters& cache = shape.cache;
  cache.line_bytes = dice.one_of({32U, 64U, 128U});
  cache.ways = dice.pick(1, 8);
  cache.bytes = std::uint64_t{cache.line_bytes} * cache.ways * dice.one_of({1U, 2U, 3U, 16U});
  cache.hit_latency = dice.one_of({1U, 1U, 2U, 9U});
  cache.ports = dice.pick(1, 4);
  cache.mshrs = dice.one_of({1U, 2U, 5U, 32U});
  cache.mshr_targets = dice.one_of({1U, 2U, 4U, 64U});
  cache.merge_reads = shared || dice.one_of({true, true, false});
  cache.write_buffer = dice.one_of({1U, 2U, 8U, 32U});
  cache.write_policy = dice.one_of({"write-back", "write-through"});
  cache.enabled = shared || !dice.one_in(8);
  shape.shared = shared;
  const auto capacity = static_cast<unsigned>(cache.bytes / cache.line_bytes);
  shape.lines = std::max(2U, capacity * dice.pick(1, 6) / 2);
  shape.sleeps = dice.one_in(2);
  shape.burst = dice.pick(1, 5);
  shape.pause = dice.one_of({0U, 3U, 20U});
  shape.slowness = dice.one_of({1U, 8U, 60U});
  shape.invalidations = !shared && cache.enabled && dice.one_in(2);
  cache.banks = shared || dice.one_in(2) ? 0 : dice.pick(1, 5);
  shape.waits = !shared && dice.one_in(2);
  return shape;
}

class CacheReference : public ::testing::TestWithParam<std::tuple<bool, unsigned>> {};

TEST_P(CacheReference, AgreesInEverything) {
  const auto& [shared, seed] = GetParam();
  Dice dice(seed);
  const Shape shape = shape_of(dice, shared);
  std::vector<std::byte> contents(std::size_t{shape.lines} * shape.cache.line_bytes);
  for (std::byte& byte : contents) {
    byte = static_cast<std::byte>(dice.pick(0, 255));
  }
  const link::Clock clock(sc_core::sc_time(1, sc_core::SC_NS));
  const bool atomics_here = shared && shape.cache.write_policy == "write-back";
  ReferenceCache reference(shape.cache, atomics_here, kBase, contents);
  MoodyMemory memory("memory", clock, reference, dice, contents, shape.slowness);
  Requester requester("requester", clock, shape, reference, contents, dice);
  // One channel, rows in order: the slice's lines are counted as memory's.
  DramParameters dram;
  const SliceMap map(dram, shape.cache.line_bytes, 0);
  std::unique_ptr<Cache> cache;
  if (shared) {
    cache = std::make_unique<L2Store>("cache", shape.cache, clock, map, 0, requester);
  } else {
    cache = std::make_unique<L1Cache>("cache", shape.cache, clock, 0, requester);
  }
  link::ProtocolChecker checker("checker");
  cache->memory.bind(checker.target);
  checker.initiator.bind(memory.socket);
  requester.cache = cache.get();
  requester.socket.bind(cache->cpu);
  for (unsigned i = 0; i != 20'000 && !HasFailure() && !(requester.done() && reference.idle()); ++i) {
    sc_core::sc_start(clock.cycles(1000));
  }
  ASSERT_FALSE(HasFailure());
  ASSERT_TRUE(requester.done()) << requester.accepted << " accepted";
  EXPECT_TRUE(cache->quiet());
  const CacheStatistics& statistics = cache->statistics();
  EXPECT_EQ(statistics.accesses, kAccesses);
  EXPECT_EQ(statistics.hits, reference.hits);
  EXPECT_EQ(statistics.misses, reference.misses);
  EXPECT_EQ(statistics.merged, reference.merged);
  EXPECT_EQ(statistics.write_backs, reference.write_backs);
  EXPECT_EQ(statistics.evictions, reference.evictions);
  EXPECT_EQ(statistics.fills, reference.fills);
  EXPECT_EQ(statistics.refusals(), requester.refused);
  requester.flushing = true;
  memory.flushing = true;
  cache->flush();
  for (unsigned i = 0; i != 1000 && !cache->quiet(); ++i) {
    sc_core::sc_start(clock.cycles(1000));
  }
  EXPECT_TRUE(cache->quiet());
  EXPECT_TRUE(memory.contents == contents);
  EXPECT_EQ(checker.violations(), 0U);
  EXPECT_EQ(checker.outstanding(), 0U);
}

INSTANTIATE_TEST_SUITE_P(L1, CacheReference, ::testing::Combine(::testing::Values(false), ::testing::Range(1U, 41U)),
                         [](const auto& info) { return std::to_string(std::get<1>(info.param)); });
INSTANTIATE_TEST_SUITE_P(L2, CacheReference, ::testing::Combine(::testing::Values(true), ::testing::Range(1U, 41U)),
                         [](const auto& info) { return std::to_string(std::get<1>(info.param)); });

}  // namespace
}  // namespace heddle::hw::test
