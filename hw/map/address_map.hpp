// Where an address lies in DRAM, as dram.mapping says. It names the fields of the address from the most to the least
// significant bit:
//
//   row-bank-column   consecutive lines of a channel fill a row before they go on to the next bank
//   row-column-bank   consecutive lines of a channel go to consecutive banks
//   R B3 C5 H1        any other order: R row, B bank, C column (line of the row), H channel, each with its number of
//                     bits (one if there is none; blanks and '_' do not matter, so that RRBBCC is R2B2C2). A field may
//                     come in several pieces. The first piece is of the row and also takes all bits above the others.
//
// Below all of them lies the byte of the line. In the two named orders the channel is the lowest field: consecutive
// lines go to consecutive channels. When the number of channels is no power of two, there is one H: the address from
// that place on is divided by the number, the remainder is the channel and the quotient goes on above.
// dram.bank_xor and dram.channel_xor combine the field with the lowest bits of the row, which spreads strides.
// dram.channel_hash rotates the channel by a hash of row, bank and column, for any number of channels.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/parameters/machine.hpp"

namespace heddle::hw {

struct DramLocation {
  unsigned channel = 0;
  unsigned bank = 0;
  std::uint64_t row = 0;
  unsigned column = 0;  // line of the row
  friend bool operator==(const DramLocation&, const DramLocation&) = default;
};

// One piece of a mapping: `bits` bits of a field. The field's pieces together are its bits, highest first.
struct MappingPiece {
  char field = 'R';  // R, B, C or H
  unsigned bits = 0;
  friend bool operator==(const MappingPiece&, const MappingPiece&) = default;
};

// The pieces of a mapping from the most significant one on, without neighbours of one field. The first is R, whose bits
// are the least that it takes; with a number of channels that is no power of two the piece H has 0 bits.
// Empty: it makes no sense, and `why` says why.
[[nodiscard]] std::vector<MappingPiece> parse_mapping(const DramParameters& parameters, unsigned line_bytes,
                                                      std::string& why);

// The mapping as text: bit positions and fields, as `heddle list mapping` shows them.
[[nodiscard]] std::string draw_mapping(const DramParameters& parameters, unsigned line_bytes);

class AddressMap {
 public:
  // Parameters that check_dram accepts.
  AddressMap(const DramParameters& parameters, unsigned line_bytes);

  [[nodiscard]] unsigned channel(std::uint64_t address) const {
    if (simple_channel_) {
      return static_cast<unsigned>(address >> channel_shift_) & channel_mask_;
    }
    return locate(address).channel;
  }
  [[nodiscard]] DramLocation locate(std::uint64_t address) const;
  // The first byte of the line at a location.
  [[nodiscard]] std::uint64_t address(const DramLocation& location) const;
  [[nodiscard]] unsigned channels() const { return channels_; }

 private:
  [[nodiscard]] unsigned rotation_of(const DramLocation& location) const;
  // Some bits of the address that are some bits of a field.
  struct Piece {
    unsigned shift = 0;      // in the address
    unsigned position = 0;   // in the field
    std::uint64_t mask = 0;  // as many ones as bits
  };
  struct Field {
    std::array<Piece, 4> pieces{};
    unsigned count = 0;
    [[nodiscard]] std::uint64_t of(std::uint64_t address) const {
      std::uint64_t value = 0;
      for (unsigned i = 0; i != count; ++i) {
        value |= ((address >> pieces[i].shift) & pieces[i].mask) << pieces[i].position;
      }
      return value;
    }
    [[nodiscard]] std::uint64_t to_address(std::uint64_t value) const {
      std::uint64_t address = 0;
      for (unsigned i = 0; i != count; ++i) {
        address |= ((value >> pieces[i].position) & pieces[i].mask) << pieces[i].shift;
      }
      return address;
    }
  };
  static constexpr unsigned kMostPieces = 4;
  friend std::vector<MappingPiece> parse_mapping(const DramParameters&, unsigned, std::string&);

  unsigned channels_;
  unsigned line_bits_;
  bool divides_;  // the number of channels is no power of two
  bool bank_xor_;
  bool channel_xor_;
  bool channel_hash_;
  bool simple_channel_ = false;
  unsigned channel_shift_ = 0;
  unsigned channel_mask_ = 0;
  unsigned bank_mask_;
  Field row_;
  Field bank_;
  Field column_;
  Field channel_;
};

}  // namespace heddle::hw
