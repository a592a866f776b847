// A reader of value change dumps, written from the standard (IEEE 1364, clause 18) and independent of the writer. It
// refuses what the standard does not allow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

class VcdError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct VcdSignal {
  std::string type;
  unsigned width = 1;
  struct Change {
    std::uint64_t time;
    std::string value;  // extended to the width; reals and events as they stand
  };
  std::vector<Change> changes;

  [[nodiscard]] std::string at(std::uint64_t time) const;  // "x..." before the first change
  // As a number; nothing when it is unknown.
  [[nodiscard]] std::optional<std::uint64_t> number(std::uint64_t time) const;
};

struct VcdDump {
  std::string version;
  std::string timescale;  // "1ns"
  std::map<std::string, VcdSignal> signals;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  // Throws when there is no such signal.
  [[nodiscard]] const VcdSignal& operator[](const std::string& path) const;
  // The sum of weight(value) over the time units of [begin, end); unknown values count nothing.
  [[nodiscard]] std::uint64_t sum(const std::string& path,
                                  const std::function<std::uint64_t(std::uint64_t)>& weight) const;
  [[nodiscard]] std::uint64_t sum(const std::string& path) const;
  [[nodiscard]] std::uint64_t time_at(const std::string& path, std::uint64_t value) const;
};

// Whether every signal must have a value in $dumpvars at the first time, or may have its first one anywhere (as in what
// fst2vcd makes).
enum class VcdFirstValues { at_begin, anywhere };
[[nodiscard]] VcdDump read_vcd(std::string_view text, VcdFirstValues first = VcdFirstValues::at_begin);

}  // namespace heddle::test
