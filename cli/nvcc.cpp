// heddle nvcc: CUDA sources to programs that run on the simulated GPU.
#include "cli/command.hpp"
#include "cuda/compiler/program_compiler.hpp"

namespace heddle::cli {

Command nvcc_command() {
  Command command;
  command.name = "nvcc";
  command.operands = "FILE.cu|FILE.cpp|FILE.o... [-o PROGRAM]";
  command.most = SIZE_MAX;
  command.takes_all_words = true;
  command.summary = "compiles CUDA programs as they are, host and device code, as nvcc does; heddle exec runs them";
  command.details =
      "Takes nvcc's options: -o -c -D -U -I -isystem -include -O -g -G -lineinfo -std -arch -gencode -l -L -rdc -dc "
      "-dlink\n"
      "-shared -E -Xcompiler -Xlinker -use_fast_math -w -v and others; a note names those that change nothing here.\n"
      "Makefiles take it as NVCC=\"heddle nvcc\". docs/cuda.md says what programs find.\n";
  command.completions = {{"@files"}};
  command.run = [](const Arguments& arguments) { return cuda::compile_program(arguments.words()); };
  return command;
}

}  // namespace heddle::cli
