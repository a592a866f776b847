// Where an address lies in DRAM. From the most significant bit on: row, bank and column in the order that
// DramParameters::mapping names, then the channel, then the byte of the line; so consecutive lines go to consecutive
// channels, and with "row-bank-column" a channel's consecutive lines fill a row before they go on to the next bank.
#pragma once

#include <cstdint>

#include "hw/machine.hpp"

namespace heddle::hw {

struct DramLocation {
  unsigned channel = 0;
  unsigned bank = 0;
  std::uint64_t row = 0;
  unsigned column = 0;  // line of the row
  friend bool operator==(const DramLocation&, const DramLocation&) = default;
};

class AddressMap {
 public:
  // line_bytes: power of two, at most row_bytes.
  AddressMap(const DramParameters& parameters, unsigned line_bytes);

  [[nodiscard]] unsigned channel(std::uint64_t address) const {
    return static_cast<unsigned>(address >> line_bits_) & channel_mask_;
  }
  [[nodiscard]] DramLocation locate(std::uint64_t address) const {
    const std::uint64_t line = address >> above_channel_;
    return {channel(address), static_cast<unsigned>(line >> bank_shift_) & bank_mask_, line >> row_shift_,
            static_cast<unsigned>(line >> column_shift_) & column_mask_};
  }
  // The first byte of the line at a location.
  [[nodiscard]] std::uint64_t address(const DramLocation& location) const;
  [[nodiscard]] unsigned channels() const { return channel_mask_ + 1; }

 private:
  unsigned line_bits_;
  unsigned above_channel_;
  unsigned bank_shift_;
  unsigned column_shift_;
  unsigned row_shift_;
  unsigned channel_mask_;
  unsigned bank_mask_;
  unsigned column_mask_;
};

}  // namespace heddle::hw
