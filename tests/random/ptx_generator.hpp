// Random PTX kernels for differential tests: one text, run by several machines, must give one result.
//
// generate_ptx() is a pure function of the seed and the options: the same pair yields the same text on every machine
// and with every compiler. A test that fails prints its seed; generate_ptx(seed) in a debugger, or the test program
// with HEDDLE_RANDOM_SEED=seed in the environment, brings the failing program back, and the text names its seed in its
// first line.
//
// What every program guarantees:
// - It terminates: loops have counters of their own with bounds of at most 8, nested at most 3 deep; jumps that are not
//   loops go forward.
// - It is free of races: a thread reads the input buffer (never written), its own slots of the output buffer, of local
//   memory and of scratchpad; threads exchange values through scratchpad only between barriers, lanes of a warp between
//   bar.warp.sync. A thread waits for its copies before it looks at them. Counters shared by all
//   threads are changed by commuting reductions and never read.
// - Barriers and operations between lanes are in code that all threads of the block reach together. Programs whose
//   threads may exit one by one have neither; in others all threads of a block may exit together.
// - No trap is executed, although there are some.
// - It reads nothing uninitialised, divides by no zero, and reads no clock.
// - Control flow is structured (if, if-else, counted loops, tested above or below, uniform or different from thread to
//   thread, with break and continue) and unstructured (forward jumps between blocks of a region, out of nested ones).
#pragma once

#include <cstdint>
#include <string>

namespace heddle::random_ptx {

struct GeneratorOptions {
  unsigned statements = 40;      // how long a program is, roughly
  bool warp_operations = false;  // vote, shuffle, cond_acc...: results depend on the warp size; blocks are
                                 // multiples of 32 then
  bool barriers = true;
  bool scratchpad = true;             // else it is left alone, and threads meet at barriers without an exchange
  unsigned scratchpad_percent = 100;  // of the statements, from the first one on, in which it may be used
  unsigned max_block = 256;           // threads, at least 32
  unsigned max_grid = 4;              // blocks, at least 1
  // What a GPU's own compiler takes: 64-bit addresses, and no instruction that only Heddle has.
  bool standard = false;
  // What GPUs have since compute capability 8.0: copies to the scratchpad that are under way meanwhile, and with warp
  // operations some more of those.
  bool modern = false;
  bool tensor = false;  // products of matrices among the warp operations: machines with tensor cores
};

// A kernel `random_kernel(.param in, .param out, .param .u32 n)` and how to launch it: pointers are u32 or u64 as
// address_bits says, n is input_words.
struct GeneratedProgram {
  std::string text;
  std::uint64_t seed = 0;
  unsigned address_bits = 32;
  std::uint32_t block = 32;         // threads, one-dimensional
  std::uint32_t grid = 1;           // blocks, one-dimensional
  std::uint32_t input_words = 256;  // 32-bit words of the input buffer, filled with anything
  std::uint32_t output_words = 0;   // 32-bit words of the output buffer, zeroed before the launch
  bool warp_operations = false;     // it uses some: the result depends on the warp size
};
inline constexpr const char* kEntry = "random_kernel";

[[nodiscard]] GeneratedProgram generate_ptx(std::uint64_t seed, const GeneratorOptions& options = {});

}  // namespace heddle::random_ptx
