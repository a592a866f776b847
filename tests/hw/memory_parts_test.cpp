// The parts of the memory stage, each without the others: addresses, lines, places, and who waits.
#include "hw/core/memory/address_check.hpp"
#include "hw/core/memory/local_path.hpp"
#include "hw/core/memory/texture_path.hpp"
#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

using isa::AtomicOp;
using isa::Type;
using isa::Width;
using link::LineRequest;

Machine machine_of(const char* divergence, unsigned pending = 64) {
  Machine machine;
  machine.core.divergence = divergence;
  machine.core.pending_accesses = pending;
  return machine;
}

// ---- address_check.hpp

struct Checked : AccessBench {
  explicit Checked(const Machine& with = {}, const isa::DeviceMemory* bounds = nullptr) : AccessBench(with, bounds) {}
  MemoryAccess access;
  // Of a sub-warp whose lanes access `address` but for lane 3, which accesses `odd`.
  template <class Emit>
  bool may(Emit emit, std::uint64_t address, std::uint64_t odd) {
    state.fault.reset();
    SubWarp& out = sub_warp(0, emit);
    out.address.fill(address);
    out.address[3] = odd;
    access.classify(out);
    return check_access(state, access);
  }
};

TEST(AddressCheck, TheLastPlaceOfASpaceIsGoodAndTheNextIsNot) {
  Checked bench;
  const auto shared = [](Code& code) { code.store(Op::ST_SHARED, 2, 4, 0, Width::b64); };
  EXPECT_TRUE(bench.may(shared, 0, 8192 - 8));
  EXPECT_FALSE(bench.may(shared, 0, 8192));
  EXPECT_EQ(bench.state.fault->detail, "store at offset 8192 of the block's scratchpad, which has 8192 bytes");
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::out_of_bounds);
  const auto local = [](Code& code) { code.load(Op::LD_LOCAL, 1, 2); };
  EXPECT_TRUE(bench.may(local, 0, 60));
  EXPECT_FALSE(bench.may(local, 0, 64));
  EXPECT_EQ(bench.state.fault->detail, "load at offset 64 of the thread's local memory, which has 64 bytes");
  EXPECT_FALSE(bench.may(local, 0, 58));
  EXPECT_EQ(bench.state.fault->detail, "the address is no multiple of 4");
}

TEST(AddressCheck, GlobalLanesNeedAnAllocationThatStoresMayWrite) {
  isa::DeviceMemory memory;
  memory.place("mine", kData, 256);
  memory.place("fixed", kData + 512, 256, /*writable=*/false);
  Checked bench({}, &memory);
  const auto load = [](Code& code) { code.load(Op::LD_GLOBAL, 1, 2); };
  const auto store = [](Code& code) { code.store(Op::ST_GLOBAL, 2, 4); };
  EXPECT_TRUE(bench.may(load, kData, kData + 252));
  EXPECT_TRUE(bench.may(load, kData, kData + 512)) << "another allocation";
  EXPECT_FALSE(bench.may(load, kData, kData + 256));
  EXPECT_EQ(bench.state.fault->address, kData + 256);
  EXPECT_TRUE(bench.may(store, kData, kData + 252));
  EXPECT_FALSE(bench.may(store, kData, kData + 512));
}

TEST(AddressCheck, GenericLanesAreCheckedEachInItsSpace) {
  Checked bench;
  const auto load = [](Code& code) { code.load(Op::LD_GENERIC, 1, 2); };
  const auto store = [](Code& code) { code.store(Op::ST_GENERIC, 2, 4); };
  EXPECT_TRUE(bench.may(load, kData, isa::kSharedWindow + 8188));
  EXPECT_EQ(bench.access.shared, 0x8U);
  EXPECT_EQ(bench.access.global, ~0x8U);
  EXPECT_EQ(bench.access.sub_warp->address[3], 8188U) << "an offset";
  EXPECT_EQ(bench.access.sub_warp->address_low[3], isa::kSharedWindow + 8188) << "as the program has it";
  EXPECT_FALSE(bench.may(load, kData, isa::kSharedWindow + 8192));
  EXPECT_EQ(bench.state.fault->address, isa::kSharedWindow + 8192);
  EXPECT_TRUE(bench.may(load, kData, isa::kConstantWindow + 252));
  EXPECT_FALSE(bench.may(store, kData, isa::kConstantWindow + 252));
  EXPECT_EQ(bench.state.fault->detail, "store to offset 252, which is in the constant bank: it is read-only");
}

