#include "hw/dram/write_pieces.hpp"

#include <bit>
#include <string>

#include "base/error.hpp"

namespace heddle::hw {

WritePieces write_pieces_of(std::string_view value) {
  if (value == "runs") {
    return WritePieces::runs;
  }
  if (value == "aligned") {
    return WritePieces::aligned;
  }
  if (value == "byte-enables") {
    return WritePieces::byte_enables;
  }
  throw InternalError("dram.write_pieces cannot be '" + std::string(value) + "'");
}

WritePiece next_piece(WritePieces pieces, const MaskedWrite& write, unsigned from) {
  unsigned first = from;
  while (first != write.length && !write.enabled(first)) {
    ++first;
  }
  if (first == write.length) {
    return {first, first, false};
  }
  unsigned end = first + 1;
  while (end != write.length && write.enabled(end)) {
    ++end;
  }
  switch (pieces) {
    case WritePieces::runs:
      break;
    case WritePieces::aligned: {
      const std::uint64_t address = write.address + first;
      const unsigned fits = std::bit_floor(end - first);
      // The lowest bit of the address is the largest power of two that divides it; address 0 is a multiple of all.
      const std::uint64_t natural = address & (~address + 1);
      end = first + (address == 0 || natural > fits ? fits : static_cast<unsigned>(natural));
      break;
    }
    case WritePieces::byte_enables:
      if (from != 0) {
        return {write.length, write.length, false};  // the one piece has been
      }
      return {0, write.length, first != 0 || end != write.length};
  }
  return {first, end, false};
}

}  // namespace heddle::hw
