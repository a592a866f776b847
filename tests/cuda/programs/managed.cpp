// Host code as nvcc writes it for a file with __managed__ variables: it registers its device code, its kernel and the
// variables, whose pointers lead somewhere once the file's module is there.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "cuda/cudart/fat_binary.hpp"

struct Extent {  // dim3
  unsigned x, y, z;
};
// The library has them under these names; what links programs of nvcc finds them in NVIDIA's.
template <class... Arguments>
static long call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<long (*)(Arguments...)>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) std::printf("no %s\n", name);
  return function == nullptr ? -1 : function(arguments...);
}
static void register_managed(void** handle, unsigned** pointer, const char* name, std::size_t bytes) {
  call("__cudaRegisterManagedVar", handle, reinterpret_cast<void**>(pointer), static_cast<char*>(nullptr), name, 0,
       bytes, 0, 0);
}

// Each thread adds `step` to its number.
static const char kPtx[] = R"(.version 6.0
.target sm_60
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 step = 5;
.visible .global .attribute(.managed) .align 4 .b8 numbers[8192];
.visible .entry advance()
{
  .reg .b64 %at, %offset;
  .reg .b32 %n, %by, %value;
  mov.u32 %n, %tid.x;
  mul.wide.u32 %offset, %n, 4;
  mov.u64 %at, numbers;
  add.s64 %at, %at, %offset;
  ld.global.u32 %by, [step];
  ld.global.u32 %value, [%at];
  add.u32 %value, %value, %by;
  st.global.u32 [%at], %value;
  ret;
}
)";

static unsigned* step;
static unsigned* numbers;
static void advance() {}

int main() {
  const std::string binary = heddle::cudart::fat_binary(heddle::cudart::fat_binary_entry(kPtx, 60, false));
  struct {
    std::uint32_t magic = heddle::cudart::kWrapperMagic, version = 1;
    const void* data = nullptr;
    void* further = nullptr;
  } wrapper;
  wrapper.data = binary.data();
  auto* const handle = reinterpret_cast<void**>(call("__cudaRegisterFatBinary", static_cast<void*>(&wrapper)));
  const char* const stub = reinterpret_cast<const char*>(&advance);
  void* const none = nullptr;
  call("__cudaRegisterFunction", handle, stub, static_cast<char*>(nullptr), "advance", -1, none, none, none, none,
       none);
  register_managed(handle, &step, "step", 4);
  register_managed(handle, &numbers, "numbers", 8192);
  call("__cudaRegisterFatBinaryEnd", handle);
  if ((call("__cudaInitModule", handle) & 255) == 0 || step == nullptr || *step != 5) return 1;
  for (unsigned i = 0; i < 64; ++i) numbers[i] = i;
  for (unsigned round = 0; round < 2; ++round) {
    const Extent one{1, 1, 1};
    const Extent block{64, 1, 1};
    if (call("cudaLaunchKernel", static_cast<const void*>(stub), one, block, static_cast<void**>(nullptr),
             std::size_t{0}, static_cast<void*>(nullptr)) != 0) {
      return 2;
    }
    if (call("cudaDeviceSynchronize") != 0) return 3;
    *step = 100;
  }
  for (unsigned i = 0; i < 64; ++i) {
    if (numbers[i] != i + 105) return 4;
  }
  if (numbers[2047] != 0 || call("cudaFree", static_cast<void*>(numbers)) == 0 || numbers[1] != 106) return 5;
  std::printf("PASSED\n");
}
