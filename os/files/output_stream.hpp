// An output file as a stream, for writers that take one.
#pragma once

#include <array>
#include <exception>
#include <ostream>
#include <streambuf>
#include <string>

#include "os/files/output_file.hpp"

namespace heddle::os {

// A name that ends in ".gz" is compressed. The file appears with commit(), as an OutputFile does. What cannot be
// written makes the stream bad, and commit() says why: an exception from a write would leave through the simulation.
class OutputStream {
 public:
  // Throws InputError when the file cannot be written.
  explicit OutputStream(const std::string& path);
  [[nodiscard]] std::ostream& stream() { return stream_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  void commit();

 private:
  class Buffer final : public std::streambuf {
   public:
    explicit Buffer(OutputFile& file);
    // Hands on what is held back. False: something could not be written, now or before.
    bool drain();
    [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

   private:
    int_type overflow(int_type letter) override;

    OutputFile& file_;
    std::array<char, 1 << 16> text_;
    std::exception_ptr failure_;
  };

  OutputFile file_;
  Buffer buffer_;
  std::ostream stream_;
};

}  // namespace heddle::os
