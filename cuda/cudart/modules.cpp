// The driver API's modules and kernels.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "cuda/cudart/device_code.hpp"
#include "cuda/cudart/driver.hpp"

struct CUmod_st {
  std::size_t unit = 0;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
  heddle::cudart::Living<CUmod_st> living{this};
};

using namespace heddle::cudart;

namespace heddle::cudart {

std::string ptx_of(const void* image, std::uint32_t architecture) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == kWrapperMagic) {
    std::memcpy(&image, static_cast<const char*>(image) + 2 * sizeof magic, sizeof image);
    std::memcpy(&magic, image, sizeof magic);
  }
  if (magic == kFatBinaryMagic) {
    const DeviceCode code = device_code(image);
    if (!code.refusal.empty()) throw Result{CUDA_ERROR_NO_BINARY_FOR_GPU, code.refusal};
    return code.ptx_for(architecture);
  }
  if (std::memcmp(image,
                  "\x7f"
                  "ELF",
                  4) == 0) {
    throw Result{CUDA_ERROR_NO_BINARY_FOR_GPU, "this is machine code of real GPUs (cubin); make PTX by nvcc -ptx"};
  }
  std::string text = static_cast<const char*>(image);
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

std::string ptx_in(const std::string& image, std::uint32_t architecture) {
  FatBinaryHeader header;
  std::memcpy(&header, image.data(), std::min(image.size(), sizeof header));
  const bool contained = image.size() >= sizeof header.magic && header.magic == kFatBinaryMagic;
  if (contained && (image.size() < sizeof header || image.size() < header.header_bytes ||
                    image.size() - header.header_bytes < header.bytes)) {
    throw Result{CUDA_ERROR_INVALID_IMAGE, "the fat binary is cut off"};
  }
  if (image.size() >= sizeof header.magic && header.magic == kWrapperMagic) {
    throw Result{CUDA_ERROR_INVALID_IMAGE, "this points to a fat binary, and is none"};
  }
  return ptx_of((image + std::string(sizeof header, '\0')).data(), architecture);
}

std::string file_of_code(const char* file) {
  std::ifstream in(file, std::ios::binary);
  std::string image{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw Result{CUDA_ERROR_FILE_NOT_FOUND, std::string("the file '") + file + "' cannot be read"};
  require(!image.empty(), cudaErrorInvalidKernelImage, "the file is empty");
  return image;
}

void tell(unsigned int count, const CUjit_option* options, void** values, CUjit_option buffer, CUjit_option size,
          const std::string& text) {
  if (count != 0) require_places(options, values);
  char* to = nullptr;
  std::size_t room = 0;
  for (unsigned int i = 0; i < count; ++i) {
    if (options[i] == buffer) to = static_cast<char*>(values[i]);
    if (options[i] == size) room = reinterpret_cast<std::uintptr_t>(values[i]);
  }
  if (to == nullptr || room == 0) return;
  const std::size_t kept = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), kept);
  to[kept] = 0;
}

}  // namespace heddle::cudart

