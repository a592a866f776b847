// A file that is written piece by piece and appears whole or not at all, plain or compressed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "traces/byte_sink.hpp"

namespace heddle::tb {

// Writes to a temporary file in the same folder; commit() renames it into place. Without commit() nothing is left.
// Throws InputError naming the path.
class OutputFile final : public traces::ByteSink {
 public:
  enum class Form { plain, gzip };
  explicit OutputFile(const std::string& path, Form form = Form::plain);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes) override;
  void commit();

 private:
  struct Compressor;
  void write_plain(std::string_view bytes);
  void deflate(std::string_view bytes, bool last);

  std::string path_;
  std::string temporary_;
  int file_ = -1;
  std::unique_ptr<Compressor> compressor_;
};

// The temporary name under which a file is written before it is whole.
[[nodiscard]] std::string temporary_name(const std::string& path);

}  // namespace heddle::tb
