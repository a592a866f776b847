// A kernel decoded once per launch: what the interpreter needs of each instruction, found out beforehand.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/module.hpp"
#include "isa/result_form.hpp"
#include "isa/semantics.hpp"

namespace heddle::isa::reference {

enum class Action : std::uint8_t {
  lanes,  // function computes it
  special,
  load,
  store,
  copy,
  bulk_copy,
  atomic,
  accumulate,
  texture,
  nothing,
  branch,
  exit,
  trap,
  print,
  heap,
  barrier,
  invalid
};

struct Decoded {
  Instruction instruction;
  Action action = Action::invalid;
  LaneFunction function = nullptr;
  ResultForm result;
  SourcePredicates predicates;
  std::uint8_t a = 0, b = 0, c = 0, d = 0;  // 32-bit registers read by each operand
};

[[nodiscard]] std::vector<Decoded> decode_kernel(const Kernel& kernel);

}  // namespace heddle::isa::reference
