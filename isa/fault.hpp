// A fault of the simulated program, where it happened and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isa/module.hpp"

namespace heddle::isa {

struct Fault {
  enum class Kind {
    out_of_bounds,
    misaligned,
    division_by_zero,
    trap,
    barrier_mismatch,
    deadlock,
    livelock,
    resources,
    invalid_instruction,
    bus_error,
    assertion,  // made of a trap: isa/print.hpp
    no_texture,
    bad_free,  // of heap memory (isa/device_heap.hpp)
    heap_room,
    dependence,   // an instruction goes before what it depends on (isa::ControlBits)
    shared_bytes  // between cores whose caches do not allow it
  };
  Kind kind = Kind::trap;
  std::string kernel;
  std::uint64_t launch = 0;  // number of the launch on its device
  std::uint32_t pc = 0;
  Dim3 block;   // block index (ctaid)
  Dim3 thread;  // thread index (tid)
  std::uint64_t address = 0;
  std::uint32_t size = 0;  // bytes accessed; 0: no memory access, address means nothing
  std::string detail;      // extra text: nearest allocation, what waits for what
};
[[nodiscard]] std::string_view name_of(Fault::Kind kind);
// The whole message: kind, kernel, PTX and CUDA line, block, thread, address, nearest allocation. Faults of the kinds
// resources and shared_bytes concern the launch as a whole: no line, block or thread.
[[nodiscard]] std::string describe(const Fault& fault, const Module& module);

// What is wrong with a fetch by the handle of no texture.
[[nodiscard]] std::string describe_no_texture(std::uint64_t handle);

// Loads of one instruction that lay out of bounds and read 0 instead of faulting (core.load_trap = false).
struct StrayLoads {
  Fault first;              // what the first of them would have been
  std::string source;       // the line of `first`, as describe_pc() has it; empty: unknown
  std::uint64_t count = 0;  // each thread's load is one
};
// "12 loads by one instruction read 0; the first: ", then what a fault's message would have said.
[[nodiscard]] std::string describe(const StrayLoads& loads);
// Adds to the loads of the same kernel and PC, or behind all others.
void add(std::vector<StrayLoads>& to, const StrayLoads& loads);

}  // namespace heddle::isa
