// The memory stage between stubs: the bytes, operands and lanes of its accesses; scratchpad, constants, parameters and
// local memory.
#include <algorithm>

#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

using isa::AtomicOp;
using isa::Type;
using isa::Width;
using link::LineRequest;

// The bytes that a line store writes, by enable.
void expect_stored(const LineRequest& request, const std::vector<int>& bytes) {
  ASSERT_EQ(request.kind, LineRequest::Kind::store);
  for (unsigned i = 0; i < StubL1::kLineBytes; ++i) {
    const bool written = bytes[i] >= 0;
    ASSERT_EQ(request.byte_enable[i], written ? 0xffU : 0U) << "byte " << i;
    if (written) {
      ASSERT_EQ(static_cast<int>(request.store_data[i]), bytes[i]) << "byte " << i;
    }
  }
}

TEST(MemoryStage, StoresCarryDataAndByteEnables) {
  struct Case {
    Width width;
    unsigned vector;
    unsigned bytes;  // per lane
  };
  MemoryBench bench;
  Cycle now = 0;
  for (const Case& form :
       {Case{Width::u8, 1, 1}, Case{Width::u16, 1, 2}, Case{Width::b32, 1, 4}, Case{Width::b32, 2, 8},
        Case{Width::b64, 1, 8}, Case{Width::b32, 4, 16}, Case{Width::u8, 4, 4}}) {
    SCOPED_TRACE(testing::Message() << "width " << static_cast<int>(form.width) << " x " << form.vector);
    bench.l1.taken.clear();
    SubWarp& store =
        bench.sub_warp(0, [&](Code& code) { code.store(Op::ST_GLOBAL, 2, 4, 0, form.width, form.vector); });
    store.executing = 0xa000'00f5;  // gaps between the lanes
    // Lanes in descending order from the end of four lines, so that lane and place differ.
    std::vector<int> expected(4 * StubL1::kLineBytes, -1);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      const unsigned offset = (31 - lane) * form.bytes;
      store.address[lane] = kData + offset;
      for (unsigned byte = 0; byte < 16; ++byte) {
        const unsigned value = (lane * 7 + byte * 37 + 1) & 0xffU;
        store.values.result[byte / 4][lane] |= value << byte % 4 * 8;
      }
      if (((store.executing >> lane) & 1U) == 0) {
        continue;
      }
      for (unsigned byte = 0; byte < form.bytes; ++byte) {
        // Elements narrower than a register take its low bytes.
        const unsigned element = form.bytes / form.vector;
        const unsigned from = element >= 4 ? byte : byte / element * 4 + byte % element;
        expected[offset + byte] = static_cast<int>((lane * 7 + from * 37 + 1) & 0xffU);
      }
    }
    bench.writeback.taken.clear();
    bench.offer(store, now);
    while (bench.writeback.taken.empty()) {
      ASSERT_LT(bench.l1.taken.size(), 5U);
      bench.tick(++now);
    }
    std::size_t lines = 0;
    for (unsigned line = 0; line < 4; ++line) {
      const auto begin = expected.begin() + line * StubL1::kLineBytes;
      const std::vector<int> bytes(begin, begin + StubL1::kLineBytes);
      if (std::all_of(bytes.begin(), bytes.end(), [](int byte) { return byte < 0; })) {
        continue;
      }
      ++lines;
      const auto offer = std::find_if(bench.l1.taken.begin(), bench.l1.taken.end(), [&](const StubL1::Offer& taken) {
        return taken.address == MemoryBench::line(line);
      });
      ASSERT_NE(offer, bench.l1.taken.end());
      expect_stored(*offer->request, bytes);
    }
    EXPECT_EQ(bench.l1.taken.size(), lines) << "one request per line that is written";
    std::memset(&store.values.result, 0, sizeof store.values.result);
  }
}

TEST(MemoryStage, LoadsExtendNarrowElementsAndFillVectors) {
  MemoryBench bench;
  SubWarp& bytes = bench.sub_warp(0, [](Code& code) { code.load(Op::LD_GLOBAL, 4, 2, 0, Width::s8, 2); });
  SubWarp& vector = bench.sub_warp(1, [](Code& code) { code.load(Op::LD_GLOBAL, 4, 2, 0, Width::b32, 4); });
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    bytes.address[lane] = kData + 2 * lane;
    vector.address[lane] = kData + 16 * (lane ^ 1U);
  }
  bench.l1.ports = 4;
  bench.feed(bytes, 0);
  bench.feed(vector, 1);
  ASSERT_EQ(bench.writeback.taken.size(), 2U);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    for (unsigned element = 0; element < 2; ++element) {
      const std::uint64_t at = bytes.address[lane] + element;
      const auto byte = static_cast<std::int8_t>(StubL1::word_at(at) >> at % 4 * 8);
      ASSERT_EQ(bytes.values.result[element][lane], static_cast<std::uint32_t>(byte)) << lane;
    }
    for (unsigned word = 0; word < 4; ++word) {
      ASSERT_EQ(vector.values.result[word][lane], StubL1::word_at(vector.address[lane] + 4 * word)) << lane;
    }
  }
}

