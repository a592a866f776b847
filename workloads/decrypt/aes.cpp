#include "workloads/decrypt/aes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace heddle::workloads::aes {
namespace {

// Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (FIPS-197, 4.2).
constexpr std::uint8_t multiply(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1U) {
    if ((b & 1U) != 0) {
      product ^= a;
    }
    a = (a << 1U) ^ ((a & 0x80U) != 0 ? 0x11bU : 0U);
  }
  return static_cast<std::uint8_t>(product);
}

struct Boxes {
  std::array<std::uint8_t, 256> forward{};
  std::array<std::uint8_t, 256> inverse{};
};

// The multiplicative inverse followed by an affine map (FIPS-197, 5.1.1).
Boxes make_boxes() {
  Boxes boxes;
  for (unsigned x = 0; x < 256; ++x) {
    std::uint8_t inverse = 0;
    for (unsigned y = 1; x != 0 && y < 256; ++y) {
      if (multiply(x, y) == 1) {
        inverse = static_cast<std::uint8_t>(y);
      }
    }
    const auto value = static_cast<std::uint8_t>(inverse ^ std::rotl(inverse, 1) ^ std::rotl(inverse, 2) ^
                                                 std::rotl(inverse, 3) ^ std::rotl(inverse, 4) ^ 0x63U);
    boxes.forward[x] = value;
    boxes.inverse[value] = static_cast<std::uint8_t>(x);
  }
  return boxes;
}

const Boxes& boxes() {
  static const Boxes made = make_boxes();
  return made;
}

void add_round_key(Block& state, const RoundKeys& keys, std::size_t round) {
  for (std::size_t i = 0; i < 16; ++i) {
    state[i] ^= keys[16 * round + i];
  }
}

// Byte r + 4c of the state is row r of column c; row r turns by r columns, to the left or to the right.
Block shift_rows(const Block& state, bool left) {
  Block out;
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t r = 0; r < 4; ++r) {
      out[r + 4 * c] = state[r + 4 * ((left ? c + r : c + 4 - r) % 4)];
    }
  }
  return out;
}

void mix_columns(Block& state, const std::array<unsigned, 4>& factors) {
  for (std::size_t c = 0; c < 4; ++c) {
    std::array<std::uint8_t, 4> column{};
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t k = 0; k < 4; ++k) {
        column[r] ^= multiply(state[4 * c + k], factors[(k + 4 - r) % 4]);
      }
    }
    std::copy(column.begin(), column.end(), state.begin() + static_cast<std::ptrdiff_t>(4 * c));
  }
}

}  // namespace

RoundKeys expand(const Key& key) {
  RoundKeys keys{};
  std::copy(key.begin(), key.end(), keys.begin());
  unsigned constant = 1;
  for (std::size_t i = 16; i < keys.size(); i += 4) {
    std::array<std::uint8_t, 4> word = {keys[i - 4], keys[i - 3], keys[i - 2], keys[i - 1]};
    if (i % 16 == 0) {
      std::rotate(word.begin(), word.begin() + 1, word.end());
      for (std::uint8_t& byte : word) {
        byte = boxes().forward[byte];
      }
      word[0] ^= static_cast<std::uint8_t>(constant);
      constant = multiply(constant, 2);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      keys[i + k] = keys[i + k - 16] ^ word[k];
    }
  }
  return keys;
}

Block encrypt(const Block& plain, const RoundKeys& keys) {
  Block state = plain;
  add_round_key(state, keys, 0);
  for (std::size_t round = 1; round <= 10; ++round) {
    for (std::uint8_t& byte : state) {
      byte = boxes().forward[byte];
    }
    state = shift_rows(state, true);
    if (round != 10) {
      mix_columns(state, {2, 3, 1, 1});
    }
    add_round_key(state, keys, round);
  }
  return state;
}

Block decrypt(const Block& cipher, const RoundKeys& keys) {
  Block state = cipher;
  add_round_key(state, keys, 10);
  for (std::size_t round = 10; round-- > 0;) {
    state = shift_rows(state, false);
    for (std::uint8_t& byte : state) {
      byte = boxes().inverse[byte];
    }
    add_round_key(state, keys, round);
    if (round != 0) {
      mix_columns(state, {14, 11, 13, 9});
    }
  }
  return state;
}

}  // namespace heddle::workloads::aes
