// The kernels that a library of CUDA's brings to the device for its functions: PTX texts that stand in the library.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "cuda/cudart/fat_binary.hpp"

// Of the run-time library: what compiled CUDA files call to bring their device code (cuda/cudart/registration.cpp).
extern "C" {
void** __cudaRegisterFatBinary(void* fat);
void __cudaRegisterFunction(void** handle, const char* stub, char* shadow, const char* name, int threads, void* thread,
                            void* block, void* block_size, void* grid_size, int* warp_size);
}

namespace heddle::cuda_libraries {

struct EmbeddedFile {
  std::string_view name;
  std::string_view ptx;
};
// Of the library that this is compiled into (cmake/HeddleEmbedLibrary.cmake).
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

// A file reaches the simulator when a kernel of it is first asked for, so that a program has of a library only what it
// uses. Files and kernels stay until the process ends, which may end while a thread is in a call.
class EmbeddedKernels {
 public:
  static EmbeddedKernels& all() {
    static EmbeddedKernels* const all = new EmbeddedKernels;
    return *all;
  }

  // What cudaLaunchKernel takes; null: there is no such file.
  [[nodiscard]] const void* find(const std::string& file, const std::string& kernel) {
    const std::lock_guard<std::mutex> held(lock_);
    if (const auto known = stubs_.find(kernel); known != stubs_.end()) return known->second.get();
    void** const handle = unit(file);
    if (handle == nullptr) return nullptr;
    std::unique_ptr<char>& stub = stubs_[kernel];
    stub = std::make_unique<char>();
    __cudaRegisterFunction(handle, stub.get(), nullptr, kernel.c_str(), -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    return stub.get();
  }

 private:
  EmbeddedKernels() = default;

  void** unit(const std::string& file) {
    void**& handle = units_[file];
    if (handle != nullptr) return handle;
    for (const EmbeddedFile& one : embedded_files()) {
      if (one.name != file) continue;
      std::string binary = cudart::fat_binary(cudart::fat_binary_entry(one.ptx, 0, false));
      struct {
        std::uint32_t magic = cudart::kWrapperMagic, version = 1;
        const void* data = nullptr;
        void* further = nullptr;
      } wrapper;
      wrapper.data = binary.data();
      handle = __cudaRegisterFatBinary(&wrapper);
    }
    return handle;
  }

  std::mutex lock_;
  std::map<std::string, void**> units_;
  std::map<std::string, std::unique_ptr<char>> stubs_;
};

}  // namespace heddle::cuda_libraries
