#include "isa/reference/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/set_bits.hpp"
#include "isa/barrier_object.hpp"
#include "isa/bulk_copy.hpp"
#include "isa/device_heap.hpp"
#include "isa/global_atomics.hpp"
#include "isa/memory_map.hpp"
#include "isa/texture.hpp"

static_assert(std::endian::native == std::endian::little, "device memory is little-endian");

namespace heddle::isa::reference {

namespace {

std::vector<std::byte> copy_of(std::span<const std::uint8_t> bytes) {
  std::vector<std::byte> out(bytes.size());
  std::transform(bytes.begin(), bytes.end(), out.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
  return out;
}

// 32-bit addresses wrap around at 32 bits; the ".e" forms at 64.
std::uint64_t address_of(const Instruction& instruction, const LaneValues& values, unsigned lane) {
  const std::uint32_t offset = instruction.immediate ? instruction.imm : 0;
  if (has_wide_address(instruction.op)) {
    const std::uint64_t base = values.a[0][lane] | std::uint64_t{values.a[1][lane]} << 32U;
    return base + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(offset)});
  }
  return values.a[0][lane] + offset;
}

std::uint64_t raw_element(const std::byte* from, unsigned bytes) {
  std::uint64_t raw = 0;
  std::memcpy(&raw, from, bytes);
  return raw;
}

}  // namespace

BlockMemory::BlockMemory(DeviceMemory& global, std::span<const std::uint8_t> constants,
                         std::span<const std::uint8_t> parameters, std::size_t shared_bytes, std::size_t local_bytes,
                         std::size_t threads, BlockObserver* observer)
    : global_(global),
      observer_(observer),
      allocations_(&global),
      constants_(copy_of(constants)),
      parameters_(copy_of(parameters)),
      shared_(shared_bytes),
      local_(local_bytes * threads),
      local_bytes_(local_bytes) {}

void BlockMemory::clear() {
  std::fill(shared_.begin(), shared_.end(), std::byte{0});
  std::fill(local_.begin(), local_.end(), std::byte{0});
}

BlockMemory::Place BlockMemory::locate_global(Access access, std::uint64_t address, std::uint32_t size,
                                              std::uint32_t thread, bool generic, std::optional<AccessFault>& fault) {
  if (global_.heap().holds(address)) {
    return locate_on_heap(access, address, size, thread, fault);
  }
  const Allocation* allocation = allocations_.find(address, size);
  const char* verb = access == Access::load ? "load" : access == Access::store ? "store" : "atomic";
  if (allocation == nullptr) {
    std::string detail = fmt::format("{}, {}", verb, global_.describe(address, size));
    if (!generic && window_of(address) != Window::global) {
      detail = fmt::format("global {} of an address in the {} window", verb,
                           window_of(address) == Window::shared  ? "shared"
                           : window_of(address) == Window::local ? "local"
                                                                 : "constant");
    }
    fault = AccessFault{Fault::Kind::out_of_bounds, 0, address, size, std::move(detail)};
    return {nullptr, static_cast<std::uint32_t>(address)};
  }
  if (access != Access::load && !allocation->writable) {
    fault = AccessFault{Fault::Kind::out_of_bounds, 0, address, size,
                        fmt::format("{}, {}", verb, global_.describe(address, size))};
    return {};
  }
  std::size_t length = 0;  // an aligned access of at most 16 bytes never leaves its page
  return {global_.direct(address, length), static_cast<std::uint32_t>(address), observer_ != nullptr ? address : 0};
}

BlockMemory::Place BlockMemory::locate_on_heap(Access access, std::uint64_t address, std::uint32_t size,
                                               std::uint32_t thread, std::optional<AccessFault>& fault) {
  const DeviceHeap& heap = global_.heap();
  Place place{nullptr, static_cast<std::uint32_t>(address)};
  if (heap.allows(number_of(thread), address, size)) {
    std::size_t length = 0;
    place.data = global_.direct(address, length);
  } else {
    const char* verb = access == Access::load ? "load" : access == Access::store ? "store" : "atomic";
    fault = AccessFault{Fault::Kind::out_of_bounds, 0, address, size,
                        fmt::format("{}, {}", verb, heap.describe(number_of(thread), address, size))};
  }
  return place;
}

std::uint64_t BlockMemory::number_of(std::uint32_t thread) const {
  return first_number_ ? *first_number_ + thread : DeviceHeap::kNobody;
}

bool BlockMemory::in_one_piece(std::uint64_t address, std::uint64_t size, std::uint32_t thread) {
  return global_.heap().holds(address) ? global_.heap().allows(number_of(thread), address, size)
                                       : allocations_.find(address, size) != nullptr;
}

