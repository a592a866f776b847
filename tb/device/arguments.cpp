#include "tb/device/arguments.hpp"

#include <fmt/format.h>

#include <cstring>

#include "base/error.hpp"

namespace heddle::tb {
namespace {

const isa::Kernel& find_kernel(const isa::Module& module, const std::string& kernel) {
  const isa::Kernel* found = module.find(kernel);
  if (found == nullptr) {
    throw InternalError("the loaded module has no kernel '" + kernel + "'");
  }
  return *found;
}

}  // namespace

Arguments::Arguments(const isa::Module& module, const std::string& kernel)
    : kernel_(find_kernel(module, kernel)), bytes_(kernel_.parameter_bytes) {}

Arguments& Arguments::pointer(std::uint64_t address) {
  return kernel_.address_bits == 64 ? value(address) : value(static_cast<std::uint32_t>(address));
}

Arguments& Arguments::add(std::span<const std::byte> value) {
  if (next_ == kernel_.parameters.size() || kernel_.parameters[next_].size != value.size()) {
    throw InternalError(
        fmt::format("argument {} of {} bytes does not fit kernel '{}'", next_, value.size(), kernel_.name));
  }
  std::memcpy(bytes_.data() + kernel_.parameters[next_].offset, value.data(), value.size());
  ++next_;
  return *this;
}

std::vector<std::uint8_t> Arguments::bytes() const {
  if (next_ != kernel_.parameters.size()) {
    throw InternalError(fmt::format("{} arguments for the {} parameters of kernel '{}'", next_,
                                    kernel_.parameters.size(), kernel_.name));
  }
  return bytes_;
}

}  // namespace heddle::tb
