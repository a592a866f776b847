/* Of NVIDIA's code samples, from release 5 on: helper_cuda.h for programs of the driver API (docs/cuda.md). C++
   alone. */
#ifndef COMMON_HELPER_CUDA_DRVAPI_H_
#define COMMON_HELPER_CUDA_DRVAPI_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "cuda.h"
#include "helper_cuda.h"

inline const char* _cudaGetErrorEnum(CUresult error) {
  const char* name = NULL;
  return cuGetErrorName(error, &name) == CUDA_SUCCESS ? name : "<unknown>";
}

template <class T>
inline void getCudaAttribute(T* value, CUdevice_attribute attribute, int device) {
  int number = 0;
  checkCudaErrors(cuDeviceGetAttribute(&number, attribute, device));
  *value = static_cast<T>(number);
}

inline int _ConvertSMVer2CoresDRV(int major, int minor) {
  return _ConvertSMVer2Cores(major, minor);
}

inline int gpuDeviceInitDRV(int argc, const char** argv) {
  int count = 0;
  checkCudaErrors(cuInit(0));
  checkCudaErrors(cuDeviceGetCount(&count));
  const int device = getCmdLineArgumentInt(argc, argv, "device");
  if (device < 0 || device >= count) {
    fprintf(stderr, "There is no device %d: there are %d.\n", device, count);
    return -1;
  }
  char name[100];
  checkCudaErrors(cuDeviceGetName(name, static_cast<int>(sizeof name), device));
  printf("Device %d: \"%s\"\n", device, name);
  return device;
}

inline int gpuGetMaxGflopsDeviceIdDRV() {
  checkCudaErrors(cuInit(0));
  return gpuGetMaxGflopsDeviceId();
}

inline CUdevice findCudaDeviceDRV(int argc, const char** argv) {
  int number = 0;
  if (checkCmdLineFlag(argc, argv, "device")) {
    number = gpuDeviceInitDRV(argc, argv);
    if (number < 0) exit(EXIT_FAILURE);
  } else {
    number = gpuGetMaxGflopsDeviceIdDRV();
  }
  CUdevice device = 0;
  checkCudaErrors(cuDeviceGet(&device, number));
  return device;
}

inline CUdevice findIntegratedGPUDrv() {
  checkCudaErrors(cuInit(0));
  return findIntegratedGPU();
}

inline bool checkCudaCapabilitiesDRV(int major, int minor, int device) {
  int has_major = 0, has_minor = 0;
  getCudaAttribute(&has_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  getCudaAttribute(&has_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return has_major > major || (has_major == major && has_minor >= minor);
}

/* Where a module's file is, and all that is in it. */
inline bool findFatbinPath(const char* file, std::string& path, char** argv, std::ostringstream& contents) {
  char* const found = sdkFindFilePath(file, argv == NULL ? NULL : argv[0]);
  if (found == NULL) {
    fprintf(stderr, "There is no file %s beside the program.\n", file);
    return false;
  }
  path = found;
  free(found);
  std::ifstream in(path.c_str(), std::ios::binary);
  contents << in.rdbuf();
  return true;
}

#endif
