// Tables of PTX operations with the values that the host expects of them.
//
// One row is PTX text and a host function. In the text $a $b $c $e stand for the operands, $d and $q for the first and
// second result, $t and $u for a 32-bit and a 64-bit scratch register; the types of the function's arguments and result
// say what registers these are. run() makes a kernel of every row, in several forms (see kForms in the source file),
// runs each over about a thousand threads with edge values and random ones, and compares every result.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::ptx_ops {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// An IEEE binary16 by its bits.
struct Half {
  u16 bits;
};
// A u32 operand that counts bits: its test values lie around the register widths.
struct Count {
  u32 value;
};

enum class Kind : std::uint8_t { predicate, u16_, s16_, half, u32_, s32_, count, f32_, u64_, s64_, f64_ };

template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, bool>) return Kind::predicate;
  if constexpr (std::is_same_v<T, u16>) return Kind::u16_;
  if constexpr (std::is_same_v<T, s16>) return Kind::s16_;
  if constexpr (std::is_same_v<T, Half>) return Kind::half;
  if constexpr (std::is_same_v<T, u32>) return Kind::u32_;
  if constexpr (std::is_same_v<T, s32>) return Kind::s32_;
  if constexpr (std::is_same_v<T, Count>) return Kind::count;
  if constexpr (std::is_same_v<T, float>) return Kind::f32_;
  if constexpr (std::is_same_v<T, u64>) return Kind::u64_;
  if constexpr (std::is_same_v<T, s64>) return Kind::s64_;
  if constexpr (std::is_same_v<T, double>) return Kind::f64_;
}

// Suffix of a type in PTX: "s32".
template <class T>
std::string name_of() {
  constexpr const char* kNames[] = {"pred", "u16", "s16", "f16", "u32", "s32", "u32", "f32", "u64", "s64", "f64"};
  return kNames[static_cast<unsigned>(kind_of<T>())];
}

template <class T>
T from_slot(u64 slot) {
  if constexpr (std::is_same_v<T, bool>) return slot != 0;
  T value;
  std::memcpy(&value, &slot, sizeof value);
  return value;
}
template <class T>
u64 to_slot(T value) {
  u64 slot = 0;
  std::memcpy(&slot, &value, sizeof value);
  return slot;
}

// The smallest register that holds a type (there are none of 8 bits).
template <class T>
using Own =
    std::conditional_t<std::is_integral_v<T> && sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, s16, u16>, T>;

// The nearest value that an integer type has.
template <class To, class From>
To saturated(From x) {
  using Wide = __int128;
  const Wide low = std::numeric_limits<To>::min();
  const Wide high = std::numeric_limits<To>::max();
  return static_cast<To>(Wide{x} < low ? low : Wide{x} > high ? high : Wide{x});
}

// A host function of any signature, over slots of 64 bits.
struct Host {
  void (*call)(const void* function, const u64* in, u64* out) = nullptr;
  alignas(8) std::array<std::byte, 16> function{};
};

struct Row {
  std::string text;
  std::vector<Kind> in, out;
  Host host;
  u64 ulps = 0;  // how far a floating-point result may be from the host's
  bool immediates = true;
  bool guard = true;

  Row& within(u64 units) {
    ulps = units;
    return *this;
  }
  Row& without_immediates() {
    immediates = false;
    return *this;
  }
  Row& without_guard() {
    guard = false;
    return *this;
  }
};

class OperationTable {
 public:
  // f: a function object of at most 16 trivially copyable bytes, from operand types to a result or a pair of results.
  template <class F>
  Row& add(std::string text, F f) {
    rows_.emplace_back();
    rows_.back().text = std::move(text);
    bind(rows_.back(), f, &F::operator());
    return rows_.back();
  }
  void run() const;

 private:
  template <class F, class R, class... A>
  static void bind(Row& row, F f, R (F::*)(A...) const) {
    static_assert(sizeof(F) <= sizeof(Host::function) && std::is_trivially_copyable_v<F>);
    row.in = {kind_of<A>()...};
    set_results(row, static_cast<R*>(nullptr));
    std::memcpy(row.host.function.data(), &f, sizeof f);
    row.host.call = &call<F, R, A...>;
  }
  template <class R>
  static void set_results(Row& row, R*) {
    row.out = {kind_of<R>()};
  }
  template <class P, class Q>
  static void set_results(Row& row, std::pair<P, Q>*) {
    row.out = {kind_of<P>(), kind_of<Q>()};
  }
  template <class F, class R, class... A>
  static void call(const void* function, const u64* in, u64* out) {
    const F& f = *static_cast<const F*>(function);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      store(f(from_slot<A>(in[I])...), out);
    }
    (std::index_sequence_for<A...>());
  }
  template <class R>
  static void store(R result, u64* out) {
    out[0] = to_slot(result);
  }
  template <class P, class Q>
  static void store(std::pair<P, Q> result, u64* out) {
    out[0] = to_slot(result.first);
    out[1] = to_slot(result.second);
  }

  std::vector<Row> rows_;
};

}  // namespace heddle::ptx_ops
