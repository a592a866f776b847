// The run-time API's launches and what it says of kernels.
#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda/cudart/graphs.hpp"
#include "cuda/cudart/work.hpp"

namespace heddle::cudart {
namespace {

using cudart::kCooperative;

bool null_is_per_thread = false;

std::uint64_t pair(std::uint64_t low, std::uint64_t high) {
  return low | high << 32U;
}

// The part of the scratchpad that the kernel prefers, in percent, plus 1; 0: none.
std::uint64_t carve_out_of(const Function& function) {
  return static_cast<std::uint64_t>(function.attributes.preferredShmemCarveout + 1);
}

Question question_of(const Launch& launch, std::uint64_t stream) {
  return {Call::launch,
          launch.cooperative ? kCooperative : 0U,
          {launch.function->id, pair(launch.grid.x, launch.grid.y), pair(launch.grid.z, launch.block.x),
           pair(launch.block.y, launch.block.z), launch.shared, stream, carve_out_of(*launch.function)},
          launch.arguments.size()};
}

}  // namespace

std::uint64_t stream_number(cudaStream_t stream) {
  const bool is_default = stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  require(is_default || Runtime::instance().stream(number_of(stream)) != nullptr, cudaErrorInvalidResourceHandle,
          "there is no such stream");  // graphs have some of their own, beside the program's
  if (stream == cudaStreamLegacy || (stream == nullptr && !null_is_per_thread)) return 0;
  if (stream != nullptr && stream != cudaStreamPerThread) return number_of(stream);
  thread_local std::uint64_t own = 0;
  if (own == 0) own = Runtime::instance().ask({Call::stream_create, 0, {cudaStreamDefault}, 0}).words[0];
  return own;
}

Launch launch_of(Function& function, dim3 grid, dim3 block, void** arguments, std::size_t shared) {
  if (!function.parameters.empty()) require_places(arguments);
  Launch launch{&function, grid, block, shared, std::vector<std::byte>(function.parameter_bytes), nullptr, false};
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    require_places(arguments[i]);
    std::memcpy(launch.arguments.data() + function.parameters[i].offset, arguments[i], function.parameters[i].size);
  }
  return launch;
}

void require_config(cudaFuncCache config) {
  require(config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual, cudaErrorInvalidValue,
          "there is no such division");
}
void require_config(cudaSharedMemConfig config) {
  require(config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte, cudaErrorInvalidValue,
          "there is no such width of banks");
}

void limit_shared(Runtime& runtime, Function& function, int bytes) {
  const std::uint64_t whole = runtime.machine().shared_bytes;
  const std::uint64_t most = whole - std::min<std::uint64_t>(whole, function.attributes.sharedSizeBytes);
  require(bytes >= 0 && static_cast<std::uint64_t>(bytes) <= most, cudaErrorInvalidValue,
          "the machine has no scratchpad of this size");
  function.attributes.maxDynamicSharedSizeBytes = bytes;
  function.limited = true;
}

void require_within_limit(const Launch& launch) {
  const auto limit = static_cast<std::size_t>(launch.function->attributes.maxDynamicSharedSizeBytes);
  require(!launch.function->limited || launch.shared <= limit, cudaErrorInvalidValue,
          "more shared memory than cudaFuncAttributeMaxDynamicSharedMemorySize allows");
}

void require_launchable(Runtime& runtime, const Launch& launch) {
  require_within_limit(launch);
  Question question = question_of(launch, 0);
  question.flags |= cudart::kOnlyAsked;
  runtime.ask(question, launch.arguments.data());
}

void launch(Runtime& runtime, const Launch& launch, cudaStream_t stream) {
  if (records(stream)) {
    static_cast<void>(record(stream, launch_content(launch)));
    return;
  }
  require_within_limit(launch);
  reach_pinned(runtime, launch.arguments.data(), launch.arguments.size());
  runtime.to_device();
  runtime.launch(question_of(launch, stream_number(stream)), launch.arguments.data());
  runtime.from_device();
}

}  // namespace heddle::cudart

using namespace heddle::cudart;

