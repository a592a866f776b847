#include "cuda/cudart/environment.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

#include "cuda/cudart/protocol.hpp"

namespace heddle::cudart {
namespace {

struct Variable {
  const char* name;
  char* value;  // null: was not there
};
std::array<Variable, 7> at_load{{{cudart::kSocketVariable, nullptr},
                                 {cudart::kConfigVariable, nullptr},
                                 {cudart::kOptionsVariable, nullptr},
                                 {cudart::kProgramVariable, nullptr},
                                 {cudart::kErrorsVariable, nullptr},
                                 {cudart::kShareVariable, nullptr},
                                 {cudart::kBlockingVariable, nullptr}}};

__attribute__((constructor)) void remember() {
  for (Variable& variable : at_load) {
    if (const char* const value = std::getenv(variable.name); value != nullptr) variable.value = ::strdup(value);
  }
}

}  // namespace

std::string environment(const char* name) {
  if (const char* const value = std::getenv(name); value != nullptr) return value;
  for (const Variable& variable : at_load) {
    if (std::strcmp(variable.name, name) == 0 && variable.value != nullptr) return variable.value;
  }
  return "";
}

}  // namespace heddle::cudart
