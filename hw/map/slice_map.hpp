// The lines of one memory channel, numbered without gaps: what an L2 slice indexes its sets by. All lines of a channel
// agree in the bits that choose it, so that sets picked by address bits would stay empty; row, bank and column together
// tell them apart. Where there is one channel and its rows lie one after the other, number and address order agree.
#pragma once

#include <bit>
#include <cstdint>

#include "hw/map/address_map.hpp"

namespace heddle::hw {

class SliceMap {
 public:
  SliceMap(const DramParameters& parameters, unsigned line_bytes, unsigned channel)
      : map_(parameters, line_bytes),
        channel_(channel),
        line_bits_(static_cast<unsigned>(std::countr_zero(line_bytes))),
        bank_bits_(static_cast<unsigned>(std::countr_zero(parameters.banks))),
        column_bits_(static_cast<unsigned>(std::countr_zero(parameters.row_bytes / line_bytes))) {}

  [[nodiscard]] bool owns(std::uint64_t address) const { return map_.channel(address) == channel_; }
  // Of a line's first byte, both ways. Different lines of the channel have different ones, each a multiple of the line
  // size.
  [[nodiscard]] std::uint64_t local(std::uint64_t address) const {
    const DramLocation location = map_.locate(address);
    return (((location.row << bank_bits_ | location.bank) << column_bits_) | location.column) << line_bits_;
  }
  [[nodiscard]] std::uint64_t global(std::uint64_t local) const {
    const std::uint64_t line = local >> line_bits_;
    DramLocation location;
    location.channel = channel_;
    location.column = static_cast<unsigned>(line & ((std::uint64_t{1} << column_bits_) - 1));
    location.bank = static_cast<unsigned>((line >> column_bits_) & ((std::uint64_t{1} << bank_bits_) - 1));
    location.row = line >> (column_bits_ + bank_bits_);
    return map_.address(location);
  }

 private:
  AddressMap map_;
  unsigned channel_;
  unsigned line_bits_;
  unsigned bank_bits_;
  unsigned column_bits_;
};

}  // namespace heddle::hw
