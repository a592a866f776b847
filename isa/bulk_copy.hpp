// What a copy in bulk asks for (PTX ISA, "cp.async.bulk": addresses and sizes are multiples of 16 bytes): what is wrong
// with it but for where it reads, which device memory says. For the interpreter and for the core model.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "isa/fault.hpp"

namespace heddle::isa {

inline constexpr std::uint32_t kBulkPiece = 16;

struct BulkCopyRequest {
  std::uint64_t from = 0;     // in global memory
  std::uint32_t to = 0;       // in the block's scratchpad
  std::uint32_t bytes = 0;    // may be 0
  std::uint32_t barrier = 0;  // the barrier object's address there

  struct Wrong {
    Fault::Kind kind;
    std::uint64_t address;
    std::uint32_t size;
    std::string detail;
  };
  // `scratchpad`: bytes that the block has.
  [[nodiscard]] std::optional<Wrong> wrong(std::uint64_t scratchpad) const {
    const auto multiple = [](std::uint64_t address, std::uint32_t of) -> std::optional<Wrong> {
      if (address % of == 0) return std::nullopt;
      return Wrong{Fault::Kind::misaligned, address, of, fmt::format("the address is no multiple of {}", of)};
    };
    const auto within = [scratchpad](std::uint64_t address, std::uint32_t size) -> std::optional<Wrong> {
      if (address <= scratchpad && size <= scratchpad - address) return std::nullopt;
      return Wrong{
          Fault::Kind::out_of_bounds, address, size,
          fmt::format("store at offset {} of the block's scratchpad, which has {} bytes", address, scratchpad)};
    };
    if (auto wrong = multiple(from, kBulkPiece)) return wrong;
    if (auto wrong = multiple(to, kBulkPiece)) return wrong;
    if (auto wrong = multiple(barrier, sizeof(std::uint64_t))) return wrong;
    if (bytes % kBulkPiece != 0) {
      return Wrong{Fault::Kind::misaligned, from, bytes,
                   fmt::format("{} bytes to copy, which is no multiple of {}", bytes, kBulkPiece)};
    }
    if (auto wrong = within(to, bytes)) return wrong;
    return within(barrier, sizeof(std::uint64_t));
  }
};

}  // namespace heddle::isa
