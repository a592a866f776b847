// A file that a run writes while it goes on: it appears under its name when the run has ended, whole; before that, and
// when the run fails, it does not. A name that ends in ".gz" is compressed.
#pragma once

#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "traces/gzip_stream.hpp"

namespace heddle::program {

class OutputFile {
 public:
  // `option` stands in messages: "--record". Throws InputError when the file cannot be written.
  OutputFile(std::string option, std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  [[nodiscard]] std::ostream& stream() { return gzip_ ? *packed_ : file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // The file is whole. Throws InputError when not everything could be written.
  void finish();

 private:
  [[nodiscard]] std::string unfinished() const { return path_ + ".unfinished"; }
  std::string option_;
  std::string path_;
  std::ofstream file_;
  std::unique_ptr<traces::GzipBuffer> gzip_;
  std::unique_ptr<std::ostream> packed_;
};

}  // namespace heddle::program
