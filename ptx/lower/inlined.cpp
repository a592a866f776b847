#include "ptx/lower/inlined.hpp"

#include <fmt/format.h>

namespace heddle::ptx {

OwnFunctions::OwnFunctions(std::string_view text, const std::string& name, unsigned address_bits) {
  constexpr std::string_view kBits = "@A";
  std::string whole = fmt::format(".version 7.0\n.target sm_80\n.address_size {}\n{}", address_bits, text);
  for (std::size_t at = 0; (at = whole.find(kBits, at)) != std::string::npos;) {
    whole.replace(at, kBits.size(), std::to_string(address_bits));
  }
  for (Function& function : parse(whole, name).functions) {
    function.is_library = true;
    functions_.emplace(function.name, std::move(function));
  }
}

Frame inline_own(Selector& s, const Function& function, std::initializer_list<Value> values) {
  Frame callee = s.open_frame(function);
  auto formal = function.parameters.begin();
  for (const Value& value : values) s.move(s.vreg(callee, (formal++)->reg), value);
  s.inline_body(callee);
  return callee;
}

Value result_of(Selector& s, Frame& callee) {
  const ParameterDecl& result = callee.function->returns.front();
  return Value::of(s.vreg(callee, result.reg), result.type);
}

}  // namespace heddle::ptx
