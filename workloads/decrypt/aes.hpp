// AES-128 on the host, as FIPS-197 describes it: bytes in a 4 x 4 state, the S-box computed from the field's inverses.
// It shares nothing with the kernel, which it checks.
#pragma once

#include <array>
#include <cstdint>

namespace heddle::workloads::aes {

using Block = std::array<std::uint8_t, 16>;
using Key = std::array<std::uint8_t, 16>;
using RoundKeys = std::array<std::uint8_t, 176>;  // 11 round keys of 16 bytes

[[nodiscard]] RoundKeys expand(const Key& key);
[[nodiscard]] Block encrypt(const Block& plain, const RoundKeys& keys);
[[nodiscard]] Block decrypt(const Block& cipher, const RoundKeys& keys);

}  // namespace heddle::workloads::aes
