#include "cli/printable.hpp"

#include <fmt/format.h>

namespace heddle::cli {
namespace {

// Bytes of the UTF-8 character that begins so; 0: none begins so.
std::size_t length_of(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

bool is_control(unsigned char letter) {
  return (letter < 0x20 && letter != '\n' && letter != '\t') || letter == 0x7f;
}

void escape(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  }
}

}  // namespace

void PrintableText::add(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    const auto letter = static_cast<unsigned char>(byte);
    if (expected_ != 0) {
      if ((letter & 0xc0U) == 0x80U) {
        character_ += byte;
        if (character_.size() == expected_) {
          const bool control = expected_ == 2 && static_cast<unsigned char>(character_[0]) == 0xc2 && letter < 0xa0;
          if (control) {
            escape(character_, out);
          } else {
            out += character_;
          }
          character_.clear();
          expected_ = 0;
        }
        continue;
      }
      finish(out);
    }
    const std::size_t length = length_of(letter);
    if (length > 1) {
      character_ = byte;
      expected_ = length;
    } else if (length == 0 || is_control(letter)) {
      escape({&byte, 1}, out);
    } else {
      out += byte;
    }
  }
}

void PrintableText::finish(std::string& out) {
  escape(character_, out);
  character_.clear();
  expected_ = 0;
}

std::string printable(std::string_view text) {
  std::string out;
  PrintableText made;
  made.add(text, out);
  made.finish(out);
  return out;
}

PrintableStream::~PrintableStream() {
  std::string rest;
  text_.finish(rest);
  put(rest);
  stream_.rdbuf(target_);
}

bool PrintableStream::put(const std::string& text) {
  const auto size = static_cast<std::streamsize>(text.size());
  return target_->sputn(text.data(), size) == size;
}

PrintableStream::int_type PrintableStream::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) {
    return traits_type::not_eof(letter);
  }
  const char byte = traits_type::to_char_type(letter);
  return xsputn(&byte, 1) == 1 ? letter : traits_type::eof();
}

std::streamsize PrintableStream::xsputn(const char* letters, std::streamsize count) {
  std::string out;
  text_.add({letters, static_cast<std::size_t>(count)}, out);
  return put(out) ? count : 0;
}

}  // namespace heddle::cli
