// cvt between integers (PTX ISA, section 9.7.9.21): every pair of types, with and without .sat, and source and
// destination registers wider than the types.
#include <gtest/gtest.h>

#include <limits>

#include "tests/ptx_ops/operation_table.hpp"
#include "tests/support/marks.hpp"

HEDDLE_LONG_SANITIZED("PtxConvert.IntegersOfEight*", "PtxConvert.IntegersOfThirty*")

namespace heddle::ptx_ops {
namespace {

template <class T>
std::string integer_name() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}

// The upper bits of a wider source are ignored; a result is extended as its type says.
template <class To, class From, class ToRegister, class FromRegister>
void conversion(OperationTable& table) {
  const std::string types = "." + integer_name<To>() + "." + integer_name<From>() + " $d, $a;";
  table.add("cvt" + types,
            [](FromRegister a) { return static_cast<ToRegister>(static_cast<To>(static_cast<From>(a))); });
  table.add("cvt.sat" + types,
            [](FromRegister a) { return static_cast<ToRegister>(saturated<To>(static_cast<From>(a))); });
}

template <class To, class From>
void registers(OperationTable& table) {
  conversion<To, From, Own<To>, Own<From>>(table);
  if constexpr (sizeof(To) < 4) conversion<To, From, u32, Own<From>>(table);
  if constexpr (sizeof(To) < 8) conversion<To, From, u64, Own<From>>(table);
  if constexpr (sizeof(From) < 4) conversion<To, From, Own<To>, u32>(table);
  if constexpr (sizeof(From) < 8) conversion<To, From, Own<To>, u64>(table);
  if constexpr (sizeof(From) < 8 && sizeof(To) < 8) conversion<To, From, u64, u64>(table);
}

template <class From>
void from(OperationTable& table) {
  registers<std::uint8_t, From>(table);
  registers<std::int8_t, From>(table);
  registers<u16, From>(table);
  registers<s16, From>(table);
  registers<u32, From>(table);
  registers<s32, From>(table);
  registers<u64, From>(table);
  registers<s64, From>(table);
}

TEST(PtxConvert, IntegersOfEightAndSixteenBits) {
  OperationTable table;
  from<std::uint8_t>(table);
  from<std::int8_t>(table);
  from<u16>(table);
  from<s16>(table);
  table.run();
}

TEST(PtxConvert, IntegersOfThirtyTwoAndSixtyFourBits) {
  OperationTable table;
  from<u32>(table);
  from<s32>(table);
  from<u64>(table);
  from<s64>(table);
  table.run();
}

}  // namespace
}  // namespace heddle::ptx_ops
