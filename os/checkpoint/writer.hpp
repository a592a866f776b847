// Writes a process's memory down from within. While it does so nothing may change there, so that no memory of the
// process is allocated: all that it needs lies in a mapping of its own, whose contents the image leaves out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "os/checkpoint/context.hpp"

namespace heddle::checkpoint {

class ImageWriter {
 public:
  // Maps its workspace. Throws InternalError.
  ImageWriter();
  ~ImageWriter();
  ImageWriter(const ImageWriter&) = delete;
  ImageWriter& operator=(const ImageWriter&) = delete;

  // The whole image, from the beginning of `file` on. 0, or the error of the system that ended it; kStrange: there was
  // a mapping that an image cannot have. To be called by call_resumable(), with the registers that it gives.
  static constexpr int kStrange = -1;
  [[nodiscard]] int write(int file, std::string_view notes, const Registers& registers);
  [[nodiscard]] std::uint64_t bytes() const;  // written

 private:
  struct Workspace;
  Workspace* workspace_;
};

}  // namespace heddle::checkpoint