TEST(MemoryStage, AtomicsCarryOperandsInLaneOrder) {
  MemoryBench bench;
  bench.l1.missing = {MemoryBench::line(1)};
  SubWarp& atomic =
      bench.sub_warp(0, [](Code& code) { code.atomic(Op::ATOM_GLOBAL, AtomicOp::cas, Type::b64, 4, 2, 6, 8); });
  atomic.executing = 0xf0f0'0ff3;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    atomic.address[lane] = MemoryBench::line(lane % 2) + 8 * (lane % 5);  // several lanes to one place
    atomic.values.b[0][lane] = 100 + lane;
    atomic.values.b[1][lane] = 200 + lane;
    atomic.values.c[0][lane] = 300 + lane;
    atomic.values.c[1][lane] = 400 + lane;
  }
  bench.feed(atomic, 0);
  bench.tick(2);
  ASSERT_EQ(bench.l1.taken.size(), 2U);
  for (unsigned line = 0; line < 2; ++line) {
    const LineRequest& request = *bench.l1.taken[line].request;
    ASSERT_EQ(request.kind, LineRequest::Kind::atomic);
    EXPECT_EQ(request.atomic->op, AtomicOp::cas);
    EXPECT_EQ(request.atomic->type, Type::b64);
    unsigned entry = 0;
    for (unsigned lane = line; lane < isa::kLanes; lane += 2) {
      if (((atomic.executing >> lane) & 1U) == 0) {
        continue;
      }
      ASSERT_LT(entry, request.atomic->count);
      EXPECT_EQ(request.atomic->lane[entry], lane);
      EXPECT_EQ(request.atomic->offset[entry], 8 * (lane % 5));
      EXPECT_EQ(request.atomic->b[entry], 100 + lane + (std::uint64_t{200 + lane} << 32U));
      EXPECT_EQ(request.atomic->c[entry], 300 + lane + (std::uint64_t{400 + lane} << 32U));
      ++entry;
    }
    EXPECT_EQ(request.atomic->count, entry);
  }
  EXPECT_EQ(bench.state.groups[0].state, GroupState::memory);
  bench.l1.respond(*bench.l1.taken[1].request);
  bench.tick(3);
  ASSERT_EQ(bench.returns.taken.size(), 1U);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    const bool executing = ((atomic.executing >> lane) & 1U) != 0;
    const std::uint64_t at = atomic.address[lane];
    EXPECT_EQ(atomic.values.result[0][lane], executing ? StubL1::word_at(at) : 0) << lane;
    EXPECT_EQ(atomic.values.result[1][lane], executing ? StubL1::word_at(at + 4) : 0) << lane;
  }
}

// ---- scratchpad, constants, parameters, local memory

TEST(MemoryStage, AScratchpadConflictHoldsTheStage) {
  MemoryBench bench;
  Cycle start = 0;
  for (const unsigned degree : {1U, 2U, 5U, 32U}) {
    SCOPED_TRACE(degree);
    bench.writeback.taken.clear();
    SubWarp& load = bench.sub_warp(0, [](Code& code) { code.load(Op::LD_SHARED, 1, 2); });
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      load.address[lane] = std::uint64_t{lane % degree} * 4 * bench.machine.scratchpad.banks;  // one bank
    }
    SubWarp& next = bench.add(1);
    ASSERT_TRUE(bench.offer(load, start));
    for (Cycle cycle = 1; cycle < degree; ++cycle) {
      bench.tick(start + cycle);
      EXPECT_TRUE(bench.writeback.taken.empty()) << cycle;
      EXPECT_EQ(bench.state.block_cause, IdleCause::scratchpad);
      EXPECT_FALSE(bench.offer(next, start + cycle));
    }
    bench.tick(start + degree);
    ASSERT_EQ(bench.writeback.taken.size(), 1U);
    ASSERT_TRUE(bench.offer(next, start + degree));
    bench.tick(start + degree + 1);
    EXPECT_EQ(bench.writeback.taken.size(), 2U);
    start += 100;
  }
  EXPECT_TRUE(bench.l1.taken.empty());
}

