// One sub-warp's memory access while it is in the memory stage or put aside: which lanes go where, the line requests
// that serve them, and the bytes that have come back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/set_bits.hpp"
#include "hw/coalesce/coalescer.hpp"
#include "hw/state/core_state.hpp"
#include "isa/texture.hpp"
#include "tlm/line_protocol.hpp"
#include "tlm/warp_protocol.hpp"

namespace heddle::hw {

struct MemoryAccess;

// What a store writes to a line: bytes, and which of them, as byte enables.
struct StoredBytes {
  std::array<std::byte, 128> data;
  std::array<std::uint8_t, 128> enable;
};

// A line request. Its `lanes` are the lanes that the line serves, its `answer` what the L1 said. Its operands lie
// apart, since loads, which may have many lines under way, have none.
struct AccessLine : link::LineRequest {
  MemoryAccess* access = nullptr;
  bool under_way = false;  // sent and not answered yet
  // The lines of other sub-warps of the instruction that go with this one's request (Coalescer::Traits::gathers).
  AccessLine* with = nullptr;
  StoredBytes* stored = nullptr;  // of a store
};

struct MemoryAccess {
  link::SubWarp* sub_warp = nullptr;  // whose; null: the access is free
  enum class Kind : std::uint8_t { load, store, atomic, texture } kind = Kind::load;
  LaneMask lanes = 0;  // that access: the executing lanes; of cond_acc, lanes whose predicate is true
  unsigned element_bytes = 4;
  unsigned elements = 1;    // of each lane
  unsigned lane_bytes = 4;  // bytes that each lane accesses: all its elements
  LaneMask stray = 0;       // of loads: out of bounds, to read 0. In none of the masks below
  // They by where their address lies.
  LaneMask shared = 0, constant = 0, parameter = 0, local = 0, global = 0;
  LaneMask on_chip = 0;  // of local memory, in none of the masks above once the access has begun (private.bytes)
  // Lanes served by lines: global ones, or local ones translated to their backing store.
  LaneAddresses addresses;
  std::vector<LineAccess> coalesced;
  std::vector<AccessLine> lines;  // lines[0..count)
  // Their operands, by line: of stores, of atomics.
  std::vector<StoredBytes> stores;
  std::vector<link::AtomicLanes> atomics;
  // Of 0..count, in which the lines are offered, `own` of them: the others go with a request of another sub-warp. The
  // first `sent` have been sent.
  std::array<std::uint8_t, 4 * isa::kLanes> order{};
  unsigned count = 0;
  unsigned own = 0;
  unsigned sent = 0;
  bool gathered = false;      // the instruction's lines have not all been sent
  unsigned outstanding = 0;   // lines under way
  unsigned late = 0;          // of the lines under way: hits whose answer takes its time
  Cycle queues_until = 0;     // a line has found its bank taken: none is sent before
  bool for_copies = false;    // it waits for its group's earlier copies, instead of lines
  bool in_bulk = false;       // its lanes copy in bulk (hw/core/memory/bulk_copy_path.hpp): of no lines, `sent` lanes
  bool by_constants = false;  // its lines are those of constant caches (hw/core/memory/constant_path.hpp)
  bool aside = false;         // put aside until all lines have come
  LaneMask absent = 0;        // lanes with a line that was not in the L1, of stores too, which do not wait for it
  unsigned missed = 0;        // lines that had to come
  Cycle first_miss = 0;       // with missed: the cycle in which the L1 missed the first of them
  Cycle first_line = 0;       // the cycle in which the first of them came; kNever: none yet
  // Loaded bytes of each lane.
  alignas(64) std::array<std::array<std::byte, 16>, isa::kLanes> loaded;

  // Of a texture fetch; null until the access has been one.
  struct TextureLanes {
    std::array<const isa::TextureDescriptor*, isa::kLanes> of{};
    std::array<isa::TexelFetch, isa::kLanes> fetch;
    std::array<std::array<isa::Texel, 4>, isa::kLanes> texels;  // as they have come
  };
  std::unique_ptr<TextureLanes> texture;

  // Sets kind, lane_bytes and the lane masks from the instruction and the generated addresses.
  void classify(link::SubWarp& of);
  // What a lane stores: its element of that number; of a conditional accumulate, its value.
  [[nodiscard]] std::uint64_t stored(unsigned lane, unsigned element) const;
  // The lanes that wait for a line under way; with `misses_only`, for one that is not there.
  [[nodiscard]] LaneMask waiting(bool misses_only = false) const;
  // Line `number`, which there is room for, as a load of the sub-warp that all the rest is still to be said of.
  AccessLine& begin_line(const CoreState& state, unsigned number);
  // Bytes that a lane reads: all, or less of a copy that fills the rest with zeros.
  [[nodiscard]] unsigned bytes_of(unsigned lane) const {
    return isa::fills(sub_warp->decoded->instruction.op) ? std::min(sub_warp->values.result[1][lane], lane_bytes)
                                                         : lane_bytes;
  }
  // Turns `loaded` into result registers (loads) after the last byte has come.
  void finish_load();
};

// Copies what one lane loads or stores: 1, 2, 4, 8 or 16 bytes, each by a move of its own.
inline void copy_lane(void* to, const void* from, unsigned bytes) {
  switch (bytes) {
    case 1:
      std::memcpy(to, from, 1);
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

// Those of `lanes` whose address it is.
[[nodiscard]] inline LaneMask lanes_at(const link::SubWarp& sub_warp, LaneMask lanes, std::uint64_t address) {
  LaneMask there = 0;
  for (const unsigned lane : set_bits(lanes)) {
    there |= LaneMask{sub_warp.address[lane] == address ? 1U : 0U} << lane;
  }
  return there;
}

// An atomic's operand, or what a conditional accumulate writes, of one lane: up to 8 bytes.
template <std::size_t count>
[[nodiscard]] inline std::uint64_t lane_operand(const std::array<isa::LaneWord, count>& words, unsigned lane,
                                                unsigned bytes) {
  return words[0][lane] | (bytes == 8 ? std::uint64_t{words[1][lane]} << 32U : 0);
}

}  // namespace heddle::hw
