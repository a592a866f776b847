#include "cuda/compiler/cuda_libraries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cuda/compiler/compiler_texts.hpp"

namespace heddle::cuda {
namespace {

constexpr std::string_view kMachineCode =
    "it comes as machine code of real GPUs only: bring kernels of your own as sources";
constexpr std::string_view kOnlyPtx =
    "tensor cores are there by mma.h, or by mma and ldmatrix in asm (docs/ptx.md), on machines that have them";

// The first that fits counts.
constexpr std::array kLibraries = {
    CudaLibrary{
        "thrust", "parallel algorithms", "thrust/*", "",
        "heddle nvcc takes it from Debian's packages libthrust-dev and libcub-dev, or from the folder of a copy by -I"},
    CudaLibrary{"CUB", "parallel algorithms", "cub/*", "",
                "heddle nvcc takes it from Debian's package libcub-dev, or from the folder of a copy by -I"},
    CudaLibrary{"cuBLAS", "matrix functions", "cublas*.h nvblas.h", "cublasXt nvblas",
                "of it there is what cublas_v2.h, cublas.h and cublasLt.h declare (docs/cuda.md lists it), linked by "
                "-lcublas",
                "cublas"},
    CudaLibrary{"the driver API", "arrays, textures and surfaces", "", "",
                "the run-time API has them: cudaMallocArray, cudaCreateTextureObject, cudaBindTextureToArray",
                "cuArray cuMipmappedArray cuTexRef cuTexObject cuSurfRef cuSurfObject cuModuleGetTexRef "
                "cuModuleGetSurfRef cuMemcpyHtoA cuMemcpyAtoH cuMemcpyDtoA cuMemcpyAtoD cuMemcpyAtoA CUDA_ARRAY "
                "CUDA_TEXTURE CUDA_RESOURCE CUarray CUtexref CUsurfref CUtexObject CUsurfObject"},
    CudaLibrary{"cuFFT", "Fourier transforms", "cufft*.h cudalibxt.h", "cufft cufftw", kMachineCode},
    CudaLibrary{"cuRAND", "random numbers", "curand*.h", "",
                "of it there are curand_kernel.h, random numbers in kernels, and what curand.h declares (docs/cuda.md "
                "lists it), linked by -lcurand",
                "curand CURAND"},
    CudaLibrary{"cuSPARSE", "sparse matrices", "cusparse*.h", "cusparse cusparseLt", kMachineCode},
    CudaLibrary{"cuSOLVER", "equation solvers", "cusolver*.h", "cusolver cusolverMg", kMachineCode},
    CudaLibrary{"cuTENSOR", "tensor functions", "cutensor*.h cutensor/*", "cutensor cutensorMg", kMachineCode},
    CudaLibrary{"cuDNN", "neural networks", "cudnn*.h", "cudnn*", kMachineCode},
    CudaLibrary{"NCCL", "communication of several GPUs", "nccl*.h", "nccl", kMachineCode},
    CudaLibrary{"NVSHMEM", "communication of several GPUs", "nvshmem*.h nvshmem/*", "nvshmem*", kMachineCode},
    CudaLibrary{"NPP", "image processing", "npp*.h", "npp*", kMachineCode},
    CudaLibrary{"nvJPEG", "pictures", "nvjpeg*.h", "nvjpeg*", kMachineCode},
    CudaLibrary{"nvGRAPH", "graph algorithms", "nvgraph*.h", "nvgraph", kMachineCode},
    CudaLibrary{"nvCOMP", "compression", "nvcomp*.h nvcomp*.hpp nvcomp/*", "nvcomp*", kMachineCode},
    CudaLibrary{"cuDSS", "sparse equation solvers", "cudss*.h", "cudss*", kMachineCode},
    CudaLibrary{"cuFile", "storage", "cufile*.h", "cufile*", kMachineCode},
    CudaLibrary{"CUDPP", "parallel algorithms", "cudpp*.h", "cudpp*", kMachineCode},
    CudaLibrary{"MAGMA", "matrix functions", "magma*.h", "magma*", kMachineCode},
    CudaLibrary{"NVIDIA's video codecs", "decoding and encoding", "nvcuvid.h cuviddec.h nvEncodeAPI.h",
                "nvcuvid nvidia-encode", kMachineCode},
    CudaLibrary{"NvSci", "communication of devices", "nvsci*.h", "nvsci*", kMachineCode},
    CudaLibrary{"OptiX", "ray tracing", "optix*.h", "optix*", kMachineCode},
    CudaLibrary{"NVRTC", "compilation at run time", "nvrtc*.h nvrtc_helper.h", "nvrtc nvrtc-builtins",
                "compile the kernels before: heddle nvcc -ptx, and cuModuleLoad loads the file"},
    CudaLibrary{"nvJitLink", "linking at run time", "nvJitLink*.h nvPTXCompiler.h", "nvJitLink nvptxcompiler",
                "cuModuleLoadData takes PTX"},
    CudaLibrary{"NVML", "management of devices", "nvml.h", "nvidia-ml",
                "cudaGetDeviceProperties describes the simulated machine"},
    CudaLibrary{"CUPTI", "profiling", "cupti*.h nvperf_*.h", "cupti nvperf_host",
                "heddle exec --report says where the time of a kernel goes"},
    CudaLibrary{"CUTLASS", "matrix functions for tensor cores", "cutlass/* cute/*", "", kOnlyPtx},
    CudaLibrary{"numbers of 4 and 6 bits", "part of CUDA C++", "cuda_fp4.h cuda_fp6.h", "",
                "cuda_fp8.h, cuda_fp16.h and cuda_bf16.h are there"},
    CudaLibrary{
        "OpenGL and its kin", "graphics",
        "cuda_gl_interop.h cudaGL.h cuda_egl_interop.h cudaEGL.h cuda_vdpau_interop.h cudaVDPAU.h "
        "cuda_d3d*_interop.h cuda_vulkan_interop.h GL/* GLES*/* EGL/* GLFW/* vulkan/* helper_gl.h rendercheck_gl.h",
        "", "the simulated machines share no memory with graphics: build the program without its window"},
    CudaLibrary{"cooperative groups", "part of CUDA C++", "cooperative_groups/*", "",
                "of it there are cooperative_groups.h and, in its folder, memcpy_async.h, reduce.h and scan.h"},
    CudaLibrary{
        "libcu++", "CUDA's part of the C++ library", "cuda/* nv/*", "",
        "of it there are cuda/atomic, barrier, latch, pipeline, semaphore and parts of cuda/std (docs/cuda.md); "
        "host code has the standard library"},
    CudaLibrary{"NVIDIA's samples", "their common folder",
                "helper_*.h drvapi_error_string.h shrUtils.h shrQATest.h sdkHelper.h", "shrutil*",
                "of it there are exception.h, helper_cuda.h, helper_cuda_drvapi.h, helper_functions.h, helper_image.h, "
                "helper_math.h, helper_string.h and helper_timer.h; for the rest name the samples' folder Common "
                "(older ones: common/inc) by -I"},
    CudaLibrary{
        "CUTIL", "NVIDIA's samples up to release 4", "cutil*.h paramgl.h", "",
        "of it there are cutil.h, cutil_inline.h and cutil_math.h; for the rest name the samples' folder common/inc "
        "by -I"},
    CudaLibrary{"OpenCL", "another interface to GPUs", "CL/* OpenCL/*", "",
                "of it there are the types of CL/cl.h, for CUDA programs that include it: build the CUDA version"}};

// Whether `name` is `pattern`, in which each '*' stands for any text.
constexpr bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= name.size(); ++skip) {
      if (matches(name.substr(skip), pattern.substr(1))) return true;
    }
    return false;
  }
  return !name.empty() && name.front() == pattern.front() && matches(name.substr(1), pattern.substr(1));
}

