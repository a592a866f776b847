// Kernels that run the rows of an operation table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/ptx_ops/operation_table.hpp"

namespace heddle::ptx_ops {

inline constexpr unsigned kThreads = 1024;
inline constexpr unsigned kBlock = 256;
inline constexpr int kNoOperand = -1;
inline constexpr int kEveryOperand = 100;

// How a row is made into a kernel.
struct Form {
  const char* name;
  unsigned address_bits;
  unsigned registers;          // limit
  unsigned rows;               // per kernel; all operands of all rows are loaded first
  bool dirty = false;          // 16-bit operands lie in registers whose upper halves hold garbage
  bool guarded = false;        // only odd threads execute
  bool untyped = false;        // registers are declared .b16, .b32, .b64
  int alias = kNoOperand;      // the first result goes into this operand's register where the types agree
  int immediate = kNoOperand;  // this operand is a constant
  bool same = false;           // the second operand is the first one's register, where the types agree
};

// A row in its place: slot s holds one 8-byte value per thread, at s * 8 * kThreads of the buffer.
struct Placed {
  const Row* row;
  std::size_t in_slot, out_slot;
  std::array<u64, 4> constants;
};

[[nodiscard]] bool is_immediate(const Row& row, const Form& form, std::size_t operand);
// Whether the operand is another name for the first one.
[[nodiscard]] bool is_same(const Row& row, const Form& form, std::size_t operand);
[[nodiscard]] std::optional<std::size_t> aliased_operand(const Row& row, const Form& form);

// What a result register holds where the guard is false.
[[nodiscard]] u64 sentinel(Kind kind);

[[nodiscard]] std::string header(unsigned address_bits);
[[nodiscard]] std::string kernel(const std::string& name, const std::vector<Placed>& rows, const Form& form);

}  // namespace heddle::ptx_ops
