// What is traced beside waves: every type that sc_trace() knows, looked at after each time step.
#define SC_INCLUDE_FX  // the fixed-point types, which the interface names
#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "traces/vcd_file.hpp"

namespace heddle::traces {

namespace {

// The lowest `width` bits, as VCD writes them.
std::string bits_text(std::uint64_t value, unsigned width) {
  if (width == 1) {
    return (value & 1U) != 0 ? "1" : "0";
  }
  std::string text = "b";
  for (unsigned bit = width; bit-- > 0;) {
    text += static_cast<char>('0' + (bit < 64 ? (value >> bit) & 1U : 0U));
  }
  return text + " ";
}

// Of a SystemC number or vector: its digits without a base in front.
std::string digits_text(std::string digits, unsigned width) {
  for (char& digit : digits) {
    digit = digit == 'X' ? 'x' : digit == 'Z' ? 'z' : digit;
  }
  return width == 1 ? digits : "b" + digits + " ";
}

std::string real_text(double value) {
  return fmt::format("r{} ", value);
}

template <class Number>
std::string number_text(const Number& object) {
  const auto width = static_cast<unsigned>(object.length());
  std::string digits;
  for (unsigned bit = width; bit-- > 0;) {
    digits += object.test(static_cast<int>(bit)) ? '1' : '0';
  }
  return digits_text(std::move(digits), width);
}

}  // namespace

void VcdFile::poll(const std::string& name, unsigned width, VarType type, std::function<std::string()> text) {
  add(name, width, type, false);
  polled_.push_back({variables_.size() - 1, std::move(text), {}});
}

void VcdFile::trace(const sc_core::sc_event& object, const std::string& name) {
  poll(name, 1, VarType::event, [this, &object, stamp = event_trigger_stamp(object)]() mutable {
    return std::exchange(stamp, event_trigger_stamp(object)) == stamp ? std::string() : std::string("1");
  });
}
void VcdFile::trace(const sc_core::sc_time& object, const std::string& name) {
  poll(name, 64, VarType::wire, [&object] { return bits_text(object.value(), 64); });
}
void VcdFile::trace(const bool& object, const std::string& name) {
  poll(name, 1, VarType::wire, [&object] { return bits_text(object ? 1 : 0, 1); });
}
void VcdFile::trace(const sc_dt::sc_bit& object, const std::string& name) {
  poll(name, 1, VarType::wire, [&object] { return bits_text(object.to_bool() ? 1 : 0, 1); });
}
void VcdFile::trace(const sc_dt::sc_logic& object, const std::string& name) {
  poll(name, 1, VarType::wire, [&object] { return digits_text(std::string(1, object.to_char()), 1); });
}

// Integers, of which `width` bits are shown.
#define HEDDLE_TRACE_INTEGER(type)                                                                                    \
  void VcdFile::trace(const type& object, const std::string& name, int width) {                                       \
    const auto bits = static_cast<unsigned>(width);                                                                   \
    poll(name, bits, VarType::wire, [&object, bits] { return bits_text(static_cast<std::uint64_t>(object), bits); }); \
  }
HEDDLE_TRACE_INTEGER(unsigned char)
HEDDLE_TRACE_INTEGER(unsigned short)
HEDDLE_TRACE_INTEGER(unsigned int)
HEDDLE_TRACE_INTEGER(unsigned long)
HEDDLE_TRACE_INTEGER(char)
HEDDLE_TRACE_INTEGER(short)
HEDDLE_TRACE_INTEGER(int)
HEDDLE_TRACE_INTEGER(long)
HEDDLE_TRACE_INTEGER(sc_dt::int64)
HEDDLE_TRACE_INTEGER(sc_dt::uint64)
#undef HEDDLE_TRACE_INTEGER

void VcdFile::trace(const unsigned int& object, const std::string& name, const char** /*enum_literals*/) {
  trace(object, name, 32);
}

#define HEDDLE_TRACE_NUMBER(type)                                                                                 \
  void VcdFile::trace(const type& object, const std::string& name) {                                              \
    poll(name, static_cast<unsigned>(object.length()), VarType::wire, [&object] { return number_text(object); }); \
  }
HEDDLE_TRACE_NUMBER(sc_dt::sc_int_base)
HEDDLE_TRACE_NUMBER(sc_dt::sc_uint_base)
HEDDLE_TRACE_NUMBER(sc_dt::sc_signed)
HEDDLE_TRACE_NUMBER(sc_dt::sc_unsigned)
#undef HEDDLE_TRACE_NUMBER

#define HEDDLE_TRACE_VECTOR(type)                                                                          \
  void VcdFile::trace(const type& object, const std::string& name) {                                       \
    const auto width = static_cast<unsigned>(object.length());                                             \
    poll(name, width, VarType::wire, [&object, width] { return digits_text(object.to_string(), width); }); \
  }
HEDDLE_TRACE_VECTOR(sc_dt::sc_bv_base)
HEDDLE_TRACE_VECTOR(sc_dt::sc_lv_base)
#undef HEDDLE_TRACE_VECTOR

#define HEDDLE_TRACE_REAL(type, value)                                     \
  void VcdFile::trace(const type& object, const std::string& name) {       \
    poll(name, 64, VarType::real, [&object] { return real_text(value); }); \
  }
HEDDLE_TRACE_REAL(float, static_cast<double>(object))
HEDDLE_TRACE_REAL(double, object)
HEDDLE_TRACE_REAL(sc_dt::sc_fxval, object.to_double())
HEDDLE_TRACE_REAL(sc_dt::sc_fxval_fast, object.to_double())
HEDDLE_TRACE_REAL(sc_dt::sc_fxnum, object.to_double())
HEDDLE_TRACE_REAL(sc_dt::sc_fxnum_fast, object.to_double())
#undef HEDDLE_TRACE_REAL

}  // namespace heddle::traces