TEST(MemoryStage, ScratchpadDataLiesInTheBlocksPart) {
  MemoryBench bench;
  BlockHome& other = bench.state.homes[1];
  other.begin(bench.launch, bench.machine.core, {1, 0, 0}, 1, 256);
  other.scratchpad_base = 256 + 128;
  bench.state.rows[1].exited(kAll);
  bench.state.rows[1].hold(other.threads[1]);
  SubWarp& store = bench.sub_warp(0, [](Code& code) { code.store(Op::ST_SHARED, 2, 4); });
  SubWarp& add = bench.sub_warp(0, [](Code& code) { code.atomic(Op::ATOM_SHARED, AtomicOp::add, Type::u32, 4, 2, 5); });
  SubWarp& load = bench.sub_warp(1, [](Code& code) { code.load(Op::LD_SHARED, 1, 2); });  // of another block
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    store.address[lane] = 128 + 4 * lane;
    store.values.result[0][lane] = 1000 + lane;
    add.address[lane] = 128;
    add.values.b[0][lane] = lane + 1;
    load.address[lane] = 4 * (31 - lane);
  }
  bench.feed(store, 0);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  bench.feed(add, 31);
  EXPECT_EQ(bench.writeback.taken.size(), 1U);
  for (Cycle now = 33; now < 63; ++now) {
    bench.tick(now);
    ASSERT_EQ(bench.writeback.taken.size(), 1U) << "atomics on one word take a turn each, cycle " << now;
  }
  bench.tick(63);
  ASSERT_EQ(bench.writeback.taken.size(), 2U);
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    EXPECT_EQ(add.values.result[0][lane], 1000 + lane * (lane + 1) / 2) << "in lane order";
  }
  bench.feed(load, 63);
  ASSERT_EQ(bench.writeback.taken.size(), 3U);
  EXPECT_EQ(load.values.result[0][31], 1000U + 32 * 33 / 2);
  for (unsigned lane = 0; lane < 31; ++lane) {
    EXPECT_EQ(load.values.result[0][lane], 1000 + 31 - lane);
  }
}

TEST(MemoryStage, ConstantsAndParametersNeedNoLine) {
  MemoryBench bench;
  bench.l1.full = true;
  SubWarp& constant = bench.sub_warp(0, [](Code& code) { code.load(Op::LD_CONST, 1, 2, 0, Width::b32); });
  SubWarp& parameter = bench.sub_warp(1, [](Code& code) { code.load(Op::LD_PARAM, 1, 2, 0, Width::u8); });
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    constant.address[lane] = 252 - 4 * lane;
    parameter.address[lane] = 255 - lane;
  }
  bench.feed(constant, 0);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  bench.feed(parameter, 1);
  ASSERT_EQ(bench.writeback.taken.size(), 2U);
  EXPECT_TRUE(bench.l1.refused.empty());
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    std::uint32_t word = 0;
    std::memcpy(&word, bench.launch.constants.data() + 252 - 4 * lane, 4);
    EXPECT_EQ(constant.values.result[0][lane], word);
    EXPECT_EQ(parameter.values.result[0][lane], (255 - lane + 3) & 0xffU);
  }
  EXPECT_EQ(bench.state.statistics.memory_instructions, 0U);
}

TEST(MemoryStage, LanesAtOneLocalOffsetShareALine) {
  MemoryBench bench;
  SubWarp& load = bench.sub_warp(2, [](Code& code) { code.load(Op::LD_LOCAL, 4, 2, 0, Width::b32, 2); });
  load.address.fill(16);
  bench.feed(load, 0);
  EXPECT_TRUE(bench.writeback.taken.empty()) << "two words per lane: two lines";
  bench.tick(2);
  ASSERT_EQ(bench.writeback.taken.size(), 1U);
  ASSERT_EQ(bench.l1.taken.size(), 2U);
  const std::uint64_t threads = bench.machine.core.threads;
  for (unsigned word = 0; word < 2; ++word) {
    const std::uint64_t line = isa::kLocalBacking + ((4 + word) * threads + 2 * 32) * 4;
    EXPECT_EQ(bench.l1.taken[word].address, line);
    EXPECT_EQ(bench.l1.taken[word].lanes, kAll);
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      EXPECT_EQ(load.values.result[word][lane], 0U) << "whatever memory holds: the thread has not written it";
    }
  }
}

TEST(MemoryStage, LocalMemoryThatWasWrittenIsRead) {
  MemoryBench bench;
  SubWarp& store = bench.sub_warp(2, [](Code& code) { code.store(Op::ST_LOCAL, 2, 4, 0, Width::b32, 1); });
  store.address.fill(16);
  bench.feed(store, 0);
  SubWarp& load = bench.sub_warp(2, [](Code& code) { code.load(Op::LD_LOCAL, 4, 2, 0, Width::b32, 2); });
  load.address.fill(16);
  bench.feed(load, 1);
  bench.tick(3);
  ASSERT_EQ(bench.writeback.taken.size(), 2U);
  const std::uint64_t line = isa::kLocalBacking + (4 * std::uint64_t{bench.machine.core.threads} + 2 * 32) * 4;
  for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
    EXPECT_EQ(load.values.result[0][lane], StubL1::word_at(line + 4 * lane));
    EXPECT_EQ(load.values.result[1][lane], 0U) << "only the first word was written";
  }
}

}  // namespace
}  // namespace heddle::hw::test
