#include "os/process/converter.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "os/files/atomic_file.hpp"
#include "os/files/noted_files.hpp"

namespace heddle::os {

namespace fs = std::filesystem;

namespace {

// An empty file of this process alone, below the system's folder for temporary files.
std::string empty_file_elsewhere(const OutputTarget& target) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "heddle-XXXXXX").string();
  const int file = error ? -1 : ::mkstemp(name.data());
  if (file < 0) {
    target.refuse(error ? error.value() : errno);
  }
  ::close(file);
  return name;
}

}  // namespace

const ConverterProgram& svg_converter() {
  static const ConverterProgram program{"dot",
                                        {"-Tsvg", "-o"},
                                        "an SVG picture is made by Graphviz' dot, which is not installed",
                                        "install Graphviz (Debian package graphviz), or write its input with --dot"};
  return program;
}

ConverterProgram png_converter(unsigned width) {
  return {"rsvg-convert",
          {"--width", fmt::format("{}", width), "--keep-aspect-ratio", "--output"},
          "a PNG picture is made by rsvg-convert, which is not installed",
          "install Debian's package librsvg2-bin, or write an SVG picture with --svg"};
}

Converter::Converter(const std::string& path, const ConverterProgram& called) : name_(called.name), target_(path) {
  const std::string program = find_program(called.name);
  if (program.empty()) {
    throw InputError({path}, called.missing, called.hint);
  }
  // The file is there before the program starts: what that would only say at its end is told now.
  if (target_.straight()) {
    target_.check();
    temporary_ = empty_file_elsewhere(target_);
  } else {
    lock_ = Descriptor(target_.open());
    temporary_ = target_.temporary();
  }
  Pipe pipe = make_pipe();
  ProcessSetup setup;
  setup.in = Redirection::descriptor(pipe.reads.number());
  setup.out = Redirection::nothing();
  // An interrupt from the terminal ends the simulation in an orderly way, and the converter still gets the rest.
  setup.own_group = true;
  std::vector<std::string> words = {program};
  words.insert(words.end(), called.arguments.begin(), called.arguments.end());
  words.push_back(temporary_);
  try {
    child_.emplace(ChildProcess::start(words, setup));
  } catch (const StartError& error) {
    ::unlink(temporary_.c_str());
    throw InputError({path}, fmt::format("'{}' cannot be run: {}", program, error.reason()));
  }
  pipe_ = std::move(pipe.writes);
  ::signal(SIGPIPE, SIG_IGN);  // a converter that has ended is an error of write(), not of this process
}

Converter::~Converter() {
  if (child_) {
    child_.reset();  // killed
    ::unlink(temporary_.c_str());
    forget_file(temporary_);
  }
}

void Converter::write(std::string_view bytes) {
  if (!write_all(pipe_.number(), bytes)) {
    throw InputError({target_.name()}, name_ + " has ended before it had everything", "is the disk full?");
  }
}

void Converter::commit() {
  pipe_.close();
  const bool good = child_->wait().good();
  child_.reset();
  if (!good) {
    ::unlink(temporary_.c_str());
    throw InputError({target_.name()}, name_ + " could not write it", "is the disk full?");
  }
  if (!target_.straight()) {
    target_.replace();
    return;
  }
  std::ostringstream made;
  made << std::ifstream(temporary_, std::ios::binary).rdbuf();
  ::unlink(temporary_.c_str());
  write_file(target_.name(), made.str());
}

}  // namespace heddle::os