TEST(AddressCheck, StrayLoadsHaveReadNoughtAndAccessNothing) {
  Machine machine;
  machine.core.load_trap = false;
  Checked bench(machine);
  bench.access.loaded[3].fill(std::byte{0xee});
  EXPECT_TRUE(bench.may([](Code& code) { code.load(Op::LD_SHARED, 1, 2); }, 0, 8192));
  EXPECT_FALSE(bench.state.fault);
  EXPECT_EQ(bench.access.stray, 0x8U);
  EXPECT_EQ(bench.access.shared, ~0x8U);
  EXPECT_EQ(bench.access.loaded[3][0], std::byte{0});
  EXPECT_EQ(bench.state.stray_loads.at(0).count, 1U);
  EXPECT_FALSE(bench.may([](Code& code) { code.store(Op::ST_SHARED, 2, 4); }, 0, 8192)) << "only loads stray";
}

// ---- local_path.hpp, texture_path.hpp, line_requests.hpp

TEST(LocalPath, WordsOfThreadsBesideEachOtherAreBesideEachOther) {
  AccessBench bench;
  SubWarp& load = bench.sub_warp(1, [](Code& code) { code.load(Op::LD_LOCAL, 4, 2, 0, Width::b32, 2); });
  load.address.fill(8);
  MemoryAccess access;
  access.classify(load);
  translate_local(bench.state, access);
  ASSERT_EQ(access.addresses.pieces, 2U);
  for (unsigned piece = 0; piece < 2; ++piece) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      EXPECT_EQ(access.addresses.address[piece][lane],
                isa::kLocalBacking + ((2 + piece) * std::uint64_t{bench.machine.core.threads} + 32 + lane) * 4);
    }
  }
}

TEST(LocalPath, WhatAThreadHasNotWrittenIsNought) {
  AccessBench bench;
  SubWarp& store = bench.sub_warp(0, [](Code& code) { code.store(Op::ST_LOCAL, 2, 4, 0, Width::u8); });
  store.executing = 0x1;
  store.address[0] = 9;
  MemoryAccess access;
  access.classify(store);
  follow_local(bench.state, access);
  SubWarp& load = bench.sub_warp(0, [](Code& code) { code.load(Op::LD_LOCAL, 1, 2); });
  load.address.fill(8);
  access.classify(load);
  for (auto& bytes : access.loaded) {
    bytes.fill(std::byte{0xee});
  }
  follow_local(bench.state, access);
  access.finish_load();
  EXPECT_EQ(load.values.result[0][0], 0xee00U);
  EXPECT_EQ(load.values.result[0][1], 0U) << "another thread";
}

TEST(TexturePath, ALaneReadsItsLastTexelForThoseThatItHasNot) {
  AccessBench bench;
  SubWarp& load = bench.load(0, {0});
  MemoryAccess access;
  access.classify(load);
  access.texture = std::make_unique<MemoryAccess::TextureLanes>();
  access.lanes = 0x7;
  for (unsigned lane = 0; lane < 3; ++lane) {
    isa::TexelFetch& fetch = access.texture->fetch[lane];
    fetch.count = lane;  // none, one, two
    fetch.bytes = 4 * lane;
    fetch.address = {1000 + lane, 2000 + lane, 0, 0};
  }
  address_texels(access);
  EXPECT_EQ(access.addresses.lanes, 0x6U);
  EXPECT_EQ(access.addresses.pieces, 2U);
  EXPECT_EQ(access.addresses.piece_bytes, 8U);
  EXPECT_EQ(access.addresses.address[1][1], 1001U);
  EXPECT_EQ(access.addresses.address[1][2], 2002U);
}

