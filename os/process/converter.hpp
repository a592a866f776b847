// Output files that another program makes from what it is fed: Graphviz' dot, rsvg-convert.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.hpp"
#include "os/files/output_file.hpp"
#include "os/process/child_process.hpp"
#include "os/process/descriptor.hpp"

namespace heddle::os {

// How a program is called that reads its input from the standard input and writes the file that it is told.
struct ConverterProgram {
  std::string name;
  std::vector<std::string> arguments;  // the name of the file comes last
  std::string missing;                 // what to say when it is not installed, and what to do then
  std::string hint;
};
[[nodiscard]] const ConverterProgram& svg_converter();
[[nodiscard]] ConverterProgram png_converter(unsigned width);  // of an SVG, so many pixels wide

class Converter final : public ByteSink {
 public:
  // Starts the program. Throws InputError when it is not installed or the file cannot be written. The program writes a
  // temporary file; commit() puts it in place, or copies it into a target that cannot be replaced.
  Converter(const std::string& path, const ConverterProgram& program);
  // Without commit() nothing is left.
  ~Converter() override;
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  void write(std::string_view bytes) override;
  void commit();

 private:
  std::string name_;
  OutputTarget target_;
  std::string temporary_;  // which the program writes
  Descriptor lock_;        // of the temporary file: it is not left over
  Descriptor pipe_;
  std::optional<ChildProcess> child_;  // while it has not been waited for
};

}  // namespace heddle::os
