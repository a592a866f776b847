// A program in the style of NVIDIA's samples since release 5: every helper header, each part checked by itself. Its
// module lies beside it as scale.fatbin.
#include <cuda.h>
#include <helper_cuda.h>
#include <helper_cuda_drvapi.h>
#include <helper_functions.h>
#include <helper_math.h>

static int checks = 0;
#define EXPECT(what)                            \
  do {                                          \
    ++checks;                                   \
    if (!(what)) {                              \
      printf("line %d: %s\n", __LINE__, #what); \
      exit(9);                                  \
    }                                           \
  } while (0)

// Its alignment stands where g++ takes it and clang does not.
__device__ alignas(16) float offsets[4] = {0.5f, 1.5f, 2.5f, 3.5f};
extern __shared__ alignas(float4) unsigned char dynamic[];

__global__ void twice(float* p) {
  __shared__ alignas(alignof(float4)) float all[32];
  all[threadIdx.x] = p[threadIdx.x];
  float4* const own = reinterpret_cast<float4*>(dynamic);
  if (threadIdx.x == 0) own[0] = make_float4(2, 2, 2, 2) + *reinterpret_cast<float4*>(offsets);
  __syncthreads();
  p[threadIdx.x] = all[threadIdx.x ^ 1] * 2 + own[0].y;
}
__global__ void nothing() {}

void command_line(int argc, const char** argv) {
  EXPECT(checkCmdLineFlag(argc, argv, "verbose") && !checkCmdLineFlag(argc, argv, "verb"));
  EXPECT(getCmdLineArgumentInt(argc, argv, "n") == 7 && getCmdLineArgumentInt(argc, argv, "m") == 0);
  EXPECT(getCmdLineArgumentFloat(argc, argv, "ratio") == 1.5f);
  char* text = NULL;
  EXPECT(getCmdLineArgumentString(argc, argv, "file", &text) && strcmp(text, "a=b") == 0);
  EXPECT(!getCmdLineArgumentString(argc, argv, "other", &text) && text == NULL);
  unsigned int number = 3;
  EXPECT(getCmdLineArgumentValue(argc, argv, "n", &number) && number == 7);
  EXPECT(getCmdLineArgumentValue(argc, argv, "verbose", &number) && number == 0);
  EXPECT(!getCmdLineArgumentValue(argc, argv, "other", &number));
  char name[] = "dir.x/picture.pgm";
  char* ending = NULL;
  EXPECT(getFileExtension(name, &ending) == 14 && STRCASECMP(ending, "PGM") == 0);
  EXPECT(stringRemoveDelimiter('-', "--n") == 2);
}

void timers() {
  StopWatchInterface* timer = NULL;
  EXPECT(sdkCreateTimer(&timer) && sdkGetAverageTimerValue(&timer) == 0.0f);
  for (int i = 0; i < 2; ++i) {
    EXPECT(sdkStartTimer(&timer));
    while (sdkGetTimerValue(&timer) < 2.0f * (i + 1)) {
    }
    EXPECT(sdkStopTimer(&timer));
  }
  const float total = sdkGetTimerValue(&timer);
  EXPECT(total >= 4.0f && total == sdkGetTimerValue(&timer) && sdkGetAverageTimerValue(&timer) == total / 2);
  EXPECT(sdkResetTimer(&timer) && sdkGetTimerValue(&timer) == 0.0f);
  EXPECT(sdkDeleteTimer(&timer) && timer == NULL && !sdkStartTimer(&timer) && !sdkDeleteTimer(&timer));
}

void pictures(const std::string& folder) {
  const std::string grey = folder + "grey.pgm", colours = folder + "colours.ppm", numbers = folder + "numbers.txt";
  unsigned char pixels[6] = {0, 51, 102, 153, 204, 255};
  EXPECT(sdkSavePGM(grey.c_str(), pixels, 3, 2));
  float* parts = NULL;
  unsigned int width = 0, height = 0;
  EXPECT(sdkLoadPGM(grey.c_str(), &parts, &width, &height) && width == 3 && height == 2);
  EXPECT(parts[1] == 51.0f / 255.0f && parts[5] == 1.0f);
  EXPECT(sdkSavePGM((folder + "again.pgm").c_str(), parts, 3, 2));
  EXPECT(sdkComparePGM((folder + "again.pgm").c_str(), grey.c_str(), 0.0f, 0.0f, false));
  free(parts);
  unsigned char four[8] = {1, 2, 3, 9, 4, 5, 6, 9};
  EXPECT(sdkSavePPM4ub(colours.c_str(), four, 2, 1));
  unsigned char *loaded = NULL, *plain = NULL;
  EXPECT(sdkLoadPPM4ub(colours.c_str(), &loaded, &width, &height) && width == 2 && height == 1);
  EXPECT(loaded[2] == 3 && loaded[3] == 0 && loaded[4] == 4);
  EXPECT(sdkLoadPPMub(colours.c_str(), &plain, &width, &height) && plain[3] == 4);
  EXPECT(sdkComparePPM(colours.c_str(), colours.c_str(), 0.0f, 0.0f, false));
  EXPECT(!sdkComparePPM(colours.c_str(), grey.c_str(), 0.0f, 0.0f, false));
  free(loaded);
  free(plain);
  std::ofstream(grey.c_str()) << "P5 # a comment\n3\n# another\n2 255\nabcde";  // a pixel is missing
  plain = NULL;
  EXPECT(!sdkLoadPGM(grey.c_str(), &plain, &width, &height) && plain == NULL);
  std::ofstream(grey.c_str(), std::ios::app) << "f";
  EXPECT(sdkLoadPGM(grey.c_str(), &plain, &width, &height) && plain[5] == 'f');
  free(plain);

  const float values[3] = {1.5f, -2, 4};
  float* read = NULL;
  unsigned int count = 0;
  EXPECT(sdkWriteFile(numbers.c_str(), values, 3, 0.5f, false));
  EXPECT(sdkReadFile(numbers.c_str(), &read, &count, false) && count == 3 && read[1] == -2);
  EXPECT(compareData(values, read, 3, 0.0f, 0.0f));
  read[2] = 4.25f;
  EXPECT(!compareData(values, read, 3, 0.125f, 0.0f) && compareData(values, read, 3, 0.125f, 0.5f));
  EXPECT(sdkCompareL2fe(values, read, 3, 0.0625f) && !sdkCompareL2fe(values, read, 3, 0.03125f));
  sdkDumpBin(read, 12, (folder + "read.bin").c_str());
  sdkDumpBin(const_cast<float*>(values), 12, (folder + "values.bin").c_str());
  const std::string given = folder + "read.bin", expected = folder + "values.bin";
  EXPECT(sdkCompareBin2BinFloat(given.c_str(), expected.c_str(), 3, 0.25f, 0.0f, NULL));
  EXPECT(!sdkCompareBin2BinFloat(given.c_str(), expected.c_str(), 3, 0.125f, 0.0f, NULL));
  EXPECT(!sdkCompareBin2BinUint(given.c_str(), expected.c_str(), 4, 1e30f, 0.0f, NULL));  // too short
  free(read);
}

// A link gives what it was given; what it does not take is told, and so are addresses that programs map memory to.
void links(const std::string& module) {
  static const char text[] =
      ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry one(.param .u64 p) {\n.reg .u64 %a;\n"
      "ld.param.u64 %a, [p];\nst.global.u32 [%a], 42;\nret;\n}\n";
  void* const data = const_cast<char*>(text);
  void* const contained = const_cast<char*>(module.data());
  char log[4] = "abc";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState link;
  void* image = NULL;
  size_t size = 0;
  checkCudaErrors(cuLinkCreate(2, options, values, &link));
  EXPECT(log[0] == '\0');
  EXPECT(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuLinkAddData(link, CU_JIT_INPUT_OBJECT, data, 4, "", 0, 0, 0) == CUDA_ERROR_NOT_SUPPORTED);
  EXPECT(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, contained, 12, "", 0, 0, 0) == CUDA_ERROR_INVALID_IMAGE);
  EXPECT(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, contained, module.size() - 1, "", 0, 0, 0) ==
         CUDA_ERROR_INVALID_IMAGE);
  EXPECT(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/no.such.file", 0, 0, 0) == CUDA_ERROR_FILE_NOT_FOUND);
  checkCudaErrors(cuLinkAddData(link, CU_JIT_INPUT_PTX, data, sizeof text, "one", 0, 0, 0));
  EXPECT(cuLinkAddData(link, CU_JIT_INPUT_PTX, data, sizeof text, "one", 0, 0, 0) == CUDA_ERROR_NOT_SUPPORTED);
  checkCudaErrors(cuLinkComplete(link, &image, &size));
  CUmodule made;
  CUfunction one;
  CUdeviceptr memory;
  int value = 0;
  checkCudaErrors(cuModuleLoadData(&made, image));
  EXPECT(cuLinkDestroy(link) == CUDA_SUCCESS && cuLinkDestroy(link) == CUDA_ERROR_INVALID_HANDLE);
  checkCudaErrors(cuModuleGetFunction(&one, made, "one"));
  checkCudaErrors(cuMemAlloc(&memory, 4));
  void* arguments[] = {&memory};
  checkCudaErrors(cuLaunchKernel(one, 1, 1, 1, 1, 1, 1, 0, 0, arguments, NULL));
  checkCudaErrors(cuMemcpyDtoH(&value, memory, 4));
  EXPECT(value == 42);
  CUmemAllocationProp facts = {};
  facts.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  EXPECT(cuMemGetAllocationGranularity(&size, &facts, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_ERROR_NOT_SUPPORTED);
}

void driver(int argc, char** argv) {
  const CUdevice device = findCudaDeviceDRV(argc, const_cast<const char**>(argv));
  int warp = 0;
  getCudaAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
  EXPECT(warp == 32 && checkCudaCapabilitiesDRV(6, 0, device) && !checkCudaCapabilitiesDRV(99, 0, device));
  CUcontext context;
  checkCudaErrors(cuCtxCreate(&context, 0, device));
  std::string path;
  std::ostringstream contents;
  EXPECT(findFatbinPath("scale.fatbin", path, argv, contents) && !contents.str().empty());
  CUmodule modules[2];
  checkCudaErrors(cuModuleLoadData(&modules[0], contents.str().c_str()));
  checkCudaErrors(cuModuleLoad(&modules[1], path.c_str()));
  for (int i = 0; i < 2; ++i) {
    CUfunction scale;
    checkCudaErrors(cuModuleGetFunction(&scale, modules[i], "scale"));
    float values[4] = {1, 2, 3, 4}, factor = 2.5f;
    int count = 4;
    CUdeviceptr memory, there;
    checkCudaErrors(cuMemAlloc(&memory, sizeof values));
    checkCudaErrors(cuMemcpyHtoD(memory, values, sizeof values));
    checkCudaErrors(cuModuleGetGlobal(&there, NULL, modules[i], "factor"));
    checkCudaErrors(cuMemcpyHtoD(there, &factor, sizeof factor));
    void* arguments[] = {&memory, &count};
    checkCudaErrors(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, 0, arguments, NULL));
    checkCudaErrors(cuMemcpyDtoH(values, memory, sizeof values));
    EXPECT(values[3] == 10.0f);
  }
  links(contents.str());
  checkCudaErrors(cuCtxDestroy(context));
}

int main(int argc, char** argv) {
  const int device = findCudaDevice(argc, const_cast<const char**>(argv));
  EXPECT(device == 0 && gpuGetMaxGflopsDeviceId() == 0 && findIntegratedGPU() == -1);
  EXPECT(checkCudaCapabilities(3, 5) && !checkCudaCapabilities(99, 0));
  EXPECT(_ConvertSMVer2Cores(6, 0) == 64 && strcmp(_ConvertSMVer2ArchName(8, 6), "Ampere") == 0);
  EXPECT(ftoi(1.5f) == 2 && ftoi(-1.5f) == -2 && MAX(2, 3) == 3 && MIN(2, 3) == 2);
  float values[32], *there = NULL;
  for (int i = 0; i < 32; ++i) values[i] = i;
  checkCudaErrors(cudaMalloc(&there, sizeof values));
  checkCudaErrors(cudaMemcpy(there, values, sizeof values, cudaMemcpyHostToDevice));
  twice<<<1, 32, 16>>>(there);
  getLastCudaError("twice");
  checkCudaErrors(cudaMemcpy(values, there, sizeof values, cudaMemcpyDeviceToHost));
  EXPECT(values[4] == 13.5f && values[5] == 11.5f);
  command_line(argc, const_cast<const char**>(argv));
  timers();
  char* const module = sdkFindFilePath("scale.fatbin", argv[0]);
  EXPECT(module != NULL && sdkFindFilePath("no.such.file", argv[0]) == NULL);
  pictures(std::string(module, strrchr(module, '/') + 1 - module));
  free(module);
  driver(argc, argv);
  printf("%d checks\n", checks);
  nothing<<<1, 2000>>>();
  printLastCudaError("too large");
  if (checkCmdLineFlag(argc, const_cast<const char**>(argv), "last")) {
    nothing<<<1, 2000>>>();
    getLastCudaError("too large");
  }
  checkCudaErrors(cudaMemcpy(there, values, 1 << 20, cudaMemcpyHostToDevice));
}
