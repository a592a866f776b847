/* Of NVIDIA's code samples, from release 5 on: checked calls, and the choice of a device (docs/cuda.md). C++ alone. */
#ifndef COMMON_HELPER_CUDA_H_
#define COMMON_HELPER_CUDA_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

inline const char* _cudaGetErrorEnum(cudaError_t error) {
  return cudaGetErrorName(error);
}
/* Of a library's calls; helper_cuda_drvapi.h has that of the driver API. */
template <typename T>
inline const char* _cudaGetErrorEnum(T) {
  return "<unknown>";
}

template <typename T>
void check(T result, const char* const call, const char* const file, const int line) {
  if (static_cast<int>(result) == 0) return;
  fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, static_cast<int>(result),
          _cudaGetErrorEnum(result), call);
  exit(EXIT_FAILURE);
}

#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline bool __printLastCudaError(const char* message, const char* file, const int line) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return false;
  fprintf(stderr, "%s(%i): CUDA error: %s: (%d) %s.\n", file, line, message, static_cast<int>(error),
          cudaGetErrorString(error));
  return true;
}
inline void __getLastCudaError(const char* message, const char* file, const int line) {
  if (__printLastCudaError(message, file, line)) exit(EXIT_FAILURE);
}

/* To the nearest. */
inline int ftoi(float value) {
  return static_cast<int>(value >= 0 ? value + 0.5 : value - 0.5);
}

/* The arithmetic units for 32-bit numbers in a multiprocessor of a compute capability (the table "Arithmetic
   Instructions" of the CUDA C++ Programming Guide), and the name of its generation. */
inline int _ConvertSMVer2Cores(int major, int minor) {
  switch (major) {
    case 1:
      return 8;
    case 2:
      return minor == 0 ? 32 : 48;
    case 3:
      return 192;
    case 5:
      return 128;
    case 6:
      return minor == 0 ? 64 : 128;
    case 7:
      return 64;
    case 8:
      return minor == 0 ? 64 : 128;
    default:
      return 128;
  }
}
inline const char* _ConvertSMVer2ArchName(int major, int minor) {
  static const char* const names[] = {"", "Tesla", "Fermi", "Kepler", "", "Maxwell", "Pascal"};
  if (major >= 1 && major <= 6 && major != 4) return names[major];
  if (major == 7) return minor < 5 ? "Volta" : "Turing";
  if (major == 8) return minor < 9 ? "Ampere" : "Ada";
  return major == 9 ? "Hopper" : "Blackwell";
}

/* Takes a device. What is returned is its number, or negative: it is not there, or not for use. */
inline int gpuDeviceInit(int device) {
  int count = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  if (count == 0) {
    fprintf(stderr, "There is no device that supports CUDA.\n");
    exit(EXIT_FAILURE);
  }
  if (device < 0) device = 0;
  if (device >= count) {
    fprintf(stderr, "There is no device %d: there are %d.\n", device, count);
    return -device;
  }
  cudaDeviceProp facts;
  checkCudaErrors(cudaGetDeviceProperties(&facts, device));
  checkCudaErrors(cudaSetDevice(device));
  printf("Device %d: \"%s\", compute capability %d.%d\n", device, facts.name, facts.major, facts.minor);
  return device;
}

/* The device with the most arithmetic units times clock rate. */
inline int gpuGetMaxGflopsDeviceId() {
  int count = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  int best = 0;
  double most = -1;
  for (int device = 0; device < count; ++device) {
    int cores = 0, clock = 0, major = 0, minor = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device));
    checkCudaErrors(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    const double performance = static_cast<double>(cores) * _ConvertSMVer2Cores(major, minor) * clock;
    if (performance > most) {
      most = performance;
      best = device;
    }
  }
  if (count == 0) {
    fprintf(stderr, "There is no device that supports CUDA.\n");
    exit(EXIT_FAILURE);
  }
  return best;
}

/* The device of the command line (-device=N), else the fastest. */
inline int findCudaDevice(int argc, const char** argv) {
  const bool named = checkCmdLineFlag(argc, argv, "device");
  const int device = gpuDeviceInit(named ? getCmdLineArgumentInt(argc, argv, "device") : gpuGetMaxGflopsDeviceId());
  if (device < 0) exit(EXIT_FAILURE);
  return device;
}

/* A device that shares the host's memory, or -1. */
inline int findIntegratedGPU() {
  int count = 0;
  checkCudaErrors(cudaGetDeviceCount(&count));
  for (int device = 0; device < count; ++device) {
    int integrated = 0;
    checkCudaErrors(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, device));
    if (integrated != 0) return gpuDeviceInit(device);
  }
  return -1;
}

/* Whether the device in use has at least this compute capability. */
inline bool checkCudaCapabilities(int major, int minor) {
  int device = 0, has_major = 0, has_minor = 0;
  checkCudaErrors(cudaGetDevice(&device));
  checkCudaErrors(cudaDeviceGetAttribute(&has_major, cudaDevAttrComputeCapabilityMajor, device));
  checkCudaErrors(cudaDeviceGetAttribute(&has_minor, cudaDevAttrComputeCapabilityMinor, device));
  if (has_major > major || (has_major == major && has_minor >= minor)) return true;
  printf("Device %d has compute capability %d.%d; %d.%d is wanted.\n", device, has_major, has_minor, major, minor);
  return false;
}

#endif
