// The run-time API's launches and what it says of kernels.
#include <cstring>

#include "tb/cudart/runtime.hpp"

using heddle::cudart::Call;
using heddle::cudart::Function;
using heddle::cudart::guarded;
using heddle::cudart::number_of;
using heddle::cudart::Question;
using heddle::cudart::require;
using heddle::cudart::Runtime;

namespace {

// kernel<<<...>>>(...) tells these, then calls the kernel's stub, which takes them back and launches.
struct Configuration {
  dim3 grid, block;
  size_t shared = 0;
  void* stream = nullptr;
};
thread_local std::vector<Configuration> configurations;

std::uint64_t pair(std::uint64_t low, std::uint64_t high) {
  return low | high << 32U;
}

void launch(Runtime& runtime, const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
            cudaStream_t stream) {
  Function& function = runtime.function(kernel);
  std::vector<std::byte> bytes(function.parameter_bytes);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    std::memcpy(bytes.data() + function.parameters[i].offset, arguments[i], function.parameters[i].size);
  }
  const std::uint64_t on = stream == cudaStreamLegacy || stream == cudaStreamPerThread ? 0 : number_of(stream);
  runtime.to_device();
  const Question question{
      Call::launch,
      0,
      {function.id, pair(grid.x, grid.y), pair(grid.z, block.x), pair(block.y, block.z), shared, on},
      bytes.size()};
  runtime.ask(question, bytes.data());
  runtime.keep_print({reinterpret_cast<const char*>(runtime.bytes().data()), runtime.bytes().size()});
  runtime.from_device();
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations.empty()) return cudaErrorMissingConfiguration;
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<void**>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return guarded("kernel launch",
                 [&](Runtime& runtime) { launch(runtime, kernel, grid, block, arguments, shared, stream); });
}
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  return guarded("cudaLaunchCooperativeKernel", [](Runtime&) {
    require(false, cudaErrorNotSupported, "grids that synchronise as a whole are not supported");
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return guarded("cudaFuncGetAttributes", [&](Runtime& runtime) { *attributes = runtime.function(kernel).attributes; });
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return guarded("cudaFuncSetAttribute", [&](Runtime& runtime) {
    Function& function = runtime.function(kernel);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      require(value >= 0 && value <= function.attributes.maxDynamicSharedSizeBytes, cudaErrorInvalidValue,
              "the machine has no scratchpad of this size");
    } else {
      require(attribute == cudaFuncAttributePreferredSharedMemoryCarveout, cudaErrorInvalidValue, "");
    }
  });
}
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) {
  return cudaSuccess;  // scratchpad and L1 of these machines are apart
}
cudaError_t cudaFuncSetSharedMemConfig(const void*, cudaSharedMemConfig) {
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int block, size_t shared) {
  return guarded("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Runtime& runtime) {
    require(block > 0, cudaErrorInvalidValue, "a block has threads");
    const Function& function = runtime.function(kernel);
    const auto answer = runtime.ask({Call::occupancy, 0, {function.id, static_cast<std::uint64_t>(block), shared}, 0});
    *blocks = static_cast<int>(answer.words[0]);
  });
}

}  // extern "C"
#pragma GCC visibility pop
