// The memory stage alone in a test, between stubs: an L1, write-back ports, the real scratchpad (MemoryBench). What its
// parts need in their own tests, without any module (AccessBench).
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "hw/core/memory/memory.hpp"
#include "isa/memory_map.hpp"
#include "tests/hw/begin_block.hpp"
#include "tests/hw/stage_stubs.hpp"

namespace heddle::hw::test {

using isa::Op;
using link::SubWarp;

inline constexpr std::uint64_t kData = isa::kGlobalBase;
inline constexpr LaneMask kAll = ~LaneMask{0};

[[nodiscard]] inline Machine with_divergence(const char* divergence, unsigned pending = 64) {
  Machine machine;
  machine.core.divergence = divergence;
  machine.core.pending_accesses = pending;
  return machine;
}

struct AccessBench {
  explicit AccessBench(const Machine& with = {}, const isa::DeviceMemory* bounds = nullptr)
      : machine(with), state(machine, 0, bounds) {
    launch.shared_bytes = 8192;
    launch.local_bytes = 64;
    launch.local_base = isa::kLocalBacking;
    for (unsigned i = 0; i < 256; ++i) {
      launch.constants.push_back(static_cast<std::uint8_t>(i ^ 0xa5U));
      launch.parameters.push_back(static_cast<std::uint8_t>(i + 3));
    }
    launch.parameter_base = isa::kBankBacking;
    launch.constant_base = isa::kBankBacking + 512;
    launch.block = {8 * machine.core.warp_size, 1, 1};
    state.launch = &launch;
    begin_block(state, 0, {}, 0);
    state.block(0).scratchpad_base = 256;
    for (GroupId id = 0; id < 8; ++id) {
      Group& group = state.groups[id];
      group.first_row = static_cast<std::uint16_t>(id * state.rows_per_warp);
      state.groups.set_state(group, GroupState::in_flight);
      group.flight() = {1, 0, 0, true, false};
    }
  }

  // A full sub-warp of the group with this instruction.
  template <class Emit>
  SubWarp& sub_warp(GroupId group, Emit emit) {
    instructions.push_back(decoded(emit));
    SubWarp& out = state.pool.take();
    out.group = group;
    out.pc = 7;
    out.decoded = instructions.back().get();
    out.lanes = out.executing = kAll;
    out.first_row = state.groups[group].first_row;
    return out;
  }
  // A 32-bit load, lane l from line line_of[l % size], word l of it.
  SubWarp& load(GroupId group, const std::vector<unsigned>& line_of) {
    SubWarp& out = sub_warp(group, [](Code& code) { code.load(Op::LD_GLOBAL, 1, 2); });
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      out.address[lane] = line(line_of[lane % line_of.size()]) + 4 * lane;
    }
    return out;
  }
  static std::uint64_t line(unsigned index) { return kData + std::uint64_t{index} * StubL1::kLineBytes; }
  [[nodiscard]] std::unique_ptr<Coalescer> coalescer() const {
    return Registry<Coalescer>::instance().make(machine.core.coalescer, {machine.l1d.line_bytes});
  }

  Machine machine;
  Launch launch;
  CoreState state;
  std::vector<std::unique_ptr<link::DecodedInstruction>> instructions;
};

// A socket has a module.
template <class Socket>
struct Initiator : sc_core::sc_module {
  explicit Initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name), socket("socket") {}
  Socket socket;
};

struct MemoryBench : AccessBench {
  explicit MemoryBench(const Machine& with = {}) : AccessBench(with) {
    execute.out.socket.bind(stage.in);
    stage.l1d.bind(l1.socket);
    stage.texture.bind(texture.socket);
    if (stage.constants() != nullptr) {
      constants = std::make_unique<StubL1>("constants", state);
      stage.constants()->bind(constants->socket);
    }
    stage.scratchpad.bind(scratchpad.access);
    stage.out.socket.bind(writeback.socket);
    stage.returns.socket.bind(returns.socket);
    stage.slots = &slots;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  SubWarp& add(GroupId group) {
    return sub_warp(group, [](Code& code) { code.rrr(Op::ADD, 1, 2, 3); });
  }
  // With a memory queue: fetch has taken a place for the instruction.
  void queue(SubWarp& sub_warp) {
    for (const auto& each : instructions) {
      each->queues = each->queues || each.get() == sub_warp.decoded;
    }
    stage.queue().reserve();
  }
  static void expect_loaded(const SubWarp& sub_warp) {
    for (unsigned lane = 0; lane < isa::kLanes; ++lane) {
      ASSERT_EQ(sub_warp.values.result[0][lane], StubL1::word_at(sub_warp.address[lane])) << "lane " << lane;
    }
  }
  // Execute hands a sub-warp over, after the memory stage's turn in the cycle.
  bool offer(SubWarp& sub_warp, Cycle now) {
    state.now = now;
    return execute.out.offer(sub_warp);
  }
  unsigned dropped = 0;  // times that a fence has had the L1 drop its copies
  void tick(Cycle now, bool stores_visible = true) {
    state.now = now;
    state.block_cause = IdleCause::no_work;  // nothing that the stage sets
    stage.stores_visible = [stores_visible] { return stores_visible; };
    stage.drop_old_copies = [this] { ++dropped; };
    stage.tick(now);
  }
  // Hands over a sub-warp, which the stage works on in the next cycle.
  void feed(SubWarp& next, Cycle now, bool stores_visible = true) {
    ASSERT_TRUE(offer(next, now));
    tick(now + 1, stores_visible);
  }

  const link::Clock clock{sc_core::sc_time(1, sc_core::SC_NS)};
  StubSender execute{"execute"};
  StubL1 l1{"l1", state};
  StubL1 texture{"texture", state};   // must be bound; no test fetches texels
  std::unique_ptr<StubL1> constants;  // null: the machine has no constant cache
  Scratchpad scratchpad{"scratchpad", machine.scratchpad, clock};
  StubReceiver writeback{"writeback", state};
  StubReceiver returns{"returns", state};
  AccessSlots slots{machine.lsu.interval};
  MemoryStage stage{"stage", state, clock, coalescer()};
};

}  // namespace heddle::hw::test
