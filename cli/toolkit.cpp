// heddle toolkit: the folder that makefiles take for CUDA's.
#include "cuda/compiler/toolkit.hpp"

#include <iostream>

#include "cli/command.hpp"

namespace heddle::cli {

Command toolkit_command() {
  Command command;
  command.name = "toolkit";
  command.summary = "prints the folder to give where a makefile wants CUDA's toolkit: bin/nvcc, include, lib64";
  command.details =
      "make CUDA_PATH=\"$(heddle toolkit)\", or whatever the makefile calls it (CUDA_HOME, CUDA_DIR,\n"
      "CUDA_INSTALL_PATH). Programs that the host's compiler links from there are started by heddle exec.\n"
      "docs/cuda.md says more.\n";
  command.run = [](const Arguments&) {
    std::cout << cuda::toolkit_folder() << "\n";
    return 0;
  };
  return command;
}

}  // namespace heddle::cli
