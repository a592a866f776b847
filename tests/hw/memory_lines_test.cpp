// Parts of the memory stage, each without the others: lines to the L1 and back, and who waits for them.
#include "hw/core/memory/local_path.hpp"
#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

using link::LineRequest;

// ---- line_requests.hpp

struct LineBench : AccessBench {
  explicit LineBench(const Machine& with = {}) : AccessBench(with) {}
  LineRequests requests{state, coalescer(), machine.core.divergence == "mimd"};
  MemoryAccess access;
  MemoryAccess& make(SubWarp& of) {
    access.classify(of);
    LocalPath(state).translate(access);
    requests.make(access);
    return access;
  }
};

TEST(LineRequests, AreTheDistinctLinesWithTheirLanes) {
  LineBench bench;
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
  LineBench bench;
  EXPECT_FALSE(bench.make(bench.load(0, {1})).lines[0].bypass);
  bench.state.groups[0].reads_memory = true;
  EXPECT_TRUE(bench.make(bench.load(0, {1})).lines[0].bypass);
  EXPECT_FALSE(bench.make(bench.load(1, {1})).lines[0].bypass) << "another group";
}

TEST(LineRequests, OnlyLoadsOfLanesByThemselvesShareAPort) {
  const auto shares = [](const char* divergence, Op op) {
    LineBench bench(with_divergence(divergence));
    SubWarp& one = op == Op::LD_GLOBAL ? bench.load(0, {1})
                                       : bench.sub_warp(0, [](Code& code) { code.store(Op::ST_GLOBAL, 2, 4); });
    one.address.fill(kData);
    return bench.make(one).lines[0].shares_port;
  };
  EXPECT_TRUE(shares("mimd", Op::LD_GLOBAL));
  EXPECT_FALSE(shares("mimd", Op::ST_GLOBAL));
  EXPECT_FALSE(shares("stack", Op::LD_GLOBAL));
}

TEST(LineRequests, StoresWaitWhereTheCoreSaysSo) {
  for (const char* stores : {"posted", "waited"}) {
    Machine machine;
    machine.core.stores = stores;
    LineBench bench(machine);
    SubWarp& store = bench.sub_warp(0, [](Code& code) { code.store(Op::ST_GLOBAL, 2, 4); });
    store.address.fill(kData);
    EXPECT_EQ(bench.make(store).lines[0].waits, machine.core.stores == "waited");
    EXPECT_FALSE(bench.make(bench.load(1, {1})).lines[0].waits);
  }
}

// Banks of eight bytes: lane l accesses word l of its line, two words of a bank.
TEST(LineRequests, NameTheBanksOfWhatTheirLanesAccess) {
  Machine machine;
  machine.l1d.banks = 16;
  LineBench by_line(machine);
  EXPECT_EQ(by_line.make(by_line.load(0, {4, 2, 4, 4})).lines[0].banks, 0U);
  machine.l1d.bank_bytes = 8;
  LineBench bench(machine);
  bench.make(bench.load(0, {4, 4, 4, 4, 2, 4, 4, 4}));
  EXPECT_EQ(bench.access.lines[0].banks, 0xffffU) << "lane 5 has the other word of lane 4's bank";
  EXPECT_EQ(bench.access.lines[1].banks, 0x4444U);
}

TEST(LineRequests, ALineThatFailsIsAFaultOfItsLowestLane) {
  LineBench bench;
  AccessLine& line = bench.make(bench.load(0, {0, 1, 1, 0})).lines[1];
  line.failed = true;
  bench.requests.take(bench.access, line);
  ASSERT_TRUE(bench.state.fault);
  EXPECT_EQ(bench.state.fault->kind, isa::Fault::Kind::bus_error);
  EXPECT_EQ(bench.state.fault->address, AccessBench::line(1) + 4);
}

// ---- load_store_unit.hpp