constexpr bool matches_any(std::string_view name, std::string_view patterns) {
  while (!patterns.empty()) {
    const std::size_t end = std::min(patterns.find(' '), patterns.size());
    if (matches(name, patterns.substr(0, end))) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

const CudaLibrary* find_library(std::string_view name, std::string_view CudaLibrary::*patterns) {
  const auto found = std::find_if(kLibraries.begin(), kLibraries.end(),
                                  [&](const CudaLibrary& library) { return matches_any(name, library.*patterns); });
  return found == kLibraries.end() ? nullptr : &*found;
}

}  // namespace

const CudaLibrary* library_of_header(std::string_view header) {
  return find_library(header, &CudaLibrary::headers);
}

const CudaLibrary* library_of_word(std::string_view word) {
  if (word.ends_with("_static")) word.remove_suffix(std::string_view("_static").size());
  return find_library(word, &CudaLibrary::words);
}

std::optional<Diagnostic> first_error(const std::string& output) {
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    const std::string line = plain_text(std::string_view(output).substr(begin, end - begin));
    for (const std::string_view mark : {": fatal error: ", ": error: "}) {
      if (const std::size_t at = line.find(mark); at != std::string::npos) {
        return Diagnostic{place_of(std::string_view(line).substr(0, at)), line.substr(at + mark.size()), begin};
      }
    }
    if (line.find("error: ") != std::string::npos) return Diagnostic{{}, line, begin};
    begin = end + 1;
  }
  return {};
}

