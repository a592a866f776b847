#include "hw/dram/address_map.hpp"

#include <bit>

#include "base/error.hpp"

namespace heddle::hw {

AddressMap::AddressMap(const DramParameters& parameters, unsigned line_bytes) {
  if (!std::has_single_bit(line_bytes) || !std::has_single_bit(parameters.row_bytes) ||
      !std::has_single_bit(parameters.banks) || !std::has_single_bit(parameters.channels) ||
      parameters.row_bytes < line_bytes) {
    throw InternalError("channels, banks, row and line size must be powers of two, a row at least one line");
  }
  const unsigned columns = parameters.row_bytes / line_bytes;
  const auto column_bits = static_cast<unsigned>(std::countr_zero(columns));
  const auto bank_bits = static_cast<unsigned>(std::countr_zero(parameters.banks));
  line_bits_ = static_cast<unsigned>(std::countr_zero(line_bytes));
  above_channel_ = line_bits_ + static_cast<unsigned>(std::countr_zero(parameters.channels));
  const bool column_below_bank = parameters.mapping == "row-bank-column";
  column_shift_ = column_below_bank ? 0 : bank_bits;
  bank_shift_ = column_below_bank ? column_bits : 0;
  row_shift_ = column_bits + bank_bits;
  channel_mask_ = parameters.channels - 1;
  bank_mask_ = parameters.banks - 1;
  column_mask_ = columns - 1;
}

std::uint64_t AddressMap::address(const DramLocation& location) const {
  const std::uint64_t line = (location.row << row_shift_) | (std::uint64_t{location.bank} << bank_shift_) |
                             (std::uint64_t{location.column} << column_shift_);
  return (line << above_channel_) | (std::uint64_t{location.channel} << line_bits_);
}

}  // namespace heddle::hw
