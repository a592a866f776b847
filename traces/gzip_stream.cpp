#include "traces/gzip_stream.hpp"

#include "base/error.hpp"

namespace heddle::traces {

GzipBuffer::GzipBuffer(std::ostream& out) : out_(out) {
  constexpr int kGzip = 15 + 16;  // window bits, and 16 for the gzip format
  if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw InternalError("zlib cannot start");
  }
  setp(text_.data(), text_.data() + text_.size());
}

GzipBuffer::~GzipBuffer() {
  deflateEnd(&stream_);
}

void GzipBuffer::finish() {
  if (!finished_) {
    finished_ = true;
    deflate_all(Z_FINISH);
  }
}

GzipBuffer::int_type GzipBuffer::overflow(int_type letter) {
  if (finished_ || !deflate_all(Z_NO_FLUSH)) {
    return traits_type::eof();
  }
  if (!traits_type::eq_int_type(letter, traits_type::eof())) {
    sputc(traits_type::to_char_type(letter));
  }
  return traits_type::not_eof(letter);
}

bool GzipBuffer::deflate_all(int flush) {
  stream_.next_in = reinterpret_cast<Bytef*>(pbase());
  stream_.avail_in = static_cast<uInt>(pptr() - pbase());
  std::array<char, 1 << 15> packed;
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream_, flush);
    out_.write(packed.data(), static_cast<std::streamsize>(packed.size() - stream_.avail_out));
  } while (stream_.avail_out == 0);
  setp(text_.data(), text_.data() + text_.size());
  return static_cast<bool>(out_);
}

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
