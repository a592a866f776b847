// Where bytes go that are written piece by piece: a file, a compressor, another program.
#pragma once

#include <string_view>

namespace heddle {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Throws InputError naming the file when the bytes cannot be written.
  virtual void write(std::string_view bytes) = 0;
};

}  // namespace heddle
