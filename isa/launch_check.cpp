#include "isa/launch_check.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "isa/memory_map.hpp"

namespace heddle::isa {

namespace {

std::string text(const Dim3& dim) {
  return fmt::format("({}, {}, {})", dim.x, dim.y, dim.z);
}

}  // namespace

void check_request(const Kernel& kernel, const LaunchRequest& launch) {
  const auto refuse = [&](std::string what, std::string hint) {
    throw InputError({}, fmt::format("kernel '{}': {}", kernel.name, what), std::move(hint));
  };
  const auto has_zero = [](const Dim3& dim) { return dim.x == 0 || dim.y == 0 || dim.z == 0; };
  if (has_zero(launch.grid)) {
    refuse(fmt::format("grid {} has a zero dimension", text(launch.grid)), "each dimension is at least 1");
  }
  if (has_zero(launch.block)) {
    refuse(fmt::format("block {} has a zero dimension", text(launch.block)), "each dimension is at least 1");
  }
  if (launch.grid.x > kMaxGridX || launch.grid.y > kMaxGridYZ || launch.grid.z > kMaxGridYZ) {
    refuse(fmt::format("grid {} is too large", text(launch.grid)),
           fmt::format("x is at most {}, y and z at most {}", kMaxGridX, kMaxGridYZ));
  }
  const bool block_fits = launch.block.x <= kMaxBlockThreads && launch.block.y <= kMaxBlockThreads &&
                          launch.block.z <= kMaxBlockThreads && launch.block.count() <= kMaxBlockThreads;
  if (block_fits && launch.grid.count() > kMaxLaunchThreads / launch.block.count()) {
    refuse(fmt::format("grid {} of blocks {} has more than {} threads", text(launch.grid), text(launch.block),
                       kMaxLaunchThreads),
           "split it into several launches");
  }
  if (launch.parameters.size() != kernel.parameter_bytes) {
    refuse(fmt::format("{} parameter bytes given, {} declared", launch.parameters.size(), kernel.parameter_bytes),
           fmt::format("it takes {} {}", kernel.parameters.size(),
                       kernel.parameters.size() == 1 ? "parameter" : "parameters"));
  }
  if (kernel.required_block && !(*kernel.required_block == launch.block)) {
    refuse(fmt::format("block {} given, .reqntid requires {}", text(launch.block), text(*kernel.required_block)),
           "launch it with the required block");
  }
  if (kernel.max_threads && block_fits && launch.block.count() > *kernel.max_threads) {
    refuse(fmt::format("block {} has {} threads, .maxntid allows {}", text(launch.block), launch.block.count(),
                       *kernel.max_threads),
           "launch it with a smaller block");
  }
}

std::optional<Fault> check_resources(const Kernel& kernel, const LaunchRequest& launch) {
  const auto fault = [&](std::string detail) {
    Fault out;
    out.kind = Fault::Kind::resources;
    out.kernel = kernel.name;
    out.detail = std::move(detail);
    return out;
  };
  const Dim3& block = launch.block;
  // Dimension by dimension first: the product of three 32-bit numbers can wrap.
  if (block.x > kMaxBlockThreads || block.y > kMaxBlockThreads || block.z > kMaxBlockThreads ||
      block.count() > kMaxBlockThreads) {
    return fault(fmt::format("a block of {} threads; at most {} fit", text(block), kMaxBlockThreads));
  }
  const std::uint64_t shared = total_shared_bytes(kernel, launch);
  if (shared > kWindowSize) {
    return fault(fmt::format("{} bytes of scratchpad per block ({} static, {} dynamic); the shared window holds {}",
                             shared, kernel.shared_bytes, launch.dynamic_shared, kWindowSize));
  }
  if (kernel.local_bytes > kMaxLocalBytes) {
    return fault(
        fmt::format("{} bytes of local memory per thread; at most {} fit", kernel.local_bytes, kMaxLocalBytes));
  }
  return std::nullopt;
}

const Kernel& kernel_of(const Module& module, const LaunchRequest& launch) {
  const Kernel* kernel = module.find(launch.kernel);
  if (kernel == nullptr) {
    std::string names;
    for (const Kernel& other : module.kernels) {
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", other.name);
    }
    throw InputError({module.name, 0, 0}, fmt::format("there is no kernel '{}'", launch.kernel),
                     names.empty() ? "the module has no kernels" : "it has " + names);
  }
  if (!launch.more_registers) return *kernel;
  const auto next = static_cast<std::size_t>(kernel - module.kernels.data()) + 1;
  if (next == module.kernels.size() || !module.kernels[next].more_registers) {
    throw InternalError("kernel " + kernel->name + " has no version with more registers");
  }
  return module.kernels[next];
}

}  // namespace heddle::isa
