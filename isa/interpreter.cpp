#include "isa/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "isa/block_observer.hpp"
#include "isa/device_heap.hpp"
#include "isa/launch_check.hpp"
#include "isa/launch_image.hpp"
#include "isa/memory_map.hpp"
#include "isa/reference/block.hpp"

namespace heddle::isa {

namespace {

constexpr std::uint64_t kCodeAlignment = 128;  // a kernel starts on a line of the instruction cache

// The blocks take turns until all have ended.
void run_together(std::span<const std::unique_ptr<reference::Block>> blocks, InterpreterResult& result) {
  using Turn = reference::Block::Turn;
  std::vector<Turn> turns(blocks.size(), Turn::goes_on);
  for (;;) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (turns[i] == Turn::goes_on) {
        turns[i] = blocks[i]->turn(result);
        if (result.fault) {
          return;
        }
      }
    }
    const auto ended = std::count(turns.begin(), turns.end(), Turn::done);
    const auto waiting = std::count(turns.begin(), turns.end(), Turn::at_grid);
    if (static_cast<std::size_t>(ended + waiting) != blocks.size()) {
      continue;
    }
    if (waiting == 0) {
      return;
    }
    if (ended != 0) {
      const auto first = std::find(turns.begin(), turns.end(), Turn::at_grid) - turns.begin();
      result.fault = blocks[static_cast<std::size_t>(first)]->grid_fault(
          reference::grid_stuck(static_cast<std::uint64_t>(waiting), static_cast<std::uint64_t>(ended)));
      return;
    }
    for (const auto& block : blocks) {
      block->leave_grid();
    }
    std::fill(turns.begin(), turns.end(), Turn::goes_on);
  }
}

Dim3 index_of(std::uint64_t block, const Dim3& grid) {
  return {static_cast<std::uint32_t>(block % grid.x), static_cast<std::uint32_t>(block / grid.x % grid.y),
          static_cast<std::uint32_t>(block / grid.x / grid.y)};
}

// `observer`: null: none. Result: none when it has given up.
std::optional<InterpreterResult> run_launch(const Module& module, const LaunchRequest& launch, DeviceMemory& memory,
                                            RetirementHash& hash, const InterpreterOptions& options,
                                            BlockObserver* observer) {
  if (options.warp_size == 0 || options.warp_size > kLanes) {
    throw InputError({}, fmt::format("the reference interpreter cannot run warps of {} threads", options.warp_size),
                     fmt::format("1 to {} are possible", kLanes));
  }
  const Kernel& kernel = kernel_of(module, launch);
  check_request(kernel, launch);
  if (launch.cooperative && kernel.reads_grid_workspace && launch.grid_workspace == 0) {
    LaunchRequest with_workspace = launch;
    with_workspace.grid_workspace = memory.allocate("grid workspace", kGridWorkspaceBytes);
    InterpreterResult result = interpret(module, with_workspace, memory, hash, options);
    memory.release(with_workspace.grid_workspace);
    return result;
  }
  InterpreterResult result;
  result.fault = check_resources(kernel, launch);
  if (result.fault) {
    return result;
  }
  const std::size_t threads = launch.block.count();
  if (const std::uint64_t warps = (threads + options.warp_size - 1) / options.warp_size * launch.grid.count();
      launch.cooperative && warps > kMaxTogether) {
    throw InputError({},
                     fmt::format("the blocks of a cooperative launch of kernel '{}' have {} warps together; the "
                                 "reference interpreter keeps at most {}",
                                 kernel.name, warps, kMaxTogether),
                     "launch a smaller grid");
  }
  hash.begin_launch(launch.grid.count() * threads);
  const bool heap = uses_heap(kernel);
  if (heap) {
    memory.heap().begin_launch(launch);
  }
  const std::vector<reference::Decoded> code = reference::decode_kernel(kernel);
  const std::uint64_t blocks = launch.grid.count();
  const auto block_of = [&] {
    return std::make_unique<reference::Block>(module, kernel, code, launch, memory, options, hash.launches(), observer);
  };
  const auto hashes_of = [&](std::uint64_t block) { return hash.threads().subspan(block * threads, threads); };
  if (launch.cooperative) {
    std::vector<std::unique_ptr<reference::Block>> together;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      together.push_back(block_of());
      together.back()->start(index_of(i, launch.grid));
    }
    run_together(together, result);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      together[i]->take_hashes(hashes_of(i));
    }
  } else {
    const std::unique_ptr<reference::Block> block = block_of();
    for (std::uint64_t i = 0; i < blocks && !result.fault; ++i) {
      block->run(index_of(i, launch.grid), hashes_of(i), result);
      if (!result.fault && observer != nullptr && !observer->goes_on()) {
        memory.heap().abandon_launch();
        return std::nullopt;
      }
    }
  }
  if (heap && result.fault) {
    memory.heap().abandon_launch();
  } else if (heap) {
    result.fault = memory.heap().end_launch();
    if (result.fault) {
      result.fault->kernel = kernel.name;
    }
  }
  if (!result.fault) {
    hash.end_launch();
  }
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

std::uint64_t code_address(const Module& module, std::size_t kernel_index, unsigned instruction_bytes) {
  std::uint64_t address = kCodeBase;
  for (std::size_t i = 0; i < kernel_index && i < module.kernels.size(); ++i) {
    const std::uint64_t bytes = std::max<std::uint64_t>(module.kernels[i].words.size() * instruction_bytes, 1);
    address += (bytes + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
  }
  return address;
}

void load_module(const Module& module, DeviceMemory& memory, unsigned instruction_bytes) {
  const std::uint64_t end = code_address(module, module.kernels.size(), instruction_bytes);
  if (end > kModuleBase) {
    throw InputError(
        {module.name, 0, 0},
        fmt::format("the module's code needs {} bytes; there is room for {}", end - kCodeBase, kModuleBase - kCodeBase),
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
    const std::uint64_t address = code_address(module, i, instruction_bytes);
    if (instruction_bytes < 16 && is_wide(kernel)) {
      throw InputError(
          {module.name, 0, 0},
          fmt::format("kernel '{}' has instructions of 16 bytes, for its {} registers, and the machine's "
                      "have {}",
                      kernel.name, kernel.registers, instruction_bytes),
          fmt::format("compile it for at most {} registers, or set icache.instruction_bytes to 16", kNarrowRegisters));
    }
    const std::vector<std::uint64_t> words = code_image(kernel.words, instruction_bytes);
    memory.place("code of " + kernel.name, address, words.size() * sizeof(std::uint64_t), false);
    memory.write(address, std::as_bytes(std::span(words)));
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
