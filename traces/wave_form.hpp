// A form in which changes of signals are kept: what a trace file (traces/vcd_file.hpp) tells, in the order of time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tlm/wave_steps.hpp"

namespace heddle::traces {

class WaveForm {
 public:
  enum class Type : std::uint8_t { wire, real, event };
  struct Variable {
    std::string name;  // with its scopes before it, a dot between each
    unsigned width;
    Type type;
    bool wave;  // else what is told of it is text
  };
  struct Head {
    const std::string& version;
    const std::vector<std::string>& comments;
    int unit;  // of time: 10^unit seconds
    const std::vector<Variable>& variables;
    const std::vector<std::uint32_t>& waves;  // the variable of each wave
  };

  WaveForm() = default;
  WaveForm(const WaveForm&) = delete;
  WaveForm& operator=(const WaveForm&) = delete;
  virtual ~WaveForm() = default;

  // First. What the head refers to stays as it is.
  virtual void begin(const Head& head) = 0;
  // What comes from here on is of this time; never an earlier one, the same one possibly again.
  virtual void time(std::uint64_t time) = 0;
  // What comes until first_values(false) is the value of each variable with which the dump begins.
  virtual void first_values(bool) = 0;
  virtual void changes(std::span<const link::WaveChange> changes) = 0;
  virtual void unknown(std::uint32_t wave) = 0;
  // Of a variable that is no wave, as a value change dump has it before the identifier: "1", "b01x ", "r0.5 ".
  virtual void text(std::size_t variable, const std::string& value) = 0;
  virtual void end() = 0;
};

// The scopes of variables, in the order of their first variable.
struct WaveScope {
  std::vector<std::pair<std::string, std::unique_ptr<WaveScope>>> inner;
  std::vector<std::pair<std::string, std::size_t>> variables;  // names within the scope, and numbers

  [[nodiscard]] static WaveScope of(const std::vector<WaveForm::Variable>& variables);
};

// A variable's name as dumps have it: with its bits, where it has several.
[[nodiscard]] std::string name_with_bits(const std::string& name, const WaveForm::Variable& variable);

}  // namespace heddle::traces