struct SendBench : LineBench, private ::tlm::tlm_bw_transport_if<link::LineProtocol> {
  explicit SendBench(const Machine& with = {}) : LineBench(with) {
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
  SendBench bench;
  bench.make(bench.load(0, {0, 1}));
  EXPECT_EQ(bench.send(5), Sent::some);
  EXPECT_EQ(bench.state.block_cause, IdleCause::memory_port);
  EXPECT_EQ(bench.access.sent, 1U);
  EXPECT_EQ(bench.send(6), Sent::all);
  EXPECT_EQ(bench.access.outstanding, 0U);
  EXPECT_EQ(bench.send(7), Sent::all) << "nothing is left";
  EXPECT_EQ(bench.l1.taken.size(), 2U);
}

// Even lines are of one bank. The access waits once, however often its lines meet; the next one does not.
TEST(LoadStoreUnit, AnAccessWhoseBanksConflictQueues) {
  Machine machine;
  machine.l1d.conflict_cycles = 3;
  SendBench bench(machine);
  bench.l1.ports = 4;
  bench.l1.banks = 2;
  bench.make(bench.load(0, {0, 2, 4, 1}));
  EXPECT_EQ(bench.send(10), Sent::some);
  EXPECT_EQ(bench.access.sent, 2U) << "line 1 passes";
  for (const Cycle now : {11U, 12U, 13U}) {
    EXPECT_EQ(bench.send(now), Sent::some);
    EXPECT_EQ(bench.state.block_cause, IdleCause::memory_port);
    EXPECT_EQ(bench.access.sent, 2U);
  }
  EXPECT_EQ(bench.send(14), Sent::some);
  EXPECT_EQ(bench.access.sent, 3U);
  EXPECT_EQ(bench.send(15), Sent::all);
  bench.make(bench.load(0, {5}));
  EXPECT_EQ(bench.send(16), Sent::all);
}

// What stands in front of a cache may take the line in any cycle: the unit asks in each, and counts on no rest.
TEST(LoadStoreUnit, WantOfRoomOfAForeignCacheIsAskedAboutInEveryCycle) {
  SendBench bench;
  bench.make(bench.load(0, {0, 1}));
  bench.l1.full = true;
  bench.l1.full_of = LineRequest::Busy::targets;
  EXPECT_EQ(bench.send(1), Sent::some);
  EXPECT_EQ(bench.state.block_cause, IdleCause::targets_full);
  EXPECT_EQ(bench.unit.full(), nullptr) << "a stub";
  bench.l1.full = false;
  EXPECT_EQ(bench.send(2), Sent::some);
}

TEST(LoadStoreUnit, KeepsWhatIsUnderWayAndWhenItMissedAndCame) {
  SendBench bench;
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
  SendBench bench;
  MemoryAccess other;
  SubWarp& second = bench.load(0, {0});
  other.classify(second);
  LocalPath(bench.state).translate(other);
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

// ---- pending_accesses.hpp, gathering.hpp, return_queue.hpp

struct PendingBench : AccessBench {
  explicit PendingBench(unsigned places) : AccessBench(with_divergence("stack", places)) {}
  PendingAccesses pending{state};
  MemoryAccess& begin(GroupId group) {
    MemoryAccess& access = pending.next();
    access.classify(load(group, {0}));
    pending.begin();
    return access;
  }
};

TEST(PendingAccesses, WhatWaitsForHitsTakesNoPlace) {
  PendingBench bench(1);
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
  PendingBench bench(4);
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
  PendingBench bench(4);
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
  LineBench bench;
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
  LocalPath(bench.state).translate(last);
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
  queue.begin_cycle(1);
  queue.end_cycle();
  EXPECT_TRUE(port.taken.empty());
  EXPECT_EQ(waits, 1U);
  port.room = true;
  queue.begin_cycle(2);
  ASSERT_EQ(port.taken.size(), 1U);
  EXPECT_EQ(port.taken[0].sub_warp, &late);
  EXPECT_EQ(waits, 1U) << "write-back counts it from the next cycle on";
  queue.end_cycle();
  EXPECT_EQ(waits, 0U);
  queue.begin_cycle(3);
  EXPECT_EQ(port.taken.size(), 2U);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace heddle::hw::test
