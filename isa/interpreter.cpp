#include "isa/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "isa/block_observer.hpp"
#include "isa/device_heap.hpp"
#include "isa/launch_check.hpp"
#include "isa/memory_map.hpp"
#include "isa/reference/block.hpp"

namespace heddle::isa {

namespace {

constexpr std::uint64_t kCodeAlignment = 128;  // a kernel starts on a line of the instruction cache

// `observer`: null: nobody. None: it has given up.
std::optional<InterpreterResult> run_launch(const Module& module, const LaunchRequest& launch, DeviceMemory& memory,
                                            RetirementHash& hash, const InterpreterOptions& options,
                                            BlockObserver* observer) {
  if (options.warp_size == 0 || options.warp_size > kLanes) {
    throw InputError({}, fmt::format("the reference interpreter cannot run warps of {} threads", options.warp_size),
                     fmt::format("1 to {} are possible", kLanes));
  }
  const Kernel& kernel = kernel_of(module, launch);
  check_request(kernel, launch);
  InterpreterResult result;
  result.fault = check_resources(kernel, launch);
  if (result.fault) {
    return result;
  }
  const std::size_t threads = launch.block.count();
  hash.begin_launch(launch.grid.count() * threads);
  reference::Block block(module, kernel, launch, memory, options, hash.launches(), observer);
  if (block.uses_heap()) {
    memory.heap().begin_launch(launch);
  }
  std::size_t first_thread = 0;
  for (std::uint32_t z = 0; z < launch.grid.z; ++z) {
    for (std::uint32_t y = 0; y < launch.grid.y; ++y) {
      for (std::uint32_t x = 0; x < launch.grid.x; ++x) {
        block.run(Dim3{x, y, z}, hash.threads().subspan(first_thread, threads), result);
        if (result.fault) {
          memory.heap().abandon_launch();
          return result;
        }
        if (observer != nullptr && !observer->goes_on()) {
          memory.heap().abandon_launch();
          return std::nullopt;
        }
        first_thread += threads;
      }
    }
  }
  if (block.uses_heap()) {
    result.fault = memory.heap().end_launch();
    if (result.fault) {
      result.fault->kernel = kernel.name;
      return result;
    }
  }
  hash.end_launch();
  return result;
}

}  // namespace

InterpreterResult interpret(const Module& module, const LaunchRequest& launch, DeviceMemory& memory,
                            RetirementHash& hash, const InterpreterOptions& options) {
  return *run_launch(module, launch, memory, hash, options, nullptr);
}

std::optional<InterpreterResult> interpret_observed(const Module& module, const LaunchRequest& launch,
                                                    DeviceMemory& memory, RetirementHash& hash,
                                                    const InterpreterOptions& options, BlockObserver& observer) {
  return run_launch(module, launch, memory, hash, options, &observer);
}

std::uint64_t code_address(const Module& module, std::size_t kernel_index) {
  std::uint64_t address = kCodeBase;
  for (std::size_t i = 0; i < kernel_index && i < module.kernels.size(); ++i) {
    const std::uint64_t bytes = std::max<std::uint64_t>(module.kernels[i].words.size() * sizeof(std::uint64_t), 1);
    address += (bytes + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
  }
  return address;
}

void load_module(const Module& module, DeviceMemory& memory) {
  if (code_address(module, module.kernels.size()) > kModuleBase) {
    throw InputError({module.name, 0, 0},
                     fmt::format("the module's code needs {} bytes; there is room for {}",
                                 code_address(module, module.kernels.size()) - kCodeBase, kModuleBase - kCodeBase),
                     "split the module");
  }
  // What an earlier load left: code and variables of one module at a time are in memory.
  std::vector<std::uint64_t> old;
  const auto& allocations = memory.allocations();
  for (auto it = allocations.lower_bound(kCodeBase); it != allocations.end() && it->first < kGlobalBase; ++it) {
    old.push_back(it->first);
  }
  for (const std::uint64_t address : old) {
    memory.release(address);
  }
  if (std::any_of(module.kernels.begin(), module.kernels.end(),
                  [](const Kernel& kernel) { return kernel.address_bits == 32 && uses_heap(kernel); })) {
    memory.reserve_narrow_heap();
  }
  for (std::size_t i = 0; i < module.kernels.size(); ++i) {
    const Kernel& kernel = module.kernels[i];
    const std::uint64_t address = code_address(module, i);
    const std::span<const std::uint64_t> words(kernel.words);
    memory.place("code of " + kernel.name, address, words.size_bytes(), false);
    memory.write(address, std::as_bytes(words));
  }
  for (const Variable& variable : module.variables) {
    if (variable.space != Space::global) {
      continue;
    }
    memory.place(variable.name, variable.address, variable.size);
    if (!variable.initial.empty()) {
      memory.write(variable.address, std::as_bytes(std::span(variable.initial)));
    }
  }
}

}  // namespace heddle::isa
