#include "hw/map/address_map.hpp"

#include <bit>

#include "base/error.hpp"
#include "hw/map/rotation.hpp"

namespace heddle::hw {

namespace {

constexpr unsigned kColumnBits = 20;  // more than a row has lines

}  // namespace

AddressMap::AddressMap(const DramParameters& parameters, unsigned line_bytes)
    : channels_(parameters.channels),
      line_bits_(static_cast<unsigned>(std::countr_zero(line_bytes))),
      divides_(!std::has_single_bit(parameters.channels)),
      bank_xor_(parameters.bank_xor),
      channel_xor_(parameters.channel_xor),
      channel_hash_(parameters.channel_hash),
      bank_mask_(parameters.banks - 1) {
  std::string why;
  const std::vector<MappingPiece> pieces = parse_mapping(parameters, line_bytes, why);
  if (pieces.empty()) {
    throw InternalError("dram.mapping: " + why);
  }
  unsigned at = line_bits_;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const bool first = piece + 1 == pieces.rend();
    if (piece->bits == 0 && !first) {
      channel_shift_ = at;  // the place of the division
      continue;
    }
    Field& field = piece->field == 'R' ? row_ : piece->field == 'B' ? bank_ : piece->field == 'C' ? column_ : channel_;
    unsigned position = 0;
    for (unsigned i = 0; i != field.count; ++i) {
      position += static_cast<unsigned>(std::popcount(field.pieces[i].mask));
    }
    field.pieces[field.count++] = {at, position, first ? ~std::uint64_t{0} : (std::uint64_t{1} << piece->bits) - 1};
    at += piece->bits;
  }
  if (!divides_ && !channel_xor_ && !channel_hash_ && channel_.count <= 1) {
    simple_channel_ = true;
    channel_shift_ = channel_.pieces[0].shift;
    channel_mask_ = channels_ - 1;
  }
}

DramLocation AddressMap::locate(std::uint64_t address) const {
  DramLocation location;
  if (divides_) {
    const std::uint64_t upper = address >> channel_shift_;
    location.channel = static_cast<unsigned>(upper % channels_);
    address = (upper / channels_) << channel_shift_ | (address & ((std::uint64_t{1} << channel_shift_) - 1));
  } else {
    location.channel = static_cast<unsigned>(channel_.of(address));
  }
  location.row = row_.of(address);
  location.bank = static_cast<unsigned>(bank_.of(address));
  location.column = static_cast<unsigned>(column_.of(address));
  if (bank_xor_) {
    location.bank ^= static_cast<unsigned>(location.row) & bank_mask_;
  }
  if (channel_xor_) {
    location.channel ^= static_cast<unsigned>(location.row) & (channels_ - 1);
  }
  if (channel_hash_) {
    location.channel = (location.channel + rotation_of(location)) % channels_;
  }
  return location;
}

// Places of one row, bank and column in all channels are rotated together.
unsigned AddressMap::rotation_of(const DramLocation& location) const {
  const std::uint64_t place = (location.row * (bank_mask_ + 1) + location.bank) << kColumnBits | location.column;
  return static_cast<unsigned>(spread_bits(place) % channels_);
}

std::uint64_t AddressMap::address(const DramLocation& location) const {
  unsigned bank = location.bank;
  unsigned channel = location.channel;
  if (channel_hash_) {
    channel = (channel + channels_ - rotation_of(location)) % channels_;
  }
  if (bank_xor_) {
    bank ^= static_cast<unsigned>(location.row) & bank_mask_;
  }
  if (channel_xor_) {
    channel ^= static_cast<unsigned>(location.row) & (channels_ - 1);
  }
  const std::uint64_t address =
      row_.to_address(location.row) | bank_.to_address(bank) | column_.to_address(location.column);
  if (!divides_) {
    return address | channel_.to_address(channel);
  }
  const std::uint64_t upper = (address >> channel_shift_) * channels_ + channel;
  return upper << channel_shift_ | (address & ((std::uint64_t{1} << channel_shift_) - 1));
}

}  // namespace heddle::hw
