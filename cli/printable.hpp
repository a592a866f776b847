// What the program prints holds users' words: descriptions, names, paths. Control characters in them must not reach a
// terminal, where they could move the cursor, hide text or set its title (ECMA-48).
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace heddle::cli {

// The text with control characters as C writes them: "\\x1b". Newlines and tabs stay, and so does text in UTF-8; the
// control characters beyond ASCII (U+0080 to U+009F, in one byte or two) do not.
class PrintableText {
 public:
  // Appends `bytes` to `out`. A character may lie across two calls.
  void add(std::string_view bytes, std::string& out);
  // What is held back of a character that was cut off.
  void finish(std::string& out);

 private:
  std::string character_;     // a character of several bytes, as far as it has come
  std::size_t expected_ = 0;  // its bytes
};

[[nodiscard]] std::string printable(std::string_view text);

// As long as it lives, all that goes into the stream is made printable.
class PrintableStream final : public std::streambuf {
 public:
  explicit PrintableStream(std::ostream& stream) : stream_(stream), target_(stream.rdbuf(this)) {}
  ~PrintableStream() override;
  PrintableStream(const PrintableStream&) = delete;
  PrintableStream& operator=(const PrintableStream&) = delete;

 private:
  int_type overflow(int_type letter) override;
  std::streamsize xsputn(const char* letters, std::streamsize count) override;
  int sync() override { return target_->pubsync(); }
  bool put(const std::string& text);

  std::ostream& stream_;
  std::streambuf* target_;
  PrintableText text_;
};

}  // namespace heddle::cli
