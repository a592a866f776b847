// How a write of some bytes of a line is cut into transfers for a memory that is reached by transport
// (dram.write_pieces). Plain C++ (no SystemC).
//
//   runs          one write per run of enabled bytes, of any length at any address: the fewest writes without byte
//                 enables. The standard allows it; memories that shift and mask addresses take it for something else.
//   aligned       runs cut into powers of two, each at a multiple of its length: what every memory takes, as a bus does
//                 its transfers.
//   byte-enables  one write of the whole range with byte enables, left out where all bytes are enabled. The standard
//                 lets a memory refuse them.
#pragma once

#include <cstdint>
#include <string_view>

namespace heddle::hw {

enum class WritePieces : std::uint8_t { runs, aligned, byte_enables };

// dram.write_pieces; InternalError for a value that the parameter's limits do not allow.
[[nodiscard]] WritePieces write_pieces_of(std::string_view value);

// What is to be written: `length` bytes from `address` on, byte i if enable[i % enable_length] is not 0.
struct MaskedWrite {
  std::uint64_t address = 0;
  unsigned length = 0;
  const std::uint8_t* enable = nullptr;  // none: every byte
  unsigned enable_length = 0;

  [[nodiscard]] bool enabled(unsigned byte) const { return enable == nullptr || enable[byte % enable_length] != 0; }
};

// Bytes [first, end) of a MaskedWrite; empty: there are none left.
struct WritePiece {
  unsigned first = 0;
  unsigned end = 0;
  bool masked = false;  // byte enables go with it

  [[nodiscard]] bool empty() const { return first == end; }
  friend bool operator==(const WritePiece&, const WritePiece&) = default;
};

// The first piece that begins at byte `from` or later. The next one begins at its end or later.
[[nodiscard]] WritePiece next_piece(WritePieces pieces, const MaskedWrite& write, unsigned from);

}  // namespace heddle::hw
