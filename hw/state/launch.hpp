// One kernel launch as the hardware sees it: what the host has written into the launch registers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/module.hpp"
#include "isa/print.hpp"

namespace heddle::isa {
class DeviceHeap;
}

namespace heddle::hw {

struct Launch {
  std::uint64_t code_address = 0;
  std::uint32_t code_words = 0;
  std::uint64_t code_version = 0;  // launches of one version, not 0, find the same code in memory
  isa::Dim3 grid;
  isa::Dim3 block;
  std::uint32_t registers = 0;     // per thread
  std::uint32_t shared_bytes = 0;  // per block, static and dynamic
  std::uint32_t dynamic_shared = 0;
  std::uint32_t local_bytes = 0;     // per thread
  std::uint64_t local_base = 0;      // backing store of local memory
  std::uint64_t id = 0;              // launches before this one
  bool cooperative = false;          // all blocks are resident at once, and may meet at the grid's barrier (bar.grid)
  std::uint64_t grid_workspace = 0;  // isa::LaunchRequest::grid_workspace
  int carve_out = -1;                // isa::LaunchRequest::carve_out
  std::uint32_t warp_size = 0;       // threads of a warp in this launch; 0: the machine's (core.warp_size)
  std::vector<std::uint8_t> parameters;
  std::vector<std::uint8_t> constants;
  // Of machines with constant caches: where copies of them lie in memory.
  std::uint64_t parameter_base = 0;
  std::uint64_t constant_base = 0;
  std::span<const isa::InstructionWord> code;  // the kernel's words, for the watchdog to look at; empty: it does not
  // Retirement hashes of the launch's threads; null: not wanted.
  std::uint32_t* hashes = nullptr;
  isa::PrintBuffer* prints = nullptr;  // where printed bytes go; null: nowhere
  // What malloc and free in the launch do; null: nothing, and malloc yields null.
  isa::DeviceHeap* heap = nullptr;

  [[nodiscard]] std::uint32_t threads_per_block() const { return static_cast<std::uint32_t>(block.count()); }
};

}  // namespace heddle::hw