namespace {

// kernel<<<...>>>(...) tells these values, then calls the kernel's stub, which takes them back and launches.
struct Configuration {
  dim3 grid, block;
  size_t shared = 0;
  void* stream = nullptr;
};
thread_local std::vector<Configuration> configurations;
thread_local bool launches_without = false;  // a kernel's stub has asked for them, and there were none

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// What a file calls before main() that was compiled with CUDA_API_PER_THREAD_DEFAULT_STREAM.
void heddleDefaultStreamPerThread(void);
void heddleDefaultStreamPerThread(void) {
  heddle::cudart::null_is_per_thread = true;
}

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  launches_without = configurations.empty();
  Configuration last{dim3(0, 0, 0), dim3(0, 0, 0)};
  if (!launches_without) {
    last = configurations.back();
    configurations.pop_back();
  }
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<void**>(stream) = last.stream;
  return launches_without ? cudaErrorMissingConfiguration : cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return guarded("kernel launch", [&](Runtime& runtime) {
    // A stub of nvcc's does not launch then: what comes is a call of the program's own.
    const bool without = std::exchange(launches_without, false) && grid.x == 0 && block.x == 0;
    require(!without, cudaErrorMissingConfiguration,
            "the kernel is called like a function of the host, without <<<grid, block>>>");
    Launch wanted = launch_of(runtime.function(kernel), grid, block, arguments, shared);
    wanted.name = kernel;
    launch(runtime, wanted, stream);
  });
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  return guarded("cudaLaunchCooperativeKernel", [&](Runtime& runtime) {
    Launch cooperative = launch_of(runtime.function(kernel), grid, block, arguments, shared);
    cooperative.cooperative = true;
    launch(runtime, cooperative, stream);
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return guarded("cudaFuncGetAttributes", [&](Runtime& runtime) {
    require_places(attributes);
    *attributes = runtime.function(kernel).attributes;
  });
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return guarded("cudaFuncSetAttribute", [&](Runtime& runtime) {
    Function& function = runtime.function(kernel);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      limit_shared(runtime, function, value);
    } else {
      require(attribute == cudaFuncAttributePreferredSharedMemoryCarveout, cudaErrorInvalidValue,
              "kernels have no such attribute");
      require(value >= -1 && value <= 100, cudaErrorInvalidValue, "the part is a percentage, or -1");
      function.attributes.preferredShmemCarveout = value;
    }
  });
}
// What the scratchpad has of a store that it shares with the L1 follows cudaFuncSetAttribute alone.
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config) {
  return guarded("cudaFuncSetCacheConfig", [&](Runtime& runtime) {
    runtime.require_function(kernel);
    require_config(config);
  });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config) {
  return guarded("cudaFuncSetSharedMemConfig", [&](Runtime& runtime) {
    runtime.require_function(kernel);
    require_config(config);
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block, size_t shared) {
  return guarded("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Runtime& runtime) {
    require_places(blocks);
    require(block > 0, cudaErrorInvalidValue, "a block has threads");
    const Function& function = runtime.function(kernel);
    const auto answer = runtime.ask(
        {Call::occupancy, 0, {function.id, static_cast<std::uint64_t>(block), shared, carve_out_of(function)}, 0});
    *blocks = static_cast<int>(answer.words[0]);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int block,
                                                                   size_t shared, unsigned int flags) {
  const cudaError_t error = guarded("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&](Runtime&) {
    constexpr unsigned kDisableCachingOverride = 1;
    require((flags & ~kDisableCachingOverride) == 0, cudaErrorInvalidValue, "there is no such flag");
  });
  if (error != cudaSuccess) return error;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block, shared);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* kernel, int blocks, int block) {
  return guarded("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Runtime& runtime) {
    require_places(bytes);
    require(blocks > 0 && block > 0, cudaErrorInvalidValue, "at least one block, with threads, is to be resident");
    const std::size_t whole = runtime.machine().shared_bytes / static_cast<std::size_t>(blocks);
    const std::size_t own = runtime.function(kernel).attributes.sharedSizeBytes;
    *bytes = whole - std::min(whole, own);
  });
}

// Of nvcc's programs (12 and later): a kernel's handle is its stub.
cudaError_t __cudaGetKernel(void** handle, const void* stub);
cudaError_t __cudaGetKernel(void** handle, const void* stub) {
  *handle = const_cast<void*>(stub);
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(void* handle, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel(void* handle, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  return cudaLaunchKernel(handle, grid, block, arguments, shared, stream);
}

}  // extern "C"
#pragma GCC visibility pop
