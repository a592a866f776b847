// Another process's memory in place of one's own.
//
// The memory of the image is laid out behind each other in a range of addresses that neither process uses, where it is
// filled. What is left is moving: mappings of this process go, the image's are moved to their addresses (mremap, which
// copies nothing), the kernel's to where the image had them. The code that does so lies in that range too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "os/checkpoint/context.hpp"
#include "os/checkpoint/image.hpp"

namespace heddle::checkpoint {

// What the process that goes on finds about how it came to: the range, which it unmaps.
struct Arrival {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

class Restoration {
 public:
  // Takes the addresses and fills the memory. Nothing of this process changes. Throws InputError where a mapped file is
  // another one than that of the image, or there is not enough memory.
  explicit Restoration(const Image& image);
  ~Restoration();
  Restoration(const Restoration&) = delete;
  Restoration& operator=(const Restoration&) = delete;

  // Signals are blocked. Throws InternalError as long as there is a way back.
  [[noreturn]] void go();

 private:
  struct Region {
    Mapping mapping;
    std::uint64_t staged = 0;  // where it lies meanwhile
  };
  void reserve();
  void stage(const Region& region);
  void fill();
  void protect(const Region& region) const;
  void park_system_mappings();
  void plan();
  void add(std::uint64_t number, std::initializer_list<std::uint64_t> arguments);
  [[nodiscard]] Step stack_growth() const;

  const Image& image_;
  std::vector<Region> regions_;
  std::vector<Region> system_;  // of this process, parked; `mapping` is the image's
  std::uint64_t begin_ = 0;     // of the range
  std::uint64_t bytes_ = 0;
  std::uint64_t control_ = 0;  // of code, steps and texts, at its beginning
  std::vector<Step> steps_;
};

}  // namespace heddle::checkpoint
