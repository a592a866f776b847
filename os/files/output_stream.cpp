#include "os/files/output_stream.hpp"

#include <cstddef>

#include "base/error.hpp"

namespace heddle::os {

OutputStream::OutputStream(const std::string& path)
    : file_(path, path.ends_with(".gz") ? OutputFile::Form::gzip : OutputFile::Form::plain),
      buffer_(file_),
      stream_(&buffer_) {}

void OutputStream::commit() {
  if (!buffer_.drain()) {
    std::rethrow_exception(buffer_.failure());
  }
  file_.commit();
}

OutputStream::Buffer::Buffer(OutputFile& file) : file_(file) {
  setp(text_.data(), text_.data() + text_.size());
}

bool OutputStream::Buffer::drain() {
  if (failure_ == nullptr) {
    try {
      file_.write({pbase(), static_cast<std::size_t>(pptr() - pbase())});
    } catch (const InputError&) {
      failure_ = std::current_exception();
    }
  }
  setp(text_.data(), text_.data() + text_.size());
  return failure_ == nullptr;
}

OutputStream::Buffer::int_type OutputStream::Buffer::overflow(int_type letter) {
  if (!drain()) {
    return traits_type::eof();
  }
  if (!traits_type::eq_int_type(letter, traits_type::eof())) {
    sputc(traits_type::to_char_type(letter));
  }
  return traits_type::not_eof(letter);
}

}  // namespace heddle::os