struct Lines : AccessBench {
  explicit Lines(const Machine& with = {}) : AccessBench(with) {}
  LineRequests requests{state, coalescer(), machine.core.divergence == "mimd"};
  MemoryAccess access;
  MemoryAccess& make(SubWarp& of) {
    access.classify(of);
    translate_local(state, access);
    requests.make(access);
    return access;
  }
};

TEST(LineRequests, AreTheDistinctLinesWithTheirLanes) {
  Lines bench;
  bench.make(bench.load(0, {4, 2, 4, 4}));
  ASSERT_EQ(bench.access.count, 2U);
  EXPECT_EQ(bench.access.own, 2U);
  EXPECT_EQ(bench.access.lines[0].address, AccessBench::line(4));
  EXPECT_EQ(bench.access.lines[0].lanes, 0xddddddddU);
  EXPECT_EQ(bench.access.lines[1].address, AccessBench::line(2));
  EXPECT_EQ(bench.access.lines[1].lanes, 0x22222222U);
  EXPECT_EQ(bench.state.statistics.line_requests, 2U);
}

TEST(LineRequests, LoadsGoPastTheL1ThatMayHaveOldCopies) {
  Lines bench;
  EXPECT_FALSE(bench.make(bench.load(0, {1})).lines[0].bypass);
  bench.state.groups[0].reads_memory = true;
  EXPECT_TRUE(bench.make(bench.load(0, {1})).lines[0].bypass);
  EXPECT_FALSE(bench.make(bench.load(1, {1})).lines[0].bypass) << "another group";
}

TEST(LineRequests, OnlyLoadsOfLanesByThemselvesShareAPort) {
  const auto shares = [](const char* divergence, Op op) {
    Lines bench(machine_of(divergence));
    SubWarp& one = op == Op::LD_GLOBAL ? bench.load(0, {1})
                                       : bench.sub_warp(0, [](Code& code) { code.store(Op::ST_GLOBAL, 2, 4); });
    one.address.fill(kData);
    return bench.make(one).lines[0].shares_port;
  };
  EXPECT_TRUE(shares("mimd", Op::LD_GLOBAL));
  EXPECT_FALSE(shares("mimd", Op::ST_GLOBAL));
  EXPECT_FALSE(shares("stack", Op::LD_GLOBAL));
}

TEST(LineRequests, ALineThatFailsIsAFaultOfItsLowestLane) {
  Lines bench;
  AccessLine& line = bench.make(bench.load(0, {0, 1, 1, 0})).lines[1];
  line.failed = true;
  bench.requests.take(bench.access, line);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::bus_error);
  EXPECT_EQ(bench.state.fault->address, AccessBench::line(1) + 4);
}

// ---- load_store_unit.hpp

// A socket has a module.
template <class Socket>
struct Initiator : sc_core::sc_module {
  explicit Initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {}
  Socket socket;
};

