#include "tb/program/output_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace heddle::program {

OutputFile::OutputFile(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)), file_(unfinished(), std::ios::binary) {
  if (!file_) {
    throw InputError({option_}, fmt::format("cannot write '{}'", unfinished()));
  }
  if (path_.ends_with(".gz")) {
    gzip_ = std::make_unique<traces::GzipBuffer>(file_);
    packed_ = std::make_unique<std::ostream>(gzip_.get());
  }
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  std::filesystem::remove(unfinished(), ignored);
}

void OutputFile::finish() {
  bool good = static_cast<bool>(stream());
  if (gzip_) {
    gzip_->finish();
  }
  file_.close();
  good = good && file_;
  std::error_code failure;
  if (good) {
    std::filesystem::rename(unfinished(), path_, failure);
  }
  if (!good || failure) {
    throw InputError({option_}, fmt::format("cannot write '{}'", path_), "is the disk full?");
  }
}

}  // namespace heddle::program
