// What programs can ask of the device: each value by each way to ask for it.
#include "cuda/cudart/device_facts.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace heddle::cudart {
namespace {

// Every number is another one.
MachineFacts machine_of_primes() {
  MachineFacts machine;
  std::strncpy(machine.name, "primes", sizeof machine.name - 1);
  machine.memory_bytes = std::uint64_t{3} << 32U;
  machine.shared_bytes = 5;
  machine.constant_bytes = 7;
  machine.cores = 11;
  machine.core_threads = 13;
  std::copy_n(std::vector<std::uint32_t>{17, 19, 23}.begin(), 3, machine.most_block);
  std::copy_n(std::vector<std::uint32_t>{29, 31, 37}.begin(), 3, machine.most_grid);
  machine.core_blocks = 41;
  machine.core_registers = 43;
  machine.warp_lanes = 47;
  machine.clock_khz = 53;
  machine.memory_khz = 59;
  machine.memory_bits = 61;
  machine.l2_bytes = 67;
  machine.architecture = 739;
  machine.cooperates = 1;
  return machine;
}

template <class Properties>
std::vector<std::size_t> values_in_both(const Properties& p) {
  const auto ints = {p.regsPerBlock,
                     p.warpSize,
                     p.maxThreadsPerBlock,
                     p.maxThreadsDim[0],
                     p.maxThreadsDim[1],
                     p.maxThreadsDim[2],
                     p.maxGridSize[0],
                     p.maxGridSize[1],
                     p.maxGridSize[2],
                     p.major,
                     p.minor,
                     p.multiProcessorCount,
                     p.canMapHostMemory,
                     p.concurrentKernels,
                     p.asyncEngineCount,
                     p.unifiedAddressing,
                     p.memoryBusWidth,
                     p.l2CacheSize,
                     p.maxThreadsPerMultiProcessor,
                     p.globalL1CacheSupported,
                     p.localL1CacheSupported,
                     p.regsPerMultiprocessor,
                     p.managedMemory,
                     p.cooperativeLaunch,
                     p.maxBlocksPerMultiProcessor,
                     p.integrated,
                     p.ECCEnabled,
                     p.streamPrioritiesSupported};
  std::vector<std::size_t> values = {p.totalGlobalMem,
                                     p.sharedMemPerBlock,
                                     p.memPitch,
                                     p.totalConstMem,
                                     p.textureAlignment,
                                     p.texturePitchAlignment,
                                     p.sharedMemPerMultiprocessor,
                                     p.sharedMemPerBlockOptin};
  values.insert(values.end(), ints.begin(), ints.end());
  return values;
}

TEST(DeviceFacts, ArePropertiesOfBothLayouts) {
  const MachineFacts machine = machine_of_primes();
  const std::vector<std::size_t> expected = {std::size_t{3} << 32U,
                                             5,
                                             0x7fffffff,
                                             7,
                                             512,
                                             32,
                                             5,
                                             5,  //
                                             43,
                                             47,
                                             17,
                                             17,
                                             19,
                                             23,
                                             29,
                                             31,
                                             37,
                                             73,
                                             9,
                                             11,
                                             1,
                                             1,
                                             1,
                                             1,
                                             61,
                                             67,
                                             13,
                                             1,
                                             1,
                                             43,
                                             1,
                                             1,
                                             41,
                                             0,
                                             0,
                                             0};
  const cudaDeviceProp properties = device_properties(machine);
  EXPECT_STREQ(properties.name, "primes");
  EXPECT_EQ(values_in_both(properties), expected);
  EXPECT_EQ(properties.clockRate, 53);
  EXPECT_EQ(properties.memoryClockRate, 59);
  EXPECT_EQ(properties.deviceOverlap, 1);
  EXPECT_EQ(properties.singleToDoublePrecisionPerfRatio, 1);
  EXPECT_EQ(properties.kernelExecTimeoutEnabled, 0);
  const Properties13 of_13 = device_properties_13(machine);
  EXPECT_STREQ(of_13.name, "primes");
  EXPECT_EQ(values_in_both(of_13), expected);
  EXPECT_EQ(of_13.memoryPoolsSupported, 1);
  const Properties12 of_12 = device_properties_12(machine);
  EXPECT_EQ(values_in_both(of_12), expected);
  EXPECT_EQ(of_12.clockRate, 53);
  // Where release 12 has them: behind what release 11 has.
  const auto* const words = reinterpret_cast<const int*>(&of_12);
  EXPECT_EQ(words[sizeof(cudaDeviceProp) / sizeof(int)], 1);  // hostRegisterSupported
  EXPECT_EQ(words[sizeof(cudaDeviceProp) / sizeof(int) + 1], 0);
  EXPECT_EQ(words[sizeof(cudaDeviceProp) / sizeof(int) + 4], 1);  // memoryPoolsSupported
}

// In the order of their numbers; attributes that no property has stand by themselves.
TEST(DeviceFacts, AreAttributes) {
  const MachineFacts machine = machine_of_primes();
  std::vector<std::pair<int, int>> known;
  for (int attribute = -1; attribute <= 200; ++attribute) {
    const std::optional<int> value = device_attribute(machine, attribute);
    EXPECT_EQ(value.has_value(), attribute >= 1 && attribute <= 119) << attribute;
    if (value.value_or(0) != 0) {
      known.emplace_back(attribute, *value);
    }
  }
  const std::vector<std::pair<int, int>> expected = {
      {1, 17},          {2, 17},  {3, 19},  {4, 23},   {5, 29},  {6, 31},  {7, 37},   {8, 5},  {9, 7},   {10, 47},
      {11, 0x7fffffff}, {12, 43}, {13, 53}, {14, 512}, {15, 1},  {16, 11}, {19, 1},   {31, 1}, {36, 59}, {37, 61},
      {38, 67},         {39, 13}, {40, 1},  {41, 1},   {51, 32}, {75, 73}, {76, 9},   {79, 1}, {80, 1},  {81, 5},
      {82, 43},         {83, 1},  {87, 1},  {95, 1},   {97, 5},  {99, 1},  {106, 41}, {115, 1}};
  EXPECT_EQ(known, expected);
}

}  // namespace
}  // namespace heddle::cudart
