#include "hw/core/memory/texture_path.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/set_bits.hpp"

namespace heddle::hw {

bool TexturePath::find(MemoryAccess& access) {
  const link::SubWarp& sub_warp = *access.sub_warp;
  const isa::Instruction& instruction = sub_warp.decoded->instruction;
  const isa::LaneValues& values = sub_warp.values;
  const unsigned dimensions = instruction.op == isa::Op::TEX_1D ? 1 : 2;
  if (access.texture == nullptr) {
    access.texture = std::make_unique<MemoryAccess::TextureLanes>();
  }
  MemoryAccess::TextureLanes& lanes = *access.texture;
  for (const unsigned lane : set_bits(access.lanes)) {
    const std::uint64_t handle = values.a[0][lane] | std::uint64_t{values.a[1][lane]} << 32U;
    lanes.of[lane] = state_.bounds == nullptr ? nullptr : state_.bounds->texture(handle);
    if (lanes.of[lane] == nullptr) {
      state_.raise(isa::Fault::Kind::no_texture, sub_warp, lane, handle, 0, isa::describe_no_texture(handle));
      return false;
    }
    const isa::TexelFetch& fetch = lanes.fetch[lane] =
        isa::texels_of(*lanes.of[lane], dimensions, instruction.texture_real(), {values.b[0][lane], values.c[0][lane]});
    for (unsigned texel = 0; texel < fetch.count; ++texel) {
      const std::uint64_t address = fetch.address[texel];
      if (state_.allocations.find(address, fetch.bytes) == nullptr) {
        state_.raise(isa::Fault::Kind::out_of_bounds, sub_warp, lane, address, fetch.bytes,
                     fmt::format("texture fetch, {}", state_.bounds->describe(address, fetch.bytes)));
        return false;
      }
    }
  }
  return true;
}

void TexturePath::address(MemoryAccess& access) {
  LaneAddresses& addresses = access.addresses;
  addresses.lanes = 0;
  addresses.pieces = 1;
  addresses.piece_bytes = 0;
  for (const unsigned lane : set_bits(access.lanes)) {
    const isa::TexelFetch& fetch = access.texture->fetch[lane];
    if (fetch.count == 0) {
      continue;
    }
    addresses.lanes |= LaneMask{1} << lane;
    addresses.pieces = std::max(addresses.pieces, fetch.count);
    addresses.piece_bytes = std::max(addresses.piece_bytes, fetch.bytes);
    for (unsigned texel = 0; texel < addresses.address.size(); ++texel) {
      addresses.address[texel][lane] = fetch.address[std::min(texel, fetch.count - 1)];
    }
  }
}

void TexturePath::take(MemoryAccess& access, const link::LineRequest& request, std::uint64_t line_bytes) {
  const std::uint64_t line_mask = ~(line_bytes - 1);
  for (const unsigned lane : set_bits(request.lanes)) {
    const isa::TexelFetch& fetch = access.texture->fetch[lane];
    for (unsigned texel = 0; texel < fetch.count; ++texel) {
      const std::uint64_t address = fetch.address[texel];
      if ((address & line_mask) == request.address) {
        copy_lane(access.texture->texels[lane][texel].data(), request.line + (address & ~line_mask), fetch.bytes);
      }
    }
  }
}

void TexturePath::finish(const MemoryAccess& access) {
  const MemoryAccess::TextureLanes& lanes = *access.texture;
  for (const unsigned lane : set_bits(access.lanes)) {
    const std::array<std::uint32_t, 4> result = isa::fetched(*lanes.of[lane], lanes.fetch[lane], lanes.texels[lane]);
    for (unsigned channel = 0; channel < access.elements; ++channel) {
      access.sub_warp->values.result[channel][lane] = result[channel];
    }
  }
}

}  // namespace heddle::hw