namespace {

CUmodule load(Runtime& runtime, const std::string& ptx) {
  auto module = std::make_unique<CUmod_st>();
  module->unit = runtime.load_module(ptx);
  return module.release();
}
CUmodule load(Runtime& runtime, const void* image) {
  require_places(image);
  return load(runtime, ptx_of(image, runtime.machine().architecture));
}

Function& known_function(Runtime& runtime, CUfunction function) {
  require(function != nullptr, cudaErrorInvalidResourceHandle, "the kernel is null");
  require(Living<CUfunc_st>::has(function), cudaErrorInvalidResourceHandle, "there is no such kernel");
  runtime.find(function->function);
  return function->function;
}
CUmod_st& known_module(CUmodule module) {
  require(module != nullptr, cudaErrorInvalidResourceHandle, "the module is null");
  require(Living<CUmod_st>::has(module), cudaErrorInvalidResourceHandle, "there is no such module");
  return *module;
}

// Arguments as one block of bytes: CU_LAUNCH_PARAM_BUFFER_POINTER and its size.
std::vector<std::byte> arguments_of(void** extra, std::size_t bytes) {
  const void* from = nullptr;
  std::size_t size = 0;
  require_places(extra);
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    require_places(extra[1]);
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) from = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) std::memcpy(&size, extra[1], sizeof size);
  }
  require(from != nullptr && size >= bytes, cudaErrorInvalidValue, "the buffer of arguments is smaller than they are");
  std::vector<std::byte> arguments(bytes);
  std::memcpy(arguments.data(), from, bytes);
  return arguments;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return in_context("cuModuleLoadData", [&](Runtime& runtime) {
    require_places(module);
    *module = load(runtime, image);
  });
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  return in_context("cuModuleLoadDataEx", [&](Runtime& runtime) {
    require_places(module);
    tell(count, options, values, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
    try {
      *module = load(runtime, image);
    } catch (const Failure& failure) {
      tell(count, options, values, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, failure.text);
      throw;
    }
  });
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}
CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return in_context("cuModuleLoad", [&](Runtime& runtime) {
    require_places(module, file);
    *module = load(runtime, ptx_in(file_of_code(file), runtime.machine().architecture));
  });
}
// Its code stays until the program ends: launches of it are in the statistics.
CUresult cuModuleUnload(CUmodule module) {
  return in_context("cuModuleUnload", [&](Runtime&) { delete &known_module(module); });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return in_context("cuModuleGetFunction", [&](Runtime& runtime) {
    require_places(function, name);
    std::unique_ptr<CUfunc_st>& entry = known_module(module).functions[name];
    if (!entry) {
      auto made = std::make_unique<CUfunc_st>();
      made->function.unit = module->unit;
      made->function.name = name;
      made->module = module;
      runtime.find(made->function);
      entry = std::move(made);
    }
    *function = entry.get();
  });
}
CUresult cuModuleGetGlobal(CUdeviceptr* pointer, size_t* size, CUmodule module, const char* name) {
  return in_context("cuModuleGetGlobal", [&](Runtime& runtime) {
    require_places(name);
    Symbol symbol;
    symbol.unit = known_module(module).unit;
    symbol.name = name;
    runtime.find(symbol);
    runtime.remember(symbol.address, symbol.size);
    if (pointer != nullptr) *pointer = symbol.address;
    if (size != nullptr) *size = symbol.size;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                        CUstream stream, void** arguments, void** extra) {
  return in_context("cuLaunchKernel", [&](Runtime& runtime) {
    Function& kernel = known_function(runtime, function);
    const dim3 grid{grid_x, grid_y, grid_z};
    const dim3 block{block_x, block_y, block_z};
    if (extra != nullptr && arguments == nullptr) {
      launch(runtime, {&kernel, grid, block, shared, arguments_of(extra, kernel.parameter_bytes), nullptr, false},
             stream);
      return;
    }
    launch(runtime, launch_of(kernel, grid, block, arguments, shared), stream);
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                   unsigned int shared, CUstream stream, void** arguments) {
  return in_context("cuLaunchCooperativeKernel", [&](Runtime& runtime) {
    Function& kernel = known_function(runtime, function);
    Launch cooperative = launch_of(kernel, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, arguments, shared);
    cooperative.cooperative = true;
    launch(runtime, cooperative, stream);
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return in_context("cuFuncGetAttribute", [&](Runtime& runtime) {
    require_places(value);
    const cudaFuncAttributes& has = known_function(runtime, function).attributes;
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = has.maxThreadsPerBlock;
        return;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = static_cast<int>(has.sharedSizeBytes);
        return;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = static_cast<int>(has.localSizeBytes);
        return;
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = has.numRegs;
        return;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = has.ptxVersion;
        return;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = has.maxDynamicSharedSizeBytes;
        return;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        return;
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = has.preferredShmemCarveout;
        return;
    }
    throw Result{CUDA_ERROR_INVALID_VALUE, "this attribute is not known"};
  });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return in_context("cuFuncSetAttribute", [&](Runtime& runtime) {
    Function& kernel = known_function(runtime, function);
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
      limit_shared(runtime, kernel, value);
    } else {
      require(attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, cudaErrorInvalidValue,
              "this attribute cannot be set");
      require(value >= -1 && value <= 100, cudaErrorInvalidValue, "the part is a percentage, or -1");
      kernel.attributes.preferredShmemCarveout = value;
    }
  });
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return in_context("cuFuncSetCacheConfig",
                    [&](Runtime& runtime) { static_cast<void>(known_function(runtime, function)); });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return in_context("cuFuncGetModule", [&](Runtime& runtime) {
    require_places(module);
    static_cast<void>(known_function(runtime, function));
    *module = function->module;
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block, size_t shared) {
  return in_context("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&](Runtime& runtime) {
    require_places(blocks);
    require(block > 0, cudaErrorInvalidValue, "a block has threads");
    const Function& kernel = known_function(runtime, function);
    const Answer answer = runtime.ask({Call::occupancy, 0, {kernel.id, static_cast<std::uint64_t>(block), shared}, 0});
    *blocks = static_cast<int>(answer.words[0]);
  });
}

}  // extern "C"
#pragma GCC visibility pop
