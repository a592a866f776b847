// A stream that compresses what is written to it into a gzip file (RFC 1952), the same bytes for the same text.
#pragma once

#include <zlib.h>

#include <array>
#include <ostream>
#include <streambuf>

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

}  // namespace heddle::traces
