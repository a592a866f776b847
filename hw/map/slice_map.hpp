// Which slice of the L2 has a line, and the lines of one slice, numbered without gaps: what it indexes its sets by. All
// lines of a channel agree in the bits that choose it, so that sets picked by address bits would stay empty; row, bank
// and column together tell them apart. Where there is one channel and its rows lie one after the other, number and
// address order agree. Of several slices before a channel (L2Parameters::slices) each has every so many-th line of it.
#pragma once

#include <bit>
#include <cstdint>

#include "hw/map/address_map.hpp"
#include "hw/map/rotation.hpp"

namespace heddle::hw {

// The lines of each channel, numbered without gaps.
class ChannelLines {
 public:
  ChannelLines(const DramParameters& parameters, unsigned line_bytes)
      : map_(parameters, line_bytes),
        line_bits_(static_cast<unsigned>(std::countr_zero(line_bytes))),
        bank_bits_(static_cast<unsigned>(std::countr_zero(parameters.banks))),
        column_bits_(static_cast<unsigned>(std::countr_zero(parameters.row_bytes / line_bytes))) {}

  [[nodiscard]] const AddressMap& map() const { return map_; }
  [[nodiscard]] unsigned line_bits() const { return line_bits_; }
  [[nodiscard]] std::uint64_t line(const DramLocation& location) const {
    return ((location.row << bank_bits_ | location.bank) << column_bits_) | location.column;
  }
  [[nodiscard]] std::uint64_t address(unsigned channel, std::uint64_t line) const {
    DramLocation location;
    location.channel = channel;
    location.column = static_cast<unsigned>(line & ((std::uint64_t{1} << column_bits_) - 1));
    location.bank = static_cast<unsigned>((line >> column_bits_) & ((std::uint64_t{1} << bank_bits_) - 1));
    location.row = line >> (column_bits_ + bank_bits_);
    return map_.address(location);
  }

 private:
  AddressMap map_;
  unsigned line_bits_;
  unsigned bank_bits_;
  unsigned column_bits_;
};

// The slice of each address, those of all channels counted together: slice s of channel c is c * slices + s.
class SliceOfAddress {
 public:
  SliceOfAddress(const DramParameters& parameters, unsigned line_bytes, unsigned slices = 1, bool hashed = false)
      : lines_(parameters, line_bytes), among_(slices, hashed) {}

  [[nodiscard]] unsigned slices() const { return lines_.map().channels() * among_.places(); }
  [[nodiscard]] unsigned operator()(std::uint64_t address) const {
    if (among_.places() == 1) {
      return lines_.map().channel(address);
    }
    const DramLocation location = lines_.map().locate(address);
    return location.channel * among_.places() + among_.place(lines_.line(location));
  }

 private:
  ChannelLines lines_;
  Rotation among_;
};

class SliceMap {
 public:
  // slice: of the channel's `slices`.
  SliceMap(const DramParameters& parameters, unsigned line_bytes, unsigned channel, unsigned slice = 0,
           unsigned slices = 1, bool hashed = false)
      : lines_(parameters, line_bytes), channel_(channel), slice_(slice), among_(slices, hashed) {}

  [[nodiscard]] bool owns(std::uint64_t address) const {
    if (among_.places() == 1) {
      return lines_.map().channel(address) == channel_;
    }
    const DramLocation location = lines_.map().locate(address);
    return location.channel == channel_ && among_.place(lines_.line(location)) == slice_;
  }
  // Of a line's first byte, both ways. Different lines of the slice have different ones, each a multiple of the line
  // size.
  [[nodiscard]] std::uint64_t local(std::uint64_t address) const {
    const std::uint64_t line = lines_.line(lines_.map().locate(address));
    return (among_.places() == 1 ? line : among_.round(line)) << lines_.line_bits();
  }
  [[nodiscard]] std::uint64_t global(std::uint64_t local) const {
    const std::uint64_t line = local >> lines_.line_bits();
    return lines_.address(channel_, among_.places() == 1 ? line : among_.number(line, slice_));
  }

 private:
  ChannelLines lines_;
  unsigned channel_;
  unsigned slice_;
  Rotation among_;
};

}  // namespace heddle::hw
