// The unit that copies in bulk between stubs: when it asks for which line, what it writes where, when the barrier
// object counts, and who has to wait. And what barrier objects do, by themselves.
#include "hw/core/share/bulk_copies.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <utility>

#include "hw/parameters/bulk_copies.hpp"
#include "isa/barrier_object.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw {
namespace {

using ::testing::ElementsAre;

// A sub-core's end.
class CopyClient final : public sc_core::sc_module, private ::tlm::tlm_bw_transport_if<BulkCopyProtocol> {
 public:
  explicit CopyClient(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {
    socket.bind(*this);
  }
  ::tlm::tlm_sync_enum ask(BulkCopy& copy) {
    BulkCopyPhase phase = BulkCopyPhase::request;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return socket->nb_transport_fw(copy, phase, delay);
  }
  BulkCopyInitiatorSocket socket;
  std::vector<const BulkCopy*> ended;

 private:
  ::tlm::tlm_sync_enum nb_transport_bw(BulkCopy& copy, BulkCopyPhase& phase, sc_core::sc_time&) override {
    EXPECT_EQ(phase, BulkCopyPhase::response);
    ended.push_back(&copy);
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

constexpr std::uint32_t kObject = 1024;  // where the barrier object is

struct CopyBench {
  const link::Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
  Machine machine;
  CoreState state{machine, 0, nullptr};
  test::StubL1 l1{"l1", state};
  Scratchpad scratchpad{"scratchpad", ScratchpadParameters{}, clock};
  BulkCopies unit;
  CopyClient clients[2] = {CopyClient("one"), CopyClient("other")};
  std::vector<unsigned> answered;

  explicit CopyBench(const BulkCopyParameters& parameters) : unit("unit", parameters, 128, 2, clock) {
    for (unsigned i = 0; i != 2; ++i) {
      clients[i].socket.bind(unit.in[i]);
    }
    unit.lines.bind(l1.socket);
    unit.scratchpad.bind(scratchpad.access);
    unit.answered = [this](unsigned port) { answered.push_back(port); };
    set_object(0);
  }
  // One arrival is awaited, and so many bytes.
  void set_object(std::uint32_t bytes) const {
    const std::uint64_t object = std::uint64_t{1} << isa::barrier_object::kLeft |
                                 std::uint64_t{1} << isa::barrier_object::kExpected |
                                 std::uint64_t{bytes} << isa::barrier_object::kBytes;
    std::memcpy(scratchpad_bytes() + kObject, &object, sizeof object);
  }
  [[nodiscard]] std::byte* scratchpad_bytes() const { return const_cast<Scratchpad&>(scratchpad).data(); }
  // Bytes that the object still waits for.
  [[nodiscard]] std::int64_t awaited() const {
    std::int64_t object = 0;
    std::memcpy(&object, scratchpad_bytes() + kObject, sizeof object);
    return object >> isa::barrier_object::kBytes;
  }
  // The unit's turn in the next cycle, and when it wants the one after that.
  Cycle turn() {
    sc_core::sc_start(1, sc_core::SC_NS);
    state.now = clock.now();
    return unit.advance(state.now);
  }
  [[nodiscard]] std::vector<std::uint64_t> lines() const {
    std::vector<std::uint64_t> asked;
    for (const test::StubL1::Offer& offer : l1.taken) {
      asked.push_back(offer.address);
    }
    return asked;
  }
  [[nodiscard]] std::vector<Cycle> cycles() const {
    std::vector<Cycle> asked;
    for (const test::StubL1::Offer& offer : l1.taken) {
      asked.push_back(offer.cycle);
    }
    return asked;
  }
  void expect_words(std::uint32_t to, std::uint64_t from, std::uint32_t bytes) const {
    for (std::uint32_t at = 0; at != bytes; at += 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, scratchpad_bytes() + to + at, 4);
      EXPECT_EQ(word, test::StubL1::word_at(from + at)) << to + at;
    }
  }
};

BulkCopy copy_of(std::uint64_t from, std::uint32_t to, std::uint32_t bytes) {
  BulkCopy copy;
  copy.request = {from, to, bytes, kObject};
  return copy;
}

TEST(BulkCopies, AskForALineACycleFromTheirLatencyOn) {
  CopyBench bench({4, 3});
  bench.set_object(320);
  bench.l1.missing = {0x1000, 0x1080, 0x1100};
  BulkCopy copy = copy_of(0x1050, 64, 320);  // the last 48 bytes of a line, a line, the first 144 of two
  bench.l1.missing.insert(0x1180);
  static_cast<void>(bench.turn());
  const Cycle now = bench.clock.now();
  EXPECT_TRUE(bench.unit.idle());
  EXPECT_EQ(bench.clients[1].ask(copy), ::tlm::TLM_ACCEPTED);
  EXPECT_FALSE(bench.unit.idle());
  EXPECT_EQ(bench.unit.next(now), now + 3);
  for (int i = 0; i != 6; ++i) {
    static_cast<void>(bench.turn());
  }
  EXPECT_THAT(bench.lines(), ElementsAre(0x1000, 0x1080, 0x1100, 0x1180));
  EXPECT_THAT(bench.cycles(), ElementsAre(now + 3, now + 4, now + 5, now + 6));
  std::vector<unsigned> parts;
  for (const test::StubL1::Offer& offer : bench.l1.taken) {
    parts.push_back(offer.request->parts);
    EXPECT_TRUE(offer.request->bypass);
  }
  EXPECT_THAT(parts, ElementsAre(0b1100, 0b1111, 0b1111, 0b0001));
  EXPECT_EQ(bench.unit.next(bench.state.now), link::kNever) << "it waits for lines";
  // In any order; the object counts when all are there.
  for (const unsigned i : {2U, 0U, 3U, 1U}) {
    EXPECT_EQ(bench.awaited(), 320);
    EXPECT_THAT(bench.answered, ElementsAre());
    bench.l1.respond(*bench.l1.taken[i].request);
  }
  EXPECT_EQ(bench.awaited(), 0);
  EXPECT_THAT(bench.answered, ElementsAre(1));
  EXPECT_THAT(bench.clients[1].ended, ElementsAre(&copy));
  EXPECT_TRUE(bench.unit.idle());
  bench.expect_words(64, 0x1050, 320);
  std::uint32_t before = 0;
  std::memcpy(&before, bench.scratchpad_bytes() + 60, 4);
  EXPECT_EQ(before, 0U);
  EXPECT_EQ(bench.unit.statistics().copies, 1U);
  EXPECT_EQ(bench.unit.statistics().bytes, 320U);
  EXPECT_EQ(bench.unit.statistics().lines, 4U);
}

TEST(BulkCopies, HaveTheirLinesOneCopyAfterTheOther) {
  CopyBench bench({2, 1});
  bench.set_object(400);
  BulkCopy first = copy_of(0x1000, 0, 256), second = copy_of(0x2000, 512, 128), third = copy_of(0x3000, 256, 16);
  EXPECT_EQ(bench.clients[0].ask(first), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(bench.clients[1].ask(second), ::tlm::TLM_ACCEPTED);
  EXPECT_EQ(bench.clients[1].ask(third), ::tlm::TLM_UPDATED) << "the queue has two places";
  EXPECT_EQ(bench.unit.statistics().full, 1U);
  static_cast<void>(bench.turn());
  EXPECT_EQ(bench.clients[1].ask(third), ::tlm::TLM_UPDATED) << "a line of the first one is left";
  static_cast<void>(bench.turn());
  EXPECT_THAT(bench.clients[0].ended, ElementsAre(&first)) << "its lines were there at once";
  EXPECT_EQ(bench.clients[1].ask(third), ::tlm::TLM_ACCEPTED);
  static_cast<void>(bench.turn());
  static_cast<void>(bench.turn());
  EXPECT_THAT(bench.lines(), ElementsAre(0x1000, 0x1080, 0x2000, 0x3000));
  EXPECT_THAT(bench.clients[1].ended, ElementsAre(&second, &third));
  EXPECT_EQ(bench.awaited(), 0);
  bench.expect_words(0, 0x1000, 256);
  bench.expect_words(512, 0x2000, 128);
  bench.expect_words(256, 0x3000, 16);
}

TEST(BulkCopies, OfferARefusedLineAgain) {
  CopyBench bench({1, 1});
  bench.l1.full = true;
  BulkCopy copy = copy_of(0x1000, 0, 128);
  EXPECT_EQ(bench.clients[0].ask(copy), ::tlm::TLM_ACCEPTED);
  for (int i = 0; i != 2; ++i) {
    const Cycle next = bench.turn();
    EXPECT_EQ(next, bench.state.now + 1);
  }
  EXPECT_EQ(bench.unit.statistics().refused, 2U);
  bench.l1.full = false;
  EXPECT_EQ(bench.turn(), link::kNever);
  EXPECT_THAT(bench.clients[0].ended, ElementsAre(&copy));
}

TEST(BulkCopies, OfNothingCountNothing) {
  CopyBench bench({1, 2});
  bench.set_object(16);
  BulkCopy copy = copy_of(0x1000, 0, 0);
  EXPECT_EQ(bench.clients[0].ask(copy), ::tlm::TLM_ACCEPTED);
  static_cast<void>(bench.turn());
  EXPECT_THAT(bench.clients[0].ended, ElementsAre());
  static_cast<void>(bench.turn());
  EXPECT_THAT(bench.clients[0].ended, ElementsAre(&copy));
  EXPECT_EQ(bench.awaited(), 16);
  EXPECT_THAT(bench.lines(), ElementsAre());
}

TEST(BulkCopies, OfARefusingMemoryCountNothing) {
  CopyBench bench({1, 1});
  bench.set_object(256);
  bench.l1.missing = {0x1000, 0x1080};
  BulkCopy copy = copy_of(0x1000, 0, 256);
  EXPECT_EQ(bench.clients[0].ask(copy), ::tlm::TLM_ACCEPTED);
  static_cast<void>(bench.turn());
  static_cast<void>(bench.turn());
  bench.l1.respond(*bench.l1.taken[0].request, true);
  EXPECT_THAT(bench.clients[0].ended, ElementsAre()) << "a line is under way";
  bench.l1.respond(*bench.l1.taken[1].request);
  EXPECT_THAT(bench.clients[0].ended, ElementsAre(&copy));
  EXPECT_TRUE(copy.failed);
  EXPECT_EQ(bench.awaited(), 256);
  EXPECT_EQ(bench.unit.statistics().copies, 0U);
}

TEST(BulkCopies, OfAReplayWriteNothing) {
  CopyBench bench({1, 1});
  bench.set_object(128);
  BulkCopy copy = copy_of(0x1000, 0, 128);
  copy.timed_only = true;
  EXPECT_EQ(bench.clients[0].ask(copy), ::tlm::TLM_ACCEPTED);
  static_cast<void>(bench.turn());
  EXPECT_THAT(bench.clients[0].ended, ElementsAre(&copy));
  EXPECT_EQ(bench.awaited(), 128);
  std::uint32_t word = 0;
  std::memcpy(&word, bench.scratchpad_bytes(), 4);
  EXPECT_EQ(word, 0U);
}

// Beside a barrier object as a struct, by the rules of PTX ISA's mbarrier.
TEST(BarrierObject, CountsArrivalsAndBytesOfItsPhases) {
  using namespace isa::barrier_object;
  struct Plain {
    unsigned parity = 0;
    int left, expected;
    std::int64_t bytes = 0;
    void look() {
      if (left == 0 && bytes == 0) {
        parity ^= 1;
        left = expected;
      }
    }
  };
  std::uint64_t object = std::uint64_t{3} << kLeft | std::uint64_t{3} << kExpected;
  Plain plain{.left = 3, .expected = 3};
  const auto expect_alike = [&](const char* what) {
    EXPECT_EQ(object & 1U, plain.parity) << what;
    EXPECT_EQ((object >> kLeft) & kArrivals, static_cast<unsigned>(plain.left)) << what;
    EXPECT_EQ((object >> kExpected) & kArrivals, static_cast<unsigned>(plain.expected)) << what;
    EXPECT_EQ(static_cast<std::int64_t>(object) >> kBytes, plain.bytes) << what;
  };
  const auto arrive = [&](unsigned bytes, bool drops) {
    object = after(object, (0 - (std::uint64_t{1} << kLeft)) - (drops ? std::uint64_t{1} << kExpected : 0) +
                               (std::uint64_t{bytes} << kBytes));
    plain.bytes += bytes;
    plain.expected -= drops ? 1 : 0;
    --plain.left;
    plain.look();
    expect_alike("arrives");
  };
  const auto come = [&](unsigned bytes) {
    object = after(object, bytes_come(bytes));
    plain.bytes -= bytes;
    plain.look();
    expect_alike("bytes come");
  };
  expect_alike("at first");
  for (int phase = 0; phase != 4; ++phase) {
    arrive(0, false);
    come(64);  // before they are expected
    arrive(48, false);
    arrive(32, phase == 3);
    EXPECT_EQ(plain.left, 0);
    come(16);
    EXPECT_EQ(plain.parity, static_cast<unsigned>(phase + 1) % 2);
  }
  arrive(0, false);
  arrive(0, false);
  EXPECT_EQ(plain.parity, 1U) << "of two threads";
}

TEST(BulkCopies, NeedSubCoresAndTheirQueues) {
  Machine machine;
  machine.bulk_copy.queue = 2;
  machine.core.sub_cores = 4;
  machine.lsu.queue = 5;
  EXPECT_TRUE(copies_in_bulk(machine));
  for (unsigned* const key : {&machine.bulk_copy.queue, &machine.lsu.queue}) {
    const unsigned before = std::exchange(*key, 0U);
    EXPECT_FALSE(copies_in_bulk(machine));
    *key = before;
  }
  machine.core.sub_cores = 1;
  EXPECT_FALSE(copies_in_bulk(machine));
}

}  // namespace
}  // namespace heddle::hw
