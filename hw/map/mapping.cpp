// dram.mapping: reading, judging and drawing it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>

#include "base/nearest.hpp"
#include "hw/map/address_map.hpp"

namespace heddle::hw {

namespace {

constexpr unsigned kAddressBits = 64;
constexpr std::size_t kLongest = 256;
constexpr std::size_t kPiecesOfAField = 4;
const std::vector<std::string> kOrders = {"row-bank-column", "row-column-bank"};

unsigned bits_of(unsigned count) {
  return static_cast<unsigned>(std::countr_zero(count));
}

const char* name_of(char field) {
  switch (field) {
    case 'R':
      return "row";
    case 'B':
      return "bank";
    case 'C':
      return "column";
    default:
      return "channel";
  }
}

// Letters and counts as they stand. `why` is set when they cannot be read.
std::vector<MappingPiece> read_pieces(const std::string& text, std::string& why) {
  std::vector<MappingPiece> pieces;
  for (std::size_t at = 0; at != text.size();) {
    const char letter = text[at];
    if (letter == ' ' || letter == '_') {
      ++at;
      continue;
    }
    if (letter != 'R' && letter != 'B' && letter != 'C' && letter != 'H') {
      why = fmt::format("'{}' is no field: R (row), B (bank), C (column) or H (channel), each with its number of bits",
                        std::isprint(static_cast<unsigned char>(letter)) != 0 ? std::string(1, letter) : "?");
      return {};
    }
    ++at;
    unsigned bits = 0;
    bool counted = false;
    while (at != text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0 && bits <= kAddressBits) {
      bits = bits * 10 + static_cast<unsigned>(text[at] - '0');
      counted = true;
      ++at;
    }
    if (counted && (bits == 0 || bits > kAddressBits)) {
      why = fmt::format("a field has 1 to {} bits, not {}", kAddressBits, bits);
      return {};
    }
    bits = counted ? bits : 1;
    if (!pieces.empty() && pieces.back().field == letter) {
      pieces.back().bits += bits;
    } else {
      pieces.push_back({letter, bits});
    }
  }
  return pieces;
}

std::string judge(std::vector<MappingPiece>& pieces, const DramParameters& parameters, unsigned line_bytes) {
  if (pieces.empty() || pieces.front().field != 'R') {
    return "the first field must be R: the row takes the address bits above all others";
  }
  const bool divides = !std::has_single_bit(parameters.channels);
  unsigned below_top = 0;
  for (const char field : {'B', 'C', 'H', 'R'}) {
    unsigned bits = 0;
    std::size_t count = 0;
    for (const MappingPiece& piece : pieces) {
      bits += piece.field == field ? piece.bits : 0;
      count += piece.field == field ? 1 : 0;
    }
    if (count > kPiecesOfAField) {
      return fmt::format("the {} comes in {} pieces; the most is {}", name_of(field), count, kPiecesOfAField);
    }
    below_top += field == 'R' ? bits - pieces.front().bits : bits;
    if (field == 'R') {
      continue;
    }
    const unsigned number = field == 'B'   ? parameters.banks
                            : field == 'C' ? parameters.row_bytes / line_bytes
                                           : parameters.channels;
    const char* const what = field == 'B'   ? "dram.banks"
                             : field == 'C' ? "lines of a row (dram.row_bytes / line)"
                                            : "dram.channels";
    if (field == 'H' && divides) {
      if (count != 1 || bits != 1) {
        return fmt::format("dram.channels ({}) is no power of two: there must be one H, where the address is divided",
                           number);
      }
    } else if (bits != bits_of(number)) {
      return fmt::format("the {} has {} bit{}, but {} ({}) takes {}", name_of(field), bits, bits == 1 ? "" : "s", what,
                         number, bits_of(number));
    }
  }
  if (below_top + bits_of(line_bytes) >= kAddressBits) {
    return fmt::format("the fields take {} bits and leave none of {} to the top of the row",
                       below_top + bits_of(line_bytes), kAddressBits);
  }
  if (divides) {
    for (MappingPiece& piece : pieces) {
      piece.bits = piece.field == 'H' ? 0 : piece.bits;
    }
  }
  return {};
}

}  // namespace

std::vector<MappingPiece> parse_mapping(const DramParameters& parameters, unsigned line_bytes, std::string& why) {
  why.clear();
  if (!std::has_single_bit(line_bytes) || !std::has_single_bit(parameters.row_bytes) ||
      !std::has_single_bit(parameters.banks) || parameters.row_bytes < line_bytes || parameters.channels == 0) {
    why = "banks, row and line size must be powers of two, a row at least one line";
    return {};
  }
  if (parameters.channel_xor && !std::has_single_bit(parameters.channels)) {
    why = fmt::format("dram.channel_xor needs a power of two of channels, not {}", parameters.channels);
    return {};
  }
  if (parameters.channel_xor && parameters.channel_hash) {
    why = "dram.channel_xor and dram.channel_hash are two ways to spread addresses over channels: use one";
    return {};
  }
  const std::string& text = parameters.mapping;
  std::vector<MappingPiece> pieces;
  if (text == kOrders[0] || text == kOrders[1]) {
    const MappingPiece bank{'B', bits_of(parameters.banks)};
    const MappingPiece column{'C', bits_of(parameters.row_bytes / line_bytes)};
    const bool divides = !std::has_single_bit(parameters.channels);
    pieces.push_back({'R', 1});
    for (const MappingPiece& piece : {text == kOrders[0] ? bank : column, text == kOrders[0] ? column : bank}) {
      if (piece.bits != 0) {
        pieces.push_back(piece);
      }
    }
    if (parameters.channels > 1) {
      pieces.push_back({'H', divides ? 0 : bits_of(parameters.channels)});
    }
    return pieces;
  }
  if (text.size() > kLongest) {
    why = fmt::format("'{}...' is longer than {} letters", text.substr(0, 20), kLongest);
    return {};
  }
  if (std::any_of(text.begin(), text.end(), [](char letter) { return letter >= 'a' && letter <= 'z'; })) {
    const std::string hint = suggest(text, kOrders, "known: " + join(kOrders) + ", or letters: \"R B3 C5 H1\"");
    why = fmt::format("there is no order '{}'; {}", text.substr(0, 40), hint);
    return {};
  }
  pieces = read_pieces(text, why);
  if (why.empty()) {
    why = judge(pieces, parameters, line_bytes);
  }
  if (!why.empty()) {
    return {};
  }
  return pieces;
}

std::string draw_mapping(const DramParameters& parameters, unsigned line_bytes) {
  std::string why;
  std::vector<MappingPiece> pieces = parse_mapping(parameters, line_bytes, why);
  if (pieces.empty()) {
    return why + "\n";
  }
  unsigned below = bits_of(line_bytes);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    below += pieces[i].bits;
  }
  std::string out = fmt::format("  {:<12}{:<6}{}\n", "bits", "field", "meaning");
  const bool divides = !std::has_single_bit(parameters.channels);
  unsigned top = kAddressBits;
  bool above_division = divides;
  for (std::size_t i = 0; i != pieces.size(); ++i) {
    const MappingPiece& piece = pieces[i];
    const unsigned bits = i == 0 ? kAddressBits - below : piece.bits;
    std::string meaning;
    switch (piece.field) {
      case 'R':
        meaning = i == 0 ? "row, and everything above" : "row, lower bits";
        break;
      case 'B':
        meaning = fmt::format("bank, of {}{}", parameters.banks,
                              parameters.bank_xor ? ", exclusive-ored with the lowest bits of the row" : "");
        break;
      case 'C':
        meaning = fmt::format("column: line of the row, of {}", parameters.row_bytes / line_bytes);
        break;
      default:
        meaning = divides ? fmt::format(
                                "channel: the address from bit {} on modulo {}{}; the fields above are bits of the "
                                "quotient, from bit {} on",
                                top, parameters.channels,
                                parameters.channel_hash ? ", rotated by a hash of row, bank and column" : "", top)
                          : fmt::format("channel, of {}{}", parameters.channels,
                                        parameters.channel_xor    ? ", exclusive-ored with the lowest bits of the row"
                                        : parameters.channel_hash ? ", rotated by a hash of row, bank and column"
                                                                  : "");
        above_division = false;
        break;
    }
    const std::string range = bits == 0   ? fmt::format("mod {}", parameters.channels)
                              : bits == 1 ? fmt::format("{}", top - 1)
                                          : fmt::format("{}..{}", top - 1, top - bits);
    out += fmt::format("  {:<12}{:<6}{}\n", (above_division ? "q " : "") + range, piece.field, meaning);
    top -= bits;
  }
  out += fmt::format("  {:<12}{:<6}{}\n", top == 0 ? "-" : fmt::format("{}..0", top - 1), "", "byte of the line");
  // One letter per bit, in groups of four from the least significant one on.
  std::string letters;
  for (std::size_t i = 0; i != pieces.size(); ++i) {
    const unsigned shown = i == 0 ? std::min(kAddressBits, 40U) - std::min(below, 39U) : pieces[i].bits;
    letters += pieces[i].bits == 0 ? "%" : std::string(shown, pieces[i].field);
  }
  letters += std::string(bits_of(line_bytes), '.');
  if (divides) {
    return out + "\n  " + letters + "\n";
  }
  std::string grouped;
  for (std::size_t i = 0; i != letters.size(); ++i) {
    grouped += letters[i];
    const std::size_t left = letters.size() - 1 - i;
    grouped += left % 4 == 0 && left != 0 ? " " : "";
  }
  return out + fmt::format("\n  {} ({} bits; the row goes on to bit {})\n", grouped, letters.size(), kAddressBits - 1);
}

}  // namespace heddle::hw
