#include "hw/core/memory/line_requests.hpp"

#include <bit>
#include <cstring>

#include "base/set_bits.hpp"
#include "hw/core/memory/texture_path.hpp"

namespace heddle::hw {

void LineRequests::make(MemoryAccess& access) {
  const isa::Instruction& instruction = access.sub_warp->decoded->instruction;
  coalescer_->coalesce(access.addresses, access.coalesced);
  access.count = access.own = static_cast<unsigned>(access.coalesced.size());
  state_.statistics.line_requests += access.count;
  const bool reads_memory = state_.groups[access.sub_warp->group].reads_memory;
  const auto make_room = [&access](auto& by_line) {
    if (by_line.size() < access.count) {
      by_line.resize(access.count);
    }
  };
  make_room(access.lines);  // nothing of this access is outstanding yet: addresses may change
  if (access.kind == MemoryAccess::Kind::store) {
    make_room(access.stores);
  } else if (access.kind == MemoryAccess::Kind::atomic) {
    make_room(access.atomics);
  }
  for (unsigned i = 0; i < access.count; ++i) {
    AccessLine& line = access.begin_line(state_, i);
    line.address = access.coalesced[i].line;
    line.lanes = access.coalesced[i].lanes;
    line.bypass = isa::is_volatile(instruction.op) || (isa::is_copy(instruction.op) && instruction.past_l1()) ||
                  (isa::is_load(instruction.op) && reads_memory);
    line.row_hint = isa::is_load(instruction.op) && instruction.row_hint();
    line.shares_port = mimd_lanes_ && (isa::is_load(instruction.op) || isa::is_texture(instruction.op)) && !line.bypass;
    line.waits = access.kind == MemoryAccess::Kind::store && stores_wait_;
    line.banks = by_bytes_ && access.kind != MemoryAccess::Kind::texture ? banks_of(access, line) : 0;
    line.parts = sectors_ ? parts_of(access, line) : line.parts;
    if (access.kind == MemoryAccess::Kind::store) {
      line.kind = link::LineRequest::Kind::store;
      line.stored = &access.stores[i];
      fill_store(access, line);
    } else if (access.kind == MemoryAccess::Kind::atomic) {
      line.kind = link::LineRequest::Kind::atomic;
      line.atomic = &access.atomics[i];
      fill_atomic(access, line);
    }
  }
}

// visit(address) for each piece of what the lanes access that lies in the line.
template <class Visit>
void LineRequests::each_piece(const MemoryAccess& access, const AccessLine& line, Visit visit) const {
  const std::uint64_t offset_mask = line_bytes() - 1;
  for (unsigned piece = 0; piece < access.addresses.pieces; ++piece) {
    for (const unsigned lane : set_bits(line.lanes)) {
      const std::uint64_t address = access.addresses.address[piece][lane];
      if ((address & ~offset_mask) == line.address) {
        visit(address);
      }
    }
  }
}

// Of what the lanes access in the line.
std::uint64_t LineRequests::banks_of(const MemoryAccess& access, const AccessLine& line) const {
  const DataCacheParameters& l1d = state_.machine.l1d;
  std::uint64_t banks = 0;
  each_piece(access, line, [&](std::uint64_t address) {
    const std::uint64_t last = address + access.addresses.piece_bytes - 1;
    for (std::uint64_t unit = address / l1d.bank_bytes; unit <= last / l1d.bank_bytes; ++unit) {
      banks |= std::uint64_t{1} << (unit % l1d.banks);
    }
  });
  return banks;
}

// The parts of the line that its lanes want.
std::uint8_t LineRequests::parts_of(const MemoryAccess& access, const AccessLine& line) const {
  unsigned parts = 0;
  each_piece(access, line, [&](std::uint64_t address) {
    parts |= 1U << ((address & (line_bytes() - 1)) / link::kPartBytes);  // an aligned piece ends there too
  });
  return static_cast<std::uint8_t>(parts);
}

void LineRequests::fill_store(const MemoryAccess& access, AccessLine& line) const {
  const std::uint64_t offset_mask = line_bytes() - 1;
  const unsigned element_bytes = access.element_bytes;
  std::byte* const data = line.stored->data.data();
  std::uint8_t* const enable = line.stored->enable.data();
  line.stored->enable.fill(0);
  line.store_data = data;
  line.byte_enable = enable;
  if (element_bytes == 4 && access.elements == 1 && access.addresses.pieces == 1 &&
      !isa::is_accumulate(access.sub_warp->decoded->instruction.op)) {  // usual: a word of each lane
    const LaneAddresses::Piece& address = access.addresses.address[0];
    const isa::LaneWord& value = access.sub_warp->values.result[0];
    for (const unsigned lane : set_bits(line.lanes)) {
      const std::uint64_t offset = address[lane] & offset_mask;
      std::memcpy(data + offset, &value[lane], 4);
      std::memset(enable + offset, 0xff, 4);
    }
    return;
  }
  for (const unsigned lane : set_bits(line.lanes)) {
    std::array<std::byte, 16> bytes;
    for (unsigned element = 0; element < access.elements; ++element) {
      const std::uint64_t value = access.stored(lane, element);
      std::memcpy(bytes.data() + element * element_bytes, &value, element_bytes);
    }
    for (unsigned piece = 0; piece < access.addresses.pieces; ++piece) {
      const std::uint64_t address = access.addresses.address[piece][lane];
      if ((address & ~offset_mask) != line.address) {
        continue;
      }
      const std::uint64_t offset = address & offset_mask;
      std::memcpy(data + offset, bytes.data() + piece * 4, access.addresses.piece_bytes);
      std::memset(enable + offset, 0xff, access.addresses.piece_bytes);
    }
  }
}

void LineRequests::fill_atomic(const MemoryAccess& access, AccessLine& line) const {
  const isa::Instruction& instruction = access.sub_warp->decoded->instruction;
  const std::uint64_t offset_mask = line_bytes() - 1;
  link::AtomicLanes& atomic = *line.atomic;
  atomic.op = instruction.atomic_op();
  atomic.type = instruction.atomic_type();
  atomic.count = 0;
  for (const unsigned lane : set_bits(line.lanes)) {
    const unsigned entry = atomic.count++;
    atomic.lane[entry] = static_cast<std::uint8_t>(lane);
    atomic.offset[entry] = static_cast<std::uint32_t>(access.sub_warp->address[lane] & offset_mask);
    atomic.b[entry] = lane_operand(access.sub_warp->values.b, lane, access.lane_bytes);
    atomic.c[entry] = lane_operand(access.sub_warp->values.c, lane, access.lane_bytes);
  }
}

void LineRequests::take(MemoryAccess& access, const link::LineRequest& request) {
  if (request.failed) {
    const auto lane = static_cast<unsigned>(std::countr_zero(request.lanes));
    state_.raise(isa::Fault::Kind::bus_error, *access.sub_warp, lane, access.sub_warp->address[lane], access.lane_bytes,
                 "the memory answered with an error");
    return;
  }
  if (access.kind == MemoryAccess::Kind::atomic) {
    const link::AtomicLanes& atomic = *request.atomic;
    for (unsigned entry = 0; entry < atomic.count; ++entry) {
      access.sub_warp->values.result[0][atomic.lane[entry]] = static_cast<std::uint32_t>(atomic.old[entry]);
      access.sub_warp->values.result[1][atomic.lane[entry]] = static_cast<std::uint32_t>(atomic.old[entry] >> 32U);
    }
    return;
  }
  if (access.kind == MemoryAccess::Kind::store) {
    return;
  }
  if (access.kind == MemoryAccess::Kind::texture) {
    TexturePath::take(access, request, line_bytes());
    return;
  }
  const std::uint64_t offset_mask = line_bytes() - 1;
  const unsigned bytes = access.addresses.piece_bytes;
  if (access.addresses.pieces == 1) {  // usual: every lane that the line serves has its bytes in it
    const LaneAddresses::Piece& address = access.addresses.address[0];
    for (const unsigned lane : set_bits(request.lanes)) {
      copy_lane(access.loaded[lane].data(), request.line + (address[lane] & offset_mask), bytes);
    }
    return;
  }
  for (unsigned piece = 0; piece < access.addresses.pieces; ++piece) {
    for (const unsigned lane : set_bits(request.lanes)) {
      const std::uint64_t address = access.addresses.address[piece][lane];
      if ((address & ~offset_mask) == request.address) {
        std::memcpy(access.loaded[lane].data() + piece * 4, request.line + (address & offset_mask), bytes);
      }
    }
  }
}

}  // namespace heddle::hw
