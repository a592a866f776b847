// Type and space names of declarations, and special registers (PTX ISA 5.1, 5.2, 10).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "isa/instruction.hpp"

namespace heddle::ptx {

// ".u8" ... ".pred" without the dot; f16x2 is b32. Empty for names that declare nothing here.
[[nodiscard]] std::optional<isa::Type> type_named(std::string_view name);

// Why a type of the PTX ISA that type_named() does not know is refused; "" for names that are no type at all.
[[nodiscard]] std::string_view refused_type(std::string_view name);

// "global", "shared", "local", "const", "param"; not "reg".
[[nodiscard]] std::optional<isa::Space> space_named(std::string_view name);

// "%tid.x", "%laneid"... Empty for others.
[[nodiscard]] std::optional<isa::Special> special_named(std::string_view name);

// True for "%tid", "%ntid", "%ctaid", "%nctaid", which need .x, .y or .z.
[[nodiscard]] bool is_vector_special(std::string_view name);

// The variable that a kernel has which names a place in the shared memory that is reserved to the run-time library
// (cooperative groups have their tiles of several warps there), and where in it the place lies that a register names.
inline constexpr std::string_view kReservedShared = "%reserved_smem";
inline constexpr unsigned kReservedBytes = 1024;
[[nodiscard]] std::optional<unsigned> reserved_shared_named(std::string_view name);
// Of special registers, with their component, that have the same value everywhere: those of a cluster, which is one
// block, and those that a driver would set.
[[nodiscard]] std::optional<std::uint64_t> special_constant(std::string_view name);
// True for special registers of the PTX ISA that the machine does not have: %pm0, %aggr_smem_size...
[[nodiscard]] bool is_refused_special(std::string_view name);

// The special register whose name is closest, or "".
[[nodiscard]] std::string nearest_special(std::string_view name);

// Why a known PTX instruction is not supported and what to use instead; empty for unknown ones.
[[nodiscard]] std::string_view advice_for(std::string_view opcode);

}  // namespace heddle::ptx
