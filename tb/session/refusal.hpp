// What the parts of a session (tb/session/session.hpp) have in common.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <driver_types.h>

namespace heddle::tb::session {

// What the program gets as an error code and, if there is more to say, a line.
struct Refusal {
  cudaError_t error;
  std::string text;
};

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace heddle::tb::session
