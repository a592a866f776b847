// What the run-time API, the driver API and graphs have in common: launches, copies and fills, each in a stream. A
// stream that records a graph (cuda/cudart/graphs.hpp) takes asynchronous work as a node. All throw Failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/cudart/device_facts.hpp"
#include "cuda/cudart/runtime.hpp"

namespace heddle::cudart {

// The simulator's number of a stream: 0 for the default stream in its names, of cudaStreamPerThread the present
// thread's, and of a null pointer either.
[[nodiscard]] std::uint64_t stream_number(cudaStream_t stream);

// Throws Failure for what is no stream's handle.
void require_stream(cudaStream_t stream);
// The default stream and `stream` wait for each other.
[[nodiscard]] bool waits_for_default(std::uint64_t stream);
// The event was recorded, and not into a graph.
[[nodiscard]] bool was_recorded(cudaEvent_t event);

struct Launch {
  Function* function = nullptr;
  dim3 grid, block;
  std::size_t shared = 0;            // bytes of dynamic scratchpad
  std::vector<std::byte> arguments;  // as Function::parameters lays them out
  const void* name = nullptr;        // the kernel's in the run-time API; null: the driver API's
  bool cooperative = false;
};
// A launch whose arguments are where `arguments` points to, one by one.
[[nodiscard]] Launch launch_of(Function& function, dim3 grid, dim3 block, void** arguments, std::size_t shared);
void launch(Runtime& runtime, const Launch& launch, cudaStream_t stream);
void require_launchable(Runtime& runtime, const Launch& launch);  // on the machine
void require_within_limit(const Launch& launch);                  // that the program has set
void limit_shared(Runtime& runtime, Function& function, int bytes);
// Throw Failure for what is no preference.
void require_config(cudaFuncCache config);
void require_config(cudaSharedMemConfig config);

// Rows of bytes: `pitch` from one to the next.
struct Rows {
  const void* at = nullptr;
  std::size_t pitch = 0;
};
// cuda/cudart/copy_rules.cpp: what throws, throws Failure.
void require_device(int device);
void require_zero(const void* value);  // of 64 bits: what a mark of the most memory can be set to
void require_kind(cudaMemcpyKind kind);
[[nodiscard]] std::size_t product(std::size_t a, std::size_t b);  // of an allocation
void require_addressable(std::size_t pitch, std::size_t width, std::size_t height);
struct Sides {
  bool to_device = false, from_device = false;
};
[[nodiscard]] bool on_device(Runtime& runtime, const void* pointer);
[[nodiscard]] Sides sides_of(Runtime& runtime, const void* to, const void* from, cudaMemcpyKind kind);
void require_pitches(std::size_t to, std::size_t from, std::size_t width, std::size_t height);
void require_box(const cudaMemcpy3DParms& box);  // of memory, not of arrays
void transfer(Runtime& runtime, Rows to, Rows from, std::size_t width, std::size_t height, cudaMemcpyKind kind,
              cudaStream_t stream, bool asynchronous);
// Boxes within pitched memory, and layers of arrays.
void transfer_3d(Runtime& runtime, const cudaMemcpy3DParms& box, cudaStream_t stream, bool asynchronous);
// The rows of an array (cuda/cudart/textures.cpp) from byte x of row y on, of which `width` bytes and `height` rows are
// wanted.
[[nodiscard]] Rows array_rows(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t width,
                              std::size_t height);
[[nodiscard]] std::size_t texel_bytes(cudaArray_const_t array);
// A .texref or .surfref of the program's, by its variable on the host.
void add_reference(const void* variable, bool normalized_values);
// `value` over and over, of `element` bytes (1, 2 or 4), of which `width` is a multiple.
void fill(Runtime& runtime, void* pointer, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
          std::size_t height, cudaStream_t stream);
void fill_3d(Runtime& runtime, const cudaPitchedPtr& to, unsigned value, const cudaExtent& extent, cudaStream_t stream);
// The address of a part of a variable, which is device memory from now on.
[[nodiscard]] void* address_of(Runtime& runtime, const void* variable, std::size_t size, std::size_t offset);
void synchronize(Runtime& runtime);  // everything
void synchronize(Runtime& runtime, cudaStream_t stream);
void record(Runtime& runtime, cudaEvent_t event, cudaStream_t stream);
void wait_for(Runtime& runtime, cudaStream_t stream, cudaEvent_t event);
// The release of CUDA that the program was compiled for: 11, 12, 13.
[[nodiscard]] int program_release();
void set_heap_limit(Runtime& runtime, std::size_t bytes);  // of the device
// What the program frees: a graph's memory stays as long as the graph, which may use it again.
void release(Runtime& runtime, void* pointer);
void leave_pool(const void* pointer);  // cuda/cudart/pools.cpp, of memory that is released
// cuda/cudart/host_memory.cpp; flags are cudaHostAlloc's.
[[nodiscard]] void* allocate_pinned(Runtime& runtime, std::size_t size, unsigned flags);
void release_pinned(Runtime& runtime, void* pointer);
void require_not_pinned(const void* pointer);
// Pinned memory that any of these words may lead to is the device's too from now on: what kernels are given, and what
// is copied to where they read.
void reach_pinned(Runtime& runtime, const void* words, std::size_t bytes);
// Where kernels have memory of the host's.
[[nodiscard]] void* reached_by_kernels(Runtime& runtime, void* host);

}  // namespace heddle::cudart