BlockMemory::Place BlockMemory::locate(Access access, Space space, std::uint64_t address, std::uint32_t size,
                                       std::uint32_t thread, std::optional<AccessFault>& fault) {
  if (address % size != 0) {
    fault =
        AccessFault{Fault::Kind::misaligned, 0, address, size, fmt::format("the address is no multiple of {}", size)};
    return {};
  }
  const std::uint64_t given = address;
  const bool generic = space == Space::generic;
  if (generic) {
    switch (window_of(address)) {
      case Window::global:
        space = Space::global;
        break;
      case Window::shared:
        space = Space::shared;
        address -= kSharedWindow;
        break;
      case Window::local:
        space = Space::local;
        address -= kLocalWindow;
        break;
      case Window::constant:
        space = Space::constant;
        address -= kConstantWindow;
        break;
    }
  }
  std::span<std::byte> bytes;
  std::uint64_t window = 0;
  const char* name = "";
  switch (space) {
    case Space::global:
    case Space::generic:
      return locate_global(access, address, size, thread, generic, fault);
    case Space::shared:
      bytes = shared_;
      window = kSharedWindow;
      name = "the block's scratchpad";
      break;
    case Space::local:
      bytes = std::span(local_).subspan(thread * local_bytes_, local_bytes_);
      window = kLocalWindow;
      name = "the thread's local memory";
      break;
    case Space::constant:
      bytes = constants_;
      window = kConstantWindow;
      name = "the constant bank";
      break;
    case Space::param:
      bytes = parameters_;
      name = "the kernel's parameters";
      break;
  }
  const char* verb = access == Access::load ? "load" : access == Access::store ? "store" : "atomic";
  const bool forbidden =
      (space == Space::constant && access != Access::load) || (space == Space::local && access == Access::atomic);
  if (address >= bytes.size() || size > bytes.size() - address || forbidden) {
    std::string detail = fmt::format("{} at offset {} of {}, which has {} bytes", verb, address, name, bytes.size());
    if (forbidden) {
      detail = fmt::format("{} {} offset {}, which {}", verb, access == Access::atomic ? "on" : "to", address,
                           space == Space::local ? "is in local memory: atomics work on global and shared memory"
                                                 : "is in the constant bank: it is read-only");
    }
    fault = AccessFault{Fault::Kind::out_of_bounds, 0, given, size, std::move(detail)};
    return {nullptr, static_cast<std::uint32_t>(window + address)};
  }
  return {bytes.data() + address, static_cast<std::uint32_t>(window + address)};
}

std::optional<AccessFault> BlockMemory::load(const Instruction& instruction, LaneMask lanes, std::uint32_t first_thread,
                                             LaneValues& values, LaneWord& address_low,
                                             std::vector<AccessFault>* strays) {
  const Space space = space_of(instruction.op);
  const Width width = instruction.width();
  const unsigned bytes = bytes_of(width);
  const bool matrices = instruction.op == Op::LD_MATRIX;
  const unsigned elements = matrices ? 4 : instruction.vector();
  const unsigned words = width == Width::b64 ? 2 : 1;
  std::optional<AccessFault> fault;
  for (const unsigned lane : set_bits(matrices ? matrix_rows(instruction, lanes) : lanes)) {
    const Place place = locate(Access::load, space, address_of(instruction, values, lane), bytes * elements,
                               first_thread + lane, fault);
    const bool stray = place.data == nullptr;
    if (stray) {
      fault->lane = lane;
      if (strays == nullptr || fault->kind != Fault::Kind::out_of_bounds) {
        return fault;
      }
      strays->push_back(*fault);
    }
    address_low[lane] = place.generic_low;
    if (place.watched != 0) {
      observer_->loads(place.watched, bytes * elements);
    }
    for (unsigned element = 0; element < elements; ++element) {
      const std::uint64_t value = stray ? 0 : extend_loaded(width, raw_element(place.data + element * bytes, bytes));
      values.result[element * words][lane] = static_cast<std::uint32_t>(value);
      if (words == 2) {
        values.result[element * words + 1][lane] = static_cast<std::uint32_t>(value >> 32U);
      }
    }
  }
  if (matrices) {
    distribute_matrices(instruction, values);
  }
  return std::nullopt;
}