struct Sending : Lines, private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
  Sending() {
    l1d.socket.bind(*this);
    texture.socket.bind(*this);
    l1d.socket.bind(l1.socket);
    texture.socket.bind(texels.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  ::tlm::tlm_sync_enum nb_transport_bw(LineRequest& line, link::LinePhase&, sc_core::sc_time&) override {
    also = unit.came(static_cast<AccessLine&>(line));
    return ::tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  LoadStoreUnit::Sent send(Cycle now) {
    state.now = now;
    unit.begin_cycle();
    return unit.send(access);
  }
  StubL1 l1{"l1", state};
  StubL1 texels{"texels", state};
  Initiator<link::LineInitiatorSocket> l1d{"to_l1"};
  Initiator<link::LineInitiatorSocket> texture{"to_texels"};
  LoadStoreUnit unit{state, requests, l1d.socket, texture.socket};
  const AccessLine* also = nullptr;
};

using Sent = LoadStoreUnit::Sent;

TEST(LoadStoreUnit, SendsALineForEachPortAndThenTheRest) {
  Sending bench;
  bench.make(bench.load(0, {0, 1}));
  EXPECT_EQ(bench.send(5), Sent::some);
  EXPECT_EQ(bench.state.block_cause, IdleCause::memory_port);
  EXPECT_EQ(bench.access.sent, 1U);
  EXPECT_EQ(bench.send(6), Sent::all);
  EXPECT_EQ(bench.access.outstanding, 0U);
  EXPECT_EQ(bench.send(7), Sent::all) << "nothing is left";
  EXPECT_EQ(bench.l1.taken.size(), 2U);
}

TEST(LoadStoreUnit, WantOfRoomIsToldOfACyclesFirstLine) {
  Sending bench;
  bench.make(bench.load(0, {0, 1}));
  bench.l1.full = true;
  bench.l1.full_of = LineRequest::Busy::targets;
  EXPECT_EQ(bench.send(1), Sent::no_room);
  EXPECT_EQ(bench.state.block_cause, IdleCause::targets_full);
  EXPECT_EQ(bench.unit.full(), nullptr) << "a stub";
  bench.l1.full = false;
  EXPECT_EQ(bench.send(2), Sent::some);
}

TEST(LoadStoreUnit, KeepsWhatIsUnderWayAndWhenItMissedAndCame) {
  Sending bench;
  bench.l1.ports = 3;
  bench.l1.late = {AccessBench::line(0)};
  bench.l1.missing = {AccessBench::line(1), AccessBench::line(2)};
  bench.make(bench.load(0, {0, 1, 2, 2}));
  EXPECT_EQ(bench.send(10), Sent::all);
  MemoryAccess& access = bench.access;
  EXPECT_EQ(access.outstanding, 3U);
  EXPECT_EQ(access.late, 1U);
  EXPECT_EQ(access.missed, 2U);
  EXPECT_EQ(access.first_miss, 10U);
  EXPECT_EQ(access.absent, 0xeeeeeeeeU);
  const auto comes = [&](unsigned line, Cycle now) {
    bench.state.now = now;
    bench.l1.respond(access.lines[line]);
  };
  comes(0, 12);
  EXPECT_EQ(access.late, 0U);
  EXPECT_EQ(access.first_line, link::kNever) << "a hit";
  comes(2, 50);
  comes(1, 60);
  EXPECT_EQ(access.outstanding, 0U);
  EXPECT_EQ(access.first_line, 50U);
  bench.unit.count(access);
  const CoreStatistics& statistics = bench.state.statistics;
  EXPECT_EQ(statistics.partly_missed_accesses, 1U);
  EXPECT_EQ(statistics.divergent_stall_cycles, 50U);
  EXPECT_EQ(statistics.divergent_spread_cycles, 10U);
}

TEST(LoadStoreUnit, AnAnswerIsOneForTheLinesThatGoWithIt) {
  Sending bench;
  MemoryAccess other;
  SubWarp& second = bench.load(0, {0});
  other.classify(second);
  translate_local(bench.state, other);
  bench.requests.make(other);
  bench.l1.missing = {AccessBench::line(0)};
  bench.make(bench.load(0, {0})).lines[0].with = &other.lines[0];
  EXPECT_EQ(bench.send(1), Sent::all);
  EXPECT_EQ(other.outstanding, 1U);
  bench.l1.respond(bench.access.lines[0]);
  EXPECT_EQ(bench.also, &other.lines[0]);
  EXPECT_EQ(other.outstanding, 1U) << "its turn is next";
  EXPECT_EQ(bench.unit.came(other.lines[0]), nullptr);
  other.finish_load();
  EXPECT_EQ(second.values.result[0][5], StubL1::word_at(kData + 20));
}

// ---- scratchpad_path.hpp

struct Banks : AccessBench {
  explicit Banks(const char* divergence)
      : AccessBench(machine_of(divergence)), mimd(machine.core.divergence == "mimd") {
    port.socket.bind(scratchpad.access);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  // The last cycle of a load by these lanes, each of another word of bank 0, the first of them word `first`.
  Cycle serve(LaneMask lanes, unsigned first, Cycle now) {
    SubWarp& load = sub_warp(0, [](Code& code) { code.load(Op::LD_SHARED, 1, 2); });
    load.executing = lanes;
    for (const unsigned lane : set_bits(lanes)) {
      load.address[lane] = std::uint64_t{first++} * 4 * machine.scratchpad.banks;
    }
    access.classify(load);
    return path.serve(access, now);
  }
  const bool mimd;
  const link::Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
  Scratchpad scratchpad{"scratchpad", machine.scratchpad, clock};
  Initiator<ScratchpadInitiatorSocket> port{"port"};
  ScratchpadPath path{state, port.socket, clock, mimd};
  MemoryAccess access;
};

TEST(ScratchpadPath, WordsOfABankTakeACycleEach) {
  Banks bench("stack");
  EXPECT_EQ(bench.serve(0x1, 0, 10), 10U);
  EXPECT_EQ(bench.serve(0x7, 0, 20), 22U);
  EXPECT_EQ(bench.serve(0x8, 9, 21), 21U) << "each access by itself";
}

TEST(ScratchpadPath, LanesByThemselvesShareTheCyclesOfTheirRow) {
  Banks bench("mimd");
  EXPECT_EQ(bench.serve(0x3, 0, 10), 11U);
  EXPECT_EQ(bench.serve(0x4, 1, 11), 11U) << "a word that is read already";
  EXPECT_EQ(bench.serve(0x8, 2, 11), 12U) << "the third of the bank";
  EXPECT_EQ(bench.scratchpad.statistics.accesses, 1U);
  bench.path.row_leaves();
  EXPECT_EQ(bench.serve(0x10, 3, 12), 12U);
  EXPECT_EQ(bench.scratchpad.statistics.accesses, 2U);
}

// ---- pending_accesses.hpp, gathering.hpp, return_queue.hpp

struct Pending : AccessBench {
  explicit Pending(unsigned places) : AccessBench(machine_of("stack", places)) {}
  PendingAccesses pending{state};
  MemoryAccess& begin(GroupId group) {
    MemoryAccess& access = pending.next();
    access.classify(load(group, {0}));
    pending.begin();
    return access;
  }
};

TEST(PendingAccesses, WhatWaitsForHitsTakesNoPlace) {
  Pending bench(1);
  EXPECT_FALSE(bench.pending.full());
  MemoryAccess& first = bench.begin(0);
  EXPECT_TRUE(bench.pending.full());
  bench.pending.wait_for_hits(first);
  EXPECT_FALSE(bench.pending.full());
  EXPECT_EQ(bench.state.groups[0].flight().late, 1U);
  bench.pending.wait_no_longer_for_hits(first);
  bench.pending.wait_for_lines(first);
  EXPECT_TRUE(bench.pending.full());
  EXPECT_EQ(bench.state.groups[0].flight().late, 0U);
  bench.pending.came(first);
  EXPECT_TRUE(bench.pending.full()) << "until it ends";
  bench.pending.end(first);
  EXPECT_FALSE(bench.pending.full());
  EXPECT_EQ(&bench.begin(1), &first) << "used again";
}

TEST(PendingAccesses, AGroupWaitsWhenTheLastSubWarpOfItsInstructionDoes) {
  Pending bench(4);
  Group& group = bench.state.groups[0];
  group.flight() = {2, 0, 0, true, false};
  MemoryAccess& first = bench.begin(0);
  bench.pending.wait_for_lines(first);
  EXPECT_EQ(group.state, GroupState::in_flight);
  bench.pending.wait_for_hits(bench.begin(0));
  EXPECT_EQ(group.state, GroupState::in_flight) << "looked at when lines are waited for";
  MemoryAccess& third = bench.begin(0);
  group.flight().formed = 3;
  bench.pending.wait_for_lines(third);
  EXPECT_EQ(group.state, GroupState::memory);
  EXPECT_EQ(bench.pending.put_aside(), 2U);
  bench.pending.came(third);
  EXPECT_EQ(group.state, GroupState::in_flight);
}

TEST(PendingAccesses, ThreadsWhoseLinesHaveComeMayPart) {
  Pending bench(4);
  Group& group = bench.state.groups[0];
  Group& other = bench.state.groups[1];
  group.active[0] = kAll;
  MemoryAccess& access = bench.begin(0);
  access.lines.resize(2);
  access.count = access.outstanding = 2;
  access.lines[0].lanes = 0x0000ffff;
  access.lines[1].lanes = 0xffff0000;
  access.lines[1].under_way = true;
  EXPECT_EQ(bench.pending.answered(group), 0U) << "it is at the stage's head";
  bench.pending.wait_for_lines(access);
  EXPECT_EQ(bench.pending.answered(group), 0x0000ffffU);
  EXPECT_EQ(bench.pending.answered(other), 0U);
  const SubWarp& part = bench.pending.part(access, 0x0000ffff, other);
  EXPECT_EQ(part.group, other.id);
  EXPECT_EQ(part.lanes, 0x0000ffffU);
  EXPECT_EQ(access.sub_warp->lanes, 0xffff0000U);
  EXPECT_EQ(access.global, 0xffff0000U);
  bench.pending.reset();
  EXPECT_EQ(bench.pending.aside_of(group), nullptr) << "forgotten, though its lines never came";
}

TEST(Gathering, IsCompleteWithTheLastSubWarpCountedOnce) {
  Lines bench;
  bench.state.groups[0].flight() = {2, 0, 0, true, false};
  Gathering gathering(bench.state, false);
  SubWarp& first = bench.load(0, {1, 2});
  SubWarp& second = bench.load(0, {2, 3});
  gathering.arrive(first);
  gathering.add(bench.make(first));
  gathering.arrive(first);
  EXPECT_FALSE(gathering.complete()) << "the one at the head again";
  EXPECT_EQ(gathering.waiting(), 1U);
  gathering.head_leaves();
  gathering.arrive(second);
  ASSERT_TRUE(gathering.complete());
  MemoryAccess last;
  last.classify(second);
  translate_local(bench.state, last);
  bench.requests.make(last);
  gathering.add(last);
  gathering.join();
  EXPECT_EQ(bench.access.own, 2U);
  EXPECT_EQ(last.own, 1U);
  EXPECT_EQ(last.order[0], 1U) << "line 3";
  EXPECT_EQ(bench.access.lines[1].with, &last.lines[0]);
  gathering.all_sent();
  EXPECT_EQ(gathering.waiting(), 0U);
}

TEST(ReturnQueue, HandsBackOneInACycleAndTellsOfLateOnesAtItsEnd) {
  AccessBench bench;
  StubSender sender{"sender"};
  StubReceiver port{"port", bench.state};
  sender.out.socket.bind(port.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  ReturnQueue queue(bench.state, sender.out, false);
  SubWarp& late = bench.load(0, {0});
  SubWarp& other = bench.load(1, {0});
  unsigned& waits = bench.state.groups[0].flight().late;
  waits = 1;
  queue.put(late, true);
  queue.put(other, false);
  port.room = false;
  queue.begin_cycle();
  queue.end_cycle();
  EXPECT_TRUE(port.taken.empty());
  EXPECT_EQ(waits, 1U);
  port.room = true;
  queue.begin_cycle();
  ASSERT_EQ(port.taken.size(), 1U);
  EXPECT_EQ(port.taken[0].sub_warp, &late);
  EXPECT_EQ(waits, 1U) << "write-back counts it from the next cycle on";
  queue.end_cycle();
  EXPECT_EQ(waits, 0U);
  queue.begin_cycle();
  EXPECT_EQ(port.taken.size(), 2U);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace heddle::hw::test