namespace {

// The library that has a name by how the name begins; the next word of it does not go on in small letters. Null: none.
const CudaLibrary* library_of_name(std::string_view name) {
  for (const CudaLibrary& library : kLibraries) {
    for (std::string_view left = library.names; !left.empty();) {
      const std::string_view begin = left.substr(0, left.find(' '));
      left.remove_prefix(std::min(begin.size() + 1, left.size()));
      const char next = name.size() > begin.size() ? name[begin.size()] : 'A';
      if (name.starts_with(begin) && (next < 'a' || next > 'z')) return &library;
    }
  }
  return nullptr;
}

std::optional<InputError> missing_name(const SourceLocation& where, std::string_view name, std::string_view how) {
  const CudaLibrary* const library = library_of_name(name);
  if (library == nullptr) return {};
  return InputError(where,
                    fmt::format("{} is not {}: it belongs to {} ({})", name, how, library->name, library->purpose),
                    std::string(library->advice));
}

}  // namespace

std::optional<InputError> missing_function(const std::string& linker) {
  static constexpr std::string_view kUndefined = "undefined reference to `";
  for (std::size_t at = linker.find(kUndefined); at != std::string::npos; at = linker.find(kUndefined, at)) {
    at += kUndefined.size();
    if (auto missing = missing_name({}, std::string_view(linker).substr(at, linker.find('\'', at) - at), "linked"))
      return missing;
  }
  return {};
}

std::optional<InputError> missing_library(const Diagnostic& error) {
  const std::string_view message = error.message;
  for (const std::string_view kind : {"use of undeclared identifier '", "unknown type name '"}) {
    if (message.starts_with(kind)) {
      const std::string_view name = message.substr(kind.size());
      return missing_name(error.where, name.substr(0, name.find('\'')), "declared");
    }
  }
  const std::size_t end = message.find("' file not found");
  if (!message.starts_with('\'') || end == std::string_view::npos) return {};
  const std::string_view header = message.substr(1, end - 1);
  const CudaLibrary* const library = library_of_header(header);
  if (library == nullptr) return {};
  return InputError(error.where,
                    fmt::format("there is no {}: it belongs to {} ({})", header, library->name, library->purpose),
                    std::string(library->advice));
}

}  // namespace heddle::cuda