std::optional<AccessFault> BlockMemory::store(const Instruction& instruction, LaneMask lanes,
                                              std::uint32_t first_thread, LaneValues& values, LaneWord& address_low) {
  const Space space = space_of(instruction.op);
  const Width width = instruction.width();
  const unsigned bytes = bytes_of(width);
  const unsigned elements = instruction.vector();
  std::optional<AccessFault> fault;
  for (const unsigned lane : set_bits(lanes)) {
    const Place place = locate(Access::store, space, address_of(instruction, values, lane), bytes * elements,
                               first_thread + lane, fault);
    if (place.data == nullptr) {
      fault->lane = lane;
      return fault;
    }
    address_low[lane] = place.generic_low;
    std::array<std::byte, kMaxMemoryWords * sizeof(std::uint32_t)> stored;
    for (unsigned element = 0; element < elements; ++element) {
      const std::uint64_t value = width == Width::b64 ? values.result[2 * element][lane] |
                                                            std::uint64_t{values.result[2 * element + 1][lane]} << 32U
                                                      : values.result[element][lane];
      std::memcpy(stored.data() + element * bytes, &value, bytes);
    }
    store_bytes(place, stored.data(), bytes * elements);
  }
  return std::nullopt;
}

std::optional<AccessFault> BlockMemory::copy(const Instruction& instruction, LaneMask lanes, std::uint32_t first_thread,
                                             LaneValues& values, LaneWord& address_low,
                                             std::vector<AccessFault>* strays) {
  const std::uint32_t bytes = bytes_of(instruction.width()) * instruction.vector();
  std::optional<AccessFault> fault;
  for (const unsigned lane : set_bits(lanes)) {
    const std::uint64_t from = address_of(instruction, values, lane);
    const std::uint32_t read = fills(instruction.op) ? std::min(values.result[1][lane], bytes) : bytes;
    address_low[lane] = static_cast<std::uint32_t>(from);
    std::array<std::byte, kMaxMemoryWords * sizeof(std::uint32_t)> moved{};
    if (read != 0 && from % bytes != 0) {
      return AccessFault{Fault::Kind::misaligned, lane, from, bytes,
                         fmt::format("the address is no multiple of {}", bytes)};
    }
    // A part of it byte by byte: its length may be any.
    for (std::uint32_t at = 0, piece = read == bytes ? bytes : 1; at < read; at += piece) {
      const Place place = locate(Access::load, Space::global, from + at, piece, first_thread + lane, fault);
      if (place.data != nullptr) {
        std::memcpy(moved.data() + at, place.data, piece);
        if (place.watched != 0) {
          observer_->loads(place.watched, piece);
        }
        continue;
      }
      fault->lane = lane;
      fault->address = from;
      fault->size = bytes;
      if (strays == nullptr || fault->kind != Fault::Kind::out_of_bounds) {
        return fault;
      }
      strays->push_back(*fault);
      moved.fill(std::byte{0});
      break;
    }
    const Place to = locate(Access::store, Space::shared, values.result[0][lane], bytes, first_thread + lane, fault);
    if (to.data == nullptr) {
      fault->lane = lane;
      return fault;
    }
    std::memcpy(to.data, moved.data(), bytes);
  }
  return std::nullopt;
}

std::optional<AccessFault> BlockMemory::bulk_copy(const Instruction& instruction, LaneMask lanes,
                                                  std::uint32_t first_thread, LaneValues& values,
                                                  LaneWord& address_low) {
  std::optional<AccessFault> fault;
  for (const unsigned lane : set_bits(lanes)) {
    const BulkCopyRequest request{address_of(instruction, values, lane), values.result[0][lane], values.result[1][lane],
                                  values.result[2][lane]};
    address_low[lane] = static_cast<std::uint32_t>(request.from);
    if (const std::optional<BulkCopyRequest::Wrong> wrong = request.wrong(shared_.size())) {
      return AccessFault{wrong->kind, lane, wrong->address, wrong->size, wrong->detail};
    }
    if (request.bytes != 0 &&
        locate_global(Access::load, request.from, request.bytes, first_thread + lane, true, fault).data == nullptr) {
      fault->lane = lane;
      return fault;
    }
    for (std::uint32_t at = 0; at != request.bytes; at += kBulkPiece) {
      const Place place =
          locate(Access::load, Space::global, request.from + at, kBulkPiece, first_thread + lane, fault);
      std::memcpy(shared_.data() + request.to + at, place.data, kBulkPiece);
      if (place.watched != 0) {
        observer_->loads(place.watched, kBulkPiece);
      }
    }
    std::uint64_t object = 0;
    std::memcpy(&object, shared_.data() + request.barrier, sizeof object);
    object = barrier_object::after(object, barrier_object::bytes_come(request.bytes));
    std::memcpy(shared_.data() + request.barrier, &object, sizeof object);
  }
  return std::nullopt;
}

void BlockMemory::store_bytes(const Place& place, const void* from, std::uint32_t bytes) {
  if (place.watched != 0) {
    observer_->stores(place.watched, bytes, std::memcmp(place.data, from, bytes) != 0);
  }
  std::memcpy(place.data, from, bytes);
}

