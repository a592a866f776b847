#include "traces/gzip_stream.hpp"

#include "base/error.hpp"

namespace heddle::traces {

GunzipBuffer::~GunzipBuffer() {
  if (file_ != nullptr) {
    gzclose(file_);
  }
}

GunzipBuffer::int_type GunzipBuffer::underflow() {
  const int count = gzread(file_, text_.data(), static_cast<unsigned>(text_.size()));
  int error = Z_OK;
  gzerror(file_, &error);
  if (count < 0 || error == Z_BUF_ERROR || error == Z_DATA_ERROR) {
    throw InputError({}, "the compressed file is damaged or cut off");
  }
  if (count == 0) {
    return traits_type::eof();
  }
  setg(text_.data(), text_.data(), text_.data() + count);
  return traits_type::to_int_type(text_[0]);
}

}  // namespace heddle::traces
