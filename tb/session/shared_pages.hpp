// Device memory's pages in a file without a name, which a CUDA program maps too, so that it copies to and from the
// device by itself (cuda/cudart/protocol.hpp, Call::share). A byte lies in the file where its address says, so that an
// allocation is one piece; the file has holes wherever nothing was written, which take no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "isa/device_memory.hpp"

namespace heddle::tb::session {

class SharedPages final : public isa::PageSource {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{1}
                                          << 32U;  // what lies below, as buffers do while there is room

  // Null: the system gives no such file, or not so many addresses.
  [[nodiscard]] static std::shared_ptr<SharedPages> make();
  ~SharedPages() override;
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  std::byte* page(std::uint64_t number) override;
  void drop(std::uint64_t first, std::uint64_t count) override;

  // Of the file, which cannot be cut or grown any more.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // What lies there is in the file, at the offset that the address is.
  [[nodiscard]] static bool holds(std::uint64_t address, std::uint64_t size) {
    return address < kBytes && size <= kBytes - address;
  }
  [[nodiscard]] std::uint64_t resident_bytes() const;  // that take memory

 private:
  SharedPages(int descriptor, std::byte* memory) : descriptor_(descriptor), memory_(memory) {}

  int descriptor_;
  std::byte* memory_;  // kBytes
};

}  // namespace heddle::tb::session
