// The arguments of a launch, for host code that knows its kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/module.hpp"

namespace heddle::tb {

// One kernel's argument bytes, laid out as its parameters say. Throws InternalError where the module has no such kernel
// and when count or sizes differ: the host's code and the kernel must agree.
class Arguments {
 public:
  Arguments(const isa::Module& module, const std::string& kernel);
  Arguments& pointer(std::uint64_t address);
  template <class T>
  Arguments& value(const T& v) {
    return add(std::as_bytes(std::span(&v, 1)));
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes() const;

 private:
  Arguments& add(std::span<const std::byte> value);

  const isa::Kernel& kernel_;
  std::size_t next_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace heddle::tb
