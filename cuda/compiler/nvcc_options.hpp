// The words of nvcc's command line, taken apart.
#pragma once

#include <string>
#include <vector>

namespace heddle::cuda {

struct NvccOptions {
  enum class Step { link, object, preprocess, ptx, fatbin, dependencies, device_link, archive };
  Step step = Step::link;
  std::string listed;                // Step::dependencies: -M, or -MM without headers of the system
  std::vector<std::string> inputs;   // in order, also -l words, which the linker reads in order
  std::string output;                // empty: none named
  std::string output_folder;         // -odir
  std::vector<std::string> both;     // for the compilation of host and device code: -D -I -std ...
  std::vector<std::string> host;     // for that of host code alone: -O -g -Xcompiler
  std::vector<std::string> device;   // for that of device code alone: -Xdevice
  std::vector<std::string> linking;  // -L -Xlinker -shared
  std::vector<std::string> notes;    // what the user should know
  std::string language;              // -x: "cu", "c", "c++"; empty: as the file's name says
  // -arch and -gencode (cuda/compiler/architecture.hpp): at least one, the oldest first, none twice.
  std::vector<unsigned> architectures;
  bool relocatable = false;   // -rdc=true, -dc
  bool fused = true;          // -fmad: multiplications and additions of device code may be fused
  bool has_standard = false;  // -std was given
  bool verbose = false;       // -v, --dryrun: show the commands
  bool dry = false;
  bool version = false;  // --version

  std::vector<std::string> option_files;  // -optf: files whose words stand here
};

// Throws InputError for options that would change what a program does and cannot be had, and for options whose value is
// missing. What nvcc knows and changes nothing here gets a note, as do options that are not known.
[[nodiscard]] NvccOptions read_nvcc_options(const std::vector<std::string>& words);

}  // namespace heddle::cuda
