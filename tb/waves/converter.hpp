// Output files that another program makes from what it is fed: GTKWave's converter to FST, Graphviz' dot, rsvg-convert.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.hpp"
#include "tb/measure/output_file.hpp"

namespace heddle::tb {

// How a program is called that reads its input from the standard input and writes the file that it is told.
struct ConverterProgram {
  std::string name;
  std::vector<std::string> arguments;  // the name of the file comes last
  std::string missing;                 // what to say when it is not installed, and what to do then
  std::string hint;
  // What is wrong with what it has made, empty when nothing is, for a program that does not say so itself. Null: it
  // does.
  std::string (*damage)(const std::string& path) = nullptr;
};
[[nodiscard]] const ConverterProgram& fst_converter();
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
  [[nodiscard]] bool wait();

  std::string name_;
  std::string (*damage_)(const std::string& path);
  OutputTarget target_;
  std::string temporary_;  // which the program writes
  int lock_ = -1;          // of the temporary file: it is not left over
  int pipe_ = -1;
  pid_t child_ = -1;
};

// The full name of a program on the PATH; empty when there is none.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace heddle::tb
