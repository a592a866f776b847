// Device code of CUDA files: clang's compilation to PTX, and what is done to keep its passes from spoiling it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cuda/compiler/architecture.hpp"

namespace heddle::cuda {

// One file's. words: clang and its options, for PTX, without input and output. input: the words that name the file.
// folder: where intermediate files may lie. run: executes a command, returns its exit code, and tells the user what it
// prints. silent: a command that the user does not hear of if it fails.
struct DeviceCode {
  using Words = std::vector<std::string>;
  using Run = std::function<int(const Words&)>;
  Words words;
  Words input;
  std::filesystem::path folder;
  Run run;
  Run silent;
  unsigned architecture = kLeastArchitecture;
  bool dry = false;  // nothing is executed: the commands are shown, and no file is read or written
};

// Compiles to the file `ptx`; returns clang's exit code. Differences to what clang makes of the file at one go:
// copies of 16 bytes are one access (cuda/compiler/whole_copies.hpp), also where a cast promises their alignment
// (cuda/compiler/cast_alignment.hpp), with words that change on the way too
// (cuda/compiler/copied_words.hpp), and loops of locks that the source releases within the loop stay so
// (cuda/compiler/lock_loops.hpp).
int compile_device_code(const DeviceCode& code, const std::string& ptx);

}  // namespace heddle::cuda
