// Functions of Heddle's own, written in PTX, of which the code of an instruction is made. Their instructions count as
// that instruction's.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "ptx/lower/selector.hpp"

namespace heddle::ptx {

class OwnFunctions {
 public:
  // In the text @A stands for the bits of an address. `name`: of the text, in errors that there should be none of.
  OwnFunctions(std::string_view text, const std::string& name, unsigned address_bits);
  [[nodiscard]] const Function& operator[](const std::string& function) const { return functions_.at(function); }

 private:
  std::map<std::string, Function> functions_;
};

// Inlines the function, for all threads that get here; each value becomes a parameter, in order. What it returns stands
// in its registers: result_of().
[[nodiscard]] Frame inline_own(Selector& s, const Function& function, std::initializer_list<Value> values);
[[nodiscard]] Value result_of(Selector& s, Frame& callee);

}  // namespace heddle::ptx