std::optional<AccessFault> BlockMemory::atomic(const Instruction& instruction, LaneMask lanes,
                                               std::uint32_t first_thread, LaneValues& values, LaneWord& address_low) {
  const Space space = space_of(instruction.op);
  const AtomicOp op = instruction.atomic_op();
  const Type type = instruction.atomic_type();
  const unsigned bytes = size_of(type);
  std::optional<AccessFault> fault;
  for (const unsigned lane : set_bits(lanes)) {
    const std::uint64_t address = address_of(instruction, values, lane);
    const Place place = locate(Access::atomic, space, address, bytes, first_thread + lane, fault);
    if (place.data == nullptr) {
      fault->lane = lane;
      return fault;
    }
    address_low[lane] = place.generic_low;
    if (place.watched != 0) {
      observer_->updates(place.watched, op, type, instruction.dst != kRZ);
    }
    const auto operand = [&](const auto& words) {
      return words[0][lane] | (bytes == 8 ? std::uint64_t{words[1][lane]} << 32U : 0);
    };
    const std::uint64_t old = raw_element(place.data, bytes);
    const bool shared = space == Space::shared || (space == Space::generic && window_of(address) == Window::shared);
    const std::uint64_t next = shared ? atomic_step(op, type, old, operand(values.b), operand(values.c))
                                      : global_atomic_step(op, type, old, operand(values.b), operand(values.c));
    std::memcpy(place.data, &next, bytes);
    values.result[0][lane] = static_cast<std::uint32_t>(old);
    values.result[1][lane] = static_cast<std::uint32_t>(old >> 32U);
  }
  return std::nullopt;
}

std::optional<AccessFault> BlockMemory::accumulate(const Instruction& instruction, LaneMask lanes,
                                                   std::uint32_t first_thread, LaneValues& values,
                                                   LaneWord& address_low) {
  const Space space = space_of(instruction.op);
  const std::uint32_t bytes = instruction.element_bytes();
  values.active = lanes;
  const Accumulation all = isa::accumulate(instruction, values);
  std::array<Place, kLanes> places{};
  std::optional<AccessFault> fault;
  for (const unsigned lane : set_bits(all.writes)) {
    const std::uint64_t address = all.address[lane];
    Place place = locate(Access::store, space, address, bytes, first_thread + lane, fault);
    // The next allocation's bytes are no more the buffer's than bytes of a gap.
    if (place.data != nullptr && space == Space::global &&
        !in_one_piece(all.base, address - all.base + bytes, first_thread + lane)) {
      fault = AccessFault{Fault::Kind::out_of_bounds, 0, address, bytes,
                          fmt::format("store, {}", global_.describe(address, bytes))};
      place = {};
    }
    if (place.data == nullptr) {
      fault->lane = lane;
      return fault;
    }
    places[lane] = place;
  }
  for (const unsigned lane : set_bits(all.writes)) {
    const std::uint64_t value = values.b[0][lane] | (bytes == 8 ? std::uint64_t{values.b[1][lane]} << 32U : 0);
    store_bytes(places[lane], &value, bytes);
  }
  const std::uint64_t window = space == Space::shared ? kSharedWindow : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    address_low[lane] = static_cast<std::uint32_t>(window + all.address[lane]);
    values.result[0][lane] = all.count;
  }
  return std::nullopt;
}

std::optional<AccessFault> BlockMemory::fetch(const Instruction& instruction, LaneMask lanes, LaneValues& values) {
  const unsigned dimensions = instruction.op == Op::TEX_1D ? 1 : 2;
  for (const unsigned lane : set_bits(lanes)) {
    const std::uint64_t handle = values.a[0][lane] | std::uint64_t{values.a[1][lane]} << 32U;
    const TextureDescriptor* const texture = global_.texture(handle);
    if (texture == nullptr) {
      return AccessFault{Fault::Kind::no_texture, lane, handle, 0, describe_no_texture(handle)};
    }
    const TexelFetch fetch =
        texels_of(*texture, dimensions, instruction.texture_real(), {values.b[0][lane], values.c[0][lane]});
    std::array<Texel, 4> texels{};
    for (unsigned texel = 0; texel < fetch.count; ++texel) {
      const std::uint64_t address = fetch.address[texel];
      if (allocations_.find(address, fetch.bytes) == nullptr) {
        return AccessFault{Fault::Kind::out_of_bounds, lane, address, fetch.bytes,
                           fmt::format("texture fetch, {}", global_.describe(address, fetch.bytes))};
      }
      if (observer_ != nullptr) {
        observer_->loads(address, fetch.bytes);
      }
      global_.read(address, std::span(texels[texel]).first(fetch.bytes));
    }
    const std::array<std::uint32_t, 4> result = fetched(*texture, fetch, texels);
    for (unsigned channel = 0; channel < instruction.texture_channels(); ++channel) {
      values.result[channel][lane] = result[channel];
    }
  }
  return std::nullopt;
}

}  // namespace heddle::isa::reference
