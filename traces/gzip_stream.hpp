// Reads a file, compressed by gzip (RFC 1952) or not, as a stream.
#pragma once

#include <zlib.h>

#include <array>
#include <streambuf>
#include <string>

namespace heddle::traces {

class GunzipBuffer final : public std::streambuf {
 public:
  // good() is false when the file cannot be opened.
  explicit GunzipBuffer(const std::string& path) : file_(gzopen(path.c_str(), "rb")) {}
  ~GunzipBuffer() override;
  GunzipBuffer(const GunzipBuffer&) = delete;
  GunzipBuffer& operator=(const GunzipBuffer&) = delete;
  [[nodiscard]] bool good() const { return file_ != nullptr; }

 private:
  // Throws InputError, which istream turns into its bad bit, where a compressed file is damaged or cut off.
  int_type underflow() override;

  gzFile file_;
  std::array<char, 1 << 16> text_;
};

}  // namespace heddle::traces
