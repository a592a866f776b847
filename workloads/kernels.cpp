#include "workloads/kernels.hpp"

#include <fmt/format.h>

#include <string>

#include "base/error.hpp"

namespace heddle::workloads {
namespace {

const OfferedFiles kSources{kernel_sources};

}  // namespace

std::string_view kernel_ptx(std::string_view workload, unsigned address_bits) {
  const std::string name = fmt::format("{}.{}", workload, address_bits);
  for (const EmbeddedFile& kernel : embedded_kernels()) {
    if (kernel.name == name) {
      return kernel.text;
    }
  }
  throw InternalError("no kernel is embedded as '" + name + "'");
}

}  // namespace heddle::workloads
