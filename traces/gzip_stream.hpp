// Streams of gzip files (RFC 1952): one that compresses what is written to it, the same bytes for the same text, and
// one that reads a file, compressed or not.
#pragma once

#include <zlib.h>

#include <array>
#include <ostream>
#include <streambuf>
#include <string>

namespace heddle::traces {

class GzipBuffer final : public std::streambuf {
 public:
  // `out` outlives it.
  explicit GzipBuffer(std::ostream& out);
  ~GzipBuffer() override;
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;
  // Writes the end of the file; nothing may follow.
  void finish();

 private:
  int_type overflow(int_type letter) override;
  int sync() override { return 0; }  // what is held back comes with finish()
  bool deflate_all(int flush);

  std::ostream& out_;
  z_stream stream_{};
  std::array<char, 1 << 16> text_;
  bool finished_ = false;
};

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
