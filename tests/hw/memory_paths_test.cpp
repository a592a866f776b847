// Parts of the memory stage, each without the others: whether and where lanes may access, and what comes of it.
#include "base/set_bits.hpp"
#include "hw/core/memory/address_check.hpp"
#include "hw/core/memory/local_path.hpp"
#include "hw/core/memory/texture_path.hpp"
#include "tests/hw/memory_stage_bench.hpp"

namespace heddle::hw::test {
namespace {

using isa::Width;

// ---- address_check.hpp

struct CheckBench : AccessBench {
  explicit CheckBench(const Machine& with = {}, const isa::DeviceMemory* bounds = nullptr)
      : AccessBench(with, bounds) {}
  MemoryAccess access;
  // Of a sub-warp whose lanes access `address` but for lane 3, which accesses `odd`.
  template <class Emit>
  bool may(Emit emit, std::uint64_t address, std::uint64_t odd) {
    state.fault.reset();
    SubWarp& out = sub_warp(0, emit);
    out.address.fill(address);
    out.address[3] = odd;
    access.classify(out);
    return AddressCheck(state).passes(access);
  }
};

TEST(AddressCheck, TheLastPlaceOfASpaceIsGoodAndTheNextIsNot) {
  CheckBench bench;
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
  CheckBench bench({}, &memory);
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
  CheckBench bench;
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
  CheckBench bench(machine);
  bench.access.loaded[3].fill(std::byte{0xee});
  EXPECT_TRUE(bench.may([](Code& code) { code.load(Op::LD_SHARED, 1, 2); }, 0, 8192));
  EXPECT_FALSE(bench.state.fault);
  EXPECT_EQ(bench.access.stray, 0x8U);
  EXPECT_EQ(bench.access.shared, ~0x8U);
  EXPECT_EQ(bench.access.loaded[3][0], std::byte{0});
  EXPECT_EQ(bench.state.stray_loads.at(0).count, 1U);
  EXPECT_FALSE(bench.may([](Code& code) { code.store(Op::ST_SHARED, 2, 4); }, 0, 8192)) << "only loads stray";
}

// ---- local_path.hpp, texture_path.hpp

TEST(LocalPath, WordsOfThreadsBesideEachOtherAreBesideEachOther) {
  AccessBench bench;
  SubWarp& load = bench.sub_warp(1, [](Code& code) { code.load(Op::LD_LOCAL, 4, 2, 0, Width::b32, 2); });
  load.address.fill(8);
  MemoryAccess access;
  access.classify(load);
  LocalPath(bench.state).translate(access);
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
  LocalPath(bench.state).follow(access);
  SubWarp& load = bench.sub_warp(0, [](Code& code) { code.load(Op::LD_LOCAL, 1, 2); });
  load.address.fill(8);
  access.classify(load);
  for (auto& bytes : access.loaded) {
    bytes.fill(std::byte{0xee});
  }
  LocalPath(bench.state).follow(access);
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
  TexturePath::address(access);
  EXPECT_EQ(access.addresses.lanes, 0x6U);
  EXPECT_EQ(access.addresses.pieces, 2U);
  EXPECT_EQ(access.addresses.piece_bytes, 8U);
  EXPECT_EQ(access.addresses.address[1][1], 1001U);
  EXPECT_EQ(access.addresses.address[1][2], 2002U);
}

// ---- scratchpad_path.hpp

struct BankBench : AccessBench {
  explicit BankBench(const char* divergence)
      : AccessBench(with_divergence(divergence)), mimd(machine.core.divergence == "mimd") {
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
  BankBench bench("stack");
  EXPECT_EQ(bench.serve(0x1, 0, 10), 10U);
  EXPECT_EQ(bench.serve(0x7, 0, 20), 22U);
  EXPECT_EQ(bench.serve(0x8, 9, 21), 21U) << "each access by itself";
}

TEST(ScratchpadPath, LanesByThemselvesShareTheCyclesOfTheirRow) {
  BankBench bench("mimd");
  EXPECT_EQ(bench.serve(0x3, 0, 10), 11U);
  EXPECT_EQ(bench.serve(0x4, 1, 11), 11U) << "a word that is read already";
  EXPECT_EQ(bench.serve(0x8, 2, 11), 12U) << "the third of the bank";
  EXPECT_EQ(bench.scratchpad.statistics.accesses, 1U);
  bench.path.row_leaves();
  EXPECT_EQ(bench.serve(0x10, 3, 12), 12U);
  EXPECT_EQ(bench.scratchpad.statistics.accesses, 2U);
}

}  // namespace
}  // namespace heddle::hw::test
