// Where the bytes of a trace go: a file, a compressor, a converter.
#pragma once

#include <string_view>

namespace heddle::traces {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Throws InputError naming the file when the bytes cannot be written.
  virtual void write(std::string_view bytes) = 0;
};

}  // namespace heddle::traces
