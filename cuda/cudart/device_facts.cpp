#include "cuda/cudart/device_facts.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

namespace heddle::cudart {

namespace {

constexpr int kNoAttribute = 0;

// One thing that can be asked: the attribute's number, the value, and where the properties have it.
struct DeviceFact {
  int attribute;
  std::size_t (*value)(const MachineFacts& machine);
  void (*put)(cudaDeviceProp& properties, std::size_t value);
  void (*put_12)(Properties12& properties, std::size_t value);
  void (*put_13)(Properties13& properties, std::size_t value);
};

template <class Put>
constexpr DeviceFact fact(int attribute, std::size_t (*value)(const MachineFacts&), Put put) {
  return {attribute, value, put, put, put};
}

// Where the value is: a field of all releases' properties, of those before release 13, or of those since release 12.
#define IN_ALL(field) [](auto& p, std::size_t value) { p.field = static_cast<std::decay_t<decltype(p.field)>>(value); }
#define BEFORE_13(field)                                             \
  [](auto& p, [[maybe_unused]] std::size_t value) {                  \
    if constexpr (!std::is_same_v<decltype(p), Properties13&>) {     \
      p.field = static_cast<std::decay_t<decltype(p.field)>>(value); \
    }                                                                \
  }
#define SINCE_12(field)                                              \
  [](auto& p, [[maybe_unused]] std::size_t value) {                  \
    if constexpr (!std::is_same_v<decltype(p), cudaDeviceProp&>) {   \
      p.field = static_cast<std::decay_t<decltype(p.field)>>(value); \
    }                                                                \
  }
#define OF_MACHINE(expression) [](const MachineFacts& machine) -> std::size_t { return machine.expression; }
#define ALWAYS(number) [](const MachineFacts&) -> std::size_t { return number; }

// Not in it: what is 0 wherever it is asked.
constexpr DeviceFact kDeviceFacts[] = {
    fact(kNoAttribute, OF_MACHINE(memory_bytes), IN_ALL(totalGlobalMem)),
    fact(cudaDevAttrMaxSharedMemoryPerBlock, OF_MACHINE(shared_bytes), IN_ALL(sharedMemPerBlock)),
    fact(cudaDevAttrMaxSharedMemoryPerMultiprocessor, OF_MACHINE(shared_bytes), IN_ALL(sharedMemPerMultiprocessor)),
    fact(cudaDevAttrMaxSharedMemoryPerBlockOptin, OF_MACHINE(shared_bytes), IN_ALL(sharedMemPerBlockOptin)),
    fact(cudaDevAttrMaxRegistersPerBlock, OF_MACHINE(core_registers), IN_ALL(regsPerBlock)),
    fact(cudaDevAttrMaxRegistersPerMultiprocessor, OF_MACHINE(core_registers), IN_ALL(regsPerMultiprocessor)),
    fact(cudaDevAttrWarpSize, OF_MACHINE(warp_lanes), IN_ALL(warpSize)),
    fact(cudaDevAttrMaxPitch, ALWAYS(kMostPitch), IN_ALL(memPitch)),
    fact(cudaDevAttrMaxThreadsPerBlock, OF_MACHINE(most_block[0]), IN_ALL(maxThreadsPerBlock)),
    fact(cudaDevAttrMaxBlockDimX, OF_MACHINE(most_block[0]), IN_ALL(maxThreadsDim[0])),
    fact(cudaDevAttrMaxBlockDimY, OF_MACHINE(most_block[1]), IN_ALL(maxThreadsDim[1])),
    fact(cudaDevAttrMaxBlockDimZ, OF_MACHINE(most_block[2]), IN_ALL(maxThreadsDim[2])),
    fact(cudaDevAttrMaxGridDimX, OF_MACHINE(most_grid[0]), IN_ALL(maxGridSize[0])),
    fact(cudaDevAttrMaxGridDimY, OF_MACHINE(most_grid[1]), IN_ALL(maxGridSize[1])),
    fact(cudaDevAttrMaxGridDimZ, OF_MACHINE(most_grid[2]), IN_ALL(maxGridSize[2])),
    fact(cudaDevAttrClockRate, OF_MACHINE(clock_khz), BEFORE_13(clockRate)),
    fact(cudaDevAttrTotalConstantMemory, OF_MACHINE(constant_bytes), IN_ALL(totalConstMem)),
    fact(cudaDevAttrComputeCapabilityMajor, OF_MACHINE(architecture / 10), IN_ALL(major)),
    fact(cudaDevAttrComputeCapabilityMinor, OF_MACHINE(architecture % 10), IN_ALL(minor)),
    fact(cudaDevAttrTextureAlignment, ALWAYS(512), IN_ALL(textureAlignment)),
    fact(cudaDevAttrTexturePitchAlignment, ALWAYS(32), IN_ALL(texturePitchAlignment)),
    fact(cudaDevAttrGpuOverlap, ALWAYS(1), BEFORE_13(deviceOverlap)),
    fact(cudaDevAttrAsyncEngineCount, ALWAYS(1), IN_ALL(asyncEngineCount)),
    fact(cudaDevAttrConcurrentKernels, ALWAYS(1), IN_ALL(concurrentKernels)),
    fact(cudaDevAttrMultiProcessorCount, OF_MACHINE(cores), IN_ALL(multiProcessorCount)),
    fact(cudaDevAttrCooperativeLaunch, OF_MACHINE(cooperates), IN_ALL(cooperativeLaunch)),
    fact(cudaDevAttrCanMapHostMemory, ALWAYS(1), IN_ALL(canMapHostMemory)),
    fact(cudaDevAttrUnifiedAddressing, ALWAYS(1), IN_ALL(unifiedAddressing)),
    fact(cudaDevAttrManagedMemory, ALWAYS(1), IN_ALL(managedMemory)),
    fact(cudaDevAttrMemoryClockRate, OF_MACHINE(memory_khz), BEFORE_13(memoryClockRate)),
    fact(cudaDevAttrGlobalMemoryBusWidth, OF_MACHINE(memory_bits), IN_ALL(memoryBusWidth)),
    fact(cudaDevAttrL2CacheSize, OF_MACHINE(l2_bytes), IN_ALL(l2CacheSize)),
    fact(cudaDevAttrMaxThreadsPerMultiProcessor, OF_MACHINE(core_threads), IN_ALL(maxThreadsPerMultiProcessor)),
    fact(cudaDevAttrMaxBlocksPerMultiprocessor, OF_MACHINE(core_blocks), IN_ALL(maxBlocksPerMultiProcessor)),
    fact(cudaDevAttrGlobalL1CacheSupported, ALWAYS(1), IN_ALL(globalL1CacheSupported)),
    fact(cudaDevAttrLocalL1CacheSupported, ALWAYS(1), IN_ALL(localL1CacheSupported)),
    fact(cudaDevAttrSingleToDoublePrecisionPerfRatio, ALWAYS(1), BEFORE_13(singleToDoublePrecisionPerfRatio)),
    fact(cudaDevAttrMemoryPoolsSupported, ALWAYS(1), SINCE_12(memoryPoolsSupported)),
    fact(cudaDevAttrHostRegisterSupported, ALWAYS(1), SINCE_12(hostRegisterSupported))};

#undef IN_ALL
#undef BEFORE_13
#undef SINCE_12
#undef OF_MACHINE
#undef ALWAYS

template <class Properties, class Put>
Properties filled_in(const MachineFacts& machine, Put DeviceFact::*put) {
  Properties properties;
  std::memset(static_cast<void*>(&properties), 0, sizeof properties);
  std::strncpy(properties.name, machine.name, sizeof properties.name - 1);
  for (const DeviceFact& one : kDeviceFacts) {
    (one.*put)(properties, one.value(machine));
  }
  return properties;
}

}  // namespace

cudaDeviceProp device_properties(const MachineFacts& machine) {
  return filled_in<cudaDeviceProp>(machine, &DeviceFact::put);
}

Properties12 device_properties_12(const MachineFacts& machine) {
  return filled_in<Properties12>(machine, &DeviceFact::put_12);
}

Properties13 device_properties_13(const MachineFacts& machine) {
  return filled_in<Properties13>(machine, &DeviceFact::put_13);
}

std::optional<int> device_attribute(const MachineFacts& machine, int attribute) {
  if (attribute < cudaDevAttrMaxThreadsPerBlock || attribute > cudaDevAttrMemoryPoolSupportedHandleTypes) {
    return std::nullopt;
  }
  const auto* const found = std::find_if(std::begin(kDeviceFacts), std::end(kDeviceFacts),
                                         [attribute](const DeviceFact& one) { return one.attribute == attribute; });
  return found == std::end(kDeviceFacts) ? 0 : static_cast<int>(found->value(machine));
}

}  // namespace heddle::cudart
